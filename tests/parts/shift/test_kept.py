"""Texts that wait for the end of a limit in tmux and elsewhere: one host types them, and the next tells of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.hosts.polling.queue import DeferredTexts
from tallylight.model.errors import TallyError
from tallylight.model.queued import Queued
from tallylight.parts.shift.kept import LEFT, QueuedRecorder
from tallylight.parts.shift.steps import of
from tests.tables import each

PID = os.getpid()
WAITS = Queued(pid=PID, start=700, text="continue", at=4_000_000_000)
TOLD = attrs.evolve(WAITS, problem=LEFT)


class Poller:
    """A host whose panes are these, by id, of agents with these processes; its loop does at once what is posted."""

    def __init__(self, **pids: int | None) -> None:
        self.at_end: list[Any] = []
        self.problems: dict[str, str] = {}
        self.panes = {id_: SimpleNamespace(queued=None, agent_pid=pid) for id_, pid in pids.items()}
        for pane in self.panes.values():
            pane.queue = lambda queued, pane=pane: setattr(pane, "queued", queued)

    def post(self, call: Callable[[], None]) -> None:
        call()

    def pane(self, id_: str) -> Any:
        return self.panes.get(id_)

    peek = entry = pane

    @property
    def queued(self) -> list[Any]:
        return [pane.queued for pane in self.panes.values()]


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    table = SimpleNamespace(start=lambda pid: 700 if pid in (PID, PID + 1) else None)
    monkeypatch.setattr("tallylight.evidence.process_table.table", lambda: table)
    return {"XDG_RUNTIME_DIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def folder(environ: dict[str, str]) -> Path:
    return Path(environ["XDG_STATE_HOME"]) / "tallylight/shifts"


def begun(environ: dict[str, str], poller: Poller) -> DeferredTexts:
    """A host that has started and seen its panes once."""
    made = DeferredTexts(poller, "sessions", PaneAccess(environ), environ)  # type: ignore[arg-type]
    made._show_left()
    made._keep()
    return made


def test_a_host_that_is_started_again_tells(environ: dict[str, str], folder: Path) -> None:
    """In the pane where the process still runs, whatever that is called now, once; what is over goes."""
    first = Poller(a=PID, b=PID + 1, c=PID + 2)
    host = begun(environ, first)
    host._set("a", WAITS)
    host._set("b", attrs.evolve(WAITS, pid=PID + 1, at=0))
    host._set("c", attrs.evolve(WAITS, pid=PID + 2))
    host._keep()

    late, second = Poller(), Poller(x=None, y=PID + 1, z=PID)
    begun(environ, late)
    assert [path.name for path in folder.iterdir()] == [f"{PID}-700.json"]
    begun(environ, second)
    assert second.queued == [None, None, TOLD]
    assert list(folder.iterdir()) == []


def test_a_text_that_nobody_queued_is_never_typed(environ: dict[str, str], folder: Path) -> None:
    """Any program can write such a file; a person sees it, and no host has it wait. What they queue stays."""
    folder.mkdir(parents=True, mode=0o700)
    for pid in (PID, PID + 1):
        (folder / f"{pid}-700.json").write_text(json.dumps({"text": "rm -rf ~", "at": 1, "count": 1, "typed_at": 0}))
    host = DeferredTexts(poller := Poller(a=PID, b=PID + 1), "sessions", PaneAccess(environ), environ)  # type: ignore[arg-type]
    host._set("b", attrs.evolve(WAITS, pid=PID + 1))
    host._keep()
    host._show_left()
    assert poller.queued == [attrs.evolve(TOLD, text="rm -rf ~", at=1), attrs.evolve(WAITS, pid=PID + 1)]
    assert host._waiting == {"b"}
    assert [path.name for path in folder.iterdir()] == [f"{PID + 1}-700.json"]


def test_what_was_typed_is_not_told(environ: dict[str, str], folder: Path) -> None:
    """It is not among what was not sent."""
    host = begun(environ, Poller(a=PID))
    host._set("a", WAITS)
    host._keep()
    host._set("a", attrs.evolve(of(WAITS), typed_at=4_000_000_001))
    host._keep()
    assert list(folder.iterdir()) == []


def test_a_host_whose_loop_has_ended(environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It forgets nothing of what it has kept, for the next one tells of that."""
    host = begun(environ, poller := Poller(a=PID))
    host._set("a", WAITS)
    host._keep()
    monkeypatch.setattr("tallylight.hosts.polling.queue.LOOP_S", 0.0)
    monkeypatch.setattr(poller, "post", lambda _: None)
    for step in (lambda: host.look(0.0), host._keep):
        with pytest.raises(TallyError):
            step()
    assert len(list(folder.iterdir())) == 1
    begun(environ, second := Poller(a=PID))
    assert second.queued == [TOLD]


def test_two_hosts(environ: dict[str, str]) -> None:
    """Each keeps its own, and tells of nothing that waits in a pane of the other's."""
    one, other = Poller(a=PID), Poller(a=PID + 1)
    first, second = begun(environ, one), begun(environ, other)
    first._set("a", WAITS)
    first._keep()
    second._set("a", attrs.evolve(WAITS, pid=PID + 1, text="go on"))
    second._keep()
    third = begun(environ, again := Poller(a=PID + 1, b=PID))
    third._keep()
    first._keep()
    assert [queued.text for queued in again.queued] == ["go on", "continue"]


GOOD = {"text": "x", "at": 1}


@each(
    "fields",
    ["", "{}", [], None, *({**GOOD, name: odd} for name in GOOD for odd in (None, -1, "", [], 2**60, 1.5))],
)
def test_a_file_that_is_none(fields: object, environ: dict[str, str], folder: Path) -> None:
    """It costs itself, and is removed; a file that is not ours stays."""
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    file, other = folder / f"{PID}-700.json", folder / "notes"
    file.write_text(fields if isinstance(fields, str) else json.dumps(fields))
    other.touch()
    assert QueuedRecorder(environ).left(lambda _: 700) == []
    assert (file.exists(), other.exists()) == (False, True)
    file.write_text(json.dumps(GOOD))
    assert QueuedRecorder(environ).left(lambda _: 700) == [attrs.evolve(TOLD, text="x", at=1)]
    assert QueuedRecorder(environ).left(lambda _: None) == []
