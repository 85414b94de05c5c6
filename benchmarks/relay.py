"""
The cost of `tally run`: throughput, the delay of a keystroke's echo, memory, and wake-ups while nothing happens.

    python -m benchmarks.relay [--megabytes N] [--rounds N] [--keys N] [--idle SECONDS]

Everything is measured against the bare pseudoterminal, and against `script`, tmux and GNU Screen where they are
installed. All take turns in one run, so that whatever else the machine does falls on all of them alike. The keys go
beside it through the least that a relay in Python can be, which passes bytes on and does nothing else. tmux and Screen
draw what fits the screen and drop the rest: their rate is that of the program, not of the bytes drawn.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path

from benchmarks.aims import Aim

SHARED = Path(__file__).resolve().parent.parent / "shared"
RATES = {
    name: Aim(f"`tally run`: {name}", "`script`", least=1.0) for name in ("plain log", "coloured log", "agent redraw")
}
ECHO = Aim("`tally run`: p99 of a key's echo", "`script`", most=1.0)
MEMORY = Aim("`tally run`: memory, proportional", "the clock", most=10.0, unit="MB")
WAKE_UPS = Aim("`tally run`: wake-ups in 5 idle seconds", "the clock", most=0.0, unit="times")
AIMS = (*RATES.values(), ECHO, MEMORY, WAKE_UPS)
QUICK = ("--megabytes", "60", "--rounds", "3", "--keys", "1000", "--only", "tally run,script")
_ON_TERMINAL = (
    "import os,sys,fcntl,termios;os.setsid();fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execvp(sys.argv[1],sys.argv[1:])"
)
#: The program of the echo test: it answers every byte at once, as an editor does.
_ECHO = "import os,tty\ntty.setraw(0)\nos.write(1,b'ready')\nwhile (b:=os.read(0,1))!=b'q': os.write(1,b)"
#: The least a relay in Python can be: a terminal for the program behind it, and every byte passed on.
_LEAST = """import fcntl,os,select,sys,termios,tty
inner,slave=os.openpty()
if not os.fork():
    os.setsid();fcntl.ioctl(slave,termios.TIOCSCTTY,0)
    for fd in 0,1,2: os.dup2(slave,fd)
    os.execvp(sys.argv[1],sys.argv[1:])
os.close(slave)
poll=select.poll();poll.register(0,select.POLLIN);poll.register(inner,select.POLLIN)
try:
    while True:
        for fd,_ in poll.poll():
            if fd: os.write(1,os.read(inner,8192))
            else: os.write(inner,os.read(0,8192))
except OSError: pass"""
_MEGABYTE = 1 << 20


def corpora() -> dict[str, bytes]:
    """A megabyte of what programs print, by name."""
    plain = b"".join(
        b"%7d  a line of a long build log, src/module_%d/file.c: compiled\n" % (n, n % 97) for n in range(9999)
    )
    colour = b"".join(
        b"\x1b[32m%7d\x1b[0m \x1b[1;34msrc/module_%d\x1b[0m: \x1b[38;5;%dmcompiled\x1b[0m in \x1b[3m%d ms\x1b[0m\n"
        % (n, n % 97, n % 256, n % 1000)
        for n in range(9999)
    )
    redraw = b"".join(
        b"\x1b[%d;1H\x1b[2K\x1b[38;2;%d;120;90m\xe2\x94\x82\x1b[39m %s * Thinking\xe2\x80\xa6 \x1b[2m(%ds)\x1b[22m"
        % (n % 24 + 1, n % 256, b"word " * (n % 9), n)
        for n in range(9999)
    )
    return {name: (data * (_MEGABYTE // len(data) + 1))[:_MEGABYTE] for name, data in
            (("plain log", plain), ("coloured log", colour), ("agent redraw", redraw))}  # fmt: skip


class Terminal:
    """A pseudoterminal and one command on it."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        tty.setraw(slave)
        self.process = subprocess.Popen(
            [sys.executable, "-IS", "-c", _ON_TERMINAL, *command],
            stdin=slave, stdout=slave, stderr=slave, env=environment,
        )  # fmt: skip
        os.close(slave)

    def read(self, timeout: float = 60) -> bytes:
        """Return the bytes that come next; none at the end."""
        if not select.select([self.master], [], [], timeout)[0]:
            raise TimeoutError
        try:
            return os.read(self.master, 65536)
        except OSError:
            return b""

    def wait_for(self, text: bytes) -> None:
        """Read until *text* has come."""
        received = b""
        while text not in received:
            data = self.read()
            if not data:
                raise RuntimeError(f"ended with {received[-300:]!r}")
            received = received[-4096:] + data

    def close(self) -> None:
        """End it."""
        os.close(self.master)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def contenders(folder: Path) -> dict[str, list[str]]:
    """Return the words in front of a command, by name; `{}` in them is the whole command."""
    launcher = folder / "tally"
    paths = [str(SHARED), *(path for path in sys.path if path.endswith("site-packages"))]
    launcher.write_text(f"import sys\nsys.path[:0]={paths!r}\nfrom tallylight.cli.main import run\nrun()\n")
    found = {"bare": [], "tally run": [sys.executable, "-IS", str(launcher), "run", "--"]}
    if shutil.which("script"):
        found["script"] = ["script", "-qefc", "{}", "/dev/null"]
    if shutil.which("tmux"):
        found["tmux"] = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null", "new-session", "{}"]
    if shutil.which("screen"):
        found["screen"] = ["screen", "-c", "/dev/null", "sh", "-c", "{}"]
    return found


def wrapped(words: list[str], command: list[str]) -> list[str]:
    """*command* behind *words*, as one shell command where they say `{}`."""
    if "{}" in words:
        return [shlex.join(command) if word == "{}" else word for word in words]
    return [*words, *command]


def throughput(command: list[str], environment: dict[str, str]) -> float:
    """Seconds from the first byte to the end of *command*."""
    terminal = Terminal(command, environment)
    terminal.read()
    started = time.perf_counter()
    while terminal.read():
        pass
    elapsed = time.perf_counter() - started
    terminal.close()
    return elapsed


def echoes(commands: dict[str, list[str]], environment: dict[str, str], keys: int) -> dict[str, list[float]]:
    """
    How long each of *keys* keystrokes takes to come back from each of *commands*, in milliseconds, sorted.

    All run side by side and get the same key in turns, the first of them another one each time: what the machine does
    meanwhile falls on all. Two programs one after the other differed by a factor of three, whichever they were.
    """
    terminals = {name: Terminal(command, environment) for name, command in commands.items()}
    for terminal in terminals.values():
        terminal.wait_for(b"ready")
    time.sleep(0.5)
    names = list(terminals)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(keys + 50):
        key = b"%c" % (97 + number % 16)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            terminal = terminals[name]
            started = time.perf_counter()
            os.write(terminal.master, key)
            while key not in terminal.read():
                pass
            times[name].append((time.perf_counter() - started) * 1e3)
            time.sleep(0.002)
    for terminal in terminals.values():
        os.write(terminal.master, b"q")
        terminal.close()
    return {name: sorted(each[50:]) for name, each in times.items()}


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Run what is started here as soon as it is woken, before the machine's other work, where that is allowed."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def idle(command: list[str], environment: dict[str, str], seconds: float) -> list[tuple[str, int, int, int, float]]:
    """Of each of our processes, while its program sleeps: name, KiB resident, KiB its own, wake-ups, CPU ms."""
    terminal = Terminal(command, environment)
    terminal.wait_for(b"ready")
    time.sleep(1.5)
    found = []
    pids = [terminal.process.pid, *children(terminal.process.pid)]
    before = {pid: (switches(pid), cpu(pid)) for pid in pids}
    time.sleep(seconds)
    for name, pid in zip(("relay", "monitor"), pids, strict=False):
        rollup = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
        rss, pss = (int(rollup[key].split()[0]) for key in ("Rss", "Pss"))
        found.append((name, rss, pss, switches(pid) - before[pid][0], cpu(pid) - before[pid][1]))
    terminal.close()
    return found


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def switches(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keys", type=int, default=1500)
    parser.add_argument("--idle", type=float, default=5)
    parser.add_argument("--only", default="", help="contenders, separated by commas")
    options = parser.parse_args()
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment |= {"SCREENDIR": str(folder / "screen")}
        (folder / "screen").mkdir(mode=0o700)
        words = contenders(folder)
        if options.only:
            words = {name: value for name, value in words.items() if name in ("bare", *options.only.split(","))}
        for corpus, data in corpora().items():
            (folder / "data").write_bytes(data)
            command = ["sh", "-c", f"exec cat {' '.join(['data'] * options.megabytes)}"]
            command = ["sh", "-c", f"cd {folder}; {command[2]}"]
            rates: dict[str, list[float]] = {name: [] for name in words}
            for _ in range(options.rounds):
                for contender, before in words.items():
                    seconds = throughput(wrapped(before, command), environment)
                    rates[contender].append(options.megabytes * 1.048576 / seconds)
            best = {contender: max(found) for contender, found in rates.items()}
            print(f"{corpus}, {options.megabytes} MiB, best of {options.rounds}:")
            for contender, rate in best.items():
                print(f"  {contender:10}{rate:8.1f} MB/s {rate / best['bare']:6.2f} x bare")
            if "script" in best:
                RATES[corpus].say(best["tally run"] / best["script"])
        print(f"echo of {options.keys} keys, by turns, ms, median of {options.rounds}:")
        python = str(Path(sys.executable).resolve())
        echoing = {contender: wrapped(before, [python, "-ISc", _ECHO]) for contender, before in words.items()}
        # The least that a relay in Python can take: it passes bytes on, and that is all.
        echoing["least"] = [python, "-ISc", _LEAST, python, "-ISc", _ECHO]
        with at_once():
            rounds = [echoes(echoing, environment, options.keys) for _ in range(options.rounds)]
        fastest: dict[str, float] = {}
        slowest: dict[str, float] = {}
        for contender in echoing:
            found = [(each[contender][options.keys // 2], each[contender][options.keys * 99 // 100]) for each in rounds]
            p50, p99 = (statistics.median(column) for column in zip(*found, strict=True))
            fastest[contender], slowest[contender] = p50, p99
            more = p50 - fastest["bare"], p99 - slowest["bare"]
            print(f"  {contender:10} p50 {p50:7.3f} ({more[0]:+.3f})  p99 {p99:7.3f} ({more[1]:+.3f})")
        if "script" in slowest:
            ECHO.say(slowest["tally run"] / slowest["script"])
        print(f"idle for {options.idle:g} s:")
        sleeping = ["sh", "-c", "echo ready; exec sleep 1000"]
        idling = idle(wrapped(words["tally run"], sleeping), environment, options.idle)
        for process, rss, pss, wakeups, milliseconds in idling:
            print(f"  {process:10} {rss} KiB resident, {pss} proportional, {wakeups} wake-ups, {milliseconds:g} ms CPU")
        empty = [python, "-ISc", "import time; print('ready', flush=True); time.sleep(1000)"]
        ((_, rss, pss, *_),) = idle(empty, environment, 0)
        print(f"  {'empty':10} {rss} KiB resident, {pss} proportional: a Python program that only sleeps")
        MEMORY.say(sum(pss for _, _, pss, _, _ in idling) * 1024 / 1e6)
        WAKE_UPS.say(sum(wakeups for _, _, _, wakeups, _ in idling))
    return 0


if __name__ == "__main__":
    sys.exit(main())
