"""OSC 7501: its vectors, its limits, its query, and a pane's records."""

from __future__ import annotations

import itertools
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight import wire
from tallylight.errors import DecodeError
from tallylight.report import Report, Source
from tallylight.scanner import Scanner, Sequence
from tallylight.status import Kind, Status
from tallylight.wire import osc7501
from tallylight.wire.osc7501 import Records, State, Status7501
from tests.helpers import Vector, check_vector, only_sequence, vector_params


def decode(body: str) -> Status7501:
    return osc7501.decode(only_sequence(f"\x1b]7501;{body}\x07".encode()))


def apply(records: Records, *bodies: str) -> list[tuple[str, str | None, str]]:
    """Apply reports; give id, status and agent of what the last one changed."""
    changed: list[Report] = []
    for body in bodies:
        changed = records.apply(decode(body))
    return [(report.id, report.status and report.status.value, report.agent) for report in changed]


@pytest.mark.parametrize("vector", vector_params("osc7501"))
def test_osc7501(vector: Vector) -> None:
    """OSC 7501 is read by the page, merged record by record, and written in its canonical form."""
    check_vector(vector, lambda data: osc7501.decode(only_sequence(data)), osc7501.encode)


# Limits


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_frame_limit(end: bytes) -> None:
    """A sequence of exactly 4096 bytes, introducer and terminator included, is read; 4097 are too long."""
    start = b"\x1b]7501;state=idle:x="
    fits = start.ljust(4096 - len(end), b"x") + end

    assert osc7501.decode(only_sequence(fits)).state is State.IDLE
    assert wire.decode(only_sequence(fits[: -len(end)] + b"x" + end)) is None
    with pytest.raises(DecodeError, match="too-long"):
        osc7501.decode(only_sequence(fits[: -len(end)] + b"x" + end))


@pytest.mark.parametrize(("key", "encoded", "decoded"), [("title", 256, 192), ("msg", 2732, 2048)])
def test_text_limits(key: str, encoded: int, decoded: int) -> None:
    """A text is read at exactly its limit in base64 and decoded; one more of either costs the report."""
    fits = b64encode(b"a" * decoded).decode()
    assert len(fits) == encoded

    assert decode(f"state=idle:{key}={fits}").state is State.IDLE
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=idle:{key}={b64encode(b'a' * (decoded + 1)).decode().rstrip('=')}")
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=idle:{key}={fits}A")
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=clear:{key}={fits}A:{key}=YQ==")


def test_id_limit() -> None:
    """An id of exactly 128 bytes is read, one of 129 is not."""
    fits = "/".join(["a" * 32] * 3 + ["a" * 29])
    assert len(fits) == osc7501.ID_LIMIT

    assert decode(f"state=idle:id={fits}").id == fits
    with pytest.raises(DecodeError, match="malformed"):
        decode(f"state=idle:id={fits}a")


def test_message_is_cut_for_one_line() -> None:
    """Of the longest message the first 512 cells are kept, and what is written of it is never over the limits."""
    status = decode(f"state=idle:msg={b64encode(b'a' * 2048).decode()}")
    assert status.message == "a" * osc7501.MESSAGE_CELLS

    data = osc7501.encode(Status7501(state=State.IDLE, title="✓" * 256, message="✓" * 2000))
    back = osc7501.decode(only_sequence(data))
    assert (back.title, back.message) == ("✓" * 64, "✓" * 512)


# The query


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_query(end: bytes) -> None:
    """A query is answered by its own bytes, with its own terminator, and says nothing else."""
    sequence = only_sequence(b"\x1b]7501;?" + end)

    assert osc7501.is_query(sequence)
    assert osc7501.answer(sequence) == sequence.raw
    assert wire.decode(sequence) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b]7501;??\x07",
        b"\x1b]7501;?:state=idle\x07",
        b"\x1b]7501;?:future=1\x07",
        b"\x1b]7501\x07",
        b"\x1b]7501;\x07",
        b"\x1b]7501; ?\x07",
        b"\x1b]7501;? \x07",
        b"\x1b]07501;?\x07",
        b"\x1b]7501?\x07",
        b"\x1bP7501;?\x1b\\",
        b"\x1b_7501;?\x1b\\",
    ],
)
def test_no_query(data: bytes) -> None:
    """Only exactly `OSC 7501;?` is a query."""
    assert not osc7501.is_query(only_sequence(data))


# Records


def test_reports_say_where_they_come_from() -> None:
    """A report of OSC 7501 ranks as a protocol and names its rule."""
    (report,) = Records().apply(decode("state=blocked:kind=auth"))

    assert (report.source, report.rule) == (Source.PROTOCOL, "osc-7501")
    assert (report.status, report.kind, report.id) == (Status.WAITING, Kind.AUTH, "")


def test_256_records() -> None:
    """The 256th record is kept; the 257th costs the one that was reported least recently, and only that."""
    records = Records()
    for index in range(256):
        assert apply(records, f"state=idle:id=r{index}") == [(f"r{index}", "idle", "")]
    assert len(records) == 256
    apply(records, "state=done:id=r0")

    assert apply(records, "state=idle:id=new") == [("new", "idle", ""), ("r1", None, "")]
    assert len(records) == 256
    assert [report.id for report in records.reports()][-2:] == ["r0", "new"]


def test_eviction_spares_children() -> None:
    """A record that is evicted does not take its children along: they are reported again, and so are their agents."""
    records = Records(limit=3)
    apply(records, "state=idle:app=x", "state=working:id=a", "state=working:id=a/b:app=y")

    assert apply(records, "state=done:id=z") == [
        ("z", "done", "x"),
        ("", None, ""),
        ("a", "working", ""),
        ("a/b", "working", "y"),
        ("z", "done", ""),
    ]


def test_clear_takes_a_subtree() -> None:
    """A clear takes a record and what is below it by whole segments; without an id it takes all."""
    records = Records()
    apply(records, "state=idle:id=a", "state=idle:id=a/b", "state=idle:id=a/b/c", "state=idle:id=ab", "state=idle")

    assert apply(records, "state=clear:id=a/b") == [("a/b", None, "")]
    assert {report.id for report in records.reports()} == {"", "a", "ab"}
    assert apply(records, "state=clear:id=a/b") == []
    assert apply(records, "state=clear") == [("", None, "")]
    assert (len(records), records.reports()) == (0, [])
    assert apply(records, "state=clear") == []


def test_clear_of_a_parent_that_is_no_record() -> None:
    """A clear takes what is below an id even if nobody ever reported the id itself."""
    records = Records()
    apply(records, "state=idle:id=a/b")

    assert apply(records, "state=clear:id=a") == [("a", None, "")]
    assert len(records) == 0


def test_app_is_inherited_from_the_nearest() -> None:
    """A record without an app has that of the nearest record above, over gaps, and follows it when it changes."""
    records = Records()
    apply(records, "state=idle:app=claude-code", "state=idle:id=a:app=x")

    assert apply(records, "state=idle:id=b/c/d") == [("b/c/d", "idle", "claude")]
    assert apply(records, "state=idle:id=a/e") == [("a/e", "idle", "x")]
    assert apply(records, "state=working:app=claude-code") == [("", "working", "claude")]
    assert apply(records, "state=idle:app=z") == [("", "idle", "z"), ("b/c/d", "idle", "z")]
    assert apply(records, "state=idle:id=a") == [("a", "idle", "z"), ("a/e", "idle", "z")]


def test_the_end_of_a_program() -> None:
    """When the program ends, done and error stay to be seen; the rest goes, and takes no child with it that stays."""
    records = Records()
    apply(
        records,
        "state=working:app=x",
        "state=done:id=a",
        "state=blocked:id=a/b",
        "state=error:id=a/b/c",
        "state=idle:id=d",
    )

    changed = records.program_ended()

    # Below the root all that stays is said again, once.
    assert [(report.id, report.status) for report in changed] == [
        ("", None),
        ("a", Status.DONE),
        ("a/b/c", Status.ERROR),
    ]
    assert {report.agent for report in changed} == {""}
    assert records.program_ended() == []


STATUSES = st.builds(
    Status7501,
    state=st.sampled_from(State),
    id=st.sampled_from(["", "a", "a/b", "a/b/c", "ab", "b", "b/c"]),
    app=st.sampled_from(["", "x", "y"]),
)


@given(st.lists(STATUSES, max_size=30))
def test_whoever_believes_every_report_knows_all(statuses: list[Status7501]) -> None:
    """One who applies the reports one by one, a withdrawal with all below it, ends with exactly what is recorded."""
    records = Records(limit=4)
    known: dict[str, Report] = {}
    for status in statuses:
        for report in records.apply(status):
            if report.status is not None:
                known[report.id] = report
                continue
            gone = [id_ for id_ in known if not report.id or f"{id_}/".startswith(f"{report.id}/")]
            for id_ in gone:
                del known[id_]
        assert known == {report.id: report for report in records.reports()}
        assert len(records) <= 4


@given(
    st.builds(
        Status7501,
        state=st.sampled_from(State),
        id=st.sampled_from(["", "a", "a/b"]),
        app=st.sampled_from(["", "claude-code"]),
        title=st.text(alphabet="ab ;:=%é漢✓", max_size=40),
        message=st.text(alphabet="ab ;:=%é漢✓", max_size=300),
    ),
    st.booleans(),
)
def test_round_trip(status: Status7501, with_st: bool) -> None:
    """What is written comes back, and holds no control but its own."""
    data = osc7501.encode(status, st=with_st)

    assert osc7501.decode(only_sequence(data)) == status
    assert data[2:-2].isascii() and data[2:-2].decode().isprintable()


def test_a_flood_of_records_is_cheap_to_hold() -> None:
    """However many records a program invents, 256 are held."""
    records = Records()
    ids = itertools.islice(itertools.product("abcdefgh", repeat=4), 2000)
    for id_ in ids:
        records.apply(Status7501(state=State.WORKING, id="/".join(id_)))

    assert len(records) == osc7501.RECORD_LIMIT


def test_two_reports_in_one_chunk() -> None:
    """Reports that arrive together are read one by one, in order."""
    items = Scanner().feed(b"\x1b]7501;state=working\x07\x1b]7501;state=done\x1b\\")
    states = [osc7501.decode(item).state for item in items if isinstance(item, Sequence)]

    assert states == [State.WORKING, State.DONE]
