"""
Texts that wait in kitty's windows for the end of a turn: each tick looks at those windows alone, by `actions.queue`.

The list that kitty opened puts them, in the name of the person who wrote them, and scripts that may type there.
"""

from __future__ import annotations

import time

from tallylight.actions.queue import Moment
from tallylight.evidence import process_table
from tallylight.hosts import night
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.typist import WindowTypist


def look(host: KittyHost) -> None:
    """See to all that waits."""
    now, wall = time.monotonic(), time.time()
    for id_, pane in tuple(host.panes.items()):
        waits = pane.queued
        if waits is None or waits.problem or (window := host.boss.window_id_map.get(id_)) is None:
            continue
        is_alive = process_table.table().start(waits.pid) == waits.start
        typist = WindowTypist(host, window, pane)
        moment = Moment(now, is_alive, wall, pane.decision.status, pane.limited_until)
        found = night.step(typist, host.once, waits, moment)
        if found != waits:
            pane.queue(found)
