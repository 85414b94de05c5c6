"""The codecs: properties, limits, and what a table of vectors cannot say."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallylight
from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab.scanner import Item, Scanner
from tallylight.relay.passthrough import Unwrapper, unwrap
from tallylight.wire import envelope, osc26, osc1338, pairs, title, user_var
from tallylight.wire.frame import Update
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise
from tests.helpers import is_linear, least_seconds, only_sequence, raw
from tests.strategies import FRAGMENTS, chunkings, streams, wire_reports
from tests.tables import each

SHARED = Path(tallylight.__file__).parents[1]


def frame(number: int, body: bytes) -> Sequence:
    return only_sequence(b"\x1b]%d;%b\x07" % (number, body))


# OSC 1338


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_osc1338_limit(end: bytes) -> None:
    """A frame of exactly 4096 bytes, introducer and terminator included, is read; 4097 are too long."""
    start = b"\x1b]1338;state=waiting;x="
    fits = start.ljust(4096 - len(end), b"x") + end

    assert osc1338.decode(only_sequence(fits)).status is Status.WAITING
    assert wire.decode(only_sequence(fits)) is not None
    assert wire.decode(only_sequence(fits[: -len(end)] + b"x" + end)) is None
    with pytest.raises(DecodeError, match="too-long"):
        osc1338.decode(only_sequence(fits[: -len(end)] + b"x" + end))


@each("tool", ["", "claude", "a;b=c", "100%", "café", "\t", "\x1b\x07\x00\x7f", "a=b", "漢 字"])
@each("state", ["active", "working", "waiting", "done"])
def test_osc1338_pairs_round_trip(state: str, tool: str) -> None:
    """Every state with every awkward tool comes back from the pairs exactly, before anything is sanitised."""
    payload = pairs.join([("state", state), ("tool", tool)])

    assert osc1338.read_fields(payload.decode()) == {"state": state, "tool": tool}


@pytest.mark.slow
@given(wire_reports())
def test_osc1338_round_trip(report: Report) -> None:
    """What a report says survives the frame and the bare payload; the frame holds no control but its own."""
    payload = osc1338.encode_payload(report)

    assert osc1338.decode_payload(payload) == report
    assert payload.isascii() and payload.isprintable()
    assert osc1338.decode(only_sequence(envelope.osc(1338, payload))) == report
    assert osc1338.decode(only_sequence(envelope.osc(1338, payload, st=True))) == report


def test_osc1338_tasks_and_protocol_round_trip() -> None:
    """A list of tasks comes back, harmless; the variable's rule is the protocol in which a relay heard it."""
    report = Report(source=Source.PROTOCOL, status=Status.WORKING, rule="osc-26", tasks=("Add auth", "a;b=c %", "試験"))
    payload = osc1338.encode_payload(report, via=report.rule)

    assert osc1338.decode_variable(payload) == report
    assert osc1338.decode_variable("state=working;via=sudo").rule == osc1338.VARIABLE_RULE
    assert osc1338.decode_variable("state=working;via=exit").rule == osc1338.VARIABLE_RULE
    assert osc1338.decode_variable("state=clear;via=exit").rule == osc1338.EXIT
    assert osc1338.decode_payload("state=working;via=osc-26").rule == "osc-1338"
    hostile = "state=working;tasks=" + "%0A".join(["%1B%5D0%3Bx%07", "", "%E2%80%AE" * 9, "a" * 500, *["t"] * 99])
    tasks = osc1338.decode_payload(hostile).tasks
    assert tasks[:3] == ("]0;x", "a" * osc1338.MAX_TASK, "t")
    assert len(tasks) == osc1338.MAX_LISTED_TASKS - 2


def test_osc1338_long_report_keeps_its_state() -> None:
    """A report too long for a frame loses its least telling fields, never its state, its record or its agent."""
    report = Report(
        source=Source.PROTOCOL,
        status=Status.WAITING,
        kind=Kind.PERMISSION,
        id="a/b",
        agent="claude",
        cwd="é" * 400,
        message="é" * 500,
        detail="é" * 200,
        progress=Progress(1, 4),
    )
    data = envelope.osc(1338, osc1338.encode_payload(report))
    back = osc1338.decode(only_sequence(data))

    assert len(data) <= osc1338.FRAME_LIMIT
    assert (back.status, back.kind, back.id, back.agent, back.progress) == (
        Status.WAITING,
        Kind.PERMISSION,
        "a/b",
        "claude",
        Progress(1, 4),
    )
    assert (back.cwd, back.message, back.detail) == (report.cwd, "", "")


def test_osc1338_has_no_word() -> None:
    """`down` cannot be written."""
    with pytest.raises(ValueError, match="no word"):
        osc1338.encode_payload(Report(source=Source.PROTOCOL, status=Status.DOWN))


@each("name", ["a b", "/a", "a/", "a//b", "é", "x" * 65, "/".join("abcdefghi")])
def test_osc1338_has_no_word_for_an_odd_id(name: str) -> None:
    """An id that the reader would refuse is refused by the writer."""
    with pytest.raises(ValueError, match="no word for the id"):
        osc1338.encode_payload(Report(source=Source.PROTOCOL, status=Status.IDLE, id=name))


def test_osc1338_payload_limit_and_encoding() -> None:
    """A bare payload may be as long as in a frame, and text that has no UTF-8 is malformed."""
    fits = "state=done;x=".ljust(osc1338.PAYLOAD_LIMIT, "x")

    assert osc1338.decode_payload(fits).status is Status.DONE
    with pytest.raises(DecodeError, match="too-long"):
        osc1338.decode_payload(fits + "x")
    with pytest.raises(DecodeError, match="malformed"):
        osc1338.decode_payload("state=done;tool=\ud800")
    with pytest.raises(DecodeError, match="malformed"):
        osc1338.decode_payload(b"state=done;tool=\xff")


def test_osc1338_payload_rule() -> None:
    """The rule of a report names its carrier, and its source is a protocol."""
    report = osc1338.decode_payload("state=done", rule="user var tally")

    assert (report.source, report.rule) == (Source.PROTOCOL, "user var tally")
    assert osc1338.decode_payload(b"state=done").rule == "osc-1338"


# OSC 26


def merge(*bodies: bytes) -> list[Report | None]:
    accumulator = osc26.Accumulator()
    return [accumulator.merge(osc26.decode(frame(26, body))) for body in bodies]


def test_osc26_frame_limit() -> None:
    """A frame of exactly 8 KiB is read, one byte more is not."""
    fits = b"\x1b]26;Status=idle;X=".ljust(osc26.FRAME_LIMIT - 1, b"x") + b"\x07"

    assert wire.decode(only_sequence(fits)) == Update(26, (("Status", "idle"),))
    with pytest.raises(DecodeError, match="too-long"):
        osc26.decode(only_sequence(fits[:-1] + b"x\x07"))


def test_osc26_value_limit() -> None:
    """A value of exactly 4 KiB is read, a longer one costs its pair."""
    fits = b64encode(b"a" * 3072)
    assert len(fits) == osc26.VALUE_LIMIT

    assert osc26.decode(frame(26, b"Status=idle;WorkTree=" + fits)).pairs[1] == ("WorkTree", "a" * 1024)
    assert osc26.decode(frame(26, b"Status=idle;WorkTree=" + fits + b"AAAA")).pairs == (("Status", "idle"),)


def test_osc26_pair_limit() -> None:
    """The 64th pair of a frame is read, the 65th is not."""
    filler = b"X=1;"

    assert osc26.decode(frame(26, filler * 63 + b"Status=idle")).pairs == (("Status", "idle"),)
    with pytest.raises(DecodeError, match="not-ours"):
        osc26.decode(frame(26, filler * 64 + b"Status=idle"))


def test_osc26_says_nothing_without_a_name() -> None:
    """There is no report before the map has an agent, and none between `finished` and the next status or name."""
    named = merge(b"CodeAgent=x")[-1]
    assert named is not None and named.status is Status.ACTIVE
    assert merge(b"Status=idle")[-1] is None
    assert merge(b"Status=idle;CodeAgent=x", b"Status=finished", b"Detail=x")[-1] is None


_PAIRS = st.tuples(
    st.sampled_from(["CodeAgent", "Status", "Detail", "TaskProgress"]),
    st.sampled_from(["", "running", "finished", "awaiting-input", "rate_limited", "down", " idle", "1/4"]),
)


@given(st.lists(st.lists(_PAIRS, min_size=1, max_size=4), max_size=12))
def test_osc26_tells_only_what_stands(frames: list[list[tuple[str, str]]]) -> None:
    """What was told last stands only while the last name and the last status are what was told; without one: active."""
    accumulator, told = osc26.Accumulator(), None
    said: dict[str, str] = {}
    for sent in frames:
        with contextlib.suppress(DecodeError):
            update = osc26.decode(frame(26, ";".join(f"{key}={value}" for key, value in sent).encode()))
            if said.get("CodeAgent") and dict(update.pairs).get("CodeAgent", said["CodeAgent"]) != said["CodeAgent"]:
                said = {}  # another agent inherits nothing
            said |= {key: value for key, value in update.pairs if key != "Status" or value in ("", *osc26.STATUSES)}
            report = accumulator.merge(update)
            told = report if report is not None else told
            if told is not None and told.status is not None:
                assert said["CodeAgent"] == told.agent != ""
                status, kind = osc26.STATUSES.get(said.get("Status", ""), (None, None))
                # A name alone makes an agent, also after the end of a turn.
                assert (told.status, told.kind) == (status or Status.ACTIVE, kind)
                assert said.get("TaskProgress") == "1/4" or told.progress is None
                assert sanitise(told.detail) == told.detail


def test_osc26_report_is_a_protocols() -> None:
    """An OSC 26 report ranks as a protocol and names its rule."""
    (report,) = merge(b"Status=idle;CodeAgent=x")

    assert report is not None
    assert (report.source, report.rule, report.id) == (Source.PROTOCOL, "osc-26", "")


def test_osc26_task_list_is_bounded() -> None:
    """A task list keeps 64 lines, each sanitised, and no empty one."""
    lines = "\n".join(f"task\x1b {index}" for index in range(100))
    (report,) = merge(b"Status=idle;CodeAgent=x;TaskList=" + b64encode(f"\n\n{lines}".encode()))

    assert report is not None
    assert report.tasks[0] == "task 0"
    assert len(report.tasks) == osc26.TASK_LIMIT - 2


# The other codecs


def test_title_limit() -> None:
    """A title of 1024 characters is whole, of the 1025th and a hundred thousand nothing is left."""
    for size, kept in ((1023, 1023), (1024, 1024), (1025, 1024), (100_000, 1024)):
        event = title.decode(frame(2, b"x" * size))
        assert event.text == "x" * kept


@given(st.text(max_size=1100))
def test_title_is_sanitised(text: str) -> None:
    """Any text comes out as a title of at most 1024 characters that a second sanitising leaves alone."""
    body = text.encode("utf-8", "surrogatepass")
    sequence = Scanner().feed(b"\x1b]0;" + body.translate(None, b"\x07\x18\x1a\x1b") + b"\x07")
    event = wire.decode(sequence[0]) if isinstance(sequence[0], Sequence) else None

    if isinstance(event, title.Title):
        assert len(event.text) <= title.TITLE_LIMIT
        assert sanitise(event.text, cells=1024) == event.text


def test_title_that_grows_in_nfc_is_cut_again() -> None:
    """A title whose characters decompose is at most 1024 characters all the same."""
    event = title.decode(frame(0, ("\u0958" * 1024).encode()))

    assert len(event.text) == title.TITLE_LIMIT


def test_user_var_limit() -> None:
    """A SetUserVar frame of exactly 16 KiB is read, one byte more is not."""
    start = b"\x1b]1337;SetUserVar=xxxx="
    fits = start.ljust(user_var.FRAME_LIMIT - 1, b"A") + b"\x07"

    assert user_var.decode(only_sequence(fits)).name == "xxxx"
    with pytest.raises(DecodeError, match="too-long"):
        user_var.decode(only_sequence(fits[:-1] + b"A\x07"))


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=60))
def test_user_var_round_trip(value: str) -> None:
    """A value without controls comes back as it went out, whatever else is in it."""
    event = user_var.UserVar("tally", value)

    assert user_var.decode(only_sequence(envelope.user_var("tally", value))) == event


@given(st.integers(-1, 140_000), st.binary(max_size=40))
def test_codecs_name_their_reason_or_answer(number: int, body: bytes) -> None:
    """A codec given any sequence answers with an event or raises DecodeError with a short reason, nothing else."""
    sequence = Sequence(Scanner().feed(b"\x1b]0;\x07")[0].kind, b"%d;%b" % (number, body), b"\x07", b"", number)  # type: ignore[union-attr]
    for codec in wire.CODECS.values():
        try:
            codec(sequence)
        except DecodeError as error:
            assert error.reason in {
                "not-ours", "too-long", "malformed", "bad-encoding", "unknown-state", "missing-state",
            }  # fmt: skip


@given(chunkings(streams()))
def test_decoding_never_raises_and_is_harmless(chunked: tuple[bytes, list[bytes]]) -> None:
    """Whatever a stream holds, every event's text is already harmless, and cutting the stream gives the same events."""
    data, pieces = chunked
    cut = Scanner()
    events = [wire.decode(item) for item in Scanner().feed(data) if isinstance(item, Sequence)]
    again = [wire.decode(item) for piece in pieces for item in cut.feed(piece) if isinstance(item, Sequence)]

    assert events == again
    for event in events:
        if isinstance(event, Report | title.Title):
            for field in attrs.fields(type(event)):
                value = getattr(event, field.name)
                assert not isinstance(value, str) or value.isprintable() or "\ufe0f" in value or "\u200d" in value


HUGE = {
    "unknown keys": b"k%d=v;" % 1 * 10_000,
    "separators": b";" * 100_000,
    "equals": b"=" * 100_000,
    "percents": b"state=waiting;tool=" + b"%" * 100_000,
    "digits": b"4;1;" + b"9" * 100_000,
    "exit code": b"D;" + b"9" * 100_000,
    "base64": b"SetUserVar=x=" + b"A" * 100_000,
    "progress": b"CodeAgent=x;TaskProgress=" + b"1" * 50_000 + b"/" + b"2" * 50_000,
}


@each("body", HUGE.values(), ids=HUGE)
def test_huge_payloads_cost_little(body: bytes) -> None:
    """A hundred thousand of anything is refused or read in no time, by every codec."""

    def decode() -> None:
        for number in wire.CODECS:
            wire.decode(only_sequence(b"\x1b]%d;%b\x07" % (number, body)))

    assert least_seconds(decode, 0.5) < 0.5


def test_pairs_are_linear() -> None:
    """Percent-decoding 400 kB takes about four times as long as 100 kB."""
    assert is_linear(lambda count: functools.partial(pairs.percent_decode, b"%41" * count), 40_000)


@given(st.binary(max_size=40))
def test_percent_round_trip(data: bytes) -> None:
    """Any bytes come back from percent-encoding, which is printable ASCII without the grammar's own characters."""
    encoded = pairs.percent_encode(data)

    assert pairs.percent_decode(encoded.encode()) == data
    assert encoded.isascii() and (encoded.isprintable() or not encoded)
    assert ";" not in encoded and "=" not in encoded


def test_percent_encode_spelling() -> None:
    """Upper-case hexadecimal for ; = % C0, DEL and all beyond ASCII; everything else literal."""
    assert pairs.percent_encode(" ~a/:é;=%\t\x7f\ud800") == " ~a/:%C3%A9%3B%3D%25%09%7F?"


# Envelopes


def test_envelope_bytes() -> None:
    """An envelope is exactly these bytes."""
    assert envelope.osc(1338, "state=waiting") == b"\x1b]1338;state=waiting\x07"
    assert envelope.osc(2, "é", st=True) == b"\x1b]2;\xc3\xa9\x1b\\"
    assert (
        envelope.user_var("tally", "state=waiting;tool=claude")
        == b"\x1b]1337;SetUserVar=tally=c3RhdGU9d2FpdGluZzt0b29sPWNsYXVkZQ==\x07"
    )
    assert envelope.tmux_wrap(b"\x1b]1338;state=waiting\x07") == b"\x1bPtmux;\x1b\x1b]1338;state=waiting\x07\x1b\\"
    assert envelope.tmux_wrap(b"\x1b]1338;state=waiting\x07", 2) == (
        b"\x1bPtmux;\x1b\x1bPtmux;\x1b\x1b\x1b\x1b]1338;state=waiting\x07\x1b\x1b\\\x1b\\"
    )
    assert envelope.screen_wrap(b"\x1b]1338;state=waiting\x07") == b"\x1bP\x1b]1338;state=waiting\x07\x1b\\"
    assert envelope.screen_wrap(b"") == b""


@each(("size", "envelopes"), [(766, 1), (767, 1), (768, 2), (1534, 2), (1535, 3)])
def test_screen_chunks(size: int, envelopes: int) -> None:
    """No chunk for GNU Screen is longer than 767 bytes."""
    data = b"\x1b]2;".ljust(size - 1, b"x") + b"\x07"
    items = Scanner(screen=True).feed(envelope.screen_wrap(data))

    assert len(items) == envelopes
    assert all(isinstance(item, Sequence) and len(item.payload) <= 767 for item in items)
    assert b"".join(unwrap(item, screen=True) or b"" for item in items if isinstance(item, Sequence)) == data


FRAMES = st.lists(
    st.tuples(st.sampled_from([26, 99, 1338, 7501]), st.binary(max_size=900), st.booleans()).map(
        lambda frame: envelope.osc(frame[0], frame[1].translate(None, b"\x07\x18\x1a\x1b"), st=frame[2])
    ),
    min_size=1,
    max_size=4,
)


@given(FRAMES, st.sampled_from(["tmux", "tmux twice", "screen"]), st.integers(1, 9))
def test_wrapped_frames_come_out_whole(frames: list[bytes], way: str, step: int) -> None:
    """What goes into an envelope comes out of it, BEL and ST, one frame or many, through the scanner in pieces."""
    data = b"".join(frames)
    screen = way == "screen"
    wrapped = envelope.screen_wrap(data) if screen else envelope.tmux_wrap(data, 2 if way == "tmux twice" else 1)
    scanner, unwrapper = Scanner(screen=screen), Unwrapper(screen=screen)
    items: list[Item] = []
    for at in range(0, len(wrapped), step):
        items += scanner.feed(wrapped[at : at + step])
    found = [inner for item in items if isinstance(item, Sequence) for inner in unwrapper.feed(item)]

    assert [sequence.raw for sequence in found] == frames
    assert raw(items) == wrapped


def test_nesting_is_bounded() -> None:
    """Four levels of tmux are opened, a fifth is left closed."""
    inner = b"\x1b]1338;state=waiting\x07"
    for levels, opened in ((4, True), (5, False)):
        found = Unwrapper().feed(only_sequence(envelope.tmux_wrap(inner, levels)))
        assert [one.raw for one in found] == ([inner] if opened else [])


def test_other_dcs_is_no_envelope() -> None:
    """Sixel, XTGETTCAP and everything that is not a DCS are never opened."""
    for data in (b"\x1bPq]1338;state=waiting\x1b\\", b"\x1bP+q1338\x1b\\", b"\x1b]0;tmux;\x07", b"\x1b[m"):
        assert unwrap(only_sequence(data)) is None
        assert Unwrapper().feed(only_sequence(data)) == []


# The table


def test_table() -> None:
    """Each codec answers to its number, and a number of nobody's says nothing."""
    assert set(wire.CODECS) == {0, 2, 9, 26, 88, 99, 133, 777, 1337, 1338, 3008, 7501, 21337}
    for fragment in FRAGMENTS:
        for item in Scanner().feed(fragment):
            if isinstance(item, Sequence) and item.number not in wire.CODECS:
                assert wire.decode(item) is None
    assert wire.decode(frame(633, b"A")) is None
    assert wire.decode(only_sequence(b"\x1b[m")) is None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wire.nothing


def test_emit_diet() -> None:
    """`wire.pairs` and `wire.envelope` load no re, enum, attrs or typing: `tally emit` starts in no time."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tallylight.wire.pairs, tallylight.wire.envelope; "
        "print(sorted({'re', 'enum', 'attr', 'attrs', 'typing', 'dataclasses', 'collections'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-I", "-S", "-c", script, str(SHARED)], capture_output=True, text=True)

    assert (result.stdout, result.stderr) == ("[]\n", "")
