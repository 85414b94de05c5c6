"""
A pane of WezTerm, for `actions.answer` and `actions.say`: read and typed into from outside, by `wezterm cli`.

The screen is read between two lists that must agree on the cursor. The foreground process is looked up last. The screen
is read once more before anything is typed: only one `wezterm cli send-text` follows that comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from tallylight.actions.answer import Seen
from tallylight.actions.gate import Refusal
from tallylight.evidence import process_table
from tallylight.evidence.foreground import Identity
from tallylight.files.program import Ran, StuckError, run
from tallylight.hosts.wezterm import pane_list, terminals
from tallylight.hosts.wezterm.pane_list import Row
from tallylight.hosts.wezterm.sidecar import HOST, socket_of
from tallylight.model.errors import SessionError
from tallylight.pane.pane import Look
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import is_ours
from tallylight.wire.styled import StyledScreen
from tallylight.wire.values import is_number

#: Readings of a changing screen before an error.
READ_TRIES = 5
_GONE = Refusal("gone", "that pane is gone; nothing was typed")
_REMOTE = Refusal("remote", "the programs of that pane run elsewhere, in another domain of WezTerm; nothing was typed")


def gui_of(host: str, table: process_table.Table) -> tuple[int, str] | None:
    """
    Return the WezTerm of the sidecar *host* (`wezterm-4711`): its process, and the path of its `wezterm`.

    None for another host, or one that is gone. Both are in the sidecar's own command line, `tally host wezterm --pid
    PID --wezterm PATH`. Only the number comes from a snapshot.
    """
    kind, _, number = host.partition("-")
    if kind != HOST or not is_number(number, 10):
        return None
    sidecar = table.get(int(number))
    # A `wezterm` of another user is not run.
    words = list(sidecar.argv) if sidecar is not None and is_ours(sidecar.pid) else []
    if "host" not in words or words[words.index("host") : words.index("host") + 2] != ["host", HOST]:
        return None
    options = dict(itertools.pairwise(words))
    gui = options.get("--pid", "")
    if not is_number(gui, 10) or table.start(int(gui)) is None:
        return None
    return int(gui), options.get("--wezterm", "wezterm")


@attrs.define
class WezTermPane:
    """
    The pane *entry* of a snapshot, in the process *gui*, reached through the program *wezterm*.

    *holder* identifies the foreground program of a process's terminal; its other argument is the title.
    """

    entry: Pane
    gui: int
    wezterm: str
    holder: Callable[[int, str], Identity]
    environ: Mapping[str, str]

    def see(self) -> Seen | Refusal:
        """Read the screen, and the program on its terminal; refuse if it cannot be typed into."""
        found = self._look()
        if found is None:
            return _GONE
        row, look = found
        leader = terminals.leaders(self.gui, {row.tty}, process_table.table()).get(row.tty)
        if leader is None:
            return _REMOTE
        return Seen.of(self.entry, self.holder(leader, row.title), look)

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        """Press *keys*, passed on standard input: no argument list shows them."""
        if seen is not None and not self._still_shows(seen):
            return False
        self._command("send-text", "--no-paste", given=keys)
        return True

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """Paste *text*: WezTerm brackets it if the program uses that."""
        if seen is not None and not self._still_shows(seen):
            return False
        self._command("send-text", given=text)
        if enter:
            self._command("send-text", "--no-paste", given="\r")
        return True

    def close(self) -> None:
        self._command("kill-pane")

    def screen(self) -> StyledScreen:
        """Return the screen with its colours; if it changes meanwhile, the cursor may be that of before."""
        row = self._row()
        done = self._cli("get-text", "--escapes", "--pane-id", self.entry.id) if row is not None else None
        if row is None or done is None or done.code != 0:
            raise SessionError("that pane is gone")
        return pane_list.styled_screen(done.output, row)

    def _look(self) -> tuple[Row, Look] | None:
        """Return the pane and its screen, between two lists that agree on the cursor; None if it is gone."""
        row = self._row()
        for _ in range(READ_TRIES):
            if row is None:
                return None
            done = self._cli("get-text", "--pane-id", self.entry.id)
            if done.code != 0:
                return None
            again = self._row()
            if again is not None and attrs.evolve(again, title=row.title) == row:
                return row, pane_list.look(done.output, row)
            row = again
        raise SessionError("that pane keeps changing; nothing was typed")

    def _still_shows(self, seen: Seen) -> bool:
        """Return whether the pane still has the screen and the cursor of *seen*."""
        row = self._row()
        done = self._cli("get-text", "--pane-id", self.entry.id) if row is not None else None
        return row is not None and done is not None and done.code == 0 and pane_list.look(done.output, row) == seen.look

    def _row(self) -> Row | None:
        done = self._cli("list", "--format", "json")
        rows = pane_list.read_list(done.output) if done.code == 0 else None
        if rows is None:
            raise SessionError("WezTerm does not answer")
        return next((row for row in rows if row.id == self.entry.id), None)

    def _command(self, *command: str, given: str = "") -> None:
        if self._cli(*command, "--pane-id", self.entry.id, given=given.encode()).code != 0:
            raise SessionError("that pane is gone")

    def _cli(self, *words: str, given: bytes | None = None) -> Ran:
        env = {name: value for name, value in self.environ.items() if name != "WEZTERM_PANE"}
        env["WEZTERM_UNIX_SOCKET"] = socket_of(self.environ, self.gui)
        try:
            done = run([self.wezterm, *pane_list.CLI, *words], env, given=given)
        except StuckError:
            raise SessionError("WezTerm does not answer") from None
        if done is None:
            raise SessionError(f"{Path(self.wezterm).name} is not there")
        return done
