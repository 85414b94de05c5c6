"""
The terminal to write to, and one bounded write to it.

A hook of an agent often has no terminal of its own: no controlling terminal, pipes on all three descriptors. Its
report must still reach the tab of its agent, so the search goes from `/dev/tty` through the ancestors. Nothing here
blocks for longer than its *timeout*, or changes a controlling terminal.

`tally emit` loads this module at every event of an agent, so slow modules are imported where they are needed. `posix`
takes the place of `os`, which would take a tenth of the time of an empty program.
"""

from __future__ import annotations

import posix
import sys
from _stat import S_ISCHR
from time import monotonic, sleep

from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    #: pid -> its parent's pid, its user, and the devices that lead to its terminal, best first; None if it is gone.
    Reader = Callable[[int], "tuple[int, int, list[str]] | None"]

#: A chain of processes longer than this is a loop in what we read (pids are reused while we walk).
MAX_ANCESTORS = 64
#: O_NONBLOCK: a terminal stopped with ctrl-S or a full pty must not hold up an agent's hook.
_FLAGS = posix.O_WRONLY | posix.O_NOCTTY | posix.O_NONBLOCK | posix.O_CLOEXEC


class TerminalStuckError(TallyError):
    """Raised if the terminal took only *written* of *size* bytes in time: it is stopped with ctrl-S, or not read."""

    def __init__(self, written: int, size: int) -> None:
        super().__init__(f"the terminal took {written} of {size} bytes and is stuck; press ctrl-Q if it is stopped")
        self.written = written
        self.size = size


def open_terminal(
    environ: Mapping[str, str], *, device: str = "/dev/tty", parent: int | None = None, read: Reader | None = None
) -> int | None:
    """
    Open the terminal that shows this process; return None if there is none.

    It is *device* if that opens, else the terminal of the nearest ancestor with one, starting at *parent*. Last comes
    the terminal of the process in `CLAUDE_PID`, for a daemon passes its first client's environment to all others.
    """
    return first_terminal(
        _candidates(device, environ, posix.getppid() if parent is None else parent, read or read_process)
    )


def first_terminal(devices: Iterable[str]) -> int | None:
    """Open the first of *devices* that is a terminal, for writing; None if none is."""
    for device in devices:
        try:
            fd = posix.open(device, _FLAGS)
        except OSError:
            continue
        if posix.isatty(fd):
            return fd
        posix.close(fd)
    return None


def _candidates(device: str, environ: Mapping[str, str], pid: int, read: Reader) -> Iterator[str]:
    """Yield the terminals to try: *device*, those of our parents, and that of the process in `CLAUDE_PID`."""
    yield device
    for _ in range(MAX_ANCESTORS):
        process = read(pid) if pid > 1 else None
        if process is None:
            break
        pid, _owner, devices = process
        yield from devices
    claude = environ.get("CLAUDE_PID", "")
    if claude.isascii() and claude.isdigit() and len(claude) < 11:
        process = read(int(claude))
        # The variable may have outlived its process, and the number may be another program's by now.
        if process is not None and process[1] == posix.getuid() and _is_claude(int(claude)):
            yield from process[2]


def _is_claude(pid: int) -> bool:
    """Return whether the process *pid* is Claude Code; True where the system does not show it."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib costs more than the whole command
            return b"claude" in file.read(4096)
    except OSError:
        return not _exists("/proc/self/cmdline")


def decoded(data: bytes) -> str:
    """Return bytes of the system as text, like `os.fsdecode`."""
    return data.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def _exists(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def read_process(pid: int) -> tuple[int, int, list[str]] | None:
    """Return parent, user and terminal devices of *pid*, from `/proc` if there is one, else from `ps`."""
    if _exists("/proc/self/stat"):
        return read_proc(pid)
    return read_ps(pid)


def read_proc(pid: int) -> tuple[int, int, list[str]] | None:
    """Return parent, user and terminal devices of *pid* from `/proc`; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read(4096).rpartition(b")")[2].split()
        # Behind the name: state, ppid, pgrp, session, tty_nr.
        parent, number = int(fields[1]), int(fields[4])
        owner = posix.stat(f"/proc/{pid}").st_uid
    except (OSError, ValueError, IndexError):
        return None
    if number == 0:
        return parent, owner, []
    # tty_nr is signed and its minor is split around the major; see proc(5).
    number &= 0xFFFFFFFF
    major, minor = (number >> 8) & 0xFFF, (number & 0xFF) | ((number >> 12) & 0xFFF00)
    # An open descriptor of the process leads to the right device even if a container has a /dev/pts of its own, with
    # another /dev/pts/3.
    paths = [f"/proc/{pid}/fd/{fd}" for fd in (0, 1, 2)]
    if 136 <= major <= 143:
        paths.append(f"/dev/pts/{minor + ((major - 136) << 8)}")
    return parent, owner, [path for path in paths if _is_device(path, major, minor)]


def _is_device(path: str, major: int, minor: int) -> bool:
    """Return whether *path* is the character device with these numbers."""
    try:
        found = posix.stat(path)
    except OSError:
        return False
    return S_ISCHR(found.st_mode) and (posix.major(found.st_rdev), posix.minor(found.st_rdev)) == (major, minor)


def read_ps(pid: int) -> tuple[int, int, list[str]] | None:
    """Return parent, user and terminal devices of *pid* from `ps`, for systems without `/proc`."""
    import subprocess

    try:
        done = subprocess.run(
            ["ps", "-o", "ppid=", "-o", "uid=", "-o", "tty=", "-p", str(pid)],
            capture_output=True,
            timeout=1,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        parent, owner, name = done.stdout.decode("ascii").split()
        return int(parent), int(owner), [] if name.startswith(("?", "-")) else [f"/dev/{name.removeprefix('/dev/')}"]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def multiplexer(environ: Mapping[str, str]) -> str:
    """
    Return the multiplexer between this process and the terminal: `tmux`, `screen` or an empty text.

    The variables alone do not decide: a kitty or WezTerm that was started inside a multiplexer passes them on to all
    its panes. Its own TERM or TERM_PROGRAM shows that.
    """
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    inside = term.startswith(("tmux", "screen"))
    if environ.get("TMUX") and (inside or program == "tmux" or (term != "xterm-kitty" and program != "WezTerm")):
        return "tmux"
    # Screen sets no TERM_PROGRAM, so that of the terminal around it says nothing here.
    if environ.get("STY") and (inside or term != "xterm-kitty"):
        return "screen"
    return ""


def is_kitty_or_wezterm(environ: Mapping[str, str]) -> bool:
    """
    Return whether the terminal is kitty or WezTerm: they deliver user variables and log unknown numbers as errors.

    A terminal that was started from one of them has its variables, too, but a TERM or TERM_PROGRAM of its own.
    """
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if term == "xterm-kitty" or program == "WezTerm":
        return True
    is_inside = bool(environ.get("KITTY_WINDOW_ID") or environ.get("WEZTERM_PANE"))
    return is_inside and (not program or bool(multiplexer(environ)))


def wrap(data: bytes, environ: Mapping[str, str]) -> bytes:
    """Return whole sequences in the envelope of the multiplexer around this process, if there is one."""
    kind = multiplexer(environ)
    if not kind:
        return data
    from tallylight.wire import envelope

    return envelope.tmux_wrap(data) if kind == "tmux" else envelope.screen_wrap(data)


def write(fd: int, data: bytes, *, timeout: float = 1.0) -> None:
    """
    Write *data* to the terminal *fd* within *timeout* seconds, in one write(2) if the terminal takes it.

    The agent draws on the same terminal, and the kernel keeps single writes whole.
    """
    # The module behind `signal`, which would pull in enum.
    import _signal  # type: ignore[import-not-found, unused-ignore]

    # `stty tostop` must not suspend us without end when we run in the background.
    _signal.signal(_signal.SIGTTOU, _signal.SIG_IGN)
    sent, end = 0, monotonic() + timeout
    while sent < len(data):
        try:
            sent += posix.write(fd, data[sent:])
        except BlockingIOError:
            left = end - monotonic()
            if left <= 0:
                raise TerminalStuckError(sent, len(data)) from None
            # Not select(2), which is slow to load: this is the rare case.
            sleep(min(0.005, left))
