"""What a host remembers of a pane's conversation: only of agents it saw, and beyond their end."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from tallylight.evidence.foreground import Identity, identify
from tallylight.evidence.process import Process, places
from tallylight.evidence.process_table import ProcTable
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.conversation import Conversation
from tallylight.snapshot import values
from tallylight.snapshot.schema import ConversationEntry
from tallylight.wire.osc1338 import Recipe
from tests.actions.known import AGENTS, ID, process
from tests.parts.conversations.test_forking import HandTable
from tests.tables import each

SKIP = "--dangerously-skip-permissions"


def found(*argv: str, pid: int = 20, start: int = 200) -> Identity:
    return identify([process(*argv, pid=pid, pgrp=pid, start=start)], AGENTS)


def said(source: Source = Source.PROTOCOL, **fields: Any) -> Report:
    return Report(source=source, status=fields.pop("status", Status.IDLE), **fields)


@pytest.fixture
def conversation() -> Conversation:
    """One of Claude, just begun in /w/api."""
    made = Conversation(ProcTable())
    made.began(found("claude"), "/w/api")
    return made


def test_it_begins_with_the_process(conversation: Conversation) -> None:
    """Agent and directory come from the process alone."""
    assert conversation.entry == ConversationEntry(agent="claude", cwd="/w/api")


def test_a_session_that_is_taken_back(conversation: Conversation) -> None:
    """What OSC 26 said and no longer says is gone; what others know stays."""
    conversation.take(said(session="a1", rule="osc-26"))
    assert conversation.entry.session == "a1"
    conversation.take(said(rule="osc-1338"))
    assert conversation.entry.session == "a1"
    conversation.take(said(rule="osc-26"))
    assert conversation.entry.session == ""
    conversation.name_session("b2")
    conversation.take(said(rule="osc-26"))
    assert conversation.entry.session == "b2"


def test_where_its_program_is_comes_from_its_process() -> None:
    """Of its environment only what locates things is kept; nothing where there is none."""
    made = Conversation(HandTable("/w", "/n/bin:/bin"))
    made.began(found("claude"), "/w/api")

    assert made.entry.places == ("PATH=/n/bin:/bin", "CLAUDE_CONFIG_DIR=/c")


def test_places_are_bounded() -> None:
    """A program can have variables without end: those with room are kept, the PATH before all."""
    many = {f"A{number}_HOME": "x" * 1000 for number in range(99)}
    kept = places({**many, "PATH": "/bin", "SECRET": "s", "XDG_DATA_HOME": "a\nb"})

    assert list(kept) == ["PATH", "A0_HOME", "A10_HOME", "A11_HOME", "A12_HOME"]
    assert places({"PATH": "x" * 5000, "XDG_DATA_HOME": "/d"}) == {"XDG_DATA_HOME": "/d"}


def test_dangerous_flags_are_remembered() -> None:
    """Those that the process has, and nothing else of its arguments."""
    made = Conversation(ProcTable())
    made.began(found("claude", SKIP, "--model", "opus"), "/w")

    assert made.entry.flags == (SKIP,)


def test_it_outlives_its_agent(conversation: Conversation) -> None:
    """The session stays when the agent is gone, and what is said after that is not heard."""
    conversation.take(said(agent="claude", session=ID))
    conversation.ended()
    conversation.take(said(agent="claude", session="evil", cwd="/w/api/x", resume=("claude", "--resume", "evil")))

    assert conversation.entry == ConversationEntry(agent="claude", session=ID, cwd="/w/api")
    assert conversation.resume == ()


def test_before_any_agent_nothing_is_heard() -> None:
    """What is printed into a plain shell makes no conversation."""
    made = Conversation(ProcTable())
    made.take(said(agent="claude", session=ID, resume=("claude",)))

    assert (made.entry, made.resume) == (ConversationEntry(), ())


def test_a_new_run_forgets_the_old_one(conversation: Conversation) -> None:
    """Another process is another conversation; the same one told again is not."""
    conversation.take(said(session=ID, fork=("claude", "x")))
    conversation.began(found("claude"), "/w/api")
    assert (conversation.entry.session, conversation.fork) == (ID, ("claude", "x"))
    conversation.began(found("claude", start=201), "/w/api")

    assert (conversation.entry.session, conversation.fork) == ("", ())


@pytest.mark.parametrize(
    ("report", "session"),
    [
        (said(session=ID), ID),
        (said(agent="claude", session=ID), ID),
        (said(agent="codex", session=ID), ""),
        (said(agent="claude", session=ID, id="child"), ""),
        (said(agent="claude", session=ID, status=None), ""),
        (said(agent="claude"), ""),
    ],
)
def test_whose_words_count(conversation: Conversation, report: Report, session: str) -> None:
    """Reports about the pane itself by, or of, its agent; not of a subagent's, and not of another agent's."""
    conversation.take(report)

    assert conversation.entry.session == session


def test_the_agents_own_file_is_believed_first(conversation: Conversation) -> None:
    """Once the status file told the session, nothing that comes through the terminal replaces it; a new one does."""
    conversation.take(said(session="first"))
    conversation.take(said(Source.REGISTRY, session="own"))
    conversation.take(said(session="evil"))
    assert conversation.entry.session == "own"
    conversation.take(said(Source.REGISTRY, session="after /clear"))

    assert conversation.entry.session == "after /clear"


@pytest.mark.parametrize("cwd", ["/w/api/src", "/w", "/w/api", "/", "/evil", "/w/api/../../evil", "src", ""])
@pytest.mark.parametrize("own", ["", "/w/other"])
def test_a_directory_from_the_terminal_is_never_taken(conversation: Conversation, cwd: str, own: str) -> None:
    """Neither in place of the process's nor of the status file's, however near: a clone may hold a trap below it."""
    if own:
        conversation.take(said(Source.REGISTRY, cwd=own))
    conversation.take(said(cwd=cwd))

    assert conversation.entry.cwd == (own or "/w/api")


def test_a_status_file_may_name_any_directory(conversation: Conversation) -> None:
    """It is the agent's own, for its own process."""
    conversation.take(said(Source.REGISTRY, cwd="/elsewhere"))

    assert conversation.entry.cwd == "/elsewhere"


def test_what_it_asked_for_is_what_it_asked_last(conversation: Conversation) -> None:
    """A report without an argument list takes the last one back; a status file has none to give."""
    conversation.take(said(resume=("claude", "a"), fork=("claude", "b")))
    conversation.take(said(Source.REGISTRY))
    assert (conversation.resume, conversation.fork) == (("claude", "a"), ("claude", "b"))
    conversation.take(said(resume=("claude", "c")))

    assert (conversation.resume, conversation.fork) == (("claude", "c"), ())


def test_an_arm_without_a_status(conversation: Conversation) -> None:
    """It counts while the agent is in the foreground; and stays when the agent is gone."""
    conversation.set_resume(Recipe(("claude", "--resume", "a")))
    conversation.take(said(Source.REGISTRY, session=ID))
    conversation.ended()
    conversation.set_resume(Recipe(("claude", "--resume", "evil")))

    assert conversation.resume == ("claude", "--resume", "a")
    assert conversation.entry == ConversationEntry(agent="claude", session=ID, cwd="/w/api")


@each(
    ("argv", "relayed"),
    [
        (("claude",), False),
        (("/usr/bin/python3", "-I", "/home/me/.local/bin/tally", "run", "--", "claude"), True),
        (("tally", "run", "npx", "@anthropic-ai/claude-code"), True),
        (("nice", "tally", "run", "claude"), True),
    ],
)
def test_whether_our_relay_stood_before_it(argv: tuple[str, ...], relayed: bool) -> None:
    """By the command that holds the foreground; what it runs is found behind it."""
    leader = Process(30, 10, 30, argv[0][:15], argv, argv[0], 300)
    inner = Process(32, 31, 32, "claude", ("claude", "tally", "run"), "/v/claude", 301)
    made = Conversation(ProcTable())
    made.began(identify([leader, inner], AGENTS), "/w")

    assert (made.entry.agent, made.entry.relayed) == ("claude", relayed)


def test_more_of_the_same_run(conversation: Conversation) -> None:
    """Behind a wrapper the agent's own process is found later: its directory and flags count then."""
    leader = Process(30, 10, 30, "node", ("node", "/v/.bin/copilot"), "/usr/bin/node", 300)
    inner = Process(31, 30, 30, "copilot", ("copilot", "--allow-all"), "/v/copilot", 301)
    conversation.began(identify([leader], AGENTS), "/a")
    conversation.began(identify([leader, inner], AGENTS), "/b")

    assert conversation.entry.agent == "copilot"
    assert conversation.entry.cwd == "/b"


def test_one_agent_after_the_other_behind_one_leader(conversation: Conversation) -> None:
    """In an editor's terminal, or a shell without job control, the next agent does not go on with the last session."""
    editor = Process(30, 10, 30, "nvim", ("nvim",), "/usr/bin/nvim", 300)
    inner = [Process(pid, 30, pid, "claude", ("claude",), "/v/claude", 300 + pid) for pid in (31, 32)]
    conversation.began(identify([editor, inner[0]], AGENTS), "/a")
    conversation.take(Report(source=Source.REGISTRY, status=Status.IDLE, agent="claude", session="s-1"))
    conversation.began(identify([editor, inner[0]], AGENTS), "/a")
    assert conversation.entry.session == "s-1"

    conversation.ended()
    conversation.began(identify([editor, inner[1]], AGENTS), "/b")
    assert (conversation.entry.agent, conversation.entry.session, conversation.entry.cwd) == ("claude", "", "/b")


@pytest.mark.parametrize(("front", "lost"), [("fence claude", ("fence",)), ("bash", ()), ("npx claude", ())])
def test_what_an_agent_ran_behind_is_remembered_as_lost(front: str, lost: tuple[str, ...]) -> None:
    """Once both have ended nothing restricts the agent as that did."""
    argv = tuple(front.split())
    leader = Process(30, 10, 30, argv[0], argv, f"/usr/bin/{argv[0]}", 300)
    made = Conversation(ProcTable())
    made.began(identify([leader, Process(31, 30, 30, "claude", ("claude",), "/v/claude", 301)], AGENTS), "/w")

    assert made.entry.lost == lost


# Programs that no agent file names ---------------------------------------------------------------------------------

ZEBRA = process("zebra", "--quiet", exe="/opt/zebra")
SAID = ("zebra", "--resume", "{SessionId}")
MET = ConversationEntry(agent="zebra", cwd="/w", program="/opt/zebra", lost=("--quiet",))
#: Its table has no PATH.
OF_CLAUDE = ConversationEntry(agent="claude", cwd="/w/api", places=("CLAUDE_CONFIG_DIR=/c",))


def stranger(*processes: Process) -> Conversation:
    """One in whose pane claude ran, and now a program that no agent file names, by default a zebra."""
    known = {one.pid: one for one in processes or (ZEBRA,)}
    made = Conversation(HandTable("/w", "", known))
    made.began(found("claude", pid=19), "/w/api")
    made.ended()
    made.began(identify(list(known.values())[:1], AGENTS), "/elsewhere")
    return made


def test_a_stranger_has_one_once_it_says_how_that_goes_on() -> None:
    """Until then the last agent's is remembered, whatever else it tells. Its file and directory are its process's."""
    made = stranger()
    made.take(said(agent="zebra", session=ID, cwd="/evil"))
    made.set_resume(Recipe())
    assert made.entry == OF_CLAUDE
    assert made.strangers_pid is None
    made.take(said(agent="zebra", session=ID, cwd="/evil", fork=SAID))

    assert made.entry == attrs.evolve(MET, session=ID)
    assert (made.resume, made.fork, made.strangers_pid) == ((), SAID, 20)


def test_the_directory_of_an_arm_is_kept_beside_it() -> None:
    """It does not replace the process's own, and goes with its arm, or with the next report's command."""
    made = stranger()
    made.set_resume(Recipe(SAID, "/w/api"))
    assert (made.entry.cwd, made.resume_cwd) == (MET.cwd, "/w/api")
    made.set_resume(Recipe())
    assert made.resume_cwd == ""
    made.set_resume(Recipe(SAID, "/w/api"))
    made.take(said(agent="zebra", resume=SAID))
    assert (made.resume, made.resume_cwd) == (SAID, "")


def test_a_strangers_arm_is_enough() -> None:
    """Without any status; and it stays when the program has gone, when nothing more is heard."""
    made = stranger()
    made.set_resume(Recipe(SAID))
    made.ended()
    made.set_resume(Recipe(("zebra", "--resume", "evil1")))
    made.take(said(agent="zebra", session="evil1", fork=SAID))

    assert (made.entry, made.resume, made.fork, made.strangers_pid) == (MET, SAID, (), None)


@each(
    "report",
    [
        said(agent="okapi", resume=SAID),
        said(agent="claude", resume=SAID),
        said(agent="zebra", id="child", resume=SAID),
        said(agent="zebra", status=None, resume=SAID),
    ],
)
def test_whose_words_count_for_a_stranger(report: Report) -> None:
    """Those about the pane itself by the program's own name, or by none."""
    made = stranger()
    made.take(report)

    assert made.entry.agent == "claude"


@each(
    "process_",
    [
        process("node", "zebra", exe="/usr/bin/node"),
        process("vim", "zebra", exe="/usr/bin/vim"),
        process("bash", exe="/usr/bin/bash"),
        process("ssh", "zebra", exe="/usr/bin/ssh"),
    ],
)
def test_no_file_no_conversation(process_: Process) -> None:
    """What is printed while a program runs that is no stranger, or of which no file is known, makes none."""
    made = stranger(process_)
    for _ in range(20):
        made.set_resume(Recipe(SAID))
        made.take(said(resume=SAID, fork=SAID))

    assert (made.entry.agent, made.resume, made.fork) == ("claude", (), ())


def test_a_stranger_behind_our_relay() -> None:
    """It is the process behind it, and goes on behind one."""
    argv = ("/usr/bin/python3", "-I", "/home/me/.local/bin/tally", "run", "zebra")
    made = stranger(Process(30, 10, 30, "tally", argv, argv[0], 300), attrs.evolve(ZEBRA, pid=31, ppid=30, pgrp=31))
    made.set_resume(Recipe(SAID))

    assert made.entry == attrs.evolve(MET, relayed=True)
    assert made.strangers_pid == 31


def test_the_same_stranger_again() -> None:
    """Told again it goes on; another run, another program in its process and an agent are others."""
    made = stranger()
    made.set_resume(Recipe(SAID))
    made.ended()
    made.began(identify([ZEBRA], AGENTS), "/x")
    assert (made.entry, made.resume, made.strangers_pid) == (MET, SAID, 20)
    for other in (attrs.evolve(ZEBRA, start=201), process("okapi", exe="/opt/okapi")):
        made.began(identify([other], AGENTS), "/x")
        made.take(said(session=ID))
        assert (made.entry, made.resume, made.strangers_pid) == (MET, SAID, None)
    made.began(found("claude"), "/w/api")

    assert (made.entry, made.resume) == (OF_CLAUDE, ())


def test_a_strangers_entry_is_read_back() -> None:
    """With the file that it is known by."""
    assert values.read(ConversationEntry, values.write(MET)) == MET
    assert "program" not in values.write(ConversationEntry(agent="claude"))
