"""
Open conversations: the agents of one host, recorded on disk so that they can be resumed after a crash.

`<state directory>/open/<host>-<pid>-<started>.json` holds what `tally restore` needs of each pane with an agent: its
conversation, directory, place and tab, and its last question. Each file has one writer. It survives its host. A
terminal that ends closes its panes one by one, so a closed pane is removed only if the host still runs
`ENDED_ON_PURPOSE_S` later. Once the host is gone, `claim` removes a conversation for the one process that starts it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.files import directories, read_write
from tallylight.files.lock import locked
from tallylight.model.errors import TallyError
from tallylight.model.limits import KEPT_S
from tallylight.model.status import Status
from tallylight.snapshot.schema import VERSION, CommandsEntry, Pane, PlaceEntry, Snapshot, Tab
from tallylight.snapshot.values import text
from tallylight.snapshot.writer import SnapshotError, birth_of, checked_directory, is_alive
from tallylight.wire import values

#: The most conversations in one file, and files that are read, the newest first.
MAX_OPEN_CONVERSATIONS, MAX_OPEN_FILES = 256, 64
#: The largest file.
MAX_OPEN_BYTES = 1024 * 1024
#: Seconds that a host must outlive a pane before its conversation counts as ended on purpose.
ENDED_ON_PURPOSE_S = 5.0
#: The shortest time between two writings, and the longest between two of unchanged contents, in seconds.
INTERVAL_S, REWRITE_UNCHANGED_S = 5.0, 600.0

_OTHER = "another process claims what is open there"
_NAME = re.compile(r"\A[a-z]{1,16}-[0-9]{1,10}-[0-9]{1,13}\.json\Z")


def directory(environ: Mapping[str, str]) -> Path:
    """Return the folder with the files of all hosts."""
    return directories.state_dir(environ) / "open"


def is_open(pane: Pane) -> bool:
    """Return whether an agent with a known conversation runs in *pane*."""
    return pane.agent_pid is not None and bool(pane.conversation.agent)


#: The fields of a pane that are recorded unchanged.
_KEPT = ("id", "status", "kind", "title", "project", "since", "agent_pid", "conversation")


def _kept(pane: Pane) -> Pane:
    """Return the recorded part of *pane*."""
    return Pane(
        **{name: getattr(pane, name) for name in _KEPT},
        place=PlaceEntry(tab=pane.place.tab, os_window=pane.place.os_window),
        commands=CommandsEntry(resume=pane.commands.resume),
        agent=pane.conversation.agent,
        question=pane.question or pane.message,
    )


_NO_TAB = Tab()
#: In these statuses the status and the question are written at once: the host may end soon after.
NEEDS_PERSON = (Status.WAITING, Status.ERROR, Status.LIMITED, Status.DOWN)


@attrs.define
class OpenConversations:
    """
    The file of this process as the host *host*. Call `publish` with new panes, and `flush` when `due`.

    *clock* is the wall clock, the `now` of the methods monotonic. A failing disk affects only the file: *error* has the
    reason.
    """

    path: Path
    host: str
    clock: Callable[[], float]
    pid: int = attrs.field(factory=os.getpid)
    error: str = ""
    _started: float = attrs.field(init=False)
    _panes: tuple[Pane, ...] = attrs.field(init=False, default=())
    _tabs: Mapping[str, Tab] = attrs.field(init=False, factory=dict)
    #: The values last written, in the form of `_places`.
    _written: list[tuple[object, ...]] = attrs.field(init=False, factory=list)
    #: Whether they have changed since. `due` is called much more often than anything changes.
    _has_moved: bool = attrs.field(init=False, default=False)
    _written_at: float = attrs.field(init=False, default=-math.inf)
    #: Since when a written pane is missing.
    _missing_since: float | None = attrs.field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self._started = self.clock()

    @classmethod
    def for_host(cls, host: str, environ: Mapping[str, str], clock: Callable[[], float]) -> OpenConversations:
        """Return the file of this process, after removing files older than `KEPT_S`."""
        folder = directory(environ)
        kept = cls(folder / f"{host}-{os.getpid()}-{int(clock() * 1000) % 10**13}.json", host, clock)
        with contextlib.suppress(OSError, TallyError):
            for path in _paths(folder):
                is_old = clock() - path.lstat().st_mtime > KEPT_S
                if is_old and not any(is_alive(one.host.pid, one.host.birth) for one in _read(path)[:1]):
                    path.unlink()
        return kept

    def publish(self, panes: Iterable[Pane], now: float, tabs: Mapping[str, Tab] | None = None) -> None:
        """Take the host's *panes* now, and its *tabs* by their ids if it knows them; write them if that is due."""
        self._tabs = tabs or {}
        self._panes = tuple(_kept(pane) for pane in panes if is_open(pane))[:MAX_OPEN_CONVERSATIONS]
        there = {pane.id for pane in self._panes}
        if all(place[0] in there for place in self._written):
            self._missing_since = None
        elif self._missing_since is None:
            self._missing_since = now
        self._has_moved = self._places() != self._written
        self.flush(now)

    def due(self, now: float) -> float | None:
        """Return when `flush` has something to do; None if it has nothing."""
        if self._missing_since is not None:
            return max(self._missing_since + ENDED_ON_PURPOSE_S, now)
        if not self._panes:
            return None
        return max(self._written_at + (INTERVAL_S if self._has_moved else REWRITE_UNCHANGED_S), now)

    def _places(self) -> list[tuple[object, ...]]:
        """Return the values that are written as soon as they change. All others change with every turn."""
        return [
            (
                pane.id,
                pane.conversation,
                pane.commands.resume,
                pane.place.tab,
                pane.place.os_window,
                self._tabs.get(pane.place.tab),
                (pane.status, pane.question) if pane.status in NEEDS_PERSON else None,
            )
            for pane in self._panes
        ]

    def close(self) -> None:
        """Delete the file: the host ends, but the agents continue in their multiplexer."""
        self._panes = ()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def flush(self, now: float) -> None:
        """Write the file if it is due."""
        due = self.due(now)
        if due is None or due > now:
            return
        self._written_at, self._missing_since = now, None
        self._written, self._has_moved = self._places(), False
        host = Snapshot(
            host=self.host,
            pid=self.pid,
            started=self._started,
            birth=birth_of(self.pid),
            written=self.clock(),
            panes=(),
        )
        kept = [
            Lost(self.path, host, pane, birth_of(pane.agent_pid or 0), self._tabs.get(pane.place.tab, _NO_TAB))
            for pane in self._panes
        ]
        try:
            if kept:
                self.path.parent.parent.mkdir(parents=True, exist_ok=True)
                checked_directory(self.path.parent, create=True)
            _save(self.path, kept)
            self.error = ""
        except (OSError, TallyError) as error:
            self.error = str(error)


@attrs.frozen
class Lost:
    """
    A recorded conversation: *pane* as the file at *path* has it, and *host*, the rest of that file.

    *birth*: when its agent's process began (`birth_of`). *tab*: where it was.
    """

    path: Path
    host: Snapshot
    pane: Pane
    birth: str = ""
    tab: Tab = _NO_TAB

    @property
    def is_over(self) -> bool:
        """Return whether its agent has ended, too: in a multiplexer, or after nohup, it outlives its host."""
        return self.pane.agent_pid is None or not is_alive(self.pane.agent_pid, self.birth)

    @property
    def is_unseen(self) -> bool:
        """Return whether its agent is no longer visible: it has ended, or its kitty window has."""
        return self.is_over or self.host.host == "kitty"

    @property
    def place(self) -> str:
        """Its name among all recorded conversations: its file and its pane."""
        return f"{self.path.stem}:{self.pane.id}"

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of this conversation."""
        return _key(self.pane)


def _key(pane: Pane) -> tuple[str, ...]:
    """Return its session; if unknown, its directory and the command to resume it."""
    found = pane.conversation
    return (found.agent, found.session) if found.session else (found.agent, "", found.cwd, *pane.commands.resume)


def read_lost(environ: Mapping[str, str], live: Sequence[Snapshot]) -> tuple[list[Lost], list[TallyError]]:
    """
    Return the conversations of hosts that are gone, newest file first, each once, and problems with files.

    One that a host of *live* shows is left out: it was resumed. Two agents in one directory of one host stay two, even
    if their conversations are unknown.
    """
    found: dict[tuple[str, ...], list[Lost]] = {}
    # Without either, an agent in the same directory may have another conversation.
    running = {
        _key(pane)
        for host in live
        for pane in host.panes
        if is_open(pane) and (pane.conversation.session or pane.commands.resume)
    }
    kept, problems = read_kept(environ)
    living = {lost.path: is_alive(lost.host.pid, lost.host.birth) for lost in kept}
    for lost in kept:
        if not living[lost.path] and lost.key not in running and lost.is_unseen:
            same = found.setdefault(lost.key, [])
            if not same or (same[0].path == lost.path and not lost.pane.conversation.session):
                same.append(lost)
    return [lost for same in found.values() for lost in same], problems


def read_kept(environ: Mapping[str, str]) -> tuple[list[Lost], list[TallyError]]:
    """Return all recorded conversations, of living hosts too, newest file first, and problems with files."""
    found: list[Lost] = []
    problems: list[TallyError] = []
    try:
        paths = _paths(directory(environ))
    except FileNotFoundError:
        return [], []
    except TallyError as error:
        return [], [error]
    except OSError as error:
        return [], [SnapshotError(directory(environ), str(error))]
    for path in paths:
        try:
            lost = [one for one in _read(path) if one.pane.conversation.agent]
        except FileNotFoundError:
            continue
        except TallyError as error:
            problems.append(error)
        except OSError as error:
            problems.append(SnapshotError(path, str(error)))
        else:
            found += sorted(lost, key=_position)
    return found, problems


def _position(one: Lost) -> tuple[int, int, int]:
    """Return a sort key: the OS window and the tab of a pane."""
    number, place = functools.partial(values.digits, most=9), one.pane.place
    return number(place.os_window), one.tab.position, number(place.tab)


def claim(lost: Iterable[Lost]) -> list[Lost]:
    """Remove *lost* from their files, so that no other process starts them; return those that were still there."""
    claimed: list[Lost] = []
    by_path: dict[Path, list[Lost]] = {}
    for one in lost:
        by_path.setdefault(one.path, []).append(one)
    for path, wanted in by_path.items():
        with locked(checked_directory(path.parent), _OTHER, math.inf):
            try:
                file = _read(path)
            except FileNotFoundError:
                continue
            there, gone = [one.pane for one in file], [one.pane for one in wanted]
            _save(path, [one for one in file if one.pane not in gone])
            claimed += [one for one in wanted if one.pane in there]
    return claimed


def put_back(lost: Lost) -> None:
    """Undo the claim of *lost*: it was not started after all."""
    with locked(checked_directory(lost.path.parent), _OTHER, math.inf):
        try:
            file = _read(lost.path)
        except FileNotFoundError:
            file = []
        _save(lost.path, [*file, lost])


def _save(path: Path, kept: Sequence[Lost]) -> None:
    """Write the conversations *kept* of one host; without any, delete the file."""
    if not kept:
        path.unlink(missing_ok=True)
        return
    snapshot = attrs.evolve(kept[0].host, panes=tuple(one.pane for one in kept))
    births = {one.pane.id: one.birth for one in kept}
    tabs = {one.pane.place.tab: [one.tab.position, text(one.tab.name)] for one in kept if one.tab != _NO_TAB}
    document = snapshot.to_json() | {"births": births, "tabs": tabs}
    data = json.dumps(document, separators=(",", ":")).encode("ascii")
    if len(data) > MAX_OPEN_BYTES:
        raise SnapshotError(path, f"{len(data)} bytes are too many for the open conversations")
    read_write.atomic_write(path, data, 0o600)


def _read(path: Path) -> list[Lost]:
    """Return the conversations in the file at *path*; raise `SnapshotError` for another file."""
    value = values.load(read_write.read_own(path, MAX_OPEN_BYTES))
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise SnapshotError(path, "does not hold open conversations of this version")
    births, tabs = (found if isinstance(found := value.get(key), dict) else {} for key in ("births", "tabs"))
    snapshot = Snapshot.from_json(value, MAX_OPEN_CONVERSATIONS)
    host = attrs.evolve(snapshot, panes=())
    return [
        Lost(path, host, pane, text(births.get(pane.id)), Tab.from_json(tabs.get(pane.place.tab)))
        for pane in snapshot.panes
    ]


def _paths(folder: Path) -> list[Path]:
    """Return the files of hosts in *folder*, the newest first."""
    found = [path for path in checked_directory(folder).iterdir() if _NAME.match(path.name)]
    return sorted(found, key=lambda path: int(path.stem.rpartition("-")[2]), reverse=True)[:MAX_OPEN_FILES]


def offer(environ: Mapping[str, str], now: float) -> int:
    """Return how many resumable conversations were never offered before *now*, and mark them as offered."""
    marker = directory(environ) / "offered"
    lost, _ = read_lost(environ, ())
    try:
        before = values.number(values.load(read_write.read_own(marker, 64)), 0, values.LATEST) or 0.0
    except (FileNotFoundError, TallyError):
        before = 0.0
    new = sum(one.host.written > before for one in lost)
    if new:
        read_write.atomic_write(marker, json.dumps(now).encode("ascii"), 0o600)
    return new
