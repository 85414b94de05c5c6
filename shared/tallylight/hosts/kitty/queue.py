"""
Advances queued texts in kitty's windows at each tick, by `actions.queue`.

The list queues them in the name of its person, and scripts do that may type there.
"""

from __future__ import annotations

import time

from tallylight.hosts import night
from tallylight.hosts.kitty.answering import once_of
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.typist import WindowTypist


def advance(host: KittyHost) -> None:
    """Advance all queued texts of *host*; call it at each tick."""
    now = time.monotonic()
    for id_, pane in tuple(host.panes.items()):
        waits = pane.queued
        if waits is None or waits.problem or (window := host.boss.window_id_map.get(id_)) is None:
            continue
        typist = WindowTypist(host, window, pane)
        found = night.step_queued(typist, once_of(host), waits, now, pane.decision.status, pane.limited_until)
        if found != waits:
            pane.queue(found)
