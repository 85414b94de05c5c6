"""Panes of snapshots, made and changed by the names that their fields have in JSON."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import attrs

from tallylight.snapshot.schema import Pane

#: The entries of a pane whose fields lie in JSON beside its own; all fields; and those entries by the inner names.
_INLINE = [one for one in attrs.fields(Pane) if "inline" in one.metadata]
FIELDS: dict[str, Any] = {
    one.metadata["key"].name or one.name: one
    for cls in (Pane, *(one.metadata["inline"] for one in _INLINE))
    for one in attrs.fields(cls)
    if "key" in one.metadata
}
_INNER = {
    name: one.name for one in _INLINE for name, field in FIELDS.items() if field in attrs.fields(one.metadata["inline"])
}


def new_pane(**said: Any) -> Pane:
    """A pane with these fields."""
    return pane_with(Pane(**{name: value for name, value in said.items() if name not in _INNER}), **said)


def pane_with(pane: Pane, **said: Any) -> Pane:
    """*pane* with these fields."""
    inner: dict[str, dict[str, Any]] = defaultdict(dict)
    for name in said.keys() & _INNER.keys():
        inner[_INNER[name]][FIELDS[name].name] = said.pop(name)
    return attrs.evolve(pane, **said, **{name: attrs.evolve(getattr(pane, name), **new) for name, new in inner.items()})


def field_of(pane: Pane, name: str) -> Any:
    """The value of that field of *pane*."""
    return getattr(getattr(pane, _INNER[name]) if name in _INNER else pane, FIELDS[name].name)
