"""
tmux's list of panes, and what to ask it for. https://man.openbsd.org/tmux.1#FORMATS

Names, titles and paths may hold anything, also what looks like a separator, and old versions print line ends in them
as they are. So rows and fields are kept apart by a word that nobody can guess: `Form(secret)` is both the format to ask
with and the reader of the answer.
"""

from __future__ import annotations

import attrs

from tallylight.model.limits import MAX_PANES as MAX_PANES

#: In the order in which they are asked for. What is free text comes with the others: the secret keeps it apart.
_FIELDS = (
    "pid", "pane_id", "pane_pid", "session_id", "session_name", "window_id", "window_index", "pane_active",
    "window_zoomed_flag", "window_activity", "pane_dead", "pane_title", "@tally",
)  # fmt: skip
_CLIENT = ("client_control_mode", "session_id", "window_id", "client_flags", "client_tty", "client_pid", "focus-events")
#: Of one pane that is about to be typed into; `bracket_paste_flag` since 3.7, nothing before.
_PANE = (
    "pid", "pane_id", "pane_pid", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized",
    "bracket_paste_flag", "pane_title",
)  # fmt: skip
_SCREEN = ("pane_id", "cursor_x", "cursor_y", "cursor_flag", "pane_width", "pane_height", "pane_dead")


@attrs.frozen
class TmuxPane:
    """One pane. Ids are tmux's own: `%3`, `$1`, `@2`. *light* is what its window's `@tally` option holds."""

    #: The process of the server.
    server: int
    id: str
    #: Its first process; 0 if it has ended.
    pid: int
    session_id: str
    session: str
    window_id: str
    window: str
    is_active: bool
    is_zoomed: bool
    #: The second since the epoch in which something was last drawn in its window.
    drawn_at: int
    is_dead: bool
    title: str
    light: str


@attrs.frozen
class Client:
    """
    A terminal that is attached: its process, and the session and window it shows.

    *is_focused* is None where tmux does not know: without `focus-events` it calls every client focused.
    """

    is_control: bool
    session_id: str
    window_id: str
    is_focused: bool | None
    tty: str
    pid: int


@attrs.frozen
class Cursor:
    """Where the cursor of a pane is, from 0, and the pane's size."""

    column: int
    row: int
    is_visible: bool
    columns: int
    rows: int
    is_dead: bool


@attrs.frozen
class Target:
    """
    A pane as one that is typed into.

    *has_keys*: what is typed goes to its program, and not to tmux's own modes; *is_synchronized*: it goes to others,
    too. *takes_paste*: whether the program has asked for bracketed paste; None from a tmux that does not tell.
    """

    #: The process of the server.
    server: int
    id: str
    pid: int
    has_keys: bool
    is_synchronized: bool
    takes_paste: bool | None
    title: str


@attrs.frozen
class Form:
    """The formats to ask with, and the readers of what comes back. *secret* is a word of letters and digits."""

    secret: str

    def _mark(self, kind: str) -> str:
        """What a row begins with: as secret as what separates its fields, and another thing."""
        half = len(self.secret) // 2
        return f"{self.secret[:half]}{kind}{self.secret[half:]}"

    # No `;` at the end: tmux would take it for the end of the command.
    def _format(self, kind: str, names: tuple[str, ...]) -> str:
        return self._mark(kind) + self.secret.join(f"#{{{name}}}" for name in names) + f"{self.secret}!"

    @property
    def panes(self) -> str:
        """For `list-panes -a -F`."""
        return self._format("P", _FIELDS)

    @property
    def clients(self) -> str:
        """For `list-clients -F`."""
        return self._format("C", _CLIENT)

    @property
    def screen(self) -> str:
        """For `display-message -p`, behind `capture-pane -p`."""
        return self._format("S", _SCREEN)

    @property
    def target(self) -> str:
        """For `display-message -p`, behind `screen`."""
        return self._format("T", _PANE)

    def _row(self, part: str, size: int) -> list[str] | None:
        """The fields of one row. Behind the last row stands what was asked for next."""
        row = part.split(self.secret)
        return row[:size] if len(row) > size and row[size].startswith("!") else None

    def _parts(self, kind: str, text: str) -> list[str]:
        return text.split(self._mark(kind))[1 : 2 * MAX_PANES]

    def read_panes(self, text: str, known: dict[str, TmuxPane] | None = None) -> list[TmuxPane]:
        """
        The panes in *text*, each once: of a window that is linked to several sessions, the first.

        *known* holds what was read the last time: of a row that is the same the pane is the same object.
        """
        before = known or {}
        read: dict[str, TmuxPane] = {}
        found: dict[str, TmuxPane] = {}
        for part in self._parts("P", text):
            pane = before.get(part) or self._pane(part)
            if pane is not None and pane.id not in found and len(found) < MAX_PANES:
                read[part] = found[pane.id] = pane
        if known is not None:
            known.clear()
            known.update(read)
        return list(found.values())

    def _pane(self, part: str) -> TmuxPane | None:
        row = self._row(part, len(_FIELDS))
        field = dict(zip(_FIELDS, row, strict=True)) if row is not None else {}
        if not field.get("pane_id", "").startswith("%"):
            return None
        return TmuxPane(
            server=_number(field["pid"]),
            id=field["pane_id"],
            pid=_number(field["pane_pid"]),
            session_id=field["session_id"],
            session=field["session_name"],
            window_id=field["window_id"],
            window=field["window_index"],
            is_active=field["pane_active"] == "1",
            is_zoomed=field["window_zoomed_flag"] == "1",
            drawn_at=_number(field["window_activity"]),
            is_dead=field["pane_dead"] == "1",
            title=field["pane_title"],
            light=field["@tally"],
        )

    def read_clients(self, text: str) -> list[Client]:
        """The attached terminals in *text*."""
        found = []
        rows = (self._row(part, len(_CLIENT)) for part in self._parts("C", text))
        for control, session_id, window_id, flags, tty, pid, focus_events in (row for row in rows if row is not None):
            words = flags.split(",")
            is_control = control == "1" or "control-mode" in words
            # Before 3.3 there are no such words.
            is_focused = "focused" in words if flags and focus_events in ("1", "on") else None
            found.append(Client(is_control, session_id, window_id, is_focused, tty, _number(pid)))
        return found

    def read_screens(self, text: str) -> dict[str, tuple[Cursor, list[str]]]:
        """
        The cursors and visible rows in *text*, by pane: of each what `capture-pane -p` gave, then what `screen` did.

        tmux breaks off at a pane that is gone: neither it nor those behind it are there.
        """
        found: dict[str, tuple[Cursor, list[str]]] = {}
        rows, *parts = text.split(self._mark("S"))[: MAX_PANES + 1]
        for part in parts:
            head, mark, rest = part.partition(f"{self.secret}!")
            fields = head.split(self.secret)
            if mark and len(fields) == len(_SCREEN) and all(n.isascii() and n.isdigit() for n in fields[1:6]):
                column, row, visible, width, height = (int(number[:6]) for number in fields[1:6])
                # tmux leaves out the empty rows at the end.
                lines = [*rows.removesuffix("\n").split("\n"), *[""] * height][:height]
                found[fields[0]] = Cursor(column, row, visible != 0, width, height, fields[6] == "1"), lines
            rows = rest.removeprefix("\n")
        return found

    def read_target(self, text: str) -> Target | None:
        """The pane in *text* that is to be typed into; None if it is gone."""
        parts = self._parts("T", text)
        row = self._row(parts[0], len(_PANE)) if parts else None
        field = dict(zip(_PANE, row, strict=True)) if row is not None else {}
        if not field.get("pane_id", "").startswith("%") or field["pane_dead"] == "1":
            return None
        paste = field["bracket_paste_flag"]
        return Target(
            server=_number(field["pid"]),
            id=field["pane_id"],
            pid=_number(field["pane_pid"]),
            has_keys=field["pane_in_mode"] in ("", "0") and field["pane_input_off"] in ("", "0"),
            is_synchronized=field["pane_synchronized"] == "1",
            takes_paste=paste == "1" if paste else None,
            title=field["pane_title"],
        )

    def behind_screens(self, text: str) -> str:
        """What stands in *text* behind the last of the screens."""
        return text.rpartition(f"{self.secret}!")[2]


def _number(text: str) -> int:
    """A pid; 0 where there is none, as new versions say of a dead pane."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 11 else 0
