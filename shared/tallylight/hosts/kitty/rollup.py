"""
The light of each tab of kitty: the decision of one of its panes; and the pulse of the tabs that wait.

Which pane is in which tab is asked of kitty each time, for windows move between tabs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import kitty.fast_data_types as kitty_data
from kitty.fast_data_types import add_timer, remove_timer

from tallylight.hosts.kitty import windows
from tallylight.model import lights as paint
from tallylight.model.decision import Decision
from tallylight.model.status import Kind, Status
from tallylight.pane.pane import Pane
from tallylight.tracker import rollup


@attrs.define
class TabRollup:
    """
    All tabs of one kitty. *panes* are the host's, by window id; *guarded* makes a call whose faults kitty never sees.

    Where nothing *pulses*, no timer is ever started.
    """

    boss: Any
    panes: Mapping[int, Pane]
    guarded: Callable[[str, Callable[..., None]], Callable[..., None]]
    #: What is attached in a window, a tmux for instance, shows: one of each status.
    attached: Callable[[Any], tuple[Decision, ...]] = lambda _: ()
    pulses: bool = True
    #: Whether an agent's own signs and spinners are left out of a title that has our mark beside it.
    strips_glyphs: bool = True
    _lights: dict[int, Decision] = attrs.field(init=False, factory=dict)
    #: The window that the light of each tab is of.
    _owners: dict[int, int] = attrs.field(init=False, factory=dict)
    #: The titles that stand beside lights in the place of kitty's own.
    _titles: dict[int, str] = attrs.field(init=False, factory=dict)
    #: The tabs whose waiting agents are all snoozed: their light is steady.
    _snoozed: set[int] = attrs.field(init=False, factory=set)
    #: The OS windows that have a light that waits, and is not snoozed.
    _waiting: list[int] = attrs.field(init=False, factory=list)
    #: The tab managers of these that have a bar, as of the last time that was asked, and the beats since then.
    _drawn: list[Any] = attrs.field(init=False, factory=list)
    _beats: int = attrs.field(init=False, default=0)
    #: The tabs in which a pane is done beside one that works.
    _finished: set[int] = attrs.field(init=False, factory=set)
    _timer: int | None = attrs.field(init=False, default=None)

    def light(self, tab_id: int) -> Decision | None:
        """What is shown on a tab, as of the last `refresh`."""
        return self._lights.get(tab_id)

    def owner(self, tab_id: int) -> int | None:
        """The id of the window whose light a tab shows; None where it shows none."""
        return self._owners.get(tab_id)

    def title(self, tab_id: int) -> str | None:
        """The title that is to stand beside the light of a tab: that of its window; None where kitty's is right."""
        return self._titles.get(tab_id)

    def is_steady(self, tab_id: int) -> bool:
        """Whether a tab does not pulse although it waits."""
        return tab_id in self._snoozed

    def is_finished(self, tab_id: int) -> bool:
        """Whether a pane of a tab is done, and unseen, beside the work that its light shows."""
        return tab_id in self._finished

    def refresh(self) -> None:
        """Find the decision of every tab."""
        lights: dict[int, Decision] = {}
        owners: dict[int, int] = {}
        titles: dict[int, str] = {}
        snoozed: set[int] = set()
        finished: set[int] = set()
        for manager in self.boss.all_tab_managers:
            for tab in manager:
                panes = {w.id: self.panes[w.id] for w in tab if w.id in self.panes}
                decisions = {w.id: self.decision(w) for w in tab if w.id in panes}
                if (urgent := rollup.of_tab(list(decisions.values()))) is not None:
                    if rollup.has_hidden_done(urgent, [d for w in tab if w.id in panes for d in self._decisions(w)]):
                        finished.add(tab.id)
                    lights[tab.id] = urgent
                    owner = next(w for w in tab if w.id in decisions and decisions[w.id] is urgent)
                    owners[tab.id] = owner.id
                    if urgent.is_lit and (title := self._title(tab, owner, panes[owner.id], urgent)):
                        titles[tab.id] = title
                waiting = {id_: found for id_, found in decisions.items() if found.status is Status.WAITING}
                if all(panes[id_].attention.snoozed or found.kind is Kind.LIMIT for id_, found in waiting.items()):
                    snoozed.add(tab.id)
        self._lights, self._owners, self._titles, self._snoozed = lights, owners, titles, snoozed
        self._finished = finished
        lit = {id_ for id_, decision in lights.items() if decision.status is Status.WAITING} - snoozed
        asking = [
            manager.os_window_id
            for manager in (self.boss.all_tab_managers if lit else ())
            if any(tab.id in lit for tab in manager)
        ]
        if asking != self._waiting:
            self._waiting, self._drawn = asking, []

    def decision(self, window: Any) -> Decision:
        """What *window*, which has a pane, shows: what is attached in it, or its own if that goes before."""
        found = self._decisions(window)
        return found[0] if len(found) == 1 else max(found, key=lambda decision: rollup.precedence(decision.status))

    def _decisions(self, window: Any) -> tuple[Decision, ...]:
        """All that *window* could show; of equals the first does."""
        return (*self.attached(window), self.panes[window.id].decision)

    def _title(self, tab: Any, owner: Any, pane: Pane, decision: Decision) -> str:
        """The title of *tab* whose light is that of *owner*; nothing where kitty's is right, or a person gave it."""
        if tab.name:
            return ""
        if decision is not pane.decision:
            return decision.report.title
        title = owner.title if owner is not tab.active_window else ""
        if self.strips_glyphs and pane.agent is not None and owner.override_title is None and pane.clean_title:
            return pane.clean_title
        return str(title)

    def redraw(self) -> None:
        """Have every tab bar drawn again, and start the pulse if a light waits."""
        self.refresh()
        for manager in self.boss.all_tab_managers:
            manager.mark_tab_bar_dirty()
        if self._timer is None and self.pulsing():
            self._timer = add_timer(self.guarded("pulse", self._beat), 1 / paint.PULSE_HZ, True)

    def pulsing(self) -> list[Any]:
        """The tab managers whose tab bar shows a light that waits, as of the last `refresh`."""
        managers = self.boss.os_window_map
        found = [managers.get(id_) for id_ in self._waiting] if self.pulses else []
        return [manager for manager in found if manager is not None and windows.shows_tab_bar(manager)]

    def _beat(self, timer: int | None) -> None:
        # Whether a bar is shown kitty works out anew each time: it is asked once a second.
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


def _draw(manager: Any) -> None:
    """Have the tab bar of *manager*, which is shown, drawn again, by kitty's own function as its version has it."""
    # Not by the manager where that can be: it asks again whether there is a bar, and tells others of a change.
    for more in ((True,), ()):
        try:
            kitty_data.mark_tab_bar_dirty(manager.os_window_id, *more)
        except (TypeError, AttributeError):
            continue
        return
    manager.mark_tab_bar_dirty()
