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
    TEXTS,
    Json,
    declared,
    key,
    read,
    short,
    text,
    write,
)


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
