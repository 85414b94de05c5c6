"""
Notifications of a polling host: by the configured command, or else by the desktop's `notify-send`.

The terminal around a session may notify about its agent, too, if the agent's reports reach it. Then it does, and this
host does not. A notification cannot be withdrawn.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import attrs

from tallylight.hosts.notify_command import Command
from tallylight.hosts.sessions_inside import HOSTS
from tallylight.model.decision import Decision
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.view import view_of
from tallylight.snapshot import fields, rows
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import directory
from tallylight.tracker.notify import Notice, Notifier, Settings, View
from tallylight.tracker.rollup import precedence

#: Passes the environment of `notify_command` as arguments; the shell interprets none of it.
DESKTOP = ("/bin/sh", "-c", 'exec notify-send --app-name=Tallylight -- "$TALLY_TITLE" "$TALLY_MESSAGE"')


class NoticeScreen(Protocol):
    """A terminal that shows notices itself, as WezTerm does."""

    def inside(self, id_: str) -> PaneEntry | None:
        """Return the entry attached in the pane *id_*, in a multiplexer or on a server."""

    def is_known(self, notice: Notice, now: float) -> bool:
        """Return whether an earlier host has shown *notice* already."""

    def show(self, notice: Notice) -> None:
        """Show *notice*."""

    def remember(self, told: Mapping[str, Status]) -> None:
        """Save the status of each pane that the user was notified of, for the next host."""


class Notices:
    """
    Notifies about a host's own *panes* by *settings*; *entry* returns the published entry of one.

    *failed* is called if the command cannot be started; *also* passes each notice to parts. *screen* shows notices
    instead of the desktop's program. Call `look` on the host's loop.
    """

    def __init__(
        self,
        name: str,
        panes: Mapping[str, Pane],
        settings: Settings,
        environ: Mapping[str, str],
        entry: Callable[[str], PaneEntry | None],
        failed: Callable[[Exception], None],
        also: Callable[[Notice, float], None],
        screen: NoticeScreen | None = None,
    ) -> None:
        self._panes, self._entry, self._also, self._screen = panes, entry, also, screen
        self._notifier = Notifier(settings)
        self._command = Command(settings.command or DESKTOP, name, failed, environ)
        self._feed = Feed(directory(environ))
        #: The decision or entry of each pane at the last look.
        self._known: dict[str, Decision | PaneEntry] = {}
        #: Panes to look at: those that have changed, and those for which time alone may bring a notice.
        self._pending: set[str] = set(panes)
        #: Adds up with monotonic seconds to seconds since the epoch; fixed, so that results can be compared.
        self._epoch = time.time() - time.monotonic()

    def changed(self, ids: Iterable[str]) -> None:
        """Take note that these panes have changed."""
        self._pending.update(ids)

    def look(self, now: float) -> None:
        """Send the notifications that are due at monotonic *now*."""
        local = time.localtime()
        minute = 60 * local.tm_hour + local.tm_min
        # An attached session may change while its pane does not.
        ids = self._panes.keys() if self._screen is not None else self._panes.keys() & self._pending
        for id_ in ids:
            pane = self._panes[id_]
            inside = self._screen.inside(id_) if self._screen is not None else None
            if self._is_resting(id_, inside or pane.decision):
                self._pending.discard(id_)
                continue
            self._pending.add(id_)
            entry = self._entry(id_)
            view = self._view(pane, inside, entry.place.host_title if entry is not None else "")
            found = self._notifier.look(id_, view, now, minute)
            pane.attention.notified = self._notifier.was_notified(id_)
            if isinstance(found, Notice) and not (entry is not None and self._is_notified_elsewhere(entry, now)):
                self._notify(found, now)
        self._command.tick(now)
        if self._screen is not None:
            self._screen.remember(
                {id_: told for id_ in self._panes if (told := self._notifier.known_status(id_)) is not None}
            )

    def _is_resting(self, id_: str, decision: Decision | PaneEntry) -> bool:
        """Return whether a look at a pane with this *decision* would bring nothing; take note of the decision."""
        # The same decision, not an equal one: comparing them costs as much as looking. Turns are timed by each.
        is_known, self._known[id_] = self._known.get(id_) is decision, decision
        is_told = decision.status in self._notifier.settings.when
        return is_known and not is_told and self._notifier.is_resting(id_)

    def _view(self, pane: Pane, inside: PaneEntry | None, name: str) -> View:
        """
        Return *pane* as the notifier sees it: with the state of *inside*, its attached session, where that is more
        urgent.
        """
        view = view_of(pane, name if self._screen is None else pane.clean_title)
        if inside is None or precedence(inside.status) <= precedence(pane.decision.status):
            return view
        return _view_inside(view, inside, self._epoch)

    def _notify(self, notice: Notice, now: float) -> None:
        """Show *notice*: on the screen, by the command of the user, or by the desktop; not if an earlier host has."""
        if self._screen is not None and self._screen.is_known(notice, now):
            return
        self._also(notice, now)
        if self._screen is not None and not self._notifier.settings.command:
            self._screen.show(notice)
        else:
            self._command.run(self._worded(notice), now)

    def pause(self, seconds: float) -> None:
        """Leave out *seconds* in which nothing could run."""
        self._notifier.pause(seconds)

    def gone(self, id_: str) -> None:
        """Forget the pane *id_*, which is gone."""
        self._notifier.close(id_)
        self._known.pop(id_, None)
        self._pending.discard(id_)

    def _worded(self, notice: Notice) -> Notice:
        """Return *notice* with a text that no desktop takes for markup."""
        if self._command.argv != DESKTOP:
            return notice
        return attrs.evolve(notice, body=html.escape(notice.body, quote=False))

    def _is_notified_elsewhere(self, entry: PaneEntry, now: float) -> bool:
        """
        Return whether a terminal that shows the session of *entry* notifies itself.

        kitty does if the agent's reports reach it. WezTerm always does, because its tab shows the session.
        """
        self._feed.poll(now)
        return any(
            found.host == "wezterm" or (pane.agent == entry.agent and rows.is_lit(pane))
            for found in self._feed.snapshots
            if not found.name.startswith(HOSTS)
            for pane in found.panes
            if rows.Row(found.name, pane).where in entry.place.terminals
        )


def _view_inside(view: View, inside: PaneEntry, epoch: float) -> View:
    """Return *view* of a pane with the state of *inside*, attached in it. A visible pane counts as seen."""
    decision, now = view.decision, time.time()
    report = attrs.evolve(
        decision.report,
        agent=inside.agent,
        project=inside.name or inside.project,
        message=inside.question or inside.message,
        what=inside.what,
        detail="",
    )
    return attrs.evolve(
        view,
        decision=attrs.evolve(
            decision, status=inside.status, kind=inside.kind, since=inside.since - epoch, report=report
        ),
        seen=view.seen or view.visible,
        snoozed=view.snoozed or inside.attention.snoozed_until > now,
        muted=view.muted or inside.attention.muted_until > now,
        project=inside.project or view.project,
        outcome=inside.outcome,
        behind=fields.words(inside.more),
        unanswered=inside.unanswered_since - epoch if inside.unanswered_since > 0 else None,
    )
