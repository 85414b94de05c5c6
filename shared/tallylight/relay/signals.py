"""
The signals of the relay: collected into a pipe, so that one poll waits for them and for everything else.

`COLLECTED` are the signals that are meant for the program in the relay, and those for changes of the terminal. A signal
that was ignored when the relay started is ignored by its program at its start, too, as with `nohup`. It is still passed
on, for a program may have set a handler of its own.
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

#: Signals that are passed on to the program.
PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
COLLECTED = (*PASSED_ON, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
_DEADLY = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
#: The interpreter ignores these signals; a program expects their defaults.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class Signals:
    """
    Collects every signal of `COLLECTED`; *fd* is readable while there is one.

    `close` restores the handlers before; a forked child calls it first, for the pipe is its parent's.
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
        """Remove and return the numbers of the signals that have come, in order, as bytes."""
        try:
            return os.read(self.fd, 4096)
        except BlockingIOError:
            return b""

    def is_deadly(self, number: int) -> bool:
        """Return whether *number* would have ended this process if it had not been collected."""
        return number in _DEADLY and self._before[number] != signal.SIG_IGN

    def close(self) -> None:
        """Restore every handler and close the pipe, also in a forked child."""
        signal.set_wakeup_fd(self._wakeup)
        for number, before in self._before.items():
            signal.signal(number, before)
        os.close(self.fd)
        os.close(self._write)


def has_shell() -> bool:
    """
    Return whether a shell in this session could continue the process group of this process.

    The main program of a window has none, and the kernel does not stop it. A group of another PID namespace, as in a
    sandbox, has the number 0, and the shell is outside.
    """
    group = os.getpgrp()
    return group == 0 or group != os.getsid(0)


def stop_group() -> None:
    """Stop the process group of this process, like ctrl-Z; return when it is continued."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(0, signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


def die(number: int) -> NoReturn:
    """End this process by the signal *number*, like the program, but without a core dump."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
