"""
WezTerm's list of panes, `wezterm cli list --format json`, and the feed that our Lua writes beside it.

https://wezterm.org/cli/cli/list.html . The list has no user variables and no focus. The feed has both, because only
WezTerm's own process knows them:

    {"number": 1700000000000, "version": 1, "life": "…", "front": "3,4", "workspace": "default", "problems": "keys",
    "release": "0.1.0",
    "wish": "1700000000000 jump 3", "keys": "jump=CTRL|SHIFT y; list=",
    "bar": {"touching": ["#333333"], "tab": "#333333", "active": "#000000", "colours": {}, "names": true},
    "panes": {"3": {"title": "…", "tab": 0, "window": 0, "is_local": true, "progress": false, "mux": "…",
        `"said": [{"n": 1, "value": "state=waiting;tool=claude"}]`}}}

`n` counts the values of a pane's variable, from 1 in each life of WezTerm's Lua state; `number` changes with each feed.
`problems` are the names of problems in Lua. Neither is trusted: a value of the wrong type costs its pane, or itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tallylight.evidence.screen import Look
from tallylight.hosts.wezterm import mux_word
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.model.lights import RGB
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.model.status import Status
from tallylight.snapshot.values import FLAG, Form, declared, key, read, status_of
from tallylight.wire import values
from tallylight.wire.styled import StyledScreen, read_screen

#: The first arguments of each query: it reaches the WezTerm that runs, and starts none.
CLI = ("cli", "--no-auto-start")
#: The most values of one pane's variable in the feed. Lua keeps 16.
MAX_SAID = 64
#: The largest feed, in bytes.
MAX_FEED = 4 * 1024 * 1024
#: The most colours of other handlers; Lua keeps as many.
MAX_GROUNDS = 16
_HEX = re.compile(r"#[0-9A-Fa-f]{6}\Z")
_MAX_FEED_TEXT_CHARS = 4096
_MAX_PANE_CELLS = 10_000
#: The largest number that Lua's JSON keeps exactly.
_MAX_LUA_NUMBER = 2**53 - 1


def _text(value: object) -> str:
    return values.text(value, _MAX_FEED_TEXT_CHARS)


def _id(value: object) -> str | None:
    number = values.integer(value, 0, _MAX_LUA_NUMBER)
    return str(number) if number is not None else None


def _items(value: object) -> list[tuple[str, Any]]:
    """Return the members of an object, at most as many as there may be panes."""
    return list(value.items())[:MAX_PANES] if isinstance(value, dict) else []


def _colour(value: object) -> RGB | None:
    """Return the colour `#rrggbb`; None for any other value."""
    if not isinstance(value, str) or not _HEX.match(value):
        return None
    red, green, blue = bytes.fromhex(value[1:])
    return red, green, blue


def _colours(value: object) -> tuple[RGB, ...]:
    """Return the colours in a list, without anything else in it."""
    listed = value[:MAX_GROUNDS] if isinstance(value, list) else []
    return tuple(colour for text in listed if (colour := _colour(text)) is not None)


def _of_statuses(value: object) -> tuple[tuple[Status, RGB], ...]:
    """Return the colours by their statuses."""
    pairs = ((status_of(name), _colour(text)) for name, text in _items(value))
    return tuple((status, colour) for status, colour in pairs if status is not None and colour is not None)


def _said(value: object) -> tuple[tuple[int, str], ...]:
    """Return the newest values of a pane's variable, each with its number."""
    words = [word for word in value[-MAX_SAID:] if isinstance(word, dict)] if isinstance(value, list) else []
    numbered = (
        (values.integer(word.get("n"), 1, _MAX_LUA_NUMBER), values.exact(word.get("value"), _MAX_FEED_TEXT_CHARS))
        for word in words
    )
    return tuple((n, word) for n, word in numbered if n is not None and word is not None)


def _wish(value: object) -> tuple[int, str, str]:
    """Return the wish that a person made by a key, `NUMBER VERB PANE`; none for any other text."""
    number, verb, id_ = [*_text(value).split(" "), "", ""][:3]
    return (values.digits(number, 16), verb, id_) if values.is_number(id_, 16) else (0, "", "")


def _keys(value: object) -> tuple[tuple[str, str], ...]:
    """Return the name and the key of each pair in `NAME=KEY; …`."""
    pairs = (part.partition("=") for part in _text(value).split("; "))
    return tuple((name, key) for name, is_, key in pairs if is_)


def _form(read_one: Callable[[Any], Any]) -> Form:
    """Return the form of a value that is only read."""
    return Form(read_one, {})


_TEXT, _ID, _COLOUR = _form(_text), _form(_id), _form(_colour)
_PLACE = _form(lambda value: values.integer(value, 0, _MAX_PANE_CELLS))
_SIZE = _form(lambda value: values.integer(value, 1, _MAX_PANE_CELLS))
_TTY = _form(lambda value: path if (path := _exact(value)).startswith("/dev/") else None)
_WORDS = _form(lambda value: frozenset(_text(value).split(",")) - {""})
_NUMBERS = _form(lambda value: frozenset(part for part in _text(value).split(",") if part.isascii() and part.isdigit()))


def _exact(value: object) -> str:
    return values.exact(value, _MAX_FEED_TEXT_CHARS) or ""


@attributes.frozen(kw_only=True)
class Row:
    """One pane of the list. *tty* is empty for a pane of another domain: its processes run elsewhere."""

    id: str = attributes.field(metadata=declared("", _ID, "pane_id"))
    tab: str = key("", form=_ID, name="tab_id")
    window: str = key("", form=_ID, name="window_id")
    workspace: str = key("", form=_TEXT)
    title: str = key("", form=_TEXT)
    tty: str = key("", form=_TTY, name="tty_name")
    #: Whether it has the keyboard of its tab.
    is_active: bool = key(False, form=FLAG)
    #: Whether it covers the other panes of its tab.
    is_zoomed: bool = key(False, form=FLAG)
    rows: int = key(24, form=_SIZE)
    columns: int = key(80, form=_SIZE, name="cols")
    cursor_row: int = key(0, form=_PLACE, name="cursor_y")
    cursor_column: int = key(0, form=_PLACE, name="cursor_x")
    cursor_visible: bool = key(True, form=_form(lambda value: value != "Hidden"), name="cursor_visibility")


@attributes.frozen(kw_only=True)
class FedPane:
    """One pane of the feed: its place, its title, and the values of its `tally` variable, numbered."""

    title: str = key("", form=_TEXT)
    tab: str = key("", form=_ID)
    window: str = key("", form=_ID)
    said: tuple[tuple[int, str], ...] = key((), form=_form(_said))
    #: Whether it shows a progress bar; None where WezTerm cannot tell.
    progress: bool | None = key(None, form=_form(lambda value: value if isinstance(value, bool) else None))
    #: The report of a mux server; None if there is none.
    server: ServerReport | None = key(None, form=_form(lambda value: mux_word.read(_exact(value))), name="mux")


@attributes.frozen(kw_only=True)
class TabBar:
    """
    WezTerm's tab bar as configured. *touching* are the colours beside an inactive tab.

    *grounds* are the colours that other handlers give tabs. Without *names*, a tab shows its program's title.
    """

    touching: frozenset[RGB] = key(
        frozenset({(0x33, 0x33, 0x33)}), form=_form(lambda value: frozenset(_colours(value)) or None)
    )
    tab: RGB = key((0x33, 0x33, 0x33), form=_COLOUR)
    active: RGB = key((0, 0, 0), form=_COLOUR)
    grounds: tuple[RGB, ...] = key((), form=_form(_colours))
    colours: tuple[tuple[Status, RGB], ...] = key((), form=_form(_of_statuses))
    names: bool = key(True, form=_form(lambda value: value is not False))

    @property
    def paint_key(self) -> tuple[Any, ...]:
        """The values that determine the paint on one ground."""
        return self.touching, self.active, self.colours


def _panes(value: object) -> dict[str, FedPane]:
    return {id_: pane for id_, one in _items(value) if (pane := read(FedPane, one)) is not None}


@attributes.frozen(kw_only=True)
class FeedState:
    """The whole feed. *life* changes with each reload of WezTerm's configuration."""

    number: int = key(0, form=_form(lambda value: values.integer(value, 0, _MAX_LUA_NUMBER)))
    life: str = key("", form=_TEXT)
    front: frozenset[str] = key(frozenset(), form=_NUMBERS)
    #: The workspace that its windows show; empty if unknown.
    workspace: str = key("", form=_TEXT)
    problems: frozenset[str] = key(frozenset(), form=_WORDS)
    #: The release of the Lua that wrote it; empty for an old one.
    release: str = key("", form=_TEXT)
    panes: Mapping[str, FedPane] = key({}, form=_form(_panes))
    bar: TabBar = key(TabBar(), form=_form(lambda value: read(TabBar, value)))
    #: The user's last request by a key: its number, its verb, and its pane.
    wish: tuple[int, str, str] = key((0, "", ""), form=_form(_wish))
    #: The key of each action, `list` and `CTRL|SHIFT i`; empty for one without a key.
    keys: tuple[tuple[str, str], ...] = key((), form=_form(_keys))

    @property
    def places(self) -> dict[str, tuple[str, str]]:
        """The tab and the window of each pane."""
        return {id_: (fed.tab, fed.window) for id_, fed in self.panes.items()}

    @property
    def servers(self) -> dict[str, ServerReport | None]:
        """The report of a mux server on each pane."""
        return {id_: fed.server for id_, fed in self.panes.items()}


def read_list(data: bytes) -> list[Row] | None:
    """Return the panes in the output of `wezterm cli list`; None if it is no list."""
    try:
        found = values.load(data)
    except DecodeError:
        return None
    if not isinstance(found, list):
        return None
    return [row for value in found[:MAX_PANES] if (row := _row(value)) is not None]


def _row(value: Any) -> Row | None:
    """Return the pane in one entry of the list; None without an id."""
    size = value.get("size") if isinstance(value, dict) else None
    found: Row | None = read(Row, value | size if isinstance(size, dict) else value)
    return found


def read_feed(data: bytes) -> FeedState | None:
    """Return the feed in *data*; None if it is none of this version."""
    try:
        found = values.load(data)
    except DecodeError:
        return None
    feed: FeedState | None = read(FeedState, found)
    return feed if feed is not None and found.get("version") == 1 else None


def screen(text: str, row: Row) -> list[str]:
    """Return the visible rows in the output of `wezterm cli get-text`, which may omit empty ones at the end."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = lines[: row.rows]
    return lines + [""] * (row.rows - len(lines))


def look(output: bytes, row: Row) -> Look:
    """Return the screen of *row* in the output of `wezterm cli get-text`."""
    return Look(
        screen(output.decode("utf-8", "replace"), row),
        cursor_row=min(row.cursor_row, row.rows - 1),
        cursor_column=row.cursor_column,
        columns=row.columns,
        cursor_visible=row.cursor_visible,
    )


def styled_screen(output: bytes, row: Row) -> StyledScreen:
    """Return the screen of *row* in the output of `wezterm cli get-text --escapes`."""
    cursor = (min(row.cursor_row, row.rows - 1), row.cursor_column) if row.cursor_visible else None
    return read_screen(screen(output.decode("utf-8", "replace"), row), row.columns, row.rows, cursor)
