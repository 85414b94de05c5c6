"""
The row fields of this part, read and put into words. Every surface loads this, so it loads nothing else of the part.
"""

from __future__ import annotations

from tallylight.model.details import REPORTED_DENIALS
from tallylight.snapshot import values
from tallylight.snapshot.schema import Pane
from tallylight.ui.repository_text import signed

#: The field with the lines, added and removed.
DIFFSTAT = "diffstat"
#: The field with the counts of the last turn: commands, denials, files written outside, the last denials in a row.
DID = "did"


def _form(length: int) -> values.Form:
    """Return the form of a field of *length* counts."""

    def read(value: object) -> tuple[int, ...] | None:
        found = [values.count(one) for one in value] if isinstance(value, list | tuple) and len(value) == length else []
        counts = tuple(one for one in found if one is not None)
        return counts if len(counts) == length else None

    return values.Form(
        read, {"type": "array", "items": values.COUNT.schema, "minItems": length, "maxItems": length}, list
    )


DIFFSTAT_FORM, DID_FORM = _form(2), _form(4)


def show_diffstat(value: tuple[int, int]) -> str:
    """Return *value* as text: `+12 −3`; empty for none."""
    added, removed = value
    return signed(("+", added), ("−", removed))


def show_did(value: tuple[int, int, int, int]) -> str:
    """Return *value* in words: `14 commands, 2 denied, 1 outside`."""
    commands, denied, outside, in_a_row = value
    words = [
        f"{commands} command{'s' * (commands != 1)}" if commands else "",
        f"{denied} denied" if denied else "",
        f"{outside} outside" if outside else "",
    ]
    return ", ".join(filter(None, (_refused(in_a_row), *words)))


def fact(pane: Pane) -> str:
    """Return a few words for the list, where an agent is refused again and again, also while it works."""
    counts = pane.more.get(DID)
    return _refused(counts[-1]) if counts else ""


def _refused(in_a_row: int) -> str:
    return f"refused {in_a_row} times in a row" if in_a_row >= REPORTED_DENIALS else ""
