"""
Claude Code's own status file, `<config>/sessions/<pid>.json`: what it says, and what a change of it means.

The file is undocumented (observed with 2.1.329), so any surprise in its shape means "no evidence" and never an error.
`decode` reads one file's text, guarded against a reused process id by the start time that the file carries;
`Session` turns successive readings into reports. It knows what hooks do not: an interrupt ends a turn at once. The
`<pid>.<hash>.key` beside it is private to Claude Code and never opened.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import attrs

from tallylight.report import Report, Source
from tallylight.status import Kind, Status
from tallylight.text import sanitise

#: Observed files have some 400 bytes.
MAX_CHARS = 1 << 16
_SESSION = re.compile(r"[A-Za-z0-9._:@/+][A-Za-z0-9._:@/+-]{0,255}", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
_RAW = frozenset({"idle", "busy", "waiting", "shell"})
_KINDS = {"permission prompt": Kind.PERMISSION, "input needed": Kind.QUESTION}


@attrs.frozen
class Reading:
    """What one file said. *raw* is its own word: `idle`, `busy`, `waiting`, or `shell` (a background shell lives)."""

    raw: str
    waiting_for: str = ""
    session: str = ""
    cwd: str = ""
    name: str = ""
    #: When it last changed, in ms since the epoch by the agent's clock; only for telling two readings apart.
    at: int = 0


def sessions_file(pid: int, environ: Mapping[str, str], home: str) -> str | None:
    """
    The path of the status file of process *pid*, whose environment is *environ*; None if it cannot be told.

    *home* is the user's, for an environment that may not be read.
    """
    configured = environ.get("CLAUDE_CONFIG_DIR", "")
    own_home = environ.get("HOME", "")
    base = configured or posixpath.join(own_home if own_home.startswith("/") else home, ".claude")
    if pid <= 0 or not base.startswith("/") or "\0" in base:
        return None
    return posixpath.join(base, "sessions", f"{pid}.json")


def decode(text: str, *, pid: int, start: int) -> Reading | None:
    """Read the file's *text*; None unless it is of the process *pid* that started at *start* (field 22 of its stat)."""
    if len(text) > MAX_CHARS:
        return None
    try:
        data = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or _integer(data.get("pid")) != pid or _integer(data.get("procStart")) != start:
        return None
    raw, waiting_for = data.get("status"), data.get("waitingFor") or ""
    if not isinstance(raw, str) or raw not in _RAW or not isinstance(waiting_for, str):
        return None
    session, cwd = _text(data, "sessionId"), _text(data, "cwd")
    return Reading(
        raw,
        waiting_for,
        session if _SESSION.fullmatch(session) else "",
        sanitise(cwd) if cwd.startswith("/") else "",
        sanitise(_text(data, "name")),
        _integer(data.get("statusUpdatedAt")) or 0,
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _integer(value: object) -> int | None:
    """A number, or one in quotes: the file's own habit differs by field and version."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


class Session:
    """
    One process's file over time.

    `idle` alone does not tell a turn that ended from one that never began. It is *done* after `busy`, unless the turn
    was interrupted; after `waiting` a dialog was dismissed, and that is *idle*. *done* stays as long as nothing
    changes: that somebody looked is not known here.
    """

    def __init__(self, agent: str = "claude") -> None:
        self._agent = agent
        self._last: Reading | None = None
        self._report: Report | None = None
        self._busy_at = 0

    @property
    def busy_since(self) -> float | None:
        """When the turn that goes on, or went on last, began, in seconds since the epoch by the agent's clock."""
        return self._busy_at / 1000 if self._busy_at else None

    @property
    def report(self) -> Report | None:
        """The last report made."""
        return self._report

    def read(self, reading: Reading | None, *, interrupted: bool = False) -> Report | None:
        """
        The report that *reading* is worth; None if it says nothing new.

        *interrupted*: somebody is known to have stopped the turn that was busy before.
        """
        if reading is None or reading == self._last:
            return None
        status, kind, rule = self._meaning(reading, interrupted)
        last, self._last = self._last, reading
        if reading.raw == "busy" and (last is None or last.raw not in ("busy", "waiting")):
            self._busy_at = reading.at
        report = Report(
            source=Source.REGISTRY,
            status=status,
            kind=kind,
            agent=self._agent,
            session=reading.session,
            cwd=reading.cwd,
            title=reading.name,
            message=sanitise(reading.waiting_for) if status is Status.WAITING else "",
            background=1 if status is Status.BACKGROUND else 0,
            rule=rule,
        )
        # A new time alone is nothing new, except that the same question may be asked twice.
        if last is not None and report == self._report and status is not Status.WAITING:
            return None
        self._report = report
        return report

    def ended(self, status: Status, message: str, rule: str) -> Report | None:
        """
        Another file of the agent tells how the turn ended: *done*, *error* or *idle*; None if that is nothing new.

        It counts only while no new turn has begun.
        """
        if self._last is None or self._last.raw != "idle" or self._report is None:
            return None
        report = attrs.evolve(self._report, status=status, message=message, rule=rule)
        if (report.status, report.message) == (self._report.status, self._report.message):
            return None
        self._report = report
        return report

    def _meaning(self, reading: Reading, interrupted: bool) -> tuple[Status, Kind | None, str]:
        before = self._last.raw if self._last is not None else ""
        rule = (
            f"status file: {before} to {reading.raw}"
            if before not in ("", reading.raw)
            else f"status file: {reading.raw}"
        )
        if reading.raw == "busy":
            return Status.WORKING, None, rule
        if reading.raw == "waiting":
            # Whatever else it may one day wait for, it waits.
            return (
                Status.WAITING,
                _KINDS.get(reading.waiting_for, Kind.INPUT),
                f"{rule}: {sanitise(reading.waiting_for)}",
            )
        if reading.raw == "shell":
            return Status.BACKGROUND, None, rule
        is_new_session = self._last is not None and self._last.session != reading.session
        if is_new_session:
            return Status.IDLE, None, rule
        if before in ("busy", "shell") and not interrupted:
            return Status.DONE, None, rule
        if before == "idle" and self._report is not None and self._report.status is not None:
            return self._report.status, None, self._report.rule
        return Status.IDLE, None, rule
