"""
WezTerm's list of panes, `wezterm cli list --format json`, and the feed that our Lua writes beside it.

https://wezterm.org/cli/cli/list.html . The list has no user variables and does not say which pane has the focus; the
feed has both, because only WezTerm's own process knows them:

    {"version": 1, "life": "…", "front": "3,4",
     "panes": {"3": {"title": "…", "is_local": true, "said": [{"n": 1, "value": "state=waiting;tool=claude"}]}}}

`n` counts what a pane has said, from 1 in each life of WezTerm's Lua state. Nothing in either is believed: what has
the wrong type costs its pane, or itself.
"""

from __future__ import annotations

import json
from typing import Any

import attrs

#: Ten times the panes anyone has.
MAX_PANES = 1000
#: Of the words of one pane in the feed. Lua keeps 16.
MAX_SAID = 64
_MAX_TEXT = 4096
_MAX_SIZE = 10_000


@attrs.frozen(kw_only=True)
class Row:
    """One pane of the list. *tty* is empty for a pane of another domain, whose processes are elsewhere."""

    id: str
    tab: str
    window: str
    workspace: str = ""
    title: str = ""
    tty: str = ""
    rows: int = 24
    columns: int = 80
    cursor_row: int = 0
    cursor_column: int = 0
    cursor_visible: bool = True


@attrs.frozen(kw_only=True)
class FedPane:
    """What the feed says of one pane: its title, and what its `tally` variable said, with the number of each word."""

    title: str = ""
    said: tuple[tuple[int, str], ...] = ()


@attrs.frozen(kw_only=True)
class FeedState:
    """The whole feed. *life* is another one after each reload of WezTerm's configuration."""

    life: str = ""
    front: frozenset[str] = frozenset()
    panes: dict[str, FedPane] = attrs.field(factory=dict)


def read_list(data: bytes) -> list[Row] | None:
    """The panes in the output of `wezterm cli list`; None if it is no list."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    return [row for value in found[:MAX_PANES] if (row := _row(value)) is not None]


def _row(value: Any) -> Row | None:
    if not isinstance(value, dict) or _number(value.get("pane_id")) is None:
        return None
    size = value.get("size")
    sizes = size if isinstance(size, dict) else {}
    tty = _text(value.get("tty_name"))
    return Row(
        id=str(value["pane_id"]),
        tab=_id(value.get("tab_id")),
        window=_id(value.get("window_id")),
        workspace=_text(value.get("workspace")),
        title=_text(value.get("title")),
        tty=tty if tty.startswith("/dev/") else "",
        rows=min(_number(sizes.get("rows")) or 24, _MAX_SIZE),
        columns=min(_number(sizes.get("cols")) or 80, _MAX_SIZE),
        cursor_row=_number(value.get("cursor_y")) or 0,
        cursor_column=_number(value.get("cursor_x")) or 0,
        cursor_visible=value.get("cursor_visibility") != "Hidden",
    )


def read_feed(data: bytes) -> FeedState | None:
    """The feed in *data*; None if it is none of this version."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("version") != 1:
        return None
    panes = found.get("panes")
    rows = list(panes.items())[:MAX_PANES] if isinstance(panes, dict) else []
    return FeedState(
        life=_text(found.get("life")),
        front=frozenset(part for part in _text(found.get("front")).split(",") if part.isascii() and part.isdigit()),
        panes={id_: _fed(value) for id_, value in rows if isinstance(value, dict)},
    )


def _fed(value: dict[str, Any]) -> FedPane:
    said = value.get("said")
    words = [word for word in said[-MAX_SAID:] if isinstance(word, dict)] if isinstance(said, list) else []
    numbered = [(_number(word.get("n")), word.get("value")) for word in words]
    return FedPane(
        title=_text(value.get("title")),
        said=tuple((n, value[:_MAX_TEXT]) for n, value in numbered if n and isinstance(value, str)),
    )


def screen(text: str, row: Row) -> list[str]:
    """The visible rows in the output of `wezterm cli get-text`, which may lack empty ones at the end."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = lines[: row.rows]
    return lines + [""] * (row.rows - len(lines))


def _text(value: object) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _id(value: object) -> str:
    number = _number(value)
    return "" if number is None else str(number)
