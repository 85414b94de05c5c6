"""
How the cost grows: with the number of panes, and with the number of reports a second; a picture of both.

    python -m benchmarks.growth [--no-picture]

*A look at all panes*, of 1 to 1,000, half of them agents, when nothing happens. Measured are the kitty host, the
sessions host and the drawing of the list. The kitty and the panes around them are made by hand, so that only our own
time counts. *Reports*: what a pane takes in of 1 to 10,000 a second, with a look four times a second.

All is processor time of one thread, the least of several goes. The picture is docs/images/growth.svg. The aim is that
nothing grows faster than the number itself: ten times as many panes cost ten times as much, and a bit.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from benchmarks import table as page
from benchmarks.aims import Aim
from benchmarks.chart import Curve, Panel, draw
from benchmarks.floods import Host
from tests.hosts.detached.polling import HandSource
from tests.hosts.kitty.fakes import Boss, Kitty, modules
from tests.hosts.test_pane import CRUSH, SHELL, HandTable, rows
from tests.ui.agent_list.panes import listed
from tests.ui.agent_list.panes import pane as entry

from tallylight.evidence import process_table
from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.ui.agent_list.draw import draw as draw_list

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/growth.svg"
PANES = (1, 10, 100, 1000)
REPORTS = (1, 10, 100, 1000, 10_000)
BY_PANES = Aim("growth: a look at 1,000 panes", "one at 100", most=12.0)
BY_REPORTS = Aim("growth: 10,000 reports a second to a pane", "1,000", most=10.0)
AIMS = (BY_PANES, BY_REPORTS)
QUICK: tuple[str, ...] = ()
#: Ticks before the first that counts, and those that count: what is asked seldom comes in every so many.
SETTLE, LOOKS = 60, 24
#: Ticks after which the panes of kitty are at rest, if each looks at all of them.
AT_REST = 40
TICK_S = 0.25


class Clock:
    """A clock that goes on only when it is set forward."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def looks(tick: Callable[[], object], clock: Clock) -> float:
    """Milliseconds that a look takes: on average, for what comes in every so many is spread."""
    for _ in range(SETTLE):
        clock.now += TICK_S
        tick()
    found = []
    # A busy machine takes longer now and then: the least is what it costs.
    for _ in range(3):
        began = time.thread_time()
        for _ in range(LOOKS):
            clock.now += TICK_S
            tick()
        found.append(1000 * (time.thread_time() - began) / LOOKS)
    return min(found)


def _table(panes: int, home: str) -> HandTable:
    table = HandTable(home)
    for number in range(panes):
        process = CRUSH if number % 2 else SHELL
        table.processes[1000 + number] = attrs.evolve(process, pid=1000 + number, pgrp=1000 + number, start=number)
    return table


def of_kitty(panes: int, home: str) -> float:
    """A tick of the host in kitty, on its main thread."""
    kitty, clock, real = Kitty(), Clock(), time.monotonic
    sys.modules.update({module.__name__: module for module in modules(kitty)})
    os.tcgetpgrp = lambda fd: fd
    process_table._table = _table(panes, home)
    host_module: Any = importlib.import_module("tallylight.hosts.kitty.host")
    boss, a_slice = Boss(), host_module.KittyHost.SLICE_S
    for number in range(panes):
        boss.open(number + 1, 1000 + number).screen.text = f"some text of {number}"
    boss.arrange(*(list(range(first, min(first + 10, panes + 1))) for first in range(1, panes + 1, 10)))
    time.monotonic = clock
    try:
        host = host_module.KittyHost(boss)
        host._store.epoch.clock = clock
        host_module.KittyHost.SLICE_S = 60.0
        for _ in range(AT_REST):
            clock.now += TICK_S
            host.tick()
        host_module.KittyHost.SLICE_S = a_slice
        return looks(host.tick, clock)
    finally:
        host_module.KittyHost.SLICE_S = a_slice
        time.monotonic = real


def of_sessions(panes: int, home: str) -> float:
    """A step of the sessions host, without what the multiplexers and the process table cost."""
    clock, source = Clock(), HandSource(every=3600.0)
    source.source_panes = [
        SourcePane(id=f"tmux/1/%{number}", group=1000 + number, read=lambda: rows("some text"), is_still=lambda: True)
        for number in range(panes)
    ]
    environ = {"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": home}
    host = PollingHost("sessions", [source], environ, table=_table(panes, home), clock=clock)
    host._store.epoch.clock = clock
    while len(host._held) < panes:
        host.step(clock.now)
        time.sleep(0.001)
    try:
        return looks(lambda: host.step(clock.now), clock)
    finally:
        host.close()


def of_list(panes: int) -> float:
    """A drawing of the list, of 120 columns and 50 lines."""
    statuses = ("working", "waiting", "done", "idle", "error")
    state = listed(*(entry(n, statuses[n % 5], float(n)) for n in range(1, panes + 1)), columns=120, lines=50)
    return looks(lambda: draw_list(state), Clock())


def of_reports(reports: int) -> float:
    """Percent of a core that a pane takes for so many reports a second, for ten seconds."""
    found = []
    for _ in range(3):
        pane, now, number, seconds = Host().pane, 1.0, 0, 10
        began = time.thread_time()
        for _ in range(round(seconds / TICK_S)):
            for _ in range(max(1, round(reports * TICK_S)) if reports >= 4 or not number % 4 else 0):
                pane.user_variable(f"state=working;tool=claude;message=m{number}", now)
                now += TICK_S / max(1.0, reports * TICK_S)
                number += 1
                due = pane.deadline()
                if due is not None and now >= due:
                    pane.tick(now)
            if reports < 4:
                number += not number % 4 or 1
                now += TICK_S
            pane.tick(now)
        found.append(100 * (time.thread_time() - began) / seconds)
    return statistics.median(found)


def main() -> int:
    """Measure, print, and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("--no-picture", action="store_true", help="print the numbers only")
    options = parser.parse_args()
    by_panes: dict[str, Curve] = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
        Path(home).chmod(0o700)
        for name, one in (
            ("the host in kitty", lambda panes: of_kitty(panes, home)),
            ("the sessions host", lambda panes: of_sessions(panes, home)),
            ("drawing the list", of_list),
        ):
            by_panes[name] = [(panes, one(panes)) for panes in PANES]
            print(f"{name:20}" + "".join(f"{panes:>7,}: {ms:8.3f} ms" for panes, ms in by_panes[name]))
    by_reports = [(reports, of_reports(reports)) for reports in REPORTS]
    print(f"{'reports a second':20}" + "".join(f"{reports:>7,}: {share:7.3f} %" for reports, share in by_reports))
    BY_PANES.say(max(curve[-1][1] / curve[-2][1] for curve in by_panes.values()))
    BY_REPORTS.say(by_reports[-1][1] / by_reports[-2][1])
    if not options.no_picture:
        panels = [
            Panel("A look at all panes", "panes, half of them agents at rest", "milliseconds of a core", by_panes),
            Panel("Reports to one pane", "reports a second", "% of a core", {"a pane": by_reports}),
        ]
        PICTURE.write_text(draw(panels, f"{page.machine()}. Both axes are logarithmic."), "utf-8")
    return 0


if __name__ == "__main__":
    # Threads of hosts that were measured wait for work without end.
    sys.stdout.flush()
    code = main()
    sys.stdout.flush()
    os._exit(code)
