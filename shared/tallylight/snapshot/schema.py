"""
The schema of a snapshot, version 1: values, and their way to JSON and back.

`from_json` believes nothing: whatever has the wrong type becomes the field's default, every text and every list is
cut to its cap, and only a pane without an id or with a status that does not exist is dropped. So a newer writer
may add keys, and a broken one can show nonsense, but it cannot break a reader.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.report import current
from tallylight.model.status import Kind, Status
from tallylight.snapshot import values
from tallylight.snapshot.entries import AnswerEntry as AnswerEntry
from tallylight.snapshot.entries import ConversationEntry as ConversationEntry
from tallylight.snapshot.entries import LosingEntry as LosingEntry
from tallylight.snapshot.entries import MachineEntry as MachineEntry
from tallylight.snapshot.entries import ReasonEntry as ReasonEntry
from tallylight.snapshot.entries import RecordEntry as RecordEntry
from tallylight.snapshot.values import Form, Json, Reads, declared, key, many, read, record, short, text, words, write
from tallylight.snapshot.values import status_of as status_of
from tallylight.wire.values import integer
from tallylight.wire.values import number as decimal

VERSION = 1
#: The level of a host that tells none.
OWN = "own"
#: Of the choices of one question, and of the subagents and the variables of one agent.
MAX_CHOICES = MAX_CHILDREN = 16

Pairs = tuple[tuple[str, str], ...]


def _read_pairs(value: object) -> Pairs:
    if not isinstance(value, list):
        return ()
    pairs = (entry for entry in value[:MAX_CHILDREN] if isinstance(entry, list) and len(entry) == 2)
    return tuple((text(name), text(status)) for name, status in pairs if text(name))


def _read_choices(value: object) -> Pairs:
    """The answers a question takes. One that is not whole is left out: half of its keys would be another answer."""
    if not isinstance(value, list):
        return ()
    pairs = (words(entry) for entry in value[:MAX_CHOICES])
    # What is no character is no key either.
    return tuple((keys, label) for keys, label in (pair for pair in pairs if len(pair) == 2) if text(keys) == keys)


def _read_diffstat(value: object) -> tuple[int, int] | None:
    added, removed = map(values.count, value) if isinstance(value, list) and len(value) == 2 else (None, None)
    return (added, removed) if added is not None and removed is not None else None


_DIFFSTAT = Form(_read_diffstat, {"type": "array", "items": values.COUNT.schema, "minItems": 2, "maxItems": 2}, list)
_PAIRS: Json = {"type": "array", "items": values.STRINGS | {"minItems": 2, "maxItems": 2}}
_NAMED = Form(_read_pairs, _PAIRS, lambda found: [[text(name), text(status)] for name, status in found[:MAX_CHILDREN]])
_CHOICES = Form(_read_choices, _PAIRS, lambda found: [list(choice) for choice in found[:MAX_CHOICES] if words(choice)])
_PERCENT = Form(lambda value: integer(value, 0, 100), {"type": "integer", "minimum": 0, "maximum": 100})
_COST = Form(lambda value: decimal(value, 0, 1e9), {"type": "number", "minimum": 0})


@attributes.frozen(kw_only=True)
class Pane:
    """What a host shows for one pane. Times are seconds since the epoch; texts are as the programs said them."""

    id: str = attributes.field(metadata=declared("the pane, in its host", values.ID))
    status: Status = attributes.field(metadata=declared("what it shows", values.STATUS))
    kind: Kind | None = key(None, "what it waits for", values.KIND)
    tab: str = key("", "the tab that it is in")
    os_window: str = key("", "the OS window that it is in")
    title: str = key("", "its title")
    #: Of the detached session or workspace it belongs to.
    host_title: str = key("", "the name of the session or workspace that it is in")
    terminal: str = key("", "the terminal of the pane itself, where the host knows it")
    agent: str = key("", "the name of the agent: `claude`")
    project: str = key("", "the project that the agent works on")
    session: str = key("", "the agent's own name for its conversation")
    message: str = key("", "what the agent says of its status")
    progress: str = key("", "how far it is: `3/7`")
    question: str = key("", "the question on its screen, one line")
    what: str = key("", "the one thing needed to decide that: `Bash: npm test`")
    prompt: str = key("", "what tells this prompt from every other")
    model: str = key("", "the model, by the agent's own record")
    reply: str = key("", "the first lines of its last reply, as one line")
    outcome: str = key("", "while it is done: the last sentence of its reply, or the question that it ends with")
    topic: str = key("", "what the conversation is about, in the agent's words")
    mode: str = key("", "the agent's mode: `plan`")
    worktree: str = key("", "the worktree that the agent names")
    detail: str = key("", "what it does: `edit`")
    unknown: str = key("", "the program in the foreground, if no agent file names it")
    signs: str = key("", "by what that is taken for an agent, if it is")
    queued: str = key("", "the text that waits for the end of its turn, one line")
    unsent: str = key("", "why that will not be sent, if so")
    since: float = key(0.0, "since when it has this status")
    snoozed_until: float = key(0.0, "until when you have put it off; 0 if you have not")
    #: `MAX_NUMBER` if that has no end.
    muted_until: float = key(0.0, "until when you want no notification of it; 0 if you want them")
    waited_s: float = key(0.0, "how many seconds it waited for you today")
    limited_until: float = key(0.0, "until when a limit stops it; 0 if none does")
    background: int = key(0, "how many background tasks or subagents still run")
    said_per_s: int = key(0, "how many reports, titles and marks a second its programs say, if too many; else 0")
    read_per_s: int = key(0, "how many of those are read")
    seen: bool = key(False, "you have looked at it")
    unread: bool = key(False, "you have marked it as not read")
    answered: bool = key(False, "the agent has gone on since it last asked")
    notified: bool = key(False, "a notification was shown for what it now needs")
    visible: bool = key(False, "it is in front of you")
    hangs: str = key("", "where the agent's own files lie, if that does not respond")
    strange_record: bool = key(False, "the agent's record is in a format that is not known here")
    pid: int | None = key(None, "the process of the pane", values.COUNT)
    agent_pid: int | None = key(None, "the process that the host knows to be the agent", values.COUNT)
    cwd: str = key("", "where the agent works, as it said itself", values.PATH)
    diffstat: tuple[int, int] | None = key(
        None, "while it is done: how many lines were added and removed there and are not committed", _DIFFSTAT
    )
    context: int | None = key(None, "how many percent of its context are used", _PERCENT)
    cost: float | None = key(None, "its cost in US dollars by its own account", _COST)
    children: Pairs = key((), "its subagents, each with what it does", _NAMED)
    reason: ReasonEntry = key(ReasonEntry(), "why it shows this", record(ReasonEntry))
    conversation: ConversationEntry = key(
        ConversationEntry(), "its last conversation with an agent, which may be gone", record(ConversationEntry)
    )
    records: tuple[RecordEntry, ...] = key((), "what is shown of each agent in it", many(RecordEntry))
    losing: tuple[LosingEntry, ...] = key((), "what was said and put aside", many(LosingEntry))
    answers: tuple[AnswerEntry, ...] = key(
        (), "what is true of its turn, of what it asks and the rest", many(AnswerEntry)
    )
    vars: Pairs = key((), "what the agent wants to be shown: a name of its own, and a text", _NAMED)
    choices: Pairs = key((), "the answers that the question takes: the keys to type, and a label", _CHOICES)
    #: The one at the place of what *progress* says is done is the current one.
    tasks: tuple[str, ...] = key((), "what there is to do, in order", values.TEXTS)
    #: As the agent said them, to be filled in and checked at the gate.
    resume: tuple[str, ...] = key((), "the words of the command that resumes it, by the agent")
    fork: tuple[str, ...] = key((), "the words of the command that forks it, by the agent")
    attach: tuple[str, ...] = key((), "the words of the command that attaches a terminal to it, if it is in none")
    terminals: tuple[str, ...] = key((), "the terminals on which somebody is attached to its session")

    @property
    def works_in(self) -> str:
        """The directory of its agent, as the host has seen it itself; nothing if no agent runs there."""
        return self.conversation.cwd if self.agent_pid is not None else ""

    @property
    def doing(self) -> str:
        """What it does: the current one of its tasks, and what its agent says of the moment."""
        return ": ".join(filter(None, (current(self.progress, self.tasks), self.detail)))

    @property
    def asks(self) -> str:
        """What it waits for, in the words that tell most: what it is about, else the question; nothing if unknown."""
        return (self.what or self.question) if self.status is Status.WAITING else ""

    from_json = Reads()
    to_json = write


@attributes.frozen(kw_only=True)
class Snapshot:
    """
    One host's state as of *written*, in seconds since the epoch.

    *birth* names the writer's life more exactly than *pid* and *started* can.
    """

    host: str = key("", "the kind of host: `kitty`", short(16))
    pid: int = key(0, "its process")
    started: float = key(0.0, "when it started")
    birth: str = key("", "the life of its process")
    written: float = key(0.0, "as of when all this is so")
    #: Written in its place, `writer.CURRENT`, into the file that stays: so it stands in its head, in every file.
    stale: bool = key(False, "its host shows something else by now, and cannot write it")
    #: By the writer's own count; 0 where nothing is written.
    heard: int = key(0, "how far the host has read what its terminal wrote for it", is_always=False)
    #: The word of `[scripting] allow` that is in force there.
    allow: str = key(OWN, "what programs may do to its panes", short(8), is_always=False)
    withheld: tuple[str, ...] = key(
        (),
        "keys of the configuration that let programs do more from its next start on",
        values.TEXTS,
        is_always=False,
    )
    machines: tuple[MachineEntry, ...] = key(
        (), "the other machines whose panes these are", many(MachineEntry), is_always=False
    )
    panes: tuple[Pane, ...] = key((), "its panes", many(Pane, 1 << 20))

    @property
    def name(self) -> str:
        """What a person calls this host on the command line: `kitty-4711`."""
        return f"{self.host}-{self.pid}"

    @classmethod
    def from_json(cls, value: Json, max_panes: int) -> Snapshot:
        """Of *value* only *max_panes* panes are read."""
        panes = value.get("panes")
        return read(cls, value | {"panes": panes[:max_panes] if isinstance(panes, list) else ()}) or cls()

    def to_json(self) -> Json:
        return {"version": VERSION} | write(self)
