"""The agents' own files: what is read reaches its pane, and nobody is asked twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.hosts.own_files import FileReader
from tallylight.hosts.worker import Worker
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.file_request import FileRequest, Request
from tallylight.pane.pane import Pane
from tests.hosts.test_pane import CLAUDE, HandTable, status_file


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    """A pane with Claude in it, which is busy by its status file."""
    status_file(str(tmp_path), status="busy")
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, time.monotonic() - 10)
    return pane


@attrs.define
class Desk:
    """A reader that tells *pane* what was read, with a worker that is lent time by hand."""

    pane: Pane
    worker: Worker = attrs.Factory(Worker)
    reader: FileReader[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reader = FileReader(self.worker.submit, self._told, print, time.monotonic)

    def _told(self, found: Sequence[tuple[int, Request, object]]) -> None:
        for _, request, what in found:
            self.pane.answered(request, what, time.monotonic())

    def until_read(self) -> None:
        """Ask once, and let the worker run until it has read."""
        self.reader.ask({3: self.pane})
        end = time.monotonic() + 20
        while self.reader.is_reading:
            assert time.monotonic() < end
            self.worker.lend(0.05)


@pytest.fixture
def desk(pane: Pane) -> Desk:
    return Desk(pane)


def test_what_was_read_reaches_its_pane(desk: Desk) -> None:
    """The pane shows what its agent's status file says."""
    desk.until_read()
    assert desk.pane.decision.status is Status.WORKING


def test_a_pane_is_not_asked_while_its_files_are_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts how often its files were looked for in vain; what a slow disk has not told yet is no such look."""
    read, answers, asked, requests = FileRequest.read, threading.Event(), [0], desk.pane.requests
    monkeypatch.setattr(FileRequest, "read", lambda request: read(request) if answers.wait(20) else None)

    def counted() -> object:
        asked[0] += 1
        return requests()

    monkeypatch.setattr(desk.pane, "requests", counted)
    for _ in range(30):
        desk.reader.ask({3: desk.pane})
        desk.worker.lend()
    assert asked == [1]
    answers.set()
    desk.until_read()
    desk.until_read()
    assert asked[0] > 1


def test_what_is_not_new_is_not_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that says what it said is read, and nobody hears of it."""
    desk.until_read()
    told: list[object] = []
    monkeypatch.setattr(desk.pane, "answered", lambda *found: told.append(found))
    desk.until_read()
    assert told == []
