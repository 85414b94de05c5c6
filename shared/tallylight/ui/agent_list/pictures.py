"""
Pictures of a pane's screen, sent from the terminal that owns the pane to its list: only the rows that changed.

    {"number": 7, "since": 6, "columns": 80, "count": 24, "cursor": [3, 0], "rows": [[3, "\\u001b[m❯ "]]}

Each row is text with SGR sequences of its own. `since` is the picture that the changes are for, 0 for an empty one. The
terminal only compares; the list reads the rows (`wire.styled`), and trusts nothing in them.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.model.limits import MAX_EXACT
from tallylight.wire import values
from tallylight.wire.styled import MAX_COLUMNS, MAX_ROWS, MAX_STYLED_ROW_CHARS, Reader, StyledLine, StyledScreen

#: Characters of all rows of one picture, each at most 12 bytes in JSON; the rows behind that are left out.
MAX_PICTURE_CHARS = 340_000


@attrs.define
class Sender:
    """The terminal's side: the last picture that it sent to one list."""

    _pane: str = ""
    _number: int = 0
    _rows: list[str] = attrs.Factory(list)

    def picture(
        self, pane: str, rows: Sequence[str], columns: int, cursor: tuple[int, int] | None, has: int
    ) -> dict[str, object]:
        """Return the screen of *pane* as a message for a list that has the picture number *has*."""
        kept = [row[:MAX_STYLED_ROW_CHARS] for row in rows[:MAX_ROWS]]
        is_known = has == self._number > 0 and pane == self._pane
        before = self._rows if is_known else []
        changed = [
            [index, row] for index, row in enumerate(kept) if row != (before[index] if index < len(before) else "")
        ]
        left = MAX_PICTURE_CHARS
        for position, (_, row) in enumerate(changed):
            left -= len(str(row))
            if left < 0:
                del changed[position:]
                break
        since = self._number if is_known else 0
        if changed or not is_known or len(kept) != len(before):
            self._number += 1
        # A row that was left out counts as sent: it comes when it changes, or with the next whole picture.
        self._pane, self._rows = pane, kept
        return {
            "number": self._number,
            "since": since,
            "columns": columns,
            "count": len(kept),
            "cursor": list(cursor) if cursor is not None else None,
            "rows": changed,
        }


@attrs.define
class Receiver:
    """The list's side: the picture of one pane, as received so far."""

    _pane: str = ""
    number: int = 0
    _columns: int = 0
    _lines: list[StyledLine] = attrs.Factory(list)

    def has(self, pane: str) -> int:
        """Return the number of the present picture of *pane*; 0 for none."""
        return self.number if pane == self._pane else 0

    def take(self, pane: str, message: object) -> StyledScreen | None:
        """Return the screen of *pane* after *message*; None if it is invalid, or changes a picture that is not here."""
        if not isinstance(message, dict):
            return None
        number, since = (values.integer(message.get(name), 0, MAX_EXACT) for name in ("number", "since"))
        columns = values.integer(message.get("columns"), 1, MAX_EXACT)
        count = values.integer(message.get("count"), 0, MAX_ROWS)
        rows = message.get("rows")
        if number is None or since is None or columns is None or count is None or not isinstance(rows, list):
            return None
        columns = min(columns, MAX_COLUMNS)
        # Rows that have not changed may yet have been cut at other columns.
        if since and (since != self.has(pane) or columns != self._columns):
            self.number = 0
            return None
        lines = [*(self._lines if since else ()), *[()] * count][:count]
        if not _has_put(lines, rows, columns):
            return None
        self._pane, self.number, self._columns, self._lines = pane, number, columns, lines
        return StyledScreen(columns=columns, lines=tuple(lines), cursor=_cursor(message.get("cursor")))


def _has_put(lines: list[StyledLine], rows: list[object], columns: int) -> bool:
    """Put each of *rows* into its place in *lines*; False if one of them is no row."""
    if len(rows) > MAX_ROWS:
        return False
    for row in rows:
        match row:
            case [int() as index, str() as text] if 0 <= index < len(lines) and not isinstance(index, bool):
                lines[index] = Reader(columns).line(text)
            case _:
                return False
    return True


def _cursor(value: object) -> tuple[int, int] | None:
    """Return the row and the column of the cursor in *value*; None for a hidden one."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    row, column = (values.integer(part, 0, MAX_COLUMNS) for part in value)
    return (row, column) if row is not None and column is not None else None
