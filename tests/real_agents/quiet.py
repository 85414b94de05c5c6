"""Run a command before all else on this machine: `python -m tests.real_agents.quiet COMMAND …`, as root.

Linux shares the processors among sessions first and only then, within one, by the nice values of its processes
(`sched_autogroup_enabled`). An agent on a terminal of its own is a session of its own, so that `nice` before a
recording does nothing for it. Here the groups of all that the command starts are told as well, as they come.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

#: The highest priority there is, and how often new processes are looked for, in seconds.
FIRST, LOOK_S = -20, 0.1


def descendants(top: int) -> set[int]:
    """The process *top* and all below it, in whatever namespace."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = entry.read_text().rpartition(")")[2].split()
            parents[int(entry.parent.name)] = int(words[1])
    found = {top}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def main(argv: list[str]) -> int:
    """Run the command; its exit code."""
    process = subprocess.Popen(argv, preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, FIRST))
    known: set[int] = set()
    while process.poll() is None:
        present = descendants(process.pid)
        for pid in present - known:
            with contextlib.suppress(OSError):
                Path(f"/proc/{pid}/autogroup").write_text(str(FIRST))
        known = present
        time.sleep(LOOK_S)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
