"""Spans: pieces of text of one look each, for every drawing; a surface turns them into its own form, as `ansi` does."""

from __future__ import annotations

import attrs

from tallylight.model.status import Status
from tallylight.wire.styled import MAX_COLUMNS, Run, Style, StyledLine, cut
from tallylight.wire.text import width


@attrs.frozen
class Span:
    """
    A piece of text with one look.

    *chip* gives it the colour of that light, filled as its rank requires; *is_mark*: it is the light's mark alone.
    *is_raised*: its ground differs a little from the terminal's. Where that is unknown, *is_reverse* replaces it.
    *style* is that of a program's own screen.
    """

    text: str
    chip: Status | None = None
    is_mark: bool = False
    is_bold: bool = False
    is_dim: bool = False
    is_reverse: bool = False
    is_raised: bool = False
    style: Style | None = None


Line = tuple[Span, ...]


def filled(lines: list[Line], height: int) -> list[Line]:
    """Return the first *height* of *lines*, with empty ones behind them where there are fewer."""
    return (lines + [()] * height)[:height]


def cells(line: Line) -> int:
    """Return how many cells *line* takes."""
    return sum(width(span.text) for span in line)


def painted(line: StyledLine) -> Line:
    """Return *line* in its own style."""
    return tuple(Span(run.text, style=run.style) for run in line)


def with_cursor(line: StyledLine, column: int) -> StyledLine:
    """Return *line* with the cursor's cell, in *column*, in reverse."""
    before = cut(line, column)
    gap = column - sum(width(run.text) for run in before)
    under = cut(line, 1, column) or cut(line, 2, column) or (Run(" "),)
    lit = [attrs.evolve(run, style=attrs.evolve(run.style, is_reverse=not run.style.is_reverse)) for run in under]
    after = cut(line, MAX_COLUMNS, column + sum(width(run.text) for run in under))
    return (*before, *([Run(" " * gap)] if gap else []), *lit, *after)
