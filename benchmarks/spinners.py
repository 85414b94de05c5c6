"""
The cost of busy agents in hidden splits for a kitty, beside the same kitty without us.

    python -m benchmarks.spinners [VERSION …]

Of 40 windows, 15 have an agent, each hidden behind another window of its tab. It draws a spinner into its title ten
times a second. A person sees none of it, so kitty should have nothing to do for it. Two things are measured, by turns
in two kittys, one of them without us. The first is the processor time that kitty takes. The second is how long the
program in front waits for the position of the cursor, as a key waits for its echo. The median of the turns counts.
Printed beside them is how often tab bars were marked and drawn.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import time
from typing import Any, NamedTuple

from benchmarks.aims import Aim
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line

SPINS = Aim("kitty: 15 spinners in hidden splits, processor", "kitty without us", most=1.3)
ECHO = Aim("kitty: 15 spinners in hidden splits, p99 of an echo", "kitty without us", most=1.2)
AIMS = (SPINS, ECHO)
QUICK = ("0.48", "--quick")
WINDOWS, A_TAB = 40, 10
#: The windows with an agent: not the first of a tab, which is in front.
BUSY = [number for number in range(WINDOWS) if number % 5 in (1, 3)][:15]
#: Seconds of one turn, and turns of each kitty; fewer where it is to be quick.
TURN_S, TURNS, QUICK_TURNS = 5.0, 10, 5
#: Rests while there is a file of this name.
_RESTS = """#!/usr/bin/python3
import os, pathlib, sys, termios, time, tty
rests = pathlib.Path.home() / "rests"
"""
#: As Claude Code has it.
_AGENT = f"""{_RESTS}
for number in range(10 ** 9):
    while rests.exists():
        time.sleep(0.2)
    sys.stdout.write("\\033]2;" + chr(0x2801 + number % 200) + " Fix the login\\007")
    sys.stdout.flush()
    time.sleep(0.1)
"""
_PROBE = f"""{_RESTS}
tty.setraw(0)
with open(pathlib.Path.home() / "echoes", "w", buffering=1) as file:
    while True:
        time.sleep(0.2 if rests.exists() else 0.005)
        start = time.perf_counter()
        os.write(1, b"\\033[6n")
        while not os.read(0, 100).endswith(b"R"):
            pass
        file.write(f"{{1000 * (time.perf_counter() - start)}}\\n")
"""
_OPEN = """
for number in range({first}, {last}):
    words = ["--keep-focus", "--type=window"] if number % {a_tab} else ["--type=tab"]
    command = "claude" if number in {busy} else "cat"
    boss.call_remote_control(boss.active_window, ("launch", *words, command))
"""
#: The processor time that kitty has taken, in seconds, and how often tab bars were marked and drawn.
_TOOK = """
import time
from kitty.tab_bar import TabBar
from kitty.tabs import TabManager
if not hasattr(TabBar, "times"):
    TabBar.times = [0, 0]
    for which, (owner, name) in enumerate(((TabManager, "mark_tab_bar_dirty"), (TabBar, "update"))):
        def counting(self, *args, which=which, call=getattr(owner, name)):
            TabBar.times[which] += 1
            return call(self, *args)
        setattr(owner, name, counting)
return time.process_time(), *TabBar.times
"""
_WORKING = """
from tallylight.hosts.kitty import watcher as k
return sum(pane.decision.status == "working" for pane in k._host.panes.values())
"""


class Turn(NamedTuple):
    """The share of a core that kitty took, the waits for an echo, in ms, and marks and drawings a second."""

    share: float
    p50: float
    p99: float
    marks: float
    drawn: float


def _start(stack: contextlib.ExitStack, version: str, *, with_us: bool) -> Kitty:
    """A kitty with all of its windows, in which the agents rest."""
    kitty = Kitty(version, size=(1200, 800))
    lines = watcher_line(install(kitty.home, version)) if with_us else ""
    kitty.kitty_conf.write_text(f"tab_bar_style powerline\nenabled_layouts stack\nscrollback_lines 100\n{lines}")
    for name, text in (("claude", _AGENT), ("probe", _PROBE)):
        program = kitty.home / ".local/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    stack.enter_context(kitty)
    for first in range(1, WINDOWS, A_TAB):
        kitty.eval(_OPEN.format(first=first, last=min(first + A_TAB, WINDOWS), a_tab=A_TAB, busy=BUSY))
    assert len(kitty.windows()) == WINDOWS
    kitty.launch("probe", type="tab")
    if with_us:
        kitty.wait_until(lambda: kitty.eval(_WORKING) == len(BUSY), 60, "the busy agents")
    (kitty.home / "rests").touch()
    return kitty


def _turn(kitty: Kitty) -> Turn:
    """Let its agents draw, and measure."""
    (kitty.home / "rests").unlink()
    time.sleep(2.0)
    echoes = kitty.home / "echoes"
    known = echoes.stat().st_size
    began, before = time.monotonic(), kitty.eval(_TOOK)
    time.sleep(TURN_S)
    after, seconds = kitty.eval(_TOOK), time.monotonic() - began
    (kitty.home / "rests").touch()
    took, marks, drawn = ((new - old) / seconds for new, old in zip(after, before, strict=True))
    with echoes.open() as file:
        file.seek(known)
        waits = [float(line) for line in file.read().splitlines()[:-1]]
    return Turn(took, statistics.median(waits), statistics.quantiles(waits, n=100)[98], marks, drawn)


def measure(version: str, turns: int) -> None:
    """Both kittys of one version, by turns."""
    found: dict[bool, list[Turn]] = {False: [], True: []}
    with contextlib.ExitStack() as stack:
        kittys: dict[bool, Any] = {with_us: _start(stack, version, with_us=with_us) for with_us in found}
        for _ in range(turns):
            for with_us, kitty in kittys.items():
                found[with_us].append(_turn(kitty))
    for with_us, each in found.items():
        print(f"kitty {version} {'with' if with_us else 'without'} us, {turns} turns of {TURN_S:g} s")
        for turn in each:
            print(
                f"  {turn.share:6.1%} of a core; an echo after {turn.p50:5.1f} ms, p99 {turn.p99:6.1f} ms; "
                f"{turn.marks:5.1f} marks and {turn.drawn:5.1f} drawings a second"
            )
    for aim, which in ((SPINS, "share"), (ECHO, "p99")):
        usual = {with_us: statistics.median(getattr(turn, which) for turn in each) for with_us, each in found.items()}
        aim.say(usual[True] / usual[False])


def main() -> None:
    """Measure each version."""
    versions = [word for word in sys.argv[1:] if not word.startswith("-")] or ["0.41", "0.48"]
    for version in versions:
        measure(version, QUICK_TURNS if "--quick" in sys.argv else TURNS)


if __name__ == "__main__":
    main()
