"""
The cost of reading the connections of agents: `python -m benchmarks.processes`.

Twenty programs have a dozen threads, forty open files, a child and a connection to a server of this process. They are
looked at as a host does it: often while they work, seldom at rest. Counted is the processor time of the thread that
reads, for the looks of a second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

from benchmarks.aims import Aim

from tallylight.evidence import connections
from tallylight.evidence.connections import REREAD_TREE_S, Tree
from tallylight.evidence.procfs import ProcTable
from tallylight.pane.process_watch import ACTIVE_S, RESTING_S

AGENTS, LOOKS, TICK_S = 20, 40, 0.25
WORKING = Aim(f"processes: {AGENTS} agents that work", "a core", most=1.6, unit="%")
RESTING = Aim(f"processes: {AGENTS} agents at rest", "a core", most=0.1, unit="%")
NEW = Aim("processes: a look that has a new connection", "one that has none", most=40.0)
AIMS = (WORKING, RESTING, NEW)
QUICK = ()
_PROGRAM = """
import os, socket, subprocess, sys, threading
for _ in range(12): threading.Thread(target=threading.Event().wait, daemon=True).start()
files = [open(os.devnull) for _ in range(40)]
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
subprocess.Popen(["sleep", "1000"])
c.recv(1)
"""


def main() -> None:
    """Measure and say it."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=AGENTS))
        argv = [sys.executable, "-c", _PROGRAM, str(listener.getsockname()[1])]
        programs = [subprocess.Popen(argv, start_new_session=True) for _ in range(AGENTS)]
        for program in programs:
            stack.callback(program.wait)
            stack.callback(os.killpg, program.pid, signal.SIGKILL)
        peers = [listener.accept()[0] for _ in programs]
        time.sleep(1.0)
        trees = [Tree(ProcTable(), program.pid) for program in programs]
        connections.samples_of(trees)
        every = ACTIVE_S // TICK_S * TICK_S + TICK_S
        works, rests = (
            _spent(trees, pause, looks) for pause, looks in ((every, LOOKS), (2 * REREAD_TREE_S, LOOKS // 4))
        )
        before = time.thread_time()
        connections.samples_of([Tree(ProcTable(), programs[0].pid)])
        first = time.thread_time() - before
        assert len(peers) == AGENTS
    # A host ticks four times a second, and finds that a look is due at the next tick.
    WORKING.say(100 * works / every)
    RESTING.say(100 * rests / RESTING_S)
    NEW.say(first / (works / AGENTS))


def _spent(trees: list[Tree], pause: float, looks: int) -> float:
    """The processor time of a look at all *trees*, in seconds, with so long a *pause* before each."""
    spent = []
    for _ in range(looks):
        time.sleep(pause)
        before = time.thread_time()
        connections.samples_of(trees)
        spent.append(time.thread_time() - before)
    return statistics.fmean(spent)


if __name__ == "__main__":
    main()
