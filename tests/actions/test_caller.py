"""Who asks, by the process table: lines that lead to a pane, lines that end before, and what a person's way in is."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.actions import caller, client
from tallylight.actions.caller import Caller, End, Who, caller_of
from tallylight.actions.seat import let_in, seated
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tests.actions.callers import Hand
from tests.actions.known import AGENTS
from tests.actions.real_panes import real_panes
from tests.actions.sshd import sshd
from tests.actions.ways import AGENT, ASKER, EVERY, PANE_TTY, SHELL, TMUX, made
from tests.patience import until
from tests.tables import each

INIT, TERMINAL = made(1, 0, "init"), made(TMUX, 1, "tmux")
BASH, TALLY = made(SHELL, TMUX, "bash"), made(ASKER, SHELL, "tally")
TTY = {SHELL: PANE_TTY, ASKER: PANE_TTY}
#: Those of another user, whose executables nobody else reads.
SSHD = Process(35, 1, 35, "sshd-session", ("sshd-session: me [priv]",), "", 35)
OWN_SSHD = Process(36, 35, 36, "sshd-session", ("sshd-session: me@pts/1",), "", 36)
CRON = Process(35, 1, 35, "cron", ("cron",), "", 35)
SUDO = Process(45, SHELL, 45, "sudo", ("sudo", "-u", "me", "tally"), "", 45)


@each("way", list(EVERY))
def test_a_program_below_an_agent(way: str) -> None:
    """Below whatever it was started: the agent is found where the line is whole, and nobody is taken for a person."""
    one = EVERY[way]
    table = one.table(TMUX)
    found = caller_of(ASKER, AGENTS, table)
    assert found.who is one.elsewhere
    for prove in (seated, let_in):
        assert prove(found, lambda pid: caller_of(pid, AGENTS, table), table) == found
    assert found.asker == (ASKER, ASKER * 10)
    if found.who is Who.AGENT:
        assert (found.being, found.agent, found.end) == ((AGENT, AGENT * 10), "Codex", End.TERMINAL)
        assert found.being in found.lineage


@each(
    "processes, terminals, owners, expected",
    [
        ((INIT, TERMINAL, BASH, TALLY), TTY, {}, (Who.SCRIPT, SHELL, End.TERMINAL)),
        # A terminal is told by its executable alone, and what it runs is a pane only with a terminal of its own.
        ((INIT, made(TMUX, 1, "tmux", exe="/usr/bin/python3"), BASH, TALLY), TTY, {}, (Who.UNKNOWN, ASKER, None)),
        ((INIT, made(TMUX, 1, "x", 0, "/bin/screen-5.0.0"), BASH, TALLY), TTY, {}, (Who.SCRIPT, SHELL, End.TERMINAL)),
        ((INIT, made(TMUX, 1, "x", 0, "/bin/tmux (deleted)"), BASH, TALLY), TTY, {}, (Who.SCRIPT, SHELL, End.TERMINAL)),
        ((INIT, TERMINAL, BASH, TALLY), {}, {}, (Who.UNKNOWN, ASKER, None)),
        # A login is another user's, and a service that starts programs for people is none.
        ((INIT, SSHD, BASH, TALLY), TTY, {35: 0}, (Who.SCRIPT, SHELL, End.LOGIN)),
        ((INIT, SSHD, OWN_SSHD, made(SHELL, 36, "bash"), TALLY), TTY, {35: 0}, (Who.SCRIPT, 36, End.LOGIN)),
        ((INIT, SSHD, BASH, TALLY), TTY, {35: os.getuid() or 1000}, (Who.UNKNOWN, ASKER, None)),
        ((INIT, CRON, BASH, TALLY), TTY, {35: 0}, (Who.UNKNOWN, ASKER, None)),
        # A program of another user on the way hides nothing.
        ((INIT, TERMINAL, BASH, SUDO, made(ASKER, 45, "tally")), TTY, {45: 0}, (Who.SCRIPT, SHELL, End.TERMINAL)),
        # Outside of this container; its own first process is at no end.
        ((made(SHELL, 0, "bash"), TALLY), {}, {}, (Who.SCRIPT, SHELL, End.LOGIN)),
        ((made(1, 0, "bash"), made(ASKER, 1, "tally")), {}, {}, (Who.UNKNOWN, ASKER, None)),
        # Parents that have gone, that are younger, that are their own parents, or that are too many.
        ((INIT, TERMINAL, TALLY), TTY, {}, (Who.UNKNOWN, ASKER, None)),
        ((INIT, TERMINAL, made(SHELL, TMUX, "bash", 91), TALLY), TTY, {}, (Who.UNKNOWN, ASKER, None)),
        ((INIT, TERMINAL, BASH), TTY, {}, (Who.UNKNOWN, ASKER, None)),
        ((INIT, made(ASKER, ASKER, "tally")), TTY, {}, (Who.UNKNOWN, ASKER, None)),
        (
            (INIT, TERMINAL, BASH, *(made(n, n + 1 if n < 1100 else SHELL, "sh", 41) for n in range(1000, 1101)),
             made(ASKER, 1000, "tally")), TTY, {}, (Who.UNKNOWN, ASKER, None),
        ),
    ],
)  # fmt: skip
def test_where_a_line_ends(
    monkeypatch: pytest.MonkeyPatch,
    processes: tuple[Process, ...],
    terminals: dict[int, int],
    owners: dict[int, int],
    expected: tuple[Who, int, End | None],
) -> None:
    """Without an agent in it: at a terminal, at a login, or nowhere that proves anything."""
    monkeypatch.setattr(caller.os, "getuid", lambda: os.geteuid() or 1000)
    table = Hand(*processes, terminals=terminals, owners=owners, own=os.geteuid() or 1000)
    found = caller_of(ASKER, AGENTS, table)
    assert (found.who, found.being[0], found.end) == expected


def test_what_was_an_agent_is_one() -> None:
    """A process that was known as one and runs something else now."""
    table = Hand(INIT, TERMINAL, BASH, made(AGENT, SHELL, "sh"), made(ASKER, AGENT, "tally"), terminals=TTY)
    assert caller_of(ASKER, AGENTS, table).who is Who.SCRIPT
    found = caller_of(ASKER, AGENTS, table, was_agent=lambda pid, _: "Codex" if pid == AGENT else "")
    assert (found.who, found.being[0], found.agent) == (Who.AGENT, AGENT, "Codex")


def test_an_agent_file_hides_no_packaged_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's files may replace an agent by one that names no program; the packaged one is found all the same."""
    table = Hand(INIT, TERMINAL, BASH, made(AGENT, SHELL, "codex"), made(ASKER, AGENT, "tally"), terminals=TTY)
    monkeypatch.setattr(client.process_table, "table", lambda: table)
    monkeypatch.setattr(client.agent_files, "load_agents", lambda env: (Agents([]) if env else AGENTS, []))
    found = client.identify_by({"HOME": "/home/me"})(ASKER)
    assert (found.who, found.being[0], found.agent) == (Who.AGENT, AGENT, "Codex")


# Real processes ------------------------------------------------------------------------------------------------------

_PROBE = """#!/bin/sh
read -r pid rest </proc/self/stat  # what it is called outside of its namespace
echo $pid > {folder}/pid.new
mv {folder}/pid.new {folder}/pid
exec sleep 100
"""


@contextlib.contextmanager
def started(folder: Path, way: str) -> Iterator[int]:
    """The pid of what a real agent in a pane of a terminal starts in this *way*."""
    with contextlib.ExitStack() as rest, real_panes(folder) as panes:
        (folder / "probe").write_text(_PROBE.format(folder=folder))
        (folder / "probe").chmod(0o755)
        (folder / "probe.py").write_text(f"import os; os.execv('{folder}/probe', ['vim'])")
        if "$FOLDER/person" in way:
            # A server of the person's own, to which they are attached in another pane.
            panes.type(f"tmux -S {folder}/person new-session")
            until((folder / "person").exists, "no server")
        if "ssh.conf" in way:
            rest.enter_context(sshd(folder))
        panes.run(way)
        until((folder / "pid").exists, "it does not start")
        yield int((folder / "pid").read_text())


def _settled(pid: int, who: Who) -> Caller:
    """The caller, once those in between have ended that are to end."""
    table = process_table.table()
    until(lambda: caller_of(pid, AGENTS, table).who is who, lambda: caller_of(pid, AGENTS, table))
    return caller_of(pid, AGENTS, table)


@pytest.mark.slow
@pytest.mark.programs
@pytest.mark.parametrize("name", [name for name, way in EVERY.items() if way.real])
def test_real_programs_below_a_real_agent(name: str, tmp_path: Path) -> None:
    """What the table by hand says of each way is what the system says of it; in none of them it is a person."""
    way = EVERY[name]
    if os.getuid() and ("unshare" in way.real or "ssh.conf" in way.real):
        pytest.skip("NOT TESTED: a namespace, and a login of another user, need root")
    if missing := [word for word in ("dtach", "expect", "screen") if word in way.real and not shutil.which(word)]:
        pytest.skip(f"NOT TESTED: there is no {missing[0]}")
    with started(tmp_path, way.real) as pid:
        found = _settled(pid, way.elsewhere)
        assert found.who is way.elsewhere
        table = process_table.table()
        for prove in (seated, let_in):
            assert prove(found, lambda pid: caller_of(pid, AGENTS, table), table).who is way.elsewhere
