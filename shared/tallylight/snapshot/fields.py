"""
The fields of a pane that parts declare: read, written and put into words by their declarations.

An empty value is not kept. A fault of a part costs its field.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from typing import Any

from tallylight.parts import Field, index
from tallylight.snapshot.values import COUNT, FLAG, NUMBER, TEXTS, Form, Json, short
from tallylight.wire.text import sanitise

#: The forms that a declaration can name, except `text`, which has a limit.
FORMS = {"texts": TEXTS, "number": NUMBER, "count": COUNT, "truth": FLAG}
#: The most cells of the words of all parts, shown after the outcome of a turn.
MAX_PART_WORDS_CELLS = 60

_EMPTY: tuple[object, ...] = (None, "", 0, False, ())


@functools.cache
def form(field: Field) -> Form:
    """Return how the values of *field* are read and written."""
    if field.form == "text":
        return short(field.limit)
    found = FORMS.get(field.form) or index.load(field.form)
    if not isinstance(found, Form):
        raise TypeError(f"{field.form} is no form of a field")
    return found


def read(value: Json) -> dict[str, Any]:
    """Return the fields of parts in *value*, a pane in JSON."""
    found = {}
    for name, field in index.fields().items():
        if value.get(name) is not None and (one := _safely(field, value[name])) not in _EMPTY:
            found[name] = one
    return found


def write(more: Mapping[str, Any]) -> Json:
    """Return *more*, the values of a pane by field, for JSON: each field of a part is in it."""
    return {name: _safely(field, more.get(name), is_written=True) for name, field in index.fields().items()}


def words(more: Mapping[str, Any]) -> str:
    """Return the values of parts in words: `+12 −3`; empty if there are none."""
    found = []
    for name, field in index.fields().items():
        if field.shown and name in more:
            with contextlib.suppress(Exception):  # a part must not cost a surface
                found.append(sanitise(index.load(field.shown)(more[name]), cells=MAX_PART_WORDS_CELLS))
    return sanitise("  ".join(filter(None, found)), cells=MAX_PART_WORDS_CELLS)


def _safely(field: Field, value: object, *, is_written: bool = False) -> Any:
    """Return *value* as read, or as written, by the form of *field*; None if its part fails."""
    try:
        kind = form(field)
        if not is_written or value is None:
            value = kind.read(value)
        return value if not is_written or value is None or kind.write is None else kind.write(value)
    except Exception:  # a part must not cost a snapshot
        return None
