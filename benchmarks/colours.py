"""The colours of a recorded screen, drawn by pyte: the project's own replay draws recordings without them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyte
from pyte.screens import Char

from tallylight.parts.lab.asciicast import Event, Header, Output, Resize
from tallylight.wire.styled import Colour, Run, Style, StyledScreen

#: Sequences that pyte does not know and would print: with `<`, `=` or `>` in front, or a `$` behind.
_UNKNOWN = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b\[\?[0-9;]*\$[a-z]")
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")


def drawn(header: Header, events: Iterable[Event]) -> StyledScreen:
    """Return the screen after *events*, with its colours."""
    screen = pyte.Screen(header.columns, header.rows)
    stream = pyte.ByteStream(screen)
    for event in events:
        if isinstance(event.what, Output):
            stream.feed(_UNKNOWN.sub(b"", event.what.data))
        elif isinstance(event.what, Resize):
            screen.resize(event.what.rows, event.what.columns)
    lines = tuple(
        tuple(Run(cell.data, _style(cell)) for cell in (screen.buffer[row][column] for column in range(screen.columns)))
        for row in range(screen.lines)
    )
    return StyledScreen(columns=screen.columns, lines=lines)


def _style(cell: Char) -> Style:
    return Style(
        foreground=_colour(cell.fg),
        background=_colour(cell.bg),
        is_bold=cell.bold,
        is_italic=cell.italics,
        is_underlined=cell.underscore,
        is_reverse=cell.reverse,
        is_struck=cell.strikethrough,
    )


def _colour(name: str) -> Colour | None:
    """A colour as pyte calls it: `red`, `brightred`, `f5a742`."""
    if name == "default":
        return None
    plain = name.removeprefix("bright")
    if plain in _NAMES:
        return _NAMES.index(plain) + 8 * (plain != name)
    return int(name[:2], 16), int(name[2:4], 16), int(name[4:], 16)
