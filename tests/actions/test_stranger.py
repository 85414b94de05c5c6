"""Agents that no agent file describes: what of their own word is let through, and what would run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.gate import Refusal
from tallylight.model.status import Status
from tallylight.parts.conversations import fork
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.snapshot.schema import ConversationEntry, Pane
from tests.actions.known import AGENTS, ID, process
from tests.entries import new_pane
from tests.parts.conversations.test_forking import SHELL, HandTable, program, rule
from tests.tables import each

RESUME, FORK = Verb.RESUME, Verb.FORK


@attrs.define
class Zoo:
    """A pane in which `zebra` runs, a program of its own that its user's PATH does not have."""

    folder: Path
    argv: tuple[str, ...] = ("zebra",)

    @property
    def program(self) -> str:
        return str(self.folder / "own/zebra")

    def pane(self, verb: Verb, words: tuple[str, ...], **known: Any) -> Pane:
        """What the host wrote: *words* were said for *verb*."""
        entry = {"agent": "zebra", "session": ID, "cwd": str(self.folder), "program": self.program, **known}
        said = {str(verb): words}
        return new_pane(
            id="3",
            status=Status.IDLE,
            agent="zebra",
            agent_pid=20,
            pid=20,
            conversation=ConversationEntry(**entry),
            **said,  # type: ignore[arg-type]
        )

    def table(self, *, exe: str = "", is_gone: bool = False) -> HandTable:
        own = process(*self.argv, pid=20, ppid=10, exe=exe or self.program)
        processes = [SHELL] if is_gone else [SHELL, own]
        return HandTable(str(self.folder), str(self.folder / "bin"), {p.pid: p for p in processes})

    def plan(self, verb: Verb, *words: str, is_gone: bool = False, **known: Any) -> Plan | Refusal:
        pane = self.pane(verb, words, **known)
        return fork.act(verb, pane, AGENTS, self.table(is_gone=is_gone), root=10)


@pytest.fixture
def zoo(tmp_path: Path) -> Zoo:
    program(tmp_path / "own/zebra")
    return Zoo(tmp_path)


@each(
    ("verb", "said", "argv"),
    [
        # The examples of OSC 26.
        (RESUME, ("zebra", "--resume", "{SessionId}"), ("--resume", ID)),
        (FORK, ("zebra", "--fork", "{SessionId}"), ("--fork", ID)),
        (RESUME, ("zebra", "--resume", ID), ("--resume", ID)),
        (RESUME, ("zebra", f"--session={ID}"), (f"--session={ID}",)),
        (RESUME, ("zebra", "resume", "{session}"), ("resume", ID)),
        (RESUME, ("zebra", "threads", "continue", "T-1"), ("threads", "continue", "T-1")),
        (RESUME, ("zebra", "chat", "--resume", "7"), ("chat", "--resume", "7")),
        (FORK, ("zebra", "fork", ID), ("fork", ID)),
        (FORK, ("zebra", "--resume", ID, "--fork-session"), ("--resume", ID, "--fork-session")),
        (FORK, ("zebra", "--fork", "--session", ID), ("--fork", "--session", ID)),
        (FORK, ("zebra", "resume", ID, "--fork"), ("resume", ID, "--fork")),
    ],
)
def test_what_is_let_through(zoo: Zoo, verb: Verb, said: tuple[str, ...], argv: tuple[str, ...]) -> None:
    """The ways to name a conversation that mean the same everywhere, run by the file that runs here."""
    found = zoo.plan(verb, *said)

    assert isinstance(found, Plan), found
    assert found.argv == (zoo.program, *argv)
    assert (found.method, found.pid, found.cwd) == (Method.SAID, 20, str(zoo.folder))
    assert "zebra has no agent file" in found.notes[0]


@pytest.mark.slow
@each(
    ("said", "refused", "text"),
    [
        # Options, and words that an agent would obey.
        (("zebra", "--resume", ID, "--yolo"), "option", "'--yolo' is unknown: zebra has no agent file that names it"),
        (("zebra", "--yolo", "--resume", ID), "option", "'--yolo' is unknown"),
        (("zebra", "--branch", ID), "option", f"'--branch {ID[:30]}"),
        (("zebra", "--resume", ID, "--mode=yolo"), "option", "'--mode=yolo'"),
        (("zebra", "--resume", ID, "-y"), "option", "'-y'"),
        (("zebra", "-r", ID), "option", "'-r "),
        (("zebra", "-c", ID), "option", "'-c "),
        (("zebra", "--continue"), "option", "'--continue'"),
        (("zebra", "--config", "/tmp/x"), "option", "'--config /tmp/x'"),
        (("zebra", "--resume", ID, "delete"), "option", "'--resume "),
        (("zebra", "resume", ID, "delete"), "word", "'delete' is not a session id; zebra would read it as a prompt"),
        (("zebra", "delete-everything"), "word", "'delete-everything' is not a session id"),
        (("zebra", "--resume", "delete-everything"), "value", "has no digit"),
        (("zebra", "resume", "a1" * 33), "value", "is longer than 64 characters"),
        (("zebra", "--prompt", "delete1"), "option", "'--prompt delete1'"),
        (("zebra", "--resume", ID, "--", "x"), "option", "'-- x'"),
        (("zebra", "--resume"), "option", "'--resume'"),
        (("zebra", "resume"), "list", "it lacks words that"),
        (("zebra",), "list", "it lacks words that"),
        # Another program, or one that runs others.
        (("bash", "-c", "touch x"), "deny-list", "it asks for bash, which runs other programs"),
        (("zebra", "bash", "-c", "touch x"), "deny-list", "it asks for bash"),
        (("sudo", "zebra", "--resume", ID), "deny-list", "it asks for sudo"),
        (("okapi", "--resume", ID), "program", "'okapi' is not zebra, the agent that runs here"),
        (("claude", "--resume", ID), "program", "'claude' is not zebra"),
        (("/tmp/zebra", "--resume", ID), "program", "is a path"),
        (("./zebra", "--resume", ID), "program", "is a path"),
        (("Zebra", "--resume", ID), "program", "'Zebra' is not zebra"),
        # What a shell, a terminal or a person would read as something else.
        (("zebra", "--resume", "$(touch 1)"), "value", "has a space in it"),
        (("zebra", "--resume", "`touch1`"), "value", "has '`' in it"),
        (("zebra", "--resume", "1;touch"), "value", "has ';' in it"),
        (("zebra", "--resume", "1|sh"), "value", "has '|' in it"),
        (("zebra", "--resume", "a\nb1"), "value", "has '\\n' in it"),
        (("zebra", "--resume", "1\u202e2"), "value", "has '\\u202e' in it"),
        (("zebra", "--resume", "1\x1b[2J"), "value", "has '\\x1b' in it"),
        (("zebra", "--resume", "\u0661\u0662"), "value", "has '\\u0661' in it"),
        (("zebra\u202e", "--resume", ID), "program", "is not zebra, the agent"),
        (("zebra", "--resume", "../1"), "value", "'/' in it"),
        (("zebra", "--resume", "@1"), "value", "begins with @"),
        (("zebra", "--resume=--1"), "value", "begins with a dash"),
        (("zebra", "--resume", "{Nobody}"), "placeholder", "'{Nobody}' is not a known placeholder"),
        (("zebra", "--resume", "{cwd}"), "value", "in it"),
    ],
)
def test_what_is_refused(zoo: Zoo, said: tuple[str, ...], refused: str, text: str) -> None:
    """By the rules of every agent, for either verb, while it runs and when it has gone. Nothing is put in its place."""
    for verb, is_gone in ((RESUME, False), (RESUME, True), (FORK, False)):
        found = zoo.plan(verb, *said, is_gone=is_gone)

        assert isinstance(found, Refusal), found
        if verb is RESUME:
            assert found.rule == refused
            assert text in found.text


@each("session", ["", "../1", "--yolo1", "a b1", "later"])
def test_a_hostile_session(zoo: Zoo, session: str) -> None:
    """The id that the same program told goes through the same checks."""
    found = zoo.plan(RESUME, "zebra", "--resume", "{SessionId}", session=session)

    assert rule(found) == ("value" if session else "placeholder")


def test_each_verb_has_its_own(zoo: Zoo) -> None:
    """A list that goes on with the old conversation is no fork, nor the other way round; what is not said is none."""
    assert rule(zoo.plan(FORK, "zebra", "--resume", ID)) == "list"
    assert rule(zoo.plan(RESUME, "zebra", "--resume", ID, "--fork")) == "option"
    nothing = zoo.plan(FORK)

    assert nothing == Refusal("method", "zebra did not report how to fork it, and has no agent file")


@each(
    ("running", "said", "refused"),
    [
        (("--yolo",), ("--resume", ID, "--yolo"), ""),
        (("--yolo",), ("--resume", ID, "--yolo", "--yolo"), "option"),
        (("--model=big",), ("--model=big", "--resume", ID), ""),
        (("--model=big",), ("--resume", ID, "--model=small"), "option"),
        # Nobody knows whether these are values, or a prompt.
        (("--model", "big"), ("--resume", ID, "--model", "big"), "option"),
        (("--model", "big"), ("--model", "--resume", ID), "option"),
        (("--resume", "OLD1"), ("--resume", ID, "--resume", "OLD1"), "option"),
    ],
)
def test_its_own_options(zoo: Zoo, running: tuple[str, ...], said: tuple[str, ...], refused: str) -> None:
    """It may ask for whole options that it runs with. What is not kept is named: anything may be a restriction."""
    zoo.argv = ("zebra", *running)
    found = zoo.plan(RESUME, "zebra", *said)
    plain = zoo.plan(RESUME, "zebra", "--resume", ID)

    assert rule(found) == refused
    assert isinstance(plain, Plan)
    name = running[0].partition("=")[0]
    assert plain.lost == (() if name == "--resume" else (name,))
    if isinstance(found, Plan):
        assert found.lost == ()


def test_the_program_is_the_one_that_runs(zoo: Zoo, tmp_path: Path) -> None:
    """Another one of its name in the PATH is never run, and neither is one that the host has not seen here."""
    program(tmp_path / "bin/zebra")
    found = zoo.plan(RESUME, "zebra", "--resume", ID)
    assert isinstance(found, Plan) and found.argv[0] == zoo.program

    pane = zoo.pane(FORK, ("zebra", "--fork", ID))
    other = fork.act(FORK, pane, AGENTS, zoo.table(exe=str(tmp_path / "bin/zebra")), root=10)
    assert rule(other) == "process"
    unheard = fork.act(FORK, attrs.evolve(pane, conversation=ConversationEntry()), AGENTS, zoo.table(), root=10)
    assert isinstance(unheard, Refusal)
    assert unheard.text == "zebra has no agent file, and did not report how to continue"


@each(
    ("exe", "refused"),
    [("{0}/own/sudo", "deny-list"), ("{0}/own/java", "deny-list"), ("{0}/own/gone", "program")],
)
def test_a_program_that_runs_nothing(zoo: Zoo, exe: str, refused: str) -> None:
    """What runs other programs is refused, whatever it calls itself; a file that has gone is looked for nowhere."""
    file = exe.format(zoo.folder)
    if refused == "deny-list":
        program(Path(file))
    pane = zoo.pane(RESUME, ("zebra", "--resume", ID), program=file)

    assert rule(fork.act(RESUME, pane, AGENTS, zoo.table(is_gone=True), root=10)) == refused


def test_when_it_has_gone(zoo: Zoo) -> None:
    """The file that the host saw goes on with it, and what it ran with is named as lost; a fork needs a living one."""
    said = ("zebra", "--resume", "{SessionId}")
    found = zoo.plan(RESUME, *said, is_gone=True, lost=("--read-only",))

    assert isinstance(found, Plan)
    assert (found.argv, found.pid, found.lost) == ((zoo.program, "--resume", ID), None, ("--read-only",))
    assert any(note.startswith(f"{zoo.program} is not in the PATH of this shell") for note in found.notes)
    assert rule(zoo.plan(FORK, *said, is_gone=True)) == "process"


def test_behind_our_relay(zoo: Zoo, tmp_path: Path) -> None:
    """What ran behind `tally run` does so again, and is found behind it."""
    tally = program(tmp_path / "bin/tally")
    table = zoo.table()
    table.processes[20] = process("tally", "run", "zebra", pid=20, ppid=10, exe=str(tally))
    table.processes[21] = process("zebra", pid=21, ppid=20, pgrp=21, exe=zoo.program, start=201)
    pane = zoo.pane(FORK, ("zebra", "--fork", ID), relayed=True)
    found = fork.act(FORK, pane, AGENTS, table, root=10, pgid=20)

    assert isinstance(found, Plan)
    assert (found.argv, found.pid) == ((str(tally), "run", "--", zoo.program, "--fork", ID), 21)


def test_the_page_shows_all_of_it(zoo: Zoo) -> None:
    """The whole command, who said so, and that nobody here knows what it does."""
    page = ForkPage(FORK, zoo.plan(FORK, "zebra", "--fork", "{SessionId}"))
    shown = "\n".join("".join(piece for _, piece in line) for line in page.body(200))

    assert f"{zoo.program} --fork {ID}" in shown
    assert "as the program itself asked" in shown
    assert "zebra has no agent file" in shown


def test_an_agent_of_a_file_is_no_stranger(zoo: Zoo) -> None:
    """What is remembered of a stranger is not believed of an agent that has come in its place."""
    table = zoo.table()
    table.processes[20] = process("claude", pid=20, ppid=10)
    program(zoo.folder / "bin/claude")
    pane = zoo.pane(FORK, ("zebra", "--fork", ID))
    found = fork.act(FORK, pane, AGENTS, table, root=10)

    assert isinstance(found, Plan)
    assert found.argv == (str(zoo.folder / "bin/claude"), "--continue", "--fork-session")
