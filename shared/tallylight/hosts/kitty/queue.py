"""
Texts that wait in kitty's windows for the end of a turn: each tick looks at those windows alone, by `actions.queue`.

The list that kitty opened puts them, in the name of the person who wrote them, and scripts that may type there.
"""

from __future__ import annotations

import time

from tallylight.hosts import night
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.typist import WindowTypist


def look(host: KittyHost) -> None:
    """See to all that waits."""
    now = time.monotonic()
    for id_, pane in tuple(host.panes.items()):
        waits = pane.queued
        if waits is None or waits.problem or (window := host.boss.window_id_map.get(id_)) is None:
            continue
        typist = WindowTypist(host, window, pane)
        found = night.step_queued(typist, host.once, waits, now, pane.decision.status, pane.limited_until)
        if found != waits:
            pane.queue(found)
