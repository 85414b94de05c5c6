"""No call keeps kitty's main thread for long: a tracer in a real kitty, while panes speak and a person moves about.

What is counted, and by which names, is in `tests.time_tracer`: processor time of that thread. The same is done in
several rounds, and of each call the shortest of its longest times counts: this machine interrupts, and the first round
warms every cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import time_tracer
from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

#: Milliseconds of the thread that one call may take here: `benchmarks.watcher` says what is wanted on a quiet machine.
LONGEST_MS = 5.0
PANES, SPEAKING, ROUNDS = 40, 8, 4
_CLEAR = "import time_tracer\ntime_tracer.tracer.took.clear()"
_SLOWEST = "import time_tracer\nreturn time_tracer.tracer.slowest()"
#: A call that takes as long as it is told to, and one that only waits.
_CAUGHT = """
import time, time_tracer
def busy():
    until = time.thread_time() + 0.02
    while time.thread_time() < until:
        pass
time_tracer.tracer.timed("busy", busy)()
time_tracer.tracer.timed("waiting", lambda: time.sleep(0.02))()
"""


@pytest.fixture(scope="module")
def desk(kitty_version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("tracer")
    line = time_tracer.watcher_line(folder)
    for readable in (folder.parent, folder, *folder.iterdir()):
        readable.chmod(0o755)
    desk = Desk(kitty_version, settings=line, scale=SMALL)
    yield desk
    desk.close()


def one_round(desk: Desk, windows: list[int]) -> dict[str, float]:
    """Let panes ask and go on, go to some of them, and let time pass; the longest of each call, in ms."""
    kitty = desk.kitty
    kitty.eval(_CLEAR)
    for status in ("waiting", "working"):
        for window in windows[:SPEAKING]:
            desk.send(window, f"state={status};tool=claude;message=Well%3F")
        desk.wait_status(windows[SPEAKING - 1], status)
        kitty.focus_window(windows[0])
        kitty.focus_window(windows[-1])
    kitty.run(["tally", "jump", "--any"], check=False)
    desk.let_pass(2)
    found: dict[str, float] = kitty.eval(_SLOWEST)
    return found


def test_no_call_is_long(desk: Desk) -> None:
    """Reports, changes of the tab in front, ticks: each call is short, and the slowest is told by name."""
    windows = [desk.kitty.launch("cat", type="tab") for _ in range(PANES)]
    rounds = [one_round(desk, windows) for _ in range(ROUNDS)]
    calls = {name for found in rounds for name in found}
    least = {name: min(found[name] for found in rounds if name in found) for name in calls}
    assert {"on_set_user_var", "on_focus_change", "timer tallylight.hosts.kitty.host.KittyHost._on_timer"} <= calls
    slow = {name: f"{took:.2f} ms" for name, took in least.items() if took > LONGEST_MS}
    assert slow == {}, f"the longest of each call, in ms: {sorted(least.items(), key=lambda item: -item[1])}"
    assert not [line for line in desk.kitty.log.splitlines() if "tallylight" in line]


def test_the_tracer_sees(desk: Desk) -> None:
    """A call that works for 20 ms is told with that; one that waits has taken nothing of the thread's time."""
    desk.kitty.eval(_CAUGHT)
    slowest = desk.kitty.eval(_SLOWEST)
    assert slowest["busy"] >= 20
    assert slowest["waiting"] < 10


def test_the_watcher_is_loaded_once(desk: Desk) -> None:
    """
    Its loading was measured: it ended after kitty's start, and a thread beside kitty's main one did nearly all of it.
    """
    thread, wall, age = desk.kitty.eval("import time_tracer\nreturn time_tracer.tracer.load")
    beside = desk.kitty.eval("from tallylight.hosts.kitty import starter\nreturn starter.loading.took_s")
    assert 0 < thread <= wall < age
    assert thread < beside
