"""
A look at a text that waits in a pane, by the night shift. An installation may lack that: then a text waits for the end
of one limit, and for no longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from tallylight.actions import queue
from tallylight.actions.answer import Typist
from tallylight.actions.once import Once
from tallylight.actions.queue import Moment
from tallylight.evidence import process_table
from tallylight.model.queued import Queued
from tallylight.model.status import Status
from tallylight.parts import index

#: The night shift: read from the disk now, and not when a text waits.
_SHIFT = index.ask("night")


class _Nothing:
    """No text is kept beyond the life of its host."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """There is no place for it."""

    def left(self, _start_of: Callable[[int], int | None]) -> list[Queued]:
        return []

    def drop(self, _one: Queued) -> None:
        """Nothing."""

    def keep(self, _waiting: Iterable[Queued]) -> None:
        """Nothing."""


#: The texts that wait, kept on disk.
QueuedRecorder = _SHIFT.QueuedRecorder if _SHIFT is not None else _Nothing
step = _SHIFT.step if _SHIFT is not None else queue.step
#: The clock of the time since the boot that goes on while the machine sleeps: on macOS that is the other one.
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def step_queued(
    typist: Typist, once: Once, queued: Queued, now: float, status: Status, limited_until: float
) -> Queued | None:
    """Return what becomes of *queued* at monotonic *now*, in a pane with *status*; None once it was typed."""
    is_alive = process_table.table().start(queued.pid) == queued.start
    moment = Moment(now, is_alive, time.time(), status, limited_until, time.clock_gettime(_BOOT))
    found: Queued | None = step(typist, once, queued, moment)
    return found
