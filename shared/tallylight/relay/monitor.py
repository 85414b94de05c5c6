"""
The monitor: a process between the relay and its program. It leads the inner terminal, so that job control works there.

The kernel stops a process group only if a member has its parent in the same session. So a program that led the inner
terminal itself could not be stopped with ctrl-Z. The monitor leads it, and the program has a group of its own in the
foreground. The monitor reports the program's fate on a pipe, a line each:

* `P<pid>` it was started;  `E<errno>` it could not be executed;
* `T<signal>` it was stopped;  `X<wait status>` it ended, and so does the monitor.

SIGCONT to the monitor continues the program. If the relay is killed, the inner terminal hangs up, and the program gets
SIGHUP as from a closed window. The monitor then restores the outer terminal, if it still has the relay's modes: a shell
with job control has mostly done that, a script has not.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import termios

from tallylight.relay import pty, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType
    from typing import NoReturn
else:
    import _signal as signal  # without names for the numbers, which load as much again as all of this

NOT_FOUND, NOT_EXECUTABLE = 127, 126
#: The variable with the terminal and the session that the relay made, for a relay started inside it.
MARKER = "TALLY_RELAY"
_IGNORED = (
    signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2,
    signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
)  # fmt: skip


def start(command: list[str], outer: pty.Outer, inner: tuple[int, int], collected: signals.Signals) -> tuple[int, int]:
    """Start a monitor and *command*; return the monitor's process id and the pipe that it writes to."""
    master, slave = inner
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(slave)
        os.close(write_end)
        return pid, read_end
    try:
        collected.close()
        os.close(master)
        os.close(read_end)
        _Monitor(outer, slave, write_end).run(command)
    finally:
        os._exit(NOT_EXECUTABLE)


class _Monitor:
    """The code of the monitor process."""

    def __init__(self, outer: pty.Outer, slave: int, pipe: int) -> None:
        self._outer = outer
        self._slave = slave
        self._pipe = pipe
        self._program = 0

    def run(self, command: list[str]) -> NoReturn:
        """Start *command* in a group of its own, report its fate, and end with it."""
        os.setsid()
        fcntl.ioctl(self._slave, termios.TIOCSCTTY, 0)
        before = {number: signal.signal(number, signal.SIG_IGN) for number in _IGNORED}
        before |= {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGCHLD)}
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, self._hung_up)
        self._program = os.fork()
        if not self._program:
            try:
                self._become(command, [number for number, how in before.items() if how == signal.SIG_IGN])
            finally:
                os._exit(NOT_EXECUTABLE)
        _own_group(self._program)
        signal.signal(signal.SIGCONT, self._continue)
        self._report(f"P{self._program}")
        while True:
            _, status = os.waitpid(self._program, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                self._report(f"T{os.WSTOPSIG(status)}")
                continue
            # Take the foreground, so that our end does not hang up processes that the program left in its group.
            with pty.ignoring(OSError):
                os.tcsetpgrp(self._slave, os.getpgrp())
            self._report(f"X{status}")
            os._exit(0)

    def _become(self, command: list[str], ignored: list[signal.Signals]) -> NoReturn:
        """Become *command*, in the foreground of the inner terminal; report why if that fails."""
        _own_group(0)
        os.tcsetpgrp(self._slave, os.getpid())
        for number in (*_IGNORED, signal.SIGHUP, signal.SIGCONT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
        environment = program_environment()
        environment[MARKER] = marker(self._slave)
        for fd in (0, 1, 2):
            # A standard error that leads into a file stays there.
            if fd < 2 or os.isatty(2):
                os.dup2(self._slave, fd)
        try:
            execute(command, environment)
        except OSError as error:
            self._report(f"E{error.errno}")
        os._exit(NOT_EXECUTABLE)

    def _report(self, line: str) -> None:
        with pty.ignoring(OSError):  # the relay may be gone
            os.write(self._pipe, f"{line}\n".encode())

    def _continue(self, _number: int, _frame: FrameType | None) -> None:
        """Continue the program: the monitor got SIGCONT."""
        if self._program:
            with pty.ignoring(OSError):
                os.killpg(self._program, signal.SIGCONT)

    def _hung_up(self, _number: int, _frame: FrameType | None) -> None:
        """Restore the outer terminal if the relay was killed: the inner one has hung up."""
        try:
            termios.tcgetattr(self._slave)
            return  # someone sent us the signal by hand
        except termios.error:
            pass
        try:
            if termios.tcgetattr(self._outer.fd) == self._outer.raw:
                pty.set_modes(self._outer.fd, self._outer.saved)
        except termios.error:
            pass
        os._exit(0)


def _own_group(pid: int) -> None:
    """Give *pid* a process group of its own. Parent and child both do, since either may be first."""
    with pty.ignoring(OSError):
        os.setpgid(pid, pid)


def marker(fd: int) -> str:
    """Return a name for the terminal *fd* with our session: a terminal's name alone is used again."""
    return f"{pty.name_of(fd)}:{os.getsid(0)}"


def program_environment() -> dict[str, str]:
    """Return our environment as we got it, without the locale that the interpreter may have added."""
    environment = dict(os.environ)
    if environment.get("LC_CTYPE", "").startswith(("C.", "UTF-8")):
        try:
            with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
                given = file.read().split(b"\0")
        except OSError:
            return environment
        if not any(setting.startswith(b"LC_CTYPE=") for setting in given):
            del environment["LC_CTYPE"]
    return environment


def execute(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process by *command*, found as by a shell; raise OSError if that fails."""
    for number in signals.IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    name = command[0]
    folders = [""] if "/" in name else [f"{folder or '.'}/" for folder in os.get_exec_path(environment)]
    refusal: OSError = FileNotFoundError(errno.ENOENT, "")
    for folder in folders:
        path = folder + name
        try:
            os.execve(path, command, environment)  # noqa: S606
        except (FileNotFoundError, NotADirectoryError):
            if "/" in name:
                raise
        except PermissionError as error:
            refusal = error
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # The file is a script without an interpreter line.
            os.execve("/bin/sh", ["sh", path, *command[1:]], environment)  # noqa: S606
    raise refusal


def refused(name: str, error: OSError) -> int:
    """Print why *name* was not executed; return a shell's exit code for that."""
    if error.errno == errno.ENOENT and "/" not in name:
        sys.stderr.write(f"tally run: {name}: command not found\n")
        return NOT_FOUND
    sys.stderr.write(f"tally run: {name}: {os.strerror(error.errno or 0)}\n")
    return NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
