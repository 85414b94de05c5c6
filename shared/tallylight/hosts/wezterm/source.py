"""
WezTerm as a source of panes: one sidecar for each GUI process or mux server, which queries it by `wezterm cli`.

The list has panes, terminals and cursors; a screen is read (`get-text`) only where it would be evidence. The feed, a
file that our Lua writes, has what only WezTerm's own process knows: `tally` variables, titles, and the panes in front.
While the feed has the same panes as the last list, no new list is read for a while. If WezTerm does not run our Lua, or
its Lua does not tick, only the list counts.

An idle WezTerm reports nothing to its Lua. So Lua runs a shell that waits for a process to open the other end of a
FIFO. The sidecar opens it when it has written a change of what is drawn. Then the shell ends, and Lua looks.

The sidecar's snapshot is `wezterm-<pid of the sidecar>.json`, with the FIFO `wezterm-<the same pid>.news`. The files
named for the GUI process are beside it: `wezterm-<pid>.lock`, which holds the sidecar's pid and is locked while it
lives, `.feed.json`, `.scene.json`, `.toasts`, `.told`, `.goal` and `.log`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.files import read_write
from tallylight.files.program import Ran, run
from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.hosts.sessions_inside import HOSTS, by_terminal
from tallylight.hosts.wezterm import mux_word, pane_list, terminals
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.hosts.wezterm.pane_list import FedPane, FeedState, Row
from tallylight.hosts.wezterm.scene import Place
from tallylight.hosts.wezterm.scene_file import SceneFile
from tallylight.hosts.wezterm.terminals import Terminal
from tallylight.model.errors import TallyError
from tallylight.pane import marks
from tallylight.pane.pane import Look
from tallylight.snapshot import next_pane, rows
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import directory

#: Seconds between two looks while an agent is there, and while there is none.
LIST_S, IDLE_LIST_S = 1.0, 3.0
#: After so many seconds a new list is read even if feed and processes show the same panes: only the list has each
#: window's workspace.
SELDOM_S = 60.0
#: Seconds between two readings of one screen.
GET_TEXT_EVERY_S = 0.5
#: Up to this age, in seconds, a list still has the right cursor.
CURSOR_S = 0.1
#: Seconds between two times that WezTerm is woken, and the longest wait for it to listen.
WAKE_S, LISTENS_S = 0.1, 5.0
#: Seconds in which Lua takes a note.
NOTE_S = 2.0
#: The title that WezTerm shows while `tally emit` runs, and may show for longer.
_PYTHON = Path(sys.executable).resolve().name
_WITHOUT_WAITING = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


class NoAnswerError(TallyError):
    """`wezterm cli` does not exist, or returned no list."""


@attrs.define
class _Received:
    """The last value of a pane's variable that was received, in which life of WezTerm's Lua state."""

    life: str
    n: int
    value: str
    #: Whether the shell has been away from its prompt since; None before the first look.
    is_away: bool | None = None
    #: The group that was last seen in the foreground instead of the shell, and whether one was for two looks.
    group: int = 0
    was_elsewhere: bool = False


def is_server(pid: int, table: process_table.Table) -> bool:
    """Return whether *pid* is a mux server, without a GUI. Linux cuts its name."""
    process = table.get(pid)
    return process is not None and process.comm.startswith("wezterm-mux-ser")


def wake(news: Path) -> bool:
    """End the wait at the other end of the FIFO *news*; return False if nothing waits there yet."""
    try:
        os.close(os.open(news, os.O_WRONLY | _WITHOUT_WAITING))
    except OSError as error:
        return error.errno != errno.ENXIO
    return True


def remove(news: Path) -> None:
    """Remove the FIFO *news*. Waiting processes end, and those about to wait."""
    with contextlib.suppress(OSError):
        fd = os.open(news, os.O_RDWR | _WITHOUT_WAITING)
        news.unlink()
        os.close(fd)


class WezTermSource:
    """All panes of the GUI process *gui*, queried through the program *wezterm*."""

    def __init__(
        self,
        environ: Mapping[str, str],
        gui: int,
        wezterm: str,
        feed: Path,
        table: process_table.Table | None = None,
        agents: Agents | None = None,
    ) -> None:
        self._env = {name: value for name, value in environ.items() if name != "WEZTERM_PANE"}
        self._wezterm = wezterm
        self._gui = gui
        #: The FIFO that wakes Lua for a new snapshot, if there is one.
        self.news: Path | None = None
        self._table = table or process_table.table()
        self._is_server = is_server(gui, self._table)
        self._groups = process_table.Groups(self._table)
        self._sessions = Feed(directory(environ), HOSTS)
        self._feed_path, self._goal_path = feed, feed.with_name(feed.name.replace("feed.json", "goal"))
        self._feed_stamp: object = None
        self._feed = FeedState()
        self._servers: Counter[str] = Counter()
        #: Whether some panes have not received all of the feed yet.
        self._is_owed = False
        self._received: dict[str, _Received] = {}
        self._titles: dict[str, str] = {}
        self._leaders: dict[str, int] = {}
        self._rows: dict[str, Row] = {}
        self._inside: dict[str, tuple[PaneEntry, ...]] = {}
        self._listed_at = 0.0
        #: The children of the GUI process except the shells that wait at our FIFO, and those shells.
        self._started: set[int] = set()
        self._waiting: set[int] = set()
        self._entries: Mapping[str, PaneEntry] = {}
        self._scene = SceneFile(feed.with_name(feed.name.replace("feed.json", "scene.json")), agents or Agents())
        self._drawn_groups = process_table.Groups(self._table)
        self._woken_at = 0.0
        #: The number of the user's last request by a key, and the state of the jumps.
        self._wished: int | None = None
        self._journey: next_pane.Journey | None = None
        #: Seconds between two looks.
        self.every = LIST_S

    # On other threads -----------------------------------------------------------------------------------------

    def look(self) -> Sequence[SourcePane] | None:
        """Return a `SourcePane` for every pane that the GUI process lists."""
        if self._is_due():
            self._list()
        rows = self._rows.values()
        ttys = {row.tty for row in rows if row.tty}
        if any(not process_table.is_on_terminal(self._leaders.get(tty, 0), tty, self._table) for tty in ttys):
            self._leaders = terminals.leaders(self._gui, ttys, self._table)
        feed, nothing = self._feed, FedPane()
        self._sessions.poll(time.monotonic())
        inside = by_terminal(pane for snapshot in self._sessions.snapshots for pane in snapshot.panes)
        self._inside = inside
        return [
            SourcePane(
                id=row.id,
                leader=self._leaders.get(row.tty, 0),
                # The feed's titles are passed on as they arrive.
                title=None if row.id in feed.panes else row.title,
                read=functools.partial(self._read, row.id),
                read_every=GET_TEXT_EVERY_S,
                tab=feed.panes.get(row.id, nothing).tab or row.tab,
                os_window=feed.panes.get(row.id, nothing).window or row.window,
                host_title=row.workspace,
                visible=row.id in feed.front,
                terminal=row.tty,
                inside=next(iter(inside.get(row.tty, ())), None),
            )
            for row in rows
        ]

    def _is_due(self) -> bool:
        """Return whether to read the list: starting `wezterm cli` costs more than all else here."""
        children = set(process_table.children(self._gui, self._table))
        new = children - self._started - self._waiting
        self._waiting = {pid for pid in children if pid in self._waiting or (pid in new and self._waits(pid))}
        before, self._started = self._started, children - self._waiting
        is_told = bool(self._feed.life) and self._feed.panes.keys() == self._rows.keys() and before == self._started
        return not is_told or time.monotonic() - self._listed_at >= SELDOM_S

    def _cli(self, *words: str) -> Ran | None:
        return run([self._wezterm, *pane_list.CLI, *words], self._env)

    def _list(self) -> list[Row]:
        """
        Return the panes that `wezterm cli list` reports, and remember them; raise `NoAnswerError` without an answer.
        """
        at = time.monotonic()
        done = self._cli("list", "--format", "json")
        if done is None:
            raise NoAnswerError(f"{self._wezterm} is not there")
        rows = pane_list.read_list(done.output) if done.code == 0 else None
        if rows is None:
            raise NoAnswerError(f"`{self._wezterm} cli list` failed (exit {done.code})")
        self._rows = {row.id: row for row in rows}
        self._listed_at = at
        return rows

    def _read(self, id_: str) -> Look | None:
        """Return the screen of the pane *id_*, with a cursor that is not too old; None if it is gone."""
        done = self._cli("get-text", "--pane-id", id_)
        if done is None or done.code != 0:
            return None
        if time.monotonic() - self._listed_at > CURSOR_S:
            self._list()
        row = self._rows.get(id_)
        if row is None:
            return None
        return pane_list.look(done.output, row)

    def pace(self, entries: Mapping[str, PaneEntry]) -> None:
        """Read the list more often while there is an agent."""
        self.every = LIST_S if any(entry.agent or entry.agent_pid for entry in entries.values()) else IDLE_LIST_S

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Have Lua draw the *entries*."""
        self.pace(entries)
        self._entries = entries
        self.draw()

    def draw(self) -> None:
        """Write the scene for Lua if it changed, and wake it. One thread at a time does."""
        entries = {id_: entry for id_, entry in self._entries.items() if id_ in self._rows}
        self._scene.is_due = False
        if not self._write(entries):
            return
        # Not more often than it can take.
        time.sleep(max(0.0, self._woken_at + WAKE_S - time.monotonic()))
        self.wake()
        self._woken_at = time.monotonic()

    def _write(self, entries: Mapping[str, PaneEntry]) -> bool:
        """Write the scene of *entries*; return whether anything changed."""
        if self._is_server:
            # It has no windows.
            return self._scene.write_words({id_: mux_word.write(entry, self._gui) for id_, entry in entries.items()})
        places = {id_: self._placed(id_, entry) for id_, entry in entries.items()}
        front = {id_ for id_ in entries if id_ in self._feed.front}
        return self._scene.write(entries, places, front, self._feed.bar)

    def _placed(self, id_: str, entry: PaneEntry) -> Place:
        """Return the tab, the title and the processes of the pane *id_*."""
        row, fed = self._rows[id_], self._feed.panes.get(id_, FedPane())
        leader = self._leaders.get(row.tty, 0)
        return Place(
            tab=fed.tab or row.tab,
            title=fed.title or row.title,
            processes=self._names(leader) if leader and rows.is_lit(entry) else frozenset(),
            server=self.server(id_),
        )

    def _names(self, leader: int) -> frozenset[str]:
        """Return the names of the foreground process and of our own; WezTerm uses one of them as a title."""
        process = self._table.get(self._drawn_groups.look(leader, time.monotonic()))
        if process is None:
            return frozenset({_PYTHON})
        argument = process.argv[0] if process.argv else ""
        return frozenset({process.comm, Path(process.exe).name, Path(argument).name, _PYTHON})

    def wake(self) -> None:
        """Wake Lua, as soon as it waits."""
        if self.news is not None:
            _wait(functools.partial(wake, self.news), LISTENS_S)

    def _waits(self, pid: int) -> bool:
        """Return whether *pid* is a shell that waits at our FIFO."""
        process = self._table.get(pid)
        return process is not None and str(self.news) in process.argv

    def act(self, request: Request) -> None:
        """
        Bring a pane to the front of its window. WezTerm 20240203 leaves another zoomed pane before it.

        Only Lua can raise another window, show another workspace, or reach panes of mux domains. So it gets a note.
        """
        listed = self._list()
        goal = next((row for row in listed if row.id == request.pane), None)
        if goal is None:
            return
        for row in listed:
            if row.id in request.args and row.is_active:
                # Among the panes beside it, WezTerm takes the one that had the keyboard last. This shows its tab, too.
                self._cli("activate-pane-direction", "--pane-id", row.id, "Right")
            if row.tab == goal.tab and row.is_zoomed and row is not goal:
                self._cli("zoom-pane", "--unzoom", "--pane-id", row.id)
        if goal.id in request.args:
            return
        self._cli("activate-pane", "--pane-id", goal.id)
        if self._feed.life and goal.id not in self._feed.front and not self._is_server:
            self._leave_note(goal.id)

    def _grant(self, poller: PollingHost, now: float) -> None:
        """Carry out the user's request by a key, once; not one from before this sidecar began."""
        number, verb, id_ = self._feed.wish
        before, self._wished = self._wished, number
        if before is None or number <= before:
            return
        if verb == "jump":
            poller.later(f"jump {number}", functools.partial(self._jump, id_))
        elif verb == "snooze" and (pane := poller.pane(id_)) is not None:
            marks.carry_out(Request("snooze", id_), pane, poller.config.notify.snooze_min, now)

    def _jump(self, here: str) -> None:
        """Have Lua show the next pane that needs the user, and after the last one go back, as in kitty."""
        order = next_pane.stops(self._scene.shown, time.time())
        self._journey, goal = next_pane.jump(self._journey, order, here, existing=self._rows.keys())
        self._leave_note(goal or "none")

    def _leave_note(self, goal: str) -> None:
        """Have Lua bring the pane *goal* to the front."""
        read_write.atomic_write(self._goal_path, goal.encode("ascii"), 0o600)
        self.wake()
        _wait(lambda: not self._goal_path.exists(), NOTE_S)
        # Later it would be a surprise.
        self._goal_path.unlink(missing_ok=True)

    def inside(self, id_: str) -> PaneEntry | None:
        """Return the entry of a multiplexer in a pane at the last look."""
        row = self._rows.get(id_)
        return next(iter(self._inside.get(row.tty, ())), None) if row is not None else None

    def server(self, id_: str) -> ServerReport | None:
        """Return the report of a mux server on a pane. If two panes report the same place, neither has it."""
        fed = self._feed.panes.get(id_)
        told = fed.server if fed is not None else None
        return told._replace(where="") if told is not None and self._servers[told.where] > 1 else told

    def own_terminal(self, id_: str) -> Terminal | None:
        """Return the terminal of a pane, and its leader; None if it is elsewhere, or gone."""
        row = self._rows.get(id_)
        leader = self._leaders.get(row.tty, 0) if row is not None else 0
        return Terminal(row.tty, leader) if row is not None and leader else None

    # On the loop ----------------------------------------------------------------------------------------------

    def is_new(self) -> bool:
        """Return whether Lua has written anything since the last `listen`. May be called on any thread."""
        return read_write.stamp(self._feed_path) not in (None, self._feed_stamp)

    def listen(self, poller: PollingHost, now: float) -> None:
        """Read Lua's changes, and pass them to the panes. Cheap without changes: one `stat`."""
        if self._scene.has_to_change(now):
            poller.later("scene", self.draw)
        stamp = read_write.stamp(self._feed_path)
        if stamp is None:
            return
        if stamp != self._feed_stamp:
            self._feed_stamp = stamp
            feed = pane_list.read_feed(read_write.own_or_nothing(self._feed_path, pane_list.MAX_FEED))
            if feed is None:
                return
            is_moved = feed.front != self._feed.front or feed.places != self._feed.places
            is_told = feed.servers != self._feed.servers
            self._scene.is_due = True
            self._feed = feed
            if is_told:
                # Nothing is published then, so `shown` is not called.
                poller.later("scene", self.draw)
            self._servers = Counter(fed.server.where for fed in feed.panes.values() if fed.server is not None)
            self._received = {id_: received for id_, received in self._received.items() if id_ in feed.panes}
            self._grant(poller, now)
            if is_moved:
                poller.refresh(self)
            self._is_owed = True
        if self._is_owed or any(poller.peek(id_) is None for id_ in self._feed.panes):
            self._hand_over(poller, now)
        self._look_at_prompts(poller, now)

    def _hand_over(self, poller: PollingHost, now: float) -> None:
        """Pass news of the feed to the panes. Panes that are not known yet get it later, as do those with a bar."""
        self._is_owed = False
        for id_, fed in self._feed.panes.items():
            pane = poller.peek(id_)
            if pane is None:
                self._titles.pop(id_, None)
                self._is_owed = True
                continue
            words = self._new_words(id_, fed.said)
            is_titled = self._titles.get(id_) != fed.title
            is_barred = fed.progress is not None and fed.progress is not pane.has_bar
            if words or is_titled or is_barred:
                poller.pane(id_)  # so that it is published
            terminal = self.own_terminal(id_)
            if terminal is not None and (words or is_titled):
                pane.foreground(self._groups.look(terminal.leader, now), now)
            if is_titled:
                self._titles[id_] = fed.title
                pane.title(fed.title, now)
            for word in words:
                pane.user_variable(word, now)
            if is_barred or pane.has_bar:
                pane.progress(bool(fed.progress), now)
                self._is_owed = self._is_owed or pane.has_bar

    def _look_at_prompts(self, poller: PollingHost, now: float) -> None:
        """
        End the light of a plain command when its shell shows its prompt again: WezTerm hides OSC 133 from Lua.

        Only panes that a command lit, without an agent in the foreground, are looked at.
        """
        for id_, received in self._received.items():
            pane, terminal = poller.peek(id_), self.own_terminal(id_)
            if pane is None or terminal is None or pane.agent is not None or not pane.decision.is_lit:
                received.is_away = None
                continue
            is_away = self._is_away(received, terminal, now)
            if is_away is not received.is_away:
                poller.pane(id_)  # so that it is published
                if is_away and received.is_away is False:
                    pane.marked(True, None, now)
                elif not is_away:
                    pane.marked(False, None, now)
                received.is_away = is_away

    def _is_away(self, received: _Received, terminal: Terminal, now: float) -> bool:
        """Return whether the shell that leads *terminal* does not show its prompt."""
        group = self._groups.look(terminal.leader, now)
        if group != terminal.leader:
            received.was_elsewhere = received.was_elsewhere or group == received.group
            received.group = group
            return True
        shown = terminals.at_prompt(terminal, self._table)
        # If the shell gives no sign, it is at its prompt when a program was in the foreground before.
        return not (received.was_elsewhere if shown is None else shown)

    def _new_words(self, id_: str, said: Sequence[tuple[int, str]]) -> list[str]:
        """Return the values of the pane's variable that were not received yet, oldest first."""
        life = self._feed.life
        received = self._received.get(id_)
        if received is not None and received.life != life:
            # After a reload, numbers begin again with the variable's current value, which was received before.
            first = said[0][1] if said else received.value
            received.life, received.n = life, said[0][0] if said and first == received.value else 0
        words = []
        for n, value in said:
            if n > (received.n if received is not None else 0):
                received = _Received(life, n, value)
                words.append(value)
        if received is not None:
            self._received[id_] = received
        return words

    def close(self) -> None:
        """Remove the feed and the FIFO, and end the shells that wait at it."""
        self._feed_path.unlink(missing_ok=True)
        if self.news is not None:
            remove(self.news)
        for pid in filter(self._waits, self._waiting):
            # Another process may have removed the FIFO before.
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)


def _wait(is_so: Callable[[], bool], most: float) -> None:
    """Wait until *is_so*, for at most so many seconds."""
    end = time.monotonic() + most
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
