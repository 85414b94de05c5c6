"""
The two terminals of the relay: the one it runs on, and the one it makes for its program.

`Outer` is a description of the relay's terminal that is nobody else's, so that it can be set non-blocking: the
descriptors 0 and 1 share theirs with the shell. Its modes are put back exactly as they were found.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ignoring:  # noqa: N801 - as a word of the language
    """`contextlib.suppress`, without all that it loads: the monitor holds that for as long as its program runs."""

    def __init__(self, *errors: type[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._errors)


#: rows, columns, width and height in pixels: four shorts.
_NO_SIZE = bytes(8)
_IFLAG, _OFLAG, _CFLAG, _LFLAG, _CC = 0, 1, 2, 3, 6


class Outer:
    """The terminal around the relay; *fd* reads from and writes to it without blocking."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.saved = termios.tcgetattr(fd)
        self.raw = raw_modes(self.saved)
        self._is_raw = False

    def enter_raw(self) -> None:
        """Have every key reach us as it is. What was typed ahead is kept. In the background this stops us."""
        set_modes(self.fd, self.raw)
        self._is_raw = True

    def restore(self) -> None:
        """Put the modes back. A terminal that is gone has none."""
        if self._is_raw:
            self._is_raw = False
            with ignoring(termios.error):
                set_modes(self.fd, self.saved)

    def close(self) -> None:
        """Restore it and let go of it."""
        self.restore()
        os.close(self.fd)


def open_outer() -> Outer | None:
    """The terminal of standard input and output, if both are the same one."""
    try:
        if not (os.isatty(0) and os.isatty(1)) or os.fstat(0).st_rdev != os.fstat(1).st_rdev:
            return None
        return Outer(_open_again(1))
    except (OSError, termios.error):
        return None


def _open_again(fd: int) -> int:
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        name = os.ttyname(fd)
        again = os.open(name, flags)
        if os.fstat(again).st_rdev == os.fstat(fd).st_rdev:
            return again
        os.close(again)
    except OSError:
        pass
    # After `su` the device may be another user's, and in a container it may have no name here. A controlling
    # terminal opens all the same; this asks whether *fd* is ours.
    os.tcgetpgrp(fd)
    return os.open("/dev/tty", flags)


def raw_modes(modes: list[Any]) -> list[Any]:
    """The modes of a terminal that changes nothing, in either direction."""
    raw = [*modes[:_CC], list(modes[_CC])]
    raw[_IFLAG] &= ~(
        termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.INPCK | termios.ISTRIP | termios.INLCR
        | termios.IGNCR | termios.ICRNL | termios.IXON | termios.IXANY | termios.IXOFF
    )  # fmt: skip
    raw[_OFLAG] &= ~termios.OPOST
    raw[_CFLAG] = raw[_CFLAG] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    raw[_LFLAG] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    raw[_CC][termios.VMIN] = 1
    raw[_CC][termios.VTIME] = 0
    return raw


def set_modes(fd: int, modes: list[Any]) -> None:
    """
    Set a terminal's modes at once, however many signals come meanwhile.

    At once: waiting until the output is read could wait without end for a terminal that has stopped reading.
    """
    while True:
        try:
            termios.tcsetattr(fd, termios.TCSANOW, modes)
            return
        except termios.error as error:
            if error.args[0] != errno.EINTR:
                raise


def open_inner(outer: Outer) -> tuple[int, int]:
    """A new terminal with the modes and the size of *outer*: our end, which does not block, and the program's."""
    master, slave = os.openpty()
    copy_size(outer.fd, master)
    termios.tcsetattr(slave, termios.TCSANOW, outer.saved)
    os.set_blocking(master, False)
    return master, slave


def copy_size(source: int, target: int) -> None:
    """Give *target* the size of *source*, in cells and in pixels. The kernel signals its program if that is new."""
    with ignoring(OSError):  # one of them may be gone, which the next read will say
        fcntl.ioctl(target, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, _NO_SIZE))


def name_of(fd: int) -> str:
    """What to call the terminal *fd*: its path, or its number where it has no path here."""
    try:
        return os.ttyname(fd)
    except OSError:
        return str(os.fstat(fd).st_rdev)
