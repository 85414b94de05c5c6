"""
Run a command, and end all that it started: `python3 tests/supervise.py COMMAND…`.

Ctrl-C, a closed terminal and SIGTERM end it: everything below it gets SIGINT, then a moment, then SIGKILL. Daemons have
left the line of processes; a variable in their environment tells whose they are. It tells as well what the command has
left at a normal end. Without `/proc` only the command itself is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

#: For how long, in seconds, all may end by itself, and then the command, for whose clearing up nothing is left to wait.
GRACE_S, LAST_S = 2.0, 1.0
_POLL_S = 0.05
_MARK = "TALLYLIGHT_TESTS_RUN"
_PROC = Path("/proc")


class Process(NamedTuple):
    """One process; its number alone may soon be that of another."""

    pid: int
    started: str
    name: str


def living(mark: str) -> set[Process]:
    """The processes with *mark* in their environment, this one's children, and all below them."""
    parents: dict[Process, int] = {}
    found: set[Process] = set()
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, _, rest = (folder / "stat").read_text("utf-8", "replace").partition(" (")[2].rpartition(") ")
            state, parent, *more = rest.split()
            if state in "ZX" or int(folder.name) == os.getpid():
                continue
            process = Process(int(folder.name), more[17], name)
            parents[process] = int(parent)
            if parents[process] == os.getpid() or mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(process)
    below = found
    while below:
        pids = {process.pid for process in below}
        below = {process for process, parent in parents.items() if parent in pids} - found
        found |= below
    return found


def tell(processes: set[Process], number: signal.Signals) -> None:
    """Send all of them a signal."""
    for process in processes:
        with contextlib.suppress(OSError):
            if _started(process.pid) == process.started:
                os.kill(process.pid, number)


def _started(pid: int) -> str:
    state, *fields = (_PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()
    return "" if state in "ZX" else fields[18]


def end(child: subprocess.Popen[bytes], mark: str) -> set[Process]:
    """End all that there is of *mark*, *child* last, and return what had to be killed."""
    found = living(mark)
    tell(found, signal.SIGINT)
    _wait(child, mark, GRACE_S)
    killed = {process for process in found | living(mark) if process.pid != child.pid and _is_there(process)}
    tell(killed, signal.SIGKILL)
    _wait(child, mark, LAST_S)
    return killed | kill(mark)


def kill(mark: str) -> set[Process]:
    """Kill what there is of *mark*, also what comes meanwhile, and return it."""
    killed: set[Process] = set()
    while found := living(mark) - killed:
        tell(found, signal.SIGKILL)
        killed |= found
    return killed


def _is_there(process: Process) -> bool:
    with contextlib.suppress(OSError):
        return _started(process.pid) == process.started
    return False


def _wait(child: subprocess.Popen[bytes], mark: str, seconds: float) -> None:
    """Wait until *child* and all others have ended, for so long at most."""
    until = time.monotonic() + seconds
    while (child.poll() is None or living(mark)) and time.monotonic() < until:
        time.sleep(_POLL_S)


def _interrupt(number: int, _frame: object) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


def main(command: list[str]) -> int:
    """Run *command* in a session of its own, and return its exit code; 130 if a signal ended it."""
    value = f"{os.getpid()}-{time.time_ns()}"
    mark = f"{_MARK}={value}"
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        signal.signal(number, _interrupt)
    child = subprocess.Popen(command, env={**os.environ, _MARK: value}, start_new_session=True)
    code, why = 130, ""
    try:
        code = child.wait()
    except KeyboardInterrupt as interrupted:
        why = f"stopped by {interrupted}"
    for number in signals:
        signal.signal(number, signal.SIG_IGN)
    killed = end(child, mark) if why else kill(mark)
    if why or killed:
        names = ", ".join(sorted({process.name for process in killed}))
        sys.stderr.write(f"{command[0]}: {why or 'ended'}; {len(killed)} processes were left and killed: {names}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
