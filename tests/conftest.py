"""
Fixtures and settings every test gets.

`FAST=1`, the inner loop, picks the small hypothesis profile, and loads no file of which it would run nothing.
`PROCESS_TABLE=psutil` has the code that tests call read processes as it does where there is no `/proc`, so that macOS
takes a tested way. `fake_home` is autouse: no test can read or write the real home, the real runtime directory, or
believe it runs inside a multiplexer or a kitty.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

# Its plugin of trio takes as long to load as all else of it, in each process, and no test is for trio.
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"
import hypothesis

from tallylight.agents import agent
from tallylight.evidence import process_table
from tallylight.snapshot import lives
from tests import living
from tests.real_kitty.roots import SUITES

# Where this is set, pytest compiles every test module anew in each of its processes, and each `tally` that a test
# starts compiles all of itself: half of the time the tests would take.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_COMMON = {
    "deadline": None,
    # What fails is kept in `.hypothesis` and tried first the next time; elsewhere this line of the report does it.
    "print_blob": True,
    # The autouse fixture below is safe to share between examples: no example writes there by itself.
    "suppress_health_check": [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
}
hypothesis.settings.register_profile("fast", max_examples=25, **_COMMON)
hypothesis.settings.register_profile("default", max_examples=100, **_COMMON)
hypothesis.settings.load_profile("fast" if os.environ.get("FAST") else "default")

if os.environ.get("PROCESS_TABLE") == "psutil":
    process_table._table = process_table.PsutilTable()

# The same text gives the same agent, which nobody can change; most commands read all the files at their start.
agent.parse_agent = functools.cache(agent.parse_agent)

#: Where each directory of the XDG specification points, relative to the fake home.
XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": "run",
}
#: What a surrounding terminal or multiplexer would leak into a test.
SURROUNDINGS = ("TMUX", "STY", "ZELLIJ", "WEZTERM_", "KITTY_", "TALLY_", "VIBEFLOW_", "CLAUDE")


# What is imported and collected stays to the end: to look through it for garbage while it grows costs a second.
gc.disable()


#: What every test of a file is marked with, if it is left out of the inner loop; and places of which all is left out.
_LEFT_OUT = re.compile(r"^pytestmark = (?:\[[^\]]*)?pytest\.mark\.(programs|kitty|agents|install|slow)", re.MULTILINE)
_PLACES_LEFT_OUT = ("real_kitty", "test_openapi.py")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Return that a file is not even loaded of which the inner loop leaves out every test."""
    if not os.environ.get("FAST"):
        return None
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    is_out = collection_path.name in _PLACES_LEFT_OUT or (is_test and _LEFT_OUT.search(collection_path.read_text()))
    return True if is_out else None


def pytest_collection_finish() -> None:
    """Leave all that was collected out of the garbage collector: it would cost at every look."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Leave out what a module's `IN_ONE_KITTY` says: what of it does not differ between kittys is tried in that one.

    It names a kitty for the whole module, or one for each way or test of a name.
    """
    crossed = [item for item in items if isinstance(item, pytest.Function) and _is_crossed(item)]
    if crossed:
        config.hook.pytest_deselected(items=crossed)
        left_out = set(crossed)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in which rooms the time went."""
    rooms: Counter[str] = Counter()
    for report in itertools.chain(*terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            rooms[report.nodeid.split("/")[1].partition(".py")[0]] += report.duration
    words = ", ".join(f"{room} {seconds:.0f}" for room, seconds in rooms.most_common() if seconds >= 1)
    if words:
        terminalreporter.write_line(f"seconds by room: {words}")


def _is_crossed(item: pytest.Function) -> bool:
    only: str | Mapping[str, str] = getattr(item.module, "IN_ONE_KITTY", {})
    ways = [item.originalname, *(item.callspec.id.split("-") if only and hasattr(item, "callspec") else ())]
    wanted = {only} if isinstance(only, str) else {only[way] for way in ways if way in only}
    return bool(wanted) and not (SUITES.keys() - wanted).isdisjoint(ways)


class Home:
    """A throw-away HOME with every XDG directory in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for below in XDG.values():
            directory = path / below
            directory.mkdir(parents=True)
            directory.chmod(0o700)
        self._fresh = self._look()

    def is_untouched(self) -> bool:
        """Whether nothing is in it and no directory has been removed or given another mode."""
        return self._look() == self._fresh

    def _look(self) -> list[object]:
        folders = [self.path, self.path / ".local", *(self.path / below for below in XDG.values())]
        return [(folder.stat().st_mode, sorted(os.listdir(folder))) for folder in folders if folder.is_dir()]  # noqa: PTH208


@pytest.fixture(scope="module", autouse=True)
def closed_snapshots() -> Iterator[None]:
    """What the hosts of a module hold of their snapshots is closed behind it; `select` takes 1024 descriptors."""
    yield
    # First, or it would close them once more, when their numbers are those of other files.
    living.let_go()
    folder = Path("/proc/self/fd")
    for place in list(folder.iterdir()) if folder.is_dir() else ():
        with contextlib.suppress(OSError):
            if str(place.readlink()) == f"/memfd:{lives._SEALED} (deleted)":
                os.close(int(place.name))


@pytest.fixture(scope="session")
def spare_home(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Give a home in which nothing is; the same again as long as nobody has touched it."""
    last: Home | None = None

    def spare() -> Path:
        nonlocal last
        if last is None or not last.is_untouched():
            last = Home(tmp_path_factory.mktemp("spare"))
        return last.path

    return spare


@pytest.fixture(autouse=True)
def fake_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, spare_home: Callable[[], Path]) -> Path:
    """A throw-away HOME with every XDG directory in it, and no trace of the terminal the tests run in."""
    if "tmp_path" in request.fixturenames:
        home = Home(request.getfixturevalue("tmp_path") / "home").path
    else:
        # A test without files of its own seldom writes to its home, and to make one costs more than most such tests.
        home = spare_home()
    monkeypatch.chdir(request.config.rootpath)
    monkeypatch.setenv("HOME", str(home))
    for name, below in XDG.items():
        monkeypatch.setenv(name, str(home / below))
    for name in list(os.environ):
        if name.startswith(SURROUNDINGS):
            monkeypatch.delenv(name)
    return home
