"""
Answered: the questions that were answered, for agents that were not seen to continue since.

A note is made before anything is typed, so a process that dies while it types leaves the question answered. Only kitty
types into its windows, and keeps its notes `InProcess`. Many processes reach the panes of tmux, GNU Screen and WezTerm,
and share their notes `OnDisk`: `<runtime directory>/tallylight/answered/` holds a file for each agent. A lock on that
directory lets one process note at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from tallylight.files import read_write
from tallylight.files.lock import locked
from tallylight.files.read_write import explained
from tallylight.model.errors import TallyError
from tallylight.snapshot.writer import checked_directory, directory

#: The pane and the agent's process: its number, and when it began.
Agent = tuple[str, int, int]
#: Agents with a remembered answer; beyond that, the oldest answer is forgotten.
MAX_NOTES = 1000
#: Seconds after which a note is forgotten although nobody saw the agent continue.
OLD_S = 86400.0
#: Seconds that another process has to make its note.
NOTE_LOCK_S = 5.0
#: Bytes of one file.
_MAX_FILE_BYTES = 4096


@attrs.frozen
class Note:
    """The *fingerprint* of the screen that was answered, and when, in monotonic nanoseconds of this machine."""

    fingerprint: str
    at: int


class InProcess:
    """The notes of a process that alone types into its panes. Several threads may use them."""

    def __init__(self) -> None:
        self._notes: dict[Agent, Note] = {}
        self._lock = threading.Lock()

    def read(self, agent: Agent) -> Note | None:
        """Return the last answer to *agent*; None if there is none."""
        return self._notes.get(agent)

    def add(self, agent: Agent, fingerprint: str) -> bool:
        """Note that *fingerprint* is answered now; False if that is noted already."""
        with self._lock:
            found = self._notes.get(agent)
            if found is not None and found.fingerprint == fingerprint:
                return False
            self._notes.pop(agent, None)
            while len(self._notes) >= MAX_NOTES:
                del self._notes[next(iter(self._notes))]
            self._notes[agent] = Note(fingerprint, time.monotonic_ns())
        return True

    def forget(self, agent: Agent, note: Note) -> None:
        """Forget *note*, since the agent continues, if it is still the last one."""
        with self._lock:
            if self._notes.get(agent) == note:
                del self._notes[agent]


class OnDisk:
    """The notes of all processes of this user that reach panes from outside. Several threads may use them."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._folder = directory(environ) / "answered"

    def read(self, agent: Agent) -> Note | None:
        """Return the last answer to *agent*; None if there is none, or it is unreadable."""
        found = _read(self._folder / _name(agent))
        return found[1] if found is not None else None

    def add(self, agent: Agent, fingerprint: str) -> bool:
        """
        Note that *fingerprint* is answered now; False if that is noted already.

        Raises `TallyError` where it cannot be noted: then nothing may be typed.
        """
        with explained(str(self._folder)):
            checked_directory(self._folder.parent, create=True)
            checked_directory(self._folder, create=True)
            with self._held():
                if (note := self.read(agent)) is not None and note.fingerprint == fingerprint:
                    return False
                self._make_room()
                pane, pid, start = agent
                fields = (fingerprint, time.monotonic_ns(), pid, start, pane)
                data = "\n".join(map(str, fields)).encode()
                read_write.atomic_write(self._folder / _name(agent), data, 0o600, durable=False)
        return True

    def forget(self, agent: Agent, note: Note) -> None:
        """Forget *note*, since the agent continues, if it is still the last one."""
        with contextlib.suppress(OSError, TallyError), self._held():
            if self.read(agent) == note:
                (self._folder / _name(agent)).unlink()

    def all(self) -> Iterator[tuple[Agent, Note]]:
        """Yield every agent that was answered and was not seen to continue."""
        try:
            paths = list(self._folder.iterdir())
        except OSError:
            return
        yield from filter(None, map(_read, paths))

    def _held(self) -> contextlib.AbstractContextManager[None]:
        """Lock the notes against other processes."""
        return locked(self._folder, "another process answers at this moment", NOTE_LOCK_S)

    def _make_room(self) -> None:
        """Remove files that are no valid note, and the oldest notes where there are too many."""
        ages: list[tuple[int, Path]] = []
        for path in self._folder.iterdir():
            found = _read(path)
            if found is None:
                path.unlink(missing_ok=True)
            else:
                ages.append((found[1].at, path))
        for _, path in sorted(ages)[: max(0, len(ages) - MAX_NOTES + 1)]:
            path.unlink(missing_ok=True)


def _name(agent: Agent) -> str:
    pane, pid, start = agent
    return hashlib.sha256(f"{pid} {start} {pane}".encode()).hexdigest()[:32]


def _read(path: Path) -> tuple[Agent, Note] | None:
    """Return the note in *path*; None if it is none, too old, or from before this machine was started."""
    try:
        fields = read_write.read_own(path, _MAX_FILE_BYTES).decode().split("\n", 4)
        fingerprint, (at, pid, start), pane = fields[0], map(int, fields[1:4]), fields[4]
    except (OSError, TallyError, ValueError, IndexError):
        return None
    is_current = 0 <= time.monotonic_ns() - at < OLD_S * 1e9
    return ((pane, pid, start), Note(fingerprint, at)) if is_current else None
