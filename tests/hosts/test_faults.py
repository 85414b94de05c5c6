"""Faults of one pane: each costs the one input that it is in, is told once, and the next input is taken in again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.looks import ScreenReader
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records import claude_turns
from tallylight.evidence.titles import TitleReader
from tallylight.hosts.polling.host import PollingHost
from tallylight.hosts.wezterm import sidecar
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane import pane as panes
from tallylight.pane.faults import MAX_FAULT_CHARS, MAX_FAULTS, Faults
from tallylight.pane.pane import Look, Pane
from tests.hosts.test_pane import AIDER, CLAUDE, HandTable, status_file


@attrs.define
class Desk:
    """Panes of one host, and the faults that were told."""

    table: HandTable
    told: list[str] = attrs.field(factory=list)

    def pane(self, pgid: int = CLAUDE.pid) -> Pane:
        agents, _ = agent_files.load_agents({"HOME": self.table.home})
        made = Pane(Timing(), ForegroundReader(agents, self.table), self.table, self.told.append)
        made.foreground(pgid, 0.0)
        return made


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(HandTable(str(tmp_path)))


def _raise(*_: object, **_names: object) -> Any:
    raise TypeError("unhashable type: 'dict'")


LOOK = Look(["$"], 0, 1, 80)
#: What a host tells of a pane, and what is made to fail in it: an owner and its attribute.
INPUTS: dict[str, tuple[Callable[[Pane], object], object, str]] = {
    "the user variable": (lambda pane: pane.user_variable("state=working", 1.0), panes.osc1338, "decode_variable"),
    "the title": (lambda pane: pane.title("✳ x", 1.0), TitleReader, "read"),
    "the screen": (lambda pane: pane.screen(lambda: LOOK, 1.0), ScreenReader, "look"),
    "the foreground": (lambda pane: pane.foreground(99, 1.0), ForegroundReader, "look"),
}


@pytest.mark.parametrize("what", INPUTS)
def test_a_fault_costs_one_input(desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Nothing reaches the host but one line; the same fault again is told no more, and the next input counts."""
    tell, owner, name = INPUTS[what]
    pane = desk.pane(AIDER.pid)
    with monkeypatch.context() as broken:
        broken.setattr(owner, name, _raise)
        for _ in range(3):
            tell(pane)

    assert len(desk.told) == 1 and desk.told[0].startswith(
        f"{what} could not be processed: TypeError at test_faults.py:"
    )
    pane.user_variable("state=waiting;kind=question", 2.0)
    assert pane.decision.status is Status.WAITING
    assert desk.pane().decision is not None


def test_a_status_file_that_fails_is_read_again_when_it_changes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same content is not tried again, another one is; and nobody waits for an ending that cannot be read."""
    path = status_file(str(tmp_path), status="busy")
    pane = desk.pane()
    busy = path.read_bytes()
    pane.own_files.files(path, busy, b"", 1.0)
    idle = json.dumps({**json.loads(busy), "status": "idle"}).encode()
    with monkeypatch.context() as broken:
        broken.setattr(claude_turns, "ending", _raise)
        pane.own_files.files(path, idle, b"a line", 2.0)
        assert not pane.is_undecided and pane.decision.status is Status.WORKING
        pane.own_files.files(path, idle, b"a line", 2.1)
    assert len(desk.told) == 1

    pane.own_files.files(path, json.dumps({**json.loads(busy), "status": "waiting"}).encode(), b"", 3.0)
    assert pane.decision.status is Status.WAITING


def test_what_is_told_is_bounded() -> None:
    """However many faults there are, a bounded number of lines without controls is told."""
    told: list[str] = []
    faults = Faults(told.append)
    for number in range(3 * MAX_FAULTS):
        faults.take(f"input {number}", ValueError("\x1b]0;x\x07" + "y" * 10_000))

    assert len(told) == MAX_FAULTS
    assert all(len(line) <= MAX_FAULT_CHARS and line.isprintable() for line in told)


def test_a_fault_in_one_pane_of_a_feed_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What WezTerm's Lua says of one pane cannot keep the sidecar from hearing the others, nor end it."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    table = HandTable(str(tmp_path))
    feed = tmp_path / "feed.json"
    source = WezTermSource(environ, 1, "wezterm", feed, table)
    poller = PollingHost("wezterm", [], environ, table=table)
    heard: list[str] = []
    decode = panes.osc1338.decode_variable

    def picky(value: str | None) -> Any:
        heard.append(str(value))
        return _raise() if value == "state=error" else decode(value)

    monkeypatch.setattr(panes.osc1338, "decode_variable", picky)
    agents, _ = agent_files.load_agents(environ)
    own: dict[str, Pane] = {
        id_: Pane(Timing(), ForegroundReader(agents, table), table, lambda line: told.append(line)) for id_ in "12"
    }
    told: list[str] = []
    monkeypatch.setattr(poller, "peek", own.get)
    said = {"1": "state=error", "2": "state=waiting"}
    rows = {id_: {"title": "", "said": [{"n": 1, "value": word}]} for id_, word in said.items()}
    feed.write_text(json.dumps({"version": 1, "life": "a", "front": "", "panes": rows}))
    source.listen(poller, time.monotonic())

    assert heard == list(said.values()) and len(told) == 1
    assert own["2"].decision.status is Status.WAITING


def test_a_file_with_odd_digits_is_nobodys(tmp_path: Path) -> None:
    """What sidecars left behind is told by plain digits; a file of another name is left alone and stops nothing."""
    odd = tmp_path / "wezterm-\u00b2.lock"
    gone = tmp_path / "wezterm-4194305999.lock"
    for path in (odd, gone):
        path.touch()

    sidecar.sweep(tmp_path)

    assert odd.exists() and not gone.exists()
