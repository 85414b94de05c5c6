"""The table and the walk: the order in which facts arrive, what stands behind a light, and each cell."""

from __future__ import annotations

from typing import NamedTuple

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallylight.model.report import Report, Source
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.table import CELLS, facts_of
from tallylight.tracker.tracker import Tracker
from tests.strategies import at_most
from tests.tables import each

#: What a source may report; the rest is concluded here.
WORDS = [status for status in Status if status not in {*CONCLUDED, Status.ACTIVE}]
SPEAKERS = [source for source in CELLS if source is not Source.HEURISTIC]
#: What each of them may say: a process that is quiet says nothing.
SAID = {source: [Status.WORKING] if source is Source.PROCESS else WORDS for source in SPEAKERS}
#: Those that are read from files, or told by others: what they say may be heard this many seconds later.
LATE = [source for source in SPEAKERS if source not in (Source.PROTOCOL, Source.SCREEN)]
LATENESS_S = 2.0
#: By then every delay of the table is over, and no work is so old that it is not believed any more.
LATER_S = 6.0


class Fact(NamedTuple):
    """*source* reports *status* at *time*, None for a goodbye, which is heard *late* seconds later."""

    time: float
    source: Source
    status: Status | None
    late: float

    @property
    def report(self) -> Report:
        return Report(source=self.source, status=self.status)


def tracker_of_an_agent() -> Tracker:
    tracker = Tracker()
    tracker.foreground(Foreground("claude", 1), 0.0)
    return tracker


def settled(tracker: Tracker, now: float) -> Tracker:
    """*tracker* at *now*, with all its deadlines on the way."""
    while (deadline := tracker.deadline()) is not None and deadline <= now:
        before = tracker.decision
        tracker.tick(deadline)
        if tracker.deadline() == deadline and tracker.decision == before:
            break
    tracker.tick(now)
    return tracker


def light(facts: list[Fact], order: list[float]) -> tuple[Status, Kind | None, Source | None]:
    """What is shown in the end of *facts* that are heard at the times of *order*."""
    tracker = tracker_of_an_agent()
    for heard, fact in sorted(zip(order, facts, strict=True), key=lambda pair: pair[0]):
        settled(tracker, heard)
        tracker.report(fact.report, heard, fact.time)
    end = max(fact.time for fact in facts) + LATENESS_S + LATER_S
    decision = settled(tracker, end).decision
    return decision.status, decision.kind, decision.reason.source


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    """Facts of all sources, no two of one moment, each of a source in its order however late they are."""
    count = draw(st.integers(1, 8))
    times = sorted(draw(st.lists(st.integers(4, 80), min_size=count, max_size=count, unique=True)))
    facts = []
    heard: dict[Source, float] = {}
    for moment in times:
        source = draw(st.sampled_from(SPEAKERS))
        goodbye = [None] if source in (Source.REGISTRY, Source.TITLE, Source.PROCESS) else []
        status = draw(st.sampled_from([*SAID[source], *goodbye]))
        late = draw(st.integers(0, 16)) / 8 if source in LATE else 0.0
        time = moment / 4
        heard[source] = max(heard.get(source, 0.0), time + late)
        facts.append(Fact(time, source, status, heard[source] - time))
    return facts


#: A goodbye that is late, between the begin and the end of what a title tells.
LATE_GOODBYE = [
    Fact(1.5, Source.PROTOCOL, Status.DONE, 0.0),
    Fact(1.75, Source.TITLE, Status.WORKING, 0.0),
    Fact(2.0, Source.REGISTRY, None, 0.875),
    Fact(2.75, Source.TITLE, Status.DONE, 0.0),
]


@pytest.mark.slow
@given(histories())
@example(LATE_GOODBYE)
@settings(max_examples=at_most(400), deadline=None)
def test_facts_end_in_the_same_light_in_any_order(facts: list[Fact]) -> None:
    """How late they are, within two seconds, and what is heard before what, changes nothing."""
    assert light(facts, [fact.time + fact.late for fact in facts]) == light(facts, [fact.time for fact in facts])


#: What a claim of each status must say for the light to be so.
BEHIND = {Status.WAITING: 1, Status.BACKGROUND: 2}


def stands_behind(shown: Status, told: dict[Source, Report]) -> bool:
    """Whether a report that was told last by any source answers a question so that the light can be *shown*."""
    facts = [facts_of(report) for report in told.values() if report.status is not None]
    if shown in BEHIND:
        return any(fact is not None and fact.is_so for fact in (each[BEHIND[shown]] for each in facts))
    if shown is Status.WORKING:
        return any(each[0] is not None and each[0].is_so for each in facts)
    return any(each[0] is not None and not each[0].is_so for each in facts)


@pytest.mark.slow
@given(histories())
@settings(max_examples=at_most(400), deadline=None)
def test_something_stands_behind_each_light(facts: list[Fact]) -> None:
    """A light is what some source says by then; with all of them silent, there is none but that of a guess."""
    tracker, told = tracker_of_an_agent(), {}
    for fact in facts:
        settled(tracker, fact.time)
        tracker.report(fact.report, fact.time)
        told[fact.source] = fact.report
        if fact.status is None and fact.source is Source.REGISTRY:
            told = {source: report for source, report in told.items() if source is Source.PROTOCOL}
        decision = settled(tracker, fact.time + LATER_S).decision if fact is facts[-1] else None
        if decision is not None and decision.reason.source is not Source.HEURISTIC:
            assert stands_behind(decision.status, told), (decision.status, told)
    for source in SPEAKERS:
        tracker.report(Report(source=source, status=None), 90.0)
    assert settled(tracker, 200.0).decision.reason.source is Source.HEURISTIC


@each(("source", "status"), [(source, status) for source in SPEAKERS for status in SAID[source]])
def test_each_cell_alone(source: Source, status: Status) -> None:
    """What one source says shows as it is, and goes when it is taken back."""
    tracker = tracker_of_an_agent()
    tracker.report(Report(source=source, status=status), 1.0)
    rests = facts_of(Report(source=source, status=status))[2]
    expected = Status.IDLE if status is Status.BACKGROUND and rests is None else status
    assert settled(tracker, 2.0).decision.status is expected
    assert tracker.decision.reason.source is source
    tracker.report(Report(source=source, status=None), 3.0)
    assert settled(tracker, 20.0).decision.reason.source is Source.HEURISTIC


ASKS = {
    "the screen alone": ([(Source.SCREEN, Kind.QUESTION)], None),
    "a guess beside it": ([(Source.SCREEN, Kind.QUESTION), (Source.HEURISTIC, Kind.QUESTION)], None),
    "a status file": ([(Source.SCREEN, Kind.QUESTION), (Source.REGISTRY, Kind.QUESTION)], Kind.QUESTION),
    "a protocol": ([(Source.SCREEN, Kind.QUESTION), (Source.PROTOCOL, Kind.QUESTION)], Kind.QUESTION),
    "a notification that names no kind": ([(Source.SCREEN, Kind.QUESTION), (Source.NOTIFICATION, None)], None),
    "two that differ": ([(Source.RECORD, Kind.QUESTION), (Source.PROTOCOL, Kind.PERMISSION)], None),
    "a file against the screen": ([(Source.SCREEN, Kind.QUESTION), (Source.RECORD, Kind.PERMISSION)], Kind.PERMISSION),
    "a title that says so of every dialog": ([(Source.SCREEN, Kind.QUESTION), (Source.TITLE, Kind.PERMISSION)], None),
    "such a title beside a record": (
        [(Source.TITLE, Kind.PERMISSION), (Source.RECORD, Kind.QUESTION)], Kind.QUESTION,
    ),
    "a title that tells questions": ([(Source.SCREEN, Kind.QUESTION), (Source.TITLE, Kind.QUESTION)], Kind.QUESTION),
}  # fmt: skip


@each("name", list(ASKS))
def test_a_second_source_confirms_the_kind(name: str) -> None:
    """A kind counts as confirmed if all sources but the screen that report one agree; and only while it asks."""
    told, expected = ASKS[name]
    tracker = tracker_of_an_agent()
    for source, kind in told:
        tracker.report(Report(source=source, status=Status.WAITING, kind=kind), 1.0)

    assert settled(tracker, LATER_S).decision.confirmed_kind is expected
    for source, _ in told:
        tracker.report(Report(source=source, status=Status.WORKING), 10.0)
    assert settled(tracker, 10.0 + LATER_S).decision.confirmed_kind is None


def test_a_kind_is_confirmed_for_one_question() -> None:
    """A report from before the last answer confirms nothing of a new dialog; nor does a subagent's."""
    tracker = tracker_of_an_agent()
    asks = Report(source=Source.SCREEN, status=Status.WAITING, kind=Kind.QUESTION)
    tracker.report(Report(source=Source.RECORD, status=Status.WAITING, kind=Kind.QUESTION), 1.0)
    tracker.report(asks, 1.0)
    assert settled(tracker, 2.0).decision.confirmed_kind is Kind.QUESTION

    tracker.report(Report(source=Source.SCREEN, status=Status.WORKING), 3.0)
    settled(tracker, 4.0)
    tracker.report(attrs.evolve(asks, message="Another?"), 5.0)
    decision = settled(tracker, 6.0).decision
    assert (decision.status, decision.confirmed_kind) == (Status.WAITING, None)

    child = Report(source=Source.PROTOCOL, status=Status.WAITING, kind=Kind.QUESTION, id="a")
    tracker.report(Report(source=Source.SCREEN, status=Status.IDLE), 7.0)
    tracker.report(child, 8.0)
    decision = settled(tracker, 9.0).decision
    assert (decision.status, decision.confirmed_kind) == (Status.WAITING, None)
