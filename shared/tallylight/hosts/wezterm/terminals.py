"""The terminals of WezTerm's panes, from outside: who leads one, and whether a shell edits a line on it. Read only."""

from __future__ import annotations

import os
import stat
import sys
import termios
from collections.abc import Collection
from pathlib import Path

import attrs

from tallylight.evidence import process_table

_FLAGS = os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
#: Shells whose line editor takes the terminal's own line editing away while it shows a prompt, and only then.
_EDITING_SHELLS = frozenset({"bash", "zsh", "ksh", "mksh"})
#: Linux dates a terminal again only where so many seconds of the clock are over. What was written less than the second
#: number of seconds before a reading may not have been drawn by then.
DATED_S, DRAWN_S = 8, 1.0


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
    fd = _opened(terminal, table)
    if fd is None:
        return None
    try:
        return not termios.tcgetattr(fd)[3] & termios.ICANON
    except termios.error:
        return None
    finally:
        os.close(fd)


def is_still(path: str, epoch: float) -> bool:
    """Whether no program has written to the terminal or read there since *epoch*. False if that cannot be told."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        found = Path(path).stat()
    except OSError:
        return False
    return max(found.st_mtime, found.st_atime) < (epoch - DRAWN_S) // DATED_S * DATED_S


def _opened(terminal: Terminal, table: process_table.Table) -> int | None:
    """The terminal, if it is one, of this user, and still that of the pane's first process."""
    try:
        fd = os.open(terminal.path, os.O_RDONLY | _FLAGS)
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
