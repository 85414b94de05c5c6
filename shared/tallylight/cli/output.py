"""
Output of the commands: where colour is decided, text is fitted to the screen, and ages are worded.

Everything that comes out of a snapshot was written by programs in tabs. `clean` is the only way for such text to a
terminal.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TextIO

import attrs

from tallylight import paint
from tallylight.status import Kind, Status
from tallylight.text import sanitise, width

#: Wider than any line we draw: for pipes and files, which have no width.
UNBOUNDED = 10_000
GAP = "  "


@attrs.frozen
class Output:
    """One stream and what it can show: *columns* cells a line, colour, and of that the full range or 256."""

    stream: TextIO
    columns: int = UNBOUNDED
    colour: bool = False
    full_colour: bool = False

    @classmethod
    def to(cls, stream: TextIO, environ: Mapping[str, str]) -> Output:
        """Find out what *stream* can show. NO_COLOR (https://no-color.org) and COLUMNS are obeyed."""
        if hasattr(stream, "reconfigure"):
            # A locale that has no `✓` shows `?`, rather than a traceback.
            stream.reconfigure(errors="replace")
        if not stream.isatty():
            return cls(stream)
        term = environ.get("TERM", "")
        return cls(
            stream,
            columns=_columns(stream, environ),
            colour=not environ.get("NO_COLOR") and term not in ("", "dumb"),
            full_colour=environ.get("COLORTERM") in ("truecolor", "24bit") or term in ("xterm-kitty", "wezterm"),
        )

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.stream.write(f"{text}\n")

    def lit(self, status: Status, text: str) -> str:
        """Return *text* in the colour of *status*."""
        rgb = paint.COLOURS.get(status)
        return text if rgb is None else self.coloured(rgb, text)

    def coloured(self, rgb: paint.RGB, text: str) -> str:
        """Return *text* in a colour, where there are colours."""
        if not self.colour:
            return text
        # Semicolons: more terminals know them than the standard's colons, and this may be any terminal.
        code = f"2;{rgb[0]};{rgb[1]};{rgb[2]}" if self.full_colour else f"5;{_nearest(rgb)}"
        return f"\x1b[38;{code}m{text}\x1b[39m"

    def strong(self, text: str) -> str:
        """Return *text* in bold."""
        return f"\x1b[1m{text}\x1b[22m" if self.colour else text


def _columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    asked = environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked[:6]) > 0:
        return int(asked[:6])
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _nearest(rgb: paint.RGB) -> int:
    """Return the nearest colour of the 6x6x6 cube of 256-colour terminals."""
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = (min(range(6), key=lambda n: abs(levels[n] - channel)) for channel in rgb)
    return 16 + 36 * red + 6 * green + blue


def clean(text: str, cells: int = 256) -> str:
    """Make untrusted *text* harmless and at most *cells* wide, with an ellipsis where it was cut."""
    # Snapshots cap every text, so that this is not an invitation to sanitise a megabyte.
    whole = sanitise(text, cells=UNBOUNDED, graphemes=UNBOUNDED)
    if width(whole) <= cells:
        return whole
    return sanitise(whole, cells=cells - 1, graphemes=cells - 1).rstrip() + "…" if cells > 1 else "…"[:cells]


def pad(text: str, cells: int) -> str:
    """Fill *text* with spaces to *cells*."""
    return text + " " * (cells - width(text))


def fit(rows: Sequence[Sequence[str]], columns: int, shrink: Mapping[int, int]) -> list[list[str]]:
    """
    Pad the cells of a table to the widths of its columns, so that a line with gaps has at most *columns* cells.

    *shrink* names the columns that may give way, in order, and how narrow each may become; one that would be
    narrower still is left empty. An empty column takes no room.
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]

    def excess() -> int:
        kept = [cells for cells in widths if cells]
        return sum(kept) + len(GAP) * (len(kept) - 1) - columns

    for index, least in shrink.items():
        if (over := excess()) > 0 and widths[index]:
            widths[index] = widths[index] - over if widths[index] - over >= least else 0
    return [[pad(clean(cell, cells), cells) for cell, cells in zip(row, widths, strict=True)] for row in rows]


def age(seconds: float) -> str:
    """Word a time span in at most four cells: `5s`, `12m`, `3h`, `9d`."""
    seconds = max(0, int(seconds))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{min(seconds // length, 999)}{unit}"
    return f"{seconds}s"


def ago(at: float, now: float) -> str:
    """Word how long ago *at* was; a time nobody knows is 0."""
    return f"{age(now - at)} ago" if at else "at an unknown time"


def status_words(status: Status, kind: Kind | None) -> str:
    """Word a status with its kind: `waiting (permission)`."""
    return f"{status.value} ({kind.value})" if kind else status.value
