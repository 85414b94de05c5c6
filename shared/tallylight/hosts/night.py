"""The night shift's handling of queued texts. Without that part, a text waits for the end of one limit only."""

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

#: Imported now, so that nothing is read from the disk when a text waits.
_SHIFT = index.ask("night")


class _Nothing:
    """Takes the place of `QueuedRecorder` without that part: no text outlives its host."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Accept the same arguments, and keep nothing."""

    def left(self, _start_of: Callable[[int], int | None]) -> list[Queued]:
        return []

    def drop(self, _one: Queued) -> None:
        """Do nothing."""

    def keep(self, _waiting: Iterable[Queued]) -> None:
        """Do nothing."""


#: Keeps queued texts on disk.
QueuedRecorder = _SHIFT.QueuedRecorder if _SHIFT is not None else _Nothing
step = _SHIFT.step if _SHIFT is not None else queue.step
#: The clock since boot that includes sleep; macOS calls it CLOCK_MONOTONIC.
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def step_queued(
    typist: Typist, once: Once, queued: Queued, now: float, status: Status, limited_until: float
) -> Queued | None:
    """Advance *queued*, in a pane with *status*, at monotonic *now*; return its new state, None once it was typed."""
    is_alive = process_table.table().start(queued.pid) == queued.start
    moment = Moment(now, is_alive, time.time(), status, limited_until, time.clock_gettime(_BOOT))
    found: Queued | None = step(typist, once, queued, moment)
    return found
