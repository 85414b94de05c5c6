"""
The light of each tab of kitty: the decision of one of its panes; and the pulse of the tabs that wait.

kitty is asked each time which pane is in which tab, since windows move between tabs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import attrs
import kitty.fast_data_types as kitty_data
from kitty.fast_data_types import add_timer, remove_timer

from tallylight.agents.agent import Agent, Agents
from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.features import Features
from tallylight.model import lights as paint
from tallylight.model import tool_call
from tallylight.model.decision import Decision
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.tracker import rollup
from tallylight.ui.layout import countdown


@attrs.frozen
class TabLight:
    """What a tab shows: *decision*, that of the window *owner*."""

    decision: Decision
    owner: int
    #: The title beside the light, that of its window or what it works on; nothing where kitty's is right.
    title: str
    #: Whether it has begun to wait for a person who is to be called: not where all that wait are snoozed.
    pulses: bool
    #: Whether a pane of the tab is done, and unseen, beside the work that its light shows.
    is_finished: bool
    #: What its agent works on.
    project: str = ""
    #: Whether an agent in it and another one have changed the same lines.
    collides: bool = False
    #: How long its limit yet lasts, as far as that is known.
    left: str = ""

    @property
    def what(self) -> str:
        """What it waits for, and how long a limit lasts; nothing where it waits for nobody, or that is not known."""
        report = self.decision.report
        if self.decision.status is Status.LIMITED:
            return self.left or report.message
        return report.what or report.message if self.decision.status is Status.WAITING else ""

    @property
    def request(self) -> str:
        """What it waits for, or what failed, in few words: the first line, of a command without the tool."""
        report, text = self.decision.report, self.left
        if self.decision.status in paint.FILLED or (self.decision.status is Status.LIMITED and not text):
            text = tool_call.request(report.what) or report.message
        return text.replace("↵", "\n").partition("\n")[0].strip()

    def seen(self, *, is_all: bool) -> tuple[object, ...]:
        """What a person sees of it in a tab bar; with *is_all* in one that may draw whatever is reported."""
        decision, report = self.decision, self.decision.report
        if not decision.is_lit:
            return ()
        words = self.title, self.what, self.request, self.project, report.vars
        drawn = decision.status, decision.kind, self.pulses, self.is_finished, self.collides, *words
        return (*drawn, attrs.evolve(report, rule="")) if is_all else drawn


@attrs.define
class TabRollup:
    """
    All tabs of one kitty. *panes* are the host's, by window id; faults of the pulse switch it off among *features*.

    Where nothing *pulses*, no timer is ever started.
    """

    boss: Any
    panes: Mapping[int, Pane]
    features: Features
    #: What is attached in a window, a tmux for instance, shows: one of each status.
    attached: Callable[[Any], tuple[Decision, ...]] = lambda _: ()
    pulses: bool = True
    #: Whether a tab is called by its project where a program only says what it is called itself, without its signs.
    names: bool = True
    #: The name that a person gave the conversation of a window.
    given: Callable[[int], str] = lambda _: ""
    #: The agents that are known, for what one calls itself that is not in the foreground here.
    agents: Agents = attrs.Factory(Agents)
    now: Callable[[], float] = time.monotonic
    #: The same in seconds since the epoch, in which agents tell of their limits; and when one is worded otherwise.
    wall: Callable[[], float] = time.time
    changes_at: float = math.inf
    #: Whether code of the person's own draws lights.
    is_read: bool = False
    _shown: dict[int, TabLight] = attrs.field(init=False, factory=dict)
    #: What a person sees of it, by OS window: a tab bar in which that stays the same is not drawn again.
    _seen: dict[int, list[tuple[object, ...]]] = attrs.field(init=False, factory=dict)
    #: The OS windows that have a light that pulses.
    _waiting: list[int] = attrs.field(init=False, factory=list)
    #: The tab managers of these that have a bar, as of the last time that was asked, and the beats since then.
    _drawn: list[Any] = attrs.field(init=False, factory=list)
    _beats: int = attrs.field(init=False, default=0)
    _timer: int | None = attrs.field(init=False, default=None)

    def shown(self, tab_id: int) -> TabLight | None:
        """What a tab shows, as of the last `refresh`; None where nothing is known of it."""
        return self._shown.get(tab_id)

    def refresh(self) -> None:
        """Find what every tab shows."""
        found: dict[int, TabLight] = {}
        asking: list[int] = []
        self.changes_at = math.inf
        for manager in self.boss.all_tab_managers:
            here = {tab.id: shown for tab in manager if (shown := self._look(tab)) is not None}
            found |= here
            if any(shown.pulses for shown in here.values()):
                asking.append(manager.os_window_id)
        self._shown = found
        if asking != self._waiting:
            self._waiting, self._drawn = asking, []

    def _look(self, tab: Any) -> TabLight | None:
        windows = [window for window in tab if window.id in self.panes]
        decisions = {window.id: self.decision(window) for window in windows}
        urgent = rollup.of_tab(list(decisions.values()))
        if urgent is None:
            return None
        owner = next(window for window in windows if decisions[window.id] is urgent)
        waiting = [id_ for id_, decision in decisions.items() if decision.status is Status.WAITING]
        is_new = self.pulses and self.now() - urgent.since < paint.PULSE_LASTS_S
        return TabLight(
            urgent,
            owner.id,
            title=self._title(tab, owner, urgent) if urgent.is_lit else "",
            pulses=is_new
            and urgent.status is Status.WAITING
            and any(not self.panes[id_].attention.snoozed for id_ in waiting),
            left=self._left(urgent),
            project=urgent.report.project or self.panes[owner.id].project,
            collides=self._collides(tab),
            is_finished=rollup.has_hidden_done(urgent, [one for window in windows for one in self._decisions(window)]),
        )

    def _collides(self, tab: Any) -> bool:
        return any(self.panes[window.id].collides for window in tab if window.id in self.panes)

    def _left(self, decision: Decision) -> str:
        """How long a limit yet lasts; nothing where there is none, or that is not known."""
        left = decision.limited_until - self.wall()
        if decision.status is not Status.LIMITED or left <= 0:
            return ""
        words, changes_in = countdown(left)
        self.changes_at = min(self.changes_at, self.wall() + changes_in)
        return words

    def decision(self, window: Any) -> Decision:
        """What *window*, which has a pane, shows: what is attached in it, or its own if that goes before."""
        found = self._decisions(window)
        return found[0] if len(found) == 1 else max(found, key=lambda decision: rollup.precedence(decision.status))

    def _decisions(self, window: Any) -> tuple[Decision, ...]:
        """All that *window* could show; of equals the first does."""
        return (*self.attached(window), self.panes[window.id].decision)

    def _title(self, tab: Any, owner: Any, decision: Decision) -> str:
        """
        The title of *tab* with the light of *owner*; nothing where kitty's is right, or a person gave it.

        Of an agent that only says what it is called itself it is that of its session, else its project.
        """
        pane, report = self.panes[owner.id], decision.report
        if tab.name:
            return ""
        title = str(owner.title) if owner is not tab.active_window else ""
        if not self.names or owner.override_title is not None:
            return title if decision is pane.decision else report.title
        is_own = decision is pane.decision
        said = (pane.clean_title or str(owner.title)) if is_own else report.title
        project = pane.project if is_own else report.project
        agent = self.agents.get(report.agent) or pane.agent
        # A shell calls the tab by the whole command: `tally run claude`.
        bare = {"", "tally", report.agent.casefold(), *_own_names(agent)}
        if name := self.given(owner.id):
            return name
        if not _is_bare(said, bare):
            return said if not is_own or pane.agent is not None else title
        return project if _is_bare(report.title, bare) else report.title

    def redraw(self) -> None:
        """Have the changed tab bars drawn again, and start the pulse if a light waits."""
        self.refresh()
        before, self._seen = self._seen, {}
        for manager in self.boss.all_tab_managers:
            self.note(manager.os_window_id, [tab.id for tab in manager])
            if self._seen[manager.os_window_id] != before.get(manager.os_window_id):
                manager.mark_tab_bar_dirty()
        if self._timer is None and self.pulsing():
            self._timer = add_timer(self.features.guarded("pulse", self._beat), 1 / paint.PULSE_HZ, True)

    def note(self, os_window_id: int, tab_ids: Iterable[int]) -> None:
        """Of these tabs it is drawn now, or soon, what they show."""
        shown = (self._shown.get(id_) for id_ in tab_ids)
        self._seen[os_window_id] = [one.seen(is_all=self.is_read) if one is not None else () for one in shown]

    def forget(self) -> None:
        """The same is drawn in another way from now on: with the next `redraw`."""
        self._seen.clear()

    def pulsing(self) -> list[Any]:
        """The tab managers with a pulsing light in their tab bar, as of the last `refresh`."""
        managers = self.boss.os_window_map
        found = [managers.get(id_) for id_ in self._waiting] if self.pulses else []
        return [manager for manager in found if manager is not None and windows.shows_tab_bar(manager)]

    def _beat(self, timer: int | None) -> None:
        # kitty works out each time whether a bar is shown: it is asked once a second.
        self._beats = (self._beats + 1) % paint.PULSE_HZ
        if not self._beats or not self._drawn:
            self._drawn = self.pulsing()
        waiting = self._waiting
        for manager in self._drawn:
            if manager.os_window_id in waiting:
                _draw(manager)
        if not (self._drawn and waiting and self.pulses) and timer is not None:
            self._timer = None
            remove_timer(timer)


def _own_names(agent: Agent | None) -> Iterable[str]:
    """What *agent* calls itself, and what starts it."""
    return (name.casefold() for name in (agent.display, *agent.processes)) if agent is not None else ()


def _is_bare(title: str, names: Collection[str]) -> bool:
    """Whether *title* is but one of the program's *names*, or the command that starts it, as shells set it."""
    return title.casefold() in names or title.partition(" ")[0] in names


def _draw(manager: Any) -> None:
    """Have the tab bar of *manager*, which is shown, drawn again, by kitty's own function as its version has it."""
    # Not by the manager where that can be: it asks again whether there is a bar, and reports a change.
    for more in ((True,), ()):
        try:
            kitty_data.mark_tab_bar_dirty(manager.os_window_id, *more)
        except (TypeError, AttributeError):
            continue
        return
    manager.mark_tab_bar_dirty()
