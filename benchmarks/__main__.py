"""
Every benchmark of speed, one after the other, in about twenty minutes: one table of what was measured, and the aims.

    python -m benchmarks [MODULE…]

Each runs as a process of its own, with the words of its `QUICK`. The table is written to docs/measurements.md. With
names of modules only their rows are renewed: do so only on the machine that the page names. A module that needs a
terminal or a program that is not installed has a row that says so. Not included are the ones that measure how right
something is: `benchmarks.accuracy`, `benchmarks.unknown` and `benchmarks.mutation`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import table
from benchmarks.aims import KEPT

ROOT = Path(__file__).parents[1]
#: Seconds that one module may take.
LIMIT_S = 240


def run(module: str) -> dict[str, list[float]]:
    """Return the numbers of a module by what they are about; it prints meanwhile."""
    started = time.monotonic()
    words: tuple[str, ...] = importlib.import_module(f"benchmarks.{module}").QUICK
    with tempfile.NamedTemporaryFile() as kept:
        path = os.pathsep.join(filter(None, (str(ROOT / "shared"), str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, KEPT: kept.name, "PYTHONPATH": path}
        command = [sys.executable, "-m", f"benchmarks.{module}", *words]
        process = subprocess.Popen(command, env=environment, cwd=ROOT)
        try:
            code = process.wait(LIMIT_S)
            ended = f"ended with {code}" if code else ""
        except subprocess.TimeoutExpired:
            # As Ctrl+C does, so that it ends what it has started.
            process.send_signal(signal.SIGINT)
            process.wait()
            ended = f"stopped after {LIMIT_S} s"
        found: dict[str, list[float]] = {}
        for line in Path(kept.name).read_text("utf-8").splitlines():
            what, value = json.loads(line)
            found.setdefault(what, []).append(value)
    print(f"== {module}: {time.monotonic() - started:.0f} s", flush=True)
    if ended:
        print(f"benchmarks.{module} {ended}", file=sys.stderr)
    return found


def main(argv: list[str]) -> int:
    """Run them, print the table, and write it."""
    known = list(table.modules())
    if unknown := [name for name in argv if name not in known]:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    wanted = argv or known
    said: dict[str, list[float]] = {}
    started = time.monotonic()
    for module in wanted:
        print(f"\n== {module}", flush=True)
        said |= run(module)
    page = table.renewed(table.PAGE.read_text("utf-8"), said, set(wanted))
    table.PAGE.write_text(page, "utf-8")
    print(f"\nin {time.monotonic() - started:.0f} s\n\n{''.join(table.rows(page).values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
