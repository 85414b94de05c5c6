"""
What `tally host sessions` costs: 200 panes of tmux and 50 sessions of Screen, against a loop that captures them all.

    python -m benchmarks.sessions [SECONDS]

The panes: most hold a shell or a plain command; some an agent with a status file, some one that says nothing, of which
a few draw all the time and the others wait. Counted is the processor time of the poller with the programs it starts,
and what the tmux and Screen servers spend more than when nobody asks them. The loop captures every pane every 2 s, one
command each, and does nothing else with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.aims import Aim

SHARED = Path(__file__).resolve().parents[1] / "shared"
RATIO = Aim("sessions host: 200 panes of tmux, 50 of Screen", "a loop that captures each", most=0.1)
AIMS = (RATIO,)
QUICK = ("10",)
PANES, SCREENS = 200, 50
#: Of each hundred: agents with a status file, agents that wait in silence, agents that draw.
FILED, SILENT, DRAWING = 12, 6, 2
EVERY_S = 2.0
HERTZ = os.sysconf("SC_CLK_TCK")
_HOST = f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import run; run()"
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

    def __init__(self, folder: Path) -> None:
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
        """What runs in pane *number*."""
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
        self.tmux("new-session", "-d", "-s", "s0", "-x", "100", "-y", "30", self.command(0))
        for number in range(1, PANES):
            if number % 20 == 0:
                self.tmux("new-session", "-d", "-s", f"s{number}", "-x", "100", "-y", "30", self.command(number))
            else:
                self.tmux("new-window", "-d", "-t", f"s{number // 20 * 20}:", self.command(number))
        for number in range(SCREENS):
            self.run("screen", "-U", "-dmS", f"s{number}", *self.command(PANES + number).split())

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


def spent(pid: int, *, with_children: bool = False) -> float:
    """The processor time of a process, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11 : 15 if with_children else 13])) / HERTZ


@contextmanager
def host(yard: Yard) -> Iterator[int]:
    """The poller; its pid."""
    child = subprocess.Popen([sys.executable, "-c", _HOST, "host", "sessions"], env=yard.env)
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
    time.sleep(max(0.0, end - time.monotonic()))
"""


@contextmanager
def loop(yard: Yard) -> Iterator[int]:
    """The loop that captures everything; its pid."""
    words = [str(EVERY_S), str(yard.folder / "copies"), " ".join(yard.panes()), *yard.sessions()]
    child = subprocess.Popen([sys.executable, "-c", _LOOP, *words], env=yard.env)
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def measure(servers: list[int], seconds: float, pid: int = 0) -> tuple[float, float]:
    """What *pid* with its children, and the servers, spend in a second."""
    own, theirs = spent(pid, with_children=True) if pid else 0.0, sum(map(spent, servers))
    time.sleep(seconds)
    after = spent(pid, with_children=True) if pid else 0.0
    return (after - own) / seconds, (sum(map(spent, servers)) - theirs) / seconds


def main() -> int:
    """Print a line for each of the three, and the ratio."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    folder = Path(tempfile.mkdtemp(prefix="tallylight-bench-", dir="/tmp"))
    yard = Yard(folder)
    try:
        yard.fill()
        servers = yard.servers()
        time.sleep(3)
        _, rest = measure(servers, seconds / 2)
        with host(yard) as pid:
            time.sleep(5)
            own, theirs = measure(servers, seconds, pid)
            snapshot = next((folder / "runtime/tallylight").glob("sessions-*.json"))
            panes = json.loads(snapshot.read_text())["panes"]
        with loop(yard) as pid:
            time.sleep(EVERY_S)
            naive_own, naive_theirs = measure(servers, seconds, pid)
    finally:
        yard.empty()
        shutil.rmtree(folder, ignore_errors=True)
    counts = {status: sum(p["status"] == status for p in panes) for status in sorted({p["status"] for p in panes})}
    cost, naive = own + theirs - rest, naive_own + naive_theirs - rest
    print(f"{len(panes)} panes: {counts}")
    print(f"servers alone        {100 * rest:6.2f} % of one processor")
    print(
        f"tally host sessions  {100 * cost:6.2f} %   (itself {100 * own:.2f}, the servers {100 * (theirs - rest):.2f})"
    )
    print(
        f"the loop             {100 * naive:6.2f} %   (itself {100 * naive_own:.2f}, {100 * (naive_theirs - rest):.2f})"
    )
    RATIO.say(cost / naive)
    return 0 if len(panes) == PANES + SCREENS else 1


if __name__ == "__main__":
    raise SystemExit(main())
