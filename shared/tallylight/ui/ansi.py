"""
Lines of styled text as SGR sequences (ECMA-48), and only the changes of a screen.

A light that needs a person is filled, a working one is a plain mark. Each is moved in lightness until it contrasts with
the terminal's own background (`model.contrast`). A terminal that does not report its colours counts as a dark one. The
screens of programs keep the colours that those programs chose.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import attrs

from tallylight.model import contrast, lights
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.ui.colours import Depth as Depth
from tallylight.ui.spans import Line, Span
from tallylight.wire.styled import Colour, Style

#: Synchronised output: the terminal shows the part between the two at once.
BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
#: The share of the foreground in a raised ground.
RAISED = 0.13
#: The share of the foreground in dim text, where that is readable.
_DIM = 0.6
#: A grey that is readable on black and on white alike.
_GREY: RGB = (0x76, 0x76, 0x76)


@attrs.frozen
class Ground:
    """The terminal's own colours; None where it does not report them."""

    background: RGB | None = None
    foreground: RGB | None = None


UNKNOWN = Ground()


@attrs.frozen
class _Paint:
    """The colours on one ground: text and background of each light, of dim text; the raised ground."""

    lights: dict[Status, tuple[RGB, RGB | None]]
    dim: RGB
    raised: RGB | None


@functools.lru_cache(maxsize=8)
def _paint(ground: Ground) -> _Paint:
    """Return the colours for a terminal with *ground*, each with enough contrast."""
    background = ground.background or contrast.BLACK
    raised, dim = None, _GREY
    grounds = {background}
    if ground.background is not None and ground.foreground is not None:
        raised = lights.blend(ground.foreground, background, RAISED)
        grounds.add(raised)
        faint = lights.blend(ground.foreground, background, _DIM)
        dim = _sign(faint, background, frozenset(grounds))
    fills = contrast.fills_of(lights.COLOURS, frozenset({background}))
    found: dict[Status, tuple[RGB, RGB | None]] = {
        status: (_sign(colour, background, frozenset(grounds)), None) for status, colour in lights.COLOURS.items()
    }
    found |= {Status.IDLE: (dim, None)}
    found |= {status: (contrast.readable_on(fill), fill) for status, fill in fills.items()}
    news = contrast.news(lights.COLOURS[Status.DONE], background, fills[Status.WAITING])
    if news is not None:
        found[Status.DONE] = (contrast.readable_on(news), news)
    return _Paint(found, dim, raised)


def _sign(colour: RGB, background: RGB, grounds: frozenset[RGB]) -> RGB:
    """Return *colour* moved until it contrasts with *grounds*."""
    return contrast.moved(colour, grounds, contrast.SIGN_CONTRAST) or contrast.readable_on(background)


def sgr(line: Line, depth: Depth, ground: Ground = UNKNOWN) -> str:
    """Return a line as text and SGR sequences."""
    paint = None if depth is Depth.NONE else _paint(ground)
    return "".join([_span(span, depth, paint) for span in line])


def _span(span: Span, depth: Depth, paint: _Paint | None) -> str:
    """Return *span* as text with the SGR codes of its look."""
    codes = _plain(span) if paint is None else _coloured(span, depth, paint)
    if (style := span.style) is not None:
        codes += _attributes(style)
        for code, shade in ((38, style.foreground), (48, style.background)) if paint is not None else ():
            if shade is not None:
                codes.append(_colour(code, shade, depth))
    return f"\x1b[{';'.join(codes)}m{span.text}\x1b[0m" if codes else span.text


def _plain(span: Span) -> list[str]:
    """Return the codes of *span* without colour: a fill becomes reverse video."""
    is_filled = span.chip in lights.FILLED or (span.chip is Status.DONE and span.is_mark)
    codes = _attributes(span)
    return [*codes, "7"] if is_filled and "7" not in codes else codes


def _coloured(span: Span, depth: Depth, paint: _Paint) -> list[str]:
    """Return the codes of *span*; a fill replaces the ground behind it."""
    text: RGB | None = paint.dim if span.is_dim else None
    ground = paint.raised if span.is_raised else None
    if (chip := span.chip) in paint.lights:
        text, fill = paint.lights[chip]
        ground = fill or ground
    codes = _attributes(attrs.evolve(span, is_dim=False, is_reverse=span.is_reverse and ground is None))
    codes += [_colour(48, ground, depth)] if ground is not None else []
    return codes + ([_colour(38, text, depth)] if text is not None else [])


def _colour(code: int, colour: Colour, depth: Depth) -> str:
    """Return the parameters that set *colour*; *code* is 38 for the foreground and 48 for the background."""
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
    """The contents of a screen, line by line."""

    def __init__(self) -> None:
        self._shown: list[str] = []

    def clear(self) -> None:
        """Forget the contents: the screen was erased."""
        self._shown = []

    def update(self, lines: Sequence[str]) -> str:
        """Return the sequences that make the screen show *lines*; "" if it does."""
        out: list[str] = []
        if not self._shown or len(lines) < len(self._shown):
            out.append("\x1b[0m\x1b[2J")
            self._shown = []
        for number, line in enumerate(lines):
            if number >= len(self._shown) or self._shown[number] != line:
                # Erased first: behind a full line the cursor is still on its last cell.
                out.append(f"\x1b[{number + 1};1H\x1b[K{line}")
        self._shown = list(lines)
        return f"{BEGIN}{''.join(out)}{END}" if out else ""
