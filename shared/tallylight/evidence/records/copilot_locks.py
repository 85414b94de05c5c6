"""
Copilot's own locks, `<COPILOT_HOME>/session-state/<session>/inuse.<pid>.lock`: which process holds which session.

Observed with 1.0.102, also of sessions that an editor has started (`copilot --acp`). One process may hold several.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from tallylight.evidence.records.places import home_of

_LOCK = re.compile(r"inuse\.([0-9]{1,10})\.lock", re.ASCII)
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}", re.ASCII)


def folder(environ: Mapping[str, str]) -> str:
    """Return the folder of all sessions, for a process with the environment *environ*."""
    own = environ.get("COPILOT_HOME", "")
    return posixpath.join(own if own.startswith("/") else posixpath.join(home_of(environ), ".copilot"), "session-state")


def is_session(name: str) -> bool:
    """Return whether *name* may be that of a session's folder."""
    return _SESSION.fullmatch(name) is not None


def holder(name: str) -> int:
    """Return the process that the lock *name* names; 0 if it is no lock."""
    found = _LOCK.fullmatch(name)
    return int(found[1]) if found is not None else 0
