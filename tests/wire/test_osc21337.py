"""OSC 21337: its vectors and its limits."""

from __future__ import annotations

import pytest

from tallylight.model.errors import DecodeError
from tallylight.model.report import Source
from tallylight.wire import osc21337
from tallylight.wire.frame import Update
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


@each("vector", vector_params("osc21337"))
def test_osc21337(vector: Vector) -> None:
    """OSC 21337 is read pair by pair, a key left out kept and an empty one cleared."""
    check_vector(vector, lambda data: osc21337.decode(only_sequence(data)))


def test_frame_limit() -> None:
    """A frame of exactly 4096 bytes is read, one byte more is not."""
    fits = b"\x1b]21337;status=Idle;x=".ljust(osc21337.FRAME_LIMIT - 1, b"x") + b"\x07"

    assert osc21337.decode(only_sequence(fits)).pairs == (("status", "Idle"),)
    with pytest.raises(DecodeError, match="too-long"):
        osc21337.decode(only_sequence(fits[:-1] + b"x\x07"))


def test_pair_limit() -> None:
    """The 32nd pair is read, the 33rd is not."""
    body = b"\x1b]21337;" + b"x=1;" * 31 + b"%bstatus=Idle\x07"

    assert osc21337.decode(only_sequence(body % b"")).pairs == (("status", "Idle"),)
    with pytest.raises(DecodeError, match="not-ours"):
        osc21337.decode(only_sequence(body % b"x=1;"))


def test_report() -> None:
    """A report of OSC 21337 ranks as a protocol and names its rule."""
    report = osc21337.TabStatus().merge(Update(osc21337.NUMBER, (("awaiting", "1"),)))

    assert report is not None
    assert (report.source, report.rule) == (Source.PROTOCOL, "osc-21337")
