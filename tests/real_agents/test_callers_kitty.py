"""
A real Claude Code runs a program by its shell tool, in a real kitty: in a tmux of its own, in another window of that
kitty, and in another kitty. It asks another machine.

The program says that a person has pressed a key. The other machine is a program behind the real `tally host sessions`,
which notes what it is asked; the scripted model is Claude's model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.actions.answer import Done
from tallylight.actions.request import encode as encode_request
from tallylight.actions.request import encode_reply
from tallylight.parts.remote.messages import PaneState, encode
from tests.actions.words import asked
from tests.parts.remote.test_callers import ANSWER, BRIDGE, ID
from tests.parts.remote.test_machine import HELLO, PANE
from tests.real_agents.desk import Tab

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: In the first it is called as the list is, which tmux opens by a key.
_WAYS = {
    "tmux": "tmux -L own -f /dev/null new-session -d 'python3 {folder}/tally agents {folder}/tmux; sleep 100'",
    "window": "kitten @ launch --type=tab --keep-focus python3 {folder}/ask {folder}/window",
    "kitty": "kitten @ launch --type=background kitty --config NONE python3 {folder}/tally agents {folder}/kitty",
}
#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

_ASK = """
import glob, os, socket, sys
folder = os.path.dirname(os.path.abspath(__file__))
found = glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/tallylight/machines-*.sock")
s = socket.socket(socket.AF_UNIX)
s.connect(found[0])
s.sendall(open(folder + "/line", "rb").read())
data = b""
while more := s.recv(65536):
    data += more
open(sys.argv[-1] + ".new", "wb").write(data)
os.rename(sys.argv[-1] + ".new", sys.argv[-1])
"""


def test_an_agent_in_a_terminal_of_its_own_is_no_person(borrow: Callable[[str, str], Tab]) -> None:
    """It is refused by the rule of permissions, and nothing is asked over there; the person at a prompt is heard."""
    tab = borrow("claude", "claude --permission-mode manual")
    kitty = tab.kitty
    folder, config = kitty.home / "callers", kitty.home / ".config/tallylight/config.toml"
    folder.mkdir()
    (folder / "bridge").write_text(BRIDGE)
    (folder / "said").write_bytes(encode(HELLO) + encode(PaneState("sessions-7", PANE)))
    (folder / "told").write_text(json.dumps({"answer": json.loads(encode_reply(Done(PANE.id, "typed")))}))
    (folder / "line").write_bytes(encode_request(asked(ANSWER[0], ID, *ANSWER[1:]), is_key=True))
    (folder / "ask").write_text(_ASK)
    (folder / "tally").symlink_to("ask")
    before = config.read_text() if config.exists() else ""
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'{before}\n[machines]\ndevbox = "python3 {folder}/bridge {folder}"\n')
    windows = [kitty.launch("tally", "host", "sessions", keep_focus=True)]

    def shown() -> bool:
        runtime = Path(kitty.env["XDG_RUNTIME_DIR"], "tallylight")
        return any(ID in path.read_text() for path in runtime.glob("machines-*.json"))

    def told(name: str) -> dict[str, object]:
        kitty.wait_until((folder / name).exists, 60, f"what {name} is told")
        found: dict[str, object] = json.loads((folder / name).read_bytes())
        return found

    try:
        kitty.wait_until(shown, 60, "the other machine")
        (folder / "script").write_text("".join(f"{way.format(folder=folder)}\n" for way in _WAYS.values()))
        tab.submit(f"TOOL sh {folder}/script THEN fine")
        tab.answer(tab.manner.permission, tab.manner.approve)
        assert {way: told(way).get("rule") for way in _WAYS} == dict.fromkeys(_WAYS, "permission")
        assert not (folder / "asked").exists()
        windows.append(kitty.launch(keep_focus=True))
        kitty.send_text(windows[-1], f"python3 {folder}/tally agents {folder}/person\r")
        done = told("person")
        assert done.get("text") == "typed", done
        assert (folder / "asked").read_text() == "answer\n"
        tab.wait("done", since=tab.truth("done"))
    finally:
        kitty.run(["tmux", "-L", "own", "kill-server"], check=False)
        for window in windows:
            kitty.close_window(window)
        config.write_text(before)
