"""A pane that says more than anybody could read: nothing that stands is missed, and little is decided."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.floods import SHAPES, Host, flood
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane
from tallylight.tracker.records import MAX_RECORDS
from tallylight.tracker.tracker import Tracker
from tests.helpers import is_linear
from tests.hosts.test_pane import CLAUDE, SHELL, HandTable
from tests.strategies import at_most

AGENTS = agent_files.load_agents({"HOME": "/nowhere"})[0]
WAITING = "state=waiting;kind=permission"


def make_pane(agent: int = CLAUDE.pid) -> Pane:
    table = HandTable("/nowhere")
    pane = Pane(Timing(), ForegroundReader(AGENTS, table), table)
    pane.foreground(agent, 0.0)
    return pane


def settle(pane: Pane, now: float) -> float:
    """Tick as a host does until nothing is left to read and no change is held back; the time then."""
    for _ in range(100):
        now += 0.1
        pane.tick(now)
        if not pane.is_behind:
            break
    pane.tick(now + 0.2)
    return now + 0.2


def test_a_single_report_is_read_at_once() -> None:
    """So are a few in a row: an agent that speaks as agents do is never behind."""
    pane = make_pane()
    assert pane.user_variable(WAITING, 1.0)
    assert pane.decision.status is Status.WAITING
    for n in range(40):
        assert pane.user_variable(f"state=working;message=m{n}", 2 + n / 50)
        assert pane.title(f"✳ {n}", 2 + n / 50)

    assert pane.decision.report.message == "m39"
    assert pane.pace is None


@pytest.mark.slow
def test_the_question_at_the_end_of_a_flood_is_shown() -> None:
    """Twenty thousand reports and one question: the question stands after the next go, and the pace is told."""
    pane = make_pane()
    for n in range(20_000):
        pane.user_variable(f"state=working;id=r{n}" if n % 2 else f"state=working;message=m{n}", 1 + n / 10_000)
    pane.user_variable(WAITING, 3.0)
    now = settle(pane, 3.0)

    assert pane.decision.status is Status.WAITING
    assert pane.decision.kind is Kind.PERMISSION
    assert len(pane.tracker.records()) <= MAX_RECORDS
    assert pane.pace is not None and pane.pace.arrived > 1000 > pane.pace.read
    pane.tick(now + 10)
    assert pane.pace is None


def test_a_question_among_children_is_shown() -> None:
    """One child of as many as are kept asks, in the middle of the others' noise."""
    pane = make_pane()
    for turn in range(50):
        for n in range(200):
            asks = turn > 30 and n == 77
            pane.user_variable(f"state={'waiting' if asks else 'working'};id=r{n};message={turn}", 1.0)
    settle(pane, 1.0)

    assert pane.decision.status is Status.WAITING
    assert pane.decision.report.id == "r77"


@pytest.mark.parametrize("last", ["waiting", "working"])
def test_what_was_said_last_before_the_end_is_known(last: str) -> None:
    """An agent that floods and vanishes leaves its last word: it waited, or it vanished during its turn."""
    pane = make_pane()
    for n in range(5000):
        pane.user_variable(f"state=done;id=r{n}", 1.0)
    pane.user_variable(f"state={last}", 1.0)
    pane._table.processes.pop(CLAUDE.pid)  # type: ignore[attr-defined]
    pane.foreground(SHELL.pid, 1.01)
    settle(pane, 1.01)

    assert pane.decision.status is {"waiting": Status.WAITING, "working": Status.DOWN}[last]


def test_marks_and_titles_keep_their_place() -> None:
    """What a shell's mark ended stays ended, and what was said after it stands."""
    pane = make_pane(SHELL.pid)
    for n in range(100):
        pane.user_variable(f"state=working;message={n}", 1.0)
    pane.marked(False, 0, 1.0)
    settle(pane, 1.0)
    assert pane.decision.status is Status.IDLE

    for n in range(100):
        pane.marked(n % 2 == 0, 0, 5.0)
    pane.title("a title", 5.0)
    pane.user_variable(WAITING, 5.0)
    settle(pane, 5.0)
    assert pane.decision.status is Status.WAITING
    assert pane.clean_title == "a title"


def test_notifications_are_read_at_the_same_pace() -> None:
    """A flood of them is folded like any other, and the last one is not lost."""
    pane = make_pane()
    for n in range(1000):
        pane.notified(Report(source=Source.NOTIFICATION, status=Status.WAITING, message=str(n)), 1.0)
    assert pane.is_behind
    settle(pane, 1.0)

    assert pane.decision.report.message == "999"


IDS = ("", "a", "a/b", "a/b/c", "d", "ab")
PAYLOADS = st.one_of(
    st.builds(
        "state={};id={}".format, st.sampled_from(["working", "waiting", "done", "error", "idle"]), st.sampled_from(IDS)
    ),
    st.builds("state=clear;id={}".format, st.sampled_from(IDS)),
    st.builds("state=waiting;source=notification;id={}".format, st.sampled_from(IDS)),
    st.sampled_from(["", "nonsense", "resume=claude", "state=nothing"]),
)


@pytest.mark.slow
@settings(max_examples=at_most(100), deadline=None)
@given(st.lists(PAYLOADS, max_size=30))
def test_folding_changes_nothing_that_stands(payloads: list[str]) -> None:
    """Said all at once or one after the other, the same stands in the end: of the pane and of each child."""
    slow, fast = slow_and_fast(payloads)
    assert not slow.is_behind
    settle(slow, 11)
    settle(fast, 11)

    assert words(fast) == words(slow)


HOOKED = st.tuples(
    st.sampled_from(["working", "waiting", "done", "clear", "idle"]),
    st.integers(1000, 1020),
    st.sampled_from(["", "t1", "t2"]),
    st.sampled_from(["", "a"]),
)
PLAIN = st.lists(PAYLOADS, max_size=10)


@pytest.mark.slow
@settings(max_examples=at_most(100), deadline=None)
@given(PLAIN, st.lists(HOOKED, max_size=20, unique_by=lambda hook: (hook[1], hook[3])), PLAIN)
def test_folding_of_hooks_changes_nothing_that_stands(
    before: list[str], hooks: list[tuple[str, int, str, str]], after: list[str]
) -> None:
    """
    Hooks, of which the reports are put in order by their own time, come to the same, too.

    A hook of one agent reports a moment once, and what others report comes before and after.
    """
    slow, fast = slow_and_fast([*before, *("state={};at={};of={};id={}".format(*hook) for hook in hooks), *after])
    settle(slow, 11)
    settle(fast, 11)

    assert words(fast) == words(slow)


def slow_and_fast(payloads: list[str]) -> tuple[Pane, Pane]:
    """Two panes that have heard the same: one after the other, and all at once."""
    slow, fast = make_pane(), make_pane()
    for pane in (slow, fast):
        pane.tick(4.0)  # it has started
    for n, payload in enumerate(payloads):
        slow.user_variable(payload, 10 + n / 100)
        fast.user_variable(payload, 10.0)
    return slow, fast


def words(pane: Pane) -> dict[str, Status]:
    return {id_: decision.status for id_, decision in pane.tracker.records().items()} | {"shown": pane.decision.status}


@pytest.mark.slow
def test_it_is_decided_once_a_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all children there, twenty thousand reports in a second are decided a few hundred times."""
    decided = 0
    real = Tracker._new_decision

    def counting(self: Tracker, now: float) -> object:
        nonlocal decided
        decided += 1
        return real(self, now)

    monkeypatch.setattr(Tracker, "_new_decision", counting)
    pane = make_pane()
    for n in range(20_000):
        pane.user_variable(f"state={'working' if n % 512 < 256 else 'idle'};id=r{n % 256}", 1 + n / 20_000)
        if n % 1000 == 0:
            pane.tick(1 + n / 20_000)

    assert decided < 200


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["carrier, distinct ids", "carrier, withdrawals", "carrier, hooks of children"])
def test_a_flood_into_a_pane_is_linear(shape: str) -> None:
    """Four times as much takes four times as long."""

    def work(size: int) -> object:
        data, host = flood(shape, size), Host(is_timed=False)
        return lambda: host.feed(data)

    assert is_linear(work, 60_000)  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_shape_leaves_a_pane_bounded(tmp_path: Path) -> None:
    """Whatever is printed, a pane keeps its records and what waits within their limits."""
    for shape in SHAPES:
        host = Host(is_timed=False)
        host.feed(flood(shape, 30_000))
        assert len(host.pane._inbox) < MAX_RECORDS + 10, shape
        assert len(host.pane.tracker.records()) <= MAX_RECORDS, shape
        assert len(host.pane._order._lines) <= MAX_RECORDS, shape
