"""What a person asks of a pane from elsewhere is done to its ledger, and to nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.marks import MAX_MINUTES, carry_out
from tallylight.pane.pane import Pane
from tallylight.snapshot.requests import Request
from tests.hosts.test_pane import HandTable


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    return Pane(Timing(), ForegroundReader(agents, table), table)


def show(pane: Pane, status: str, now: float) -> None:
    pane.user_variable(f"state={status};tool=claude", now)
    pane.look(False, now)


@pytest.mark.parametrize(
    ("args", "until"), [((), 910.0), (("1",), 70.0), (("0.5",), 40.0), ((str(MAX_MINUTES),), 10.0 + 60 * MAX_MINUTES)]
)
def test_snooze(pane: Pane, args: tuple[str, ...], until: float) -> None:
    """A question is put off for as long as was said, and without a word for the usual time; its status stands."""
    show(pane, "waiting", 1)

    assert carry_out(Request("snooze", "3", args), pane, 15, 10)
    assert pane.attention.snoozed_until == until and pane.decision.status is Status.WAITING


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "1441", "x", ""])
def test_a_snooze_that_makes_no_sense(pane: Pane, word: str) -> None:
    """What is no number of minutes changes nothing."""
    show(pane, "waiting", 1)

    assert not carry_out(Request("snooze", "3", (word,)), pane, 15, 10)
    assert not pane.attention.snoozed


@pytest.mark.parametrize("status", ["working", "idle", "background"])
def test_only_what_needs_a_person_is_snoozed(pane: Pane, status: str) -> None:
    """An agent at work would be silent at the next question; so there is nothing to put off."""
    show(pane, status, 1)

    assert not carry_out(Request("snooze", "3"), pane, 15, 10)
    assert not pane.attention.snoozed


def test_a_snooze_is_ended_by_zero(pane: Pane) -> None:
    """Zero minutes wake it."""
    show(pane, "waiting", 1)
    carry_out(Request("snooze", "3"), pane, 15, 10)

    assert carry_out(Request("snooze", "3", ("0",)), pane, 15, 11) and not pane.attention.snoozed


def test_seen_and_unread(pane: Pane) -> None:
    """Seen, `done` is idle; unread again it is `done`, marked, and not seen; looked at, it is idle once more."""
    show(pane, "done", 1)
    assert carry_out(Request("seen", "3"), pane, 15, 2)
    assert pane.decision.status is Status.IDLE and pane.attention.seen
    assert carry_out(Request("unread", "3"), pane, 15, 3)
    assert pane.decision.status is Status.DONE
    assert (pane.attention.seen, pane.attention.unread) == (False, True)
    pane.look(True, 4)
    pane.look(True, 6)
    assert pane.decision.status is Status.IDLE and not pane.attention.unread


def test_seen_answers_nothing(pane: Pane) -> None:
    """A question that somebody says to have seen is a question still."""
    show(pane, "waiting", 1)

    assert carry_out(Request("seen", "3"), pane, 15, 2)
    assert pane.decision.status is Status.WAITING and pane.attention.seen and not pane.attention.answered


def test_other_verbs_are_not_done_here(pane: Pane) -> None:
    """`focus` and `jump` are the terminal's."""
    show(pane, "waiting", 1)

    assert not carry_out(Request("focus", "3"), pane, 15, 2)
