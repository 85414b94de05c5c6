"""Marks from other machines: the one that is taken, and what is not."""

from __future__ import annotations

import attrs

from tallylight.model.status import Status
from tallylight.parts.remote.marks import BURST_MARKS, PER_SECOND, Marks
from tallylight.parts.remote.topics import Mark, encode_mark
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane, Snapshot
from tests.tables import each

PLACE = ("kitty-7", "3")
DONE = Pane(id="3", status=Status.DONE, agent="claude", since=100.0)
SEEN = Mark("seen", Status.DONE, 100.0)


def ask(
    marks: Marks, mark: Mark | bytes = SEEN, place: tuple[str, str] = PLACE, pane: Pane | None = DONE, now: float = 0.0
) -> Request | str:
    """What comes of a mark on a machine that shows this pane."""
    panes = (pane,) if pane is not None else ()
    host = Snapshot(host="kitty", pid=7, started=0.0, written=0.0, panes=panes)
    payload = encode_mark(mark) if isinstance(mark, Mark) else mark
    return marks.take(*place, payload, [host], now, is_stored=False)


def test_what_is_asked_of_the_host() -> None:
    """`seen`, and a snooze with its minutes or as it is configured there."""
    assert ask(Marks(is_allowed=True)) == Request("seen", "3")
    assert ask(Marks(is_allowed=True), Mark("snooze", Status.DONE, 100.2, 7.5)) == Request("snooze", "3", ("7.5",))
    assert ask(Marks(is_allowed=True), Mark("snooze", Status.DONE, 100.0)) == Request("snooze", "3")


@each(
    "change",
    [
        {"pane": attrs.evolve(DONE, status=Status.WAITING)},
        {"pane": attrs.evolve(DONE, since=160.0)},
        {"pane": attrs.evolve(DONE, status=Status.ACTIVE, agent="")},
        {"pane": attrs.evolve(DONE, id="4")},
        {"pane": None},
        {"place": ("kitty-8", "3")},
        {"place": ("kitty-7", "../3")},
        {"mark": Mark("seen", Status.WAITING, 100.0)},
        {"mark": Mark("focus", Status.DONE, 100.0)},
        {"mark": b"{}"},
        {"mark": Mark("snooze", Status.WORKING, 100.0), "pane": attrs.evolve(DONE, status=Status.WORKING)},
    ],
)
def test_nothing_else_is(change: dict[str, object]) -> None:
    """Out of date, the wrong pane, an agent that is gone, a pane of another one, another verb: words say why."""
    found = ask(Marks(is_allowed=True), **change)  # type: ignore[arg-type]
    assert isinstance(found, str) and found


def test_not_unless_it_is_allowed_and_not_what_a_broker_kept() -> None:
    """The machine's own configuration decides; a mark that waited at the broker may be of any age."""
    assert "`marks = true` in [fleet]" in str(ask(Marks(is_allowed=False)))
    host = Snapshot(host="kitty", pid=7, started=0.0, written=0.0, panes=(DONE,))
    found = Marks(is_allowed=True).take(*PLACE, encode_mark(SEEN), [host], 0.0, is_stored=True)
    assert isinstance(found, str)


def test_a_flood_is_dropped() -> None:
    """So many at once, and then so many a second, whatever the clock says."""
    marks = Marks(is_allowed=True)
    taken = [isinstance(ask(marks, now=50.0), Request) for _ in range(BURST_MARKS + 5)]
    assert taken == [True] * BURST_MARKS + [False] * 5
    assert ask(marks, now=0.0) == "", "it was said once"
    assert isinstance(ask(marks, now=1.01 / PER_SECOND), Request)
