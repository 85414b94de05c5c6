"""Floods: what is printed without end into one window of a real kitty costs our part of its thread little at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from benchmarks.floods import flood

from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

#: The most of kitty's thread that a single entry of ours may take: as long as counting to half a million takes there,
#: some six milliseconds. A machine that serves others beside slows down both.
_YARDSTICK = """
import time
started = time.thread_time()
for _ in range(500_000):
    pass
return time.thread_time() - started
"""
SHAPES = ("carrier, 256 children", "carrier, distinct ids", "carrier, hooks of children", "titles of emoji", "OSC 133")

#: Counts the calls of every entry of ours, and the processor time of kitty's thread in them. The least of the longest
#: of several floods is what it costs: this machine interrupts, and the first flood warms every cache.
_WATCH = """
import time
from tallylight.hosts import kitty as module
from tallylight.hosts.kitty.watcher import _host as host
module.flood_calls = {}
def watch(name):
    real = getattr(host, name)
    def watched(*args):
        started = time.thread_time()
        try:
            return real(*args)
        finally:
            took = time.thread_time() - started
            calls = module.flood_calls.setdefault(name, [0, 0.0, 0.0])
            calls[0] += 1; calls[1] += took; calls[2] = max(calls[2], took)
    setattr(host, name, watched)
for name in ("on_set_user_var", "on_title_change", "on_cmd_startstop", "tick", "_early_tick"):
    watch(name)
"""
_CALLS = "import json\nfrom tallylight.hosts import kitty as module\nreturn json.dumps(module.flood_calls)"
_CLEAR = "from tallylight.hosts import kitty as module\nmodule.flood_calls.clear()"


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    desk = Desk(kitty_version, scale=SMALL)
    desk.kitty.eval(_WATCH)
    yield desk
    desk.close()


def print_flood(desk: Desk, shape: str, turn: int, size: int) -> dict[str, list[float]]:
    """Print a flood, and a question at its end; give what our entries took."""
    kitty = desk.kitty
    path = kitty.home / f"flood-{turn}"
    path.write_bytes(flood(shape, size) + b"\x1b]1337;SetUserVar=tally=c3RhdGU9d2FpdGluZw==\x07")
    kitty.eval(_CLEAR)
    window = kitty.launch("sh", "-c", f"cat {path}; printf 'END%s' OF; exec cat", keep_focus=True)
    kitty.wait_text(window, "ENDOF", 100)
    desk.wait_status(window, "waiting")
    calls: dict[str, list[float]] = json.loads(kitty.eval(_CALLS))
    kitty.close_window(window)
    return calls


@pytest.mark.parametrize("shape", SHAPES)
def test_a_flood_takes_little_at_a_time(desk: Desk, shape: str) -> None:
    """No entry of ours takes long, however much was printed, and the question at the end of it is shown."""
    longest: dict[str, float] = {}
    allowed = 0.0
    for turn in range(12):
        for name, (_, _, took) in print_flood(desk, shape, turn, 1_000_000).items():
            longest[name] = min(longest.get(name, took), took)
        allowed = max(allowed, desk.kitty.eval(_YARDSTICK))
        if max(longest.values()) < allowed:
            break

    assert max(longest.values()) < allowed, longest
