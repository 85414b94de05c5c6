"""
Ansi: lines of styled text as SGR sequences (ECMA-48), and of a screen only what has changed.

The default foreground and background are the theme's, whichever it is. Where there is colour, it is a background with
black or white on it, so that both are known and stand out from each other. The screens of programs that are shown have
the colours that those programs chose.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.model import contrast, lights
from tallylight.ui.colours import Depth as Depth
from tallylight.ui.spans import Line, Span
from tallylight.wire.styled import Colour, Style

#: Synchronised output: the terminal shows nothing of what comes between the two until all of it is there.
BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"


def sgr(line: Line, depth: Depth) -> str:
    """A line as text and SGR sequences."""
    return "".join([_span(span, depth) for span in line])


def _span(span: Span, depth: Depth) -> str:
    codes = _attributes(span)
    if span.chip in lights.COLOURS and depth is not Depth.NONE:
        colour = lights.COLOURS[span.chip]
        codes += [_colour(48, colour, depth), _colour(38, contrast.readable_on(colour), depth)]
    if (style := span.style) is not None:
        codes += _attributes(style)
        for code, shade in ((38, style.foreground), (48, style.background)) if depth is not Depth.NONE else ():
            if shade is not None:
                codes.append(_colour(code, shade, depth))
    return f"\x1b[{';'.join(codes)}m{span.text}\x1b[0m" if codes else span.text


def _colour(code: int, colour: Colour, depth: Depth) -> str:
    if isinstance(colour, int):
        return f"{code};5;{colour}"
    # Semicolons: more terminals know them than the standard's colons.
    return f"{code};2;{';'.join(map(str, colour))}" if depth is Depth.FULL else f"{code};5;{lights.nearest(colour)}"


#: The attributes of a span or a style, by the parameter that sets each. Hidden text is blanks already.
_ATTRIBUTES = {"1": "is_bold", "2": "is_dim", "3": "is_italic", "4": "is_underlined", "7": "is_reverse",
               "9": "is_struck"}  # fmt: skip


def _attributes(look: Span | Style) -> list[str]:
    return [code for code, name in _ATTRIBUTES.items() if getattr(look, name, False)]


class Screen:
    """What stands on a screen, line by line."""

    def __init__(self) -> None:
        self._shown: list[str] = []

    def clear(self) -> None:
        """Nothing of what was drawn is there any more."""
        self._shown = []

    def update(self, lines: Sequence[str]) -> str:
        """What to write so that the screen shows *lines*; nothing if it does."""
        out: list[str] = []
        if not self._shown or len(lines) < len(self._shown):
            out.append("\x1b[0m\x1b[2J")
            self._shown = []
        for number, line in enumerate(lines):
            if number >= len(self._shown) or self._shown[number] != line:
                # Erased first: behind a full line the cursor still stands on its last cell.
                out.append(f"\x1b[{number + 1};1H\x1b[K{line}")
        self._shown = list(lines)
        return f"{BEGIN}{''.join(out)}{END}" if out else ""
