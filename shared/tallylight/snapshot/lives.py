"""
Lives: whether the process that wrote a snapshot still runs, and is not another one that has got its number.

And whether it can write there.

`tally prompt` starts with this at every prompt, so it imports nothing that the interpreter has not loaded already.
"""

from __future__ import annotations

import os


def birth_of(pid: int) -> str:
    """
    Name the life of process *pid*: boot, pid namespace and start; `""` if it is gone or there is no `/proc`.

    The start in seconds since the epoch will not do: it is counted from the time of boot, which moves whenever
    the clock is set.
    """
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - see above
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return f"{boot}/{namespace}/{int(fields[19])}"
    except (OSError, ValueError, IndexError):
        return ""


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - see above
        return file.read()


def is_alive(pid: int, birth: str) -> bool:
    """Tell whether the writer that was *pid* and *birth* still runs."""
    here = birth_of(os.getpid()).rpartition("/")[0]
    there = birth.rpartition("/")[0]
    if here and there and here != there:
        # Another boot is over. From another pid namespace (a container that shares the directory) it is unknown.
        return here.partition("/")[0] == there.partition("/")[0]
    now = birth_of(pid)
    if birth and now:
        return birth == now
    # Alive or not, what is not ours has not written our files.
    return bool(is_ours(pid))


def is_ours(pid: int) -> bool | None:
    """Whether *pid* is a process of this user; False if there is none, None if it is somebody else's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return None
    return True


def unwritable(folder: str) -> str:
    """Why *folder* takes no file, in words: `is full`. Nothing if it does, or if that is unknown."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return ""
    left = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    # One that counts nothing says 0 of all.
    is_full = (left == 0 and found.f_blocks > 0) or (found.f_favail == 0 and found.f_files > 0)
    return "is read-only" if found.f_flag & os.ST_RDONLY else "is full" if is_full else ""
