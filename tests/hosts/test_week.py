"""A week of many agents: nothing grows in a host, neither in memory nor on the disk."""

from __future__ import annotations

import functools
import gc
import inspect
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.files import by_directory
from tallylight.pane import tape
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.week import AGENTS, IS_WHOLE, STEPS, WEEK, Inline, KittyLife, Life, PollingLife, lives

pytestmark = pytest.mark.slow

#: Rounds before the first measurement, in which what is bounded fills; and those after it.
WARM = 6
ROUNDS = WEEK if IS_WHOLE else 3 if os.environ.get("FAST") else 6
#: Bytes by which what is held may differ after a round: in a week 180 panes come and go, each of some 8,000.
SLACK = 150_000 if IS_WHOLE else 60_000

#: Set in the process of one such test.
ALONE = "TALLYLIGHT_ALONE"
Begin = Callable[[], Life]


def alone(test: Callable[..., None]) -> Callable[..., None]:
    """Run *test* in a process of its own: threads that other tests have left take memory and descriptors too."""

    @functools.wraps(test)
    def run(request: pytest.FixtureRequest, **fixtures: object) -> None:
        if ALONE in os.environ:
            test(**fixtures)
            return
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            request.node.nodeid,
        ]
        done = subprocess.run(command, env={**os.environ, ALONE: "1"}, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr

    own = inspect.signature(test).parameters
    asked = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    run.__signature__ = inspect.Signature([asked, *own.values()])  # type: ignore[attr-defined]
    return run


@attrs.frozen
class Held:
    """What the process holds: bytes by the room of the product that asked for them, files, descriptors, threads."""

    rooms: Counter[str]
    files: Counter[str]
    descriptors: int

    @property
    def bytes(self) -> int:
        return sum(self.rooms.values())


def held(life: Life) -> Held:
    """At this moment. `tracemalloc` runs."""
    modules = [module for name, module in sys.modules.items() if name.startswith("tallylight")]
    for one in (value for module in modules for value in list(vars(module).values())):
        # What a cache may hold at most is no growth; what one may hold without end is.
        if isinstance(one, functools._lru_cache_wrapper) and one.cache_parameters()["maxsize"] is not None:
            one.cache_clear()
    life.forget_shown()
    gc.collect()
    ours = os.sep + "tallylight" + os.sep
    rooms: Counter[str] = Counter()
    for one in tracemalloc.take_snapshot().statistics("filename"):
        name = one.traceback[0].filename
        room = name.partition(ours)[2].partition(os.sep)[0] if ours in name else "elsewhere"
        # pathlib has Python itself keep names, in one table that doubles its size now and then.
        if "tests" not in Path(name).parts and not name.endswith(("tracemalloc.py", "pathlib.py")):
            rooms[room] += one.size
    return Held(rooms, life.files(), len(os.listdir("/proc/self/fd")))  # noqa: PTH208


def turns_in(home: Path) -> int:
    """How many turns the history holds, each once."""
    lines = next(home.rglob("turns.jsonl")).read_text("utf-8").splitlines()
    return len({json.loads(line)["id"] for line in lines})


@pytest.fixture(params=[KittyLife, PollingLife], ids=["kitty", "sessions"])
def begin(
    request: pytest.FixtureRequest, fake_home: Path, kitty: Kitty, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Begin]:
    """Makes the life, in which no thread runs and the clock is ours."""
    # They are full soon.
    monkeypatch.setattr(by_directory, "MAX_CACHED_DIRECTORIES", AGENTS)
    monkeypatch.setattr(tape, "MAX_TAPE_BYTES", 4096)
    with lives(request.param, fake_home, kitty, Inline) as begin:
        yield begin
        tracemalloc.stop()


@alone
def test_nothing_grows(begin: Begin, kitty: Kitty, fake_home: Path) -> None:
    """
    Agents and panes come and go, the clock jumps, texts wait.

    It is a seventh of a week and a fourth of its agents; with TALLYLIGHT_WEEK in the environment all 2,000 turns of 50.
    """
    tracemalloc.start()
    life = begin()
    threads = threading.active_count()
    for _ in range(WARM - 1):
        life.round()
    # The measuring itself takes memory the first time.
    held(life)
    life.round()
    before = held(life)
    for _ in range(ROUNDS):
        life.round()
    after = held(life)

    grown = {room: after.rooms[room] - before.rooms[room] for room in after.rooms}
    assert after.bytes - before.bytes < SLACK, grown
    assert after.files == before.files
    assert after.descriptors == before.descriptors and threading.active_count() == threads
    assert kitty.log == [] and life.problems() == {}
    # All of that was no idle time.
    assert turns_in(fake_home) > 0.6 * AGENTS * (WARM + ROUNDS)
    assert life.rounds * STEPS >= WARM + ROUNDS


@alone
@pytest.mark.parametrize("begin", [PollingLife], indirect=True)
def test_hosts_come_and_go(begin: Begin, fake_home: Path) -> None:
    """A host that is closed leaves nothing that the next one does not take away or take over."""
    tracemalloc.start()
    life = begin()
    for _ in range(2):
        life.round()
        life.restart()
        before = held(life)
    for _ in range(10 if IS_WHOLE else 3):
        life.round()
        life.restart()
    after = held(life)

    grown = {room: after.rooms[room] - before.rooms[room] for room in after.rooms}
    assert after.bytes - before.bytes < SLACK, grown
    assert after.files == before.files and after.descriptors == before.descriptors
