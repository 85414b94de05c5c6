"""
What the watcher costs kitty: one look at 1, 20 and 100 panes, and kitty's throughput with and without it.

    python -m benchmarks.watcher [VERSION]

A look is timed inside kitty, as time of its main thread, and given as the share of a core that it takes at the
default poll, beside the same number of calls that only ask for each pane's foreground process group: once with
shells alone, once with an agent that says nothing in every second pane, so that its screen has to be compared (the
worst case). Throughput is that of `kitten __benchmark__` in the same kitty version, with the watcher divided by
without, the best of several runs each.
"""

from __future__ import annotations

import functools
import re
import sys

from benchmarks.aims import Aim
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line

PANES = (1, 20, 100)
SHELLS = Aim("kitty: looking at 100 panes of shells", "a core", most=0.3, unit="%")
AGENTS = Aim("kitty: looking at 100 panes, 50 silent agents", "a core", most=0.3, unit="%")
THROUGHPUT = Aim("kitty: its own benchmark, the slowest part", "kitty without us", least=0.95)
AIMS = (SHELLS, AGENTS, THROUGHPUT)
QUICK = ("0.48",)
_LOOKS = """
import os, statistics, time
from tallylight.hosts.kitty import watcher as k
host = k._host
def least(call, rounds=200):
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return statistics.median(times)
def bare():
    for w in list(boss.window_id_map.values()):
        os.tcgetpgrp(w.child.child_fd)
return {"panes": len(host._panes), "tick": least(host.tick), "bare": least(bare), "poll": host.config.poll_s}
"""

_CALM = """
from tallylight.hosts.kitty import watcher as k
panes = k._host._panes.values()
return all(p.is_calm or not p.tracker.wants_output for p in panes)
"""


def _has(kitty: Kitty, panes: int) -> bool:
    return bool(kitty.eval(f"from tallylight.hosts.kitty import watcher as k\nreturn len(k._host._panes) >= {panes}"))


def ticks(version: str, agents: bool) -> None:
    kitty = Kitty(version, size=(1200, 800))
    kitty.kitty_conf.write_text("tab_bar_style powerline\n" + watcher_line(install(kitty.home)))
    agent = kitty.home / ".local/bin/claude"
    agent.parent.mkdir(parents=True, exist_ok=True)
    agent.write_text("#!/usr/bin/python3\nimport time\nfor i in range(20): print('line', i)\ntime.sleep(3600)\n")
    agent.chmod(0o755)
    print(
        f"kitty {version}: a look at all panes, {'every second an agent that says nothing' if agents else 'all shells'}"
    )
    with kitty:
        open_panes = 1
        for panes in PANES:
            while open_panes < panes:
                kitty.launch(*(("claude",) if agents and open_panes % 2 else ("sh",)), keep_focus=True)
                open_panes += 1
            kitty.wait_until(functools.partial(_has, kitty, panes), 30, "all panes")
            kitty.wait_until(lambda: kitty.eval(_CALM), 60, "calm screens")
            found = kitty.eval(_LOOKS)
            share = found["tick"] / found["poll"]
            print(
                f"  {found['panes']:4} panes  {found['tick'] * 1e6:8.0f} µs a look  {share:7.3%} of a core"
                f"  {found['tick'] / found['bare']:6.1f} x asking for the foreground alone"
            )
        (AGENTS if agents else SHELLS).say(100 * share)


def throughput(version: str, runs: int = 3) -> None:
    rates: dict[bool, dict[str, list[float]]] = {False: {}, True: {}}
    for _ in range(runs):
        for with_watcher in (False, True):
            kitty = Kitty(version, size=(1200, 800))
            if with_watcher:
                kitty.kitty_conf.write_text(watcher_line(install(kitty.home)))
            with kitty:
                window = kitty.launch("sh", "-c", "kitten __benchmark__ --repetitions 10; echo END; exec cat")
                text = kitty.wait_text(window, "END", 300)
            for name, rate in re.findall(r"^\s*(\S.*?)\s*:.*@\s*([0-9.]+)\s*MB/s", text, re.MULTILINE):
                rates[with_watcher].setdefault(name, []).append(float(rate))
    print(f"kitty {version}: `kitten __benchmark__`, with the watcher / without it, best of {runs}")
    both = {name: (rates[True][name], without) for name, without in rates[False].items() if name in rates[True]}
    if both:
        THROUGHPUT.say(min(max(with_) / max(without) for with_, without in both.values()))
    for name, (with_, without) in both.items():
        spread = (max(without) - min(without)) / max(without)
        print(f"  {name:32} {max(with_) / max(without):5.2f}   (runs without it differ by {spread:.0%})")


def main() -> None:
    versions = sys.argv[1:] or ["0.41", "0.48"]
    for version in versions:
        ticks(version, agents=False)
        ticks(version, agents=True)
        throughput(version)


if __name__ == "__main__":
    main()
