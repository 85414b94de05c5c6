"""
The place of a fork in WezTerm: the pane of its page, which a key opened, moves there by `wezterm cli`.

So nothing that a program printed becomes a command of WezTerm's: the fork runs where its page was.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tallylight.actions.page import Place
from tallylight.evidence import process_table
from tallylight.files.program import run
from tallylight.hosts.wezterm.pane_list import CLI
from tallylight.hosts.wezterm.typist import gui_of
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Row
from tallylight.wire.values import is_number

#: A page beside the other pane stays: there it was opened.
_WORDS = {
    Place.HSPLIT: ("split-pane", "--bottom", "--pane-id", "{beside}", "--move-pane-id", "{own}"),
    Place.TAB: ("move-pane-to-new-tab", "--pane-id", "{own}"),
    Place.OS_WINDOW: ("move-pane-to-new-tab", "--new-window", "--pane-id", "{own}"),
}


@attrs.frozen
class Mover:
    """Moves the pane *own*, for example below the pane *beside* of the same WezTerm."""

    wezterm: str
    own: str
    beside: str
    environ: Mapping[str, str]

    @classmethod
    def of(cls, found: Row, environ: Mapping[str, str]) -> Mover | None:
        """Return that of the pane of this process; None if the pane *found* is not in the same WezTerm."""
        gui, wezterm = gui_of(found.host, process_table.table()) or (0, "")
        is_here = gui and environ.get("WEZTERM_UNIX_SOCKET", "").endswith(f"/gui-sock-{gui}")
        own = environ.get("WEZTERM_PANE", "")
        # Within a session the terminal is not WezTerm's.
        if not is_here or not is_number(own, 12) or own == found.pane.id or {"TMUX", "STY"} & environ.keys():
            return None
        env = {name: value for name, value in environ.items() if name != "WEZTERM_PANE"}
        return cls(wezterm, own, found.pane.id, env)

    def move(self, place: Place) -> None:
        """Move the pane to *place*, and show it there."""
        if words := _WORDS.get(place):
            self._cli(*(word.format(beside=self.beside, own=self.own) for word in words))
            self._cli("activate-pane", "--pane-id", self.own)

    def _cli(self, *words: str) -> None:
        done = run([self.wezterm, *CLI, *words], self.environ)
        if done is None or done.code != 0:
            raise TallyError(f"`wezterm cli {words[0]}` failed")
