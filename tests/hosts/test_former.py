"""A host is started again: what its panes show is as old as it was, if it is the same; nothing else is taken over."""

from __future__ import annotations

import functools
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.decision import Decision
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.former import EXACT_S, FORMER_STATUS_S, Former
from tallylight.pane.pane import Look, Pane
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.entries import pane_with
from tests.hosts.test_pane import AIDER, CLAUDE, CRUSH, HandTable, rows
from tests.snapshot.test_hostile_values import PANES
from tests.strategies import at_most
from tests.tables import each

#: Monotonic 0 by the wall; when both runs of the host began; when each process did, by the wall.
ORIGIN = 1_763_690_000.0
FIRST, SECOND = 10_000.0, 11_400.0
BEGAN = ORIGIN + FIRST - 3600

ASKS = Report(source=Source.PROTOCOL, status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", session="s-1")


class Table(HandTable):
    """One that knows when processes began."""

    began: float | None = BEGAN

    def start_time(self, pid: int) -> float | None:
        return self.began if pid in self.processes else None


def epoch(at: float) -> float:
    return ORIGIN + at


def entry_of(pane: Pane, id_: str = "a") -> PaneEntry:
    return pane_entry(pane, epoch, id_=id_, tab="", os_window="", title="")


@functools.cache
def _agents() -> Agents:
    return agent_files.load_agents({"HOME": "/nonexistent"})[0]


@attrs.define
class Runs:
    """A host that is started twice over the same pane."""

    table: Table

    def pane(self, *known: PaneEntry, now: float = SECOND) -> Pane:
        """The pane as a run that begins *now* makes it, which an earlier one left *known*."""
        pane = Pane(Timing(), ForegroundReader(_agents(), self.table), self.table)
        known_of = {"a": list(known)} if known else {}
        pane.former = Former("a", known_of, pane.attention, self.table, ORIGIN, now)
        return pane

    def first(self, report: Report = ASKS, pid: int = CLAUDE.pid) -> PaneEntry:
        """What the first run leaves of a pane whose agent says *report*."""
        pane = self.pane(now=FIRST)
        pane.foreground(pid, FIRST)
        tell(pane, report, FIRST + 1)
        return entry_of(pane)


def tell(pane: Pane, report: Report, now: float) -> None:
    pane.tracker.report(report, now)
    pane.attention.shown(pane.decision, now)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(Table(str(tmp_path)))


@each(
    "status, kind",
    [
        (Status.WAITING, Kind.PERMISSION),
        (Status.WORKING, None),
        (Status.DONE, None),
        (Status.ERROR, None),
        (Status.IDLE, None),
        (Status.BACKGROUND, None),
    ],
)
def test_the_same_is_as_old_as_it_was(tmp_path: Path, status: Status, kind: Kind | None) -> None:
    """Whatever the agent shows, and however often it says so again."""
    runs = Runs(Table(str(tmp_path)))
    report = attrs.evolve(ASKS, status=status, kind=kind)
    before = runs.first(report)
    assert before.since <= ORIGIN + FIRST + 1 and before.status is status
    pane = runs.pane(before)
    pane.foreground(CLAUDE.pid, SECOND)
    for now in (SECOND + 2, SECOND + 3, SECOND + 600):
        tell(pane, report, now)
        assert entry_of(pane).since == before.since
        assert pane.decision is pane.decision


def test_a_dialog_on_the_screen(runs: Runs) -> None:
    """Of an agent that says nothing itself, after looks in which it was taken to work."""
    asking = rows(
        "Run npm test?", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel", cursor=3
    )

    def watch(pane: Pane, now: float) -> list[Status]:
        pane.foreground(AIDER.pid, now)
        shown = [pane.decision.status]
        for n, look in enumerate([rows("line", "line"), asking, asking, asking]):
            pane.screen(lambda look=look: look, now + n + 1)  # type: ignore[misc]
            pane.tick(now + n + 1)
            pane.attention.shown(pane.decision, now + n + 1)
            shown.append(pane.decision.status)
        return shown

    first = runs.pane(now=FIRST)
    watch(first, FIRST)
    before = entry_of(first)
    assert (before.status, before.question) == (Status.WAITING, "Do you want to proceed?")
    pane = runs.pane(before)
    assert Status.WORKING in watch(pane, SECOND)
    assert entry_of(pane).since == before.since


OTHERS: dict[str, dict[str, object]] = {
    "another status": {"status": Status.WORKING, "kind": None},
    "another kind": {"kind": Kind.QUESTION},
    "another agent": {"agent": "codex"},
    "another process": {"pid": CRUSH.pid},
    "another session": {"session": "s-2"},
    "another command": {"what": "Bash: rm -rf build"},
    "another message": {"what": "", "message": "May I go home?"},
    "since before its process": {"since": BEGAN - EXACT_S - 1},
    "since it was started again": {"since": ORIGIN + SECOND + 60},
    "for ever": {"since": 1.0},
}


@each("name", OTHERS)
def test_another_one_is_new(tmp_path: Path, name: str) -> None:
    """What was known of it differs, or cannot be so."""
    runs = Runs(Table(str(tmp_path)))
    asks = attrs.evolve(ASKS, what="Bash: npm test", message="May I?")
    pane = runs.pane(pane_with(runs.first(asks), **OTHERS[name]))
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, asks, SECOND + 1)
    assert entry_of(pane).since == ORIGIN + SECOND + 1


def test_the_number_of_a_process_that_is_gone(runs: Runs) -> None:
    """It is that of another one now, which began later than the question."""
    before = runs.first()
    runs.table.began = before.since + EXACT_S + 1
    pane = runs.pane(before)
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, ASKS, SECOND + 1)
    assert entry_of(pane).since == ORIGIN + SECOND + 1


@each("session, is_same", [("s-1", True), ("", False)])
def test_where_nobody_knows_when_processes_begin(tmp_path: Path, session: str, is_same: bool) -> None:
    """The agent and its session are what tells."""
    runs = Runs(Table(str(tmp_path)))
    runs.table.began = None
    asks = attrs.evolve(ASKS, session=session)
    before = runs.first(asks)
    pane = runs.pane(before)
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, asks, SECOND + 1)
    assert (entry_of(pane).since == before.since) is is_same


def test_what_it_asks_is_often_known_later(runs: Runs) -> None:
    """Until then it may be the same. If it is, that stands; if not, it is as old as this run knows."""
    asks = attrs.evolve(ASKS, what="Bash: npm test")
    before = runs.first(asks)
    for what, is_same in (("Bash: npm test", True), ("Bash: rm", False)):
        pane = runs.pane(before)
        pane.foreground(CLAUDE.pid, SECOND)
        tell(pane, ASKS, SECOND + 1)
        assert entry_of(pane).since == before.since
        tell(pane, attrs.evolve(ASKS, what=what), SECOND + 2)
        assert (entry_of(pane).since == before.since) is is_same
        assert entry_of(pane).since in (before.since, ORIGIN + SECOND + 1)


def test_it_is_answered_and_asks_the_same_again(runs: Runs) -> None:
    """That is another question, however soon it comes."""
    pane = runs.pane(runs.first())
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, ASKS, SECOND + 1)
    tell(pane, attrs.evolve(ASKS, status=Status.WORKING, kind=None), SECOND + 3)
    tell(pane, ASKS, SECOND + 5)
    assert entry_of(pane).since == ORIGIN + SECOND + 5


def test_what_comes_later_is_new(runs: Runs) -> None:
    """It was not there when the host was started again."""
    pane = runs.pane(runs.first())
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, attrs.evolve(ASKS, status=Status.WORKING, kind=None), SECOND + 1)
    tell(pane, ASKS, SECOND + FORMER_STATUS_S + 1)
    assert entry_of(pane).since == ORIGIN + SECOND + FORMER_STATUS_S + 1


def test_it_is_decided_soon(runs: Runs) -> None:
    """What is learnt after that makes nothing older or younger, and the pane asks no longer."""
    asks = attrs.evolve(ASKS, what="Bash: npm test")
    before = runs.first(asks)
    for other, is_same in ((ASKS, True), (attrs.evolve(ASKS, session="s-2"), False)):
        pane = runs.pane(before)
        pane.foreground(CLAUDE.pid, SECOND)
        tell(pane, other, SECOND + 1)
        pane.look(False, SECOND + FORMER_STATUS_S + 1)
        assert (pane.former is not None) is is_same
        tell(pane, attrs.evolve(asks, what="Bash: rm"), SECOND + FORMER_STATUS_S + 2)
        assert (entry_of(pane).since == before.since) is is_same
    pane = runs.pane(before)
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, ASKS, SECOND + 1)
    tell(pane, attrs.evolve(ASKS, status=Status.WORKING, kind=None), SECOND + 30)
    pane.look(False, SECOND + 31)
    assert pane.former is None


def test_an_end_that_was_looked_at_is_not_new(runs: Runs) -> None:
    """A host that is started again hears it once more; what ends after that, or nobody has seen, is new."""
    done = attrs.evolve(ASKS, status=Status.DONE, kind=None)
    first = runs.pane(now=FIRST)
    first.foreground(CLAUDE.pid, FIRST)
    tell(first, done, FIRST + 1)
    unseen = entry_of(first)
    for now in (FIRST + 2, FIRST + 4):
        first.look(True, now)
    seen = entry_of(first)
    assert (unseen.status, seen.status, seen.attention.seen) == (Status.DONE, Status.IDLE, True)
    for before, words, status in (
        (seen, [done], Status.IDLE),
        (unseen, [done], Status.DONE),
        (seen, [attrs.evolve(done, status=Status.WORKING), done], Status.DONE),
    ):
        pane = runs.pane(before)
        pane.foreground(CLAUDE.pid, SECOND)
        for now, word in enumerate(words, int(SECOND) + 1):
            tell(pane, word, now)
            pane.look(False, now + 0.5)
        assert pane.decision.status is status


def test_how_long_it_has_waited_today(runs: Runs) -> None:
    """The waits that the earlier run saw count for the pane, and not for the host, which wrote its own down."""
    before = pane_with(runs.first(), waited_s=60.0)
    pane = runs.pane(before)
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, ASKS, SECOND + 1)
    assert entry_of(pane).attention.waited_s == 60
    tell(pane, attrs.evolve(ASKS, status=Status.WORKING, kind=None), SECOND + 31)
    whole = 60 + (SECOND + 31) - (FIRST + 1)
    assert entry_of(pane).attention.waited_s == whole
    assert pane.attention.waited(SECOND + 40) == 30
    pane.attention.new_day(SECOND + 50)
    assert entry_of(pane).attention.waited_s == 0


def test_an_answer_that_is_another_runs(runs: Runs) -> None:
    """A pane that shows something else takes nothing over, neither an age nor waits."""
    pane = runs.pane(pane_with(runs.first(), waited_s=60.0, pid=CRUSH.pid))
    pane.foreground(CLAUDE.pid, SECOND)
    tell(pane, ASKS, SECOND + 1)
    assert entry_of(pane).attention.waited_s == 0


STEPS = (
    *(attrs.evolve(ASKS, status=status, kind=None) for status in (Status.WORKING, Status.IDLE, Status.DONE)),
    *(attrs.evolve(ASKS, what=what) for what in ("", "Bash: ls", "Bash: rm")),
    attrs.evolve(ASKS, status=Status.ERROR, kind=None, message="no"),
)


@pytest.mark.slow
@settings(max_examples=at_most(60), deadline=None)
@given(
    document=PANES,
    true=st.fixed_dictionaries(
        {"status": st.sampled_from(list(Status)), "kind": st.sampled_from([None, Kind.PERMISSION])},
        optional={"since": st.one_of(st.floats(), st.floats(BEGAN - 60, ORIGIN + SECOND + 60)), "what": st.just("")},
    ),
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.floats(0, 20)), max_size=6),
)
def test_a_lie_changes_nothing_but_the_age(
    tmp_path_factory: pytest.TempPathFactory,
    document: dict[str, object],
    true: dict[str, object],
    steps: list[tuple[Report, float]],
) -> None:
    """Whatever an earlier run left: each decision is what it is without that, except for since when."""
    runs = Runs(Table(str(tmp_path_factory.getbasetemp())))
    given_of = document | {"pid": CLAUDE.pid, "agent": "claude", "session": "s-1"} | true
    lie = PaneEntry.from_json(given_of)

    def story(*known: PaneEntry) -> list[Decision]:
        pane, now, found = runs.pane(*known), SECOND, []
        pane.foreground(CLAUDE.pid, now)
        for report, seconds in steps:
            tell(pane, report, now := now + seconds)
            pane.screen(lambda: Look([""] * 4, cursor_row=0, cursor_column=0, columns=40), now)
            found.append(pane.decision)
            assert entry_of(pane).since <= ORIGIN + now
        return found

    plain, lied = story(), story(*([lie] if lie is not None else []))
    assert [attrs.evolve(one, since=0.0) for one in lied] == [attrs.evolve(one, since=0.0) for one in plain]
    for one, other in zip(lied, plain, strict=True):
        assert one.since == other.since or BEGAN - EXACT_S <= ORIGIN + one.since <= ORIGIN + other.since
