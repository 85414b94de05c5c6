"""An agent that nobody here has heard of, made known by a few lines of a user's, and programs that only talk like one.

The agent is a terminal program of its own name: it has a prompt, works for a while, and asks before it crosses a river.
Beside it stand a viewer, a REPL, an editor and a shell that show the very text of its question.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL, Kitty
from tests.real_kitty.install import install, watcher_line

_FILE = """name = "zebra"
processes = ["zebra"]
screen.rules = [
    {name = "ready", status = "idle", where = "cursor", last = 1, lines = ["zebra>"]},
]
"""
#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

_DIALOG = ["May I cross the river?", "❯ 1. Yes, cross it", "  2. No"]
_ZEBRA = f"""#!/usr/bin/python3
import sys, time

def say(*lines):
    print(*lines, sep="\\n", flush=True)

while True:
    word = input("zebra> ")
    if word == "graze":
        for number in range(9):
            say(f"grass {{number}}", f"more grass {{number}}", f"still more {{number}}")
            time.sleep(0.15)
    elif word == "cross":
        say("At the river.", "")
        print(*{_DIALOG!r}, sep="\\n", end="", flush=True)
        sys.stdin.readline()
        for number in range(9):
            say("", f"splash {{number}}", f"splash, splash {{number}}")
            time.sleep(0.15)
"""
#: What shows the question and is no agent. Each is given the text as a file and goes on to run.
_OTHERS = {
    "viewer": "vim.tiny -n -M talk.txt",
    "follower": "tail -n 50 -f talk.txt",
    "repl": "python3 -i -c 'print(open(\"talk.txt\").read())'",
    "editor": "vim.tiny -n talk.txt",
    "shell": "cat talk.txt; sleep 1000",
    "file-named-zebra": "tail -n 50 -f zebra",
}


class Savanna(Desk):
    """A desk whose user has written a file for the zebra."""

    def __init__(self, version: str) -> None:
        self.kitty = Kitty(version, size=(1000, 400), scale=SMALL)
        self._watcher = watcher_line(install(self.kitty.home, version))
        self.kitty.kitty_conf.write_text("shell bash\n" + self._watcher)
        home = self.kitty.home
        folder = home / ".config/tallylight/agents"
        folder.mkdir(parents=True)
        (folder / "zebra.toml").write_text(_FILE)
        (home / ".config/tallylight/config.toml").write_text("[kitty]\npulse = false\n")
        program = home / ".local/bin/zebra"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(_ZEBRA)
        program.chmod(0o755)
        for name in ("talk.txt", "zebra"):
            (home / name).write_text("zebra> cross\nAt the river.\n\n" + "\n".join(_DIALOG) + "\n")
        self.kitty.start()
        self.record()

    def run(self, name: str, command: str) -> int:
        """A tab, not shown, whose shell runs a command; its window."""
        window = self.kitty.launch(keep_focus=True, cwd=str(self.kitty.home), tab_title=name)
        self.kitty.wait_until(lambda: self.kitty.get_text(window).strip(), what="the shell's prompt")
        self.kitty.send_text(window, f"{command}\r")
        return window

    def question(self, window: int) -> tuple[str, list[str], str]:
        """What the host wrote of the window's question: its text, its keys, and why."""
        found = self.snapshot()
        pane = next((pane for pane in found.panes if pane.id == str(window)), None) if found is not None else None
        if pane is None:
            return "", [], ""
        return pane.question, [keys for keys, _ in pane.choices], f"{pane.reason.source}: {pane.reason.rule}"


@pytest.fixture(scope="module")
def savanna(kitty_version: str) -> Iterator[Savanna]:
    """One kitty for the tests here."""
    savanna = Savanna(kitty_version)
    yield savanna
    savanna.close()


def test_an_unknown_agent_and_its_look_alikes(savanna: Savanna) -> None:
    """At its prompt it is idle for as long as one likes; it works, asks with its question, is answered, is done.

    What merely prints the same text has no light at any moment.
    """
    kitty = savanna.kitty
    others = {name: savanna.run(name, command) for name, command in _OTHERS.items()}
    for window in others.values():
        kitty.wait_text(window, "2. No")
    zebra = savanna.run("zebra", "zebra")
    kitty.wait_text(zebra, "zebra> ")
    savanna.wait_status(zebra, "idle")
    resting = time.monotonic()
    savanna.let_pass(4.5)
    assert {name for _, name in savanna.history(zebra, resting)} <= {"idle"}

    kitty.send_text(zebra, "graze\r")
    savanna.wait_status(zebra, "working")
    savanna.wait_status(zebra, "done")

    kitty.send_text(zebra, "cross\r")
    kitty.wait_text(zebra, "2. No")
    asked = time.monotonic()
    savanna.wait_status(zebra, "waiting")
    late = next(at for at, name in savanna.history(zebra) if name == "waiting") - asked
    assert kitty.user_vars(zebra)["tally_kind"] == "question"
    kitty.wait_until(lambda: savanna.question(zebra)[0], what="the question in the snapshot")
    # Nobody can tell where it begins, so no keys are offered for it.
    assert savanna.question(zebra) == ("May I cross the river?", ["", ""], "screen: screen rule: numbered choices")
    kitty.send_text(zebra, "1\r")
    savanna.wait_status(zebra, "working")
    assert savanna.question(zebra)[0] == ""
    savanna.wait_status(zebra, "done")

    assert late < 2.0, f"amber came {late:.2f} s after the question"
    lit = {name: [light for _, light in savanna.history(window) if light] for name, window in others.items()}
    assert not any(lit.values()), lit
