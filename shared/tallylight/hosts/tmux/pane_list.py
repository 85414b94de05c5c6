"""
tmux's lists of panes, clients and screens, and the formats to query them. https://man.openbsd.org/tmux.1#FORMATS

Names, titles and paths may hold anything, even text like a separator, and old versions print line ends in them. So an
unguessable word separates rows and fields: `QueryFormat(secret)` makes the format and reads the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from tallylight.evidence.screen import Look
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.wire.values import digits, is_number

#: A kind of row: the letter it begins with, and the names of its fields.
Rows = tuple[str, tuple[str, ...]]
#: For `display-message -p`, after `capture-pane -p`.
SCREENS: Rows = "S", ("pane_id", "cursor_x", "cursor_y", "cursor_flag", "pane_width", "pane_height", "pane_dead")
#: Not a name: the number of the first row that is not empty, or 0; empty from a tmux that cannot search rows.
_FINDS = "C/r:."
_Record = TypeVar("_Record")


def _of(*names: str, read: Callable[..., Any] = str, default: Any = attrs.NOTHING) -> Any:
    """Return a field that *read* makes of those of tmux with these *names*."""
    return attrs.field(default=default, metadata={"names": names, "read": read})


def _rows(kind: str, cls: Any) -> Rows:
    """Return the kind of row that is a record of *cls*."""
    return kind, tuple(dict.fromkeys(name for one in attrs.fields(cls) for name in one.metadata["names"]))


def _is_on(value: str) -> bool:
    return value == "1"


def _number(value: str) -> int:
    return digits(value, 10)


def _has_focus(flags: str, events: str) -> bool | None:
    return "focused" in flags.split(",") if flags and events in ("1", "on") else None


@attrs.frozen
class TmuxPane:
    """One pane. Ids are tmux's own: `%3`, `$1`, `@2`. *light* is its window's `@tally` option."""

    #: The server's process.
    server: int = _of("pid", read=_number)
    id: str = _of("pane_id")
    #: Its first process; 0 if it has ended.
    pid: int = _of("pane_pid", read=_number)
    session_id: str = _of("session_id")
    session: str = _of("session_name")
    window_id: str = _of("window_id")
    window: str = _of("window_index")
    is_active: bool = _of("pane_active", read=_is_on)
    is_zoomed: bool = _of("window_zoomed_flag", read=_is_on)
    #: The second since the epoch when its window was last drawn.
    drawn_at: int = _of("window_activity", read=_number)
    is_dead: bool = _of("pane_dead", read=_is_on)
    title: str = _of("pane_title")
    light: str = _of("@tally")
    #: Its terminal.
    tty: str = _of("pane_tty", default="")


@attrs.frozen
class Client:
    """
    An attached terminal: its process, and the session and window it shows.

    *is_focused* is None if unknown: without `focus-events` tmux calls every client focused.
    """

    is_control: bool = _of(
        "client_control_mode",
        "client_flags",
        read=lambda mode, flags: mode == "1" or "control-mode" in flags.split(","),
    )
    session_id: str = _of("session_id")
    window_id: str = _of("window_id")
    is_focused: bool | None = _of("client_flags", "focus-events", read=_has_focus)
    tty: str = _of("client_tty")
    pid: int = _of("client_pid", read=_number)
    #: The second since the epoch of the last key there.
    active_at: int = _of("client_activity", read=_number, default=0)


@attrs.frozen
class Target:
    """
    A pane to type into.

    *has_keys*: keys reach its program, and not tmux's own modes. *is_synchronized*: they reach other panes, too.
    *takes_paste*: the program uses bracketed paste; None if tmux does not know. *finds*: this tmux can search rows
    (`hosts.tmux.guard`).
    """

    #: The server's process.
    server: int = _of("pid", read=_number)
    #: Empty for a dead pane.
    id: str = _of("pane_id", "pane_dead", read=lambda id_, is_dead: id_ if is_dead != "1" else "")
    pid: int = _of("pane_pid", read=_number)
    has_keys: bool = _of("pane_in_mode", "pane_input_off", read=lambda *modes: {"", "0"}.issuperset(modes))
    is_synchronized: bool = _of("pane_synchronized", read=_is_on)
    takes_paste: bool | None = _of("bracket_paste_flag", read=lambda flag: flag == "1" if flag else None)
    finds: bool = _of(_FINDS, read=bool)
    title: str = _of("pane_title")


#: For `list-panes -a -F`, and for `list-clients -F`.
PANES, CLIENTS = _rows("P", TmuxPane), _rows("C", Client)
#: For `display-message -p`, before typing into a pane. `bracket_paste_flag` is empty before 3.7.
TARGET = _rows("T", Target)


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
            pane = before.get(part) or self._record(PANES, TmuxPane, part)
            if pane is not None and pane.id.startswith("%") and pane.id not in found and len(found) < MAX_PANES:
                read[part] = found[pane.id] = pane
        if known is not None:
            known.clear()
            known.update(read)
        return list(found.values())

    def _record(self, rows: Rows, cls: type[_Record], part: str) -> _Record | None:
        """Return the record in *part*, one row; None if it is incomplete."""
        found = self._fields(rows, part)
        if not found:
            return None
        made: dict[str, Any] = {
            one.name: one.metadata["read"](*map(found.__getitem__, one.metadata["names"]))
            for one in attrs.fields(cls)  # type: ignore[arg-type]
        }
        return cls(**made)

    def read_clients(self, text: str) -> list[Client]:
        """Return the attached terminals in tmux's answer."""
        found = (self._record(CLIENTS, Client, part) for part in self._parts(CLIENTS, text))
        return [client for client in found if client is not None]

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
        found = self._record(TARGET, Target, parts[0]) if parts else None
        return found if found is not None and found.id.startswith("%") else None

    def behind_screens(self, text: str) -> str:
        """Return the part of *text* after the last screen."""
        return text.rpartition(f"{self.secret}!")[2]
