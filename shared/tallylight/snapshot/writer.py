"""
The snapshot file: one host's whole current state as one JSON file, written and read.

A file has one writer, so there is no lock, no socket and no daemon. A host publishes its state; the writer replaces the
file by rename only after a change, at most five times a second. Readers trust nothing in it: sizes are bounded, and
types are checked. A file of a dead writer is skipped, and one that its host has not written is reported (`lives`).

On a full disk the last file stays. It is marked in place as out of date, which needs no room; readers say so.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tallylight.files import read_write
from tallylight.files.lock import locked
from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.model.limits import MAX_HOST_FILES as MAX_HOST_FILES
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.snapshot.lives import CURRENT, LIFE_TRIES, STALE, fill, has_written, seal, unwritable
from tallylight.snapshot.lives import birth_of as birth_of
from tallylight.snapshot.lives import is_alive as is_alive
from tallylight.snapshot.lives import is_ours as is_ours
from tallylight.snapshot.schema import OWN, VERSION, MachineEntry, Pane
from tallylight.snapshot.schema import Snapshot as Snapshot
from tallylight.wire import values

#: The most bytes of one file. A pane with one agent has about 1 kB.
MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024
#: The seconds until the next try after the disk refused.
RETRY_WRITE_S = 5.0
#: The mark of an out-of-date file is in its first so many bytes.
STALE_MARK_BYTES = 512

_NAME = re.compile(r"\A([a-z]{1,16})-([0-9]{1,10})\.json\Z")
_ASIDE = re.compile(r"\A([a-z]{1,16})-[0-9]{1,10}\.former\Z")
_LEFTOVER = re.compile(r"\A\.([a-z]{1,16})-([0-9]{1,10})\.json\.\w+\.new\Z")


class SnapshotError(read_write.FileError):
    """Raised for a snapshot, or the directory of all snapshots, that cannot be used; it says what to do."""

    remedy = "remove it; it will be written again"


class StaleError(SnapshotError):
    """The problem of a file that may be older than its host's present state."""

    remedy = "make room there, or make it writable"


class UnsealedError(SnapshotError):
    """The problem of a file without proof of its writer: by another program, or by a host of an older version."""

    remedy = "restart that terminal or host if it ran before an update, else remove it"


def directory(environ: Mapping[str, str]) -> Path:
    """Return the directory of all snapshots: `$XDG_RUNTIME_DIR/tallylight`, else one of this user's below `/tmp`."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and Path(runtime).is_dir():
        return Path(runtime, "tallylight")
    import tempfile

    return Path(tempfile.gettempdir(), f"tallylight-{os.getuid()}")


def checked_directory(path: Path, *, create: bool = False) -> Path:
    """
    Return *path* if it is a directory that only this user can change; raise `SnapshotError` if not.

    The fallback is in a directory where another user could have made it first.
    """
    if create:
        try:
            path.mkdir(mode=0o700, parents=False, exist_ok=True)
        except FileExistsError:
            raise SnapshotError(path, "is not a directory; remove it") from None
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise SnapshotError(path, "is not a directory; remove it")
    if problem := read_write.foreign(found):
        raise SnapshotError(path, problem)
    return path


@contextlib.contextmanager
def held(folder: Path, busy: str, patience_s: float = 0.0) -> Iterator[None]:
    """
    Make *folder* and lock it against our other processes.

    Raises `SnapshotError` if other users can change it, and `BusyError` with the text *busy* if another process holds
    the lock for more than *patience_s*.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(checked_directory(folder, create=True), busy, patience_s):
        yield


@attributes.define
class Epoch:
    """
    Converts monotonic times into seconds since the epoch, by the wall clock *clock*.

    The same time gives the same result until the clock is set, so that an unchanged pane stays equal to the written
    one. The clock is read once for each *now*: a moment later, on a busy machine, the two differ.
    """

    clock: Callable[[], float]
    _offset: float | None = None
    _looked_at: float | None = None

    def __call__(self, at: float, now: float) -> float:
        """Return the monotonic time *at* in seconds since the epoch; *now* is the present monotonic time."""
        if self._looked_at is None or now > self._looked_at:
            self._looked_at = now
            offset = self.clock() - now
            if self._offset is None or abs(offset - self._offset) > 1:
                self._offset = offset
        assert self._offset is not None
        return round(self._offset + at, 3)


@attributes.define
class SnapshotWriter:
    """
    Keeps one snapshot file up to date. `publish` takes the state; call `flush` at the time of `due` at the latest.

    *clock* is the wall clock, for the readers; the `now` of the methods is monotonic. Errors of the disk are kept in
    *error* and never raised: a full disk may cost the snapshot, but not the lights.
    """

    path: Path
    host: str
    clock: Callable[[], float]
    min_interval: float = 0.2
    pid: int = attributes.field(factory=os.getpid)
    started: float = 0.0
    #: As in `Snapshot`; a change of them is written, too.
    allow: str = OWN
    withheld: tuple[str, ...] = ()
    machines: tuple[MachineEntry, ...] = ()
    error: str = ""
    #: Whether readers in this process get the panes as they are, and need not parse what it wrote (`newest`).
    is_shared: bool = False
    _birth: str = attributes.field(init=False, default="")
    _panes: tuple[Pane, ...] | None = attributes.field(init=False, default=None)
    _as_of: float = attributes.field(init=False, default=0.0)
    #: The `_state` that was written last.
    _written: tuple[object, ...] = attributes.field(init=False, default=())
    #: Each written pane with its JSON, by identity: most are the same objects the next time.
    _texts: dict[int, tuple[Pane, str]] = attributes.field(init=False, factory=dict)
    _last: float | None = attributes.field(init=False, default=None)
    #: The memory file with a copy of the written text, for readers to compare.
    _sealed: int | None = attributes.field(init=False, default=None)
    #: Whether the file is out of date because of an error of the disk.
    _is_stale: bool = attributes.field(init=False, default=False)
    epoch: Epoch = attributes.field(init=False)

    def __attrs_post_init__(self) -> None:
        import tempfile  # noqa: F401 - for the first write, which may be on a terminal's thread and reads no disk

        self.epoch = Epoch(self.clock)

    @classmethod
    def for_host(cls, host: str, environ: Mapping[str, str], clock: Callable[[], float]) -> SnapshotWriter:
        """Return the writer of this process in the directory of all snapshots; files of dead writers are removed."""
        folder = directory(environ)
        writer = cls(folder / f"{host}-{os.getpid()}.json", host, clock, started=clock())
        try:
            sweep(checked_directory(folder, create=True))
        except (OSError, SnapshotError) as error:
            writer.error = writer._words(error)
        return writer

    def publish(self, panes: Sequence[Pane], now: float, as_of: float | None = None) -> None:
        """
        Take the host's state; write it if it has changed and the last write is long enough ago.

        *as_of* is the time of that state, in seconds since the epoch; None is now.
        """
        self._panes = tuple(panes[:MAX_PANES])
        self._as_of = self.clock() if as_of is None else as_of
        self.flush(now)

    def due(self, now: float) -> float | None:
        """Return when `flush` has something to write; None if it has not."""
        if self._panes is None or (self._state == self._written and not self._is_stale):
            return None
        wait = max(RETRY_WRITE_S, self.min_interval) if self.error else self.min_interval
        return now if self._last is None else max(now, self._last + wait)

    def flush(self, now: float) -> bool:
        """Write the pending state if it is due; return whether it was written."""
        due = self.due(now)
        if due is None or due > now or self._panes is None:
            return False
        self._last, state = now, self._state
        try:
            self._write(self._panes)
        except (OSError, SnapshotError) as error:
            self.error = self._words(error)
            self._is_stale = True
            _OWN.pop(self.path, None)
            self._mark_stale()
            return False
        self.error, self._is_stale = "", False
        self._written = state
        return True

    def _mark_stale(self) -> None:
        """Mark the last file as out of date."""
        with contextlib.suppress(OSError):
            fd = os.open(self.path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if (at := os.pread(fd, STALE_MARK_BYTES, 0).find(CURRENT)) >= 0:
                    os.pwrite(fd, STALE, at)
            finally:
                os.close(fd)

    @property
    def _state(self) -> tuple[object, ...]:
        """All values that are written when one of them changes."""
        return self._panes, self.allow, self.withheld, self.machines

    def leave(self) -> None:
        """Put the file aside for the next run, hidden from readers: the host ends, its agents may go on."""
        if self._written and self._written[0]:
            with contextlib.suppress(OSError):
                _put_aside(self.path)
        self.close()

    def close(self) -> None:
        """Remove the file: the host ends."""
        self._panes, self._written = None, ()
        self._texts = {}
        _OWN.pop(self.path, None)
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self.error = self._words(error)
        self._replace_sealed(None)

    def _words(self, error: OSError | SnapshotError) -> str:
        """Return the error in words that stay the same: without the name of the temporary file."""
        words = isinstance(error, OSError) and error.strerror
        return f"{self.path.parent}: {words}" if words else str(error)

    def _write(self, panes: tuple[Pane, ...]) -> None:
        """Write *panes*, with a sealed copy in memory that proves who wrote them."""
        sealed = seal()
        try:
            self._write_sealed(panes, sealed)
        except BaseException:
            if sealed is not None:
                os.close(sealed)
            raise
        self._replace_sealed(sealed)

    def _write_sealed(self, panes: tuple[Pane, ...], sealed: int | None) -> None:
        """Replace the file by one with *panes*, and fill the memory file *sealed* with the same."""
        if not self._birth:
            self._birth = birth_of(self.pid)
        snapshot = Snapshot(
            host=self.host,
            pid=self.pid,
            started=self.started,
            birth=self._birth,
            written=self._as_of,
            sealed=sealed,
            allow=self.allow,
            withheld=self.withheld,
            machines=self.machines,
            panes=(),
        )
        self._texts = {id(pane): self._texts.get(id(pane)) or (pane, _dumps(pane.to_json())) for pane in panes}
        # The list of panes is last.
        head = _dumps(snapshot.to_json()).removesuffix("]}")
        data = f"{head}{','.join(self._texts[id(pane)][1] for pane in panes)}]}}".encode("ascii")
        if len(data) > MAX_SNAPSHOT_BYTES:
            raise SnapshotError(self.path, f"{len(data)} bytes are too many for a snapshot")
        checked_directory(self.path.parent, create=True)
        if sealed is not None:
            fill(sealed, data)
        if self.is_shared:
            # Before the file: a reader that sees a new file must not get the panes of the one before.
            _OWN[self.path] = attributes.evolve(snapshot, panes=panes)
        read_write.atomic_write(self.path, data, 0o600, durable=False)

    def _replace_sealed(self, sealed: int | None) -> None:
        """Replace the memory file that readers compare with by *sealed*."""
        before, self._sealed = self._sealed, sealed
        if before is not None:
            os.close(before)


#: The last snapshot of each file that the hosts of this process write.
_OWN: dict[Path, Snapshot] = {}


def newest(path: Path) -> Snapshot | SnapshotError | None:
    """Return the snapshot that a host of this process wrote to *path*, without reading it; else as `read_living`."""
    found = _OWN.get(path)
    return found if found is not None and found.pid == os.getpid() else read_living(path)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def read_snapshots(folder: Path) -> tuple[list[Snapshot], list[SnapshotError]]:
    """Return the snapshots of all living hosts, and the problems of unreadable files."""
    try:
        names = stamps(folder)
        found = [read_living(folder / name) for name in names]
    except SnapshotError as error:
        return [], [error]
    snapshots = [one for one in found if isinstance(one, Snapshot)]
    problems = [one for one in found if isinstance(one, SnapshotError)]
    return snapshots, [*problems, *stale(folder, snapshots)]


def read_living(path: Path) -> Snapshot | SnapshotError | None:
    """
    Return the snapshot in a file, or its problem; None if its writer is dead, or the file is gone.

    A file is a problem if its host has another copy in memory. One that is just being replaced is read again.
    """
    for _ in range(LIFE_TRIES):
        try:
            data = _data(path)
            found = _parsed(path, data)
        except FileNotFoundError:
            return None
        except SnapshotError as error:
            return error
        if not is_alive(found.pid, found.birth):
            return None
        if has_written(found.pid, found.birth, found.sealed, data):
            return found
    if found.sealed is None:
        return UnsealedError(path, f"has no proof that {found.name} wrote it")
    return SnapshotError(path, f"was not written by {found.name}, but by another program")


def stale(folder: Path, snapshots: Sequence[Snapshot]) -> list[StaleError]:
    """Return a problem for each of *snapshots* that may be out of date, and for a *folder* that cannot be written."""
    errors = [
        StaleError(folder / f"{one.name}.json", f"its host cannot write it; it is {_as_of([one])}")
        for one in snapshots
        if one.stale
    ]
    if why := unwritable(str(folder if folder.exists() else folder.parent)):
        what = (
            f"the state of these terminals is {_as_of(snapshots)}" if snapshots else "no terminal can write its state"
        )
        errors.append(StaleError(folder, f"{why}; {what}"))
    return errors


def _as_of(snapshots: Sequence[Snapshot]) -> str:
    """Return the time of the newest of *snapshots* in words: `as of 12:00:00`."""
    written = max((one.written for one in snapshots), default=0.0)
    return f"as of {time.strftime('%H:%M:%S', time.localtime(written))}" if written else "of an unknown time"


def stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """
    Return the names of the snapshots in *folder*, at most `MAX_HOST_FILES`, each with a stamp that changes at every
    write.

    Raises SnapshotError if the directory cannot be read or is not this user's alone; no directory has no names.
    """
    found: dict[str, tuple[int, int, int]] = {}
    try:
        names = sorted(path.name for path in checked_directory(folder).iterdir() if _NAME.match(path.name))
        for name in names[:MAX_HOST_FILES]:
            with contextlib.suppress(FileNotFoundError):
                status = (folder / name).lstat()
                found[name] = status.st_mtime_ns, status.st_ino, status.st_size
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SnapshotError(folder, error.strerror or str(error)) from None
    return found


def read(path: Path) -> Snapshot:
    """Return the snapshot in a file, also of a dead writer. Raises SnapshotError; FileNotFoundError if it is gone."""
    return _parsed(path, _data(path))


def _data(path: Path) -> bytes:
    """Return the content of a file; raise `FileNotFoundError` if it is gone, `SnapshotError` if it cannot be read."""
    try:
        return read_write.read_own(path, MAX_SNAPSHOT_BYTES)
    except read_write.FileError as error:
        raise SnapshotError(error.path, error.problem) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SnapshotError(path, error.strerror or str(error)) from None


def _parsed(path: Path, data: bytes) -> Snapshot:
    """Return the snapshot in *data*; raise `SnapshotError` for anything else."""
    try:
        found_json = values.load(data)
    except DecodeError as error:
        raise SnapshotError(path, error.detail) from None
    if not isinstance(found_json, dict):
        raise SnapshotError(path, "is not a JSON object")
    if found_json.get("version") != VERSION:
        raise SnapshotError(path, f"has version {found_json.get('version')!a:.20}, this program reads {VERSION}")
    snapshot = Snapshot.from_json(found_json, MAX_PANES)
    if path.stem != snapshot.name:
        raise SnapshotError(path, "does not match its name")
    return snapshot


def aside(folder: Path, host: str) -> list[Path]:
    """Return the files of earlier runs of *host* that were put aside in *folder*."""
    return [path for path in folder.iterdir() if (found := _ASIDE.match(path.name)) and found[1] == host]


def _put_aside(path: Path) -> None:
    """Rename the file, so that only a later run of the host reads it."""
    os.utime(path.replace(path.with_suffix(".former")))


def sweep(folder: Path) -> list[Path]:
    """Remove the files of dead writers of this user in *folder*, or put their snapshots aside; return the paths."""
    swept: list[Path] = []
    for path in sorted(folder.iterdir())[: 4 * MAX_HOST_FILES]:
        try:
            if leftover := _LEFTOVER.match(path.name):
                found = path.lstat()
                # A half-written file has no birth of its writer, only the number of its process in the name.
                is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
                if not is_own or is_ours(int(leftover[2])) is not False:
                    continue
                path.unlink()
            elif _NAME.match(path.name):
                snapshot = read(path)
                if is_alive(snapshot.pid, snapshot.birth):
                    continue
                if snapshot.panes and not snapshot.machines:
                    _put_aside(path)
                else:
                    path.unlink()
            else:
                continue
            swept.append(path)
        except (OSError, SnapshotError):
            continue
    return swept
