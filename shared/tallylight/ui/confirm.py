"""
Asking a person on a terminal: an offer is drawn, keys are read, until it is taken or left.

It takes the terminal for itself (raw, alternate screen) and restores it, whatever happens. A key is the bytes of one
read, so that an Escape differs from a sequence that begins with one. A paste cannot confirm, because it comes with more
around it. Neither can a key that was meant for another window: typed keys are thrown away when the page is drawn and
whenever it has changed, by a key or with the size of the window. The same is true from the moment when the page gets
the keyboard until no key comes for a while.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from tallylight.actions.page import Act, Line
from tallylight.actions.view import Page, PageWindow
from tallylight.ui import colours
from tallylight.ui.terminal import size as size_of
from tallylight.ui.terminal import untitled, write

Offer = TypeVar("Offer", bound=Page)

#: Seconds for the rest of an escape sequence.
REST_OF_KEY_S = 0.05
#: Seconds without a key after which typing for another window has ended.
TYPING_ENDED_S = 0.2
#: Seconds between two looks at the size of the window.
SIZE_S = 0.25
_KEYS = {
    b"\r": "enter",
    b"\n": "enter",
    b"\x1b": "escape",
    **dict.fromkeys((b"\x1b[A", b"\x1bOA"), "up"),
    **dict.fromkeys((b"\x1b[B", b"\x1bOB"), "down"),
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
}
_STYLES = {"title": "1", "key": "1", "dim": "2", "bad": "31"}
_ENTER_SCREEN = b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h"
_LEAVE_SCREEN = b"\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[?1049l"
#: The terminal reports that the page has the keyboard now.
_FOCUSED = b"\x1b[I"


def ask(offer: Offer, fd: int, environ: Mapping[str, str], prepare: Callable[[Offer], None]) -> bool:
    """
    Show *offer* on the terminal *fd* until a person has decided; return whether they agreed.

    *prepare* is called before each drawing, to complete the page.
    """
    with raw(fd):
        write(fd, f"\x1b]2;{offer.title}\x07".encode())
        announce(offer.verb, fd)
        view = PageWindow(offer)
        while True:
            prepare(offer)
            size = size_of(fd)
            lines, is_new = view.draw(*size)
            if is_new:
                termios.tcflush(fd, termios.TCIFLUSH)
            write(fd, drawing(lines, has_colour=colours.are_wanted(environ, is_terminal=True)))
            while size_of(fd) == size and not select.select([fd], [], [], SIZE_S)[0]:
                pass
            if size_of(fd) != size:
                continue  # a key that was pressed now belongs to another page
            key = read_key(fd)
            act = view.key(key) if key is not None else Act.LEAVE
            if act is not Act.STAY:
                return act is Act.GO


def announce(verb: str, fd: int) -> None:
    """Announce a page in a window, or on a screen, of its own, while it is prepared."""
    if os.isatty(fd):
        write(fd, f"\x1b[H\x1b[2J\r\n  {announcement(verb)}".encode())


def announcement(verb: str) -> str:
    """Return the words before the page of *verb* is there."""
    return f"{verb.capitalize()}: reading what there is …"


@contextlib.contextmanager
def raw(fd: int) -> Iterator[None]:
    """Hold the terminal *fd* in raw mode, on a screen of its own."""
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        write(fd, _ENTER_SCREEN)
        yield
    finally:
        write(fd, _LEAVE_SCREEN + untitled().encode())
        termios.tcsetattr(fd, termios.TCSAFLUSH, before)


def drawing(lines: Sequence[Line], *, has_colour: bool) -> bytes:
    """Return the bytes that draw *lines*, one a row of the screen."""
    parts = ["\x1b[H\x1b[2J"]
    for row, line in enumerate(lines):
        parts.append(f"\x1b[{row + 1};1H")
        for style, text in line:
            code = _STYLES.get(style, "") if has_colour or style != "bad" else "1"
            parts.append(f"\x1b[{code}m{text}\x1b[m" if code else text)
    return "".join(parts).encode("utf-8", "replace")


def read_key(fd: int) -> str | None:
    """Return one key: a character or a name, "" for one without meaning here; None at the end of input."""
    data = os.read(fd, 4096)
    if not data:
        return None
    if _FOCUSED in data:
        while select.select([fd], [], [], TYPING_ENDED_S)[0] and os.read(fd, 4096):
            pass
        return ""
    # An Escape may begin a sequence, and a line's end may be the last of a paste: then more follows at once.
    if data in (b"\x1b", b"\r", b"\n") and select.select([fd], [], [], REST_OF_KEY_S)[0]:
        data += os.read(fd, 4096)
    text = _KEYS.get(data) or data.decode("utf-8", "replace")
    return text if len(text) == 1 or data in _KEYS else ""
