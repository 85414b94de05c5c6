"""A host beside terminals whose agents' files lie on disks that hang: it costs what lies there, and nothing else."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.hosts.polling.host import SourcePane
from tallylight.model.status import Status
from tallylight.pane.file_request import FileRequest
from tests.files.test_mounts import mounted
from tests.hanging import hanging_mount
from tests.hosts.detached.polling import HandSource, System
from tests.hosts.test_pane import CLAUDE, HandTable, status_file

pytestmark = pytest.mark.slow

#: How long, in seconds of the host, a change in a file that can be read may take to be shown.
SOON_S = 3.0


class Homes:
    """Agents, each with a directory of its own, in the panes of one host."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top, self.source = top, HandSource()
        self.system = System(top, self.source)
        self.homes: dict[int, str] = {}
        self.reported: list[str] = []
        monkeypatch.setattr(self.system.poller, "_report", self.reported.append)
        monkeypatch.setattr(HandTable, "environ", lambda _, pid: {"HOME": self.homes.get(pid, str(top))})

    def claude(self, id_: str, home: Path) -> int:
        """A pane with a Claude whose directory is below *home*; its process."""
        pid = 200 + len(self.homes)
        self.system.table.processes[pid] = attrs.evolve(CLAUDE, pid=pid, pgrp=pid, start=pid)
        self.homes[pid] = str(home)
        self.source.source_panes = [*(self.source.source_panes or ()), SourcePane(id=id_, group=pid)]  # type: ignore[misc]
        return pid

    def says(self, pid: int, **status: object) -> None:
        status_file(self.homes[pid], pid, procStart=str(pid), **status)

    def pass_(self, seconds: float) -> None:
        """Let *seconds* of the host pass; its threads get as much as they need, where they do not hang."""
        end = self.system.now + seconds
        while self.system.now < end:
            self.system.poller.step(self.system.now)
            time.sleep(0.005)
            self.system.now += 0.25


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Homes]:
    made = Homes(tmp_path, monkeypatch)
    yield made
    made.system.poller.close()


@contextlib.contextmanager
def fake_disks(monkeypatch: pytest.MonkeyPatch, table: Path, folders: list[Path]) -> Iterator[None]:
    """Have every status file in *folders* hang, which are mounts by the kernel's table."""
    responds, read = threading.Event(), FileRequest.read

    def hangs(request: FileRequest) -> tuple[bytes | None, bytes] | None:
        if any(folder in request.status_file.parents for folder in folders):
            responds.wait(120)
        return read(request)

    mounted(monkeypatch, table, *folders)
    with monkeypatch.context() as patch:
        patch.setattr(FileRequest, "read", hangs)
        yield
        responds.set()


def shows_what_can_be_read(homes: Homes, dead: list[Path]) -> None:
    """One agent that can be read shows what it does, all the time; those on *dead* are told to hang."""
    healthy = homes.claude("healthy", homes.top / "home")
    homes.says(healthy, status="idle")
    for number, folder in enumerate(dead):
        homes.claude(f"dead{number}", folder)
    homes.pass_(SOON_S)
    for _ in range(4):
        for said, shown in (({"status": "busy"}, Status.WORKING), ({"status": "waiting"}, Status.WAITING)):
            homes.says(healthy, **said)
            homes.pass_(SOON_S)
            assert homes.system.entry("healthy").status is shown
    assert homes.system.entry("healthy").evidence.hangs == ""
    assert [homes.system.entry(f"dead{number}").evidence.hangs for number in range(len(dead))] == [
        str(path) for path in dead
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_disks_that_hang(homes: Homes, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The panes whose files hang are named, and read as soon as they respond; the others never notice."""
    dead = [homes.top / f"dead{number}" for number in range(count)]
    with fake_disks(monkeypatch, homes.top / "table", dead):
        shows_what_can_be_read(homes, dead)
        words = "agents' files: {} does not respond; they are read when it does"
        assert sorted(homes.reported) == [words.format(folder) for folder in dead]
    for pid, home in homes.homes.items():
        if "dead" in home:
            homes.says(pid, status="busy")
    homes.pass_(SOON_S)
    assert {homes.system.entry(f"dead{number}").status for number in range(count)} == {Status.WORKING}
    assert {homes.system.entry(f"dead{number}").evidence.hangs for number in range(count)} == {""}
    assert len(homes.reported) == count


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are told by /proc")
def test_a_real_mount_that_hangs(homes: Homes) -> None:
    """As before, with a file system whose server is stopped."""
    dead = homes.top / "far"
    dead.mkdir()
    with hanging_mount(dead):
        shows_what_can_be_read(homes, [dead])
