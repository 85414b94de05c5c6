"""
The parts of a pane in a snapshot: why it shows what it shows, its records, and its last conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallylight.model import attributes
from tallylight.model.report import Report
from tallylight.model.status import Kind, Status
from tallylight.snapshot.values import MAX_ID, Json, kind_of, number, path, status_of, text, words

#: Of the name of a machine.
_MAX_NAME = 64


def _texts(entry: object, names: tuple[str, ...]) -> Json:
    """The texts of *entry* by these *names*, for JSON."""
    return {name: text(getattr(entry, name)) for name in names}


def _read(value: Json, names: tuple[str, ...]) -> dict[str, Any]:
    """The texts of *names*, and the time `at`, of an entry that was written so."""
    return {"at": number(value.get("at")), **{name: text(value.get(name)) for name in names}}


@attributes.frozen(kw_only=True)
class ReasonEntry:
    """Why a pane shows what it shows: *at* is seconds since the epoch, *changes* what would change it."""

    source: str = ""
    rule: str = ""
    at: float = 0.0
    changes: str = ""

    @classmethod
    def from_json(cls, value: object) -> ReasonEntry:
        return cls(**_read(value, _REASON)) if isinstance(value, dict) else cls()

    def to_json(self) -> Json:
        return {**_texts(self, _REASON), "at": self.at}


@attributes.frozen(kw_only=True)
class LosingEntry:
    """A claim that was put aside, and *why*: the trust rule."""

    source: str = ""
    rule: str = ""
    status: str = ""
    at: float = 0.0
    why: str = ""

    @classmethod
    def from_json(cls, value: Json) -> LosingEntry:
        return cls(**_read(value, _LOSING))

    def to_json(self) -> Json:
        return {**_texts(self, _LOSING), "at": self.at}


@attributes.frozen(kw_only=True)
class AnswerEntry:
    """The *answer* to one *question* of trust, who gave it by which rule *at* when, and what *changes* it."""

    question: str = ""
    answer: str = ""
    source: str = ""
    rule: str = ""
    at: float = 0.0
    changes: str = ""

    @classmethod
    def from_json(cls, value: Json) -> AnswerEntry:
        return cls(**_read(value, _ANSWER))

    def to_json(self) -> Json:
        return {**_texts(self, _ANSWER), "at": self.at}


_REASON = ("source", "rule", "changes")
_LOSING = ("source", "rule", "status", "why")
_ANSWER = ("question", "answer", "source", "rule", "changes")
#: The fields of a report that a record carries when they are not empty.
REPORT_TEXTS = ("session", "title", "project", "cwd", "worktree", "mode", "message", "what", "detail")


@attributes.frozen(kw_only=True)
class RecordEntry:
    """One record of a pane: `""` is the pane itself, `a/b` a child of `a`. *fields* are the report's, non-empty."""

    id: str = ""
    status: Status
    kind: Kind | None = None
    agent: str = ""
    source: str = ""
    rule: str = ""
    at: float = 0.0
    fields: Mapping[str, str] = attributes.field(factory=dict)

    @classmethod
    def of(cls, report: Report, status: Status, at: float) -> RecordEntry:
        """Make the entry of a record that *report* describes and whose status is *status*."""
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
    def from_json(cls, value: Json) -> RecordEntry | None:
        status = status_of(value.get("status"))
        if status is None:
            return None
        names = (*REPORT_TEXTS, "progress", "background")
        return cls(
            id=text(value.get("id"), MAX_ID),
            status=status,
            kind=kind_of(value.get("kind")),
            agent=text(value.get("agent")),
            source=text(value.get("source")),
            rule=text(value.get("rule")),
            at=number(value.get("at")),
            fields={name: text(value[name]) for name in names if text(value.get(name))},
        )

    def to_json(self) -> Json:
        return {
            "id": self.id[:MAX_ID],
            "status": self.status.value,
            "kind": self.kind.value if self.kind else None,
            "agent": text(self.agent),
            "source": self.source,
            "rule": text(self.rule),
            "at": self.at,
            **{name: text(value) for name, value in self.fields.items()},
        }


@attributes.frozen(kw_only=True)
class ConversationEntry:
    """
    The last conversation of a pane: of an *agent* whose process the host itself saw there, and which may be gone.

    No output of a program makes one. *flags* are the dangerous ones its process had, *options* those with their values
    that restricted it, *lost* the names of others that are not kept; *relayed*: it ran behind our relay. *program* is
    the file that ran, of an agent that no agent file names: it is known by nothing else.
    """

    agent: str = ""
    session: str = ""
    cwd: str = ""
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    relayed: bool = False
    program: str = ""

    @classmethod
    def from_json(cls, value: object) -> ConversationEntry:
        if not isinstance(value, dict):
            return cls()
        return cls(
            agent=text(value.get("agent")),
            session=text(value.get("session")),
            cwd=path(value.get("cwd")),
            flags=words(value.get("flags")),
            options=words(value.get("options")),
            lost=words(value.get("lost")),
            relayed=value.get("relayed") is True,
            program=path(value.get("program")),
        )

    def to_json(self) -> Json:
        return {
            "agent": text(self.agent),
            "session": text(self.session),
            "cwd": path(self.cwd),
            "flags": list(words(self.flags)),
            "options": list(words(self.options)),
            "lost": list(words(self.lost)),
            "relayed": self.relayed,
            **({"program": path(self.program)} if self.program else {}),
        }


@attributes.frozen(kw_only=True)
class MachineEntry:
    """Another machine that this host asks: whether it is there, and what a person is told of it."""

    name: str
    is_up: bool = False
    says: str = ""

    @classmethod
    def from_json(cls, value: Json) -> MachineEntry | None:
        name = text(value.get("name"), _MAX_NAME)
        return cls(name=name, is_up=value.get("up") is True, says=text(value.get("says"))) if name else None

    def to_json(self) -> Json:
        return {"name": self.name, "up": self.is_up, "says": text(self.says)}
