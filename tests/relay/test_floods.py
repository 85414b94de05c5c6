"""Floods through a relay: its maps stay bounded, its work linear, and what stands in the end is told."""

from __future__ import annotations

import pytest
from benchmarks.floods import SHAPES, flood, relay
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight import wire
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.relay.core import PACE, RelayCore
from tallylight.relay.records import MAX_RECORDS, Records
from tallylight.wire import envelope, osc1338
from tests.helpers import is_linear
from tests.relay.told import Line, state, told
from tests.strategies import at_most

EVERYTHING = 1_000_000


def said(id_: str, status: Status | None = Status.WORKING, rule: str = osc1338.VARIABLE_RULE) -> Report:
    return Report(source=Source.PROTOCOL, status=status, id=id_, rule=rule)


@pytest.mark.slow
def test_distinct_ids_that_the_host_heard_itself_are_not_all_remembered() -> None:
    """Of ten thousand records at most two for each that is kept are withdrawn: the host has dropped the others."""
    records = Records()
    for n in range(10_000):
        records.note_sent(said(f"r{n}"), n / 1000)
    payloads = records.take(EVERYTHING, 10.0)

    assert len(records) == MAX_RECORDS
    gone = [f"state=clear;id=r{n}" for n in range(10_000 - MAX_RECORDS)]
    assert sorted(payloads) == sorted(gone[-len(payloads) :]), "withdrawn are the newest of those that are gone"
    assert MAX_RECORDS <= len(payloads) <= 2 * MAX_RECORDS
    assert records.take(EVERYTHING, 11.0) == []


@pytest.mark.slow
def test_distinct_ids_that_were_told_are_not_all_remembered() -> None:
    """The same of what we told the host, a batch at a time."""
    records = Records()
    owed = 0
    for n in range(5_000):
        records.report(said(f"a/r{n}", rule="osc-7501"), float(n))
        owed = max(owed, len(records.take(EVERYTHING if n % 500 == 0 else 0, float(n))))

    assert owed <= 3 * MAX_RECORDS + 1
    assert len(records) == MAX_RECORDS


def test_one_that_comes_back_is_told_anew() -> None:
    """A record that went and was not yet withdrawn is told again when it is reported again, and not withdrawn."""
    records = Records(limit=1)
    records.report(said("a", rule="osc-7501"), 1.0)
    assert records.take(9, 1.0) == ["state=working;id=a;via=osc-7501"]
    records.report(said("b", rule="osc-7501"), 2.0)
    records.report(said("a", rule="osc-7501"), 3.0)

    assert records.take(9, 3.0) == ["state=working;id=a;via=osc-7501"]
    assert [report.id for report in records.current()] == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["r{}", "a/b/r{}"])
@pytest.mark.parametrize("is_noted", [True, False])
def test_distinct_ids_are_linear(id_: str, is_noted: bool) -> None:
    """Four times as many take four times as long, whoever told the host."""

    def work(size: int) -> object:
        records = Records()
        tell = records.note_sent if is_noted else records.report
        return lambda: [tell(said(id_.format(n)), n / 1000) for n in range(size)]

    assert is_linear(work, 2000)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["carrier, distinct ids", "tmux's envelopes", "a DCS without end", "RIS", "OSC 26"])
def test_a_flood_through_the_core_is_linear(shape: str) -> None:
    """Four times as much takes four times as long."""

    def work(size: int) -> object:
        data = flood(shape, size)
        return lambda: relay(data)

    assert is_linear(work, 60_000)  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_shape_leaves_a_core_bounded() -> None:
    """Whatever is printed, records and what waits to be read or told stay within their limits."""
    for shape in SHAPES:
        core = relay(flood(shape, 30_000))
        assert len(core.reports()) <= MAX_RECORDS, shape
        core.finished(60.0)
        assert core.to_terminal().count(b"SetUserVar=tally=") <= 3 * MAX_RECORDS + PACE.kept, shape


@pytest.mark.parametrize("carry", [True, False])
def test_the_question_at_the_end_of_a_flood_is_told(carry: bool) -> None:
    """What stands when a flood ends is told to the host, or known where the program told it itself."""
    line = Line()
    question = "state=waiting;kind=permission"
    end = envelope.user_var("tally", question) if carry else envelope.osc(1338, question)
    data = flood("carrier, one record" if carry else "OSC 1338", 200_000) + end
    out = line.at(1.0, data)
    out += b"".join(found for _, found in line.run(60.0, 1.0))

    assert {report.id: report.status for report in line.core.reports()}[""] is Status.WAITING
    assert state(told(out))[""].status is Status.WAITING


def test_the_end_of_a_program_waits_for_no_pace() -> None:
    """What was said in the last moment counts when the program ends."""
    core = RelayCore()
    core.from_child(flood("OSC 7501", 50_000) + b"\x1b]7501;state=done\x07", 1.0)
    core.finished(1.0)

    assert {report.id: report.status for report in core.reports()} == {"": Status.DONE}


def test_a_reset_voids_what_waits() -> None:
    """RIS takes back what was not read yet, but for how to start again."""
    core = RelayCore()
    core.from_child(flood("OSC 7501", 50_000) + b"\x1b]88;arm;cmd=dmlt\x07\x1bc", 1.0)
    core.tick(1.2)

    assert core.reports() == []
    assert envelope.user_var("tally", "resume=vim") in core.to_terminal()


#: Two that come behind a flood, and how many of them are read.
PAIRS: list[tuple[bytes, bytes, int]] = [
    (b"\x1b]7501;state=working: id = a/b :app=x\x07", b"\x1b]7501;id=a/b:state=done\x1b\\", 1),
    (b"\x1b]7501;state=working:id=a\x07", b"\x1b]7501;state=clear:id=a\x07", 1),
    (b"\x1b]7501;state=clear:id=a\x07", b"\x1b]7501;state=working:id=a\x07", 2),
    (b"\x1b]1338;state=working;id=a\x07", b"\x1b]7501;state=working:id=a\x07", 2),
    (b"\x1b]1338;state=working;id=%61\x07", b"\x1b]1338;state=done;id=a\x07", 1),
    (b"\x1b]1338;state=working\x07", b"\x1b]1338;state=wrong\x07", 1),
    (b"\x1b]1338;state=working\x07", b"\x1b]1338;state=done;message=%zz;id=%zz\x07", 1),
    (envelope.user_var("tally", "state=done"), envelope.user_var("tally", "state=idle"), 1),
    (envelope.user_var("tally", "state=done;at=1"), envelope.user_var("tally", "state=idle;at=2"), 2),
    (envelope.user_var("tally", "state=done"), b"\x1b]1337;SetUserVar=tally=!\x07", 1),
    (b"\x1b]26;CodeAgent=x;Status=running\x07", b"\x1b]26;Status=idle\x07", 2),
    # What cannot be read replaces nothing.
    (b"\x1b]7501;state=done\x07", b"\x1b]7501;state=working:id=\x07", 1),
    (b"\x1b]7501;state=done:id=a\x07", b"\x1b]7501;state=working:id=a b\x07", 1),
    (b"\x1b]7501;state=done\x07", b"\x1b]7501;state=working:msg=!\x07", 1),
    (b"\x1b]7501;state=wrong\x07", b"\x1b]7501;state=working:state=i dle\x07", 1),
    (b"\x1b]1338;state=done\x07", b"\x1b]1338;state=working;title=\xff\x07", 1),
    (b"\x1b]88;arm;cmd=dmlt\x07", b"\x1b]88;arm;cmd=!\x07", 1),
]


def test_of_one_record_the_newest_that_can_be_read_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the protocol; what tells only changes is read whole."""
    decode = wire.decode
    for older, newer, count in PAIRS:
        core = RelayCore()
        core.from_child(b"\x1b]7501;state=clear\x07" * PACE.at_once, 1.0)
        core.from_child(older + newer, 1.0)
        read: dict[bytes, wire.Event | None] = {}
        monkeypatch.setattr(wire, "decode", lambda found, read=read: read.setdefault(found.raw, decode(found)))
        core.tick(1.2)
        monkeypatch.undo()
        assert sum(event is not None for event in read.values()) == count, newer


IDS = ("", "a", "a/b", "a/b/c", "d", "ab")
SEQUENCES = st.one_of(
    st.builds(
        "7501;state={}:id={}".format,
        st.sampled_from(["working", "blocked", "done", "error", "idle", "clear"]),
        st.sampled_from([*IDS[1:], ""]),
    ).map(lambda text: text.removesuffix(":id=")),
    st.builds("1338;state={};id={}".format, st.sampled_from(["working", "waiting", "clear"]), st.sampled_from(IDS)),
    st.builds("26;CodeAgent=x;Status={}".format, st.sampled_from(["running", "idle", "finished"])),
).map(lambda text: b"\x1b]" + text.encode() + b"\x07")


@settings(max_examples=at_most(60), deadline=None)
@given(st.lists(SEQUENCES, max_size=30))
def test_folding_changes_nothing_that_stands(sequences: list[bytes]) -> None:
    """Behind a flood or one after the other, the same records stand in the end."""
    slow, fast = Line(), Line()
    filler = b"\x1b]7501;state=clear\x07" * PACE.at_once
    slow.at(1.0, filler)
    fast.at(1.0, filler)
    for n, sequence in enumerate(sequences):
        slow.at(2 + n, sequence)
        fast.at(1.0, sequence)
    slow.run(60.0, 40.0)
    fast.run(60.0, 1.0)

    assert words(fast) == words(slow)


def words(line: Line) -> dict[str, Status | None]:
    return {report.id: report.status for report in line.core.reports()}
