"""
Layout: text fitted to cells, ages and statuses in words; for every surface made of text.

Every text in a snapshot may come from a program in a tab. `clean` is the only way for such text to a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from tallylight.model.status import Kind, Status
from tallylight.wire.text import sanitise, width

#: Wider than any line we draw: for pipes and files, which have no width.
UNBOUNDED_CELLS = 10_000
GAP = "  "


def clean(text: str, cells: int = 256) -> str:
    """Return untrusted *text* made harmless and at most *cells* wide, with an ellipsis where it was cut."""
    # Snapshots cap every text, so that this is not an invitation to sanitise a megabyte.
    whole = sanitise(text, cells=UNBOUNDED_CELLS)
    if width(whole) <= cells:
        return whole
    return sanitise(whole, cells=cells - 1).rstrip() + "…" if cells > 1 else "…"[:cells]


def end_of(text: str, cells: int) -> str:
    """Return the end of clean *text*, at most *cells* wide: a person looks at the letters typed last."""
    while width(text) > cells:
        text = text[1:]
    return text


def wrap(text: str, cells: int) -> list[str]:
    """Return clean *text* broken at its spaces into lines of at most *cells*; a wider word is left whole."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(lines[-1]) + 1 + width(word) <= cells:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def chop(text: str, cells: int) -> list[str]:
    """Return clean *text* broken wherever a line of *cells* is full; nothing is left out, blanks neither."""
    if width(text) <= cells:
        return [text]
    lines: list[str] = []
    while text:
        head = sanitise(text, cells=cells)
        # A character that is wider than the line, or that nothing precedes, has a line of its own.
        head = head if head and text.startswith(head) else text[:1]
        lines.append(head)
        text = text[len(head) :]
    return lines


def folded(text: str, cells: int) -> list[str]:
    """Return clean *text* in lines of at most *cells*, broken between words if possible; nothing is left out."""
    return [part for line in wrap(text, cells) for part in chop(line, cells)]


#: The operator between two commands in a shell, and the first word of the second one.
_JOINED = re.compile(r"(?:&&|\|\||[;|]) *[^\s;&|]\S*")
#: Cells of the beginning that are kept in front of a tail, at least.
_HEAD_CELLS = 8


def brief(text: str, cells: int) -> str:
    """
    Return *text*, which is clean already, cut to *cells*; the end of a command line is kept, for harm hides there.

    Of joined commands the last one is kept, at least with its operator and first word. Without room for these only the
    beginning is kept.
    """
    if width(text) <= cells:
        return text
    *_, last = [None, *_JOINED.finditer(text)]
    if last is None or width(last[0]) + _HEAD_CELLS + 2 > cells:
        return clean(text, cells)
    tail = clean(text[last.start() :], max(width(last[0]) + 1, cells - _HEAD_CELLS - 1))
    return f"{clean(text[: last.start()].rstrip() + ' ' * cells, cells - width(tail) - 1)} {tail}"


def pad(text: str, cells: int) -> str:
    """Return *text* filled with spaces to *cells*."""
    return text + " " * (cells - width(text))


def fit(rows: Sequence[Sequence[str]], columns: int, shrink: Mapping[int, int]) -> list[list[str]]:
    """
    Return the cells of a table padded to their columns, so that a line with gaps has at most *columns* cells.

    *shrink* names the columns that may be narrowed, in order, and the least width of each; one that would be narrower
    is left empty. An empty column takes no room.
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
    """Return a time span in at most four cells: `5s`, `12m`, `3h`, `9d`."""
    seconds = max(0, int(seconds))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{min(seconds // length, 999)}{unit}"
    return f"{seconds}s"


def duration(seconds: float) -> str:
    """Return a duration in words, to the minute from one minute on: `40 s`, `12 min`, `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(int(seconds) // 60, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])])


def left(seconds: float) -> str:
    """Return the time left as `age` does, rounded up: 14 min 59 s are `15m`."""
    seconds = max(0, math.ceil(seconds))
    for length in (86400, 3600, 60):
        if seconds >= length:
            return age(math.ceil(seconds / length) * length)
    return age(seconds)


def countdown(seconds: float) -> tuple[str, float]:
    """Return the rest of a limit in words, `12 min`, `2 h 14` or `3 d 4 h`; and seconds until the words change."""
    is_long = seconds > 86_400
    unit = 3600 if is_long else 60
    units = max(1, math.ceil(seconds / unit))
    large, small = divmod(units, 24 if is_long else 60)
    words = f"{large} d {small} h" if is_long else f"{large} h {small:02}" if large else f"{small} min"
    return words, seconds - (units - 1) * unit


def ago(at: float, now: float) -> str:
    """Return in words how long ago *at* was; 0 is an unknown time."""
    return f"{age(now - at)} ago" if at else "at an unknown time"


_OSC = re.compile(r"osc-([0-9]+)")


def rule_words(rule: str) -> str:
    """Return the rule of a report in words; a protocol by its number, `OSC 7501`."""
    return _OSC.sub(r"OSC \1", rule)


def status_words(status: Status, kind: Kind | None) -> str:
    """Return a status with its kind in words: `waiting (permission)`."""
    return f"{status.value} ({kind.value})" if kind else status.value
