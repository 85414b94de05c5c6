"""
The light of each tab of kitty, which is the decision of one of its panes; and the pulse of waiting tabs.

Windows move between tabs, so kitty is asked each time which pane is in which tab.
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
    """The light of a tab: *decision* is that of the window *owner*."""

    decision: Decision
    owner: int
    #: The title beside the light: its window's, or the agent's project; empty to keep kitty's.
    title: str
    #: Whether it has just begun to wait for a person; not if all waiting panes are snoozed.
    pulses: bool
    #: Whether a pane of the tab has finished unseen, while the light shows work.
    is_finished: bool
    #: The project of its agent.
    project: str = ""
    #: Whether an agent in it and another one have changed the same lines.
    collides: bool = False
    #: The remaining time of its limit, if known.
    left: str = ""

    @property
    def what(self) -> str:
        """The request it waits with, or the remaining time of a limit; empty if there is neither."""
        report = self.decision.report
        if self.decision.status is Status.LIMITED:
            return self.left or report.message
        return report.what or report.message if self.decision.status is Status.WAITING else ""

    @property
    def request(self) -> str:
        """The request it waits with, or the error, in few words: the first line, a command without its tool."""
        report, text = self.decision.report, self.left
        if self.decision.status in paint.FILLED or (self.decision.status is Status.LIMITED and not text):
            text = tool_call.request(report.what) or report.message
        return text.replace("↵", "\n").partition("\n")[0].strip()

    def drawn_values(self, *, is_all: bool) -> tuple[object, ...]:
        """Return all that a tab bar shows of it; with *is_all* for a bar that may draw everything reported."""
        decision, report = self.decision, self.decision.report
        if not decision.is_lit:
            return ()
        words = self.title, self.what, self.request, self.project, report.vars
        drawn = decision.status, decision.kind, self.pulses, self.is_finished, self.collides, *words
        return (*drawn, attrs.evolve(report, rule="")) if is_all else drawn


@attrs.define
class TabRollup:
    """
    The lights of all tabs of one kitty.

    *panes* are the host's, by window id; faults of the pulse switch it off among *features*. If nothing *pulses*, no
    timer runs.
    """

    boss: Any
    panes: Mapping[int, Pane]
    features: Features
    #: Returns the decisions of a session attached in a window, such as tmux: one for each status.
    attached: Callable[[Any], tuple[Decision, ...]] = lambda _: ()
    pulses: bool = True
    #: Whether a tab shows its project if the program's title is only its own name.
    names: bool = True
    #: Returns the user's name for the conversation of a window.
    given: Callable[[int], str] = lambda _: ""
    #: All known agents, for reports of one that is not in the foreground here.
    agents: Agents = attrs.Factory(Agents)
    now: Callable[[], float] = time.monotonic
    #: Seconds since the epoch, as agents report limits; and when a text of the remaining time changes.
    wall: Callable[[], float] = time.time
    changes_at: float = math.inf
    #: Whether the user's own code draws lights.
    is_read: bool = False
    _shown: dict[int, TabLight] = attrs.field(init=False, factory=dict)
    #: The values drawn, by OS window: an unchanged tab bar is not drawn again.
    _seen: dict[int, list[tuple[object, ...]]] = attrs.field(init=False, factory=dict)
    #: The OS windows with a pulsing light.
    _waiting: list[int] = attrs.field(init=False, factory=list)
    #: The tab managers of these with a visible bar, as of the last check, and the beats since then.
    _drawn: list[Any] = attrs.field(init=False, factory=list)
    _beats: int = attrs.field(init=False, default=0)
    _timer: int | None = attrs.field(init=False, default=None)

    def shown(self, tab_id: int) -> TabLight | None:
        """Return the light of a tab, as of the last `refresh`; None if nothing is known of it."""
        return self._shown.get(tab_id)

    def refresh(self) -> None:
        """Decide the light of every tab."""
        found: dict[int, TabLight] = {}
        asking: list[int] = []
        self.changes_at = math.inf
        for manager in self.boss.all_tab_managers:
            here = {tab.id: shown for tab in manager if (shown := self._light_of(tab)) is not None}
            found |= here
            if any(shown.pulses for shown in here.values()):
                asking.append(manager.os_window_id)
        self._shown = found
        if asking != self._waiting:
            self._waiting, self._drawn = asking, []

    def _light_of(self, tab: Any) -> TabLight | None:
        """Return the light of *tab*: the most urgent decision of its windows; None if none of them is known."""
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
        """Return whether an agent in *tab* has changed the same lines as another one."""
        return any(self.panes[window.id].collides for window in tab if window.id in self.panes)

    def _left(self, decision: Decision) -> str:
        """Return the remaining time of a limit; empty if there is none, or it is unknown."""
        left = decision.limited_until - self.wall()
        if decision.status is not Status.LIMITED or left <= 0:
            return ""
        words, changes_in = countdown(left)
        self.changes_at = min(self.changes_at, self.wall() + changes_in)
        return words

    def decision(self, window: Any) -> Decision:
        """
        Return the most urgent decision in *window*, which has a pane: its own, or that of a session attached in it.
        """
        found = self._decisions(window)
        return found[0] if len(found) == 1 else max(found, key=lambda decision: rollup.precedence(decision.status))

    def _decisions(self, window: Any) -> tuple[Decision, ...]:
        """Return all decisions in *window*; among equals the first one counts."""
        return (*self.attached(window), self.panes[window.id].decision)

    def _title(self, tab: Any, owner: Any, decision: Decision) -> str:
        """
        Return the title of *tab* with the light of *owner*; empty to keep kitty's, or one that a person gave.

        If an agent's title is only its own name, it is the session's, else the project.
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
        # A shell makes the whole command the title: `tally run claude`. Where nobody sets one, kitty does: `bash`.
        unset = str(getattr(owner, "default_title", "")).casefold()
        bare = {"", "tally", unset, report.agent.casefold(), *_own_names(agent)}
        if name := self.given(owner.id):
            return name
        if not _is_bare(said, bare):
            return said if not is_own or pane.agent is not None else title
        return project if _is_bare(report.title, bare) else report.title

    def redraw(self) -> None:
        """Redraw the changed tab bars, and start the pulse if a light waits."""
        self.refresh()
        before, self._seen = self._seen, {}
        for manager in self.boss.all_tab_managers:
            self.note(manager.os_window_id, [tab.id for tab in manager])
            if self._seen[manager.os_window_id] != before.get(manager.os_window_id):
                manager.mark_tab_bar_dirty()
        if self._timer is None and self.pulsing():
            self._timer = add_timer(self.features.guarded("pulse", self._beat), 1 / paint.PULSE_HZ, True)

    def names_of(self, os_window_id: int) -> list[str]:
        """Return the names that a person gave these tabs: without one, kitty's own title can look the same."""
        return [tab.name for tab in self.boss.os_window_map.get(os_window_id, ())]

    def note(self, os_window_id: int, tab_ids: Iterable[int]) -> None:
        """Remember the lights of these tabs as drawn."""
        shown = (self._shown.get(id_) for id_ in tab_ids)
        self._seen[os_window_id] = [one.drawn_values(is_all=self.is_read) if one is not None else () for one in shown]

    def forget(self) -> None:
        """Redraw everything with the next `redraw`: the same lights look different from now on."""
        self._seen.clear()

    def pulsing(self) -> list[Any]:
        """Return the tab managers with a pulsing light in their tab bar, as of the last `refresh`."""
        managers = self.boss.os_window_map
        found = [managers.get(id_) for id_ in self._waiting] if self.pulses else []
        return [manager for manager in found if manager is not None and windows.shows_tab_bar(manager)]

    def _beat(self, timer: int | None) -> None:
        """Redraw the pulsing tab bars; check once a second which ones those are, and end the timer without any."""
        # kitty works out each time whether a bar is visible: it is asked once a second.
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
    """Return the names of *agent* and of its programs."""
    return (name.casefold() for name in (agent.display, *agent.processes)) if agent is not None else ()


def _is_bare(title: str, names: Collection[str]) -> bool:
    """Return whether *title* is one of the program's *names*, or the command that starts it, as shells set it."""
    return title.casefold() in names or title.partition(" ")[0] in names


def _draw(manager: Any) -> None:
    """Redraw the visible tab bar of *manager*, by the function of this kitty's version."""
    # Not by the manager if possible: it checks again whether there is a bar, and reports a change.
    for more in ((True,), ()):
        try:
            kitty_data.mark_tab_bar_dirty(manager.os_window_id, *more)
        except (TypeError, AttributeError):
            continue
        return
    manager.mark_tab_bar_dirty()
