"""
The terminals of WezTerm's panes, from outside: whether a shell edits a line on one, and one variable set on one.

Only the side of a mux server writes to a pane's terminal: the server hands on to the GUI what a user variable says.
What is written is one of `MUX_WORDS`, which draws nothing. It must not come between two halves of a sequence that a
program writes. So it is written only

* to the terminal that the pane's own first process has, of this user, in one write that never waits;
* where the pane's foreground is an agent of this machine or the shell itself: not behind ssh, and not where a
  multiplexer draws, whose other half runs elsewhere;
* while everything below the pane's first process that has any terminal open sleeps, and none of it has run for
  `QUIET_S`. A program that is in the middle of what it writes is running, or waits for the terminal; the kernel lets
  nobody else write to that terminal then, and keeps each write whole.

https://man7.org/linux/man-pages/man5/proc.5.html, https://docs.kernel.org/scheduler/sched-stats.html
"""

from __future__ import annotations

import os
import stat
import termios
import time
from collections.abc import Collection, Mapping

import attrs

from tallylight.evidence import process_table
from tallylight.model.errors import TallyError
from tallylight.model.status import Kind, Status
from tallylight.wire import envelope, tty

#: What a mux server's side says of a pane, by its words: a status, and of what kind it is. Nothing else can be said.
MUX_VARIABLE = "tally_mux"
MUX_WORDS = {
    word: envelope.user_var(MUX_VARIABLE, word)
    for word in ("", *Status, *(f"{status}:{kind}" for status in Status for kind in Kind))
}
#: For how long nothing of a pane may have run, in seconds.
QUIET_S = 0.03
#: Between two searches for such a moment, in seconds.
_AGAIN_S = 0.02
#: Of a terminal: processes, threads of all of them, and open files of each that are looked at. More is never quiet.
_MAX_THREADS, _MAX_FILES = 512, 4096
_FLAGS = os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
#: Shells whose line editor takes the terminal's own line editing away while it shows a prompt, and only then.
_EDITING_SHELLS = frozenset({"bash", "zsh", "ksh", "mksh"})


@attrs.frozen
class Terminal:
    """The terminal at *path* of a pane whose first process is *leader*."""

    path: str
    leader: int


def leaders(gui: int, paths: Collection[str], table: process_table.Table) -> dict[str, int]:
    """The process that the WezTerm of the process *gui* has started on each of these terminals, if it is there."""
    found: dict[str, int] = {}
    for pid in process_table.children(gui, table):
        for path in paths:
            if path and process_table.is_on_terminal(pid, path, table):
                found.setdefault(path, pid)
    return found


def at_prompt(terminal: Terminal, table: process_table.Table) -> bool | None:
    """
    Whether the shell that leads the pane shows its prompt; None where that cannot be told.

    bash and zsh read each key themselves at their prompt, and leave it to the terminal while `read` waits for a line.
    The caller knows that no other process group is in the foreground.
    """
    shell = table.get(terminal.leader)
    if shell is None or shell.comm.removeprefix("-") not in _EDITING_SHELLS:
        return None
    fd = _opened(terminal, table, os.O_RDONLY)
    if fd is None:
        return None
    try:
        return not termios.tcgetattr(fd)[3] & termios.ICANON
    except termios.error:
        return None
    finally:
        os.close(fd)


def tell(
    words: Mapping[Terminal, bytes],
    table: process_table.Table,
    *,
    patience: float = 0.0,
) -> list[Terminal]:
    """
    Write to each terminal its word, one of ours, when it is quiet; where it was written.

    Looks once, and for *patience* seconds more; for a thread that may wait.
    """
    assert set(words.values()) <= set(MUX_WORDS.values()), "nothing else is ever written to a pane"
    left, written, waited = dict(words), list[Terminal](), 0.0
    while left:
        before = {terminal: activity(terminal, table) for terminal in left}
        time.sleep(QUIET_S)
        for terminal, seen in before.items():
            if seen is not None and activity(terminal, table) == seen and _write(terminal, table, left[terminal]):
                del left[terminal]
                written.append(terminal)
        waited += QUIET_S + _AGAIN_S
        if waited >= patience:
            break
        time.sleep(_AGAIN_S)
    return written


def activity(terminal: Terminal, table: process_table.Table) -> object:
    """
    What is the same as long as nothing of a pane that could write to a terminal has run.

    None where something of it runs at this moment, or does not sleep as it should, or where that cannot be told.
    """
    if not isinstance(table, process_table.ProcTable):
        return None
    below = table.descendants(terminal.leader)
    if len(below) >= process_table.MAX_DESCENDANTS:
        return None
    seen: list[tuple[int, int, bytes]] = []
    for pid in (terminal.leader, *(process.pid for process in below)):
        try:
            if pid != terminal.leader and not _has_terminal(pid):
                continue
            threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names, not paths
        except OSError:
            return None
        if len(seen) + len(threads) > _MAX_THREADS:
            return None
        for thread in threads:
            ran = _sleeping(pid, thread)
            if ran is None:
                return None
            seen.append((pid, int(thread), ran))
    return tuple(seen)


def _has_terminal(pid: int) -> bool:
    """Whether *pid* has a terminal open, be it another one: a relay's program writes to its own."""
    folder = f"/proc/{pid}/fd"
    names = os.listdir(folder)  # noqa: PTH208
    for name in names[:_MAX_FILES]:
        try:
            if os.readlink(f"{folder}/{name}").startswith(("/dev/pts/", "/dev/tty", "/dev/ptmx")):  # noqa: PTH115
                return True
        except OSError:
            continue
    return len(names) > _MAX_FILES


def _sleeping(pid: int, thread: str) -> bytes | None:
    """How long a thread has run, and how often; None unless it sleeps."""
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:  # noqa: PTH123
            state = file.read(4096).rpartition(b")")[2].split()[0]
        with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123
            ran = file.read(128)
    except (OSError, IndexError):
        return None
    return ran if state in (b"S", b"I") and ran else None


def _opened(terminal: Terminal, table: process_table.Table, how: int) -> int | None:
    """The terminal, if it is one, of this user, and still that of the pane's first process."""
    try:
        fd = os.open(terminal.path, how | _FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        is_own = stat.S_ISCHR(found.st_mode) and found.st_uid == os.getuid() and os.isatty(fd)
        if is_own and process_table.is_on_terminal(terminal.leader, terminal.path, table):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _write(terminal: Terminal, table: process_table.Table, word: bytes) -> bool:
    fd = _opened(terminal, table, os.O_WRONLY)
    if fd is None:
        return False
    try:
        # All of it or nothing, except for a terminal that is nearly full: then the rest follows as soon as it fits.
        written = os.write(fd, word)
        if written < len(word):
            tty.write(fd, word[written:])
    except (OSError, TallyError):
        # Stopped with ctrl-S, full, or gone.
        return False
    finally:
        os.close(fd)
    return True
