"""The panes that one other machine has reported, by either way: limited, whatever it sends."""

from __future__ import annotations

import attrs

from tallylight.snapshot.schema import Pane

#: A host over there, and the id of one of its panes.
Key = tuple[str, str]


@attrs.frozen
class Row:
    """A pane, its size in bytes, and the life of its machine, over a broker."""

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
    #: Whether there were more rows than fit.
    is_cut: bool = attrs.field(init=False, default=False)

    def put(self, key: Key, row: Row) -> bool:
        """Replace the row of a pane, or drop it if there is no room; return whether that changed anything."""
        before = self.rows.get(key)
        self.drop(key)
        if len(self.rows) >= self.max_rows or self.size + row.size > self.max_bytes:
            self.is_cut = True
            return before is not None
        self.rows[key] = row
        self.size += row.size
        return before != row

    def drop(self, key: Key) -> bool:
        """Drop a row; return whether there was one."""
        found = self.rows.pop(key, None)
        if found is not None:
            self.size -= found.size
        return found is not None

    def clear(self) -> None:
        self.rows.clear()
        self.size, self.is_cut = 0, False
