"""Real Claude Code and real Codex, forked in a real kitty by keys typed into its window.

The scripted model tells what was asked: a forked conversation asks with all of the first one's words, and the first one
stays as it was. `tests/kitty/test_fork.py` has everything else about forking, without an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallylight import snapshot
from tallylight.snapshot_schema import Pane
from tests.agents.desk import Desk, Tab
from tests.kitty.desk import user_var

pytestmark = [pytest.mark.agents, pytest.mark.kitty, pytest.mark.timeout(180)]

_KEYS = """
enabled_layouts splits
map ctrl+alt+f kitten {kittens}/fork.py
map ctrl+alt+r kitten {kittens}/fork.py --resume
"""


@pytest.fixture(scope="module")
def keys(desk: Desk) -> Desk:
    """The desk, whose kitty has keys for the kitten."""
    kitty = desk.kitty
    kittens = kitty.home / ".local/share/tallylight/kittens"
    with kitty.kitty_conf.open("a") as file:
        file.write(_KEYS.format(kittens=kittens))
    kitty.eval("boss.load_config_file()")
    return desk


@pytest.fixture
def tab(keys: Desk, borrow: Callable[[str, str], Tab], request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab in front with an agent at its prompt; what was opened in the test is closed after it."""
    kitty = keys.kitty
    tab = borrow(*request.param)
    before = {window["id"] for window in kitty.windows()}
    first = kitty.windows()[0]["id"]
    kitty.focus_window(tab.window)
    yield tab
    for window in kitty.windows():
        if window["id"] not in before:
            kitty.close_window(window["id"])
    kitty.focus_window(first)


def entry(tab: Tab) -> Pane:
    """What the host wrote of a tab's window for other programs."""
    path = next((tab.kitty.runtime_dir / "tallylight").glob("kitty-*.json"))
    return next(pane for pane in snapshot.read(path).panes if pane.id == str(tab.window))


def fork(tab: Tab, page: str, key: str = "ctrl+alt+f") -> tuple[int, str]:
    """Press the key over a tab and Enter on the page; the new window, and what the page showed."""
    kitty = tab.kitty
    before = {window["id"] for window in kitty.windows()}

    def shown() -> str | None:
        texts = (kitty.get_text(window["id"]) for window in kitty.windows() if window["id"] not in before)
        return next((text for text in texts if page in text), None)

    def opened() -> int | None:
        titled = (w["id"] for w in kitty.windows() if w["id"] not in before and w["title"][0] in "⎇↻")
        return next(titled, None)

    kitty.xdotool("key", key)
    text = kitty.wait_until(shown, 20, f"{page!r} on a page")
    kitty.xdotool("key", "Return")
    return kitty.wait_until(opened, 20, "the new pane"), re.sub(r"\s+", " ", text)


def status_file(tab: Tab, window: int) -> dict[str, Any]:
    """What the Claude in a window wrote of itself."""
    kitty = tab.kitty

    def found() -> dict[str, Any] | None:
        pids = {process["pid"] for process in kitty.window(window)["foreground_processes"]}
        for path in (kitty.home / ".claude/sessions").glob("*.json"):
            if path.stem.isdigit() and int(path.stem) in pids:
                read: dict[str, Any] = json.loads(path.read_text())
                return read
        return None

    return kitty.wait_until(found, 30, f"the status file of the Claude in {window}")


@pytest.mark.parametrize("tab", [("claude", "claude --permission-mode manual")], indirect=True, ids=["claude"])
def test_claude(tab: Tab) -> None:
    """Claude's fork knows what was said, has an id of its own, and leaves the first conversation as it was."""
    kitty = tab.kitty
    word = tab.new("remember")
    tab.submit(word)
    tab.truth("done")
    first = status_file(tab, tab.window)
    kitty.wait_until(lambda: entry(tab).conversation.session == first["sessionId"], what="the session id")
    transcripts = kitty.home / ".claude/projects"
    transcript = kitty.wait_until(
        lambda: next(transcripts.glob(f"*/{first['sessionId']}.jsonl"), None), what="the first transcript"
    )
    kitty.wait_until(lambda: word in transcript.read_text(), what="the first transcript")
    size = transcript.stat().st_size
    forked, page = fork(tab, "Fork Claude")
    kitty.wait_text(forked, word, 30)
    second = status_file(tab, forked)
    answer_in(tab, forked, "and on")

    assert f"--resume {first['sessionId']} --fork-session" in page
    assert kitty.tab_of(forked) == kitty.tab_of(tab.window)
    assert second["sessionId"] != first["sessionId"]
    assert second["cwd"] == first["cwd"]
    assert status_file(tab, tab.window)["sessionId"] == first["sessionId"]
    assert transcript.stat().st_size == size
    assert "and on" not in kitty.get_text(tab.window)


def answer_in(tab: Tab, window: int, prompt: str) -> None:
    """Have the agent in *window* answer one prompt of the scripted model."""
    kitty = tab.kitty
    done = sum(mark["mark"] == "done" for mark in tab.model.marks)
    kitty.wait_until(lambda: kitty.get_text(window).strip(), what="a screen")
    kitty.send_text(window, prompt)
    kitty.wait_text(window, prompt)
    kitty.send_key(window, "enter")

    def answered() -> bool:
        return sum(mark["mark"] == "done" for mark in tab.model.marks) > done

    kitty.wait_until(answered, 20, "an answer in the fork")


def rollouts(tab: Tab) -> dict[str, Path]:
    """Codex's sessions by their ids."""
    paths = (tab.kitty.home / ".codex/sessions").glob("*/*/*/rollout-*.jsonl")
    return {path.stem[-36:]: path for path in paths}


@pytest.mark.parametrize("tab", [("codex", "codex --no-daemon")], indirect=True, ids=["codex"])
@pytest.mark.parametrize("by", ["latest", "id"])  # once told, the id is known
def test_codex(tab: Tab, by: str) -> None:
    """Codex's fork knows what was said, by the id that a hook tells and else as the latest one of the directory."""
    kitty = tab.kitty
    known = set(rollouts(tab))
    word = tab.new("remember")
    tab.submit(word)
    tab.truth("done")
    kitty.wait_until(lambda: [p for p in rollouts(tab).values() if word in p.read_text()], what="the session's file")
    first = next(id_ for id_, path in rollouts(tab).items() if word in path.read_text())
    before = rollouts(tab)[first].read_text()
    if by == "id":
        said = user_var("tally", f"state=idle;tool=codex;session={first}")
        say(tab, said)
        kitty.wait_until(lambda: entry(tab).conversation.session == first, what="the session id")
    forked, page = fork(tab, "Fork Codex")
    kitty.wait_text(forked, word, 30)
    answer_in(tab, forked, "and on")

    def new() -> list[str]:
        return [id_ for id_ in rollouts(tab) if id_ not in known | {first}]

    assert (f"fork {first}" if by == "id" else "fork --last") in page
    assert kitty.wait_until(new, what="a session of its own")
    # Codex may yet have had to write down the end of its own turn, but nothing of the fork's.
    left = rollouts(tab)[first].read_text()
    assert left.startswith(before)
    assert "and on" not in left
    assert "and on" not in kitty.get_text(tab.window)


def say(tab: Tab, data: bytes) -> None:
    """Write to a tab's terminal, as a hook of its agent does."""
    child = tab.kitty.window(tab.window)["pid"]
    tab.kitty.run(
        [
            "python3",
            "-c",
            "import sys; open(sys.argv[1], 'wb').write(bytes.fromhex(sys.argv[2]))",
            f"/proc/{child}/fd/1",
            data.hex(),
        ]
    )
