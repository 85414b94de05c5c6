"""Goodbyes without end: what an agent's leave costs does not grow with the subagents that it left before."""

from __future__ import annotations

from tallylight.hooks.order import FEW_RECORDS, MAX_ORDER_LINES, HookOrder
from tallylight.wire import osc1338


def admit(order: HookOrder, payload: str) -> list[tuple[str, str]]:
    report = osc1338.decode_variable(payload)
    assert report is not None
    return [(each.id, each.status or "clear") for each in order.admit(payload, report)]


def test_the_subagents_of_an_agent_that_left_are_forgotten() -> None:
    """After the first goodbye of many subagents there is nothing left to settle for the next."""
    order = HookOrder()
    for n in range(MAX_ORDER_LINES):
        assert admit(order, f"state=working;id=r{n};at={1000 + n}") == [(f"r{n}", "working")]
    for n in range(100):
        assert admit(order, f"state=clear;at={2000 + n}") == [("", "clear")]

    assert len(order._lines) == 1


def test_a_late_report_of_a_subagent_that_was_forgotten_is_none() -> None:
    """What was said before the goodbye and comes after it does not bring a subagent back; what was said later does."""
    order = HookOrder()
    for n in range(FEW_RECORDS + 1):
        admit(order, f"state=working;id=r{n};at={1000 + n}")
    admit(order, "state=working;id=later;at=3000")
    gone = admit(order, "state=clear;at=2000")
    assert ("", "clear") in gone and ("later", "working") in gone, "the tracker withdraws that, too"

    assert ("r1", "working") not in admit(order, "state=working;id=r1;at=1999")
    assert admit(order, "state=working;id=r1;at=2001") == [("r1", "working")]
