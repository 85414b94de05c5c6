"""
How fast this machine is, whatever runs on it: `python -m benchmarks.machine`.

With these rows two tables of docs/measurements.md compare: a loop of Python, `bytes.find`, a bare pty and the start of
an interpreter. Each is the best of several, the first two in processor time.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time

from benchmarks.aims import Aim
from benchmarks.timing import CHUNK, best

LOOP = Aim("this machine: a loop of Python", "the clock", unit="million steps/s")
FIND = Aim("this machine: `bytes.find`", "the clock", unit="GB/s")
PTY = Aim("this machine: through a bare pty", "the clock", unit="MB/s")
START = Aim("this machine: `python3 -I -S -c pass`", "the clock", unit="ms")
AIMS = (LOOP, FIND, PTY, START)
QUICK = ()
_SECONDS = 1.0
_STEPS = 200_000
#: Bytes that are searched, and bytes that go through a pty.
_SEARCHED, _CARRIED = 8_000_000, 4_000_000
_STARTS, _CARRIES = 20, 5


def loop() -> None:
    """Count in Python."""
    total = 0
    for number in range(_STEPS):
        total += number & 3


def carry(size: int) -> float:
    """Write *size* bytes into a pty and read them from it; return the seconds that it took."""
    ours, theirs = pty.openpty()

    def write() -> None:
        left = size
        while left > 0:
            left -= os.write(theirs, b"x" * min(left, CHUNK))
        os.close(theirs)

    writer = threading.Thread(target=write)
    started, seen = time.perf_counter(), 0
    writer.start()
    while seen < size:
        seen += len(os.read(ours, CHUNK))
    took = time.perf_counter() - started
    writer.join()
    os.close(ours)
    return took


def start() -> float:
    """Start an interpreter that does nothing; return the seconds until it has ended."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    return time.perf_counter() - started


def main() -> int:
    """Measure and print."""
    data = bytes(_SEARCHED)
    LOOP.say(_STEPS / best(loop, _SECONDS) / 1e6)
    FIND.say(_SEARCHED / best(lambda: data.find(b"\xff\xfe"), _SECONDS) / 1e9)
    PTY.say(_CARRIED / min(carry(_CARRIED) for _ in range(_CARRIES)) / 1e6)
    START.say(min(start() for _ in range(_STARTS)) * 1e3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
