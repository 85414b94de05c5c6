"""
Twelve ways to start real agents: whether each is listed by its name, and amber at its question.

    python -m benchmarks.ways [AGENT …]

Needs root, and the agents of `tests/run`. Each runs in a room with loopback alone, against a scripted model, and is
looked at four times a second, as hosts do. Counted are the looks from its process on until it is named, and from its
dialog on the screen until it waits: eight are two seconds.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable

from tests.real_agents.driver import Pane as Terminal
from tests.real_agents.session import Session, is_on

from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.evidence.screen import Look
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane

AGENTS = ("claude", "codex", "opencode")
#: The prompt. Claude starts in auto mode, which cannot check this one behind such a gateway.
PROMPT = "TOOL touch made; sleep 1 THEN fine"
DEFAULT_MODE = {"claude": ("auto mode on", "Enter to stay in auto mode", "TOOL curl -s http://127.0.0.1:9/x | sh")}
TICK_S, LOOKS = 0.25, 8
COLUMNS, LINES = 100, 30
#: The commands that are run in the project, with the agent's own command in it.
WAYS = {
    "bare": "exec {}",
    "`set +m`": "exec bash -c 'set +m; {}; true'",
    "`make chat`": r"printf 'chat:\n\t{}\n' > Makefile; exec make -s chat",
    "a git alias": "exec git -c alias.chat='!{}' chat",
    "elvish": "exec elvish -c '{}'",
    "fish": "exec fish -c '{}; true'",
    "a native wrapper": "cp $(command -v timeout) /tmp/fence; exec /tmp/fence 900 {}",
    "`script`": "exec script -qc '{}; true' /dev/null",
    "`unbuffer -p`": "exec unbuffer -p {}",
    "a pty of Python": "exec python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' {}",
    "Neovim": "exec nvim -u NONE -c 'set shell=/bin/sh' -c 'terminal {}' -c startinsert",
    "bwrap": "exec bwrap --bind / / --dev /dev --proc /proc --unshare-pid {}",
}


class Watch:
    """A terminal of the room, looked at as a host does."""

    def __init__(self, session: Session, command: str) -> None:
        # The process that enters the room leads to another place; the one in there is looked at.
        launch = session.launch._replace(argv=["setsid", "--ctty", "bash", "-c", command])
        self.terminal = Terminal(session.room, launch, COLUMNS, LINES, answers=True)
        agents, table = agent_files.load_agents({})[0], process_table.table()
        self.pane = Pane(Timing(), process_table.ForegroundReader(agents, table), table)

    def look(self) -> None:
        """One look, a quarter of a second after the one before."""
        time.sleep(TICK_S)
        now = time.monotonic()
        self.pane.foreground(os.tcgetpgrp(self.terminal._master), now)
        for said in self.terminal.titles()[-1:]:
            self.pane.title(said.payload, now)
        cursor = self.terminal._screen.cursor
        look = Look(self.terminal.text().split("\n"), cursor.y, cursor.x, COLUMNS, not cursor.hidden)
        self.pane.screen(lambda: look, now)
        self.pane.tick(now)

    def until(self, truth: Callable[[], object], seen: Callable[[], object], seconds: float = 60) -> int:
        """Return how many looks after *truth* it was *seen*; -1 if it never was, and -2 if *truth* never came."""
        late, end = 0, time.monotonic() + seconds
        while time.monotonic() < end and not seen():
            late += bool(truth())
            self.look()
        return late if seen() else -1 if late else -2


def measure(session: Session, way: str) -> tuple[int, int]:
    """Return how many looks too late the agent was named, and its question seen."""
    name, manner, argv = session.agent, session.manner, session.launch.argv
    ready, asks, prompt = manner.ready, manner.permission, PROMPT
    if name in DEFAULT_MODE:
        (ready, asks, prompt), argv = DEFAULT_MODE[name], argv[:1]
    watch = Watch(session, WAYS[way].format(shlex.join(argv)))
    try:
        named = watch.until(
            lambda: is_on(watch.terminal.text(), "."),
            lambda: watch.pane.agent is not None and watch.pane.agent.name == name,
        )
        watch.until(lambda: False, lambda: is_on(watch.terminal.text(), ready), 110)
        for _ in range(12):
            watch.look()
        watch.terminal.send(prompt)
        for _ in range(6):
            watch.look()
        for _ in range(4):
            watch.terminal.send("\r")  # on a busy machine the first one may come before the agent listens
            if watch.until(lambda: False, lambda: session.model.marks, 10) >= 0:
                break
        asked = watch.until(
            lambda: is_on(watch.terminal.text(), asks),
            lambda: watch.pane.decision.status is Status.WAITING,
        )
        return named, asked
    finally:
        watch.terminal.close()


def main(argv: list[str]) -> int:
    """Measure all, and print a table."""
    print("| way | agent | named after looks | amber after looks |\n| --- | --- | ---: | ---: |")
    good = everything = 0
    for name in argv or AGENTS:
        for way in WAYS:
            with Session(name) as session:
                named, asked = measure(session, way)
            everything += 1
            good += 0 <= named <= LOOKS and asked >= 0
            print(f"| {way} | {name} | {named} | {asked} |", flush=True)
    print(f"{good} of {everything} are named within two seconds, and amber")
    return 0


if __name__ == "__main__":
    if os.geteuid() or not shutil.which("nvim"):
        sys.exit("benchmarks.ways needs root, and the programs of tests/run")
    sys.exit(main(sys.argv[1:]))
