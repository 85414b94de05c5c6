"""
The schema of a snapshot, version 1: values, and their way to JSON and back.

`from_json` believes nothing: whatever has the wrong type becomes the field's default, every text and every list is
cut to its cap, and only a pane without an id or with a status that does not exist is dropped. So a newer writer
may add keys, and a broken one can show nonsense, but it cannot break a reader.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.status import Kind, Status
from tallylight.snapshot.entries import AnswerEntry as AnswerEntry
from tallylight.snapshot.entries import ConversationEntry as ConversationEntry
from tallylight.snapshot.entries import LosingEntry as LosingEntry
from tallylight.snapshot.entries import MachineEntry as MachineEntry
from tallylight.snapshot.entries import ReasonEntry as ReasonEntry
from tallylight.snapshot.entries import RecordEntry as RecordEntry
from tallylight.snapshot.values import MAX_ID, MAX_LIST, Json, count, kind_of, listed, number, path, text, texts, words
from tallylight.snapshot.values import status_of as status_of
from tallylight.wire.values import integer
from tallylight.wire.values import number as decimal

VERSION = 1
#: The level of a host that tells none.
OWN = "own"
#: Of the choices of one question, and of the subagents of one agent.
MAX_CHOICES = MAX_CHILDREN = 16


@attributes.frozen(kw_only=True)
class Pane:
    """What a host shows for one pane. Times are seconds since the epoch; texts are as the programs said them."""

    id: str
    status: Status
    kind: Kind | None = None
    tab: str = ""
    os_window: str = ""
    title: str = ""
    agent: str = ""
    project: str = ""
    session: str = ""
    message: str = ""
    since: float = 0.0
    seen: bool = False
    pid: int | None = None
    reason: ReasonEntry = attributes.field(factory=ReasonEntry)
    records: tuple[RecordEntry, ...] = ()
    losing: tuple[LosingEntry, ...] = ()
    #: What is true of its turn, of what is asked and of the rest.
    answers: tuple[AnswerEntry, ...] = ()
    #: Where the agent works, as it said itself.
    cwd: str = ""
    #: How far it is: `3/7`.
    progress: str = ""
    #: What there is to do, in order; the one at the place of what *progress* says is done is the current one.
    tasks: tuple[str, ...] = ()
    #: What the conversation is about, in the agent's words; its mode (`plan`), its worktree, and what it does (`edit`).
    topic: str = ""
    mode: str = ""
    worktree: str = ""
    detail: str = ""
    #: How many background tasks or subagents still run.
    background: int = 0
    #: What its own record tells: its model, how many percent of its context are used, its subagents and what they do,
    #: the first lines of its last reply, until when a limit stops it, and its cost in US dollars by its own account.
    model: str = ""
    context: int | None = None
    children: tuple[tuple[str, str], ...] = ()
    reply: str = ""
    limited_until: float = 0.0
    cost: float | None = None
    #: Whether its record is in a format that is not known here.
    strange_record: bool = False
    #: The question on its screen, one line; the answers it takes, each as the keys to type and their label; and what
    #: tells this prompt from every other.
    question: str = ""
    #: The one thing needed to decide that: `Bash: npm test`.
    what: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    prompt: str = ""
    #: The text that a person has queued for the end of its turn, in one line; and why it will not be sent, if so.
    queued: str = ""
    unsent: str = ""
    #: Argument lists as the agent said them, to be filled in and checked at the gate.
    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
    #: The process that the host knows to be the agent; None if none is.
    agent_pid: int | None = None
    conversation: ConversationEntry = attributes.field(factory=ConversationEntry)
    #: Until when a person has put it off; 0 if they have not.
    snoozed_until: float = 0.0
    #: Until when a person wants no notification of it; 0 if they want them, `MAX_NUMBER` if that has no end.
    muted_until: float = 0.0
    #: A person marked it as not read.
    unread: bool = False
    #: Whether the agent has gone on since it last asked.
    answered: bool = False
    #: How long it waited for a person today, in seconds.
    waited_s: float = 0.0
    #: Whether a notification was shown for what it now needs.
    notified: bool = False
    #: Whether it is in front of a person.
    visible: bool = False
    #: How many reports, titles and marks a second its programs said and we read, while it is too much to read; else 0.
    said_per_s: int = 0
    read_per_s: int = 0
    #: The program in the foreground, if no agent file names it; and by what it is taken for an agent, if it is.
    unknown: str = ""
    signs: str = ""
    #: The name of the detached session or workspace it belongs to.
    host_title: str = ""
    #: The argument list that attaches a terminal to it, for a pane that is in none; empty where there is no such thing.
    attach: tuple[str, ...] = ()
    #: The terminals on which somebody is attached to its session: `/dev/pts/5`.
    terminals: tuple[str, ...] = ()
    #: The terminal that it is itself, in a terminal program.
    terminal: str = ""

    @property
    def works_in(self) -> str:
        """The directory of its agent, as the host has seen it itself; nothing if no agent runs there."""
        return self.conversation.cwd if self.agent_pid is not None else ""

    @property
    def asks(self) -> str:
        """What it waits for, in the words that tell most: what it is about, else the question; nothing if unknown."""
        return (self.what or self.question) if self.status is Status.WAITING else ""

    @classmethod
    def from_json(cls, value: Json) -> Pane | None:
        status, name = status_of(value.get("status")), text(value.get("id"), MAX_ID)
        if status is None or not name:
            return None
        return cls(
            id=name,
            status=status,
            kind=kind_of(value.get("kind")),
            pid=count(value.get("pid")),
            agent_pid=count(value.get("agent_pid")),
            **{name: count(value.get(name)) or 0 for name in _COUNTS},  # type: ignore[arg-type]
            cwd=path(value.get("cwd")),
            context=integer(value.get("context"), 0, 100),
            cost=decimal(value.get("cost"), 0, 1e9),
            children=_children(value.get("children")),
            reason=ReasonEntry.from_json(value.get("reason")),
            conversation=ConversationEntry.from_json(value.get("conversation")),
            records=listed(value.get("records"), RecordEntry.from_json),
            losing=listed(value.get("losing"), LosingEntry.from_json),
            answers=listed(value.get("answers"), AnswerEntry.from_json),
            choices=_choices(value.get("choices")),
            tasks=texts(value.get("tasks")),
            resume=words(value.get("resume")),
            fork=words(value.get("fork")),
            attach=words(value.get("attach")),
            terminals=words(value.get("terminals")),
            **{name: text(value.get(name)) for name in _TEXTS},  # type: ignore[arg-type]
            **{name: number(value.get(name)) for name in _NUMBERS},  # type: ignore[arg-type]
            **{name: value.get(name) is True for name in _FLAGS},  # type: ignore[arg-type]
        )

    def to_json(self) -> Json:
        return {
            "id": self.id[:MAX_ID],
            "status": self.status.value,
            "kind": self.kind.value if self.kind else None,
            **{name: text(getattr(self, name)) for name in _TEXTS},
            **{name: getattr(self, name) for name in (*_NUMBERS, *_COUNTS, *_FLAGS)},
            "pid": self.pid,
            "agent_pid": self.agent_pid,
            "cwd": path(self.cwd),
            "context": self.context,
            "cost": self.cost,
            "children": [[text(name), text(status)] for name, status in self.children[:MAX_CHILDREN]],
            "reason": self.reason.to_json(),
            "conversation": self.conversation.to_json(),
            "records": [record.to_json() for record in self.records[:MAX_LIST]],
            "losing": [entry.to_json() for entry in self.losing[:MAX_LIST]],
            "answers": [entry.to_json() for entry in self.answers[:MAX_LIST]],
            "choices": [list(choice) for choice in self.choices[:MAX_CHOICES] if words(choice)],
            "tasks": list(texts(self.tasks)),
            "resume": list(words(self.resume)),
            "fork": list(words(self.fork)),
            "attach": list(words(self.attach)),
            "terminals": list(words(self.terminals)),
        }


_SAID = ("agent", "project", "session", "message", "progress", "question", "what", "prompt", "model", "reply")
_UNKNOWN = ("unknown", "signs")
_QUEUED = ("queued", "unsent")
_DOING = ("topic", "mode", "worktree", "detail")
_TEXTS = ("tab", "os_window", "title", "host_title", "terminal", *_SAID, *_DOING, *_UNKNOWN, *_QUEUED)
_NUMBERS = ("since", "snoozed_until", "muted_until", "waited_s", "limited_until")
_COUNTS = ("background", "said_per_s", "read_per_s")
_FLAGS = ("seen", "unread", "answered", "notified", "visible", "strange_record")


def _children(value: object) -> tuple[tuple[str, str], ...]:
    """The subagents, each by name with what it does."""
    if not isinstance(value, list):
        return ()
    pairs = (entry for entry in value[:MAX_CHILDREN] if isinstance(entry, list) and len(entry) == 2)
    return tuple((text(name), text(status)) for name, status in pairs if text(name))


def _choices(value: object) -> tuple[tuple[str, str], ...]:
    """The answers a question takes. One that is not whole is left out: half of its keys would be another answer."""
    if not isinstance(value, list):
        return ()
    pairs = (words(entry) for entry in value[:MAX_CHOICES])
    # What is no character is no key either.
    return tuple((keys, label) for keys, label in (pair for pair in pairs if len(pair) == 2) if text(keys) == keys)


@attributes.frozen(kw_only=True)
class Snapshot:
    """
    One host's state as of *written*, in seconds since the epoch.

    *birth* names the writer's life more exactly than *pid* and *started* can.
    """

    host: str
    pid: int
    started: float
    birth: str = ""
    written: float
    #: How far the host has read what its terminal wrote for it, by the writer's own count; 0 where nothing is written.
    heard: int = 0
    #: What programs may do to its panes: the word of `[scripting] allow` that is in force there.
    allow: str = OWN
    #: The keys of the configuration that would let programs do more, and wait for the next start of the host.
    withheld: tuple[str, ...] = ()
    #: The other machines whose panes these are; none where they are of this one.
    machines: tuple[MachineEntry, ...] = ()
    panes: tuple[Pane, ...]

    @property
    def name(self) -> str:
        """What a person calls this host on the command line: `kitty-4711`."""
        return f"{self.host}-{self.pid}"

    @classmethod
    def from_json(cls, value: Json, max_panes: int) -> Snapshot:
        return cls(
            host=text(value.get("host"), 16),
            pid=count(value.get("pid")) or 0,
            started=number(value.get("started")),
            birth=text(value.get("birth")),
            written=number(value.get("written")),
            heard=count(value.get("heard")) or 0,
            allow=text(value.get("allow"), 8) or OWN,
            withheld=texts(value.get("withheld")),
            machines=listed(value.get("machines"), MachineEntry.from_json),
            panes=listed(value.get("panes"), Pane.from_json, max_panes),
        )

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "host": self.host,
            "pid": self.pid,
            "started": self.started,
            "birth": self.birth,
            "written": self.written,
            **({"heard": self.heard} if self.heard else {}),
            **({"allow": self.allow} if self.allow != OWN else {}),
            **({"withheld": list(self.withheld)} if self.withheld else {}),
            **({"machines": [machine.to_json() for machine in self.machines]} if self.machines else {}),
            "panes": [pane.to_json() for pane in self.panes],
        }
