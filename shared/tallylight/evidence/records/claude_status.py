"""
Claude Code's own status file, `<config>/sessions/<pid>.json`: where it is and what it says.

The file is undocumented (observed with 2.1.329), so any surprise in its shape means "no evidence" and never an error.
`decode` reads one file's text, guarded against a reused process id by the start time that the file carries; `turn`
makes reports of successive readings. The `<pid>.<hash>.key` beside it is private to Claude Code and never opened.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

import attrs

from tallylight.model.errors import DecodeError
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: Observed files have some 400 bytes.
MAX_CHARS = 1 << 16
#: One more than a session id may have: one that is too long, or odd, must stay so, and not become another or none.
_MAX_SESSION = 257
#: Of a number in the file; the largest is a time in ms since the epoch.
_MOST = 1 << 63
_MAX_MS = int(1000 * values.LATEST)
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
_RAW = frozenset({"idle", "busy", "waiting", "shell"})


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
    #: When the process began, by the same clock.
    began: int = 0


def sessions_file(pid: int, environ: Mapping[str, str], home: str) -> str | None:
    """
    The path of the status file of process *pid* with the environment *environ*; None if it is unknown.

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
        data = values.load(text, strict=True)
    except DecodeError:
        return None
    if not isinstance(data, dict) or _integer(data.get("pid")) != pid or _integer(data.get("procStart")) != start:
        return None
    raw, waiting_for = data.get("status"), data.get("waitingFor") or ""
    if not isinstance(raw, str) or raw not in _RAW or not isinstance(waiting_for, str):
        return None
    session, cwd, name = (data[key] if isinstance(data.get(key), str) else "" for key in ("sessionId", "cwd", "name"))
    return Reading(
        raw,
        sanitise(waiting_for),
        sanitise(session, cells=_MAX_SESSION),
        sanitise(cwd) if cwd.startswith("/") else "",
        sanitise(name),
        *(values.integer(_integer(data.get(key)), 0, _MAX_MS) or 0 for key in ("statusUpdatedAt", "startedAt")),
    )


def _integer(value: object) -> int | None:
    """A number, or one in quotes: the file's own habit differs by field and version."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    return values.integer(value, 0, _MOST)
