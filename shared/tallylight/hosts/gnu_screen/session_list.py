"""
GNU Screen's list of sessions, `screen -ls`, and its `info`. https://www.gnu.org/software/screen/manual/

A session is a line that starts with a tab: `<tab>PID.NAME<tab>(DATE)<tab>(STATE)`. The date has the form of the locale,
and older versions have none; only the state's words are the same everywhere. A name may hold anything but `/`, even
tabs and brackets, so a line is read from its two ends.

A session is always addressed by `PID.NAME`: Screen takes any name that merely starts with what was asked for, so that
`AUT` would reach `AUTHX`. With the pid and the dot in front no other session can start the same.
"""

from __future__ import annotations

import re

import attrs

#: More sessions than anyone has.
MAX_SESSIONS = 1000
_SESSION = re.compile(
    r"^\t(?P<pid>[1-9][0-9]{0,9})\.(?P<name>[^\n]*?)(?:\t\((?P<date>[^\t\n]*)\))?\t\((?P<state>[^()\n]*)\)\s*$", re.M
)
#: In the states of those that cannot be asked.
_GONE = ("dead", "remote", "private", "unreachable", "removed")
_FOLDER = re.compile(r"\b(?:in|found in) (/[^\r\n]*?)\.?\r?$", re.M)
_INFO = re.compile(rb"\((\d{1,5}),(\d{1,5})\)/\((\d{1,5}),(\d{1,5})\)")
_VERSION = re.compile(rb"\b(\d{1,3})\.(\d{1,3})")
#: What asks a session (`screen -Q`) has for a moment a socket of its own, of the session's name and this.
_QUERY = re.compile(r"-query[A-Z]?\Z")


@attrs.frozen
class Session:
    """
    One session, and whether a person is attached to it.

    None: its process has gone, or is another machine's; or it is somebody else's.
    """

    pid: int
    name: str
    is_attached: bool | None

    @property
    def address(self) -> str:
        """What `screen -S` and `screen -r` are given."""
        return f"{self.pid}.{self.name}"


def read_list(text: str) -> list[Session]:
    """The sessions in what `screen -ls` printed; one a pid."""
    found: dict[int, Session] = {}
    for match in _SESSION.finditer(text.replace("\r", "")):
        state = match["state"].lower()
        is_attached: bool | None = None
        if not any(word in state for word in _GONE) and ("attached" in state or "detached" in state):
            is_attached = "attached" in state
        session = Session(int(match["pid"]), match["name"], is_attached)
        known = found.get(session.pid)
        # Of the session and the sockets that ask it, the session has the shortest name.
        if known is None or len(session.name) < len(known.name):
            found[session.pid] = session
        if len(found) >= MAX_SESSIONS:
            break
    return list(found.values())


def read_folder(text: str) -> str:
    """The directory of the sockets, as the last line of the list names it; nothing if it does not."""
    match = _FOLDER.search(text)
    return match[1] if match is not None else ""


def is_question(name: str) -> bool:
    """Whether a socket of this *name* is one that asks a session and will be gone in a moment."""
    return _QUERY.search(name) is not None


def read_info(data: bytes) -> tuple[int, int, int, int] | None:
    """The column and row of the cursor, from 0, and the columns and rows in `screen -Q info`, from 1."""
    match = _INFO.match(data)
    if match is None:
        return None
    column, row, columns, rows = (int(number) for number in match.groups())
    return max(column - 1, 0), max(row - 1, 0), columns, rows


def keeps_text(version: bytes) -> bool:
    """Whether the Screen that prints *version* (`screen -v`) writes hardcopies in UTF-8."""
    match = _VERSION.search(version)
    return match is not None and int(match[1]) >= 5
