"""Order: hooks run beside each other, and what they say takes effect in the order in which they were started."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from tallylight.hooks.order import LATEST_WITHIN_CS, MAX_KEPT, MAX_ORDER_LINES, HookOrder
from tallylight.model.report import Report
from tallylight.model.timing import Timing
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.wire import osc1338
from tests.tables import each


def admit(order: HookOrder, payload: str) -> list[str]:
    """What takes effect: `status` of the agent, `id:status` of a subagent."""
    report = osc1338.decode_variable(payload)
    assert report is not None, payload
    return [name(one) for one in order.admit(payload, report)]


def name(report: Report) -> str:
    status = str(report.status) if report.status is not None else "clear"
    return f"{report.id}:{status}" if report.id else status


def final(payloads: Sequence[str]) -> dict[str, tuple[str, str]]:
    """What a tracker shows of each record after these, and with what message."""
    order, tracker = HookOrder(), Tracker(Timing(debounce_s=0))
    tracker.foreground(Foreground("claude", 1), 0)
    for number, payload in enumerate(payloads, 1):
        report = osc1338.decode_variable(payload)
        assert report is not None, payload
        for one in order.admit(payload, report):
            tracker.report(one, number / 1000)
    return {key: (str(record.status), record.report.message) for key, record in tracker.records().items()}


BURSTS = {
    "a turn with a tool": [
        "state=idle;at=1000",
        "state=working;at=1001",
        "state=working;at=1002;message=ls;of=aa",
        "state=waiting;kind=permission;at=1003;message=ls;of=aa",
        "state=working;at=1050;message=ls;of=aa",
        "state=done;at=1051",
    ],
    "a question that still stands": [
        "state=working;at=1001",
        "state=working;at=1002;message=a;of=aa",
        "state=waiting;kind=permission;at=1003;message=rm;of=bb",
        "state=working;at=1004;message=a;of=aa",
        "state=waiting;kind=permission;weak=1;at=1700;message=poor",
    ],
    "all in one hundredth": [
        "state=idle;at=1000",
        "state=working;at=1000",
        "state=waiting;kind=question;at=1000",
        "state=done;at=1000",
        "state=clear;at=1000",
    ],
    "a subagent": [
        "state=working;at=1001",
        "state=working;id=s;at=1002",
        "state=waiting;kind=permission;id=s;at=1003;of=aa;message=x",
        "state=working;id=s;at=1004;of=aa",
        "state=clear;id=s;at=1005",
        "state=done;at=1006",
    ],
    "an exit beside its subagents": [
        "state=working;at=1001",
        "state=working;id=s;at=1002",
        "state=working;id=t;at=1003",
        "state=clear;at=1004",
    ],
    "an exit, and a new session": [
        "state=working;at=1001",
        "state=working;id=s;at=1002",
        "state=clear;at=1003",
        "state=idle;at=1004",
        "state=working;id=t;at=1005",
    ],
    "an interruption that only a weak one tells": [
        "state=working;at=1001",
        "state=waiting;kind=permission;at=1002;of=aa",
        "state=idle;weak=1;at=1003",
    ],
    "a weak one after the end": ["state=working;at=1001", "state=done;at=1002", "state=idle;weak=1;at=1003"],
    "a limit that ends and reminders follow": [
        "state=working;at=1001",
        "state=waiting;kind=limit;at=1002",
        "state=done;weak=1;at=1003",
        "state=idle;weak=1;at=1004",
    ],
    "a limit that a prompt ends": [
        "state=waiting;kind=limit;at=1001",
        "state=idle;weak=1;at=1002",
        "state=working;at=1003",
    ],
    "an error that an end follows": ["state=working;at=1001", "state=error;at=1002", "state=done;weak=1;at=1003"],
}
ENDS = {
    "a turn with a tool": {"": "done"},
    "a question that still stands": {"": "waiting"},
    "a subagent": {"": "done"},
    "an exit, and a new session": {"": "idle", "t": "working"},
    "an interruption that only a weak one tells": {"": "idle"},
    "a weak one after the end": {"": "done"},
    "a limit that ends and reminders follow": {"": "limited"},
    "a limit that a prompt ends": {"": "working"},
    "an error that an end follows": {"": "error"},
}


@pytest.mark.slow
@pytest.mark.parametrize("burst", BURSTS.values(), ids=BURSTS)
def test_in_any_order_it_comes_to_the_same(burst: list[str]) -> None:
    """Every permutation of a burst, some of it doubled, ends in the state that the right order ends in."""
    wanted = final(burst)
    for payloads in itertools.permutations(burst):
        assert final(payloads) == wanted, payloads
    shuffle = random.Random(1)
    for _ in range(50):
        doubled = burst + shuffle.sample(burst, len(burst) // 2)
        shuffle.shuffle(doubled)
        assert final(doubled) == wanted, doubled


@each("case", ENDS)
def test_what_it_comes_to(case: str) -> None:
    """And that state is the true one."""
    found = final(BURSTS[case])

    assert {key: status for key, (status, _) in found.items() if key in ENDS[case]} == ENDS[case]


def test_the_better_message_stays() -> None:
    """A notification that repeats a request does not take its message away."""
    assert final(BURSTS["a question that still stands"])[""] == ("waiting", "rm")


def test_a_repeated_report_renews() -> None:
    """A newer report that says the same takes effect: that it was said now is news. A copy of one does not."""
    order = HookOrder()

    assert admit(order, "state=working;at=1") == ["working"]
    assert admit(order, "state=working;at=2") == ["working"]
    assert admit(order, "state=working;at=2") == []


def test_one_that_is_no_hook_has_the_last_word() -> None:
    """`tally emit` and the relay say when they say; after them a hook's order starts anew."""
    order = HookOrder()

    assert admit(order, "state=done;at=1000") == ["done"]
    assert admit(order, "state=waiting") == ["waiting"]
    assert admit(order, "state=working;at=900") == ["working"]


def test_another_clock() -> None:
    """A report that is older by more than hooks can be late comes from another machine, or after its restart."""
    order = HookOrder()

    assert admit(order, f"state=done;at={10 * LATEST_WITHIN_CS}") == ["done"]
    assert admit(order, f"state=working;at={9 * LATEST_WITHIN_CS}") == []
    assert admit(order, f"state=working;at={9 * LATEST_WITHIN_CS - 1}") == ["working"]


def test_the_end_of_another_tool() -> None:
    """While one tool waits for permission, the end of another ends nothing; its own end, or a new turn, does."""
    order = HookOrder()
    admit(order, "state=waiting;kind=permission;at=10;of=bb")

    assert admit(order, "state=working;at=11;of=aa") == []
    assert admit(order, "state=working;at=12;of=bb") == ["working"]
    admit(order, "state=waiting;kind=permission;at=13;of=bb")
    assert admit(order, "state=working;at=14") == ["working"]


def test_hostile_values_are_no_time() -> None:
    """What is no time is no hook's report, and what is nonsense beside it is left out."""
    order = HookOrder()
    for at in ("", "-1", "1e9", "9" * 16, "٣", "%31", "1.5"):
        assert admit(order, f"state=working;at={at}") == ["working"]
    assert admit(order, "state=waiting;at=5;of=%zz;weak=x") == ["waiting"]


def test_it_is_bounded() -> None:
    """However much is said of however many records, only so much is kept."""
    order = HookOrder()
    for number in range(4 * MAX_KEPT):
        admit(order, f"state=working;at={number}")
    for number in range(2 * MAX_ORDER_LINES):
        admit(order, f"state=working;id=n{number};at={number}")

    assert len(order._lines) == MAX_ORDER_LINES
    assert all(len(line.entries) <= MAX_KEPT for line in order._lines.values())
    assert admit(order, "state=done;at=1") != ["done"], "older than all that is kept"
