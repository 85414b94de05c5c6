"""
A tracer of time: how long every call that kitty makes into our code keeps its main thread, by the name of the call.

Self-contained, for its text is also run inside a real kitty, before our watcher is loaded. Counted is the processor
time of that thread: what else a busy machine does falls on nobody. A call is what kitty itself begins: a callback of
the watcher, a timer, a part of drawing the tab bar, a key. What such a call calls in turn belongs to it.
"""

from __future__ import annotations

import functools
import importlib
import os
import runpy
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WATCHER = "tally_watcher.py"
#: What loads us, a little at a time.
STARTER = "tallylight.hosts.kitty.starter"
#: What kitty's drawing of the tab bar calls of ours, and what its keys do: module, class or nothing, names.
ENTRIES = (
    ("tallylight.hosts.kitty.tabs", "TabLights", ("_prepared", "rendered", "what")),
    ("tallylight.hosts.kitty.keys", "", ("agents", "jump", "panel", "snooze", "attach")),
)


class Tracer:
    """What was measured: for each call, by name, the seconds that each took."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {}
        #: The loading of the watcher: seconds that the main thread computed, seconds that it was kept, and when it
        #: ended after the process started.
        self.load: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self._is_loading = True
        self._is_in = False

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """*call*, whose time is noted; what loads us is not noted as a call, but as the loading."""
        is_loading = STARTER in name

        @functools.wraps(call)
        def timing(*args: Any, **options: Any) -> Any:
            if self._is_in:
                return call(*args, **options)
            self._is_in = True
            start, wall = time.thread_time(), time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                took = time.thread_time() - start
                if is_loading:
                    self._loaded(took, time.perf_counter() - wall)
                else:
                    self.took.setdefault(name, []).append(took)
                self._is_in = False

        return timing

    def _loaded(self, thread: float, wall: float) -> None:
        if self._is_loading:
            self.load = self.load[0] + thread, self.load[1] + wall, age()
            if (starter := sys.modules.get(STARTER)) is not None and starter.loading.is_over:
                self._is_loading = False
                self._wrap_entries()

    def add_timer(self, add: Callable[..., int]) -> Callable[..., int]:
        """kitty's `add_timer`, whose callbacks are timed if they are ours."""

        def adding(call: Callable[..., Any], *rest: Any) -> int:
            name = name_of(call)
            return add(self.timed(f"timer {name}", call) if name.startswith("tallylight.") else call, *rest)

        return adding

    def run_path(self, run: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """`runpy.run_path`, by which kitty loads a watcher; what ours defines is timed."""

        def running(path: str, *args: Any, **options: Any) -> dict[str, Any]:
            if Path(path).name != WATCHER:
                return run(path, *args, **options)
            found = self.timed(STARTER, run)(path, *args, **options)
            load = self.timed(STARTER, found["on_load"])
            wrapped = {name: self.timed(name, call) for name, call in found.items() if name.startswith("on_")}
            return {**found, **wrapped, "on_load": load}

        return running

    def _wrap_entries(self) -> None:
        for module, owner, names in ENTRIES:
            found = importlib.import_module(module)  # some load with the first light
            place = getattr(found, owner) if owner else found
            for name in names:
                setattr(place, name, self.timed(name, getattr(place, name)))

    def slowest(self) -> dict[str, float]:
        """The longest call of each name, in milliseconds."""
        return {name: 1000 * max(took) for name, took in self.took.items()}


def name_of(call: Any) -> str:
    """The module and the name of a function, looked for behind what only guards it."""
    while True:
        call = getattr(call, "func", call)
        cells = dict(zip(getattr(call, "__code__", _NOTHING).co_freevars, call.__closure__ or (), strict=False))
        if "guarded" not in getattr(call, "__name__", "") or "call" not in cells:
            break
        call = cells["call"].cell_contents
    return f"{call.__module__}.{call.__qualname__}"


_NOTHING = (lambda: None).__code__


def age() -> float:
    """The seconds since this process started."""
    stat = Path("/proc/self/stat").read_text()
    started = int(stat.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def install() -> Tracer:
    """Put a tracer in place, before our watcher is loaded."""
    import kitty.fast_data_types as kitty_data

    tracer = Tracer()
    kitty_data.add_timer = tracer.add_timer(kitty_data.add_timer)
    runpy.run_path = tracer.run_path(runpy.run_path)
    return tracer


def watcher_line(folder: Path) -> str:
    """The line of kitty.conf that has a tracer in place in kitty, as `time_tracer.tracer`, from files in *folder*."""
    shutil.copy(__file__, folder / "time_tracer.py")
    watcher = folder / "time_tracer_watcher.py"
    lines = ("import sys", f"sys.path.insert(0, {str(folder)!r})", "import time_tracer as t", "t.tracer = t.install()")
    watcher.write_text("\n".join(lines))
    return f"watcher {watcher}\n"
