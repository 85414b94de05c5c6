"""
Undo: the files of a turn as they were before it, where nobody has changed them since.

The index and HEAD are never touched. An undo is a stretch of the ledger as well, so that it can be undone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from tallylight.parts.work import ledger, review
from tallylight.parts.work.ledger import Stretch, joined
from tallylight.parts.work.trees import Store, TreeError


@attrs.frozen
class Plan:
    """
    Files to *restore*, files to *remove*, which the turn has made, and files that are *kept*.

    *stretch* is what it undoes, and *now* the tree that it begins with.
    """

    stretch: Stretch
    now: str
    restore: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return what a person reads before they agree to it."""
        return [
            *(f"restore  {path}" for path in self.restore),
            *(f"remove   {path}" for path in self.remove),
            *(f"keep     {path}: it has changed since" for path in self.kept),
        ]


def planned(store: Store, turn: Sequence[Stretch], now: float) -> Plan:
    """Return how to undo a *turn*, with the work tree as it is *now*."""
    whole = joined(turn)
    if len(whole) != 1:
        raise TreeError("a part of that turn is not known, so it cannot be undone")
    tree = store.take(now).id
    changed = store.changed(whole[0].before, whole[0].after, review.pathspecs(whole[0]))
    since = store.changed(whole[0].after, tree)
    free = {path: how for path, how in changed.items() if path not in since}
    return Plan(
        whole[0],
        tree,
        restore=tuple(path for path, how in free.items() if how != "A"),
        remove=tuple(path for path, how in free.items() if how == "A"),
        kept=tuple(path for path in changed if path in since),
    )


def carry_out(store: Store, plan: Plan, now: float) -> None:
    """Do it, and write down that it was done; `TreeError`, and nothing is done, if a file has changed meanwhile."""
    if store.take(now).id != plan.now:
        raise TreeError("a file has changed while you read this; nothing was undone, try again")
    for path in plan.remove:
        _remove(Path(store.top), Path(store.top, path))
    if plan.restore:
        store.restore(plan.stretch.before, plan.restore)
    after = store.take(now).id
    undone = attrs.evolve(
        plan.stretch, turn=now, began=now, ended=now, before=plan.now, after=after, is_fresh=True, is_undo=True,
        others=(), beside=0, left=0,
    )  # fmt: skip
    ledger.add(store.folder, [undone], now)


def _remove(top: Path, path: Path) -> None:
    """Remove a file, and the directories that are empty then; nothing that a link leads to."""
    if os.path.realpath(path.parent) != str(path.parent):
        return
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == top:
            break
        with contextlib.suppress(OSError):
            folder.rmdir()
