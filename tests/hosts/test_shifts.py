"""Texts that wait for the end of a limit in tmux and elsewhere: they outlive the host that types them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tallylight.hosts.detached.sessions import Multiplexers
from tallylight.hosts.polling import shifts
from tallylight.hosts.polling.queue import DeferredTexts
from tallylight.model.queued import Queued

PID = os.getpid()
SHIFT = Queued(pid=PID, start=700, text="continue", at=4_000_000_000)


class Poller:
    """A host whose panes are these, by id, and whose loop does at once what is posted."""

    def __init__(self, *ids: str) -> None:
        self.at_end: list[Any] = []
        self.problems: dict[str, str] = {}
        self.panes = {id_: SimpleNamespace(queued=None) for id_ in ids}
        for pane in self.panes.values():
            pane.queue = lambda queued, pane=pane: setattr(pane, "queued", queued)

    def post(self, call: Callable[[], None]) -> None:
        call()

    def pane(self, id_: str) -> Any:
        return self.panes.get(id_)

    peek = entry = pane


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    table = SimpleNamespace(start=lambda pid: 700 if pid == PID else None)
    monkeypatch.setattr("tallylight.evidence.process_table.table", lambda: table)
    return {"XDG_RUNTIME_DIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}


def begun(environ: dict[str, str], poller: Poller) -> DeferredTexts:
    """A host that has started and seen its panes once."""
    made = DeferredTexts(poller, "sessions", Multiplexers(environ), environ)  # type: ignore[arg-type]
    made._go_on()
    made._keep()
    return made


def test_a_host_that_is_started_again_goes_on(environ: dict[str, str]) -> None:
    """In the pane where the process still runs; what is over, or is for one that has ended, goes."""
    first = Poller("%1", "%2", "%3")
    host = begun(environ, first)
    host._set("%1", SHIFT)
    host._set("%2", Queued(pid=PID, start=700, text="at the end of a turn"))
    host._set("%3", Queued(pid=PID + 1, start=700, text="continue", at=SHIFT.at))
    host._keep()

    late, second = Poller(), Poller("%1", "%2", "%3")
    begun(environ, late)
    begun(environ, second)
    assert [pane.queued for pane in second.panes.values()] == [SHIFT, None, None]

    host = begun(environ, third := Poller("%1"))
    host._set("%1", None)
    host._keep()
    assert third.panes["%1"].queued is None and not shifts.path("sessions", environ).exists()


@pytest.mark.parametrize("data", ["", "{}", "[1, {}]", '[{"pane": "%1", "pid": 1, "start": 1, "text": "x", "at": 0}]'])
def test_a_file_that_is_none(data: str, environ: dict[str, str]) -> None:
    """It costs itself."""
    file = shifts.path("sessions", environ)
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text(data)
    assert shifts.load(file) == {}
