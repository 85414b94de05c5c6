"""
Notifications in WezTerm: the sidecar decides and words them, and our Lua shows them.

`wezterm-<pid of the GUI>.toasts` has the last ones, the newest at the end: `[[number, status, title, body], …]`. The
numbers grow, over sidecars too. An offer to restore has the status `restore`. `wezterm-<pid of the GUI>.told` has the
last notified status of each pane, so that the next sidecar does not notify again.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tallylight.files import read_write
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.tracker.notify import Notice
from tallylight.wire import values

#: Toasts that are kept for Lua.
MAX_TOASTS = 16
#: Seconds after its start in which a sidecar finds again what the last one knew.
FINDS_S = 15.0
MAX_NOTIFIED_PANES = 1000
_MAX_TOASTS_BYTES = 256 * 1024


class Toasts:
    """
    The notifications of one WezTerm, in two files.

    *inside* returns a multiplexer's entry in a pane, *server* a mux server's report on it; *wake* wakes Lua.
    """

    def __init__(
        self,
        toasts: Path,
        told: Path,
        inside: Callable[[str], Pane | None],
        server: Callable[[str], ServerReport | None],
        wake: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._toasts, self._told_path = toasts, told
        self._inside, self._server, self._wake = inside, server, wake
        self._until = clock() + FINDS_S
        self._former = self._known = _read(told)
        self._shown: list[tuple[int, str, str, str]] = []

    def inside(self, id_: str) -> Pane | None:
        """Return the entry of a multiplexer or a mux server in the pane."""
        told = self._server(id_)
        return told.pane if told is not None else self._inside(id_)

    def is_known(self, notice: Notice, now: float) -> bool:
        """Return whether the last sidecar has notified of it, or the notified pane of a server was attached again."""
        told = self._server(notice.pane)
        if told is not None and told.where:
            before, _, id_ = self._known.get(told.where, "").rpartition(" ")
            return before == _status_key(told) and (id_ != notice.pane or now < self._until)
        return now < self._until and self._former.get(notice.pane) == notice.status.value

    def show(self, notice: Notice) -> None:
        """Pass *notice* to Lua."""
        self._show(notice.status.value, notice.title, notice.body)

    def offer(self, number: int) -> None:
        """Tell that *number* conversations of an earlier WezTerm can be resumed."""
        what, them = ("1 conversation was", "it") if number == 1 else (f"{number} conversations were", "them")
        self._show("restore", f"{what} open when WezTerm ended", f"Run `tally restore` to resume {them}.")

    def _show(self, status: str, title: str, body: str) -> None:
        number = max(int(time.time() * 1000), self._shown[-1][0] + 1 if self._shown else 0)
        self._shown = [*self._shown, (number, status, title, body)][-MAX_TOASTS:]
        read_write.atomic_write(self._toasts, json.dumps(self._shown).encode(), 0o600, durable=False)
        self._wake()

    def remember(self, told: Mapping[str, Status]) -> None:
        """Save the notified status of each pane; those of detached servers stay."""
        known = {where: word for where, word in self._known.items() if "." in where}
        known |= self._former if time.monotonic() < self._until else {}
        for id_, status in told.items():
            server = self._server(id_)
            if server is not None and server.where:
                known[server.where] = f"{_status_key(server)} {id_}"
            else:
                known[id_] = status.value
        if known != self._known:
            self._known = dict(list(known.items())[-MAX_NOTIFIED_PANES:])
            with contextlib.suppress(OSError, TallyError):
                read_write.atomic_write(self._told_path, json.dumps(self._known).encode(), 0o600, durable=False)


def _status_key(told: ServerReport) -> str:
    """Return a server pane's status, and since when by the server's clock: a key to compare."""
    return f"{told.pane.status.value} {told.pane.since:.0f}"


def _read(path: Path) -> dict[str, str]:
    pairs = list(values.members(read_write.own_or_nothing(path, _MAX_TOASTS_BYTES)).items())[:MAX_NOTIFIED_PANES]
    return {key: word for key, word in pairs if isinstance(word, str)}
