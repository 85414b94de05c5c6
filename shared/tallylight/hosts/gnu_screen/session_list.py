"""
Reads GNU Screen's list of sessions, `screen -ls`, and its `info`. https://www.gnu.org/software/screen/manual/

A session is a line that starts with a tab: `<tab>PID.NAME<tab>(DATE)<tab>(STATE)`. The date depends on the locale, and
older versions have none; only the words of the state are always the same. A name may hold anything but `/`, even tabs
and brackets, so a line is read from its two ends.

A session is always addressed by `PID.NAME`: Screen accepts any name that starts with the given text, so `AUT` would
reach `AUTHX`. With the pid and the dot in front only one session matches.
"""

from __future__ import annotations

import re

import attrs

#: The most sessions that are listed.
MAX_LISTED_SESSIONS = 1000
_SESSION = re.compile(
    r"^\t(?P<pid>[1-9][0-9]{0,9})\.(?P<name>[^\n]*?)(?:\t\((?P<date>[^\t\n]*)\))?\t\((?P<state>[^()\n]*)\)\s*$", re.M
)
#: Words in the state of a session that cannot be reached.
_GONE = ("dead", "remote", "private", "unreachable", "removed")
_FOLDER = re.compile(r"\b(?:in|found in) (/[^\r\n]*?)\.?\r?$", re.M)
_INFO = re.compile(rb"\((\d{1,5}),(\d{1,5})\)/\((\d{1,5}),(\d{1,5})\)")
_VERSION = re.compile(rb"\b(\d{1,3})\.(\d{1,3})")
#: A client of `screen -Q` has a socket of its own for a moment, with the session's name and this suffix.
_QUERY = re.compile(r"-query[A-Z]?\Z")


@attrs.frozen
class Session:
    """
    One session, and whether a person is attached to it.

    *is_attached* is None if it cannot be reached: its process has ended, or belongs to another machine or user.
    """

    pid: int
    name: str
    is_attached: bool | None

    @property
    def address(self) -> str:
        """The address for `screen -S` and `screen -r`."""
        return f"{self.pid}.{self.name}"


def read_list(text: str) -> list[Session]:
    """Return the sessions in the output of `screen -ls`, one for each pid."""
    found: dict[int, Session] = {}
    for match in _SESSION.finditer(text.replace("\r", "")):
        state = match["state"].lower()
        is_attached: bool | None = None
        if not any(word in state for word in _GONE) and ("attached" in state or "detached" in state):
            is_attached = "attached" in state
        session = Session(int(match["pid"]), match["name"], is_attached)
        known = found.get(session.pid)
        # The session's own socket has a shorter name than those of its clients.
        if known is None or len(session.name) < len(known.name):
            found[session.pid] = session
        if len(found) >= MAX_LISTED_SESSIONS:
            break
    return list(found.values())


def read_folder(text: str) -> str:
    """Return the directory of the sockets, from the last line of the list; empty if that does not name it."""
    match = _FOLDER.search(text)
    return match[1] if match is not None else ""


def is_query_socket(name: str) -> bool:
    """Return whether the socket *name* belongs to a client of `screen -Q`, and will be gone in a moment."""
    return _QUERY.search(name) is not None


def read_info(data: bytes) -> tuple[int, int, int, int] | None:
    """Return the cursor's column and row (from 0), and the columns and rows, from the output of `screen -Q info`."""
    match = _INFO.match(data)
    if match is None:
        return None
    column, row, columns, rows = (int(number) for number in match.groups())
    return max(column - 1, 0), max(row - 1, 0), columns, rows


def keeps_text(version: bytes) -> bool:
    """Return whether the Screen with this *version* (`screen -v`) writes hardcopies in UTF-8."""
    match = _VERSION.search(version)
    return match is not None and int(match[1]) >= 5
