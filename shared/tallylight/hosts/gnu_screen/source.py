"""
GNU Screen as a source of panes: one for each window of every session of this user.
https://www.gnu.org/software/screen/

The process table shows the windows of a session and their programs. A window's leader is a child of the session's
process, with the window's number in its environment. So a look at unchanged sessions starts no program. `screen -ls`
runs only after the directory of the sockets changed, or after `RELIST_S`.

A screen is read with `hardcopy` into a file in a directory that only this user can enter. An attached person would see
a query (`screen -Q`), so only detached sessions are asked for their cursor.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.evidence import process_table
from tallylight.files import read_write
from tallylight.files.program import StuckError, run
from tallylight.hosts.gnu_screen import hardcopy, session_list
from tallylight.hosts.gnu_screen.session_list import Session
from tallylight.hosts.polling.source import SourcePane
from tallylight.pane.pane import Look
from tallylight.snapshot import writer
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.wire.values import is_number

#: Seconds after which the list is read although nothing seems to have changed.
RELIST_S = 30.0
#: Seconds between two readings of one screen, which run two programs each. An unchanged screen may be used again
#: sooner.
HARDCOPY_EVERY_S = 1.0
#: A session that does not write its hardcopy within so many seconds hangs.
WRITTEN_S = 2.0
#: Windows of one session that are looked at.
MAX_SCREEN_WINDOWS = 200
_MAX_HARDCOPY_BYTES = 1 << 20
_DEFAULT_COLUMNS = 80


@attrs.define
class _Window:
    """A window's leader: its start time, and the window's number; None if it cannot be read."""

    start: int | None
    number: int | None


@attrs.frozen
class _Seen:
    """A session at the last look: its process's CPU time then, its windows by leader, and their panes."""

    session: Session
    runtime: int | None
    windows: dict[int, _Window]
    source_panes: list[SourcePane]


@attrs.frozen
class _Copy:
    """The content of a hardcopy, and the `Look` that was read from it."""

    data: bytes
    look: Look
    #: The CPU time of the session's process when it was made; it grows with every character that is drawn.
    runtime: int | None = None


class ScreenSource:
    """All windows of GNU Screen that belong to this user, in the socket directory that *environ* names."""

    every = 1.0

    def __init__(self, environ: Mapping[str, str], table: process_table.Table | None = None) -> None:
        left_out = ("STY", "WINDOW", "LC_ALL")
        self._env = {name: value for name, value in environ.items() if name not in left_out} | {"LC_ALL": "C.UTF-8"}
        self._environ = environ
        self._table = table or process_table.table()
        self._sessions: list[Session] = []
        self._folder = ""
        self._stamp: object = None
        self._listed_at: float | None = None
        self._seen: dict[int, _Seen] = {}
        self._copies: dict[str, _Copy] = {}
        self._private: Path | None = None
        self._keeps_text: bool | None = None

    # The panes -----------------------------------------------------------------------------------------------

    def look(self) -> Sequence[SourcePane] | None:
        """Return a `SourcePane` for every window of every running session."""
        self._list_sessions()
        self._seen = {session.pid: self._look_at(session) for session in self._sessions}
        seen = self._seen.values()
        files = {_file(one.session, window.number) for one in seen for window in one.windows.values()}
        for gone in self._copies.keys() - files:
            self._copies.pop(gone, None)
        return [source_pane for one in seen for source_pane in one.source_panes]

    def _look_at(self, session: Session) -> _Seen:
        """Return the windows of *session*, read again only if they may have changed since the last look."""
        # Before the rest: changes during the look are then seen at the next one.
        runtime = process_table.runtime(session.pid)
        before = self._seen.get(session.pid)
        known = before.windows if before is not None else {}
        # A process that has not run since has the same windows; but one may have been without its number yet.
        is_same = before is not None and before.session == session and before.runtime == runtime
        if before is not None and is_same and runtime is not None and all(w.number is not None for w in known.values()):
            return before
        windows: dict[int, _Window] = {}
        for leader in process_table.children(session.pid, self._table)[:MAX_SCREEN_WINDOWS]:
            window, start = known.get(leader), self._table.start(leader)
            if window is None or window.start != start or window.number is None:
                window = _Window(start, self._number(leader, session))
            windows[leader] = window
        is_alone = len(windows) == 1
        source_panes = [
            self._source_pane(session, pid, window.number, is_alone=is_alone) for pid, window in windows.items()
        ]
        return _Seen(session, runtime, windows, source_panes)

    def _list_sessions(self) -> None:
        """Read the list of sessions if it may have changed."""
        now = time.monotonic()
        is_fresh = self._listed_at is not None and now - self._listed_at < RELIST_S
        # Before the list: changes during its reading are then seen at the next look.
        stamp = self._stamp_of_folder()
        if is_fresh and stamp == self._stamp and (self._folder or not self._sessions):
            return
        self._listed_at = now
        if shutil.which("screen", path=self._env.get("PATH")) is None:
            self._sessions = []
            return
        # The exit code means nothing: it is 1 without sessions, and 0 or 1 with some, depending on the version.
        done = run(["screen", "-ls"], self._env)
        text = done.output.decode("utf-8", "surrogateescape") if done is not None else ""
        self._sessions = [session for session in session_list.read_list(text) if session.is_attached is not None]
        folder = session_list.read_folder(text)
        if folder != self._folder:
            # The folder was not checked before the list: list once more, for changes since.
            self._folder, stamp = folder, None
        self._stamp = stamp

    def _stamp_of_folder(self) -> object:
        """
        Return a value that changes when a session starts, ends, is attached or detached.

        A socket is executable while its session is attached.
        """
        if not self._folder:
            return None
        try:
            with os.scandir(self._folder) as entries:
                return sorted(
                    (entry.name, entry.stat(follow_symlinks=False).st_mode, entry.inode())
                    for entry in entries
                    if not session_list.is_query_socket(entry.name)
                )
        except OSError:
            return None

    def _number(self, leader: int, session: Session) -> int | None:
        """Return the number of the window of *leader*; None if its program runs as another user."""
        env = self._table.environ(leader)
        number = env.get("WINDOW", "")
        is_own = env.get("STY", "").partition(".")[0] == str(session.pid)
        return int(number) if is_own and is_number(number, 5) else None

    def _source_pane(self, session: Session, leader: int, number: int | None, *, is_alone: bool) -> SourcePane:
        """Return the pane of the window *number*; without a number it can be neither read nor shown."""
        how = ("screen", "-x" if session.is_attached else "-r", session.address)
        return SourcePane(
            id=f"screen/{session.pid}/{number}" if number is not None else f"screen/{session.pid}/p{leader}",
            leader=leader,
            read=(lambda: self._read(session, number)) if number is not None else None,
            read_every=HARDCOPY_EVERY_S,
            is_still=(lambda: self._is_still(session, number)) if number is not None else None,
            tab=str(number) if number is not None else "",
            host_title=session.name,
            attach=how if number is None else (*how, "-p", str(number)),
            # With several windows, the one in front cannot be learnt without disturbing the person.
            visible=bool(session.is_attached) and is_alone,
        )

    # A screen -------------------------------------------------------------------------------------------------

    def _read(self, session: Session, number: int) -> Look | None:
        """Return the screen of one window; None if it is gone. Raise `StuckError` if the session does not respond."""
        path = self._directory() / _file(session, number)
        path.unlink(missing_ok=True)
        command = ["screen", "-S", session.address, "-p", str(number)]
        if run([*command, "-X", "hardcopy", str(path)], self._env) is None or not self._socket(session):
            return None
        end = time.monotonic() + WRITTEN_S
        while not path.exists():
            if time.monotonic() > end:
                raise StuckError("screen")
            time.sleep(0.01)
        data = read_write.read_limited(path, _MAX_HARDCOPY_BYTES)
        before = self._copies.get(path.name)
        if before is None or data != before.data:
            before = self._copy(session, command, path, end)
        path.unlink(missing_ok=True)
        self._copies[path.name] = attrs.evolve(before, runtime=process_table.runtime(session.pid))
        return before.look

    def _is_still(self, session: Session, number: int) -> bool:
        """Return whether nothing was drawn in any window of the session since this one was read."""
        copy = self._copies.get(_file(session, number))
        return copy is not None and copy.runtime is not None and copy.runtime == process_table.runtime(session.pid)

    def _copy(self, session: Session, command: Sequence[str], path: Path, end: float) -> _Copy:
        """Return the screen in the file at *path*, once it is complete; called if it differs from the last one."""
        info = None
        if not self._socket(session) & stat.S_IXUSR:
            # Screen answers after it has finished the hardcopy: the file is complete by then.
            answer = run([*command, "-Q", "info"], self._env)
            info = session_list.read_info(answer.output) if answer is not None else None
        data = read_write.read_limited(path, _MAX_HARDCOPY_BYTES)
        before = None
        while info is None and not (data and data == before) and time.monotonic() < end:
            # It is complete once it does not grow any more.
            time.sleep(0.01)
            before, data = data, read_write.read_limited(path, _MAX_HARDCOPY_BYTES)
        if self._keeps_text is None:
            version = run(["screen", "-v"], self._env)
            self._keeps_text = version is not None and session_list.keeps_text(version.output)
        rows = hardcopy.decode(data, keeps_text=self._keeps_text)
        if info is None:
            # Its size is unknown: text rows end at their last character, but lines across reach the edge.
            columns = max([_DEFAULT_COLUMNS, *map(len, rows)])
            look = Look(rows, cursor_row=len(rows) - 1, cursor_column=0, columns=columns, cursor_visible=False)
        else:
            column, row, columns, count = info
            look = Look(rows[:count], cursor_row=row, cursor_column=column, columns=columns)
        return _Copy(data, look)

    def _socket(self, session: Session) -> int:
        """Return the mode of a session's socket, which is executable while a person is attached; 0 if it is gone."""
        try:
            return Path(self._folder, session.address).lstat().st_mode
        except (OSError, ValueError):
            return 0

    def _directory(self) -> Path:
        """Return the directory for hardcopies, made at the first call: private, with a random name."""
        if self._private is None:
            parent = writer.checked_directory(writer.directory(self._environ), create=True)
            for path in parent.glob("screen-*-*"):
                pid = path.name.split("-")[1]
                # Left by a host that was killed. If its pid is in use again, the directory stays a while longer.
                if is_number(pid, len(pid)) and self._table.start(int(pid[:10])) is None:
                    shutil.rmtree(path, ignore_errors=True)
            self._private = Path(tempfile.mkdtemp(prefix=f"screen-{os.getpid()}-", dir=parent))
        return self._private

    # Requests ------------------------------------------------------------------------------------------------

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Do nothing: Screen has no place for a light."""

    def act(self, request: Request) -> None:
        """Show the window to the people attached to its session."""
        for seen in list(self._seen.values()):
            for source_pane in seen.source_panes:
                if source_pane.id == request.pane and source_pane.tab and self._socket(seen.session) & stat.S_IXUSR:
                    run(["screen", "-S", seen.session.address, "-X", "select", source_pane.tab], self._env)

    def close(self) -> None:
        """Delete the private directory."""
        if self._private is not None:
            with contextlib.suppress(OSError):
                shutil.rmtree(self._private)
            self._private = None


def _file(session: Session, number: int | None) -> str:
    return f"{session.pid}-{number}"
