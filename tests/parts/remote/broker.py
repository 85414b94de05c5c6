"""A real mosquitto on loopback, and machines that publish to it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from tallylight.config.fleet import Fleet
from tallylight.parts.remote.subscriber import Subscriber
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tests.patience import until

MOSQUITTO = "/usr/sbin/mosquitto"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@attrs.define
class Broker:
    """One mosquitto; *lines* are added to its configuration. It keeps nothing over a restart."""

    folder: Path
    lines: tuple[str, ...] = ("allow_anonymous true",)
    port: int = attrs.field(factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> Broker:
        file = self.folder / "mosquitto.conf"
        file.write_text("\n".join((f"listener {self.port} 127.0.0.1", *self.lines, "user root", "")))
        log = (self.folder / "mosquitto.log").open("ab")
        self.process = subprocess.Popen([MOSQUITTO, "-c", str(file)], stdout=log, stderr=log)
        until(self.answers, f"mosquitto does not answer: {(self.folder / 'mosquitto.log').read_text()}")
        return self

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def fleet(self, **changes: object) -> Fleet:
        return attrs.evolve(Fleet(broker="127.0.0.1", port=self.port, tls=False), **changes)


@attrs.define
class Machine:
    """A machine of a fleet: snapshots in a directory of its own, and `tally publish`."""

    name: str
    folder: Path
    fleet: Fleet
    environ: Mapping[str, str] = attrs.field(factory=dict)
    process: subprocess.Popen[str] | None = None
    _writer: SnapshotWriter | None = None

    def start(self) -> Machine:
        runtime, config = self.folder / "run", self.folder / "config" / "tallylight"
        (runtime / "tallylight").mkdir(parents=True, mode=0o700)
        config.mkdir(parents=True)
        keys = attrs.asdict(attrs.evolve(self.fleet, machine=self.name))
        config.joinpath("config.toml").write_text(
            "[fleet]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in keys.items() if value != "")
        )
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "PYTHONPATH": str(Path("shared").resolve()),
        }
        path = runtime / "tallylight" / f"kitty-{os.getpid()}.json"
        self._writer = SnapshotWriter(path, "kitty", time.time, min_interval=0.0)
        self.process = subprocess.Popen(
            self.command("publish"), env=dict(self.environ), stderr=subprocess.PIPE, text=True, cwd=self.folder
        )
        return self

    @staticmethod
    def command(*words: str) -> list[str]:
        return [sys.executable, "-c", "from tallylight.cli.main import run; run()", *words]

    def shows(self, *panes: Pane) -> None:
        assert self._writer is not None
        self._writer.publish(panes, time.monotonic())

    def tally(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=dict(self.environ), capture_output=True, text=True, cwd=self.folder, timeout=30
        )

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.communicate()
            self.process = None


def toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def seen_by(subscriber: Subscriber) -> dict[tuple[str, str], Pane]:
    return {(machine, pane.id): pane for machine, _, pane in subscriber.mirror.panes()}


def follow(subscriber: Subscriber, condition: Callable[[], bool], problem: str, seconds: float = 20.0) -> float:
    """Step *subscriber* until *condition*; the seconds it took."""
    begin = time.monotonic()
    while not condition():
        subscriber.step(time.monotonic(), 0.05)
        assert time.monotonic() - begin < seconds, f"{problem}; link: {subscriber.link.state}"
    return time.monotonic() - begin


class Authority:
    """A certificate authority in *folder*."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.crt", folder=folder)  # fmt: skip

    def sign(self, name: str, *, is_over: bool = False, more: str = "") -> str:
        """A certificate for *name*, and its key; the path of both without `.crt` and `.key`."""
        file = f"{self.name}-{name}-{is_over}"
        if (self.folder / f"{file}.crt").exists():
            return str(self.folder / file)
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{file}.key",
                "-out", f"{file}.csr", folder=self.folder)  # fmt: skip
        self.folder.joinpath("ext").write_text(more)
        openssl("x509", "-req", "-in", f"{file}.csr", "-CA", f"{self.name}.crt", "-CAkey", f"{self.name}.key",
                "-CAcreateserial", "-days", "-1" if is_over else "2", "-extfile", "ext", "-out", f"{file}.crt",
                folder=self.folder)  # fmt: skip
        return str(self.folder / file)


def tls_lines(authority: Authority, *, is_over: bool = False) -> tuple[str, ...]:
    """What a broker with a certificate of *authority* has in its configuration."""
    server = authority.sign("127.0.0.1", is_over=is_over, more="subjectAltName=IP:127.0.0.1")
    return (f"cafile {authority.folder}/ca.crt", f"certfile {server}.crt", f"keyfile {server}.key")


def openssl(*words: str, folder: Path) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
