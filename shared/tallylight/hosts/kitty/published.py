"""
What is published of each pane in the user variables of its window, for `kitten @ ls` and `--match var:`, and in the
snapshot. What has not changed of a pane is not made again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from tallylight.hosts.kitty import windows
from tallylight.model.decision import Decision
from tallylight.pane.pane import Pane
from tallylight.snapshot.schema import Pane as PaneEntry

#: What is published on every pane that has something to say.
PUBLISHED = ("tally_status", "tally_kind", "tally_agent", "tally_reason")
#: How often, in seconds, all that a snapshot says of a pane is asked anew, though nothing was heard of it.
ALL_S = 10.0
_NOTHING: tuple[str | None, ...] = (None,) * len(PUBLISHED)


class Change(enum.Enum):
    """How far what is new of a pane goes: nowhere, into the snapshot alone, or to what kitty shows as well."""

    NONE = 0
    TOLD = 1
    SHOWN = 2


@attrs.frozen
class _Shown:
    """What was last published of a pane."""

    decision: Decision
    #: What else of the pane shows in kitty, and what stands in the snapshot alone.
    seen: tuple[object, ...]
    more: tuple[object, ...]
    variables: tuple[str | None, ...]


class _Entry(NamedTuple):
    """An entry of the snapshot, and what it was made of."""

    decision: Decision
    place: tuple[object, ...] | None
    parts: tuple[object, ...]
    entry: PaneEntry


@attrs.define
class Published:
    """What was last published of every pane, by the id of its window."""

    _shown: dict[int, _Shown] = attrs.field(init=False, factory=dict)
    #: The entry of each pane in the snapshot, and all that it was made of.
    _entries: dict[int, _Entry] = attrs.field(init=False, factory=dict)

    #: Of these something may be new since the last snapshot; and when all entries were last looked at.
    _dirty: set[int] = attrs.field(init=False, factory=set)
    _all_at: float = attrs.field(init=False, default=float("-inf"))
    _origin: float = attrs.field(init=False, default=0.0)

    def change(self, id_: int, pane: Pane) -> Change:
        """What others have yet to be told of *pane*."""
        shown, decision = self._shown.get(id_), pane.decision
        if shown is None:
            return Change.SHOWN if decision.is_lit else Change.NONE
        if shown.seen != _seen(pane):
            return Change.SHOWN
        if shown.decision is not decision and _words(shown.decision) != _words(decision):
            return Change.SHOWN
        return Change.TOLD if shown.more != _more(pane) else Change.NONE

    def publish(self, id_: int, pane: Pane, window: Any, now: float) -> None:
        """Put the decision into the user variables of *window*; take them away when there is nothing to say."""
        decision = pane.decision
        pane.attention.shown(decision, now)
        before = self._shown.get(id_)
        variables = _NOTHING
        if decision.is_lit:
            reason = f"{decision.reason.source.word if decision.reason.source else 'none'}: {decision.reason.rule}"
            variables = (decision.status, decision.kind or "", decision.report.agent, reason)
        known = before.variables if before is not None else _NOTHING
        for name, value, old in zip(PUBLISHED, variables, known, strict=True):
            if window is not None and value != old:
                window.set_user_var(name, value)
        self._shown[id_] = _Shown(decision, _seen(pane), _more(pane), variables)
        self._dirty.add(id_)

    def entry(self, id_: int, window: Any, pane: Pane, terminal: str, epoch: Callable[[float], float]) -> PaneEntry:
        """The *pane* of *window*, which may be gone, as the snapshot has it; *epoch* makes seconds since the epoch."""
        decision = pane.decision
        place = _place(window)
        parts = _seen(pane), _more(pane), _beside(pane), terminal, epoch(0.0)
        known = self._entries.get(id_)
        # The same decision, not an equal one: comparing them costs as much as to make the entry.
        if known is None or known.decision is not decision or known.place != place or known.parts != parts:
            made = windows.entry(id_, window, pane, epoch, terminal)
            known = self._entries[id_] = _Entry(decision, place, parts, made)
        return known.entry

    def may_be_new(self, ids: Iterable[int]) -> None:
        """Something may be new of *ids* since the last snapshot."""
        self._dirty.update(ids)

    def entries(
        self,
        panes: Mapping[int, Pane],
        windows: Mapping[int, Any],
        make: Callable[[int, Pane], PaneEntry],
        now: float,
        origin: float,
    ) -> tuple[PaneEntry, ...]:
        """
        All *panes* as the snapshot of monotonic *now* has them; *make*, which asks `entry`, makes what may be new.

        All are made every `ALL_S`, and when *origin*, 0 in seconds since the epoch, is another: the clock was set.
        """
        known, dirty = self._entries, self._dirty
        self._dirty = set()
        if not 0 <= now - self._all_at < ALL_S or origin != self._origin:
            self._all_at, self._origin, known = now, origin, {}
        return tuple(
            known[id_].entry
            if id_ in known and id_ not in dirty and known[id_].place == _place(windows.get(id_))
            else make(id_, pane)
            for id_, pane in panes.items()
        )

    def forget(self, id_: int) -> None:
        """The window is gone."""
        self._shown.pop(id_, None)
        self._entries.pop(id_, None)


def _words(decision: Decision) -> tuple[object, ...]:
    """What of a decision is told to others. When a source last repeated itself is not."""
    return decision.status, decision.kind, decision.reason.source, decision.reason.rule, decision.report


def _place(window: Any) -> tuple[object, ...] | None:
    """What kitty alone knows of *window*: its title, and where it is."""
    return (window.title, window.tab_id, window.os_window_id) if window is not None else None


def _seen(pane: Pane) -> tuple[object, ...]:
    return pane.attention.facts, pane.clean_title


def _more(pane: Pane) -> tuple[object, ...]:
    return pane.tracker.revision, pane.pace


def _beside(pane: Pane) -> tuple[object, ...]:
    """What else an entry is made of; no change of it alone is worth a new snapshot."""
    unknown, record, said = pane.unknown, pane.record, pane.conversation
    return (
        pane.pid,
        pane.agent_pid,
        (unknown.program.name, unknown.program.signs, unknown.is_agent) if unknown.program is not None else None,
        (record.details, record.is_strange) if record is not None else None,
        (said.entry, said.resume, said.fork),
        pane.project,
        pane.queued,
    )
