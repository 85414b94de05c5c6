"""
Sockets: other processes ask a host something and get an answer. The kernel identifies both sides.

`<runtime directory>/tallylight/<host>-<pid>.sock`, next to the host's snapshot, is a stream socket that only this user
can reach. `SO_PEERCRED` names the other end (https://man7.org/linux/man-pages/man7/unix.7.html); what either side sends
does not count. So a host knows which process asks, and the caller knows that the host itself listens. On a system
without it there is no socket.
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
from typing import TypeGuard

import attrs

from tallylight.model.errors import TallyError
from tallylight.model.limits import MAX_HOST_FILES
from tallylight.snapshot.writer import SnapshotError, checked_directory, directory

#: The most connections that wait to be accepted.
MAX_BACKLOG = 16
#: The most bytes of an address (`sun_path`), without the zero at its end.
MAX_ADDRESS = 107
#: Python has no name for it yet: https://man7.org/linux/man-pages/man7/unix.7.html
_SO_PEERPIDFD = 77
_CREDENTIALS = struct.Struct("iII")
_HOST = re.compile(r"\A[a-z]{1,16}-[0-9]{1,10}\Z")


class SocketError(TallyError):
    """Raised for a host that cannot be asked."""


@attrs.frozen
class Peer:
    """The process at the other end, as named by the kernel: the one that connected, or that listens."""

    pid: int
    uid: int


def is_host(value: object) -> TypeGuard[str]:
    """Return whether *value* names a host: `kitty-4711`."""
    return isinstance(value, str) and _HOST.match(value) is not None


def path_of(name: str, environ: Mapping[str, str] = os.environ, ending: str = ".sock") -> Path:
    """Return a socket of the host *name*, `kitty-4711`; raise `SocketError` if that is no name of a host."""
    if not is_host(name):
        raise SocketError(f"{name[:40]!r} is not the name of a host; they are like kitty-4711")
    return directory(environ) / f"{name}{ending}"


def listen(host: str, environ: Mapping[str, str] = os.environ) -> socket.socket:
    """
    Return a non-blocking socket that listens as the host *host* in this process.

    Raises `SocketError` if the system does not identify callers, and the errors of `bound`.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        raise SocketError("this system cannot identify who connects to a socket, so scripts are refused")
    made = bound(path_of(f"{host}-{os.getpid()}", environ), socket.SOCK_STREAM)
    made.listen(MAX_BACKLOG)
    return made


def bound(path: Path, kind: int) -> socket.socket:
    """
    Return a non-blocking socket of this *kind* at *path*, for this user alone. Sockets of gone hosts are removed.

    Raises `SnapshotError` if the directory cannot be used or is not this user's alone, `OSError` for all else.
    """
    try:
        _sweep(checked_directory(path.parent, create=True), path.suffix, kind)
    except OSError as error:
        raise SnapshotError(path.parent, error.strerror or str(error)) from None
    path.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC)
    try:
        made.setblocking(False)
        with address_of(path) as address:
            made.bind(address)
        path.chmod(0o600)
    except BaseException:
        made.close()
        raise
    return made


def connect(name: str, timeout_s: float, environ: Mapping[str, str] = os.environ) -> socket.socket:
    """
    Return a connection to the host *name*, `kitty-4711`, with calls of at most *timeout_s*, or raise `SocketError`.

    The directory and the socket must be this user's alone, and the listening process the one in the name.
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
            with address_of(path) as address:
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
def address_of(path: Path) -> Iterator[str]:
    """Yield an address that the kernel takes for *path*, which may be longer than an address of a socket."""
    if len(os.fsencode(path)) <= MAX_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def peer(connection: socket.socket) -> Peer | None:
    """Return the process at the other end; None if the kernel does not name it, as it is hidden from this one."""
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
    Return whether the process that connected is known to have ended, so that another one may have its number.

    On Linux before 6.5, without `SO_PEERPIDFD`, that is unknown.
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


def _sweep(folder: Path, ending: str, kind: int) -> None:
    """Remove the sockets with this *ending* from *folder* that nobody reads."""
    for path in itertools.islice(folder.iterdir(), MAX_HOST_FILES):
        if path.suffix != ending or not is_host(path.stem):
            continue
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, kind) as trial:
            if not stat.S_ISSOCK(path.lstat().st_mode):
                continue
            trial.setblocking(False)
            try:
                with address_of(path) as address:
                    trial.connect(address)
            except ConnectionRefusedError:
                path.unlink()
