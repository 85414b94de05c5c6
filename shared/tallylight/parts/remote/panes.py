"""
The panes of one other machine as it has reported them, by either way: bounded, whatever it says.
"""

from __future__ import annotations

import attrs

from tallylight.snapshot.schema import Pane

#: A host over there, and the id of a pane of its.
Key = tuple[str, str]


@attrs.frozen
class Row:
    """A pane, the bytes about it, and the life of its machine, over a broker."""

    pane: Pane
    size: int = attrs.field(eq=False)
    life: str = ""


@attrs.define
class Panes:
    """The rows of one machine: at most *max_rows*, of *max_bytes* in all."""

    max_rows: int
    max_bytes: int
    rows: dict[Key, Row] = attrs.field(init=False, factory=dict)
    size: int = attrs.field(init=False, default=0)
    #: Whether there were more than have room.
    is_cut: bool = attrs.field(init=False, default=False)

    def put(self, key: Key, row: Row) -> bool:
        """Take a row in the place of what was known of that pane, also where it has no room; whether that is news."""
        before = self.rows.get(key)
        self.drop(key)
        if len(self.rows) >= self.max_rows or self.size + row.size > self.max_bytes:
            self.is_cut = True
            return before is not None
        self.rows[key] = row
        self.size += row.size
        return before != row

    def drop(self, key: Key) -> bool:
        """Forget a row; whether there was one."""
        found = self.rows.pop(key, None)
        if found is not None:
            self.size -= found.size
        return found is not None

    def clear(self) -> None:
        """Forget all."""
        self.rows.clear()
        self.size, self.is_cut = 0, False
