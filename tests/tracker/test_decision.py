"""Decisions: which of them are lit, which need a person, which of many is shown, and what is said to end them."""

from __future__ import annotations

from tallylight.model.decision import Decision, Reason, what_would_change
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.tracker.rollup import has_hidden_done, of_tab

#: Where it depends on the source what ends a status, a word of it that no other source has.
BY_SOURCE: dict[tuple[Status, Source], str] = {
    (Status.WORKING, Source.PROTOCOL): "300 s without report",
    (Status.WORKING, Source.REGISTRY): "its status file",
    (Status.WORKING, Source.PROCESS): "its answer ends",
    (Status.WORKING, Source.TITLE): "30 s of silence",
    (Status.WORKING, Source.SCREEN): "30 s without any change",
    (Status.WORKING, Source.HEURISTIC): "4 s without visible output",
    (Status.WAITING, Source.SCREEN): "its dialog leaves the screen",
    (Status.WAITING, Source.HEURISTIC): "a known idle screen",
    (Status.WAITING, Source.REGISTRY): "its status file",
    (Status.IDLE, Source.SCREEN): "another screen",
    (Status.IDLE, Source.HEURISTIC): "a sign on its screen",
    (Status.ERROR, Source.SCREEN): "the error leaves the end of its screen",
}


def decision(status: Status, source: Source | None = Source.PROTOCOL, since: float = 0.0) -> Decision:
    report = Report(source=Source.PROTOCOL, status=status)
    return Decision(status, None, Reason(source, "test", since, ""), since, report)


def test_what_would_change() -> None:
    """Each status says what ends it; some say it by their source, and with the tracker's own times."""
    for status in Status:
        general = what_would_change(status, None)
        assert general
        for source in Source:
            said = what_would_change(status, source)
            assert (BY_SOURCE[status, source] in said) if (status, source) in BY_SOURCE else said == general
            assert "no look" in said if status is Status.WAITING else "no look" not in said


def test_a_fuse_that_never_burns_ends_nothing() -> None:
    """Only a report's own word has one, so that only there it is left out."""
    assert what_would_change(Status.WORKING, Source.PROTOCOL, Timing(fuse_s=0)) == "its next report, or its exit"
    for source in set(Source) - {Source.PROTOCOL}:
        for status in Status:
            assert what_would_change(status, source, Timing(fuse_s=0)) == what_would_change(status, source)


def test_what_is_lit() -> None:
    """A plain command is not, nor a shell at its prompt; an idle agent is, and whatever else a shell tells."""
    lit = {(status, source) for status in Status for source in (*Source, None) if decision(status, source).is_lit}

    dark = {(Status.ACTIVE, source) for source in (*Source, None)} | {(Status.IDLE, Source.SHELL)}
    assert lit == {(status, source) for status in Status for source in (*Source, None)} - dark


def test_what_needs_a_person() -> None:
    """What nobody has dealt with yet."""
    assert {status for status in Status if decision(status).needs_person} == {
        Status.WAITING,
        Status.ERROR,
        Status.DOWN,
        Status.DONE,
        Status.LIMITED,
    }


def test_one_light_for_many() -> None:
    """What needs a person first, then work before an unseen `done`; of equals the newest; none for none."""
    early, late = decision(Status.DONE, since=1), decision(Status.DONE, since=2)
    works, rests = decision(Status.WORKING, since=0), decision(Status.IDLE, since=9)

    assert of_tab([]) is None
    assert of_tab([late, early]) is of_tab([early, late]) is late
    assert of_tab([late, works, asks := decision(Status.WAITING, since=0)]) is asks
    assert of_tab([late, works, rests]) is works
    assert of_tab([late, background := decision(Status.BACKGROUND, since=0)]) is background
    assert of_tab([rests, early]) is early


def test_a_done_behind_work() -> None:
    """It is told apart from work alone, and from what needs a person before it."""
    done, works, asks = (decision(status, since=1) for status in (Status.DONE, Status.WORKING, Status.WAITING))

    assert has_hidden_done(works, [done, works])
    assert has_hidden_done(decision(Status.BACKGROUND, since=1), [done])
    assert not has_hidden_done(works, [works])
    assert not has_hidden_done(asks, [done, asks])
    assert not has_hidden_done(done, [done])


def test_a_share_is_rounded_half_up() -> None:
    """As a person does it, and not to the next even number."""
    assert [Progress(done, 8).percent for done in range(9)] == [0, 13, 25, 38, 50, 63, 75, 88, 100]
    assert (Progress(1, 200).percent, Progress(3, 200).percent, Progress(1, 3).percent) == (1, 2, 33)
