"""
The cost of `tally emit`, `tally prompt` and `tally status`: process and wall time, against the interpreter and `true`.

    python -m benchmarks.emit [--runs N] [--limit RATIO]

They run as they are installed, through a launcher started with -IS, and write to a pipe; a host tells of twenty panes.
All take turns, so that whatever else the machine does falls on all of them alike. With --limit the exit code is 1 if
the process time is more than that many times the bare interpreter's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs
from benchmarks.aims import Aim

from tallylight.model.status import Kind, Status
from tallylight.parts import index
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter

SHARED = Path(__file__).resolve().parent.parent / "shared"
PROMPT = Aim("`tally prompt`, wall", "`python3 -I -S -c pass`", most=2.0)
STATUS = Aim("`tally status` of 20 panes, wall", "`python3 -I -S -c pass`", most=5.0)
CPU = Aim("`tally emit`, processor", "`python3 -I -S -c pass`", most=1.5)
WALL = Aim("`tally emit`, wall", "`python3 -I -S -c pass`", most=1.5)
AIMS = (PROMPT, STATUS, CPU, WALL)
QUICK = ("--runs", "60")


def measure(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run *command* once; return its processor and its wall time in seconds."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime, wall


def publish(environment: dict[str, str]) -> SnapshotWriter:
    """Write what a host of twenty panes would write; every fourth pane asks."""
    writer = SnapshotWriter.for_host("kitty", environment, time.time)
    asks = Pane(
        id="1", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", project="x", title="Fix the build",
        message="Allow?", what="Bash: npm test", progress="3/7", since=time.time() - 90,
    )  # fmt: skip
    works = attrs.evolve(asks, status=Status.WORKING, kind=None, message="", what="")
    writer.publish([attrs.evolve(works if number % 4 else asks, id=str(number)) for number in range(20)], 0.0)
    return writer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--limit", type=float)
    options = parser.parse_args()
    python = str(Path(sys.executable).resolve())
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TALLY_EMIT_STDOUT": "1", "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": folder, "HOME": folder}
        index.refresh(environment)  # as `tally setup` does
        writer = publish(environment)
        packages = str(Path(attrs.__file__).parent.parent)
        launcher = Path(folder, "tally")
        launcher.write_text(
            f"#!{python} -IS\nimport sys\nsys.path[:0] = [{str(SHARED)!r}, {packages!r}]\n"
            "from tallylight.cli.main import run\nrun()\n"
        )
        launcher.chmod(0o755)
        commands = {
            "true": ["true"],
            "python3 -I -S -c pass": [python, "-I", "-S", "-c", "pass"],
            "tally prompt": [str(launcher), "prompt"],
            "tally status": [str(launcher), "status"],
            "tally emit working": [str(launcher), "emit", "working"],
            "tally emit, many options": [
                *(str(launcher), "emit", "waiting", "--tool", "claude", "--project", "x", "--kind=permission"),
                *("--message", "Allow `rm -r build`? " * 10, "--session", "0123-4567", "--progress", "3/7"),
            ],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for name, command in commands.items():
            measure(command, environment)  # the first run writes the byte code
            times[name].clear()
        for _ in range(options.runs):
            for name, command in commands.items():
                times[name].append(measure(command, environment))
        writer.close()
    cpu = {name: statistics.median(c for c, _ in found) for name, found in times.items()}
    wall = {name: statistics.median(w for _, w in found) for name, found in times.items()}
    bare = "python3 -I -S -c pass"
    print(f"{'':26}{'cpu ms':>8}{'wall ms':>9}{'x bare cpu':>12}{'x bare wall':>12}{'x true wall':>12}")
    for name in commands:
        print(
            f"{name:26}{cpu[name] * 1e3:8.1f}{wall[name] * 1e3:9.1f}{cpu[name] / cpu[bare]:12.2f}"
            f"{wall[name] / wall[bare]:12.2f}{wall[name] / wall['true']:12.1f}"
        )
    PROMPT.say(wall["tally prompt"] / wall[bare])
    STATUS.say(wall["tally status"] / wall[bare])
    emits = [name for name in commands if name.startswith("tally emit")]
    CPU.say(max(cpu[name] for name in emits) / cpu[bare])
    WALL.say(max(wall[name] for name in emits) / wall[bare])
    worst = max(cpu[name] for name in (*emits, "tally prompt")) / cpu[bare]
    return 1 if options.limit and worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
