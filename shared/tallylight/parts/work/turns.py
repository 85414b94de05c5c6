"""
Turns: when a tree of a work tree is taken: as a turn begins, as it ends, and as a person stops looking at it.

Trees are taken on workers, one at a time for each disk; panes that wait for the same directory share one. Until a tree
is there the next one of that pane waits. A repository with a slow git, or with too much that is new, is left alone.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from tallylight.files.lock import BusyError
from tallylight.files.mounts import Mounts
from tallylight.files.program import StuckError
from tallylight.model.jobs import Submit
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.parts.work import ledger
from tallylight.parts.work.changes import MAX_SLOW
from tallylight.parts.work.ledger import MAX_OTHERS, Stretch
from tallylight.parts.work.repository_watch import SLOW_GIT_PAUSE_MAX_S
from tallylight.parts.work.trees import Store, Tree
from tallylight.tracker.attention import DWELL_S

#: The statuses of a turn that goes on.
BUSY = (Status.WORKING, Status.WAITING, Status.BACKGROUND)


@attrs.define
class _Pane:
    """One pane. *turn* is when its turn began, 0 between two turns."""

    pid: int = 0
    agent: str = ""
    cwd: str = ""
    turn: float = 0.0
    began: float = 0.0
    #: The tree at the beginning of the present stretch; None until it is there.
    before: Tree | None = None
    is_fresh: bool = False
    #: Since when a person has been looking, monotonic; None while nobody does. Whether one has since the turn ended.
    looks_since: float | None = None
    was_seen: bool = False
    #: Trees that are wanted and not there.
    waits: int = 0

    def has_left(self, visible: bool, now: float) -> bool:
        """Take note whether a person sees the pane; return whether one has looked until now."""
        has_left = not visible and self.looks_since is not None and now - self.looks_since >= DWELL_S
        if not visible or self.looks_since is None:
            self.looks_since = now if visible else None
        return has_left


@attrs.frozen
class _Wish:
    """A tree is wanted: it ends the stretch of *pane*, which *stretch* describes, or begins one, or both."""

    pane: _Pane
    stretch: Stretch | None
    cwds: tuple[str, ...] = ()
    begins: float = 0.0


@attrs.define
class Turns:
    """Follows the panes of the host *name*. *submit* does one job of a key at a time; *clock* is that of the wall."""

    name: str
    environ: Mapping[str, str]
    submit: Submit
    mounts: Mounts
    clock: Callable[[], float] = time.time
    _panes: dict[Any, _Pane] = attrs.field(factory=dict)
    #: Panes to look at in any case: those that have changed, and those with a turn that is over but no tree yet.
    _due: set[Any] = attrs.field(factory=set)
    #: The wishes that wait, by directory.
    _wishes: dict[str, list[_Wish]] = attrs.field(factory=dict)
    _slow: dict[str, float] = attrs.field(factory=dict)

    def look(self, panes: Mapping[Any, Pane], looked: Iterable[Any], now: float, *, is_wanted: bool) -> None:
        """
        Look which panes begin a turn, or end one, at monotonic *now*, and have taken what trees that takes.

        *looked* are the ids of the *panes* that may have begun or ended one, besides those that have `changed`.
        """
        if not is_wanted:
            self._panes = {}
        due, self._due = self._due & panes.keys(), set()
        for id_ in {*looked, *due} if is_wanted else ():
            if id_ in self._panes or panes[id_].agent_pid is not None:
                self._look(id_, panes[id_], panes, now)
        for cwd in list(self._wishes):
            self._take(cwd, now)

    def _look(self, id_: Any, pane: Pane, panes: Mapping[Any, Pane], now: float) -> None:
        if (known := self._panes.get(id_)) is None:
            known = self._panes[id_] = _Pane()
        is_busy = pane.decision.status in BUSY and pane.agent_pid is not None
        has_left = known.has_left(pane.attention.visible, now)
        if is_busy and not known.turn:
            self._begin(known, pane)
        elif known.turn and known.before is not None and (has_left or not is_busy):
            self._end(id_, known, pane, panes, is_over=not is_busy)
        elif known.turn and not is_busy and not known.waits:
            known.turn = 0.0  # there is no tree that it began with
        if is_busy:
            return
        known.was_seen |= pane.attention.seen or pane.attention.visible
        if known.turn:
            self._due.add(id_)

    def changed(self, id_: Any) -> None:
        """Take note that a pane has changed."""
        self._due.add(id_)

    def forget(self, id_: Any) -> None:
        """Forget a pane that is gone."""
        self._panes.pop(id_, None)
        self._due.discard(id_)

    def _begin(self, known: _Pane, pane: Pane) -> None:
        known.pid, known.agent = pane.agent_pid or 0, pane.agent.name if pane.agent is not None else ""
        known.cwd, known.turn, known.before = pane.conversation.entry.cwd, self.clock(), None
        known.is_fresh, known.was_seen = known.was_seen or pane.attention.visible, False
        self._wish(_Wish(known, None, begins=known.turn))

    def _end(self, id_: Any, known: _Pane, pane: Pane, panes: Mapping[Any, Pane], *, is_over: bool) -> None:
        """End a stretch of a turn, which *is_over*, or goes on with another one."""
        assert known.before is not None
        others = [one for other, one in panes.items() if other != id_ and self._was_busy(other, known)]
        own = set(_written(pane, known.began))
        written = (path for one in others for path in _written(one, known.began) if path not in own)
        stretch = Stretch(
            pane=f"{self.name}:{id_}",
            pid=known.pid,
            agent=known.agent,
            turn=known.turn,
            began=known.began,
            ended=self.clock(),
            before=known.before.id,
            after="",
            is_fresh=known.is_fresh,
            others=tuple(dict.fromkeys(written))[:MAX_OTHERS],
        )
        cwds = tuple(one.conversation.entry.cwd for one in others)
        self._wish(_Wish(known, stretch, cwds, 0.0 if is_over else stretch.ended))
        known.before = None
        if is_over:
            known.turn = 0.0
        known.is_fresh = not is_over

    def _was_busy(self, other: Any, known: _Pane) -> bool:
        """Return whether the pane *other* is in a turn now, or has begun one since the stretch of *known* began."""
        found = self._panes.get(other)
        return found is not None and (found.turn > 0 or found.began >= known.began)

    def _wish(self, wish: _Wish) -> None:
        if wish.pane.cwd:
            wish.pane.waits += 1
            self._wishes.setdefault(wish.pane.cwd, []).append(wish)

    def _take(self, cwd: str, now: float) -> None:
        """Have a tree taken of *cwd* for all that wait for one."""
        wishes = tuple(self._wishes.pop(cwd))
        if self._slow.get(cwd, now) > now:
            _forget(wishes)
            return
        job = functools.partial(_taken, cwd, self.environ, wishes, self.clock())
        done = functools.partial(self._was_taken, wishes)
        failed = functools.partial(self._failed, cwd, wishes, now)
        if not self.submit(f"trees on {self.mounts.of(Path(cwd))}", job, done, failed):
            self._wishes[cwd] = list(wishes)

    def _was_taken(self, wishes: tuple[_Wish, ...], tree: Tree | None) -> None:
        _forget(wishes)
        for wish in wishes:
            if wish.begins:
                wish.pane.before, wish.pane.began = tree, wish.begins

    def _failed(self, cwd: str, wishes: tuple[_Wish, ...], now: float, error: Exception) -> None:
        if isinstance(error, BusyError):
            self._wishes[cwd] = [*wishes, *self._wishes.get(cwd, ())]
            return
        _forget(wishes)
        if isinstance(error, StuckError):
            while len(self._slow) >= MAX_SLOW:
                del self._slow[next(iter(self._slow))]
            self._slow[cwd] = now + SLOW_GIT_PAUSE_MAX_S


def _forget(wishes: Iterable[_Wish]) -> None:
    """Note that nobody waits for *wishes* any more."""
    for wish in wishes:
        wish.pane.waits -= 1


def _taken(cwd: str, environ: Mapping[str, str], wishes: tuple[_Wish, ...], now: float) -> Tree | None:
    """Take a tree of *cwd*, and write down what ends with it; None where that is in no repository."""
    store = Store.of(cwd, environ)
    if store is None:
        return None
    tree = store.take(now)
    found = []
    for wish in wishes:
        if (stretch := wish.stretch) is not None:
            others = tuple(_below(stretch.others, store.top))
            beside = len(list(_below(wish.cwds, store.top)))
            found.append(attrs.evolve(stretch, after=tree.id, left=tree.left, others=others, beside=beside))
    if found:
        ledger.add(store.folder, found, now)
    return tree


def _written(pane: Pane, since: float) -> Iterator[str]:
    """Yield the files that the agent of *pane* has written since then, by its transcript."""
    cwd = pane.conversation.entry.cwd
    for edit in pane.transcript.edits if pane.transcript is not None else ():
        if edit.at >= since:
            yield os.path.normpath(Path(cwd, edit.path))


def _below(paths: tuple[str, ...], top: str) -> Iterator[str]:
    """Yield those of *paths* that lie in *top*, by their names in there."""
    for path in paths:
        whole = Path(path)
        if whole.is_relative_to(top):
            yield str(whole.relative_to(top))
