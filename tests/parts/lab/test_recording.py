"""Recordings: what is written comes back, and whatever is broken costs itself."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab.asciicast import MAX_EVENT_BYTES, Encoder, Event, Header, Input, Mark, Output, Resize, What
from tallylight.parts.lab.decoder import MAX_CAST_LINE_BYTES, MAX_TIME_S, Problem, RecordingError, decode
from tallylight.parts.lab.events import Exit, ForegroundChange, Program
from tallylight.tracker.foreground import Foreground
from tests.tables import each

HEADER = Header(
    columns=100,
    rows=30,
    timestamp=1_700_000_000,
    started=1_700_000_000.25,
    command="codex",
    title="one",
    env={"TERM": "xterm"},
)
REPORT = Report(
    source=Source.REGISTRY,
    status=Status.WAITING,
    kind=Kind.PERMISSION,
    rule="status file: waiting, permission prompt",
    agent="claude",
    session="s-1",
    cwd="/src",
    message="run it?",
    progress=Progress(1, 4),
    background=2,
)


def encoded(events: Sequence[Event], header: Header = HEADER) -> bytes:
    """Write a whole recording."""
    encoder = Encoder()
    return encoder.header(header) + b"".join(map(encoder.event, events)) + encoder.finish()


def decoded(data: bytes) -> list[Header | Event | Problem]:
    return list(decode(io.BytesIO(data).readline))


def problems(data: bytes) -> list[tuple[int, str]]:
    """The problems of a recording: line and text."""
    return [(item.line, item.text) for item in decoded(data) if isinstance(item, Problem)]


def lines(*rest: str) -> bytes:
    """A recording of a good header and these lines."""
    return "\n".join(['{"version": 2, "width": 80, "height": 24}', *rest, ""]).encode()


@each(
    "what",
    [
        Output(b"\x1b]0;\xe2\x9c\xb3 hi\x07"),
        Output(b"\xff\xfe\x80"),
        Input(b"\x03"),
        Resize(120, 40),
        Mark("status=waiting"),
        ForegroundChange(Foreground("claude", 17, speaks=True)),
        ForegroundChange(Foreground("ssh", 18, is_agent=False), is_gone=False),
        ForegroundChange(None, is_gone=False),
        Program("/opt/vibe/vibe-rs", ("vibe",)),
        Exit(137),
        Exit(None, 9),
        Exit(None),
        REPORT,
        Report(source=Source.REGISTRY, status=None, agent="claude", rule="status file removed"),
    ],
    ids=lambda what: type(what).__name__,
)
def test_an_event_comes_back(what: What) -> None:
    """Every kind of event, written and read, is itself."""
    assert decoded(encoded([Event(1.25, what)])) == [HEADER, Event(1.25, what)]


def test_lines_are_asciicast() -> None:
    """The file is what asciinema's players read: a header of version 2, then arrays of a number and two strings."""
    first, *rest = encoded([Event(0.5, Output(b"\x1b[1mx")), Event(1, REPORT), Event(2, Resize(9, 8))]).splitlines()

    assert json.loads(first)["version"] == 2
    assert json.loads(rest[0]) == [0.5, "o", "\x1b[1mx"]
    assert json.loads(rest[2]) == [2, "r", "9x8"]
    for line in rest:
        assert list(map(type, json.loads(line)[1:])) == [str, str]
        assert b"\x1b" not in line


def test_bytes_that_are_no_text_play_as_text() -> None:
    """What is no UTF-8 is replacement characters to a player, and the line before it has the bytes."""
    data = encoded([Event(0, Output(b"a\xffb"))])

    assert json.loads(data.splitlines()[2]) == [0, "o", "a\ufffdb"]
    assert json.loads(json.loads(data.splitlines()[1])[2])["type"] == "raw"


def test_a_character_in_two_reads_is_one() -> None:
    """A character that arrives in pieces is held until it is whole, or until the end."""
    events = [Event(0, Output(b"\xe2\x9c")), Event(1, Output(b"\x93 \xe2")), Event(2, Input(b"\xc3"))]

    assert decoded(encoded(events))[1:] == [
        Event(1, Output("✓ ".encode())),
        Event(2, Output(b"\xe2")),
        Event(2, Input(b"\xc3")),
    ]


@given(st.lists(st.tuples(st.floats(0, 1000), st.binary(max_size=40)), max_size=20))
def test_all_bytes_come_back_in_order(pieces: list[tuple[float, bytes]]) -> None:
    """Whatever is written in whatever pieces, the bytes read are the same and time never goes back."""
    items = decoded(encoded([Event(time, Output(data)) for time, data in pieces]))
    events = [item for item in items if isinstance(item, Event)]

    assert b"".join(e.what.data for e in events if isinstance(e.what, Output)) == b"".join(d for _, d in pieces)
    assert [e.time for e in events] == sorted(e.time for e in events)
    assert len(items) == len(events) + 1


@each("piece", [b"\x1b", b"\xff", "✓".encode()])
def test_a_flood_is_many_lines(piece: bytes) -> None:
    """However much is written at once, no line is longer than what is read back."""
    data = piece * (3 * MAX_EVENT_BYTES // len(piece))
    written = encoded([Event(0, Output(data))])

    assert max(map(len, written.splitlines())) < MAX_CAST_LINE_BYTES
    assert b"".join(e.what.data for e in decoded(written)[1:] if isinstance(e, Event)) == data  # type: ignore[union-attr]


@each(
    ("first", "said"),
    [
        (b"", "no header"),
        (b"\n", "no header"),
        (b"hello\n", "not JSON"),
        (b"[1, 2]\n", "no header"),
        (b'{"version": 1}\n', "version 1"),
        (b'{"version": 4, "term": {}}\n', "versions 2 and 3"),
        (b'{"version": true}\n', "version True"),
        (b'{"version": "2"}\n', "version '2'"),
        (b'{"version": NaN}\n', "NaN"),
        (b"[" * 100_000 + b"\n", "nested"),
        (b" " * (MAX_CAST_LINE_BYTES + 2) + b"\n", "no header"),
        (b"\x7fELF\x02\xff\n", "not JSON"),
    ],
)
def test_what_is_no_recording_is_refused(first: bytes, said: str) -> None:
    """A file without a header of this version is refused with what is wrong with its first line."""
    with pytest.raises(RecordingError, match=said) as caught:
        decoded(first + b'[0, "o", "x"]\n')
    assert "line 1" in str(caught.value)


def test_version_3_is_read() -> None:
    """What asciinema 3 writes: the size in `term`, times since the event before, comments, and how it ended."""
    first = (
        '{"version": 3, "term": {"cols": 100, "rows": 30, "type": "xterm"}, "timestamp": 1700000000, "command": "x"}'
    )
    rest = ["# a comment", '[0.5, "o", "a"]', '[0.25, "o", "b"]', "#", '[1, "r", "90x20"]', '[2.0, "x", "1"]']
    said = decoded("\n".join([first, *rest, '[0.1, "x", "no"]', ""]).encode())

    assert said[0] == Header(columns=100, rows=30, timestamp=1_700_000_000, command="x")
    assert said[1:5] == [
        Event(0.5, Output(b"a")),
        Event(0.75, Output(b"b")),
        Event(1.75, Resize(90, 20)),
        Event(3.75, Exit(1)),
    ]
    assert isinstance(said[5], Problem)
    assert decoded(b'{"version": 3}\n')[0] == Header()


BROKEN = {
    "not JSON": ("[1, nope]", "not JSON"),
    "an object": ('{"a": 1}', "no event"),
    "too short": ('[1, "o"]', "no event"),
    "a number for a code": ('[1, 2, "x"]', "no event"),
    "negative": ('[-1, "o", "x"]', "no time"),
    "true": ('[true, "o", "x"]', "no time"),
    "infinite": ('[Infinity, "o", "x"]', "Infinity"),
    "far off": (f'[{MAX_TIME_S + 1}, "o", "x"]', "no time"),
    "huge integer": (f'[{"9" * 4000}, "o", "x"]', "not JSON"),
    "too many digits": (f'[{"9" * 5000}, "o", "x"]', "not JSON"),
    "a number for output": ('[1, "o", 5]', "no string"),
    "a size in words": ('[1, "r", "80 by 24"]', "COLUMNSxROWS"),
    "a size of nothing": ('[1, "r", "0x24"]', "COLUMNSxROWS"),
    "a size beyond screens": ('[1, "r", "99999x24"]', "COLUMNSxROWS"),
    "nested": ('[1, "x", "%s"]' % ("[" * 100_000), "nested"),
    "evidence that is no JSON": ('[1, "x", "{"]', "not JSON"),
    "evidence that is a list": ('[1, "x", "[]"]', "no JSON object"),
    "bad base64": (r'[1, "x", "{\"type\": \"raw\", \"base64\": \"!\"}"]', "base64"),
    "a hostile name": (
        r'[1, "x", "{\"type\": \"foreground\", \"name\": \"a b\"}"]',
        "foreground name without a program",
    ),
    "an unknown status": (r'[1, "x", "{\"type\": \"report\", \"source\": \"title\", \"status\": \"ok\"}"]', "status"),
    "a list for a status": (r'[1, "x", "{\"type\": \"report\", \"source\": \"title\", \"status\": []}"]', "status"),
    "an unknown source": (r'[1, "x", "{\"type\": \"report\", \"source\": \"god\", \"status\": \"idle\"}"]', "source"),
    "too long": ('[1, "o", "%s"]' % ("x" * MAX_CAST_LINE_BYTES), "longer"),
}


@each(("line", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_costs_itself(line: str, said: str) -> None:
    """A line that breaks a rule is named with its number, and those around it are read."""
    data = lines('[0, "o", "a"]', line, '[2, "o", "b"]')

    ((number, text),) = problems(data)
    assert number == 3
    assert said in text
    assert [e.what for e in decoded(data) if isinstance(e, Event)] == [Output(b"a"), Output(b"b")]


def test_a_recording_that_breaks_off_is_read_to_there() -> None:
    """The last line of a session that was killed may be cut anywhere: it alone is lost, and named."""
    whole = lines('[0, "o", "a"]', '[1, "o", "b✓"]').rstrip(b"\n")
    start = whole.rindex(b"[1") + 1

    for end in range(start, len(whole)):
        ((number, text),) = problems(whole[:end])
        assert (number, "breaks off here" in text) == (3, True)
    assert problems(whole) == []


def test_time_that_goes_back_stands_still() -> None:
    """An event earlier than the one before it is kept, at that one's time."""
    data = lines('[5, "o", "a"]', '[3, "o", "b"]', '[6, "o", "c"]')

    assert [e.time for e in decoded(data) if isinstance(e, Event)] == [5, 5, 6]
    assert [number for number, _ in problems(data)] == [3]


def test_what_is_not_known_is_skipped() -> None:
    """Codes and evidence of others, and empty lines, are no problem."""
    data = lines('[1, "z", {"a": 1}]', "", r'[1, "x", "{\"type\": \"weather\"}"]', '[2, "o", "b"]')

    assert problems(data) == []
    assert decoded(data)[1:] == [Event(2, Output(b"b"))]


def test_bytes_stand_for_the_next_line_only() -> None:
    """Raw bytes belong to the line behind them and to no later one."""
    raw = r'[1, "x", "{\"type\": \"raw\", \"base64\": \"/w==\"}"]'

    assert decoded(lines(raw, '[1, "m", "x"]', '[1, "o", "b"]'))[2:] == [Event(1, Output(b"b"))]


def test_a_report_is_not_believed() -> None:
    """Texts of a recorded report are sanitised, a bad agent or progress is dropped, and nothing is run."""
    fields = {"type": "report", "source": "registry", "status": "working", "agent": "a b", "title": "x\x1b]0;y\x07"}
    fields |= {"progress": [9, 4], "background": -1, "resume": ["rm", "-rf"], "message": 7}  # type: ignore[dict-item]
    (event,) = decoded(lines(json.dumps([0, "x", json.dumps(fields)])))[1:]

    assert isinstance(event, Event)
    assert event.what == Report(source=Source.REGISTRY, status=Status.WORKING, title="x]0;y")


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    """Whatever follows the header, reading it raises nothing."""
    decoded(lines() + data)
