"""Screens of a polling host that are read together, and none that cannot have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import pytest

from tallylight.hosts.polling.host import SourcePane
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.pane import Look
from tests.evidence.test_looks import screen
from tests.hosts.detached.polling import HandSource, System
from tests.hosts.test_pane import AIDER, CLAUDE, rows


class Reader:
    """Reads screens together; *left_out* are those that are not read in one go, *fails* raises."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.left_out: set[str] = set()
        self.fails = False

    def __call__(self, ids: Sequence[str]) -> Mapping[str, Look | None]:
        self.calls.append(tuple(ids))
        if self.fails:
            raise OSError("no")
        left_out, self.left_out = self.left_out, set()
        return {id_: rows(*(f"{id_} {len(self.calls)} {n}" for n in range(5))) for id_ in ids if id_ not in left_out}


def test_screens_are_read_together(system: System, source: HandSource) -> None:
    """One call reads all that share a reader and are wanted; one it leaves out is asked for at the next tick."""
    reader, other = Reader(), Reader()
    source.source_panes = [
        SourcePane(id="a", group=AIDER.pid, together=reader, read_every=1.0),
        SourcePane(id="b", group=AIDER.pid, together=reader, read_every=1.0),
        SourcePane(id="c", group=AIDER.pid, together=other, read_every=1.0),
        SourcePane(id="d", group=10, together=reader, read_every=1.0),
    ]
    reader.left_out = {"b"}
    system.steps(4)

    assert ("a", "b") in reader.calls
    assert reader.calls[reader.calls.index(("a", "b")) + 1] == ("b",)
    assert {id_ for ids in reader.calls for id_ in ids} == {"a", "b"}
    assert set(other.calls) == {("c",)}
    assert 3 <= len(other.calls) <= 5
    assert {system.entry(id_).status for id_ in "abc"} == {Status.WORKING}


@pytest.mark.slow
def test_screens_that_began_apart_are_read_together(system: System, source: HandSource) -> None:
    """Where so many screens are wanted that each waits for its turn, all of one reader have it at the same time."""
    reader = Reader()
    panes = [SourcePane(id=f"{n:02}", group=AIDER.pid, together=reader, read_every=0.2) for n in range(18)]
    source.source_panes = panes
    system.steps(4)
    for number, id_ in enumerate(system.ids()):
        system.poller._held[id_].read_at += number % 3 * 0.5
    system.steps(3)
    reader.calls.clear()
    system.steps(12)

    assert {len(ids) for ids in reader.calls} == {18}
    assert 6 <= len(reader.calls) <= 9


def test_a_reader_that_fails_is_left_alone(system: System, source: HandSource) -> None:
    """None of its screens is asked for again before longer and longer times, and all are once it works."""
    reader = Reader()
    reader.fails = True
    source.source_panes = [SourcePane(id=id_, group=AIDER.pid, together=reader, read_every=0.1) for id_ in "ab"]
    system.steps(8)
    assert 2 <= len(reader.calls) <= 5

    reader.fails = False
    system.steps(12)
    assert {system.entry(id_).status for id_ in "ab"} == {Status.WORKING}


def test_a_known_question_is_seldom_read(system: System, source: HandSource) -> None:
    """Where the agent's status file tells of it, too. All else that is told has it read at once, as does its end."""
    reads: list[float] = []
    asks = screen("claude/permission-bash-80")

    def read() -> Look:
        reads.append(system.now)
        # Claude blinks.
        return attrs.evolve(asks, lines=["●" if len(reads) % 2 else "", *asks.lines[1:]])

    def tell(status: Status, by: Source = Source.REGISTRY) -> int:
        pane = system.poller.pane("a")
        assert pane is not None
        pane.tracker.report(Report(source=by, status=status), system.now)
        before = len(reads)
        system.steps(0.75)
        return len(reads) - before

    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, read=read, read_every=0.5)]
    system.steps(2)
    tell(Status.WAITING)
    system.steps(6)
    reads.clear()
    system.steps(10)
    assert 4 <= len(reads) <= 7
    assert system.entry().status is Status.WAITING and system.entry().choices
    tell(Status.WAITING)
    assert tell(Status.IDLE, Source.TITLE)
    system.steps(6)
    assert not tell(Status.WORKING) and system.entry().status is Status.WORKING
    assert tell(Status.WAITING)


def test_a_still_screen_counts_twice(system: System, source: HandSource) -> None:
    """What was read once, and is still the same as its source says, needs no second reading to be believed."""
    question = rows("", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel")
    calls: list[Look] = []
    shown = rows(*(f"line {n}" for n in range(5)))

    def read() -> Look:
        calls.append(shown)
        return shown

    is_still = [False]
    source.source_panes = [SourcePane(id="a", group=AIDER.pid, read=read, read_every=3.0, is_still=lambda: is_still[0])]
    system.steps(4)
    assert calls
    before = len(calls)
    shown, is_still[0] = question, True
    system.poller._held["a"].look = None
    until_asked = system.now + 4
    while len(calls) == before and system.now < until_asked:
        system.steps(0.25)
    system.steps(0.75)

    assert len(calls) == before + 1
    assert system.entry().status is Status.WAITING
