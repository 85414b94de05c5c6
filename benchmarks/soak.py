"""
Whether the hosts grow: agents that do a turn every two seconds in a real tmux and a real kitty, for some minutes.

    python -m benchmarks.soak [tmux] [kitty] [bare] [--minutes 6] [--version 0.48]

Panes are closed and opened; agents end, are killed, or are stopped for a while. Sessions are killed, and a person
attaches and leaves. The tmux server is killed and started again. After the first quarter, in which everything is used
for the first time, it prints every few seconds what the host holds. That is memory without a file behind it,
descriptors, threads, and files in its runtime and state folders. Of each the third quarter is compared with the last. A
number has grown if it is larger there by more than it varies in between, and by more than `SLACK`. The exit code is
then 1. `bare` soaks a kitty without us, for comparison.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import pty
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
from benchmarks.sessions import Yard, host
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line

#: Panes with agents at a time.
AGENTS = 16
#: Seconds between two samples, and between two things that happen to an agent.
SAMPLE_S, HAPPENS_S = 5.0, 1.0
#: Differences that are no growth: kB of memory, descriptors, threads, files.
SLACK = {"own": 768.0, "fds": 3.0, "threads": 1.0, "files": 3.0}
SEED = 7

# Each counts its turns in a file of its own, which goes with the folder.
_CLAUDE = """
start=$(cut -d' ' -f22 /proc/$$/stat)
mkdir -p ~/.claude/sessions ~/turns
file=~/.claude/sessions/$$.json
trap 'rm -f "$file"; exit 0' TERM HUP INT
says() {
    printf '{"pid":%d,"procStart":"%s","sessionId":"%s","cwd":"/","status":"%s"%s}' $$ $start $$ $1 "$2" >"$file.new"
    mv "$file.new" "$file"
}
while :; do
    says busy; printf '\\033]0;\\342\\240\\213 turn\\007'
    for n in 1 2 3 4 5 6 7 8; do echo "line $n $RANDOM"; sleep 0.1; done
    says waiting ',"waitingFor":"permission prompt"'
    printf 'Do you want to proceed?\\n\\342\\235\\257 1. Yes\\n  2. No\\n'; sleep 0.5
    says idle; printf '\\033]0;\\342\\234\\263 turn\\007'; sleep 0.7
    echo . >>~/turns/$$
done
"""
_AIDER = """#!/bin/bash
mkdir -p ~/turns
while :; do
    for n in 1 2 3 4 5 6 7 8; do echo "line $n $RANDOM"; sleep 0.1; done
    echo 'Run shell command? (Y)es/(N)o [Yes]:'; sleep 0.7
    echo '> '; sleep 0.6
    echo . >>~/turns/$$
done
"""


def put_agents(home: Path) -> None:
    """Write the agents into *home*: one with a status file and titles, and one that only its screen describes."""
    (home / "bin").mkdir(exist_ok=True)
    # A copy, because a process is known by its executable.
    shutil.copy("/bin/bash", home / "bin/claude")
    (home / "bin/claude.sh").write_text(_CLAUDE)
    (home / "bin/aider").write_text(_AIDER)
    (home / "bin/aider").chmod(0o755)


def command(home: str, number: int) -> list[str]:
    """Return the command of pane *number*."""
    return [f"{home}/bin/aider"] if number % 3 == 0 else [f"{home}/bin/claude", f"{home}/bin/claude.sh"]


class Sample(NamedTuple):
    """The memory, descriptors, threads and files of a host after so many *turns*."""

    turns: int
    rss: float
    own: float
    fds: float
    threads: float
    files: float


def sample(pid: int, home: Path, folders: list[Path]) -> Sample:
    """Return what the process holds now; memory in kB."""
    process = psutil.Process(pid)
    # `RssAnon` has no pages of files: other processes may change their number.
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    rss, own = (float(status[name].split()[0]) for name in ("VmRSS", "RssAnon"))
    files = sum(len(found) for folder in folders for _, _, found in os.walk(folder))
    turns = sum(path.stat().st_size // 2 for path in (home / "turns").glob("*"))
    return Sample(turns, rss, own, process.num_fds(), process.num_threads(), files)


def soak(pid: int, home: Path, folders: list[Path], seconds: float, happens: Callable[[int], None]) -> list[Sample]:
    """Let *happens* happen for so many seconds; the samples after the first quarter."""
    began, found = time.monotonic(), list[Sample]()
    due = began + seconds / 4
    print("   at s   turns  RSS kB  own kB  fds  threads  files")
    for number in itertools.count():
        now = time.monotonic()
        if now - began >= seconds:
            return found
        if now >= due:
            due += SAMPLE_S
            found.append(one := sample(pid, home, folders))
            print(
                f"  {now - began:5.0f} {one.turns:7} {one.rss:7.0f} {one.own:7.0f} {one.fds:4.0f} {one.threads:8.0f}"
                f" {one.files:6.0f}",
                flush=True,
            )
        happens(number)
        time.sleep(HAPPENS_S)
    raise AssertionError


def verdict(what: str, samples: list[Sample]) -> bool:
    """Tell what the samples' last third has more than their second; whether nothing has grown."""
    third = len(samples) // 3
    middle, last = samples[third : 2 * third], samples[2 * third :]
    turns = last[-1].turns - samples[0].turns
    print(f"{what}: {last[-1].turns} turns, {turns} of them measured")
    is_well = True
    for name, slack in SLACK.items():
        before, after = ([getattr(one, name) for one in part] for part in (middle, last))
        grown = statistics.median(after) - statistics.median(before)
        has_grown = grown > max(slack, statistics.pstdev(before))
        is_well = is_well and not has_grown
        told = f"{statistics.median(before):.0f} then {statistics.median(after):.0f}"
        print(f"  {name:8} {told}: {'has grown' if has_grown else 'no growth'}")
    return is_well


# tmux ---------------------------------------------------------------------------------------------------------


class Sessions:
    """Panes of a real tmux, to which things happen."""

    def __init__(self, yard: Yard) -> None:
        self.yard = yard
        self.home = yard.folder / "home"
        self.count = itertools.count()
        self.chance = random.Random(SEED)
        self.stopped: dict[int, int] = {}
        self.client: tuple[int, int, int] | None = None

    def open(self) -> None:
        """One more pane: a window of the session of its kind, or that session."""
        number = next(self.count)
        words = command(str(self.home), number)
        name = f"s{number % 3}"
        if not self.yard.tmux("new-window", "-d", "-P", "-t", f"{name}:", *words):
            self.yard.tmux("new-session", "-d", "-s", name, "-x", "100", "-y", "30", *words)

    def pids(self) -> list[int]:
        return [int(pid) for pid in self.yard.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()]

    def happens(self, tick: int) -> None:
        """One thing, and as many panes as there were."""
        for pid, since in list(self.stopped.items()):
            if tick - since >= 4:
                del self.stopped[pid]
                _signal(pid, signal.SIGCONT)
        pids = self.pids()
        if pids:
            pid = self.chance.choice(pids)
            match tick % 8:
                case 1:
                    _signal(pid, signal.SIGKILL)
                case 3:
                    _signal(pid, signal.SIGTERM)
                case 5:
                    _signal(pid, signal.SIGSTOP)
                    self.stopped[pid] = tick
                case 7:
                    panes = self.yard.panes()
                    self.yard.tmux("kill-pane", "-t", self.chance.choice(panes))
        match tick % 60:
            case 20:
                self.yard.tmux("kill-session", "-t", f"s{tick // 60 % 3}")
            case 30:
                self._attach()
            case 36:
                self._leave()
            case 50:
                self.yard.tmux("kill-server")
        for _ in range(AGENTS - len(self.pids())):
            self.open()

    def _attach(self) -> None:
        """A person attaches in a terminal."""
        pid, fd = pty.fork()
        if pid == 0:
            with contextlib.suppress(OSError):
                os.execvpe("tmux", ["tmux", "-L", "bench", "attach-session"], self.yard.env)
            os._exit(1)
        reader = subprocess.Popen(["cat"], stdin=fd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = pid, fd, reader.pid
        self._reader = reader

    def _leave(self) -> None:
        if self.client is not None:
            pid, fd, _ = self.client
            self.client = None
            _signal(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(fd)
            self._reader.kill()
            self._reader.wait()

    def close(self) -> None:
        self._leave()
        for pid in self.stopped:
            _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


@contextlib.contextmanager
def _yard() -> Iterator[Yard]:
    folder = Path(tempfile.mkdtemp(prefix="tallylight-soak-", dir="/tmp"))
    yard = Yard(folder, AGENTS, 0)
    try:
        yield yard
    finally:
        yard.empty()
        shutil.rmtree(folder, ignore_errors=True)


def in_tmux(seconds: float) -> bool:
    """Whether the sessions host does not grow."""
    with _yard() as yard:
        sessions = Sessions(yard)
        put_agents(sessions.home)
        for _ in range(AGENTS):
            sessions.open()
        folders = [yard.folder / "runtime", sessions.home / ".local", sessions.home / ".cache"]
        try:
            with host(yard) as pid:
                return verdict("sessions host, tmux", soak(pid, sessions.home, folders, seconds, sessions.happens))
        finally:
            sessions.close()


# kitty --------------------------------------------------------------------------------------------------------

_OPEN = 'return boss.call_remote_control(None, ("launch", "--type={kind}", *{words!r}))'
_PIDS = "return [window.child.pid for window in boss.all_windows]"
_CLOSE = "boss.call_remote_control(None, ('close-window', '--match', 'pid:{pid}'))"


class Tabs:
    """Windows of a real kitty, to which things happen. The first is a shell, and stays."""

    def __init__(self, kitty: Kitty) -> None:
        self.kitty = kitty
        self.count = itertools.count()
        self.chance = random.Random(SEED)
        self.stopped: dict[int, int] = {}
        self.own = set(self.pids())

    def pids(self) -> list[int]:
        """The processes of the windows, as kitty knows them."""
        found: list[int] = self.kitty.eval(_PIDS)
        return found

    def open(self) -> None:
        number = next(self.count)
        kind = "window" if number % 4 else "tab"
        self.kitty.eval(_OPEN.format(kind=kind, words=command(str(self.kitty.home), number)))

    def signal(self, pid: int, name: str) -> None:
        self.kitty.eval(f"import os, signal\ntry:\n    os.kill({pid}, signal.{name})\nexcept OSError:\n    pass")

    def happens(self, tick: int) -> None:
        """One thing, and as many windows as there were."""
        for pid, since in list(self.stopped.items()):
            if tick - since >= 4:
                del self.stopped[pid]
                self.signal(pid, "SIGCONT")
        pids = [pid for pid in self.pids() if pid not in self.own]
        if pids:
            pid = self.chance.choice(pids)
            match tick % 8:
                case 1:
                    self.signal(pid, "SIGKILL")
                case 3:
                    self.signal(pid, "SIGTERM")
                case 5:
                    self.signal(pid, "SIGSTOP")
                    self.stopped[pid] = tick
                case 7:
                    self.kitty.eval(_CLOSE.format(pid=pid))
        for _ in range(AGENTS - len([pid for pid in self.pids() if pid not in self.own])):
            self.open()


def in_kitty(version: str, seconds: float, *, is_installed: bool = True) -> bool:
    """Whether a real kitty does not grow with us in it; not *is_installed*: without us."""
    kitty = Kitty(version, size=(1200, 800))
    watcher = watcher_line(install(kitty.home, version)) if is_installed else ""
    kitty.kitty_conf.write_text(f"tab_bar_style powerline\nscrollback_lines 100\nenabled_layouts grid\n{watcher}")
    put_agents(kitty.home)
    with kitty:
        tabs = Tabs(kitty)
        pid = next(p.pid for p in psutil.process_iter(["name", "environ"]) if is_of(p, kitty))
        folders = [kitty.runtime_dir, kitty.home / ".local/state", kitty.home / ".cache/tallylight"]
        what = f"kitty {version}{'' if is_installed else ' without us'}"
        return verdict(what, soak(pid, kitty.home, folders, seconds, tabs.happens))


def is_of(process: psutil.Process, kitty: Kitty) -> bool:
    """Whether it is the program kitty of that home, which holds its socket."""
    return process.info["name"] == "kitty" and (process.info["environ"] or {}).get("HOME") == str(kitty.home)


def main() -> int:
    """Soak what was named; 1 if anything has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="tmux|kitty|bare", default=["tmux", "kitty"])
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--version", default="0.48")
    arguments = parser.parse_args()
    seconds = 60 * arguments.minutes
    results = []
    for what in arguments.what:
        if what == "tmux":
            results.append(in_tmux(seconds))
        else:
            results.append(in_kitty(arguments.version, seconds, is_installed=what != "bare"))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
