"""
The time that the list of agents takes to open and to follow, with 100 panes: in a real kitty, beside a bare kitten.

    python -m benchmarks.agents_list [VERSION …]

All times are taken inside kitty, on the clock of its main thread's loop, from the dispatch of the key's action on:

* *first frame*: until the list is in its window, complete;
* *program*: until the program has taken the picture over: then keys have an effect, and what was typed before has it;
* *a bare kitten*: until a kitten of one `print` has written into its window; kitty starts a kitty of its own for it;
* *a change*: from a light that changes to the line of the list that shows it;
* *panel*: until the key's action has opened it, and the same change as its first line shows it. Then its wake-ups in
  `IDLE_S` seconds in which no agent changes and all ages are in minutes.

The median of several rounds each; a ratio compares with the bare kitten of the same round.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import psutil
from benchmarks.aims import Aim
from tests.real_kitty.desk import Desk

FIRST = Aim("list: its first picture, 100 agents", "a kitten of one `print`", most=0.25)
CHANGE = Aim("list: from a light to its line", "the clock", most=300.0, unit="ms")
WOKEN = Aim("panel: woken while nothing changes, 20 s", "the clock", most=25.0, unit="times")
AIMS = (FIRST, CHANGE, WOKEN)
QUICK = ("0.48",)
PANES, ROUNDS = 100, 7
IDLE_S = 20
#: The first line of a list and of a panel, with one pane of each status.
HEAD = {"error": "× 1", "waiting": "! 1", "done": "✓ 1"}

_BARE = """
def main(args):
    print("BARE KITTEN", flush=True)
    input()

def handle_result(args, answer, window, boss):
    pass
"""
#: Runs a kitten as a key does, and notes when its window shows something, by looking at every turn of the main loop.
_OPEN = """
import time
from kitty.fast_data_types import add_timer, remove_timer
import tallylight.hosts.kitty.watcher as module
before = set(boss.window_id_map)
start = time.monotonic()
found = module.bench_found = dict(start=start)

def text(window):
    chunks = []
    window.screen.as_text(chunks.append, False, False)
    return "".join(chunks)

def look(timer):
    for id_, window in list(boss.window_id_map.items()):
        if id_ in before:
            continue
        if "frame" not in found and {word!r} in text(window):
            found["frame"] = time.monotonic() - start
        if "program" not in found and window.screen.is_using_alternate_linebuf() and {word!r} in text(window):
            found["program"] = time.monotonic() - start
    if found.keys() >= {wanted!r} or time.monotonic() - start > 10:
        remove_timer(timer)

boss.run_kitten_with_metadata({kitten!r}, window=boss.active_window)
found["action"] = time.monotonic() - start
look_timer = add_timer(look, 0.001, True)
look(look_timer) if "frame" in {wanted!r} else None
"""
_PANEL = """
import time
start = time.monotonic()
boss.run_kitten_with_metadata({kitten!r}, window=boss.window_id_map[{window}])
return time.monotonic() - start
"""
_HAS_PROGRAM = "return boss.window_id_map[{window}].screen.is_using_alternate_linebuf()"


def opened(desk: Desk, kitten: str, word: str, wanted: set[str]) -> dict[str, float]:
    """Open a kitten, wait for what is *wanted*, close it; the seconds."""
    windows = len(desk.kitty.windows())
    desk.kitty.eval(_OPEN.format(kitten=kitten, word=word, wanted=wanted))

    def found() -> Any:
        seen = desk.kitty.eval("import tallylight.hosts.kitty.watcher as m; return m.bench_found")
        return seen if seen.keys() >= wanted else None

    seen: dict[str, float] = desk.kitty.wait_until(found, 20, word)
    window = desk.kitty.eval("return boss.active_window.id")
    desk.kitty.close_window(window)
    desk.kitty.wait_until(lambda: len(desk.kitty.windows()) == windows, 20, "the end of the kitten")
    return seen


def change(desk: Desk, agent: int, list_: int, status: str, found: str) -> float:
    """Return the seconds from a changed light to the list that has *found* in its first line."""
    desk.let_pass(0.3)
    start = time.monotonic()
    desk.send(agent, f"state={status};tool=scout;project=shop")
    desk.kitty.wait_until(lambda: found in desk.kitty.get_text(list_).splitlines()[0], 10, status)
    drawn = time.monotonic()
    return drawn - next(at for at, word in desk.history(agent, start) if word == status)


def panel(desk: Desk, agents: list[int]) -> tuple[float, list[float], int]:
    """Open a panel in a tab of its own: how long its key's action takes, changes in it, how often it is woken idle."""
    kitty = desk.kitty
    for agent in agents:
        desk.send(agent, "state=idle;tool=scout;project=mill")
    desk.wait_status(agents[-1], "idle", 30)
    tab = kitty.launch("cat", type="tab")
    kitten = str(kitty.home / ".local/share/tallylight/kittens/panel.py")
    opened_s = float(kitty.eval(_PANEL.format(kitten=kitten, window=tab)))
    (shown,) = (window["id"] for window in kitty.windows() if "tally_panel" in kitty.user_vars(window["id"]))
    kitty.wait_until(lambda: kitty.eval(_HAS_PROGRAM.format(window=shown)), 20, "the program of the panel")
    changes = [change(desk, agents[50], shown, status, found) for _ in range(3) for status, found in HEAD.items()]
    desk.send(agents[50], "state=idle;tool=scout;project=mill")
    # Its number is that of its room; here it is found by what it runs.
    (process,) = (
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [""])[-1] == "panel" and str(kitty.home) in " ".join(process.info["cmdline"])
    )
    time.sleep(61)
    before = process.num_ctx_switches().voluntary
    time.sleep(IDLE_S)
    return opened_s, changes, process.num_ctx_switches().voluntary - before


def report(version: str) -> None:
    desk = Desk(version, config="[kitty]\npulse = false\n", size=(1000, 600))
    try:
        kitty = desk.kitty
        (kitty.config_dir / "bare.py").write_text(_BARE)
        agents = [kitty.launch("cat", keep_focus=True) for _ in range(PANES)]
        kitty.wait_until(lambda: "cat" in str(kitty.window(agents[-1])["foreground_processes"]), 30, "all panes")
        for agent in agents:
            desk.send(agent, "state=working;tool=scout;project=mill;progress=3/7;message=Some words of an agent")
        desk.wait_status(agents[-1], "working", 30)
        kitten = str(kitty.home / ".local/share/tallylight/kittens/agents.py")
        rounds = []
        for _ in range(ROUNDS + 1):
            bare = opened(desk, "bare.py", "BARE KITTEN", {"frame"})
            rounds.append((opened(desk, kitten, "100 agents", {"frame", "program"}), bare))
        # The first one has modules to load that stay loaded.
        first, *rounds = rounds
        frame, program = (statistics.median(own[name] for own, _ in rounds) for name in ("frame", "program"))
        bare_s = statistics.median(bare["frame"] for _, bare in rounds)
        ratio = statistics.median(own["frame"] / bare["frame"] for own, bare in rounds)
        kitty.eval(f"boss.run_kitten_with_metadata({kitten!r}, window=boss.active_window)")
        list_ = kitty.eval("return boss.active_window.id")
        kitty.wait_text(list_, "100 agents")
        desk.record()
        changes = [change(desk, agents[50], list_, status, found) for _ in range(3) for status, found in HEAD.items()]
        kitty.close_window(list_)
        opened_s, panel_changes, woken = panel(desk, agents)
        print(f"kitty {version}, {PANES} panes")
        print(f"  first frame   {frame * 1000:6.0f} ms   the very first {first[0]['frame'] * 1000:.0f} ms")
        print(f"  program       {program * 1000:6.0f} ms")
        print(f"  a bare kitten {bare_s * 1000:6.0f} ms   the list's first frame takes {ratio:.2f} of it")
        print(f"  a change      {statistics.median(changes) * 1000:6.0f} ms   at most {max(changes) * 1000:.0f} ms")
        print(f"  panel         {opened_s * 1000:6.0f} ms   a change {statistics.median(panel_changes) * 1000:.0f} ms")
        print(f"  panel idle    {woken:6d} times woken in {IDLE_S} s")
        FIRST.say(ratio)
        CHANGE.say(statistics.median(changes) * 1000)
        WOKEN.say(woken)
    finally:
        desk.close()


def main() -> None:
    for version in sys.argv[1:] or ["0.41", "0.48"]:
        report(version)


if __name__ == "__main__":
    main()
