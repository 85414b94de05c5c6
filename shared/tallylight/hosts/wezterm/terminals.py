"""The terminals of WezTerm's panes, seen from outside: their leaders, and whether a shell edits a line. Read only."""

from __future__ import annotations

import os
import stat
import termios
from collections.abc import Collection

import attrs

from tallylight.evidence import process_table

_FLAGS = os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
#: Shells with a line editor that switches off the terminal's own line editing while it shows a prompt, and only then.
_EDITING_SHELLS = frozenset({"bash", "zsh", "ksh", "mksh"})


@attrs.frozen
class Terminal:
    """The terminal at *path* of a pane; *leader* is the pane's first process."""

    path: str
    leader: int


def leaders(gui: int, paths: Collection[str], table: process_table.Table) -> dict[str, int]:
    """Return the process that the WezTerm *gui* has started on each of these terminals, where one is found."""
    found: dict[str, int] = {}
    for pid in process_table.children(gui, table):
        for path in paths:
            if path and process_table.is_on_terminal(pid, path, table):
                found.setdefault(path, pid)
    return found


def at_prompt(terminal: Terminal, table: process_table.Table) -> bool | None:
    """
    Return whether the shell that leads the pane shows its prompt; None if unknown.

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


def _opened(terminal: Terminal, table: process_table.Table) -> int | None:
    """Return the opened terminal, if it belongs to this user and still to the pane's leader; else None."""
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
