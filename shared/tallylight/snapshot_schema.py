"""
The schema of a snapshot, version 1: values, and their way to JSON and back.

`from_json` believes nothing: whatever has the wrong type becomes the field's default, every text and every list is
cut to its cap, and only a pane without an id or with a status that does not exist is dropped. So a newer writer
may add keys, and a broken one can show nonsense, but it cannot break a reader.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from tallylight.report import Report
from tallylight.status import Kind, Status

VERSION = 1
#: Of one text, in characters. Surfaces show far less; `tally why` shows this much.
MAX_TEXT = 500
#: Of one id or path. The id of a record is a path of up to a few levels.
MAX_ID = 500
#: Of records and of losing claims of one pane.
MAX_LIST = 64

T = TypeVar("T")
Json = dict[str, Any]


def text(value: object, cap: int = MAX_TEXT) -> str:
    """Return *value* if it is text, cut to *cap* characters; `""` if it is not."""
    return value[:cap] if isinstance(value, str) else ""


def number(value: object) -> float:
    """Return *value* if it is a finite number, else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        return float(value) if math.isfinite(value) else 0.0
    except OverflowError:
        return 0.0


def count(value: object) -> int | None:
    """Return *value* if it is a number a process or a task count can have, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def status_of(value: object) -> Status | None:
    try:
        return Status(value)  # type: ignore[arg-type]  # any other type is a ValueError too
    except ValueError:
        return None


def kind_of(value: object) -> Kind | None:
    try:
        return Kind(value)  # type: ignore[arg-type]
    except ValueError:
        return None


def _listed(value: object, read: Callable[[Json], T | None], cap: int = MAX_LIST) -> tuple[T, ...]:
    if not isinstance(value, list):
        return ()
    found = (read(entry) for entry in value[:cap] if isinstance(entry, dict))
    return tuple(entry for entry in found if entry is not None)


@attrs.frozen(kw_only=True)
class ReasonEntry:
    """Why a pane shows what it shows: *at* is seconds since the epoch, *changes* what would change it."""

    source: str = ""
    rule: str = ""
    at: float = 0.0
    changes: str = ""

    @classmethod
    def from_json(cls, value: object) -> ReasonEntry:
        if not isinstance(value, dict):
            return cls()
        return cls(
            source=text(value.get("source")),
            rule=text(value.get("rule")),
            at=number(value.get("at")),
            changes=text(value.get("changes")),
        )


@attrs.frozen(kw_only=True)
class LosingEntry:
    """A claim that was put aside, and *why*: the trust rule."""

    source: str = ""
    rule: str = ""
    status: str = ""
    at: float = 0.0
    why: str = ""

    @classmethod
    def from_json(cls, value: Json) -> LosingEntry:
        return cls(
            source=text(value.get("source")),
            rule=text(value.get("rule")),
            status=text(value.get("status")),
            at=number(value.get("at")),
            why=text(value.get("why")),
        )


#: The fields of a report that a record carries when they are not empty.
REPORT_TEXTS = ("session", "title", "project", "cwd", "worktree", "mode", "message", "detail")


@attrs.frozen(kw_only=True)
class RecordEntry:
    """One record of a pane: `""` is the pane itself, `a/b` a child of `a`. *fields* are the report's, non-empty."""

    id: str = ""
    status: Status
    kind: Kind | None = None
    agent: str = ""
    source: str = ""
    rule: str = ""
    at: float = 0.0
    fields: Mapping[str, str] = attrs.field(factory=dict)

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


@attrs.frozen(kw_only=True)
class Pane:
    """What a host shows for one pane. Times are seconds since the epoch."""

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
    reason: ReasonEntry = ReasonEntry()
    records: tuple[RecordEntry, ...] = ()
    losing: tuple[LosingEntry, ...] = ()

    @classmethod
    def from_json(cls, value: Json) -> Pane | None:
        status, name = status_of(value.get("status")), text(value.get("id"), MAX_ID)
        if status is None or not name:
            return None
        return cls(
            id=name,
            status=status,
            kind=kind_of(value.get("kind")),
            tab=text(value.get("tab")),
            os_window=text(value.get("os_window")),
            title=text(value.get("title")),
            agent=text(value.get("agent")),
            project=text(value.get("project")),
            session=text(value.get("session")),
            message=text(value.get("message")),
            since=number(value.get("since")),
            seen=value.get("seen") is True,
            pid=count(value.get("pid")),
            reason=ReasonEntry.from_json(value.get("reason")),
            records=_listed(value.get("records"), RecordEntry.from_json),
            losing=_listed(value.get("losing"), LosingEntry.from_json),
        )

    def to_json(self) -> Json:
        return {
            "id": self.id[:MAX_ID],
            "tab": self.tab,
            "os_window": self.os_window,
            "title": text(self.title),
            "status": self.status.value,
            "kind": self.kind.value if self.kind else None,
            "agent": text(self.agent),
            "project": text(self.project),
            "session": text(self.session),
            "message": text(self.message),
            "since": self.since,
            "seen": self.seen,
            "pid": self.pid,
            "reason": {name: _capped(value) for name, value in attrs.asdict(self.reason).items()},
            "records": [record.to_json() for record in self.records[:MAX_LIST]],
            "losing": [
                {name: _capped(value) for name, value in attrs.asdict(entry).items()}
                for entry in self.losing[:MAX_LIST]
            ],
        }


def _capped(value: object) -> object:
    return text(value) if isinstance(value, str) else value


@attrs.frozen(kw_only=True)
class Snapshot:
    """One host's state. *birth* names the writer's life more exactly than *pid* and *started* can."""

    host: str
    pid: int
    started: float
    birth: str = ""
    written: float
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
            panes=_listed(value.get("panes"), Pane.from_json, max_panes),
        )

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "host": self.host,
            "pid": self.pid,
            "started": self.started,
            "birth": self.birth,
            "written": self.written,
            "panes": [pane.to_json() for pane in self.panes],
        }
