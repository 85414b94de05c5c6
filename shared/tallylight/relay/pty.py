"""
The two terminals of the relay: the outer one it runs on, and the inner one that it makes for its program.

`Outer` opens the relay's terminal once more, so that it can be non-blocking: the descriptors 0 and 1 are shared with
the shell. Its modes are restored exactly as they were found.
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
    """Like `contextlib.suppress`, without its imports: the monitor would keep them while its program runs."""

    def __init__(self, *errors: type[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._errors)


#: Rows, columns, width and height in pixels: four shorts.
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
        """Set raw modes: every key reaches us unchanged, typed-ahead ones too. In the background this stops us."""
        set_modes(self.fd, self.raw)
        self._is_raw = True

    def restore(self) -> None:
        """Restore the modes as they were found, unless the terminal is gone."""
        if self._is_raw:
            self._is_raw = False
            with ignoring(termios.error):
                set_modes(self.fd, self.saved)

    def close(self) -> None:
        """Restore the modes and close the terminal."""
        self.restore()
        os.close(self.fd)


def open_outer() -> Outer | None:
    """Return the terminal of standard input and output; None if they are not the same terminal."""
    try:
        if not (os.isatty(0) and os.isatty(1)) or os.fstat(0).st_rdev != os.fstat(1).st_rdev:
            return None
        return Outer(_open_again(1))
    except (OSError, termios.error):
        return None


def _open_again(fd: int) -> int:
    """Return a descriptor of its own for the terminal *fd*; raise `OSError` if it cannot be opened."""
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        name = os.ttyname(fd)
        again = os.open(name, flags)
        if os.fstat(again).st_rdev == os.fstat(fd).st_rdev:
            return again
        os.close(again)
    except OSError:
        pass
    # After `su` the device may be another user's, and in a container it may have no name here. A controlling terminal
    # still opens; the next call raises if *fd* is not ours.
    os.tcgetpgrp(fd)
    return os.open("/dev/tty", flags)


def raw_modes(modes: list[Any]) -> list[Any]:
    """Return *modes* changed so that the terminal passes all bytes unchanged, in both directions."""
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
    Set a terminal's modes at once, also when signals interrupt the call.

    It does not wait for the output, which a terminal may have stopped reading.
    """
    while True:
        try:
            termios.tcsetattr(fd, termios.TCSANOW, modes)
            return
        except termios.error as error:
            if error.args[0] != errno.EINTR:
                raise


def open_inner(outer: Outer) -> tuple[int, int]:
    """Make a terminal with the modes and the size of *outer*; return our end, non-blocking, and the program's."""
    master, slave = os.openpty()
    copy_size(outer.fd, master)
    termios.tcsetattr(slave, termios.TCSANOW, outer.saved)
    os.set_blocking(master, False)
    return master, slave


def copy_size(source: int, target: int) -> None:
    """Set the size of *target* to that of *source*, in cells and pixels. The kernel signals a change to its program."""
    with ignoring(OSError):  # one of them may be gone; the next read will fail then
        fcntl.ioctl(target, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, _NO_SIZE))


def name_of(fd: int) -> str:
    """Return the path of the terminal *fd*, or its device number if it has no path here."""
    try:
        return os.ttyname(fd)
    except OSError:
        return str(os.fstat(fd).st_rdev)
