"""The agents' files in kitty: what is read reaches its pane, and a fault in that costs nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.hosts.kitty.own_files import FileReader
from tallylight.hosts.worker import Worker
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.file_request import FileRequest
from tallylight.pane.pane import Pane
from tests.hosts.test_pane import CLAUDE, HandTable, status_file

Faults = list[tuple[str, Exception]]


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    """A pane with Claude in it, which is busy by its status file."""
    status_file(str(tmp_path), status="busy")
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, time.monotonic() - 10)
    return pane


@pytest.fixture
def faults() -> Faults:
    return []


@pytest.fixture
def reader(pane: Pane, faults: Faults) -> FileReader:
    def guarded(feature: str, call: Callable[..., None]) -> Callable[..., None]:
        def told(*args: Any) -> None:
            try:
                call(*args)
            except Exception as error:
                faults.append((feature, error))

        return told

    return FileReader({3: pane}, Worker(), guarded)


def until_read(reader: FileReader, panes: dict[int, Pane]) -> None:
    """Ask for *panes* once, and let the worker run until it has read."""
    reader.ask(panes)
    end = time.monotonic() + 20
    while reader.is_reading:
        assert time.monotonic() < end
        reader.worker.lend(0.05)


def test_what_was_read_reaches_its_pane(reader: FileReader, pane: Pane, faults: Faults) -> None:
    """The pane shows what its agent's status file says; a pane that has gone meanwhile is no fault."""
    until_read(reader, {3: pane, 4: pane})

    assert pane.decision.status is Status.WORKING and faults == []


def test_a_pane_is_not_asked_while_its_files_are_read(
    reader: FileReader, pane: Pane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts how often its files were looked for in vain; what a slow disk has not told yet is no such look."""
    read, answers, asked, requests = FileRequest.read, threading.Event(), [0], pane.requests
    monkeypatch.setattr(FileRequest, "read", lambda request: read(request) if answers.wait(20) else None)

    def counted(tick: int = 0) -> object:
        asked[0] += 1
        return requests(tick)

    monkeypatch.setattr(pane, "requests", counted)
    for _ in range(30):
        reader.ask({3: pane})
    assert asked == [1]
    answers.set()
    until_read(reader, {3: pane})
    until_read(reader, {3: pane})
    assert asked[0] > 1


def test_a_fault_costs_the_feature(reader: FileReader, pane: Pane, faults: Faults) -> None:
    """What goes wrong in a pane is told with the feature's name, and the next reading can begin."""
    pane.files = lambda *_, **__: 1 // 0  # type: ignore[assignment, method-assign]
    until_read(reader, {3: pane})
    until_read(reader, {3: pane})

    assert [(feature, type(error)) for feature, error in faults] == [("agents' files", ZeroDivisionError)] * 2
