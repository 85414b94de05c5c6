"""
The signals of the relay: collected into a pipe, so that one poll waits for them and for everything else.

`COLLECTED` are the signals that reach the relay but are meant for the program in it, and those that say that the
terminal has changed. A signal that was ignored when the relay started is ignored by its program from the start, as
`nohup` wants it; it is passed on all the same, for a program may have set a handler of its own.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn, TypeAlias

    Handler: TypeAlias = Callable[[int, FrameType | None], Any] | int | None
else:
    import _signal as signal  # without names for the numbers, which load as much again as all of this

#: Passed on to the program, as they would have reached it.
PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
COLLECTED = (*PASSED_ON, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
_DEADLY = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
#: The interpreter ignores these for itself; a program expects them as they are by default.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class Signals:
    """
    Every signal of `COLLECTED` since the last look; *fd* is readable while there is one.

    `close` puts back what was; a forked child calls it first, for the pipe is its parent's.
    """

    def __init__(self) -> None:
        self.fd, self._write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._before: dict[int, Handler] = {number: signal.getsignal(number) for number in COLLECTED}
        for number in COLLECTED:
            # The interpreter writes the number into the pipe itself.
            signal.signal(number, lambda *_: None)

    def take(self) -> bytes:
        """The numbers of the signals that have come, in order, as bytes."""
        try:
            return os.read(self.fd, 4096)
        except BlockingIOError:
            return b""

    def is_deadly(self, number: int) -> bool:
        """Whether *number* would have ended this process, had it not been collected."""
        return number in _DEADLY and self._before[number] != signal.SIG_IGN

    def close(self) -> None:
        """Put every handler back, and let go of the pipe; in a forked child, which shares them with its parent, too."""
        signal.set_wakeup_fd(self._wakeup)
        for number, before in self._before.items():
            signal.signal(number, before)
        os.close(self.fd)
        os.close(self._write)


def has_shell() -> bool:
    """
    Whether a shell in this session could continue the process group of this process.

    The group of a window's own program has none, and the kernel does not stop it. Where the group is of another PID
    namespace, as in a sandbox, it has the number 0 and the shell is outside.
    """
    group = os.getpgrp()
    return group == 0 or group != os.getsid(0)


def stop_group() -> None:
    """Stop the process group of this process, as ctrl-Z does; return when it is continued."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(0, signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


def die(number: int) -> NoReturn:
    """End of this signal, as the program did, but leave no core of our own."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
