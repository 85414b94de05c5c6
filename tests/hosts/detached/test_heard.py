"""Real tmux: what programs say in panes of a session with a person is heard there, without a terminal of ours."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.cli import status
from tallylight.model.status import Status
from tallylight.snapshot import rows, writer
from tallylight.snapshot.addresses import Panes
from tallylight.snapshot.schema import Pane
from tests.hosts.detached.conftest import everywhere
from tests.hosts.detached.test_tmux import attached, clients
from tests.hosts.detached.yard import Tmux, Yard
from tests.real_agents.driver import wait_until
from tests.wire.protocol_keys import BEFORE, CLEARS, ROWS, Row

pytestmark = pytest.mark.programs


@attrs.define
class Speaker:
    """A program of the name of an agent, which writes to its pane whatever is put into its file."""

    yard: Yard
    name: str = "claude"
    path: Path = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        program = self.yard.home / "bin" / self.name
        program.parent.mkdir(exist_ok=True)
        program.write_text('#!/bin/bash\necho ready\ntail -n +1 -f "$1"\n')
        program.chmod(0o755)
        self.path = self.yard.folder / f"said-{time.monotonic_ns()}"
        self.path.touch()

    @property
    def command(self) -> tuple[str, str]:
        return str(self.yard.home / "bin" / self.name), str(self.path)

    def say(self, *payloads: str) -> float:
        """Write these OSC to the pane; the time."""
        self.write(b"".join(b"\x1b]%b\x07" % payload.encode() for payload in payloads))
        return time.monotonic()

    def write(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)


def kept(yard: Yard, session: str) -> dict[str, Any]:
    """The pane of a session as `tally status --json` has it."""
    for path in (yard.runtime / "tallylight").glob("sessions-*.json"):
        with contextlib.suppress(FileNotFoundError):
            snapshot = writer.read(path)
            found = [one for one in Panes.of([snapshot], []).panes if one.pane.place.host_title == session]
            pane: dict[str, Any] = json.loads(json.dumps(status.to_json(Panes.of([snapshot], []), found)))["panes"][0]
            return pane
    return {}


@contextlib.contextmanager
def person(yard: Yard, session: Tmux) -> Iterator[int]:
    """A person at *session* whom the host has joined; our end of their terminal."""
    with attached(yard, session) as master:
        wait_until(lambda: any("control-mode" in flags for flags in clients(session)), 20, "a control client")
        yield master


@everywhere
def test_every_key_of_every_protocol(yard: Yard) -> None:
    """What an agent says in its pane is kept by the table of docs/protocol.md, until it takes that back."""
    speaker = Speaker(yard)
    session = Tmux(yard, "work", *speaker.command)
    yard.start_host()
    yard.pane("work")

    def is_kept(row: Row) -> bool:
        return bool(kept(yard, "work").get(row.kept) == row.value)

    with person(yard, session):
        for row in ROWS:
            speaker.say(*CLEARS, BEFORE[row.protocol], row.sent)
            wait_until(lambda row=row: is_kept(row), 20, f"{row.protocol} {row.key}: {row.value}")
            speaker.say(row.cleared)
            wait_until(lambda row=row: not is_kept(row), 20, f"the end of {row.protocol} {row.key}")
    assert yard.log() == ""


@everywhere
def test_what_terminals_hear(yard: Yard) -> None:
    """Titles, notifications and the marks of a shell count as they do in kitty."""
    agent, plain = Speaker(yard), Speaker(yard, "mine")
    session = Tmux(yard, "work", *agent.command)
    session.tmux("new-session", "-d", "-s", "plain", *plain.command)
    session.tmux("link-window", "-s", "plain:0", "-t", "work:5")
    yard.start_host()

    def shown(name: str) -> tuple[str, str]:
        pane = yard.pane(name)
        return str(pane.status), str(pane.reason.source)

    with person(yard, session):
        agent.say("0;✳ Fix login")
        wait_until(lambda: yard.pane("work").title == "Fix login", 20, "the title")
        agent.say("9;Claude needs your permission to use Bash")
        wait_until(lambda: shown("work") == ("waiting", "notification"), 20, "the notification")
        assert yard.pane("work").message == "Claude needs your permission to use Bash"
        plain.say("133;C", "1338;state=working;tool=mine")
        wait_until(lambda: shown("plain")[0] == "working", 20, "the report")
        plain.say("133;D;0")
        wait_until(lambda: shown("plain")[0] != "working", 20, "the end of the command")
    assert yard.log() == ""


def test_a_command_of_the_person(yard: Yard) -> None:
    """`tally emit` in a shell lights its window, in tmux alone; what is typed next does not keep it lit."""
    session = Tmux(yard, "work", "bash", "--norc", "-i")
    yard.start_host()
    with person(yard, session):
        session.send("tally emit waiting --tool claude --message 'Run rm -rf build?'; cat\r")
        pane: Pane = wait_until(lambda: (p := yard.pane("work")).status is Status.WAITING and p, 30, "the report")
        assert (pane.agent, pane.message) == ("claude", "Run rm -rf build?")
        wait_until(lambda: "waiting" in session.tmux("show-options", "-w", "-t", "work"), 10, "the window's light")


def test_a_window_of_two_sessions_is_heard_once(yard: Yard) -> None:
    """Two people at two sessions of one group: what is said counts once, and goes on when either of them leaves."""
    speaker = Speaker(yard)
    session = Tmux(yard, "work", *speaker.command)
    other = Tmux(yard, "other", "-t", "work")
    yard.start_host()
    id_ = wait_until(yard.panes, 20, "the pane")[0].id

    def ours() -> int:
        return sum("control-mode" in flags for flags in clients(session))

    with attached(yard, session):
        with attached(yard, other):
            wait_until(lambda: ours() == 2, 20, "a control client at each")
            speaker.say("1338;state=working;tool=claude")
            yard.wait(id_, "working", since=0)
        wait_until(lambda: ours() == 1, 20, "one has left")
        said = speaker.say("1338;state=waiting;tool=claude")
        yard.wait(id_, "waiting", since=said)
    assert yard.log() == ""


def test_who_detaches(yard: Yard) -> None:
    """When the person leaves, reported work is no longer shown; the end of a turn is."""
    working, done = Speaker(yard), Speaker(yard)
    session = Tmux(yard, "work", *working.command)
    session.tmux("new-window", "-d", "-t", "work:", *done.command)
    yard.start_host()
    wait_until(lambda: len(yard.panes()) == 2, 20, "two panes")

    def lights() -> list[str]:
        return [str(pane.status) for pane in sorted(yard.panes(), key=lambda pane: pane.id)]

    with person(yard, session):
        working.say("1338;state=working;tool=claude")
        done.say("1338;state=done;tool=claude")
        wait_until(lambda: lights() == ["working", "done"], 20, "the reports")
    wait_until(lambda: lights()[0] != "working", 20, "nothing is known any more")
    assert lights()[1] == "done"
    assert clients(session) == []


def test_the_client_dies(yard: Yard) -> None:
    """A control client that is killed is replaced, and the server's death takes its panes away."""
    speaker = Speaker(yard)
    session = Tmux(yard, "work", *speaker.command)
    yard.start_host()
    id_ = yard.pane("work").id

    def ours() -> str:
        rows = session.tmux("list-clients", "-F", "#{client_control_mode} #{client_pid}").splitlines()
        return next((row[2:] for row in rows if row.startswith("1")), "")

    with contextlib.suppress(OSError), person(yard, session):
        first = ours()
        yard.run("kill", "-KILL", first)
        wait_until(lambda: ours() not in ("", first), 20, "another control client")
        said = speaker.say("1338;state=waiting;tool=claude")
        yard.wait(id_, "waiting", since=said)
        session.tmux("rename-session", "-t", "work", "play")
        wait_until(lambda: yard.panes()[0].place.host_title == "play", 20, "the new name")
        session.tmux("kill-server")
        wait_until(lambda: yard.panes() == [], 20, "the end of the server")
    assert yard.log() == ""


@pytest.mark.parametrize("is_attached", [True, False], ids=["attached", "detached"])
def test_what_becomes_of_a_session(yard: Yard, is_attached: bool) -> None:
    """Renamed, moved, linked, its twin ended, and the death of client and server: the rows are right within 2 s."""
    session = Tmux(yard, "work", "sleep", "1000")
    session.tmux("new-window", "-d", "-t", "work:", "sleep", "1000")
    session.tmux("new-session", "-d", "-s", "other", "sleep", "1000")
    yard.start_host()
    wait_until(lambda: len(yard.panes()) == 3, 20, "three panes")
    id_ = min((pane for pane in yard.panes() if pane.place.host_title == "work"), key=lambda pane: pane.place.tab).id
    late: list[str] = []

    def rows() -> list[str]:
        return [pane.place.tab for pane in yard.panes() if pane.id == id_]

    def becomes(wanted: list[str], *command: str) -> None:
        began = time.monotonic()
        session.tmux(*command)
        wait_until(lambda: rows() == wanted, 20, f"{wanted} after {' '.join(command)}")
        if (took := yard.late(time.monotonic(), began)) > 2.0:
            late.append(f"{' '.join(command)}: {took:.2f} s")

    with contextlib.ExitStack() as people:
        if is_attached:
            people.enter_context(contextlib.suppress(OSError))
            people.enter_context(person(yard, session))
        becomes(["play:0"], "rename-session", "-t", "work", "play")
        becomes(["other:7"], "move-window", "-s", "play:0", "-t", "other:7")
        # A window of two sessions is one row, of the first of them by its name.
        becomes(["another:9"], "new-session", "-d", "-s", "another", "sleep", "1000", ";",
                "link-window", "-s", "other:7", "-t", "another:9")  # fmt: skip
        if is_attached:
            ours = session.tmux("list-clients", "-F", "#{?client_control_mode,#{client_pid},}").split()
            yard.run("kill", "-KILL", *ours)
        becomes(["other:7"], "unlink-window", "-t", "another:9")
        becomes([], "kill-server")
    assert late == []
    assert yard.log() == ""


def test_a_flood(yard: Yard) -> None:
    """Beside a pane that floods another one is heard; the flood is paused, and its pane is heard again afterwards."""
    quiet, loud = Speaker(yard), Speaker(yard)
    session = Tmux(yard, "work", *quiet.command)
    session.tmux("new-window", "-d", "-t", "work:", *loud.command)
    yard.start_host()
    wait_until(lambda: len(yard.panes()) == 2, 20, "two panes")
    first, second = sorted(pane.id for pane in yard.panes())
    with person(yard, session):
        before = memory(yard)
        loud.write(b"1338;state=working;tool=claude\n" * 1_000_000)
        said = quiet.say("1338;state=waiting;tool=claude")
        yard.wait(first, "waiting", since=said)

        def is_heard() -> bool:
            loud.say("1338;state=waiting;tool=claude")
            return any(pane.id == second and pane.status is Status.WAITING for pane in yard.panes())

        wait_until(is_heard, 120, "the pane to be heard again", every=0.5)
        assert memory(yard) - before < 24 << 20
    assert yard.log() == ""


def test_a_tmux_in_a_tmux(yard: Yard) -> None:
    """The outer window has the light of the session inside, without a row of its own; it goes with the client."""
    speaker = Speaker(yard)
    outer = Tmux(yard, "outer", "bash", "--norc", "-i", server="outer")
    outer.send(f"TMUX= tmux -L inner -f /dev/null new-session -s inner {' '.join(speaker.command)}\r")
    yard.start_host()
    id_ = yard.pane("inner").id

    def window() -> str:
        return outer.tmux("show-options", "-wqv", "-t", "outer:", "@tally").strip()

    def listed() -> list[str]:
        snapshot = writer.read(next((yard.runtime / "tallylight").glob("sessions-*.json")))
        return [row.pane.id for row in rows.build([snapshot], "", time.time())]

    wait_until(lambda: yard.pane("inner").place.terminals, 20, "the client inside")
    speaker.say("1338;state=waiting;tool=claude;message=Go?")
    wait_until(lambda: window() == "waiting", 30, "the light of the outer window")
    wait_until(lambda: listed() == [id_], 20, "one row for both")
    yard.run("tmux", "-L", "inner", "detach-client", "-s", "inner")
    wait_until(lambda: window() == "", 30, "the end of it")
    assert yard.log() == ""


def memory(yard: Yard) -> int:
    """The memory of the host, in bytes."""
    pages = yard.run("cut", "-d ", "-f2", f"/proc/{yard.host_pid()}/statm")
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
