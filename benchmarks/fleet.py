"""
A fleet of 200 machines with 50 agents each, on a real mosquitto: how long, how late, and how much memory.

    python -m benchmarks.fleet [--machines 200] [--panes 50] [--seconds 30]

The machines are links in one process, each with an outbox of its own as in `tally publish`. The reader is that of
`tally agents --broker`, in a process of its own. Each machine changes a pane every five seconds. The reader measures
how late it sees that, by the time in the pane. Then the broker is killed and started again, empty.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs
import psutil
from benchmarks.aims import Aim

from tallylight.config.fleet import Fleet
from tallylight.model.status import Kind, Status
from tallylight.parts.remote.broker import Link
from tallylight.parts.remote.fleet import subscriber
from tallylight.parts.remote.outbox import Outbox
from tallylight.parts.remote.subscriber import Subscriber
from tallylight.parts.remote.topics import Presence, encode_presence, topic
from tallylight.snapshot.schema import AboutEntry, Pane, Snapshot

QUICK = ("--seconds", "10")
_BY_NAME = {
    "told": Aim("fleet: 200 machines tell of 50 agents each", "the clock", most=30.0, unit="s"),
    "first": Aim("fleet: a reader that comes later has all of it", "the clock", most=5.0, unit="s"),
    "median": Aim("fleet: from a change to the list, median", "the clock", most=0.25, unit="s"),
    "late": Aim("fleet: from a change to the list, 99 of 100", "the clock", most=0.5, unit="s"),
    "cpu": Aim("fleet: the reader, 40 changes a second", "a core", most=25.0, unit="%"),
    "memory": Aim("fleet: memory of the reader for 10,000 agents", "the clock", most=100.0, unit="MB"),
    "broker": Aim("fleet: memory of the broker", "the clock", most=100.0, unit="MB"),
    "again": Aim("fleet: all of it again after the broker was killed", "the clock", most=60.0, unit="s"),
}
AIMS = tuple(_BY_NAME.values())
#: Seconds between two changes of one machine.
EVERY_S = 5.0
#: Seconds for anything that is waited for.
PATIENCE_S = 180.0
_WORDS = "Rounding in the checkout is off by a cent where the discount applies twice. "


@attrs.define
class Machine:
    """One machine: its link, and what it has yet to tell."""

    link: Link
    outbox: Outbox
    panes: list[Pane]
    due: float
    #: The topics that the broker has stored.
    told: set[str]

    @classmethod
    def make(cls, fleet: Fleet, number: int, panes: int) -> Machine:
        name, life = f"machine-{number:03}", f"life-{number}"
        outbox = Outbox(fleet.prefix, name, Presence(online=True, at=1.0, life=life))
        told: set[str] = set()

        def acknowledged(place: str) -> None:
            told.add(place)
            outbox.acknowledged(place)

        will = topic(fleet.prefix, name, "machine"), encode_presence(Presence(online=False, at=0.0, life=life))
        link = Link(fleet, f"{fleet.prefix}/{name}/#", lambda *_: None, will=will, acknowledged=acknowledged)
        link.changed = lambda is_up: None if is_up else outbox.lost()
        shown = [_pane(str(n), 0.0) for n in range(panes)]
        made = cls(link, outbox, shown, time.monotonic() + EVERY_S * (number % 100) / 100, told)
        made.show()
        return made

    def show(self) -> None:
        self.outbox.show([Snapshot(host="kitty", pid=7, started=0.0, written=0.0, panes=tuple(self.panes))])

    def step(self, now: float) -> None:
        """Change a pane if that is due, send, and take what comes."""
        if now >= self.due:
            self.due += EVERY_S
            self.panes[0] = _pane("0", time.time())
            self.show()
        if self.link.is_up:
            for place, payload in self.outbox.take(now).items():
                self.link.send(place, payload)
        self.link.step(now, 0.0)


def _pane(name: str, at: float) -> Pane:
    status = Status.WAITING if int(name) % 5 == 0 else Status.WORKING
    return Pane(
        id=name, status=status, kind=Kind.PERMISSION if status is Status.WAITING else None, agent="claude",
        project="checkout", title="Fix the rounding", since=at, message=_WORDS, reply=_WORDS * 3, cwd="/w/checkout",
        question="Do you want to proceed?", what="Bash: pytest -q tests/checkout",
        about=AboutEntry(model="opus", context=41),
    )  # fmt: skip


def publish(fleet: Fleet, machines: int, panes: int) -> None:
    """Be all machines, until killed; print once when the broker has received everything."""
    made = [Machine.make(fleet, number, panes) for number in range(machines)]
    has_said = False
    while True:
        for machine in made:
            machine.step(time.monotonic())
        if not has_said and all(len(machine.told) == panes + 1 for machine in made):
            has_said = True
            print("told", flush=True)
        time.sleep(0.002)


def read(machines: int, panes: int, seconds: float) -> None:
    """Be the reader; print what was measured, a figure a line."""
    empty = _memory(os.getpid())
    begin = time.monotonic()
    feed = subscriber("status")
    _until(feed, lambda: feed.is_complete and _count(feed) == machines * panes)
    print(f"first {time.monotonic() - begin:.3f}")
    print(f"memory {_memory(os.getpid()) - empty:.1f}", flush=True)
    late: list[float] = []
    seen: dict[str, float] = {}
    end, cpu = time.monotonic() + seconds, time.process_time()
    while time.monotonic() < end:
        if feed.poll(time.monotonic()):
            now = time.time()
            for host in feed.snapshots:
                at = next(pane.since for pane in host.panes if pane.id == "0")
                if at > seen.get(host.name, 0.0):
                    if host.name in seen:
                        late.append(now - at)
                    seen[host.name] = at
        time.sleep(0.01)
    late.sort()
    print(f"changes {len(late)}")
    print(f"median {statistics.median(late):.4f}\nlate {late[len(late) * 99 // 100]:.4f}")
    print(f"cpu {100 * (time.process_time() - cpu) / seconds:.3f}", flush=True)
    _until(feed, lambda: not feed.is_complete)
    begin = time.monotonic()
    print("lost", flush=True)
    _until(feed, lambda: feed.is_complete and _count(feed) == machines * panes)
    print(f"again {time.monotonic() - begin:.3f}", flush=True)


def _count(feed: Subscriber) -> int:
    return sum(len(host.panes) for host in feed.snapshots)


def _until(feed: Subscriber, condition: object) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():  # type: ignore[operator]
        feed.poll(time.monotonic())
        time.sleep(0.01)
        if time.monotonic() > end:
            raise SystemExit(f"given up: {_count(feed)} panes of {len(feed.mirror.known)} machines; {feed.problem}")


def _memory(pid: int) -> float:
    """Of a process, in MB."""
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def main() -> None:
    """Start it all, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--panes", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long changes are measured")
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--role", choices=("publish", "read"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "publish":
        publish(Fleet(broker="127.0.0.1", port=options.port, tls=False), options.machines, options.panes)
    elif options.role == "read":
        read(options.machines, options.panes, options.seconds)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Run broker, machines and reader, and print each figure with its aim."""
    program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        raise SystemExit("mosquitto is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    (folder / "tallylight").mkdir()
    (folder / "tallylight/config.toml").write_text(f'[fleet]\nbroker = "127.0.0.1"\nport = {port}\ntls = false\n')
    command = [sys.executable, "-m", "benchmarks.fleet", "--port", str(port)]
    command += [f"--{name}={getattr(options, name)}" for name in ("machines", "panes", "seconds")]
    environ = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
    children: list[subprocess.Popen[str]] = []

    def start(*argv: str) -> subprocess.Popen[str]:
        children.append(
            subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        )
        return children[-1]

    try:
        broker = start(program, "-c", str(folder / "mosquitto.conf"))
        begin = time.monotonic()
        machines = start(*command, "--role", "publish")
        assert machines.stdout is not None
        if not machines.stdout.readline():
            raise SystemExit("the machines have ended at once")
        told = time.monotonic() - begin
        reader = start(*command, "--role", "read")
        assert reader.stdout is not None
        figures = {"told": told}
        for line in reader.stdout:
            name, _, value = line.strip().partition(" ")
            if name == "cpu":
                figures["broker"] = _memory(broker.pid)
                broker.kill()
                broker.wait()
                start(program, "-c", str(folder / "mosquitto.conf"))
            if value:
                figures[name] = float(value)
    finally:
        for child in children:
            child.kill()
            child.wait()
    print(f"{options.machines} machines of {options.panes} agents; {figures.get('changes', 0):.0f} changes measured")
    for name, aim in _BY_NAME.items():
        if name in figures:
            aim.say(figures[name])


if __name__ == "__main__":
    main()
