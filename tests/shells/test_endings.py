"""
What is left of a light when its program ends, at real shells: the table in docs/trust.md.

Every cell is played on a pseudoterminal of its own: a shell starts a program, which reports a status and ends, and a
pane hears and sees what a host's pane does. `python -m tests.shells.test_endings` writes the table into the page.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight import wire
from tallylight.agents.agent_files import load_agents
from tallylight.evidence.process_table import ForegroundReader, table
from tallylight.model.timing import Timing
from tallylight.pane.occupied import SPOKEN_S
from tallylight.pane.pane import Pane
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire import envelope, osc133
from tallylight.wire.scanner import Sequence as Osc
from tallylight.wire.user_var import UserVar
from tests.patience import patient
from tests.terminal import SHARED, bare_environment

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
#: What a program reports, and what that is called on the page.
STATES = {
    "waiting": "asks",
    "error": "failed",
    "done": "is done",
    "working": "works",
    "background": "has tasks",
}
#: The program, how it ends, and what is done then; and what that is called on the page.
ENDS = {
    "crush exit": "an agent ends well",
    "crush kill": "an agent is killed",
    "other exit": "another program ends well",
    "other kill": "another program is killed",
    "other stop": "another program is stopped (Ctrl-Z)",
    "other clear": "another program takes its report back",
    "other look": "another program ends, and you look",
    "other next": "another program ends, and the next command starts",
}
#: The marks of OSC 133 at each shell's prompt: dash sends none.
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        r"""PROMPT_COMMAND='printf "\033]133;D;%s\007\033]133;A\007" $?'; PS0='\e]133;C\a'; PS1='rea''dy$ '""",
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        r"""precmd() { printf '\033]133;D;%s\007\033]133;A\007' $?; }; """
        r"""preexec() { printf '\033]133;C\007'; }; PS1='rea''dy$ '""",
    ),
    "fish": (
        ["fish", "--no-config", "-i"],
        r"""function fish_prompt; printf '\033]133;D;%s\007\033]133;A\007rea''dy$ ' $status; end; """
        r"""function marked --on-event fish_preexec; printf '\033]133;C\007'; end""",
    ),
    "dash": (["dash", "-i"], "PS1='rea''dy$ '"),
}
_LEFT = {"": "off", "idle": "off", "active": "off"}
#: It waits without a child: a shell that is stopped while it starts one may not stop, and wait for it for ever.
_PROGRAM = """#!/bin/sh
cat report
read -r _ <go
cat end
[ "$1" = kill ] && kill -9 $$
exit 0
"""


@attrs.define
class Play:
    """One program in one shell, and the pane that hears them."""

    shell: str
    end: str
    state: str
    is_relayed: bool
    folder: Path
    pid: int
    master: int
    pane: Pane
    scanner: Scanner = attrs.Factory(Scanner)
    received: bytes = b""
    sent: int = 0

    def pump(self) -> None:
        """Hear what was written, and look who holds the foreground."""
        now = time.monotonic()
        while select.select([self.master], [], [], 0)[0]:
            data = os.read(self.master, 65536)
            self.received += data
            for item in self.scanner.feed(data):
                if isinstance(item, Osc):
                    self.look(now)
                    self.hear(item, now)
        self.look(now)
        self.pane.tick(now)

    def look(self, now: float) -> None:
        self.pane.foreground(max(0, os.tcgetpgrp(self.master)), now)

    def hear(self, sequence: Osc, now: float) -> None:
        match wire.decode(sequence):
            case UserVar("tally", value):
                self.pane.user_variable(value, now)
            case osc133.Mark(osc133.COMMAND_START):
                self.pane.marked(True, None, now)
            case osc133.Mark(osc133.COMMAND_END, code):
                self.pane.marked(False, code, now)

    def type(self, text: str) -> None:
        self.sent = len(self.received)
        os.write(self.master, text.encode())

    @property
    def is_ready(self) -> bool:
        """Whether the shell has shown its prompt since something was typed, and nothing runs."""
        return os.tcgetpgrp(self.master) == self.pid and b"ready$ " in self.received[self.sent :]

    def is_let_go(self) -> bool:
        """Let the program end, if it waits for that."""
        try:
            go = os.open(self.folder / "go", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(go, b"\n")
        os.close(go)
        return True

    @property
    def light(self) -> str:
        decision = self.pane.decision
        return str(decision.status) if decision.is_lit else ""

    def go(self) -> Iterator[None]:
        """Play it: each step waits until it has come about."""
        name, how = self.end.split()
        yield from self.until(lambda: bool(self.received))
        self.type(SHELLS[self.shell][1] + "\r")
        yield from self.until(lambda: self.is_ready)
        (self.folder / "report").write_bytes(envelope.user_var("tally", f"state={self.state}"))
        tally = f"{sys.executable} -IS tally run " if self.is_relayed else ""
        self.type(f"{tally}./{name} {how}\r")
        yield from self.until(lambda: self.light == self.state)
        yield from self.for_(SPOKEN_S + 0.2)
        self.sent = len(self.received)
        if how == "stop":
            os.write(self.master, b"\x1a")
        else:
            last = envelope.user_var("tally", "state=clear") if how == "clear" else b""
            (self.folder / "end").write_bytes(last)
            yield from self.until(self.is_let_go)
        yield from self.until(lambda: self.is_ready)
        yield from self.for_(0.6)
        if how == "next":
            self.type("true\r")
            yield from self.until(lambda: self.is_ready)
        if how == "look":
            now = time.monotonic()
            self.pane.look(True, now)
            self.pane.look(True, now + 2)
        yield from self.for_(0.6)

    def until(self, is_so: object) -> Iterator[None]:
        end = time.monotonic() + patient(30.0)
        while not is_so():  # type: ignore[operator]
            assert time.monotonic() < end, (self.shell, self.end, self.state, self.is_relayed, self.received[-400:])
            yield

    def for_(self, seconds: float) -> Iterator[None]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield


def started(shell: str, end: str, state: str, is_relayed: bool, folder: Path) -> Play:
    folder.mkdir()
    os.mkfifo(folder / "go")
    for name in ("crush", "other"):
        (folder / name).write_text(_PROGRAM)
        (folder / name).chmod(0o755)
    (folder / "tally").write_text(
        f"import sys\nsys.path.insert(0, {str(SHARED)!r})\nfrom tallylight.cli.main import run\nrun()\n"
    )
    pid, master = os.forkpty()
    if not pid:
        os.chdir(folder)
        os.execvpe(SHELLS[shell][0][0], SHELLS[shell][0], bare_environment(HOME=str(folder), LC_ALL="C.UTF-8"))
    # Nobody else holds it: when it is closed, all that runs there is hung up.
    os.set_inheritable(master, False)
    agents, _ = load_agents({"HOME": str(folder)})
    processes = table()
    pane = Pane(Timing(), ForegroundReader(agents, processes), processes)
    return Play(shell, end, state, is_relayed, folder, pid, master, pane)


def played(shell: str, folder: Path, ends: Sequence[str] = tuple(ENDS)) -> dict[tuple[str, str, bool], str]:
    """What is left at *shell*, by the end, the status and whether it ran under `tally run`; all at the same time."""
    folder.mkdir(exist_ok=True)
    found: dict[tuple[str, str, bool], str] = {}
    plays = [
        started(shell, end, state, is_relayed, folder / f"{number}-{state}-{is_relayed}")
        for number, end in enumerate(ends)
        for state in STATES
        for is_relayed in (False, True)
    ]
    going = [(play, play.go()) for play in plays]
    try:
        while going:
            for play, steps in tuple(going):
                play.pump()
                if next(steps, 0) == 0:
                    going.remove((play, steps))
                    found[play.end, play.state, play.is_relayed] = _LEFT.get(play.light, play.light)
            time.sleep(0.02)
    finally:
        for play in plays:
            os.kill(play.pid, signal.SIGKILL)
            os.close(play.master)
            os.waitpid(play.pid, 0)
    return found


def drawn(found: Mapping[tuple[str, str, bool], str]) -> str:
    """The table as Markdown. Where `tally run` makes a difference, its word stands behind."""
    lines = [["", *STATES.values()], ["---"] * (1 + len(STATES))]
    for end, words in ENDS.items():
        cells = []
        for state in STATES:
            plain, relayed = found[end, state, False], found[end, state, True]
            left = ["stays" if word == state else word for word in (plain, relayed)]
            cells.append(left[0] if left[0] == left[1] else f"{left[0]}; {left[1]}")
        lines.append([words, *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page_with(found: Mapping[tuple[str, str, bool], str]) -> str:
    marked = re.compile(r"(<!-- ends -->\n).*?(<!-- /ends -->)", re.DOTALL)
    return marked.sub(lambda match: f"{match[1]}{drawn(found)}{match[2]}", PAGE.read_text("utf-8"))


@pytest.mark.programs
@pytest.mark.parametrize("shell", SHELLS)
def test_the_page_tells_what_is_left(shell: str, tmp_path: Path) -> None:
    """Each cell of the table, at each shell; dash tells neither when a command starts nor how one ended."""
    found = played(shell, tmp_path / "all")
    if shell == "dash":
        found |= {cell: "off" for cell in found if cell[0] == "other next"}
        assert found["crush exit", "working", False] == "down"
        found["crush exit", "working", False] = "done"
    assert page_with(found) == PAGE.read_text("utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(page_with(played("bash", Path(folder) / "all")), "utf-8")
