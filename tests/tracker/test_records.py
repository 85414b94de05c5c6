"""The records of a pane: what is below what, and what goes with it."""

from __future__ import annotations

from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.records import Records


def records(*ids: str) -> Records:
    """Records in which an agent has told of each of *ids*."""
    made = Records()
    for id_ in ids:
        made.claim(report(id_), 1.0)
    return made


def report(id_: str) -> Report:
    return Report(source=Source.PROTOCOL, status=Status.WORKING, id=id_)


def test_what_goes_with_a_withdrawal() -> None:
    """The record itself and all below it, and of the pane everything."""
    for id_, left in (("a", ["b", "ab"]), ("a/b", ["a", "b", "ab"]), ("b", ["a", "a/b", "a/b/c", "ab"]), ("", [])):
        made = records("a", "a/b", "a/b/c", "b", "ab")
        made.withdraw(id_, Source.PROTOCOL)
        assert [key for key, _ in made.children] == left, id_


def test_what_is_below_after_others_have_gone() -> None:
    """Children of children are found however many came and went before."""
    for forget in (False, True):
        made = records("a", "a/b")
        for _ in range(3):
            if forget:
                made.forget()
            else:
                made.withdraw("a/b", Source.PROTOCOL)
            made.claim(report("a/b"), 2.0)
        made.withdraw("a", Source.PROTOCOL)
        assert not list(made.children)
    made = records("a/b", "x", "y")
    for id_ in ("x", "y", "a"):
        made.withdraw(id_, Source.PROTOCOL)
    assert len(made) == 1
