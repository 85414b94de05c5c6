"""
Lives: checks whether the process named in a snapshot still runs, and whether it wrote that file.

A process with the same number may be another one. And any program of this user can write a file next to those of hosts,
or replace one. So a host keeps a sealed copy in memory (https://man7.org/linux/man-pages/man2/memfd_create.2.html),
and a reader compares: the kernel shows a process's memory file, and no other process can change it.

`tally prompt` starts with this at every prompt, so it imports nothing that the interpreter has not loaded already.
"""

from __future__ import annotations

import os


def birth_of(pid: int) -> str:
    """
    Return a name for the life of process *pid*: boot, pid namespace and start; `""` if it is gone or without `/proc`.

    The start in seconds since the epoch would not do: it is counted from the time of boot, which moves when the clock
    is set.
    """
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - see above
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        # A zombie keeps its number.
        return f"{boot}/{namespace}/{int(fields[19])}" if fields[0] not in (b"Z", b"X") else ""
    except (OSError, ValueError, IndexError):
        return ""


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - see above
        return file.read()


def is_alive(pid: int, birth: str) -> bool:
    """Return whether the writer with *pid* and *birth* still runs."""
    here = birth_of(os.getpid()).rpartition("/")[0]
    there = birth.rpartition("/")[0]
    if here and there and here != there:
        # Another boot is over. For another pid namespace (a container with the same directory) it is unknown.
        return here.partition("/")[0] == there.partition("/")[0]
    if birth and here:
        return birth == birth_of(pid)
    # A process of another user has not written our files.
    return bool(is_ours(pid))


#: The mark of an up-to-date file, and the mark that overwrites it if the host cannot replace the file.
CURRENT, STALE = b'"stale":false', b'"stale":true '
#: A file is read so many times, for its host may be replacing it just now.
LIFE_TRIES = 3
#: The name of the sealed memory file, as the kernel shows it; and the seals, which keep its bytes unchanged.
_SEALED = "tallylight"
_SEALS = 0x2 | 0x4 | 0x8  # F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE
#: The root pid namespace, with every process in it or below: `PID_NS_INIT_INO` of <linux/nsfs.h>.
_WHOLE = "pid:[4026531836]"


def seal() -> int | None:
    """Return a memory file for `fill`; None if the system has none, or readers could not see it."""
    return os.memfd_create(_SEALED, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) if _can_seal() else None


def _can_seal() -> bool:
    return hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")  # noqa: PTH112 - see above


def fill(descriptor: int, data: bytes) -> None:
    """Write *data* into *descriptor*, made by `seal`, and seal it."""
    import fcntl

    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)


def has_written(pid: int, birth: str, descriptor: object, data: bytes) -> bool:
    """
    Return whether the process *pid* has a sealed copy of *data* in its *descriptor*, like the host that wrote it.

    True if that cannot be known: without `/proc`, in a sandbox that hides other processes, and inside a pid namespace,
    for the writer may be outside.
    """
    if not _can_seal():
        return True
    here, there = birth_of(os.getpid()).rpartition("/")[0], birth.rpartition("/")[0]
    if here != there:
        return not here.endswith(_WHOLE)
    if not isinstance(descriptor, int):
        return False
    place = f"/proc/{pid}/fd/{descriptor}"
    try:
        if os.readlink(place) != f"/memfd:{_SEALED} (deleted)":  # noqa: PTH115 - see above
            return False
        found = os.open(place, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        # The files of a process that hides from its own user belong to root.
        return _owner(pid) == os.getuid()
    except (OSError, OverflowError):
        return False
    try:
        return _holds(found, data.replace(STALE, CURRENT, 1))
    finally:
        os.close(found)


def _holds(descriptor: int, data: bytes) -> bool:
    """Return whether *descriptor* is a sealed memory file with exactly *data*."""
    import fcntl

    try:
        if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            return False
        return os.fstat(descriptor).st_size == len(data) and os.pread(descriptor, len(data), 0) == data
    except OSError:
        return False


def _owner(pid: int) -> int | None:
    """Return the user id of the process *pid*; None if unknown."""
    try:
        return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116 - see above
    except OSError:
        return None


def is_ours(pid: int) -> bool | None:
    """Return whether *pid* is a process of this user; False if there is none, None if it is another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return None
    return True


def unwritable(folder: str) -> str:
    """Return why no file can be written in *folder*: `is full`. Empty if one can, or if that is unknown."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return ""
    left = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    # A file system without counts reports 0 for all.
    is_full = (left == 0 and found.f_blocks > 0) or (found.f_favail == 0 and found.f_files > 0)
    return "is read-only" if found.f_flag & os.ST_RDONLY else "is full" if is_full else ""
