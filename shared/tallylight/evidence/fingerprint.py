"""
The fingerprint of a screen that asks something: the same as long as a person would answer the very same screen.

It covers all visible rows and columns as they are drawn, the size of the screen, the keys of each choice, and the
selected one. No other colours count. Two things only are left out: blanks at the end of a row, which nobody can see,
and moving parts of an agent that waits. These are, outside of the dialog:

* above it, a bullet at the beginning of a row that comes and goes: as if a blank was there;
* above it, an elapsed time at the right edge, at least three blanks behind the text: `5s`, `1m 10s`;
* above and below it, the elapsed time of a status row that names the key to stop: `(12s • esc to interrupt)`;
* below it, a spinner at the beginning of a row: one of its glyphs as any other.

Nothing of the dialog itself is left out. It goes from its top (`evidence.frame`) to the row behind its last choice;
where that top is unknown, from the first row of the screen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from tallylight.model.dialog import Dialog
from tallylight.wire.text import width

#: Bullets in front of an agent's words and actions, which may blink.
_BULLETS = "●○⏺•◦∙·"
#: Glyphs of spinners: braille, circles, and Claude Code's stars.
_SPINNERS = "\u2800-\u28ff◐◑◒◓◴◵◶◷✢✳✶✻✽"
_BULLET = re.compile(rf"^( *)[{_BULLETS}{_SPINNERS}](?= )")
_SPINNER = re.compile(rf"^( *)[{_SPINNERS}](?= )")
_TIME = r"(?:\d{1,4}h ?)?(?:\d{1,2}m ?)?\d{1,4}s"
#: At the right edge a scroll bar may be behind it.
_CLOCK = re.compile(rf"(?<= {{3}})({_TIME})(?= ?[┃│█]?$)", re.ASCII)
_STATUS = re.compile(rf"(?<=\(){_TIME}(?= [•·] [^()]*\besc to (?:interrupt|cancel|stop)\b[^()]*\))", re.ASCII)
#: Columns from the right edge, at most, where such a time ends.
_CLOCK_EDGE_COLUMNS = 3


def fingerprint(lines: Sequence[str], columns: int, dialog: Dialog) -> str:
    """
    Return the fingerprint of a screen that shows *dialog*: 32 hexadecimal digits.

    *lines* are its visible rows, *columns* its width. It is for one run on one machine, and must not be kept.
    """
    choices = [f"{choice.keys!a} {choice.label!a} {choice.is_selected:d}" for choice in dialog.choices]
    parts = [
        f"{columns} {len(lines)} {dialog.rule} {len(choices)}",
        *choices,
        *steady_rows(lines, columns, dialog),
    ]
    return hashlib.blake2s("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def steady_rows(lines: Sequence[str], columns: int, dialog: Dialog) -> list[str]:
    """Return *lines* without the parts that may move around *dialog*; none may around one without a place."""
    if dialog.place is None:
        return [line.rstrip(" ") for line in lines]
    top, end = dialog.top, dialog.place.end
    above = []
    for line in lines[:top]:
        row = line.rstrip(" ")
        found = _CLOCK.search(row)
        # A row that is wider has been wrapped, and joined by the terminal.
        if found is not None and columns - _CLOCK_EDGE_COLUMNS <= width(row) <= columns:
            row = f"{row[: found.start()]}{' ' * len(found[0])}{row[found.end() :]}".rstrip(" ")
        above.append(_STATUS.sub("0s", _BULLET.sub(r"\1 ", row, count=1)))
    below = [_STATUS.sub("0s", _SPINNER.sub(r"\1⠿", line.rstrip(" "), count=1)) for line in lines[end:]]
    return [*above, *(line.rstrip(" ") for line in lines[top:end]), *below]
