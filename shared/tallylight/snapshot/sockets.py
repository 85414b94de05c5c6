"""
Sockets: how another process asks a host something and is answered, told apart by what the kernel says.

`<runtime directory>/tallylight/<host>-<pid>.sock`, beside the host's snapshot, is a stream socket that only this user
can reach. Who is at the other end is what `SO_PEERCRED` says (https://man7.org/linux/man-pages/man7/unix.7.html), and
nothing that either side sends: a host learns which process asks, and who asks learns that the host listens, and not
something that has put a socket in its place. Where the system does not say it, there is no socket.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import select
import socket
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from tallylight.model.errors import TallyError
from tallylight.model.limits import MAX_FILES
from tallylight.snapshot.requests import folder_of
from tallylight.snapshot.writer import SnapshotError, checked_directory

#: Connections that wait to be taken.
BACKLOG = 16
#: Bytes of an address (`sun_path`), without the zero at its end.
MAX_ADDRESS = 107
#: Python has no name for it yet: https://man7.org/linux/man-pages/man7/unix.7.html
_SO_PEERPIDFD = 77
_CREDENTIALS = struct.Struct("iII")
_FILE = re.compile(r"\A[a-z]{1,16}-([0-9]{1,10})\.sock\Z")


class SocketError(TallyError):
    """A host that cannot be asked, and why."""


@attrs.frozen
class Peer:
    """The process at the other end, by the kernel's word: the one that connected, or that began to listen."""

    pid: int
    uid: int


def path_of(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the host *name*, `kitty-4711`, listens; `TallyError` if that is no name of a host."""
    return folder_of(name, environ).with_suffix(".sock")


def listen(host: str, environ: Mapping[str, str] = os.environ) -> socket.socket:
    """
    Listen as the host *host* in this process; a socket that never blocks. What hosts that are gone left is removed.

    `SnapshotError` if the directory cannot be used or is not this user's alone, `SocketError` if it is unknown who
    connects, `OSError` for all else.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        raise SocketError("this system cannot identify who connects to a socket, so scripts are refused")
    path = path_of(f"{host}-{os.getpid()}", environ)
    try:
        _sweep(checked_directory(path.parent, create=True))
    except OSError as error:
        raise SnapshotError(path.parent, error.strerror or str(error)) from None
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        made.setblocking(False)
        with _address(path) as address:
            made.bind(address)
        path.chmod(0o600)
        made.listen(BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def connect(name: str, timeout_s: float, environ: Mapping[str, str] = os.environ) -> socket.socket:
    """
    A connection to the host *name*, `kitty-4711`, with calls of at most *timeout_s* each; `SocketError` if none.

    The directory and the socket must be this user's alone, and the process that listens the one that the name says.
    """
    path = path_of(name, environ)
    try:
        with contextlib.ExitStack() as closing:
            made = closing.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC))
            checked_directory(path.parent)
            found = path.lstat()
            if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
                raise SocketError(f"{path}: is not a socket of this user; remove it")
            made.settimeout(timeout_s)
            with _address(path) as address:
                made.connect(address)
            there = peer(made)
            if there is None or there.uid != os.getuid() or f"{there.pid}" != name.rpartition("-")[2]:
                raise SocketError(f"{path}: another process than {name} listens there; nothing was asked")
            closing.pop_all()
            return made
    except (FileNotFoundError, ConnectionRefusedError):
        raise SocketError(f"{name} does not accept scripts; is it running, and the same version?") from None
    except OSError as error:
        raise SocketError(f"{path}: {error.strerror or error}") from None
    except SnapshotError as error:
        raise SocketError(str(error)) from None


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """What the kernel takes for *path*, which may be longer than the address of a socket can be."""
    if len(os.fsencode(path)) <= MAX_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def peer(connection: socket.socket) -> Peer | None:
    """Who is at the other end; None if the kernel does not say, as of a process that this one could not see."""
    try:
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except (OSError, AttributeError):
        return None
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return Peer(pid, uid) if pid > 0 else None


def listener(path: str, timeout_s: float) -> int:
    """Return the process that listens at *path*; 0 if there is none, or this one cannot see it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as made:
        made.settimeout(timeout_s)
        made.connect(path)
        found = peer(made)
        return found.pid if found is not None else 0
    return 0


def has_ended(connection: socket.socket) -> bool:
    """
    Whether the process that connected is known to have ended, so that another one may have its number.

    Where the kernel knows nothing of `SO_PEERPIDFD` (Linux before 6.5), that is unknown.
    """
    try:
        fd = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as error:
        return error.errno not in (errno.ENOPROTOOPT, errno.EOPNOTSUPP)
    try:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        return bool(poller.poll(0))
    finally:
        os.close(fd)


def _sweep(folder: Path) -> None:
    """Remove the sockets without a listener."""
    for path in itertools.islice(folder.iterdir(), MAX_FILES):
        if _FILE.match(path.name) is None:
            continue
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
            if not stat.S_ISSOCK(path.lstat().st_mode):
                continue
            trial.setblocking(False)
            try:
                with _address(path) as address:
                    trial.connect(address)
            except ConnectionRefusedError:
                path.unlink()
