"""
Reading and writing files: reading is bounded, writing is by rename.

A reader sees either the old file or the new one, and a failure leaves the old one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


#: The most bytes of a configuration or agent file; real ones are far smaller.
MAX_CONFIG_BYTES = 1 << 20


class FileError(TallyError):
    """Raised for a file or a directory that cannot be used, with *path* and *problem*."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


#: O_NONBLOCK: a FIFO is opened at once, also without a writer.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_FILE = "is not a regular file"
#: Inode, time of change and size of a file: another value once the file has been changed or replaced.
Stamp = tuple[int, int, int]


def stamp(path: Path, *, follows: bool = True) -> Stamp | None:
    """Return the stamp of *path*, with *follows* that of a link's target; None if it cannot be read."""
    try:
        found = path.stat(follow_symlinks=follows)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextlib.contextmanager
def explained(what: str, then: str = "") -> Iterator[None]:
    """Raise a `TallyError` in place of an `OSError`: *what* failed and why, and *then* what follows from it."""
    try:
        yield
    except OSError as error:
        raise TallyError(f"{what}: {error.strerror or error}{then}") from None


def read_limited(path: Path, limit: int = MAX_CONFIG_BYTES) -> bytes:
    """
    Return the bytes of a regular file; raise OSError if it cannot be read, `FileError` for more than *limit* bytes.

    Anything but a regular file raises `FileError`, too: to read a FIFO or a device could hang a terminal.
    """
    try:
        fd = os.open(path, _READ)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise FileError(path, _NO_FILE) from None
        raise
    try:
        return _bounded(path, fd, os.fstat(fd), limit)
    finally:
        os.close(fd)


def read_own(path: Path, limit: int, max_age_s: float | None = None) -> bytes:
    """
    Return the bytes of a file like `read_limited`, but refuse a file that another user can have written.

    Directory and file must be this user's, neither may be a link, and no other user may be able to change them. Both
    are checked through their descriptors, so that they cannot be exchanged before the read. A file changed more than
    *max_age_s* seconds ago, or so far in the future, is refused, too.
    """
    parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        folder = os.fstat(parent)
        if problem := foreign(folder):
            raise FileError(path.parent, problem)
        fd = os.open(path.name, _READ | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a socket
            raise FileError(path, _NO_FILE) from None
        error.filename = str(path)
        raise
    finally:
        os.close(parent)
    try:
        found = os.fstat(fd)
        # In a directory that others cannot enter, a file may have any mode.
        if problem := foreign(found, is_closed=not folder.st_mode & 0o011):
            raise FileError(path, problem)
        if max_age_s is not None and abs(time.time() - found.st_mtime) > max_age_s:
            raise FileError(path, f"was not written within {max_age_s:g} seconds")
        return _bounded(path, fd, found, limit)
    finally:
        os.close(fd)


def own_or_nothing(path: Path, limit: int) -> bytes:
    """Return the bytes of a file like `read_own`; empty if it cannot be read."""
    try:
        return read_own(path, limit)
    except (OSError, TallyError):
        return b""


def foreign(found: os.stat_result, *, is_closed: bool = False) -> str:
    """
    Return why another user can have written a file or directory; empty if it is this user's alone.

    *is_closed*: other users cannot reach it, whatever its own mode.
    """
    if found.st_uid != os.getuid():
        return f"belongs to the user {found.st_uid}, so other users can change it; remove it"
    return "can be changed by other users; remove it" if found.st_mode & 0o022 and not is_closed else ""


def _bounded(path: Path, fd: int, found: os.stat_result, limit: int) -> bytes:
    """Return the bytes of the open file *fd*; raise `FileError` unless it is regular and within *limit*."""
    # Checked before a file object is made: its error would name the descriptor.
    if not stat.S_ISREG(found.st_mode):
        raise FileError(path, "is a directory, not a file" if stat.S_ISDIR(found.st_mode) else _NO_FILE)
    with os.fdopen(fd, "rb", closefd=False) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FileError(path, f"is larger than {limit} bytes, the limit, so it is not read")
    return data


def atomic_write(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """
    Write *data* to *path* by rename: a reader sees either the old file or the new one; a failure leaves the old one.

    *durable* waits until the bytes are on the disk. The snapshot, written many times a second, does not.
    """
    import tempfile  # slow to load, and not needed by commands that only read

    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".new")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)
            if durable:
                os.fsync(fd)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def read_text(path: Path) -> str:
    """Return the text of *path*. Bytes that are not UTF-8 become replacement characters, which no name allows."""
    try:
        return read_limited(path).decode("utf-8", "replace")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TallyError(f"{path}: cannot be read: {error.strerror}") from None


def text_or_nothing(path: Path) -> str:
    """Return the text of *path* like `read_text`; empty if it cannot be read."""
    try:
        return read_text(path)
    except (OSError, TallyError):
        return ""


def rewrite(path: Path, data: bytes) -> None:
    """
    Replace the content of a user's file: follow links to it, and keep its mode, its owner and its other names.

    It is renamed if that keeps everything. A file with a second hard link, of another owner, or in a directory that is
    not writable, is overwritten in place: a rename would make another file.
    """
    target = Path(os.path.realpath(path))
    try:
        info = target.stat()
    except FileNotFoundError:
        atomic_write(target, data)
        return
    if info.st_nlink == 1 and info.st_uid == os.geteuid():
        try:
            atomic_write(target, data, stat.S_IMODE(info.st_mode))
            return
        except OSError as error:
            # EBUSY: the file itself is a mount point, as in a container.
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY):
                raise
    # Unbuffered: bytes that could not be written must not be written again at the close.
    with target.open("r+b", buffering=0) as file:
        before = file.read()
        try:
            _overwrite(file, data)
        except OSError:
            # The disk is full: the old bytes still fit.
            _overwrite(file, before)
            raise


def _overwrite(file: BinaryIO, data: bytes) -> None:
    """Write *data* over the whole content of *file*."""
    file.seek(0)
    rest = data
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
    os.fsync(file.fileno())
