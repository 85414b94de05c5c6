"""
Sessions attached in kitty's windows: the panes of tmux in them, as the host of sessions reports them.

`tally host sessions` looks into every tmux, and its snapshot has the terminals attached to each session. kitty knows
the terminal of each window. So the tab of a window with tmux shows the light of that session's panes, in the order used
for splits. Nothing is set up inside tmux. A thread reads the snapshot, and passes changes to kitty's main thread.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

import attrs

from tallylight.hosts.kitty import actions
from tallylight.hosts.sessions_inside import HOSTS, by_terminal, rule_of
from tallylight.hosts.worker import Worker
from tallylight.model.decision import Decision, Reason
from tallylight.model.jobs import raised
from tallylight.model.report import Report, Source
from tallylight.snapshot import requests, rows, writer
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane

#: How often, in seconds, the snapshots are read.
READ_SNAPSHOTS_S = 0.5
JOB, SHOW = "attached sessions", "a pane of a session"
#: Asks a pseudo-terminal's master for the number of its other side.
#: https://man7.org/linux/man-pages/man2/TIOCGPTN.2const.html
_TIOCGPTN = 0x80045430


def terminal_of(window: Any) -> str:
    """Return the terminal of *window*, such as `/dev/pts/5`; empty where the system does not show it."""
    try:
        number = fcntl.ioctl(window.child.child_fd, _TIOCGPTN, bytes(4))
    except (OSError, TypeError, ValueError):
        return ""
    return f"/dev/pts/{struct.unpack('I', number)[0]}"


def decision_of(pane: Pane) -> Decision:
    """Return the state of *pane* as a decision. Its times are those of the snapshot; nothing here compares them."""
    report = Report(
        source=Source.PROTOCOL,
        status=pane.status,
        kind=pane.kind,
        agent=pane.agent,
        project=pane.project,
        message=pane.message,
        title=pane.title,
    )
    reason = Reason(None, rule_of(pane), pane.reason.at, pane.reason.changes)
    return Decision(pane.status, pane.kind, reason, pane.since, report, limited_until=pane.limited_until)


class _Found(NamedTuple):
    """The panes of attached sessions, by terminal."""

    decisions: dict[str, tuple[Decision, ...]]
    panes: dict[str, tuple[tuple[str, Pane], ...]]


@attrs.define
class Attached:
    """
    The sessions attached in kitty's windows. *changed* is called on kitty's main thread when one may look different.
    """

    worker: Worker
    changed: Callable[[], None]
    _feed: Feed | None = None
    _looked_at: float | None = None
    #: By terminal.
    _decisions: dict[str, tuple[Decision, ...]] = attrs.field(factory=dict)
    #: All panes with a light there, each with its host.
    _panes: dict[str, tuple[tuple[str, Pane], ...]] = attrs.field(factory=dict)
    #: The terminals of the windows, by id, each with the descriptor that named it.
    _terminals: dict[int, tuple[int, str]] = attrs.field(factory=dict)

    def look(self, now: float, windows: Set[int]) -> None:
        """Start reading the snapshots if it is time; call it at each tick with the ids of all *windows*."""
        if self._looked_at is not None and now - self._looked_at < READ_SNAPSHOTS_S:
            return
        for id_ in self._terminals.keys() - windows:
            del self._terminals[id_]
        if self.worker.submit(JOB, lambda: self._read(now), self._was_read, raised):
            self._looked_at = now

    def decisions(self, window: Any) -> tuple[Decision, ...]:
        """Return the decisions of the session attached in *window*, one for each status; empty without one."""
        return self._decisions.get(self.terminal(window), ()) if self._decisions else ()

    def panes(self, window: Any) -> tuple[tuple[str, Pane], ...]:
        """Return all panes with a light attached in *window*, each with the host that can focus it."""
        return self._panes.get(self.terminal(window), ()) if self._panes else ()

    def show(self, host: str, pane: Pane) -> None:
        """Have *host* bring *pane* to the front in its session."""
        request = Request("focus", pane.id)
        self.worker.submit((SHOW, pane.id), lambda: requests.send(host, request, os.environ))

    def jump(self, boss: Any, panes: Sequence[Pane], options: Sequence[str]) -> bool:
        """
        Go to the next of *panes* that needs a person; in a window that shows a session, to the pane in there.

        Return False if there is none.
        """
        windows = boss.window_id_map
        found = {id_: inside for id_, window in windows.items() if (inside := self.panes(window))}
        goal = actions.jump(boss, panes, options, {id_: [one for _, one in all_] for id_, all_ in found.items()})
        for host, pane in (one for inside in found.values() for one in inside):
            if pane.id == goal:
                self.show(host, pane)
        return bool(goal)

    def terminal(self, window: Any) -> str:
        """Return `terminal_of` *window*, cached."""
        fd = window.child.child_fd
        known = self._terminals.get(window.id)
        if known is None or known[0] != fd:
            known = self._terminals[window.id] = fd, terminal_of(window)
        return known[1]

    def _read(self, now: float) -> _Found:
        """Return the panes in new snapshots of hosts of sessions; runs on a thread."""
        if self._feed is None:
            self._feed = Feed(writer.directory(os.environ), HOSTS)
        self._feed.poll(now)
        newest = by_terminal(pane for snapshot in self._feed.snapshots for pane in snapshot.panes)
        decisions = {terminal: tuple(map(decision_of, found)) for terminal, found in newest.items()}
        panes: dict[str, tuple[tuple[str, Pane], ...]] = {}
        for snapshot in self._feed.snapshots:
            for pane in filter(rows.is_lit, snapshot.panes):
                for terminal in pane.place.terminals:
                    panes[terminal] = (*panes.get(terminal, ()), (snapshot.name, pane))
        return _Found(decisions, panes)

    def _was_read(self, found: _Found) -> None:
        self._panes = found.panes
        if found.decisions != self._decisions:
            self._decisions = found.decisions
            self.changed()
