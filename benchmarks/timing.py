"""Tools for the benchmarks of bytes: the sizes of inputs, and the time of a piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

RECORDING = Path(__file__).parents[1] / "tests/fuzz/seeds/claude.raw"
CHUNK = 65_536


def repeat(unit: bytes, size: int) -> bytes:
    """*unit* again and again, cut at a whole one, once at least."""
    return unit * max(1, size // len(unit))


def best(work: Callable[[], object], seconds: float) -> float:
    """The least processor time of as many runs as fit into *seconds*, two at least."""
    times: list[float] = []
    ends = time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < ends:
        started = time.process_time()
        work()
        times.append(max(time.process_time() - started, 1e-9))
    return min(times)
