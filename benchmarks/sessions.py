"""
The cost of `tally host sessions`: 200 panes of tmux and 50 sessions of Screen, against a loop that captures them all;
and 500 panes of tmux alone.

    python -m benchmarks.sessions [--runs 5] [--seconds 10]

Most panes hold a shell or a plain command. Some hold an agent with a status file, and some one that reports nothing: a
few of these draw all the time, the others wait. Counted is the processor time of the poller with the programs it
starts. Added is what the tmux and Screen servers spend more than when nobody asks them. The loop captures every pane
every 2 s, one command each, and does nothing else with it.

Both are measured at rest. For the host that is when its time has not fallen for a while: at first it looks at every
pane, and everything is new. For the loop it is after its first round. Each is measured for the same span in every run,
with a new host. Of the loop whole rounds count, as if each had come in time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from benchmarks.aims import Aim

SHARED = Path(__file__).resolve().parents[1] / "shared"
RATIO = Aim("sessions host: 200 panes of tmux, 50 of Screen", "a loop that captures each", most=0.1)
MANY = Aim("sessions host: 500 panes of tmux", "a core", most=5.0, unit="%")
AIMS = (RATIO, MANY)
QUICK = ("--runs", "1", "--seconds", "6")
#: Panes of tmux and of Screen.
MIXED, LARGE = (200, 50), (500, 0)
#: Of each hundred: agents with a status file, agents that wait in silence, agents that draw.
FILED, SILENT, DRAWING = 12, 6, 2
EVERY_S = 2.0
#: At rest: of so many spans of so many seconds none took less than this part of one before it.
SPANS, SPAN_S, PART = 4, 3.0, 0.75
REST_S = 60.0
HERTZ = os.sysconf("SC_CLK_TCK")
#: A program that is `tally`, of this checkout.
TALLY = [
    *(sys.executable, "-c"),
    f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import run; run()",
]
_STATUS = """#!/bin/bash
start=$(cut -d' ' -f22 /proc/$$/stat)
mkdir -p ~/.claude/sessions
echo '{"pid":'$$',"procStart":"'$start'","sessionId":"s","cwd":"/","status":"busy"}' >~/.claude/sessions/$$.json
exec -a claude "$(dirname "$0")/claude" 100000
"""
_SILENT = "#!/bin/bash\nfor n in 1 2 3; do echo line $n; sleep 0.3; done\necho 'shall I go on?'\nread -r x\n"
_DRAWING = "#!/bin/bash\nwhile :; do for n in 1 2 3 4 5 6; do echo $RANDOM $RANDOM; done; sleep 0.2; done\n"


class Yard:
    """A folder with everything in it: home, sockets, programs."""

    def __init__(self, folder: Path, panes: int, screens: int) -> None:
        self.sizes = panes, screens
        for name in ("home/bin", "home/filed", "home/drawing", "runtime", "screens", "tmux", "copies"):
            (folder / name).mkdir(parents=True, mode=0o700)
        self.folder = folder
        self.env = {
            "HOME": str(folder / "home"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(folder / "runtime"),
            "TMUX_TMPDIR": str(folder / "tmux"),
            "SCREENDIR": str(folder / "screens"),
            "TERM": "xterm-256color",
        }
        # A copy, because a process is known by its executable.
        shutil.copy("/bin/sleep", folder / "home/filed/claude")
        self._program("home/filed/start", _STATUS)
        self._program("home/bin/aider", _SILENT)
        self._program("home/drawing/aider", _DRAWING)

    def _program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def command(self, number: int) -> str:
        """Return the command of pane *number*."""
        kind = number * 37 % 100
        if kind < FILED:
            return str(self.folder / "home/filed/start")
        if kind < FILED + SILENT:
            return str(self.folder / "home/bin/aider")
        if kind < FILED + SILENT + DRAWING:
            return str(self.folder / "home/drawing/aider")
        return "bash --norc -i" if number % 2 else "sleep 100000"

    def run(self, *argv: str) -> str:
        done = subprocess.run(argv, env=self.env, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.stdout

    def tmux(self, *words: str) -> str:
        return self.run("tmux", "-L", "bench", "-f", "/dev/null", *words)

    def fill(self) -> None:
        """Start all the sessions."""
        panes, screens = self.sizes
        self.tmux("new-session", "-d", "-s", "s0", "-x", "100", "-y", "30", self.command(0))
        for number in range(1, panes):
            if number % 20 == 0:
                self.tmux("new-session", "-d", "-s", f"s{number}", "-x", "100", "-y", "30", self.command(number))
            else:
                self.tmux("new-window", "-d", "-t", f"s{number // 20 * 20}:", self.command(number))
        for number in range(screens):
            self.run("screen", "-U", "-dmS", f"s{number}", *self.command(panes + number).split())

    def sessions(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "screens").iterdir() if "-query" not in path.name)

    def panes(self) -> list[str]:
        return self.tmux("list-panes", "-a", "-F", "#{pane_id}").split()

    def servers(self) -> list[int]:
        """The processes of tmux and of every session of Screen."""
        return [int(self.tmux("display-message", "-p", "#{pid}")), *(int(s.partition(".")[0]) for s in self.sessions())]

    def empty(self) -> None:
        self.tmux("kill-server")
        for session in self.sessions():
            self.run("screen", "-S", session, "-X", "quit")


def spent(pid: int) -> float:
    """The processor time of a process and of its children that have ended, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / HERTZ


def ran(pid: int) -> float:
    """The processor time of a process of one thread, in seconds, to the nanosecond."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


@contextmanager
def host(yard: Yard) -> Iterator[int]:
    """The poller; its pid."""
    child = subprocess.Popen([*TALLY, "host", "sessions"], env=yard.env)
    try:
        yield child.pid
    finally:
        child.terminate()
        child.wait()


_LOOP = """
import subprocess, sys, time
every, copies, panes, sessions = float(sys.argv[1]), sys.argv[2], sys.argv[3].split(), sys.argv[4:]
while True:
    end = time.monotonic() + every
    for pane in panes:
        subprocess.run(["tmux", "-L", "bench", "capture-pane", "-p", "-t", pane], capture_output=True)
    for session in sessions:
        path = f"{copies}/{session}"
        subprocess.run(["screen", "-S", session, "-X", "hardcopy", path], capture_output=True)
        try:
            open(path, "rb").read()
        except OSError:
            pass
    print("round", flush=True)
    time.sleep(max(0.0, end - time.monotonic()))
"""


@contextmanager
def loop(yard: Yard) -> Iterator[tuple[int, IO[bytes]]]:
    """The loop that captures everything, after its first round; its pid, and a line for every round."""
    words = [str(EVERY_S), str(yard.folder / "copies"), " ".join(yard.panes()), *yard.sessions()]
    child = subprocess.Popen([sys.executable, "-c", _LOOP, *words], env=yard.env, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid, child.stdout
    finally:
        child.kill()
        child.wait()


def at_rest(spends: Callable[[], float]) -> None:
    """Wait until what is spent has not fallen for a while."""
    ends = time.monotonic() + REST_S
    took: list[float] = []
    while len(took) < SPANS or took[-1] < PART * max(took[-SPANS:]):
        if time.monotonic() > ends:
            print(f"not at rest after {REST_S:.0f} s: {[round(one, 3) for one in took]}", file=sys.stderr)
            return
        before = spends()
        time.sleep(SPAN_S)
        took.append(spends() - before)


class Share(NamedTuple):
    """The processor seconds in a second of the process in question, and of the servers."""

    own: float
    theirs: float


def measure(servers: list[int], seconds: float, pid: int = 0) -> Share:
    """Return what *pid* with its children, and the servers, spend in a second."""
    own, theirs, began = spent(pid) if pid else 0.0, sum(map(ran, servers)), time.monotonic()
    time.sleep(seconds)
    after, then, took = spent(pid) if pid else 0.0, sum(map(ran, servers)), time.monotonic() - began
    return Share((after - own) / took, (then - theirs) / took)


def of_loop(yard: Yard, servers: list[int], seconds: float, rest: Share) -> Share:
    """Return the time of the loop if each round comes in its time: a busy machine may not let it."""
    rounds = max(2, round(seconds / EVERY_S))
    with loop(yard) as (pid, told_of):
        own, theirs, began = spent(pid), sum(map(ran, servers)), time.monotonic()
        for _ in range(rounds):
            told_of.readline()
        others = rest.theirs * (time.monotonic() - began)
        own, theirs = spent(pid) - own, sum(map(ran, servers)) - theirs - others
    return Share(own / rounds / EVERY_S, rest.theirs + theirs / rounds / EVERY_S)


@contextmanager
def filled(sizes: tuple[int, int]) -> Iterator[tuple[Yard, list[int]]]:
    """A yard with so many panes, at rest, and its servers."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-bench-", dir="/tmp"))
    yard = Yard(folder, *sizes)
    try:
        yard.fill()
        servers = yard.servers()
        at_rest(lambda: sum(map(ran, servers)))
        yield yard, servers
    finally:
        yard.empty()
        shutil.rmtree(folder, ignore_errors=True)


def of_host(yard: Yard, servers: list[int], seconds: float) -> Share:
    """Return the time of a host that is at rest."""
    with host(yard) as pid:
        at_rest(lambda: spent(pid))
        found = measure(servers, seconds, pid)
        snapshot = next((yard.folder / "runtime/tallylight").glob("sessions-*.json"))
        panes = json.loads(snapshot.read_text())["panes"]
    counts = {status: sum(p["status"] == status for p in panes) for status in sorted({p["status"] for p in panes})}
    if len(panes) != sum(yard.sizes):
        raise SystemExit(f"the host knows {len(panes)} of {sum(yard.sizes)} panes")
    print(f"  {len(panes)} panes: {counts}")
    return found


def told(what: str, share: Share, rest: Share) -> float:
    """Return the time of a poller, and of the servers because of it, in a second; print it."""
    theirs = share.theirs - rest.theirs
    cost = share.own + theirs
    print(
        f"  {what:20} {100 * cost:6.2f} % of one processor (itself {100 * share.own:.2f}, servers {100 * theirs:.2f})"
    )
    return cost


def main() -> int:
    """Print a line for each measurement, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    for sizes, against_loop in ((MIXED, True), (LARGE, False)):
        with filled(sizes) as (yard, servers):
            for number in range(1, arguments.runs + 1):
                print(f"run {number} of {arguments.runs}: {sizes[0]} panes of tmux, {sizes[1]} of Screen")
                # Before and after: what the machine does beside it changes what the same panes cost.
                before = measure(servers, arguments.seconds)
                share = of_host(yard, servers, arguments.seconds)
                rest = Share(0.0, (before.theirs + measure(servers, arguments.seconds).theirs) / 2)
                print(f"  servers alone        {100 * rest.theirs:6.2f} % of one processor")
                cost = told("tally host sessions", share, rest)
                if not against_loop:
                    MANY.say(100 * cost)
                    continue
                RATIO.say(cost / told("the loop", of_loop(yard, servers, arguments.seconds, rest), rest))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
