"""
A real Claude Code starts another by its shell tool, waits for it, reads its reply and tells it more, in a real kitty.

The commands are those of `tally skill`. The scripted model is both agents' model.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.real_agents.desk import Tab

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

IN_ONE_KITTY = {"test_one_agent_has_another_one_work": "0.48"}
_ENDS = "--for done,waiting,error,down,gone --timeout 60"
_SCRIPT = f"""
at="$HOME/told"
tally send "kitty-$KITTY_PID:$KITTY_WINDOW_ID" 'I answer myself' 2> "$at/self"; echo $? >> "$at/self"
pane=$(tally start claude --prompt 'AFTER 2 SLOW 0.5' --name helper 2> "$at/start") || exit 1
echo "$pane" > "$at/pane"
tally wait "$pane" {_ENDS} > "$at/wait"; echo $? >> "$at/wait"
tally read "$pane" --reply > "$at/read"; echo $? >> "$at/read"
tally send "$pane" 'AFTER 3 ASK' > "$at/send"; echo $? >> "$at/send"
tally wait "$pane" --new {_ENDS} > "$at/asks"; echo $? >> "$at/asks"
tally read "$pane" --question > "$at/question"
id=$(tail -n 1 "$at/question")
tally send "$pane" --answer 1 --to "${{id#id }}" > "$at/answer"; echo $? >> "$at/answer"
tally send "$pane" --answer 1 --to "${{id#id }}" 2> "$at/again"; echo $? >> "$at/again"
echo > "$at/end"
"""


def test_one_agent_has_another_one_work(borrow: Callable[[str, str], Tab]) -> None:
    """It gets the first reply, then a question that it answers once; into its own pane it may type nothing."""
    tab = borrow("claude", "claude --permission-mode manual")
    kitty = tab.kitty
    told = kitty.home / "told"
    told.mkdir()
    (told / "script").write_text(_SCRIPT)
    before = {window["id"] for window in kitty.windows()}
    tab.submit("TOOL sh ~/told/script THEN fine")
    tab.answer(tab.manner.permission, tab.manner.approve)
    try:
        kitty.wait_until(lambda: (told / "end").exists(), 150, "the end of the script")
    finally:
        found = {path.name: path.read_text().split("\n") for path in told.iterdir()}
        print(found)  # noqa: T201 - pytest shows it with a failed test
        helper = next((window for window in kitty.windows() if window["id"] not in before), None)
        shown = kitty.get_text(helper["id"]) if helper is not None else ""
        print(shown)  # noqa: T201
        if helper is not None:
            kitty.close_window(helper["id"])
    assert helper is not None
    assert found["pane"][0].endswith(f":{helper['id']}")
    assert helper["title"] == "helper" or "helper" in str(helper)
    assert found["wait"][0].split("  ")[1] == "done"
    assert found["wait"][1] == "0"
    assert "scripted model answers" in found["read"][0]
    assert found["send"][:2] == ["sent, and Enter pressed", "0"]
    assert found["asks"][1] == "3"
    assert any(row.startswith("1. ") for row in found["question"])
    assert found["answer"][0].startswith("answered 1. ")
    assert found["answer"][1] == "0"
    assert found["again"][0].startswith("tally send: ")
    assert found["again"][1] == "7"
    assert found["self"][0].startswith("tally send: self: ")
    assert found["self"][1] == "7"
    tab.wait("done", since=tab.truth("done"))
