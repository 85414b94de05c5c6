"""Forking: what a snapshot says is looked at afresh in the process table, and the program is found."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.gate import Refusal
from tallylight.evidence.process import Process
from tallylight.files.program import find_program
from tallylight.model.status import Status
from tallylight.parts.conversations import fork
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.snapshot.schema import ConversationEntry, Pane
from tests.actions.known import AGENTS, ID, process

SHELL = process("bash", pid=10, ppid=1, pgrp=10, exe="/usr/bin/bash", start=100)
CLAUDE = process("claude", pid=20, ppid=10)


@attrs.define
class HandTable:
    """A process table that holds what it is given, all in one directory and with one PATH."""

    directory: str
    path: str
    processes: dict[int, Process] = attrs.Factory(lambda: {p.pid: p for p in (SHELL, CLAUDE)})

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def token(self, pid: int) -> object:
        return self.get(pid)

    def fingerprint(self, pid: int) -> object:
        return self.get(pid)

    def start(self, pid: int) -> int | None:
        found = self.get(pid)
        return found.start if found is not None else None

    def start_time(self, pid: int) -> float | None:
        return None

    def cwd(self, pid: int) -> str:
        return self.directory if pid in self.processes else ""

    def environ(self, pid: int) -> dict[str, str]:
        return {"PATH": self.path, "CLAUDE_CONFIG_DIR": "/c", "ANTHROPIC_API_KEY": "secret", "X_HOME": "a\nb"}

    def descendants(self, pid: int) -> tuple[Process, ...]:
        found = tuple(p for p in self.processes.values() if p.ppid == pid)
        return (*found, *(deeper for one in found for deeper in self.descendants(one.pid)))

    def group(self, pgrp: int) -> tuple[Process, ...]:
        return tuple(p for p in self.processes.values() if p.pgrp == pgrp)


@pytest.fixture
def table(tmp_path: Path) -> HandTable:
    """A shell, and a Claude that came from it and can be found in its PATH."""
    program(tmp_path / "bin/claude")
    return HandTable(str(tmp_path), str(tmp_path / "bin"))


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def pane(directory: str, **how: Any) -> Pane:
    """What the host wrote of the pane."""
    known = ConversationEntry(agent="claude", session=ID, cwd=directory)
    made = Pane(id="3", status=Status.IDLE, agent="claude", agent_pid=20, pid=20, conversation=known)
    return attrs.evolve(made, **how)


plan_fork, plan_resume = (functools.partial(fork.act, verb) for verb in (Verb.FORK, Verb.RESUME))


def rule(found: Plan | Refusal) -> str:
    return found.rule if isinstance(found, Refusal) else ""


def test_the_program_a_person_would_have_started(table: HandTable) -> None:
    """`argv[0]` is the agent's name in the PATH that the running agent was started with."""
    found = plan_fork(pane(table.directory), AGENTS, table, root=10)

    assert isinstance(found, Plan)
    assert found.argv == (f"{table.path}/claude", "--resume", ID, "--fork-session")
    assert found.cwd == table.directory


def test_what_ran_behind_our_relay_does_so_again(table: HandTable, tmp_path: Path) -> None:
    """`tally run --` of the agent's PATH stands before it, in what is shown as in what runs; no other agent has it."""
    tally = program(tmp_path / "bin/tally")
    known = ConversationEntry(agent="claude", session=ID, cwd=table.directory, relayed=True)
    found = plan_fork(pane(table.directory, conversation=known), AGENTS, table, root=10)
    another = plan_fork(pane(table.directory, conversation=attrs.evolve(known, agent="codex")), AGENTS, table, root=10)

    assert isinstance(found, Plan) and isinstance(another, Plan)
    assert found.argv == (str(tally), "run", "--", f"{table.path}/claude", "--resume", ID, "--fork-session")
    assert another.argv[0] == f"{table.path}/claude"


def test_where_our_command_is_gone_it_runs_without(table: HandTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """No relay is no reason to lose a conversation."""
    monkeypatch.setenv("HOME", table.directory)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    known = ConversationEntry(agent="claude", session=ID, cwd=table.directory, relayed=True)
    found = plan_resume(pane(table.directory, conversation=known), AGENTS, table)

    assert isinstance(found, Plan)
    assert found.argv[0] == f"{table.path}/claude"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["fence claude"], "fence claude"),
        (["fence --net off -- /v/bin/claude --model opus"], "fence --net off -- /v/bin/claude"),
        (["unshare -pf claude"], "unshare -pf claude"),
        (["sudo -u x claude"], "sudo -u x claude"),
        (["systemd-inhibit fence claude", "fence claude"], "systemd-inhibit fence claude"),
        (["fence claude", "sh /home/u/bin/claude"], "fence claude"),
        (["bash"], "claude"),
        (["elvish"], "claude"),
        (["nu -c claude"], "claude"),
        (["npm run chat"], "claude"),
        (["npx -y @anthropic-ai/claude-code"], "claude"),
        (["make chat"], "make"),
        (["nvim"], "nvim"),
        (["git chat"], "git"),
        (["fence bash", "bash"], "fence"),
        (["fence claude --model haiku"], "fence"),
        (["make chat", "fence claude"], "make"),
    ],
)
def test_what_an_agent_runs_behind_is_before_its_fork(table: HandTable, line: list[str], expected: str) -> None:
    """Its own words stand there again if they end with the agent's; what leads to it in another way is told."""
    words = "claude --model opus" if "opus" in line[0] else "claude"
    leader, *between = [process(*argv.split(), pid=20 + at, ppid=19 + at if at else 10) for at, argv in enumerate(line)]
    for name in ("fence", "unshare", "sudo", "systemd-inhibit"):
        program(Path(table.path, name))
    inner = attrs.evolve(process(*words.split(), pid=29, ppid=20 + len(between)), exe="/opt/claude")
    table.processes = {one.pid: one for one in (SHELL, leader, *between, inner)}
    found = plan_fork(pane(table.directory), AGENTS, table, root=10)

    if isinstance(found, Refusal):
        assert (found.rule, found.text.split()[4]) == ("wrapper", f"{expected},")
        return
    first, *rest = expected.split()
    assert found.argv == (f"{table.path}/{first}", *rest, "--resume", ID, "--fork-session")


def test_an_agent_that_looks_in_one_directory_gets_no_worktree(table: HandTable, tmp_path: Path) -> None:
    """Its fork would not find the conversation there, so that none is offered, though the id is known."""
    program(tmp_path / "bin/qwen")
    table.processes[20] = process("node", "/v/.bin/qwen", pid=20, ppid=10)
    known = ConversationEntry(agent="qwen", session=ID, cwd=table.directory)
    found = plan_fork(pane(table.directory, agent="qwen", conversation=known), AGENTS, table, root=10)

    assert isinstance(found, Plan) and found.method is Method.SESSION
    refused = fork.worktree_of(found)
    assert isinstance(refused, Refusal) and refused.rule == "worktree" and "Qwen Code" in refused.text


def test_of_its_environment_only_places_are_told(table: HandTable) -> None:
    """Where things are may be printed; a key may not, and neither may what breaks a line."""
    found = plan_resume(pane(table.directory), AGENTS, table)

    assert isinstance(found, Plan)
    assert found.env == {"PATH": table.path, "CLAUDE_CONFIG_DIR": "/c"}


@pytest.mark.parametrize(
    ("processes", "refused"),
    [
        ([SHELL], "process"),
        ([SHELL, process("vim", pid=20)], "process"),
        ([SHELL, process("ssh", "host", pid=20)], "remote"),
        ([process("claude", pid=20, ppid=1)], "process"),
        ([], "process"),
    ],
    ids=["gone", "another program", "ssh", "another pane's", "nothing"],
)
def test_a_snapshot_is_not_believed(table: HandTable, processes: list[Process], refused: str) -> None:
    """Whatever the snapshot said a moment ago, the agent must be there now, and below the pane's own process."""
    table.processes = {p.pid: p for p in processes}

    assert rule(plan_fork(pane(table.directory), AGENTS, table, root=10)) == refused


def test_the_group_in_front_decides(table: HandTable) -> None:
    """With the foreground asked of the terminal, an agent that was stopped in favour of the shell is not forked."""
    stopped = plan_fork(pane(table.directory), AGENTS, table, root=10, pgid=10)

    assert rule(stopped) == "process"


def test_what_is_gone_is_resumed_with_the_shells_surroundings(table: HandTable) -> None:
    """An agent that was killed left its session and directory; the PATH is the shell's."""
    table.processes = {10: SHELL}
    found = plan_resume(pane(table.directory, agent_pid=None, pid=10), AGENTS, table, root=10)

    assert isinstance(found, Plan)
    assert found.argv == (f"{table.path}/claude", "--resume", ID)
    assert found.pid is None


def test_what_is_gone_is_found_where_it_was(table: HandTable, tmp_path: Path) -> None:
    """Start-up files had set a PATH that its shell was not started with; what has left that is sought in the shell."""
    own = program(tmp_path / "nvm/claude")
    table.processes = {10: SHELL}
    known = ConversationEntry(
        agent="claude", session=ID, cwd=table.directory, places=(f"PATH={own.parent}", "CODEX_HOME=/x=y")
    )
    left = pane(table.directory, agent_pid=None, pid=10, conversation=known)
    found = plan_resume(left, AGENTS, table, root=10)
    own.unlink()
    other = plan_resume(left, AGENTS, table, root=10)

    assert isinstance(found, Plan) and isinstance(other, Plan)
    assert (found.argv[0], other.argv[0]) == (str(own), f"{table.path}/claude")
    assert found.env == {"PATH": str(own.parent), "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x=y"}
    assert other.env == {"PATH": table.path, "CLAUDE_CONFIG_DIR": "/c"}
    assert not found.is_same(attrs.evolve(found, env=other.env))
    # Any program can have written what is remembered.
    assert found.notes == (f"{own} is not in the PATH of this shell: only Tallylight's own files name it.",)
    assert other.notes == ()


def test_of_an_agent_that_runs_its_own_surroundings_count(table: HandTable) -> None:
    """What is remembered is of before: it may be another's by now."""
    known = ConversationEntry(agent="claude", session=ID, cwd=table.directory, places=("PATH=/evil",))
    found = plan_resume(pane(table.directory, conversation=known), AGENTS, table)

    assert isinstance(found, Plan)
    assert found.env["PATH"] == table.path


def test_a_directory_that_is_gone(table: HandTable) -> None:
    """A conversation whose directory was removed cannot go on there."""
    assert rule(plan_fork(pane(f"{table.directory}/gone"), AGENTS, table)) == "directory"


@pytest.mark.parametrize("verb", Verb)
def test_no_program_of_that_name(table: HandTable, verb: Verb) -> None:
    """If the PATH has none, there is none: nothing else is tried under that name."""
    (Path(table.path) / "claude").unlink()

    assert rule(fork.act(verb, pane(table.directory), AGENTS, table)) == "program"


def test_a_program_outside_the_path(table: HandTable, tmp_path: Path) -> None:
    """An agent that was started by its path is found by its own executable, if that has its name."""
    (Path(table.path) / "claude").unlink()
    own = program(tmp_path / "own/claude")
    table.processes[20] = attrs.evolve(CLAUDE, exe=str(own))
    found = plan_fork(pane(table.directory), AGENTS, table)
    table.processes[20] = attrs.evolve(CLAUDE, exe=str(program(tmp_path / "own/claude-2")))
    other = plan_fork(pane(table.directory), AGENTS, table)

    assert isinstance(found, Plan)
    assert found.argv[0] == str(own)
    assert rule(other) == "program"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("{here}/bin", "{here}/bin/x"),
        ("/nonexistent:{here}/bin", "{here}/bin/x"),
        ("bin:.::{here}/plain:{here}/folder:{here}/bin", "{here}/bin/x"),
        ("bin", ""),
        (".", ""),
        ("", ""),
        ("{here}/plain", ""),
        ("{here}/folder", ""),
    ],
)
def test_find_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, found: str) -> None:
    """Relative and empty directories of a PATH never count, and neither do what is no program."""
    program(tmp_path / "bin/x")
    program(tmp_path / "plain/x", 0o644)
    (tmp_path / "folder/x").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    assert find_program("x", path.format(here=tmp_path)) == found.format(here=tmp_path)


def test_a_name_that_others_have(table: HandTable) -> None:
    """An agent known by its title is believed for the very process whose title the host saw."""
    amp = process("amp", "x", pid=20)
    table.processes[20] = amp
    program(Path(table.path) / "amp")
    known = ConversationEntry(agent="amp", cwd=table.directory)
    seen = plan_resume(pane(table.directory, conversation=known), AGENTS, table)
    other = plan_resume(pane(table.directory, conversation=known, agent_pid=21, pid=20), AGENTS, table)

    assert isinstance(seen, Plan)
    assert seen.pid == 20
    assert not isinstance(other, Plan) or other.pid is None


def test_real_processes() -> None:
    """This very process is no agent, by the real table."""
    own = Pane(id="1", status=Status.IDLE, agent="claude", session=ID, agent_pid=os.getpid(), pid=os.getpid())

    assert rule(plan_fork(own, AGENTS)) == "process"
