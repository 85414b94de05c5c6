"""
The schema of a snapshot, version 1: its fields, and how they are read from and written to JSON.

`from_json` checks everything. A value of the wrong type becomes the field's default, and every text and list is cut to
its limit. Only a pane without an id or with an unknown status is dropped. So a newer writer may add keys, and a broken
one may show nonsense, but it cannot break a reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallylight.model import attributes
from tallylight.model.report import current
from tallylight.model.status import Kind, Status
from tallylight.snapshot import fields, values
from tallylight.snapshot.entries import PAIRS as PAIRS
from tallylight.snapshot.entries import AboutEntry as AboutEntry
from tallylight.snapshot.entries import AnswerEntry as AnswerEntry
from tallylight.snapshot.entries import AttentionEntry as AttentionEntry
from tallylight.snapshot.entries import CollisionEntry as CollisionEntry
from tallylight.snapshot.entries import CommandsEntry as CommandsEntry
from tallylight.snapshot.entries import ConversationEntry as ConversationEntry
from tallylight.snapshot.entries import EvidenceEntry as EvidenceEntry
from tallylight.snapshot.entries import LosingEntry as LosingEntry
from tallylight.snapshot.entries import MachineEntry as MachineEntry
from tallylight.snapshot.entries import Pairs as Pairs
from tallylight.snapshot.entries import PlaceEntry as PlaceEntry
from tallylight.snapshot.entries import ProgramEntry as ProgramEntry
from tallylight.snapshot.entries import QueueEntry as QueueEntry
from tallylight.snapshot.entries import ReasonEntry as ReasonEntry
from tallylight.snapshot.entries import RecordEntry as RecordEntry
from tallylight.snapshot.values import (
    MAX_TEXT_CHARS,
    Form,
    Json,
    declared,
    inline,
    key,
    many,
    read,
    record,
    short,
    text,
    write,
)
from tallylight.snapshot.values import status_of as status_of
from tallylight.wire.text import hidden
from tallylight.wire.values import exact, integer

VERSION = 1
#: The level of a host that names none.
OWN = "own"
#: The most choices of a question.
MAX_PUBLISHED_CHOICES = 16


def _read_choices(value: object) -> Pairs:
    """Return the choices in *value*, without ones that would be cut: half of their keys would be another answer."""
    if not isinstance(value, list | tuple):
        return ()
    pairs = (entry for entry in value[:MAX_PUBLISHED_CHOICES] if isinstance(entry, list | tuple) and len(entry) == 2)
    return tuple(
        (keys, text(label)) for keys, label in pairs if _is_key(keys) and exact(label, MAX_TEXT_CHARS) is not None
    )


def _is_key(value: object) -> bool:
    """Return whether *value* can be the keys of a choice: an agent's file may have controls, but nothing hidden."""
    keys = exact(value, MAX_TEXT_CHARS)
    return keys is not None and not hidden(keys)


_CHOICES = Form(_read_choices, PAIRS, lambda found: [list(choice) for choice in _read_choices(found)])


@attributes.frozen(kw_only=True)
class Pane:
    """The state of one pane as its host shows it. Times are seconds since the epoch."""

    id: str = attributes.field(metadata=declared("the pane within its host", values.ID))
    status: Status = attributes.field(metadata=declared("its status", values.STATUS))
    kind: Kind | None = key(None, "the kind of waiting", values.KIND)
    confirmed_kind: Kind | None = key(None, "the kind, if a source other than the screen reports it", values.KIND)
    place: PlaceEntry = inline(PlaceEntry)
    title: str = key("", "its title")
    name: str = key("", "the name that you gave the conversation, if its host draws that", is_always=False)
    agent: str = key("", "the agent: `claude`")
    project: str = key("", "the agent's project")
    session: str = key("", "the agent's session id")
    message: str = key("", "the agent's message about its status")
    progress: str = key("", "its progress: `3/7`")
    question: str = key("", "the question on its screen, one line")
    what: str = key("", "the subject of the question: `Bash: npm test`")
    prompt: str = key("", "an id of this question")
    reply: str = key("", "the first lines of its last reply, as one line")
    outcome: str = key("", "when done: the last sentence of its reply, or its final question")
    topic: str = key("", "the topic of the conversation, in the agent's words")
    detail: str = key("", "its current activity: `edit`")
    about: AboutEntry = inline(AboutEntry)
    program: ProgramEntry = inline(ProgramEntry)
    queue: QueueEntry = inline(QueueEntry)
    since: float = key(0.0, "start of this status")
    attention: AttentionEntry = inline(AttentionEntry)
    limited_until: float = key(0.0, "end of the agent's limit; 0 for none")
    unanswered_since: float = key(0.0, "start of a request that the model has not answered for a minute; 0 for none")
    background: int = key(0, "number of running background tasks and subagents")
    pid: int | None = key(None, "the pane's process", values.COUNT)
    agent_pid: int | None = key(None, "the agent's process", values.COUNT)
    cwd: str = key("", "the agent's directory, as it reports it", values.PATH)
    reason: ReasonEntry = key(ReasonEntry(), "the reason for its status", record(ReasonEntry))
    conversation: ConversationEntry = key(
        ConversationEntry(), "its last conversation with an agent, which may be gone", record(ConversationEntry)
    )
    evidence: EvidenceEntry = inline(EvidenceEntry)
    collisions: tuple[CollisionEntry, ...] = key(
        (), "agents of the same repository that have changed its files, too", many(CollisionEntry)
    )
    choices: Pairs = key((), "the choices of the question: keys and label", _CHOICES)
    #: *progress* has the number of finished ones; the next one is current.
    tasks: tuple[str, ...] = key((), "its tasks, in order", values.TEXTS)
    commands: CommandsEntry = inline(CommandsEntry)
    #: Values from parts, by the names of the fields that they declare.
    more: Mapping[str, Any] = attributes.field(factory=dict)

    @property
    def works_in(self) -> str:
        """The directory of its agent, as the host has found it itself; empty if no agent runs there."""
        return self.conversation.cwd if self.agent_pid is not None else ""

    @property
    def doing(self) -> str:
        """The present activity: its current task and its agent's detail."""
        return ": ".join(filter(None, (current(self.progress, self.tasks), self.detail)))

    @property
    def collides(self) -> bool:
        """Return whether another agent has changed the same lines of a file."""
        return any(one.same for one in self.collisions)

    @property
    def asks(self) -> str:
        """The subject of its question, else the question itself; empty if it does not wait, or both are unknown."""
        return (self.what or self.question) if self.status is Status.WAITING else ""

    @classmethod
    def from_json(cls, value: object) -> Pane | None:
        found: Pane | None = read(cls, value, more=fields.read(value)) if isinstance(value, dict) else None
        return found

    def to_json(self) -> Json:
        return write(self) | fields.write(self.more)


@attributes.frozen(kw_only=True)
class Snapshot:
    """
    The state of one host as of *written*, in seconds since the epoch.

    *birth* identifies the writer's life more exactly than *pid* and *started*.
    """

    host: str = key("", "the kind of host: `kitty`", short(16))
    pid: int = key(0, "its process")
    started: float = key(0.0, "when it started")
    birth: str = key("", "the life of its process")
    written: float = key(0.0, "when it was written")
    #: It is overwritten in the file itself (`lives.STALE`), so it is at the begin of every file.
    stale: bool = key(False, "its host cannot write its newer state")
    sealed: int | None = key(
        None, "its descriptor that holds this text, so that readers know who wrote it", values.COUNT
    )
    #: The word of `[scripting] allow` that is in force there.
    allow: str = key(OWN, "the `[scripting] allow` in force", short(8), is_always=False)
    withheld: tuple[str, ...] = key(
        (),
        "settings that let programs do more, from the next start on",
        values.TEXTS,
        is_always=False,
    )
    machines: tuple[MachineEntry, ...] = key(
        (), "the other machines that have these panes", many(MachineEntry), is_always=False
    )
    panes: tuple[Pane, ...] = key((), "its panes", many(Pane, 1 << 20))

    @property
    def name(self) -> str:
        """The name of this host in commands: `kitty-4711`."""
        return f"{self.host}-{self.pid}"

    @classmethod
    def from_json(cls, value: Json, max_panes: int) -> Snapshot:
        """Return the snapshot in *value*, with at most *max_panes* panes."""
        panes = value.get("panes")
        return read(cls, value | {"panes": panes[:max_panes] if isinstance(panes, list) else ()}) or cls()

    def to_json(self) -> Json:
        return {"version": VERSION} | write(self)


@attributes.frozen
class Tab:
    """A tab: its *position* in its OS window, from 0, and the *name* that a person gave it, empty for none."""

    position: int = 0
    name: str = ""

    @classmethod
    def from_json(cls, value: object) -> Tab:
        if not isinstance(value, list) or len(value) != 2:
            return cls()
        return cls(integer(value[0], 0, 1 << 20) or 0, text(value[1]))
