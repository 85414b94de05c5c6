"""The Lua decoder of the `tally` variable against Python's, on the same vectors and on what nobody thought of."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model import lights
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.rollup import precedence, urgency
from tallylight.wire import osc1338, text
from tests.helpers import Vector, vector_params
from tests.hosts.wezterm.fake import Fake
from tests.tables import each
from tests.wire.shown import ROWS

FAKE = Fake()
CARRIER = FAKE.require("tallylight.wire.carrier")
TEXT = FAKE.require("tallylight.wire.text")
WORDS = FAKE.require("tallylight.model.status")
FIELDS = ("agent", "project", "session", "title", "cwd", "worktree", "mode", "message", "detail")


def first(result: Any) -> Any:
    return result if isinstance(result, tuple) else (result, None)


def by_lua(payload: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """What the Lua decoder gives: a report as a dict, or a reason."""
    report, reason = first(CARRIER.decode(payload))
    found = dict(report.items()) if report is not None else None
    if found is not None and "vars" in found:
        found["vars"] = dict(found["vars"].items())
    return found, reason


def by_python(payload: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """The same from Python's, in the same form."""
    try:
        report = osc1338.decode_payload(payload)
    except DecodeError as error:
        return None, error.reason
    return plain(report), None


def plain(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(report, name) for name in FIELDS if getattr(report, name)}
    found |= {"status": report.status.value if report.status else "clear", "id": report.id}
    found["source"] = "notification" if report.source is Source.NOTIFICATION else "protocol"
    if report.kind:
        found["kind"] = report.kind.value
    if report.progress:
        found["progress"] = f"{report.progress.done}/{report.progress.total}"
    if report.vars:
        found["vars"] = dict(report.vars)
    if report.background:
        found["background"] = report.background
    return found


def payload_of(vector: Vector) -> bytes:
    """What follows the last number, up to the end of the frame."""
    return vector.data.rpartition(b"1338;")[2].partition(b"\x07")[0].partition(b"\x1b")[0]


@each("vector", vector_params("osc1338"))
def test_vector(vector: Vector) -> None:
    """A vector's payload means the same in Lua as in Python: the same report, or the same reason why there is none."""
    payload = payload_of(vector)
    assert by_lua(payload) == by_python(payload)
    if vector.events:
        report, _ = by_lua(payload)
        assert report is not None
        told = vector.events[-1]["report"]
        assert report["status"] == told["status"].replace("withdrawn", "clear")
        assert all(report[name] == told[name] for name in (*FIELDS, "kind", "progress", "background") if name in told)


_KEYS = st.sampled_from(
    [
        "state",
        "tool",
        "project",
        "id",
        "kind",
        "session",
        "cwd",
        "message",
        "progress",
        "vars",
        "background",
        "source",
        "x",
        "",
    ]
)
_VALUES = st.one_of(
    st.sampled_from(
        [*Status, *Kind, "clear", "notification", "3/7", "07/7", "8/7", "0/0", "12", "00001", "a/b", "a//b"]
    ),
    st.text("abcXYZ09%;=/._-:@+ \x00\x07\x1b\x7f", max_size=12),
    st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=8),
)


@given(st.lists(st.tuples(_KEYS, st.sampled_from(["=", "", "=="]), _VALUES), max_size=6))
def test_any_pairs(pairs: list[tuple[str, str, str]]) -> None:
    """Whatever pairs come, Lua and Python agree; combining marks aside, which Lua does not compose."""
    payload = ";".join(key + equals + value for key, equals, value in pairs).encode()
    assert by_lua(payload) == by_python(payload)


@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    """Bytes that are no text are refused by both, for the same reason, and neither fails."""
    (report, reason), (other, why) = (read(b"state=waiting;tool=" + data) for read in (by_lua, by_python))
    assert reason == why
    assert (report or {}).get("status") == (other or {}).get("status")


def test_length() -> None:
    """A payload of the limit is read, one of a byte more is too long, in both."""
    head = b"state=waiting;message="
    for extra, is_read in ((0, True), (1, False)):
        payload = head + b"x" * (osc1338.PAYLOAD_LIMIT - len(head) + extra)
        assert by_lua(payload) == by_python(payload)
        assert (by_lua(payload)[0] is not None) == is_read


def test_heartbeat() -> None:
    """The mark of a repetition is taken off; without it nothing changes, and Python reads past it."""
    assert CARRIER.without_beat("state=done;beat=1") == ("state=done", True)
    assert CARRIER.without_beat("state=done;project=beat=1") == ("state=done;project=beat=1", False)
    assert osc1338.decode_payload("state=done;beat=1") == osc1338.decode_payload("state=done")


def test_words() -> None:
    """Statuses, their order, colours, marks and the ranks of sources are Python's."""
    order = sorted(Status, key=urgency)
    assert sorted(WORDS.URGENCY.keys(), key=lambda name: WORDS.URGENCY[name]) == [status.value for status in order]
    assert {name: -WORDS.PRECEDENCE[name] for name in WORDS.PRECEDENCE} == {s.value: -precedence(s) for s in Status}
    assert dict(WORDS.RANKS.items()) == {source.word: source.value for source in Source}
    assert dict(WORDS.COLOURS.items()) == {
        status.value: "#{:02X}{:02X}{:02X}".format(*colour) for status, colour in lights.COLOURS.items()
    }
    assert set(WORDS.KINDS.keys()) == {kind.value for kind in Kind}
    assert set(WORDS.FILLED.keys()) == {status.value for status in lights.FILLED}
    assert (WORDS.PULSE_WHITE, WORDS.PULSE_LASTS_S) == (lights.PULSE_WHITE, lights.PULSE_LASTS_S)
    for status in Status:
        for kind in (None, *Kind):
            mark = lights.mark(status, kind)
            assert WORDS.mark(status.value, kind and kind.value) == mark
        assert WORDS.stripe(status.value) == lights.stripe(status)


@given(st.text(st.characters(exclude_categories=["Cn"]), max_size=60), st.integers(1, 40))
def test_sanitised(value: str, cells: int) -> None:
    """Nothing that Python would strip is left, and no more cells than asked for, whatever the text."""
    value = value.encode("utf-8", "replace").decode()
    out = TEXT.sanitise(value, cells)
    assert text._strip(out).replace("\ufe0f", "") == out
    assert len(out) <= cells * (1 + text.MARKS)
    assert TEXT.sanitise(out, cells) == out


@each("value", ["a" * 5000, "漢" * 5000, "e" + "\u0301" * 5000, "\u202e" * 5000 + "a"])
def test_long_text(value: str) -> None:
    """Long text is cut to its cells, marks to four."""
    out = TEXT.sanitise(value, 10)
    assert text.width(out) <= 10
    assert len(out) <= 10


@each(("dirty", "clean"), ROWS)
def test_shown(dirty: str, clean: str) -> None:
    """The same is shown as by Python, but for what is composed or joined in one sign."""
    try:
        dirty.encode()
    except UnicodeEncodeError:
        return
    if "\u200d" in clean or "\u0378" in dirty:
        return
    assert unicodedata.normalize("NFC", TEXT.sanitise(dirty)) == "".join(c for c in clean if not is_joiner(c))


def is_joiner(char: str) -> bool:
    """Whether Lua leaves it out of an emoji or a word."""
    return char in "\u200c\ufe0f" or 0xE0020 <= ord(char) <= 0xE007F


@pytest.mark.slow
def test_every_invisible_character() -> None:
    """Every code point that Python strips, turns into a space or does not know, Lua does too."""
    half = FAKE.lua.eval("function(sanitise, point) return sanitise('a' .. utf8.char(point) .. 'b') end")
    for point in [
        *range(0x20),
        *range(0x7F, 0x3400),
        *range(0xA000, 0xAC00),
        *range(0xD7B0, 0xD800),
        *range(0xE000, 0x20000),
        *range(0x40000, 0x110000, 0x100),
        *range(0xE0000, 0xE1000),
        *range(0xF0000, 0xF2000),
    ]:
        out = text._strip("a" + chr(point) + "b")
        is_unknown = "\ufffd" in out and unicodedata.category(chr(point)) == "Co"
        if len(out) == 2 or " " in out or is_unknown:
            assert half(TEXT.sanitise, point) == out, hex(point)
