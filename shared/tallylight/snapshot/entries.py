"""
The nested entries of a pane in a snapshot: the reason for its status, its records, its last conversation and others.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.model import attributes
from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.model.report import Report
from tallylight.model.status import Kind, Status
from tallylight.snapshot.values import (
    ID,
    KIND,
    PATH,
    PATHS,
    STATUS,
    STRINGS,
    TEXTS,
    Form,
    Json,
    declared,
    key,
    many,
    read,
    short,
    text,
    write,
)
from tallylight.wire.values import integer
from tallylight.wire.values import number as decimal

Pairs = tuple[tuple[str, str], ...]
#: The most subagents and variables of an agent.
MAX_CHILDREN = 16
PAIRS: Json = {"type": "array", "items": STRINGS | {"minItems": 2, "maxItems": 2}}


def _read_pairs(value: object) -> Pairs:
    if not isinstance(value, list):
        return ()
    pairs = (entry for entry in value[:MAX_CHILDREN] if isinstance(entry, list) and len(entry) == 2)
    return tuple((text(name), text(status)) for name, status in pairs if text(name))


_NAMED = Form(_read_pairs, PAIRS, lambda found: [[text(name), text(status)] for name, status in found[:MAX_CHILDREN]])
_PERCENT = Form(lambda value: integer(value, 0, 100), {"type": "integer", "minimum": 0, "maximum": 100})
_COST = Form(lambda value: decimal(value, 0, 1e9), {"type": "number", "minimum": 0})


@attributes.frozen(kw_only=True)
class ReasonEntry:
    """The reason for a pane's status."""

    source: str = key("", "the source: `protocol`, `title`, `heuristic`")
    rule: str = key("", "the rule that made the report: `osc-1338`")
    changes: str = key("", "what changes it next")
    at: float = key(0.0, "the time of the report, in seconds since the epoch")


@attributes.frozen(kw_only=True)
class LosingEntry:
    """A claim that lost against another one."""

    source: str = key("", "the source")
    rule: str = key("", "the rule that made the report")
    status: str = key("", "the reported status")
    why: str = key("", "the rule of trust that decided against it")
    at: float = key(0.0, "the time of the report, in seconds since the epoch")


@attributes.frozen(kw_only=True)
class AnswerEntry:
    """The answer to one question of trust."""

    question: str = key("", "`turn`, `asks` or `rest`")
    answer: str = key("", "the answer")
    source: str = key("", "the source")
    rule: str = key("", "the rule that made the report")
    changes: str = key("", "what changes it next")
    at: float = key(0.0, "the time of the report, in seconds since the epoch")


#: The fields of a report that a record has if they are not empty.
REPORT_TEXTS = ("session", "title", "project", "cwd", "worktree", "mode", "message", "what", "detail")


@attributes.frozen(kw_only=True)
class RecordEntry:
    """One record of a pane. *fields* has the fields of its report that are not empty; JSON has them at top level."""

    id: str = key("", '`""` is the pane itself, `a/b` a child of `a`', ID)
    status: Status = attributes.field(metadata=declared("its status", STATUS))
    kind: Kind | None = key(None, "the kind of waiting", KIND)
    agent: str = key("", "the agent")
    source: str = key("", "the source")
    rule: str = key("", "the rule that made the report")
    at: float = key(0.0, "the time of the report, in seconds since the epoch")
    fields: Mapping[str, str] = attributes.field(factory=dict)

    @classmethod
    def of(cls, report: Report, status: Status, at: float) -> RecordEntry:
        """Return the entry for a record with *report*, shown with *status*."""
        fields = {name: text(getattr(report, name)) for name in REPORT_TEXTS if getattr(report, name)}
        if report.progress is not None:
            fields["progress"] = f"{report.progress.done}/{report.progress.total}"
        if report.background:
            fields["background"] = str(report.background)
        return cls(
            id=report.id,
            status=status,
            kind=report.kind,
            agent=report.agent,
            source=report.source.word,
            rule=report.rule,
            at=at,
            fields=fields,
        )

    @classmethod
    def from_json(cls, value: object) -> RecordEntry | None:
        names = (*REPORT_TEXTS, "progress", "background")
        fields = {name: word for name in names if (word := text(value.get(name)))} if isinstance(value, dict) else {}
        found: RecordEntry | None = read(cls, value, fields=fields)
        return found

    def to_json(self) -> Json:
        return write(self) | {name: text(value) for name, value in self.fields.items()}


@attributes.frozen(kw_only=True)
class ConversationEntry:
    """
    The last conversation of a pane: of an *agent* with a process that the host itself saw there, and which may be gone.

    No output of a program makes one.
    """

    agent: str = key("", "the agent")
    session: str = key("", "its session id")
    cwd: str = key("", "its directory", PATH)
    flags: tuple[str, ...] = key((), "dangerous options of its process")
    options: tuple[str, ...] = key((), "restricting options, with their values")
    lost: tuple[str, ...] = key((), "names of options that are not kept", TEXTS)
    relayed: bool = key(False, "it ran behind `tally run`")
    program: str = key("", "the program file of an agent without an agent file", PATH, is_always=False)
    places: tuple[str, ...] = key(
        (), "`PATH` and other variables that locate things, as its process had them", PATHS, is_always=False
    )


@attributes.frozen(kw_only=True)
class MachineEntry:
    """Another machine that this host asks."""

    name: str = attributes.field(metadata=declared("its name in `[machines]`", short(MAX_WORD_CHARS)))
    is_up: bool = key(False, "it answers", name="up")
    says: str = key("", "its state in words")


@attributes.frozen(kw_only=True)
class CollisionEntry:
    """Another agent of the same repository that has changed a file of this one's."""

    pane: str = key("", "the other agent's pane: `kitty-4711:3`")
    name: str = key("", "its project")
    file: str = key("", "the file, from the top of the work tree")
    lines: str = key("", "the lines that the other has changed: `40–62`")
    same: bool = key(False, "both have changed the same lines")
    asked: bool = key(False, "this pane asks to write the file")
    at: float = key(0.0, "when the other last changed it, in seconds since the epoch; 0 if unknown")


@attributes.frozen(kw_only=True)
class PlaceEntry:
    """The place of a pane."""

    tab: str = key("", "its tab")
    os_window: str = key("", "its OS window")
    #: The title of its detached session or workspace.
    host_title: str = key("", "the name of its session or workspace")
    terminal: str = key("", "the pane's own terminal, if known")
    terminals: tuple[str, ...] = key((), "the terminals, or panes by their addresses, that are attached to its session")


@attributes.frozen(kw_only=True)
class AboutEntry:
    """Facts that an agent reports about itself."""

    model: str = key("", "the model, from the agent's record")
    mode: str = key("", "the agent's mode: `plan`")
    worktree: str = key("", "its worktree, as the agent reports it")
    last_prompt: str = key("", "the first line of your last prompt, from the agent's record")
    context: int | None = key(None, "used part of its context, in percent", _PERCENT)
    cost: float | None = key(None, "its cost in US dollars, as it reports it", _COST)
    children: Pairs = key((), "its subagents, each with its activity", _NAMED)
    vars: Pairs = key((), "the agent's own variables: name and text", _NAMED)


@attributes.frozen(kw_only=True)
class ProgramEntry:
    """A foreground program that no agent file knows."""

    name: str = key("", "the foreground program, if it has no agent file", name="unknown")
    signs: str = key("", "why that program counts as an agent")


@attributes.frozen(kw_only=True)
class QueueEntry:
    """The text that waits to be typed."""

    text: str = key("", "the queued text, one line", name="queued")
    problem: str = key("", "why the queued text was dropped", name="unsent")
    until: float = key(0.0, "end of the limit that the queued text waits for; 0 for none", name="queued_until")


@attributes.frozen(kw_only=True)
class AttentionEntry:
    """The marks that a person has given a pane, and what they have seen of it."""

    snoozed_until: float = key(0.0, "end of the snooze; 0 for none")
    muted_until: float = key(0.0, "end of the mute; 0 for none")
    waited_s: float = key(0.0, "seconds that it waited for you today")
    seen: bool = key(False, "you have looked at it")
    unread: bool = key(False, "you marked it as unread")
    answered: bool = key(False, "the agent has continued since it last asked")
    notified: bool = key(False, "a notification was shown for its current need")
    visible: bool = key(False, "it is in front of you")


@attributes.frozen(kw_only=True)
class EvidenceEntry:
    """The material of the decision, for `tally why` and `tally doctor`."""

    said_per_s: int = key(0, "reports, titles and marks a second during a flood; else 0")
    read_per_s: int = key(0, "the part of them that is read")
    hangs: str = key("", "the place of the agent's files, if that does not respond")
    strange_record: bool = key(False, "the agent's record has an unknown format")
    records: tuple[RecordEntry, ...] = key((), "one record for each agent in the pane", many(RecordEntry))
    losing: tuple[LosingEntry, ...] = key((), "reports that lost to better ones", many(LosingEntry))
    answers: tuple[AnswerEntry, ...] = key((), "the answers to the three questions of trust", many(AnswerEntry))


@attributes.frozen(kw_only=True)
class CommandsEntry:
    """Commands for its conversation; what the agent reports is completed and checked at the gate."""

    resume: tuple[str, ...] = key((), "the command that resumes it, as the agent reports it")
    fork: tuple[str, ...] = key((), "the command that forks it, as the agent reports it")
    attach: tuple[str, ...] = key((), "the command that attaches a terminal, if none is attached")
