"""The records of a relay by the rules of OSC 7501: replaced whole, cleared by segments, inherited, and 256 at most."""

from __future__ import annotations

import itertools

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.relay.records import MAX_RECORDS, Records
from tallylight.wire import osc1338
from tests.relay.told import state

WORKING = Report(source=Source.PROTOCOL, rule="osc-7501", status=Status.WORKING)


def tell(records: Records, **fields: object) -> list[tuple[str, str | None, str]]:
    """Report one status of OSC 7501; give id, status and agent of what the host is then told."""
    records.report(attrs.evolve(WORKING, **fields), 1.0)  # type: ignore[arg-type]
    return take(records)


def take(records: Records) -> list[tuple[str, str | None, str]]:
    """What the host is to be told: id, status and agent."""
    return [(each.id, each.status and each.status.value, each.agent) for each in reports(records)]


def reports(records: Records) -> list[Report]:
    return [osc1338.decode_payload(payload) for payload in records.take(1000, 1.0)]


def ids(records: Records) -> list[str]:
    return [report.id for report in records.current()]


def test_a_report_replaces_its_record() -> None:
    """Of what a record said before nothing is left."""
    records = Records()
    first = attrs.evolve(WORKING, status=Status.WAITING, kind=Kind.AUTH, title="t", message="m", agent="x")
    records.report(first, 1.0)
    assert records.current() == [first]
    records.report(WORKING, 1.0)

    assert records.current() == [WORKING]


def test_256_records() -> None:
    """The 256th record is kept; the 257th costs the one that was reported least recently, and only that."""
    records = Records()
    for index in range(256):
        assert tell(records, id=f"r{index}") == [(f"r{index}", "working", "")]
    assert len(records) == MAX_RECORDS == 256
    assert tell(records, id="r0", status=Status.DONE) == [("r0", "done", "")]

    assert sorted(tell(records, id="new")) == [("new", "working", ""), ("r1", None, "")]
    assert len(records) == 256
    assert ids(records)[-2:] == ["r0", "new"]


def test_what_is_only_repeated_is_recent_too() -> None:
    """A record that says the same again is not the one that is evicted."""
    records = Records(limit=2)
    tell(records, id="a")
    tell(records, id="b")
    assert tell(records, id="a") == []
    tell(records, id="c")

    assert ids(records) == ["a", "c"]


def test_eviction_spares_children() -> None:
    """A record that is evicted does not take its children along: they are told again, and so are their agents."""
    records = Records(limit=3)
    tell(records, agent="x")
    tell(records, id="a")
    tell(records, id="a/b", agent="y")
    told = tell(records, id="z", status=Status.DONE)

    assert told[0] == ("", None, "")
    assert sorted(told[1:], key=str) == [("a", "working", ""), ("a/b", "working", "y"), ("z", "done", "")]
    assert ids(records) == ["a", "a/b", "z"]


def test_clear_takes_a_subtree() -> None:
    """A clear takes a record and what is below it by whole segments; without an id it takes all."""
    records = Records()
    for id_ in ("a", "a/b", "a/b/c", "ab", ""):
        tell(records, id=id_)

    assert tell(records, id="a/b", status=None) == [("a/b", None, "")]
    assert set(ids(records)) == {"", "a", "ab"}
    assert tell(records, id="a/b", status=None) == []
    assert tell(records, status=None) == [("", None, "")]
    assert (len(records), records.current()) == (0, [])
    assert tell(records, status=None) == []


def test_clear_of_a_parent_that_is_no_record() -> None:
    """A clear takes what is below an id even if nobody ever reported the id itself, by whole segments."""
    records = Records()
    tell(records, id="a/b")
    tell(records, id="ab")

    assert tell(records, id="a", status=None) == [("a/b", None, "")]
    assert ids(records) == ["ab"]


def test_an_agent_is_inherited_from_the_nearest() -> None:
    """A record without an agent has that of the nearest record above, over gaps, and follows it when it changes."""
    records = Records()
    tell(records, agent="claude")
    tell(records, id="a", agent="x")

    assert tell(records, id="b/c/d") == [("b/c/d", "working", "claude")]
    assert tell(records, id="a/e") == [("a/e", "working", "x")]
    assert tell(records, agent="claude", status=Status.IDLE) == [("", "idle", "claude")]
    assert tell(records, agent="z", status=Status.IDLE) == [("", "idle", "z"), ("b/c/d", "working", "z")]
    assert tell(records, id="a") == [("a", "working", "z"), ("a/e", "working", "z")]


def test_a_flood_of_records_is_cheap_to_hold() -> None:
    """However many records a program invents, 256 are held, and no more of what the host is yet to be told."""
    records = Records()
    for id_ in itertools.islice(itertools.product("abcdefgh", repeat=4), 2000):
        records.report(attrs.evolve(WORKING, id="/".join(id_)), 1.0)

    assert len(records) == len(records.current()) == MAX_RECORDS
    assert len(take(records)) == MAX_RECORDS


@given(
    st.lists(
        st.builds(
            Report,
            source=st.just(Source.PROTOCOL),
            rule=st.just("osc-7501"),
            status=st.sampled_from([Status.WORKING, Status.DONE, Status.IDLE, None, None]),
            id=st.sampled_from(["", "a", "a/b", "a/b/c", "ab", "b", "b/c"]),
            agent=st.sampled_from(["", "x", "y"]),
        ),
        max_size=30,
    ),
    st.sampled_from([1, 3, 1000]),
)
def test_whoever_believes_every_word_knows_all(said: list[Report], every: int) -> None:
    """One who applies what is told, a withdrawal with all below it, ends with exactly what is recorded."""
    records = Records(limit=4)
    told: list[Report] = []
    for number, report in enumerate(said, 1):
        records.report(report, 1.0)
        assert len(records) <= 4
        if number % every == 0 or number == len(said):
            told += reports(records)
            known = {id_: (each.status, each.agent) for id_, each in state(told).items()}
            assert known == {each.id: (each.status, each.agent) for each in records.current()}
