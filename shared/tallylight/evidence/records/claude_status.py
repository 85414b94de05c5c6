"""
Claude Code's own status file, `<config>/sessions/<pid>.json`: its path and its contents.

The file is undocumented (observed with 2.1.329), so any surprise in its shape means "no evidence" and never an error.
`decode` reads one file's text, guarded against a reused process id by the start time in the file; `claude_turns` makes
reports of successive readings. The `<pid>.<hash>.key` beside it is private to Claude Code and never opened.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

import attrs

from tallylight.model.errors import DecodeError
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: Characters of a file; observed ones have some 400 bytes.
MAX_STATUS_CHARS = 1 << 16
#: Cells of a session id, one more than it may have: one that is too long must not become another.
_MAX_SESSION_CELLS = 257
#: The largest number in the file: a time in ms since the epoch.
_LARGEST_NUMBER = 1 << 63
_MAX_MS = int(1000 * values.LATEST)
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
#: The kinds of a session: at a terminal, in the background, or of the daemon of its remote control.
_KINDS = ("interactive", "bg", "daemon-worker")
_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_RAW = frozenset({"idle", "busy", "waiting", "shell"})


@attrs.frozen
class Reading:
    """
    The contents of one file. *raw* is its own word: `idle`, `busy`, `waiting`, or `shell` (a background shell lives).
    """

    raw: str
    waiting_for: str = ""
    session: str = ""
    cwd: str = ""
    #: The name that a person or the agent's model gave the session.
    name: str = ""
    #: When it last changed, in ms since the epoch by the agent's clock; only for telling two readings apart.
    at: int = 0
    #: When the process began, by the same clock.
    began: int = 0
    #: Whether it has no person in front of it, unless somebody attaches to it.
    is_background: bool = False


@attrs.frozen
class Listed:
    """A session in the list of all: its process, the id that opens it ("" for none), and its name."""

    pid: int
    id: str = ""
    name: str = ""
    #: Whether it has a terminal that only Claude's own daemon holds.
    is_background: bool = False
    #: Its own id, where a process may have several.
    session: str = ""


def sessions_file(pid: int, environ: Mapping[str, str], home: str) -> str | None:
    """
    Return the path of the status file of process *pid* with the environment *environ*; None if unknown.

    *home* is the user's, for an environment that is not readable.
    """
    where = folder(environ, home)
    return posixpath.join(where, f"{pid}.json") if where is not None and pid > 0 else None


def folder(environ: Mapping[str, str], home: str) -> str | None:
    """Return the folder of all status files, for a process as in `sessions_file`."""
    configured = environ.get("CLAUDE_CONFIG_DIR", "")
    own_home = environ.get("HOME", "")
    base = configured or posixpath.join(own_home if own_home.startswith("/") else home, ".claude")
    return posixpath.join(base, "sessions") if base.startswith("/") and "\0" not in base else None


def _load(text: str, pid: int, start: int) -> dict[str, Any]:
    """Return the fields of the file's *text*; none unless it is of the process *pid* that started at *start*."""
    if len(text) > MAX_STATUS_CHARS:
        return {}
    try:
        data = values.load(text, strict=True)
    except DecodeError:
        return {}
    is_its = isinstance(data, dict) and (_integer(data.get("pid")), _integer(data.get("procStart"))) == (pid, start)
    return data if is_its else {}


def listed(text: str, *, pid: int, start: int) -> Listed | None:
    """Read the file's *text* as `decode` does; None if it shows no session."""
    data = _load(text, pid, start)
    kind, id_, name = data.get("kind"), data.get("jobId"), data.get("name")
    if kind not in _KINDS or data.get("spare") is True or decode(text, pid=pid, start=start) is None:
        return None
    is_known = isinstance(id_, str) and _JOB.fullmatch(id_) is not None
    return Listed(pid, str(id_) if is_known else "", sanitise(name) if isinstance(name, str) else "", kind == "bg")


def decode(text: str, *, pid: int, start: int) -> Reading | None:
    """Read the file's *text*; None unless it is of the process *pid* that started at *start* (field 22 of its stat)."""
    data = _load(text, pid, start)
    raw, waiting_for = data.get("status"), data.get("waitingFor") or ""
    if not isinstance(raw, str) or raw not in _RAW or not isinstance(waiting_for, str):
        return None
    session, cwd, name = (data[key] if isinstance(data.get(key), str) else "" for key in ("sessionId", "cwd", "name"))
    return Reading(
        raw,
        sanitise(waiting_for),
        sanitise(session, cells=_MAX_SESSION_CELLS),
        sanitise(cwd) if cwd.startswith("/") else "",
        # One made of its directory, `shop-2c`, says less than the project does.
        sanitise(name) if data.get("nameSource") != "derived" else "",
        values.integer(_integer(data.get("statusUpdatedAt")), 0, _MAX_MS) or 0,
        values.integer(_integer(data.get("startedAt")), 0, _MAX_MS) or 0,
        data.get("kind") == "bg",
    )


def _integer(value: object) -> int | None:
    """Return a number, or one in quotes: the file's own habit differs by field and version."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    return values.integer(value, 0, _LARGEST_NUMBER)
