"""
WezTerm as a source of panes: one sidecar a GUI process, which asks that process by `wezterm cli`.

The list gives panes, terminals and cursors; a screen is read (`get-text`) only where it would be evidence. What only
WezTerm's own process knows comes through the feed, a file that our Lua writes: what the `tally` variables said, titles,
and which panes are in front. A WezTerm whose Lua is not ours, or does not tick, is judged by the list alone.

The sidecar's snapshot is `wezterm-<pid of the sidecar>.json`; the files named for the GUI process are beside it:
`wezterm-<pid>.lock`, which holds the sidecar's pid and is locked while it lives, `.feed.json` and `.log`.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.evidence import process_table
from tallylight.files import read_write
from tallylight.hosts.jobs import Ran, run
from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.hosts.wezterm import pane_list
from tallylight.hosts.wezterm.pane_list import FeedState, Row
from tallylight.model.errors import TallyError
from tallylight.pane.pane import Look
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry

#: Seconds between two lists while an agent is there, and while there is none.
LIST_S, IDLE_LIST_S = 1.0, 3.0
#: Seconds between two readings of one screen.
READ_S = 0.5
#: A list this young, in seconds, still says where the cursor is.
CURSOR_S = 0.1
_MAX_BYTES = 4 * 1024 * 1024


class NoAnswerError(TallyError):
    """`wezterm cli` is not there, or gave no list."""


@attrs.define
class _Heard:
    """Up to which word a pane was heard, in which life of WezTerm's Lua state."""

    life: str
    n: int
    value: str


class WezTermSource:
    """All panes of the GUI process *gui*, asked through the program *wezterm*."""

    def __init__(
        self, environ: Mapping[str, str], gui: int, wezterm: str, feed: Path, table: process_table.Table | None = None
    ) -> None:
        self._env = {name: value for name, value in environ.items() if name != "WEZTERM_PANE"}
        self._wezterm = wezterm
        self._gui = gui
        self._table = table or process_table.table()
        self._feed_path = feed
        self._feed_stamp: object = None
        self._feed = FeedState()
        self._heard: dict[str, _Heard] = {}
        self._titles: dict[str, str] = {}
        self._leaders: dict[str, int] = {}
        self._rows: dict[str, Row] = {}
        self._listed_at = 0.0
        #: Seconds between two looks.
        self.every = LIST_S

    # On other threads -----------------------------------------------------------------------------------------

    def look(self) -> Sequence[SourcePane] | None:
        """A `SourcePane` for every pane that the GUI process lists."""
        rows = self._list()
        ttys = {row.tty for row in rows if row.tty}
        if any(not self._leads(tty) for tty in ttys):
            self._leaders = self._find_leaders(ttys)
        feed = self._feed
        return [
            SourcePane(
                id=row.id,
                leader=self._leaders.get(row.tty, 0),
                # What the feed tells is told as it comes.
                title=None if row.id in feed.panes else row.title,
                read=functools.partial(self._read, row.id),
                read_every=READ_S,
                tab=row.tab,
                os_window=row.window,
                host_title=row.workspace,
                visible=row.id in feed.front,
            )
            for row in rows
        ]

    def _cli(self, *words: str) -> Ran | None:
        return run([self._wezterm, "cli", "--no-auto-start", *words], self._env)

    def _list(self) -> list[Row]:
        at = time.monotonic()
        done = self._cli("list", "--format", "json")
        if done is None:
            raise NoAnswerError(f"{self._wezterm} is not there")
        rows = pane_list.read_list(done.output) if done.code == 0 else None
        if rows is None:
            raise NoAnswerError(f"{self._wezterm} cli gives no list of panes (exit {done.code})")
        self._rows = {row.id: row for row in rows}
        self._listed_at = at
        return rows

    def _leads(self, tty: str) -> bool:
        """Whether the leader known of a terminal still is on it."""
        leader = self._leaders.get(tty)
        return leader is not None and process_table.is_on_terminal(leader, tty, self._table)

    def _find_leaders(self, ttys: set[str]) -> dict[str, int]:
        """The process that WezTerm started on each terminal."""
        children = process_table.children(self._gui, self._table)
        return {tty: pid for pid in children for tty in ttys if process_table.is_on_terminal(pid, tty, self._table)}

    def _read(self, id_: str) -> Look | None:
        done = self._cli("get-text", "--pane-id", id_)
        if done is None or done.code != 0:
            return None
        if time.monotonic() - self._listed_at > CURSOR_S:
            self._list()
        row = self._rows.get(id_)
        if row is None:
            return None
        return Look(
            pane_list.screen(done.output.decode("utf-8", "replace"), row),
            cursor_row=min(row.cursor_row, row.rows - 1),
            cursor_column=row.cursor_column,
            columns=row.columns,
            cursor_visible=row.cursor_visible,
        )

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Lua draws; it reads the snapshot."""
        self.every = LIST_S if any(entry.agent or entry.agent_pid for entry in entries.values()) else IDLE_LIST_S

    def act(self, request: Request) -> None:
        """Bring a pane to the front of its window."""
        self._cli("activate-pane", "--pane-id", request.pane)

    # On the loop ----------------------------------------------------------------------------------------------

    def listen(self, poller: PollingHost, now: float) -> None:
        """Take in what Lua has written since, and tell the panes. Cheap where nothing is new: one `stat`."""
        try:
            found = self._feed_path.stat()
        except OSError:
            return
        stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
        if stamp != self._feed_stamp:
            self._feed_stamp = stamp
            try:
                feed = pane_list.read_feed(read_write.read_own(self._feed_path, _MAX_BYTES))
            except (OSError, TallyError):
                feed = None
            if feed is None:
                return
            is_moved = feed.front != self._feed.front or feed.panes.keys() != self._feed.panes.keys()
            self._feed = feed
            self._heard = {id_: heard for id_, heard in self._heard.items() if id_ in feed.panes}
            if is_moved:
                poller.refresh(self)
        self._tell(poller, now)

    def _tell(self, poller: PollingHost, now: float) -> None:
        """Tell the panes what is new to them; one that is not known yet is told later."""
        for id_, fed in self._feed.panes.items():
            pane = poller.pane(id_)
            if pane is None:
                self._titles.pop(id_, None)
                continue
            words = self._new_words(id_, fed.said)
            is_titled = self._titles.get(id_) != fed.title
            if words or is_titled:
                self._look_at_foreground(poller, id_, now)
            if is_titled:
                self._titles[id_] = fed.title
                pane.title(fed.title, now)
            for word in words:
                pane.carrier(word, now)

    def _look_at_foreground(self, poller: PollingHost, id_: str, now: float) -> None:
        row, pane = self._rows.get(id_), poller.pane(id_)
        leader = self._leaders.get(row.tty, 0) if row is not None else 0
        if leader and pane is not None:
            pane.foreground(process_table.Groups(self._table).look(leader, now), now)

    def _new_words(self, id_: str, said: Sequence[tuple[int, str]]) -> list[str]:
        life = self._feed.life
        heard = self._heard.get(id_)
        if heard is not None and heard.life != life:
            # A reload counts anew, from what the variable holds: that was heard before.
            first = said[0][1] if said else heard.value
            heard.life, heard.n = life, said[0][0] if said and first == heard.value else 0
        words = []
        for n, value in said:
            if heard is None:
                heard = self._heard[id_] = _Heard(life, 0, "")
            if n > heard.n:
                heard.n, heard.value = n, value
                words.append(value)
        return words

    def close(self) -> None:
        """The feed is of no use to anyone else."""
        self._feed_path.unlink(missing_ok=True)
