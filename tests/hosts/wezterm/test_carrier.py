"""What the Lua reads by itself, against Python's decoder: the status of a pane, the words, and text made harmless."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallylight.model import lights
from tallylight.model.errors import DecodeError
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.tracker.rollup import precedence
from tallylight.wire import osc1338, text
from tests.helpers import Vector, vector_params
from tests.hosts.wezterm.fake import Fake
from tests.tables import each
from tests.wire.shown import ROWS

FAKE = Fake()
CARRIER = FAKE.require("tallylight.wire.carrier")
TEXT = FAKE.require("tallylight.wire.text")
WORDS = FAKE.require("tallylight.model.status")


def root(payload: Any) -> tuple[str | None, str | None]:
    found = CARRIER.root(payload)
    return found if isinstance(found, tuple) else (found, None)


@each("vector", vector_params("osc1338"))
def test_vector(vector: Vector) -> None:
    """A payload that Python takes for the pane itself has the same status and kind here."""
    payload = vector.data.rpartition(b"1338;")[2].partition(b"\x07")[0].partition(b"\x1b")[0]
    try:
        report = osc1338.decode_payload(payload)
    except DecodeError:
        return
    if report.id or report.status is None or b"%" in payload:
        return
    status, kind = root(payload.decode())
    is_limit = report.status is Status.WAITING and report.kind is Kind.LIMIT
    assert status == ("limited" if is_limit else report.status.value)
    assert is_limit or report.kind is None or kind == report.kind.value


@given(st.text(max_size=300))
def test_any_text(payload: str) -> None:
    """What nobody thought of gives a status that programs may give, or none."""
    status, kind = root(payload)
    assert status is None or status == "limited" or Status(status) not in CONCLUDED
    assert kind is None or Kind(kind)
    CARRIER.server(payload)


@each(
    ("value", "expected"),
    [
        ("waiting:permission;pane=1.2", ("waiting", "permission")), ("down", ("down", None)), ("", (None, None)),
        ("x:permission", (None, "permission")), (None, (None, None)), ("waiting:x", ("waiting", None)),
    ],
)  # fmt: skip
def test_a_servers_word(value: Any, expected: tuple[str | None, str | None]) -> None:
    """The status of any kind, concluded ones among them."""
    assert CARRIER.server(value) == expected


def test_what_is_no_payload() -> None:
    """A child's record, another type and one that is too long say nothing of the pane."""
    for payload in ("state=waiting;id=a", "id=a/b;state=waiting", None, 7, "state=waiting;x=" + "x" * 5000, "state="):
        assert root(payload) == (None, None)
    assert root("state=waiting;id=") == ("waiting", None)


def test_heartbeat() -> None:
    """The mark of a repetition is taken off."""
    assert CARRIER.without_beat("state=working;beat=1") == ("state=working", True)
    assert CARRIER.without_beat("state=working") == ("state=working", False)


def test_words() -> None:
    """The tables are Python's."""

    def of(table: Any) -> dict[str, Any]:
        return dict(table.items())

    assert of(WORDS.MARKS) == {status.value: mark for status, mark in lights.MARKS.items()}
    assert of(WORDS.COLOURS) == {s.value: "#{:02X}{:02X}{:02X}".format(*c) for s, c in lights.COLOURS.items()}
    assert sorted(WORDS.PRECEDENCE, key=WORDS.PRECEDENCE.__getitem__) == [
        status.value for status in sorted(Status, key=precedence)
    ]
    assert set(WORDS.FILLED) == {status.value for status in lights.FILLED}
    assert set(WORDS.CONCLUDED) == {status.value for status in CONCLUDED}
    assert set(WORDS.KINDS) == {kind.value for kind in Kind}
    assert (WORDS.STRIPE, WORDS.HOLLOW_STRIPE, WORDS.COLLISION) == (
        lights.STRIPE, lights.HOLLOW_STRIPE, lights.COLLISION,
    )  # fmt: skip
    assert WORDS.PULSE_LASTS_S == lights.PULSE_LASTS_S
    for status in Status:
        for kind in (None, *Kind):
            assert WORDS.mark(status.value, kind.value if kind else None) == lights.mark(status, kind)


@given(st.text(max_size=200), st.integers(1, 60))
def test_harmless(value: str, cells: int) -> None:
    """No control and no sign that turns the direction of a line is left, and it is not too long."""
    shown = TEXT.sanitise(value, cells)
    assert len(shown) <= cells
    assert not [
        c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(c) in _TURNS
    ]


_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@each(("dirty", "clean"), ROWS)
def test_shown(dirty: str, clean: str) -> None:
    """Plain text is as Python has it."""
    if dirty.isascii() and dirty.isprintable():
        assert TEXT.sanitise(dirty) == clean == text.sanitise(dirty)


@each("value", [None, 7, True, b"\xff\xfe"])
def test_what_is_no_text(value: Any) -> None:
    """It is nothing."""
    assert TEXT.sanitise(value if not isinstance(value, bytes) else 5) == ""
