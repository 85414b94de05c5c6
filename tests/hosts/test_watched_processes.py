"""What the connections of a pane's program come to: its light, what it is taken for, and how often it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.procfs import ProcTable
from tallylight.evidence.traffic import Connection, Sample
from tallylight.hosts.processes import Processes
from tallylight.model.jobs import raised
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Look, Pane
from tests.hosts.test_pane import CODEX, CRUSH, SHELL, SSH, HandTable
from tests.hosts.test_unknown_agent import ASKING, BOX, MYSTERY
from tests.tables import each


@attrs.define
class Desk:
    """A pane with a program in it that has one connection, looked at and sampled four times a second."""

    program: Process
    pane: Pane
    now: float = 1.0
    #: Sent, received, and when each was last.
    sent: int = 0
    received: int = 0
    sent_at: float = 0.0
    received_at: float = 0.0
    is_open: bool = True
    children: tuple[float, ...] = ()
    rows: list[str] = attrs.Factory(lambda: list(BOX))
    samples: int = 0

    def send(self, count: int) -> Desk:
        self.sent, self.sent_at = self.sent + count, self.now
        return self

    def come(self, count: int) -> Desk:
        self.received, self.received_at = self.received + count, self.now
        return self

    def show(self, *rows: str) -> Desk:
        self.rows = list(rows)
        return self

    def wait(self, seconds: float) -> Desk:
        for _ in range(int(seconds * 4)):
            self.now += 0.25
            self.pane.foreground(self.program.pid, self.now)
            lines = list(self.rows)
            self.pane.screen(lambda lines=lines: Look(lines, 4, 3, 80), self.now)  # type: ignore[misc]
            if self.pane.processes.due(self.now):
                self.samples += 1
                one = Connection(1, self.sent, self.received, self.sent_at, self.received_at)
                sample = Sample(self.now, (one,) if self.is_open else (), self.children)
                self.pane.sampled(self.program.run, sample, self.now)
            self.pane.tick(self.now)
        return self

    def ask(self) -> Desk:
        """A person presses Enter: the text moves up, and a request is sent."""
        self.rows = ["> and the tests?", *self.rows]
        return self.send(20_000)

    @property
    def status(self) -> Status:
        return self.pane.decision.status


@pytest.fixture
def desk(tmp_path: Path) -> Callable[[Process], Desk]:
    def make(program: Process) -> Desk:
        table = HandTable(str(tmp_path))
        table.processes[program.pid] = program
        agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
        pane = Pane(Timing(), ForegroundReader(agents, table), table)
        pane.foreground(SHELL.pid, 0.0)
        pane.foreground(program.pid, 1.0)
        return Desk(program, pane)

    return make


def test_a_stranger_that_asks_a_model(desk: Callable[[Process], Desk]) -> None:
    """An input of its own and a request make a candidate, which works until its answer has ended."""
    at = desk(MYSTERY).wait(8)
    assert not at.pane.decision.is_lit
    at.ask().wait(1)
    at.come(3000).wait(1)
    assert at.pane.agent is not None and at.status is Status.WORKING
    assert at.pane.decision.reason.source is Source.PROCESS
    entry = pane_entry(at.pane, float, id_="1", tab="1", os_window="1", title="")
    assert "requests as to a model" in entry.program.signs
    at.wait(3)
    assert not at.pane.decision.is_lit, "its quiet says nothing"
    at.show(*ASKING).wait(2)
    assert at.status is Status.WAITING


@each(
    ("why", "rows"),
    [("no input of its own", ["50 % done"]), ("a prompt that nobody types at", ["> "])],
)
def test_an_upload_makes_no_candidate(
    why: str, rows: list[str], tmp_path: Path, desk: Callable[[Process], Desk]
) -> None:
    at = desk(MYSTERY)
    for percent in range(40):
        at.show(*rows, f"{percent} %").send(90_000).come(3000).wait(0.5)
    assert not at.pane.decision.is_lit and at.pane.agent is None, why


@each("typed", ["1", "admin", "v1.2.0", "y"])
def test_an_answer_of_one_word_is_no_prompt(typed: str, tmp_path: Path, desk: Callable[[Process], Desk]) -> None:
    """A script that asks for a name or a number, and then uploads, is no agent."""
    at = desk(MYSTERY).show("Deploy", "", "", "", "Version: ").wait(4)
    at.show("Deploy", "", "", "", f"Version: {typed}").wait(1)
    for percent in range(20):
        at.show("Deploy", "", "", f"Version: {typed}", f"{percent} %").send(90_000).come(3000).wait(0.5)
    assert not at.pane.decision.is_lit and at.pane.agent is None


def test_a_person_types_at_a_plain_prompt(desk: Callable[[Process], Desk]) -> None:
    at = desk(MYSTERY).show("Hello", "", "", "", "> ").wait(4)
    for text in ("> w", "> why is", "> why is it red"):
        at.show("Hello", "", "", "", text).wait(1)
    at.show("Hello", "", "", "> why is it red", "").send(9000).wait(1)
    at.come(2000).wait(0.5)
    assert at.status is Status.WORKING


def test_a_known_agent_without_its_marks(desk: Callable[[Process], Desk]) -> None:
    """No glyph in its title, no word on its screen: it works while its process does, and so does its tool."""
    at = desk(CRUSH).wait(60)
    assert at.status is not Status.WORKING
    at.ask().wait(20)
    assert (at.status, at.pane.decision.reason.source) == (Status.WORKING, Source.PROCESS)
    at.come(3000).wait(2)
    at.children = (at.now,)
    at.wait(60)
    assert at.pane.decision.reason.rule == "a process that it started works"
    at.children = ()
    at.wait(6)
    assert at.status is not Status.WORKING


def test_what_a_request_ends(desk: Callable[[Process], Desk]) -> None:
    """An amber of which nothing is on the screen; a dialog that is there wins, however much is sent beside it."""
    at = desk(CRUSH).wait(60)
    at.pane.notified(Report(source=Source.NOTIFICATION, status=Status.WAITING), at.now)
    at.wait(1)
    assert at.status is Status.WAITING
    at.ask().wait(1)
    assert at.status is Status.WORKING
    at.come(3000).wait(5)

    at.show(*ASKING).wait(2)
    assert at.status is Status.WAITING
    at.rows = ["another subagent asks its model", *at.rows]
    at.send(20_000).wait(20)
    assert at.status is Status.WAITING


def test_who_tells_its_turns_needs_no_process(desk: Callable[[Process], Desk]) -> None:
    """What a protocol says stands, and its process is read less often."""
    at = desk(CODEX).wait(10)
    at.pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.IDLE), at.now)
    before = at.samples
    at.ask().wait(16)
    assert at.status is Status.IDLE
    assert at.samples - before <= 3


def test_a_model_that_does_not_answer(desk: Callable[[Process], Desk]) -> None:
    """It is told after a minute, beside the working light, and until something comes."""
    at = desk(CRUSH).wait(20).ask()
    asked = at.now
    at.wait(50)
    assert at.pane.unanswered is None
    at.wait(20)
    assert (at.status, at.pane.unanswered) == (Status.WORKING, asked)
    entry = pane_entry(at.pane, lambda seconds: 1000 + seconds, id_="1", tab="1", os_window="1", title="")
    assert entry.unanswered_since == 1000 + asked
    at.come(3000).wait(0.5)
    assert (at.status, at.pane.unanswered) == (Status.WORKING, None)


def test_it_says_so_of_an_agent_that_tells_its_turns(desk: Callable[[Process], Desk]) -> None:
    at = desk(CODEX).wait(20)
    at.pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), at.now)
    asked = at.send(20_000).now
    at.wait(70)
    assert (at.pane.decision.reason.source, at.pane.unanswered) == (Source.PROTOCOL, asked)


def test_who_is_watched(desk: Callable[[Process], Desk]) -> None:
    """An agent, and what may be one; nothing that runs on another machine, no shell, and nobody who has gone."""
    at = desk(MYSTERY).wait(1)
    assert at.pane.processes.process == MYSTERY
    at.pane.foreground(SHELL.pid, at.now)
    assert at.pane.processes.process is None
    at.pane.sampled(MYSTERY.run, Sample(at.now), at.now)
    at.pane.foreground(SSH.pid, at.now)
    assert at.pane.processes.process is None
    at.pane.foreground(CODEX.pid, at.now)
    at.pane.sampled(MYSTERY.run, Sample(at.now, (Connection(1, 9000, 0, at.now, at.now),)), at.now)
    assert not at.pane.processes.traffic.is_known, "what was read of another program is not its own"


def test_how_often_it_is_read(desk: Callable[[Process], Desk]) -> None:
    """Seldom at rest; at once when its screen changes."""
    at = desk(CRUSH).wait(20)
    before = at.samples
    at.wait(80)
    assert at.samples - before <= 11
    before = at.samples
    at.ask().wait(4)
    assert at.samples - before >= 6


@pytest.mark.parametrize("table", [ProcTable(), None])
def test_where_there_is_no_proc(table: ProcTable | None, tmp_path: Path, desk: Callable[[Process], Desk]) -> None:
    """Nothing is asked of another kind of table; of this one one job reads all panes that are due."""
    jobs: list[Callable[[], object]] = []

    def submit(_key: object, job: Callable[[], object], *_: object) -> bool:
        jobs.append(job)
        return True

    reader: Processes[int] = Processes(submit, table or HandTable(str(tmp_path)), lambda _: None, raised)
    panes = {number: desk(MYSTERY).pane for number in range(3)}
    reader.look(panes, 5.0)
    assert len(jobs) == (table is not None)
    for job in jobs:
        found = job()
        assert isinstance(found, dict) and found.keys() == panes.keys()
        assert all(run == MYSTERY.run and not sample.connections for run, sample in found.values())
    reader.forget(1)
    panes[0].foreground(SHELL.pid, 6.0)
    panes[0].sampled(MYSTERY.run, Sample(5.0), 6.0)
    panes[2].sampled(MYSTERY.run, Sample(5.0), 5.0)
    reader.look(panes, 5.5)
    assert len(jobs) == 2 * (table is not None), "one is not watched, and one is not due"
