"""OSC 7501: its vectors and its limits."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire import osc7501
from tallylight.wire.scanner import Sequence
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


def decode(body: str) -> Report:
    return osc7501.decode(only_sequence(f"\x1b]7501;{body}\x07".encode()))


@pytest.mark.slow
@each("vector", vector_params("osc7501"))
def test_osc7501(vector: Vector) -> None:
    """OSC 7501 is read by the page."""
    check_vector(vector, lambda data: osc7501.decode(only_sequence(data)))


# Limits


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_frame_limit(end: bytes) -> None:
    """A sequence of exactly 4096 bytes, introducer and terminator included, is read; 4097 are too long."""
    start = b"\x1b]7501;state=idle:x="
    fits = start.ljust(4096 - len(end), b"x") + end

    assert osc7501.decode(only_sequence(fits)).status is Status.IDLE
    assert wire.decode(only_sequence(fits[: -len(end)] + b"x" + end)) is None
    with pytest.raises(DecodeError, match="too-long"):
        osc7501.decode(only_sequence(fits[: -len(end)] + b"x" + end))


@pytest.mark.parametrize(("key", "encoded", "decoded"), [("title", 256, 192), ("msg", 2732, 2048)])
def test_text_limits(key: str, encoded: int, decoded: int) -> None:
    """A text is read at exactly its limit in base64 and decoded; one more of either costs the report."""
    fits = b64encode(b"a" * decoded).decode()
    assert len(fits) == encoded

    assert decode(f"state=idle:{key}={fits}").status is Status.IDLE
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
    """Of the longest message the first 512 cells are kept."""
    status = decode(f"state=idle:msg={b64encode(b'a' * 2048).decode()}")
    assert status.message == "a" * osc7501.OSC7501_MESSAGE_CELLS


def test_two_reports_in_one_chunk() -> None:
    """Reports that arrive together are read one by one, in order."""
    items = Scanner().feed(b"\x1b]7501;state=working\x07\x1b]7501;state=done\x1b\\")
    states = [osc7501.decode(item).status for item in items if isinstance(item, Sequence)]

    assert states == [Status.WORKING, Status.DONE]
