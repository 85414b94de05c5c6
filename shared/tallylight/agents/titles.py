"""
Title rules as data: which first character, or which item, of an agent's title means which status.

The table of an agent file goes in, `TitleRule`s come out; `evidence.titles` applies them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from tallylight.files.toml import Table
from tallylight.model.status import CONCLUDED, Kind, Status

_RANGE = re.compile(r"U\+([0-9A-F]{4,5})(?:-([0-9A-F]{4,5}))?")
#: The statuses that a title or a screen may show. `down` and `active` are our own conclusions.
_STATUSES = tuple(status.value for status in Status if status not in {*CONCLUDED, Status.ACTIVE})


@attrs.frozen
class TitleRule:
    """
    One rule. The title must begin with one of *glyphs* (followed by a space or its end), or have one of *items*.

    Items are the parts between ` | `. With *anywhere*, the glyph may be the first character of any item.
    """

    status: Status
    kind: Kind | None = None
    glyphs: frozenset[str] = frozenset()
    items: tuple[str, ...] = ()
    anywhere: bool = False


def parse_rules(tables: Iterable[Table]) -> tuple[TitleRule, ...]:
    return tuple(_parse(table) for table in tables)


def read_status(table: Table, what: str) -> tuple[str, str]:
    """Return the status and the kind in the table of a rule for *what*; "" if missing or wrong."""
    status = table.text("status", choices=_STATUSES)
    if not status:
        table.complain("status", f"is missing: say what this {what} means")
    return status, table.text("kind", choices=[kind.value for kind in Kind])


def _parse(table: Table) -> TitleRule:
    """Return one rule for titles; complain of its wrong entries."""
    status, kind = read_status(table, "title")
    glyphs: set[str] = set()
    for word in table.words("glyphs"):
        found = _RANGE.fullmatch(word)
        if found is not None:
            first = int(found[1], 16)
            last = int(found[2] or found[1], 16)
            if not first <= last <= first + 0x200:
                table.complain("glyphs", f"has {word!r}; a range goes up, by at most 512 characters")
                continue
            glyphs.update(chr(code) for code in range(first, last + 1))
        elif len(word) == 1:
            glyphs.add(word)
        else:
            table.complain("glyphs", f"has {word!a}; each is one character, U+2800 or U+2800-28FF")
    items = table.words("items")
    if not glyphs and not items:
        table.complain("glyphs", "or items is missing: say what to find in the title")
    anywhere = table.boolean("anywhere", False)
    table.close()
    return TitleRule(Status(status or Status.IDLE), Kind(kind) if kind else None, frozenset(glyphs), items, anywhere)
