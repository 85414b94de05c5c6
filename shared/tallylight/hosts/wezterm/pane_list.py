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
from typing import Any

import attrs

from tallylight.evidence.screen import Look
from tallylight.hosts.wezterm import mux_word
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.model.errors import DecodeError
from tallylight.model.lights import RGB
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.model.status import Status
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
_STATUSES = {status.value: status for status in Status}
_MAX_FEED_TEXT_CHARS = 4096
_MAX_PANE_CELLS = 10_000
#: The largest number that Lua's JSON keeps exactly.
_MAX_LUA_NUMBER = 2**53 - 1


@attrs.frozen(kw_only=True)
class Row:
    """One pane of the list. *tty* is empty for a pane of another domain: its processes run elsewhere."""

    id: str
    tab: str
    window: str
    workspace: str = ""
    title: str = ""
    tty: str = ""
    #: Whether it has the keyboard of its tab.
    is_active: bool = False
    #: Whether it covers the other panes of its tab.
    is_zoomed: bool = False
    rows: int = 24
    columns: int = 80
    cursor_row: int = 0
    cursor_column: int = 0
    cursor_visible: bool = True


@attrs.frozen(kw_only=True)
class FedPane:
    """One pane of the feed: its place, its title, and the values of its `tally` variable, numbered."""

    title: str = ""
    tab: str = ""
    window: str = ""
    said: tuple[tuple[int, str], ...] = ()
    #: Whether it shows a progress bar; None where WezTerm cannot tell.
    progress: bool | None = None
    #: The report of a mux server; None if there is none.
    server: ServerReport | None = None


@attrs.frozen(kw_only=True)
class TabBar:
    """
    WezTerm's tab bar as configured. *touching* are the colours beside an inactive tab.

    *grounds* are the colours that other handlers give tabs. Without *names*, a tab shows its program's title.
    """

    touching: frozenset[RGB] = frozenset({(0x33, 0x33, 0x33)})
    tab: RGB = (0x33, 0x33, 0x33)
    active: RGB = (0, 0, 0)
    grounds: tuple[RGB, ...] = ()
    colours: tuple[tuple[Status, RGB], ...] = ()
    names: bool = True

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that determine the paint on one ground."""
        return self.touching, self.active, self.colours


@attrs.frozen(kw_only=True)
class FeedState:
    """The whole feed. *life* changes with each reload of WezTerm's configuration."""

    number: int = 0
    life: str = ""
    front: frozenset[str] = frozenset()
    #: The workspace that its windows show; empty if unknown.
    workspace: str = ""
    problems: frozenset[str] = frozenset()
    #: The release of the Lua that wrote it; empty for an old one.
    release: str = ""
    panes: dict[str, FedPane] = attrs.field(factory=dict)
    bar: TabBar = TabBar()
    #: The user's last request by a key: its number, its verb, and its pane.
    wish: tuple[int, str, str] = (0, "", "")
    #: The key of each action, `list` and `CTRL|SHIFT i`; empty for one without a key.
    keys: tuple[tuple[str, str], ...] = ()

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
    """Return one pane of the list; None if *value* is none."""
    if not isinstance(value, dict) or not (id_ := _id(value.get("pane_id"))):
        return None
    size = value.get("size")
    sizes = size if isinstance(size, dict) else {}
    tty = values.exact(value.get("tty_name"), _MAX_FEED_TEXT_CHARS) or ""
    return Row(
        id=id_,
        tab=_id(value.get("tab_id")),
        window=_id(value.get("window_id")),
        workspace=_text(value.get("workspace")),
        title=_text(value.get("title")),
        tty=tty if tty.startswith("/dev/") else "",
        is_active=value.get("is_active") is True,
        is_zoomed=value.get("is_zoomed") is True,
        rows=values.integer(sizes.get("rows"), 1, _MAX_PANE_CELLS) or 24,
        columns=values.integer(sizes.get("cols"), 1, _MAX_PANE_CELLS) or 80,
        cursor_row=values.integer(value.get("cursor_y"), 0, _MAX_PANE_CELLS) or 0,
        cursor_column=values.integer(value.get("cursor_x"), 0, _MAX_PANE_CELLS) or 0,
        cursor_visible=value.get("cursor_visibility") != "Hidden",
    )


def read_feed(data: bytes) -> FeedState | None:
    """Return the feed in *data*; None if it is none of this version."""
    try:
        found = values.load(data)
    except DecodeError:
        return None
    if not isinstance(found, dict) or found.get("version") != 1:
        return None
    rows = _items(found.get("panes"))
    return FeedState(
        number=values.integer(found.get("number"), 0, _MAX_LUA_NUMBER) or 0,
        life=_text(found.get("life")),
        workspace=_text(found.get("workspace")),
        problems=frozenset(_text(found.get("problems")).split(",")) - {""},
        release=_text(found.get("release")),
        front=frozenset(part for part in _text(found.get("front")).split(",") if part.isascii() and part.isdigit()),
        panes={id_: _fed(value) for id_, value in rows if isinstance(value, dict)},
        bar=_bar(found.get("bar")),
        wish=_wish(_text(found.get("wish"))),
        keys=tuple(
            (name, key)
            for part in _text(found.get("keys")).split("; ")
            for name, is_, key in [part.partition("=")]
            if is_
        ),
    )


def _wish(text: str) -> tuple[int, str, str]:
    """Return the last request by a key: its number, its verb and its pane; zero and blanks if *text* is none."""
    number, verb, id_ = [*text.split(" "), "", ""][:3]
    return (values.digits(number, 16), verb, id_) if values.is_number(id_, 16) else (0, "", "")


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items())[:MAX_PANES] if isinstance(value, dict) else []


def _bar(value: object) -> TabBar:
    """Return the tab bar in *value*; the default for what is missing or of a wrong type."""
    found = dict(_items(value))
    default = TabBar()
    colours = {
        _STATUSES[name]: colour
        for name, text in _items(found.get("colours"))
        if name in _STATUSES and (colour := _colour(text))
    }
    return TabBar(
        touching=frozenset(_colours(found.get("touching"))) or default.touching,
        tab=_colour(found.get("tab")) or default.tab,
        active=_colour(found.get("active")) or default.active,
        grounds=_colours(found.get("grounds")),
        colours=tuple((_STATUSES[name], colour) for name, colour in colours.items() if colour and name in _STATUSES),
        names=found.get("names") is not False,
    )


def _colours(value: object) -> tuple[RGB, ...]:
    listed = value[:MAX_GROUNDS] if isinstance(value, list) else []
    return tuple(colour for text in listed if (colour := _colour(text)) is not None)


def _colour(value: object) -> RGB | None:
    if not isinstance(value, str) or not _HEX.match(value):
        return None
    red, green, blue = bytes.fromhex(value[1:])
    return red, green, blue


def _fed(value: dict[str, Any]) -> FedPane:
    """Return one pane of the feed; values of a wrong type are left out."""
    said = value.get("said")
    words = [word for word in said[-MAX_SAID:] if isinstance(word, dict)] if isinstance(said, list) else []
    numbered = [
        (values.integer(word.get("n"), 1, _MAX_LUA_NUMBER), values.exact(word.get("value"), _MAX_FEED_TEXT_CHARS))
        for word in words
    ]
    return FedPane(
        title=_text(value.get("title")),
        tab=_id(value.get("tab")),
        window=_id(value.get("window")),
        # A longer value is none that the carrier accepts.
        said=tuple((n, word) for n, word in numbered if n is not None and word is not None),
        progress=bar if isinstance(bar := value.get("progress"), bool) else None,
        server=mux_word.read(values.exact(value.get("mux"), _MAX_FEED_TEXT_CHARS) or ""),
    )


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


def _text(value: object) -> str:
    return values.text(value, _MAX_FEED_TEXT_CHARS)


def _id(value: object) -> str:
    number = values.integer(value, 0, _MAX_LUA_NUMBER)
    return "" if number is None else str(number)
