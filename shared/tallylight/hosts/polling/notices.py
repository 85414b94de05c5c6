"""
Notifications of a polling host: by the command of the person's configuration, else by the desktop's `notify-send`.

The terminal around a session may notify of an agent in it, too, if the agent's reports get through to it: then it is
the terminal's to notify. What was sent cannot be taken back.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping
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

#: A shell makes arguments of what `notify_command` puts into the environment; it reads none of that as its own.
DESKTOP = ("/bin/sh", "-c", 'exec notify-send --app-name=Tallylight -- "$TALLY_TITLE" "$TALLY_MESSAGE"')


class NoticeScreen(Protocol):
    """A terminal that shows notices by itself, as WezTerm does."""

    def inside(self, id_: str) -> PaneEntry | None:
        """Return what is attached in the pane *id_*, in a multiplexer or on a server."""

    def is_known(self, notice: Notice, now: float) -> bool:
        """Tell whether the host before this one has told of it."""

    def show(self, notice: Notice) -> None:
        """Show it."""

    def remember(self, told: Mapping[str, Status]) -> None:
        """Keep what a person knows of, the status of each pane, for the host after this one."""


class Notices:
    """
    The notifications about *panes*, the host's own, by *settings*; *entry* is what is published of one.

    *failed* is called if the command cannot be started; *also* passes each notice on to parts. *screen* shows notices
    in the place of the desktop's program.

    `look` belongs to the host's loop.
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
        #: What panes showed in the last look.
        self._known: dict[str, Decision | PaneEntry] = {}
        #: What the time of day is at 0 of the monotonic clock, about; the same for all comparisons.
        self._epoch = time.time() - time.monotonic()

    def look(self, now: float) -> None:
        """Notify of what is due at monotonic *now*."""
        local = time.localtime()
        minute = 60 * local.tm_hour + local.tm_min
        for id_, pane in self._panes.items():
            inside = self._screen.inside(id_) if self._screen is not None else None
            attention, decision = pane.attention, pane.decision
            # The same decision, not an equal one: comparing them costs as much as looking. Turns are timed by each.
            is_known, self._known[id_] = self._known.get(id_) is (inside or decision), inside or decision
            is_told = (inside or decision).status in self._notifier.settings.when
            if is_known and not is_told and self._notifier.is_resting(id_):
                continue
            entry = self._entry(id_)
            view = self._view(pane, inside, entry.host_title if entry is not None else "")
            found = self._notifier.look(id_, view, now, minute)
            attention.notified = self._notifier.was_notified(id_)
            if isinstance(found, Notice) and not (entry is not None and self._is_told(entry, now)):
                self._tell(found, now)
        self._command.tick(now)
        if self._screen is not None:
            self._screen.remember(
                {id_: told for id_ in self._panes if (told := self._notifier.known_status(id_)) is not None}
            )

    def _view(self, pane: Pane, inside: PaneEntry | None, name: str) -> View:
        view = view_of(pane, name if self._screen is None else pane.clean_title)
        if inside is None or precedence(inside.status) <= precedence(pane.decision.status):
            return view
        return _view_inside(view, inside, self._epoch)

    def _tell(self, notice: Notice, now: float) -> None:
        if self._screen is not None and self._screen.is_known(notice, now):
            return
        self._also(notice, now)
        if self._screen is not None and not self._notifier.settings.command:
            self._screen.show(notice)
        else:
            self._command.run(self._worded(notice), now)

    def pause(self, seconds: float) -> None:
        """*seconds* passed while nothing could run."""
        self._notifier.pause(seconds)

    def gone(self, id_: str) -> None:
        """The pane *id_* is no more."""
        self._notifier.close(id_)
        self._known.pop(id_, None)

    def _worded(self, notice: Notice) -> Notice:
        """*notice*, with text that no desktop takes for markup."""
        if self._command.argv != DESKTOP:
            return notice
        return attrs.evolve(notice, body=html.escape(notice.body, quote=False))

    def _is_told(self, entry: PaneEntry, now: float) -> bool:
        """
        Whether a terminal that shows the session of *entry* notifies the person itself.

        kitty does where what the agent reports gets through to it, WezTerm as its tab shows what is in the session.
        """
        self._feed.poll(now)
        return any(
            found.host == "wezterm" or (pane.agent == entry.agent and rows.is_lit(pane))
            for found in self._feed.snapshots
            if not found.name.startswith(HOSTS)
            for pane in found.panes
            if rows.Row(found.name, pane).where in entry.terminals
        )


def _view_inside(view: View, inside: PaneEntry, epoch: float) -> View:
    """*view* of a pane in which *inside* is attached. To have it in front is to have seen it."""
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
        snoozed=view.snoozed or inside.snoozed_until > now,
        muted=view.muted or inside.muted_until > now,
        project=inside.project or view.project,
        outcome=inside.outcome,
        behind=fields.words(inside.more),
        unanswered=inside.unanswered_since - epoch if inside.unanswered_since > 0 else None,
    )
