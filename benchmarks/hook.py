"""
The cost of `tally hook` for an agent at each event: its process time and its wall time, against the bare interpreter.

    python -m benchmarks.hook [--runs N] [--limit RATIO]

The command runs as it is installed, through a launcher started with -IS. The process above it is called `claude`, and
has a terminal, into which the command writes. All take turns, so that whatever else the machine does falls on them
alike. With --limit the exit code is 1 if the process time is more than that many times the bare interpreter's.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pty
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.aims import Aim

SHARED = Path(__file__).resolve().parent.parent / "shared"
CPU = Aim("`tally hook`, as installed, processor", "`python3 -I -S -c pass`", most=1.5)
WALL = Aim("`tally hook`, as installed, wall", "`python3 -I -S -c pass`", most=1.5)
AIMS = (CPU, WALL)
QUICK = ("--runs", "60")
SMALL = {"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Bash"}


def measure(command: list[str], environment: dict[str, str], payload: bytes) -> tuple[float, float]:
    """Run *command* once; return its processor and its wall time in seconds."""
    read, write = os.pipe()
    started = time.perf_counter()
    pid = os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_CLOSE, write)],
        setsid=True,
    )
    os.close(read)
    try:
        with open(write, "wb") as file:  # noqa: PTH123
            file.write(payload)
    except BrokenPipeError:
        pass
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    assert os.waitstatus_to_exitcode(status) == 0, command
    return usage.ru_utime + usage.ru_stime, wall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options.inside, options.runs, options.limit)
    with tempfile.TemporaryDirectory() as folder:
        # The program, with the agent's name, that runs the hooks below a terminal of its own.
        agent = Path(folder, "claude")
        agent.write_text(
            f"import sys; sys.path.insert(0, {str(SHARED.parent)!r})\n"
            "from benchmarks.hook import main; sys.exit(main())\n"
        )
        words = [sys.executable, str(agent), "--inside", folder, "--runs", str(options.runs)]
        words += ["--limit", str(options.limit)] if options.limit else []
        read, write = os.pipe()
        pid, master = pty.fork()
        if pid == 0:
            os.set_inheritable(write, True)
            os.environ["REPORT_FD"] = str(write)
            os.execv(words[0], words)
        os.close(write)
        seen = bytearray()
        drained = threading.Thread(target=_drain, args=(master, seen), daemon=True)
        drained.start()
        with open(read) as report:  # noqa: PTH123
            sys.stdout.write(report.read())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        drained.join(5)
        assert seen.count(b"SetUserVar=tally=") >= 3 * options.runs, "it is no measure of what reaches no terminal"
        return code


def _drain(master: int, seen: bytearray) -> None:
    try:
        while piece := os.read(master, 1 << 16):
            seen += piece
    except OSError:
        pass


def inside(folder: str, runs: int, limit: float | None) -> int:
    python = str(Path(sys.executable).resolve())
    launcher = Path(folder, "tally")
    launcher.write_text(
        f"#!{python} -IS\nimport sys\nsys.path.insert(0, {str(SHARED)!r})\nfrom tallylight.cli.main import run\nrun()\n"
    )
    launcher.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "HOME": folder}
    small = json.dumps(SMALL | {"tool_input": {"command": "npm test"}}).encode()
    large = json.dumps(SMALL | {"tool_input": {"command": "npm test", "content": "x" * 500_000}}).encode()
    installed = f"'{launcher}' hook claude PreToolUse 2>/dev/null || true"
    commands = {
        "true": (["/bin/true"], b""),
        "python3 -I -S -c pass": ([python, "-I", "-S", "-c", "pass"], b""),
        "tally hook claude": ([str(launcher), "hook", "claude", "PreToolUse"], small),
        "tally hook, 500 kB": ([str(launcher), "hook", "claude", "PreToolUse"], large),
        "as installed, through sh": (["/bin/sh", "-c", installed], small),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for command, payload in commands.values():
        measure(command, environment, payload)  # the first run writes the byte code
    for _ in range(runs):
        for name, (command, payload) in commands.items():
            times[name].append(measure(command, environment, payload))
    cpu = {name: statistics.median(c for c, _ in found) for name, found in times.items()}
    wall = {name: statistics.median(w for _, w in found) for name, found in times.items()}
    bare = "python3 -I -S -c pass"
    lines = [f"{'':26}{'cpu ms':>8}{'wall ms':>9}{'x bare cpu':>12}{'x bare wall':>12}"]
    lines += [
        f"{name:26}{cpu[name] * 1e3:8.1f}{wall[name] * 1e3:9.1f}{cpu[name] / cpu[bare]:12.2f}"
        f"{wall[name] / wall[bare]:12.2f}"
        for name in commands
    ]
    with open(int(os.environ["REPORT_FD"]), "w") as report:  # noqa: PTH123
        report.write("\n".join(lines) + "\n")
        with contextlib.redirect_stdout(report):
            CPU.say(cpu["as installed, through sh"] / cpu[bare])
            WALL.say(wall["as installed, through sh"] / wall[bare])
    worst = max(cpu["tally hook claude"], cpu["as installed, through sh"]) / cpu[bare]
    return 1 if limit and worst > limit else 0


if __name__ == "__main__":
    sys.exit(main())
