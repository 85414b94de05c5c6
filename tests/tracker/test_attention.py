"""Attention: seen, answered, snoozed and unread are four facts, each with its own end; and the time waited adds up."""

from __future__ import annotations

import pytest

from tallylight.model.decision import Decision, Reason
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.snapshot.waiting_time import Ledger, Waited
from tallylight.tracker.attention import DWELL_S, Attention
from tests.tables import each


def decision(status: Status, since: float, kind: Kind | None = None) -> Decision:
    report = Report(source=Source.PROTOCOL, status=status, kind=kind)
    return Decision(status, kind, Reason(Source.PROTOCOL, "test", since, ""), since, report)


def attention(status: Status = Status.WAITING, since: float = 0.0) -> Attention:
    made = Attention()
    made.shown(decision(status, since), since)
    return made


def test_a_look_is_no_answer_and_an_answer_no_look() -> None:
    """A question that was looked at is seen and not answered; one answered from elsewhere is answered and not seen."""
    looked = attention()
    looked.look(True, 1)
    assert looked.look(True, 1 + DWELL_S)
    assert (looked.seen, looked.answered) == (True, False)

    answered = attention()
    answered.shown(decision(Status.WORKING, 5), 5)
    assert (answered.seen, answered.answered) == (False, True)


def test_the_next_question_is_not_answered() -> None:
    """`answered` is about the last question: the next one begins unanswered."""
    it = attention()
    it.shown(decision(Status.WORKING, 1), 1)
    it.shown(decision(Status.WAITING, 2), 2)

    assert not it.answered


def test_who_never_asked_was_not_answered() -> None:
    """An agent that only worked has no answer to its name."""
    it = attention(Status.WORKING)
    it.shown(decision(Status.DONE, 1), 1)

    assert not it.answered


def test_a_limit_waits_for_nobody() -> None:
    """An agent that a usage limit stops has asked nothing, and its time is not a person's."""
    it = Attention()
    it.shown(decision(Status.LIMITED, 0), 0)
    assert not it.waiting
    it.shown(decision(Status.WORKING, 100), 100)

    assert (it.answered, it.waited_s) == (False, 0.0)


def test_a_glance_is_no_look() -> None:
    """Visible for less than the dwell, twice, is not seen; for the dwell in one go it is."""
    assert DWELL_S == 1
    it = attention()
    for at in (1, 3):
        assert not it.look(True, at)
        assert not it.look(True, at + DWELL_S - 0.01)
        assert not it.look(False, at + DWELL_S)
    assert not it.look(True, 10) and it.deadline() == 10 + DWELL_S
    assert it.look(True, 10 + DWELL_S)
    assert not it.look(True, 20), "once for each status"


def test_an_end_is_news() -> None:
    """What was looked at is to be looked at again once its agent has ended, for the whole dwell from then on."""
    it = attention()
    it.look(True, 1)
    assert it.look(True, 1 + DWELL_S)
    it.ended(10)
    assert not it.seen and it.deadline() == 10 + DWELL_S
    assert not it.look(True, 10 + DWELL_S - 0.01)
    assert it.look(True, 10 + DWELL_S)
    assert not it.look(True, 20), "once"


def test_a_snooze_ends_at_its_time() -> None:
    """Snoozed for a minute is snoozed at 59.9 s and not at 60."""
    it = attention()
    it.snooze(60, 10)
    it.look(False, 69.9)
    assert it.snoozed and it.snoozed_until == 70
    it.look(False, 70)
    assert not it.snoozed


@pytest.mark.parametrize("then", [decision(Status.WORKING, 5), decision(Status.WAITING, 5, Kind.QUESTION)])
def test_a_snooze_ends_with_the_status(then: Decision) -> None:
    """What comes after the snoozed status is heard of, another question too."""
    it = attention()
    it.snooze(600, 1)
    it.shown(then, 5)

    assert not it.snoozed


def test_a_snooze_survives_the_same_status_said_again() -> None:
    """That the agent repeats itself is no news."""
    it = attention()
    it.snooze(600, 1)
    it.shown(decision(Status.WAITING, 0), 5)

    assert it.snoozed


def test_a_snooze_of_nothing_ends_it() -> None:
    """Zero takes a snooze back."""
    it = attention()
    it.snooze(600, 1)
    it.snooze(0, 2)

    assert not it.snoozed


def test_a_mark_made_in_passing_stays() -> None:
    """A pane marked unread while one is in it stays so until one has left it and come back for a look."""
    it = attention(Status.IDLE)
    it.look(True, 1)
    assert it.look(True, 3)
    it.mark_unread()
    assert not it.look(True, 10) and it.unread and not it.seen and it.deadline() is None
    it.look(False, 11)
    it.look(True, 12)
    assert it.unread
    assert it.look(True, 12 + DWELL_S)
    assert it.seen and not it.unread


def test_a_mark_made_from_elsewhere_ends_with_the_next_look() -> None:
    """A pane marked from the list, while it was not visible, is read at the first look."""
    it = attention(Status.IDLE)
    it.mark_unread()
    it.look(True, 1)

    assert it.look(True, 1 + DWELL_S) and not it.unread


def test_a_new_status_needs_no_mark() -> None:
    """What has not been seen at all is not marked as if it had been."""
    it = attention(Status.IDLE)
    it.mark_unread()
    it.notified = True
    it.shown(decision(Status.WORKING, 1), 1)

    assert not it.unread and not it.notified


def test_nothing_is_looked_at_before_anything_is_shown() -> None:
    """A pane that nobody has told of anything has nothing to see, however long it is looked at."""
    it = Attention()
    assert it.facts == (False, False, False, False, False, None, None, 0.0)
    assert not it.look(True, 1) and not it.look(True, 9)

    assert not it.seen and it.deadline() is None


def test_a_look_takes_a_second_of_the_present_status() -> None:
    """What began while the pane was visible has been looked at a second later, and not at once."""
    it = attention(Status.WORKING)
    assert it.deadline() is None, "nobody is there"
    it.look(True, 1)
    it.look(True, 9)
    assert it.seen and it.deadline() is None, "once"
    it.shown(decision(Status.DONE, 100), 100)
    assert it.deadline() == 101
    assert not it.look(True, 100.9) and it.look(True, 101)


def test_a_clock_that_steps_back_begins_a_look_anew() -> None:
    """Otherwise nothing would count as seen until the clock has caught up."""
    it = attention()
    it.look(True, 100)
    assert not it.look(True, 50) and it.look(True, 51)


def test_another_status_of_the_same_moment_is_another() -> None:
    """Two changes in one moment have the same time, and are two all the same."""
    it = attention()
    it.snooze(600, 0)
    it.shown(decision(Status.WORKING, 0), 0)

    assert not it.snoozed and it.answered


def test_every_fact_is_told() -> None:
    """Whatever a person or an agent does changes the facts, and doing nothing does not."""
    it = attention()
    seen = [it.facts]
    for change in (
        lambda: it.look(True, 1),
        lambda: it.look(True, 3),
        lambda: it.mark_unread(),
        lambda: it.snooze(0.5, 3),
        lambda: setattr(it, "notified", True),
        lambda: setattr(it, "muted_until", 9.0),
        lambda: it.shown(decision(Status.WORKING, 5), 5),
    ):
        change()
        assert it.facts != seen[-1]
        seen.append(it.facts)
    assert [list(facts) for facts in zip(*seen, strict=True)] == [
        [False, False, True, False, False, False, False, False],
        [False, True, True, True, True, True, True, True],
        [False, False, False, True, True, True, True, False],
        [False, False, False, False, False, False, False, True],
        [False, False, False, False, False, True, True, False],
        [None, None, None, None, 3.5, 3.5, 3.5, None],
        [None, None, None, None, None, None, 9.0, 9.0],
        [0, 0, 0, 0, 0, 0, 0, 5],
    ]


def test_a_short_wait_and_one_of_a_clock_that_steps_back() -> None:
    """Half a second is half a second; less than nothing is nothing."""
    for until, waited in ((10.5, 0.5), (9.0, 0.0)):
        it = attention(Status.WAITING, 10)
        assert it.waited(until) == waited
        it.shown(decision(Status.WORKING, until), until)
        assert it.waited_s == waited


def test_waits_add_up() -> None:
    """The time waited is the sum of all waits; a change of what is waited for does not cut one."""
    it = attention(Status.WORKING)
    assert it.waited(100) == 0
    it.shown(decision(Status.WAITING, 100, Kind.PERMISSION), 100)
    it.shown(decision(Status.WAITING, 110, Kind.QUESTION), 110)
    assert it.waiting and it.waited_s == 0 and it.waited(115) == 15
    it.shown(decision(Status.WORKING, 120), 120)
    assert not it.waiting and it.waited_s == it.waited(500) == 20
    it.shown(decision(Status.WAITING, 600), 600)
    assert it.waited(601) == 21


def waited(ledger: Ledger, panes: list[Attention], *times: float, day: str = "2026-11-21") -> float:
    """What *ledger* comes to that is asked at these *times*."""
    return [ledger.sum(day, panes, at, 5000.0 + at).waited_s for at in times][-1]


def test_waits_at_the_same_time_count_once() -> None:
    """A person who is kept waiting by three agents for 28 minutes has lost 28 minutes."""
    ledger = Ledger()
    panes = [attention(Status.WAITING, at) for at in (0, 10, 20)]
    assert waited(ledger, panes, *range(0, 28 * 60 + 1, 2)) == 28 * 60
    for pane in panes[:2]:
        pane.shown(decision(Status.WORKING, 1680), 1680)
    assert waited(ledger, panes, *range(1682, 1701, 2)) == 1700
    panes[2].shown(decision(Status.WORKING, 1700), 1700)
    assert waited(ledger, panes, *range(1702, 1800, 2)) == 1700


def test_a_wait_is_counted_to_the_moment() -> None:
    """One that begins and ends between two looks has lasted as long as it did; nothing counts in which all stood."""
    ledger, it = Ledger(), attention(Status.WORKING, 0)
    waited(ledger, [it], 0)
    it.shown(decision(Status.WAITING, 0.5), 0.5)
    it.shown(decision(Status.WORKING, 1.25), 1.25)
    assert waited(ledger, [it], 2) == 0.8
    it.shown(decision(Status.WAITING, 3), 3)
    it.pause(100)
    assert waited(ledger, [it], 105) == 2.8


def test_midnight() -> None:
    """A wait through midnight counts for either day as long as it lasted in it."""
    ledger = Ledger()
    it = attention(Status.WAITING, 0)
    ledger.sum("2026-11-21", [it], 0, 4900.0)
    assert ledger.sum("2026-11-21", [it], 100, 5000.0) == Waited(
        day="2026-11-21", waited_s=100, waiting=1, written=5000
    )
    waited(ledger, [it], 110, day="2026-11-22")

    assert ledger.sum("2026-11-22", [it], 115, 5015.0) == Waited(day="2026-11-22", waited_s=5, waiting=1, written=5015)


def test_a_closed_pane_counts() -> None:
    """What was waited in a pane that is gone still was waited today; not tomorrow."""
    ledger = Ledger()
    it = attention(Status.WAITING, 0)
    waited(ledger, [it], 0, 30)
    assert waited(ledger, [], 100) == 30
    assert waited(ledger, [], 200, day="2026-11-22") == 0


def test_what_an_earlier_run_saw_is_not_summed_again() -> None:
    """It wrote that down itself; of the pane it is told, until midnight."""
    ledger = Ledger()
    it = attention(Status.WAITING, 100)
    it.add_former(60.0, 1400.0)
    assert (it.earlier_s, waited(ledger, [it], 100, 130)) == (60, 30)
    it.shown(decision(Status.WORKING, 130), 130)
    assert (it.earlier_s, waited(ledger, [it], 140)) == (1460, 30)
    waited(ledger, [it], 150, day="2026-11-22")
    assert it.earlier_s == 0


def test_a_run_goes_on_from_the_last() -> None:
    """A host that was started again the same day goes on from what it left; on another day it does not."""
    for day, expected in (("2026-11-21", 40.0), ("2026-11-22", 0.0)):
        assert waited(Ledger("2026-11-21", 40.0), [], 0, 1, day=day) == expected


def test_a_reader_counts_on() -> None:
    """While any agent waits since the sum was written, it goes on; a clock set back takes nothing away."""
    waited = Waited(day="2026-11-21", waited_s=10, waiting=2, written=1000)

    assert waited.at(1005) == 15 and waited.at(900) == 10
    assert Waited.from_json(waited.to_json()) == waited


@each("value", [None, [], {}, {"version": 2}, "x"])
def test_what_is_no_sum(value: object) -> None:
    """A file of another version, or of something else, is no sum."""
    assert Waited.from_json(value) is None


def test_a_hostile_sum() -> None:
    """A sum with nonsense in it is zero, not a crash."""
    value = {"version": 1, "day": 7, "waited_s": "x", "waiting": -3, "written": float("nan")}

    assert Waited.from_json(value) == Waited(day="")


def test_a_sum_beyond_all_time() -> None:
    """A number too large for any clock counts as none: what is made of it would be no number of hours."""
    huge = Waited.from_json({"version": 1, "day": "d", "waited_s": 1e308, "waiting": 2**31 - 1, "written": -1e308})

    assert huge is not None and huge.at(2e9) < 1e20
