"""
tmux's lists of panes, clients and screens, and the formats to query them. https://man.openbsd.org/tmux.1#FORMATS

Names, titles and paths may hold anything, even text like a separator, and old versions print line ends in them. So an
unguessable word separates rows and fields: `QueryFormat(secret)` makes the format and reads the answer.
"""

from __future__ import annotations

import attrs

from tallylight.evidence.screen import Look
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.wire.values import digits, is_number

#: A kind of row: the letter it begins with, and the names of its fields.
Rows = tuple[str, tuple[str, ...]]
#: For `list-panes -a -F`.
PANES: Rows = "P", (
    "pid", "pane_id", "pane_pid", "session_id", "session_name", "window_id", "window_index", "pane_active",
    "window_zoomed_flag", "window_activity", "pane_dead", "pane_tty", "pane_title", "@tally",
)  # fmt: skip
#: For `list-clients -F`.
CLIENTS: Rows = "C", (
    "client_control_mode", "session_id", "window_id", "client_flags", "client_tty", "client_pid", "focus-events",
    "client_activity",
)  # fmt: skip
#: For `display-message -p`, after `capture-pane -p`.
SCREENS: Rows = "S", ("pane_id", "cursor_x", "cursor_y", "cursor_flag", "pane_width", "pane_height", "pane_dead")
#: Not a name: the number of the first row that is not empty, or 0; empty from a tmux that cannot search rows.
_FINDS = "C/r:."
#: For `display-message -p`, before typing into a pane. `bracket_paste_flag` is empty before 3.7.
TARGET: Rows = "T", (
    "pid", "pane_id", "pane_pid", "pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized",
    "bracket_paste_flag", _FINDS, "pane_title",
)  # fmt: skip


@attrs.frozen
class TmuxPane:
    """One pane. Ids are tmux's own: `%3`, `$1`, `@2`. *light* is its window's `@tally` option."""

    #: The server's process.
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
    #: The second since the epoch when its window was last drawn.
    drawn_at: int
    is_dead: bool
    title: str
    light: str
    #: Its terminal.
    tty: str = ""


@attrs.frozen
class Client:
    """
    An attached terminal: its process, and the session and window it shows.

    *is_focused* is None if unknown: without `focus-events` tmux calls every client focused.
    """

    is_control: bool
    session_id: str
    window_id: str
    is_focused: bool | None
    tty: str
    pid: int
    #: The second since the epoch of the last key there.
    active_at: int = 0


@attrs.frozen
class Target:
    """
    A pane to type into.

    *has_keys*: keys reach its program, and not tmux's own modes. *is_synchronized*: they reach other panes, too.
    *takes_paste*: the program uses bracketed paste; None if tmux does not know. *finds*: this tmux can search rows
    (`hosts.tmux.guard`).
    """

    #: The server's process.
    server: int
    id: str
    pid: int
    has_keys: bool
    is_synchronized: bool
    takes_paste: bool | None
    finds: bool
    title: str


@attrs.frozen
class QueryFormat:
    """Makes formats for tmux's queries, and reads the answers. *secret* is a random word of letters and digits."""

    secret: str

    def ask(self, rows: Rows) -> str:
        """Return the format for *rows*. It does not end in `;`, which would end tmux's command."""
        kind, names = rows
        return self._mark(kind) + self.secret.join(f"#{{{name}}}" for name in names) + f"{self.secret}!"

    def _mark(self, kind: str) -> str:
        """Return the start of a row: as secret as the separator of fields, but different."""
        half = len(self.secret) // 2
        return f"{self.secret[:half]}{kind}{self.secret[half:]}"

    def _parts(self, rows: Rows, text: str) -> list[str]:
        """Return the text of each row of *rows* in *text*."""
        return text.split(self._mark(rows[0]))[1 : 2 * MAX_PANES]

    def _fields(self, rows: Rows, part: str) -> dict[str, str]:
        """Return the fields of one row by their names; empty if it is incomplete. Text may follow the last field."""
        names, row = rows[1], part.split(self.secret)
        is_whole = len(row) > len(names) and row[len(names)].startswith("!")
        return dict(zip(names, row, strict=False)) if is_whole else {}

    def read_panes(self, text: str, known: dict[str, TmuxPane] | None = None) -> list[TmuxPane]:
        """
        Return the panes in *text*, each once; for a window in several sessions, that of the first.

        *known* holds the last result by row: an unchanged row returns the same object.
        """
        before = known or {}
        read: dict[str, TmuxPane] = {}
        found: dict[str, TmuxPane] = {}
        for part in self._parts(PANES, text):
            pane = before.get(part) or self._pane(part)
            if pane is not None and pane.id not in found and len(found) < MAX_PANES:
                read[part] = found[pane.id] = pane
        if known is not None:
            known.clear()
            known.update(read)
        return list(found.values())

    def _pane(self, part: str) -> TmuxPane | None:
        """Return the pane in *part*, one row; None if it is incomplete."""
        field = self._fields(PANES, part)
        if not field.get("pane_id", "").startswith("%"):
            return None
        return TmuxPane(
            server=digits(field["pid"], 10),
            id=field["pane_id"],
            pid=digits(field["pane_pid"], 10),
            session_id=field["session_id"],
            session=field["session_name"],
            window_id=field["window_id"],
            window=field["window_index"],
            is_active=field["pane_active"] == "1",
            is_zoomed=field["window_zoomed_flag"] == "1",
            drawn_at=digits(field["window_activity"], 10),
            is_dead=field["pane_dead"] == "1",
            title=field["pane_title"],
            light=field["@tally"],
            tty=field["pane_tty"],
        )

    def read_clients(self, text: str) -> list[Client]:
        """Return the attached terminals in *text*."""
        found = []
        for part in self._parts(CLIENTS, text):
            if field := self._fields(CLIENTS, part):
                flags = field["client_flags"]
                words = flags.split(",")
                # Versions before 3.3 do not have these words.
                is_focused = "focused" in words if flags and field["focus-events"] in ("1", "on") else None
                client = Client(
                    is_control=field["client_control_mode"] == "1" or "control-mode" in words,
                    session_id=field["session_id"],
                    window_id=field["window_id"],
                    is_focused=is_focused,
                    tty=field["client_tty"],
                    pid=digits(field["client_pid"], 10),
                    active_at=digits(field["client_activity"], 10),
                )
                found.append(client)
        return found

    def read_screens(self, text: str) -> dict[str, Look | None]:
        """
        Return the screens in *text*, by pane; None for a dead one. Each is the output of `capture-pane -p`, then its
        row.

        tmux stops at a pane that is gone: this one and the following ones are missing.
        """
        found: dict[str, Look | None] = {}
        rows, *parts = text.split(self._mark("S"))[: MAX_PANES + 1]
        for part in parts:
            head, mark, rest = part.partition(f"{self.secret}!")
            fields = head.split(self.secret)
            if mark and len(fields) == len(SCREENS[1]) and all(is_number(word, len(word)) for word in fields[1:6]):
                column, row, visible, width, height = (int(number[:6]) for number in fields[1:6])
                # tmux leaves out the empty rows at the end.
                lines = [*rows.removesuffix("\n").split("\n"), *[""] * height][:height]
                found[fields[0]] = Look(lines, row, column, width, visible != 0) if fields[6] != "1" else None
            rows = rest.removeprefix("\n")
        return found

    def read_target(self, text: str) -> Target | None:
        """Return the pane in *text* that is to be typed into; None if it is gone."""
        parts = self._parts(TARGET, text)
        field = self._fields(TARGET, parts[0]) if parts else {}
        if not field.get("pane_id", "").startswith("%") or field["pane_dead"] == "1":
            return None
        paste = field["bracket_paste_flag"]
        return Target(
            server=digits(field["pid"], 10),
            id=field["pane_id"],
            pid=digits(field["pane_pid"], 10),
            has_keys=field["pane_in_mode"] in ("", "0") and field["pane_input_off"] in ("", "0"),
            is_synchronized=field["pane_synchronized"] == "1",
            takes_paste=paste == "1" if paste else None,
            finds=field[_FINDS] != "",
            title=field["pane_title"],
        )

    def behind_screens(self, text: str) -> str:
        """Return the part of *text* after the last screen."""
        return text.rpartition(f"{self.secret}!")[2]
