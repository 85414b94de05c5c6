"""
The cost of the watcher for kitty: its thread's time while 100 and 1,000 panes rest, its loading, and kitty's
throughput.

    python -m benchmarks.watcher [VERSION …]

Inside kitty every call into our code is timed, as processor time of its main thread (`tests.time_tracer`). Their sum is
the share of a core that is taken while nothing happens. One run has shells alone. The other one has an agent without
reports in every second pane, so that its screen has to be compared (the worst case). 1,000 panes are those of four
kittys, with their shares added up: one with some 370 windows ends by itself, with Tallylight in it or without.

The cost for throughput is our share of the processor time that kitty takes for `kitten __benchmark__`. Two kittys side
by side, one without us, differ by more than that from run to run, in processor time and in MB a second. Both are only
printed. The cost of the agents' own records is measured in one kitty: 50 agents draw nothing, and write a line of a
real record each second. Then none writes, by turns with the records read and not read.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.aims import Aim
from tests import time_tracer
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line

_SIZES = ("100 panes of shells", 1.0), ("100 panes, 50 silent agents", 1.0), ("1,000 panes, 500 silent agents", 10.0)
#: A look at all panes, again and again: what it costs with warm caches.
LOOKS = tuple(Aim(f"kitty: looks at {what}", "a core", most=most, unit="%") for what, most in _SIZES)
#: All of our calls as kitty makes them, with the pulse of the tabs that wait.
SHARES = tuple(Aim(f"kitty: all of us, {what}", "a core", most=most, unit="%") for what, most in _SIZES)
SLOWEST = Aim("kitty: the longest call while 100 panes rest", "the clock", most=2.0, unit="ms")
LOADING = Aim("kitty: loading the watcher, of its main thread", "the clock", most=60.0, unit="ms")
THROUGHPUT = Aim("kitty: its own benchmark, in processor time", "kitty without us", least=0.95)
RECORDS = Aim("kitty: all of us, 50 agents with growing records", "the same without their records", most=1.25)
RESTING = Aim("kitty: all of us, 50 agents with resting records", "the same without their records", most=1.1)
AIMS = (*LOOKS, *SHARES, SLOWEST, LOADING, THROUGHPUT, RECORDS, RESTING)
QUICK = ("0.48", "--quick")
RECORD = Path(__file__).resolve().parents[1] / "tests/parts/transcripts/codex/record.jsonl.gz"
#: Seconds of rest that are measured, and how often all is measured; less where it is to be quick; the best counts.
REST_S, RUNS, QUICK_RUNS = 8.0, 3, 2
#: Windows of one tab, and those that are opened in one go.
A_TAB, A_STEP = 10, 10
#: Kittys that 1,000 panes are spread over.
KITTYS = 4
_CALM = """
from tallylight.hosts.kitty import watcher as k
panes = k._host.panes
calm = sum(pane.is_quiet for pane in panes.values())
return len(panes) >= {panes} and calm >= {panes} - 2 * {a_tab}
"""
_OPEN = """
for number in range({first}, {last}):
    words = ["--type=" + ("window" if number % {a_tab} else "tab")]
    boss.call_remote_control(None, ("launch", *words, {commands}[number % 2]))
"""
_STARTED = "from tallylight.hosts.kitty import watcher as k\nreturn k.running() is not None"
#: The processor time that kitty has taken, in seconds.
_TOOK = "import time\nreturn time.process_time()"
_BEGIN = "import time_tracer, time\ntime_tracer.tracer.took.clear()\ntime_tracer.since = time.monotonic()"
#: The time of our calls and our threads since `_BEGIN`, in seconds.
_OURS = """
import threading, time_tracer
from pathlib import Path
def ran(thread):
    return int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()[0]) / 1e9
beside = sum(ran(thread) for thread in threading.enumerate() if thread.name.startswith("tallylight"))
calls = {name: (len(took), sum(took)) for name, took in time_tracer.tracer.took.items()}
return calls, beside
"""
_END = """
import statistics, time_tracer, time
tracer, seconds = time_tracer.tracer, time.monotonic() - time_tracer.since
calls = {name: (len(took) / seconds, sum(took) / seconds, 1000 * max(took)) for name, took in tracer.took.items()}
from tallylight.hosts.kitty import watcher as k
host, looks = k._host, []
for _ in range(100):
    start = time.thread_time()
    host.tick()
    looks.append(time.thread_time() - start)
look = statistics.median(looks) / host.config.poll_s
from tallylight.hosts.kitty import starter
return sum(share for _, share, _ in calls.values()), calls, (*tracer.load, starter.loading.took_s), look
"""


#: An agent that draws nothing and writes down a session in which a turn follows the other.
_WRITES = """#!/usr/bin/python3
import pathlib, time, uuid
folder = pathlib.Path.home() / ".codex/sessions/2026/11/22"
folder.mkdir(parents=True, exist_ok=True)
lines = (pathlib.Path.home() / "record").read_bytes().splitlines(keepends=True)
with (folder / f"rollout-2026-11-22T08-56-08-{uuid.uuid4()}.jsonl").open("wb", buffering=0) as file:
    file.write(lines[0])
    while True:
        for line in lines[1:]:
            time.sleep(1)
            while (pathlib.Path.home() / "rests").exists():
                time.sleep(1)
            file.write(line)
"""
_READ = """
from tallylight.pane.run import Run
if not hasattr(Run, "asked_for"):
    Run.asked_for = Run.transcript_request
Run.transcript_request = Run.asked_for if {is_read} else lambda *_: None
"""
_TOLD = """
from tallylight.hosts.kitty import watcher as k
return sum(pane.transcript is not None and bool(pane.transcript.details.model) for pane in k._host._panes.values())
"""


class Rest(NamedTuple):
    """The share of a core that is taken, what of it by each call, and the loading of the watcher."""

    share: float
    #: By name: how often in a second, the share of a core, the longest in ms.
    calls: dict[str, tuple[float, float, float]]
    #: Seconds: the main thread's computing, its pauses, the end since kitty's start, and the loading thread's
    #: computing.
    load: tuple[float, float, float, float]
    #: The share of a core that looks would take if each cost what it does with warm caches.
    look: float


def _open(kitty: Kitty, panes: int, commands: list[str]) -> None:
    """Have *kitty* show *panes* in tabs, with each of *commands* in turn."""
    for first in range(1, panes, A_STEP):
        last = min(panes, first + A_STEP)
        kitty.eval(_OPEN.format(first=first, last=last, a_tab=A_TAB, commands=commands))


def _kitty(version: str) -> Kitty:
    """A kitty, not started, in which `claude` is an agent that says nothing."""
    kitty = Kitty(version, size=(1200, 800))
    lines = time_tracer.watcher_line(kitty.home) + watcher_line(install(kitty.home, version))
    kitty.kitty_conf.write_text(f"tab_bar_style powerline\nscrollback_lines 100\n{lines}")
    agent = kitty.home / ".local/bin/claude"
    agent.write_text("#!/usr/bin/python3\nimport time\nfor i in range(20): print('line', i)\ntime.sleep(100000)\n")
    agent.chmod(0o755)
    return kitty


def at_rest(version: str, panes: int, runs: int, *, agents: bool, kittys: int = 1) -> list[Rest]:
    """Measure each of *kittys*, with so many *panes* each, while nothing happens."""
    each = panes // kittys
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(_kitty(version)) for _ in range(kittys)]
        for kitty in started:
            _open(kitty, each, ["sh", "claude" if agents else "sh"])
        for kitty in started:
            calm = _CALM.format(panes=each, a_tab=A_TAB)
            kitty.wait_until(functools.partial(kitty.eval, calm), 240, "panes at rest")
        found = []
        for _ in range(runs):
            for kitty in started:
                kitty.eval(_BEGIN)
            time.sleep(REST_S)
            found.append([Rest(*kitty.eval(_END)) for kitty in started])
    best = min(found, key=lambda run: sum(rest.share for rest in run))
    what = f"{panes} panes at rest{', half of them agents' if agents else ''}"
    for rest in best:
        where = f" in {kittys} kittys, one of them" if kittys > 1 else ""
        print(f"kitty {version}: {what}{where}: {rest.share:.3%} of a core; looks with warm caches {rest.look:.3%}")
        for name, (often, share, longest) in rest.calls.items():
            print(f"  {often:5.1f} a second, {share:7.3%}, at most {longest:6.2f} ms: {name}")
    return best


def rests(version: str, runs: int, *, is_quick: bool = False) -> None:
    """All sizes; the largest takes longer than all others together, and is left out where it is to be quick."""
    sizes = (100, False, 1), (100, True, 1), (1000, True, KITTYS)
    for (panes, agents, kittys), look, share in zip(sizes, LOOKS, SHARES, strict=True):
        if kittys > 1 and is_quick:
            continue
        rest = at_rest(version, panes, runs, agents=agents, kittys=kittys)
        look.say(100 * sum(one.look for one in rest))
        share.say(100 * sum(one.share for one in rest))
        if kittys > 1:
            continue
        longest, name = max((longest, name) for name, (_, _, longest) in rest[0].calls.items())
        print(f"  the longest is {name}")
        SLOWEST.say(longest)
        thread, wall, age, beside = rest[0].load
        print(f"  loading took {1e3 * thread:.0f} ms of the main thread, and {1e3 * beside:.0f} ms of another one")
        print(f"  for which the main thread was kept {1e3 * wall:.0f} ms in all; kitty was {age:.1f} s old then")
        LOADING.say(1000 * thread)


def records(version: str, runs: int, panes: int = 100) -> None:
    """Measure what it costs to read the records of 50 agents: by turns read and not read, of each the best."""
    kitty = Kitty(version, size=(1200, 800))
    lines = time_tracer.watcher_line(kitty.home) + watcher_line(install(kitty.home, version))
    kitty.kitty_conf.write_text(f"tab_bar_style powerline\nscrollback_lines 100\n{lines}")
    (kitty.home / "record").write_bytes(gzip.decompress(RECORD.read_bytes()))
    agent = kitty.home / ".local/bin/codex"
    agent.write_text(_WRITES)
    agent.chmod(0o755)
    with kitty:
        _open(kitty, panes, ["sh", "codex"])
        kitty.wait_until(lambda: kitty.eval(_TOLD) >= panes // 2 - 1, 120, "records that are read")
        kitty.wait_until(lambda: kitty.eval(_CALM.format(panes=panes, a_tab=A_TAB)), 120, "panes at rest")
        for aim, what in ((RECORDS, "whose records grow"), (RESTING, "whose records rest")):
            if aim is RESTING:
                (kitty.home / "rests").touch()
                time.sleep(REST_S)
            rests: dict[bool, list[Any]] = {True: [], False: []}
            for is_read in (True, False) * runs:
                kitty.eval(_READ.format(is_read=is_read) + _BEGIN)
                time.sleep(REST_S)
                rests[is_read].append(kitty.eval(_END))
            best = {is_read: min(found, key=lambda rest: rest[0]) for is_read, found in rests.items()}
            shares = f"{best[True][0]:.3%}, unread {best[False][0]:.3%}"
            print(f"kitty {version}: {panes} panes, half of them agents {what}: {shares}")
            for name in best[True][1]:
                print("  ", *(f"{best[is_read][1].get(name, (0, 0, 0))[1]:7.3%}" for is_read in (True, False)), name)
            aim.say(best[True][0] / best[False][0])


def throughput(version: str, runs: int) -> None:
    """Measure kitty's own benchmark with the watcher and without it, in turns, and our share of it."""
    rates: dict[bool, dict[str, list[float]]] = {False: {}, True: {}}
    took: dict[bool, list[float]] = {False: [], True: []}
    left: list[float] = []
    for _ in range(runs):
        for with_watcher in (False, True):
            kitty = Kitty(version, size=(1200, 800))
            if with_watcher:
                lines = time_tracer.watcher_line(kitty.home) + watcher_line(install(kitty.home, version))
                kitty.kitty_conf.write_text(lines)
            with kitty:
                if with_watcher:
                    kitty.wait_until(functools.partial(kitty.eval, _STARTED), 30, "the watcher")
                beside = kitty.eval(_BEGIN + _OURS)[1] if with_watcher else 0.0
                before: float = kitty.eval(_TOOK)
                window = kitty.launch("sh", "-c", "kitten __benchmark__ --repetitions 10; echo END; exec cat")
                text = kitty.wait_text(window, "END", 300)
                took[with_watcher].append(kitty.eval(_TOOK) - before)
                if with_watcher:
                    calls, threads = kitty.eval(_OURS)
                    ours = sum(seconds for _, seconds in calls.values()) + threads - beside
                    left.append(1 - ours / took[True][-1])
            for name, rate in re.findall(r"^\s*(\S.*?)\s*:.*@\s*([0-9.]+)\s*MB/s", text, re.MULTILINE):
                rates[with_watcher].setdefault(name, []).append(float(rate))
    print(f"kitty {version}: `kitten __benchmark__`, with the watcher and without it, {runs} times")
    for name, (often, seconds) in calls.items():
        print(f"  {often:5} calls, {1e3 * seconds:7.2f} ms: {name}")
    print(f"  threads of ours {1e3 * (threads - beside):.2f} ms; kitty {took[True][-1]:.2f} s, with that")
    THROUGHPUT.say(min(left))
    print(f"  seconds of the processor without us {took[False]}, with us {took[True]}")
    print(f"  best without / best with: {min(took[False]) / min(took[True]):.2f}")
    both = {name: (rates[True][name], without) for name, without in rates[False].items() if name in rates[True]}
    for name, (with_, without) in both.items():
        spread = (max(without) - min(without)) / max(without)
        print(f"  {name:32} {max(with_) / max(without):5.2f}   (runs without it differ by {spread:.0%})")


def main() -> None:
    """Measure each version."""
    is_quick = "--quick" in sys.argv
    runs = QUICK_RUNS if is_quick else RUNS
    versions = [word for word in sys.argv[1:] if not word.startswith("-")] or ["0.41", "0.48"]
    # kitty has several files open for each window.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for version in versions:
        throughput(version, runs)
        records(version, runs)
        rests(version, runs, is_quick=is_quick)  # kitty itself may end in the largest of them


if __name__ == "__main__":
    main()
