"""
The list's own screen of a terminal, its size, and bytes in and out.

The terminal is always left as it was found.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence

from tallylight.model import plain
from tallylight.ui.agent_list.channel import MARK, UNMARK
from tallylight.ui.keys import ASK_COLOURS, DISABLE, DISABLE_FOCUS, ENABLE, ENABLE_FOCUS

_ENTER = f"\x1b[?1049h\x1b[?25l{ENABLE}"
_LEAVE = f"{DISABLE}\x1b[?25h\x1b[?1049l"
#: Bytes of one read.
_KEY_CHUNK_BYTES = 4096


def size(fd: int) -> tuple[int, int]:
    """Return the columns and lines of the terminal *fd*; 80 and 24 if unknown."""
    try:
        columns, lines = os.get_terminal_size(fd)
    except OSError:
        columns, lines = 0, 0
    return columns or 80, lines or 24


def write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def encoded(text: str) -> bytes:
    """Return *text* in the encoding of standard output, which may be a locale without UTF-8."""
    is_plain = sys.stdout.errors == plain.ERRORS
    return text.encode(*((sys.stdout.encoding, plain.ERRORS) if is_plain else ("utf-8", "replace")))


def untitled() -> str:
    """Return the sequence that removes a title that we have set in WezTerm; "" for other terminals."""
    return "\x1b]2;wezterm\x07" if os.environ.get("TERM_PROGRAM") == "WezTerm" else ""


class Terminal:
    """
    A terminal that is read from *fd_in* and written to at *fd_out*, while `opened`.

    One that *stays* beside other programs learns when it has the keyboard, and is marked as no place of an agent.
    """

    def __init__(self, fd_in: int, fd_out: int, *, stays: bool = False) -> None:
        self._in, self._out = fd_in, fd_out
        self._enter, self._leave = _ENTER, _LEAVE
        if stays:
            self._enter, self._leave = f"{MARK}{_ENTER}{ENABLE_FOCUS}", f"{DISABLE_FOCUS}{_LEAVE}{UNMARK}"
        if os.environ.get("TERM_PROGRAM") == "WezTerm":
            # WezTerm names a program without a title by its process, `python3.11`.
            self._enter += "\x1b]2;tally agents\x07"
        self._leave += untitled()
        self._woken, self._wake = ends = os.pipe()
        for end in ends:
            os.set_blocking(end, False)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Take keys as they are pressed, and the screen from `enter` on, until the end of this context."""
        before = termios.tcgetattr(self._in)
        old_handler = signal.signal(signal.SIGWINCH, lambda *_: None)
        old_wake = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        try:
            tty.setraw(self._in, termios.TCSADRAIN)
            self.write(ASK_COLOURS)
            yield
        finally:
            signal.set_wakeup_fd(old_wake)
            signal.signal(signal.SIGWINCH, old_handler)
            with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
                self.write(self._leave)
                termios.tcsetattr(self._in, termios.TCSADRAIN, before)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Leave the terminal to another program as a shell would, on an empty screen, until the end of this context."""
        own, shared = termios.tcgetattr(self._in), termios.tcgetattr(self._in)
        # Not as it was found: a terminal that opens the list silences its keys before that.
        shared[0] |= termios.ICRNL
        shared[1] |= termios.OPOST | termios.ONLCR
        shared[3] |= termios.ECHO | termios.ICANON | termios.ISIG | termios.IEXTEN
        _, lines = self.size()
        # The terminal's first picture of the list may be there: it goes where a person can scroll to.
        self.write(f"{self._leave}\x1b[{lines}H" + "\n" * lines + "\x1b[H")
        termios.tcsetattr(self._in, termios.TCSADRAIN, shared)
        try:
            yield
        finally:
            termios.tcsetattr(self._in, termios.TCSADRAIN, own)
            # Else the page of the program would be seen for a moment when the list closes.
            self.write("\x1b[H\x1b[J")
            self.enter()

    def enter(self) -> None:
        """Take the whole screen. Until then the old contents are visible, such as the terminal's first picture."""
        self.write(self._enter)

    def size(self) -> tuple[int, int]:
        """Return its columns and lines."""
        return size(self._out)

    def read(self, timeout: float | None, also: Sequence[int] = ()) -> bytes | None:
        """
        Return the bytes typed within *timeout* seconds, or b""; None when the terminal is gone.

        A resize wakes it, and so does any readable descriptor of *also*.
        """
        ready, _, _ = select.select([self._in, self._woken, *also], [], [], timeout)
        if self._woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, _KEY_CHUNK_BYTES)
        if self._in not in ready:
            return b""
        try:
            return os.read(self._in, _KEY_CHUNK_BYTES) or None
        except OSError:
            return None

    def write(self, text: str) -> None:
        write(self._out, encoded(text))
