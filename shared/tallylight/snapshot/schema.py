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
from tallylight.snapshot.entries import AnswerEntry as AnswerEntry
from tallylight.snapshot.entries import CollisionEntry as CollisionEntry
from tallylight.snapshot.entries import ConversationEntry as ConversationEntry
from tallylight.snapshot.entries import LosingEntry as LosingEntry
from tallylight.snapshot.entries import MachineEntry as MachineEntry
from tallylight.snapshot.entries import ReasonEntry as ReasonEntry
from tallylight.snapshot.entries import RecordEntry as RecordEntry
from tallylight.snapshot.values import (
    MAX_TEXT_CHARS,
    Form,
    Json,
    declared,
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
from tallylight.wire.values import number as decimal

VERSION = 1
#: The level of a host that names none.
OWN = "own"
#: The most choices of a question, and the most subagents and variables of an agent.
MAX_PUBLISHED_CHOICES = MAX_CHILDREN = 16

Pairs = tuple[tuple[str, str], ...]


def _read_pairs(value: object) -> Pairs:
    """Return the pairs of texts in *value*; others are left out."""
    if not isinstance(value, list):
        return ()
    pairs = (entry for entry in value[:MAX_CHILDREN] if isinstance(entry, list) and len(entry) == 2)
    return tuple((text(name), text(status)) for name, status in pairs if text(name))


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


_PAIRS: Json = {"type": "array", "items": values.STRINGS | {"minItems": 2, "maxItems": 2}}
_NAMED = Form(_read_pairs, _PAIRS, lambda found: [[text(name), text(status)] for name, status in found[:MAX_CHILDREN]])
_CHOICES = Form(_read_choices, _PAIRS, lambda found: [list(choice) for choice in _read_choices(found)])
_PERCENT = Form(lambda value: integer(value, 0, 100), {"type": "integer", "minimum": 0, "maximum": 100})
_COST = Form(lambda value: decimal(value, 0, 1e9), {"type": "number", "minimum": 0})


@attributes.frozen(kw_only=True)
class Pane:
    """The state of one pane as its host shows it. Times are seconds since the epoch."""

    id: str = attributes.field(metadata=declared("the pane within its host", values.ID))
    status: Status = attributes.field(metadata=declared("its status", values.STATUS))
    kind: Kind | None = key(None, "the kind of waiting", values.KIND)
    confirmed_kind: Kind | None = key(None, "the kind, if a source other than the screen reports it", values.KIND)
    tab: str = key("", "its tab")
    os_window: str = key("", "its OS window")
    title: str = key("", "its title")
    name: str = key("", "the name that you gave the conversation, if its host draws that", is_always=False)
    #: The title of its detached session or workspace.
    host_title: str = key("", "the name of its session or workspace")
    terminal: str = key("", "the pane's own terminal, if known")
    agent: str = key("", "the agent: `claude`")
    project: str = key("", "the agent's project")
    session: str = key("", "the agent's session id")
    message: str = key("", "the agent's message about its status")
    progress: str = key("", "its progress: `3/7`")
    question: str = key("", "the question on its screen, one line")
    what: str = key("", "the subject of the question: `Bash: npm test`")
    prompt: str = key("", "an id of this question")
    model: str = key("", "the model, from the agent's record")
    reply: str = key("", "the first lines of its last reply, as one line")
    outcome: str = key("", "when done: the last sentence of its reply, or its final question")
    topic: str = key("", "the topic of the conversation, in the agent's words")
    mode: str = key("", "the agent's mode: `plan`")
    worktree: str = key("", "its worktree, as the agent reports it")
    detail: str = key("", "its current activity: `edit`")
    unknown: str = key("", "the foreground program, if it has no agent file")
    signs: str = key("", "why that program counts as an agent")
    queued: str = key("", "the queued text, one line")
    unsent: str = key("", "why the queued text was dropped")
    queued_until: float = key(0.0, "end of the limit that the queued text waits for; 0 for none")
    since: float = key(0.0, "start of this status")
    snoozed_until: float = key(0.0, "end of the snooze; 0 for none")
    muted_until: float = key(0.0, "end of the mute; 0 for none")
    waited_s: float = key(0.0, "seconds that it waited for you today")
    limited_until: float = key(0.0, "end of the agent's limit; 0 for none")
    unanswered_since: float = key(0.0, "start of a request that the model has not answered for a minute; 0 for none")
    background: int = key(0, "number of running background tasks and subagents")
    said_per_s: int = key(0, "reports, titles and marks a second during a flood; else 0")
    read_per_s: int = key(0, "the part of them that is read")
    seen: bool = key(False, "you have looked at it")
    unread: bool = key(False, "you marked it as unread")
    answered: bool = key(False, "the agent has continued since it last asked")
    notified: bool = key(False, "a notification was shown for its current need")
    visible: bool = key(False, "it is in front of you")
    hangs: str = key("", "the place of the agent's files, if that does not respond")
    strange_record: bool = key(False, "the agent's record has an unknown format")
    pid: int | None = key(None, "the pane's process", values.COUNT)
    agent_pid: int | None = key(None, "the agent's process", values.COUNT)
    cwd: str = key("", "the agent's directory, as it reports it", values.PATH)
    context: int | None = key(None, "used part of its context, in percent", _PERCENT)
    cost: float | None = key(None, "its cost in US dollars, as it reports it", _COST)
    children: Pairs = key((), "its subagents, each with its activity", _NAMED)
    reason: ReasonEntry = key(ReasonEntry(), "the reason for its status", record(ReasonEntry))
    conversation: ConversationEntry = key(
        ConversationEntry(), "its last conversation with an agent, which may be gone", record(ConversationEntry)
    )
    records: tuple[RecordEntry, ...] = key((), "one record for each agent in the pane", many(RecordEntry))
    losing: tuple[LosingEntry, ...] = key((), "reports that lost to better ones", many(LosingEntry))
    answers: tuple[AnswerEntry, ...] = key((), "the answers to the three questions of trust", many(AnswerEntry))
    collisions: tuple[CollisionEntry, ...] = key(
        (), "agents of the same repository that have changed its files, too", many(CollisionEntry)
    )
    vars: Pairs = key((), "the agent's own variables: name and text", _NAMED)
    choices: Pairs = key((), "the choices of the question: keys and label", _CHOICES)
    #: *progress* has the number of finished ones; the next one is current.
    tasks: tuple[str, ...] = key((), "its tasks, in order", values.TEXTS)
    #: As reported by the agent; they are completed and checked at the gate.
    resume: tuple[str, ...] = key((), "the command that resumes it, as the agent reports it")
    fork: tuple[str, ...] = key((), "the command that forks it, as the agent reports it")
    attach: tuple[str, ...] = key((), "the command that attaches a terminal, if none is attached")
    terminals: tuple[str, ...] = key((), "the terminals, or panes by their addresses, that are attached to its session")
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
