"""OSC 3008: its vectors, systemd's among them, and its limits."""

from __future__ import annotations

import pytest

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.wire import osc3008
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


@each("vector", vector_params("osc3008"))
def test_osc3008(vector: Vector) -> None:
    """An agent's presence is read by its known events alone; systemd's contexts say nothing."""
    check_vector(vector, lambda data: osc3008.decode(only_sequence(data)))


def test_frame_limit() -> None:
    """A frame of exactly 4096 bytes is read, one byte more is not."""
    fits = b"\x1b]3008;start=claude;event=busy;x=".ljust(osc3008.FRAME_LIMIT - 1, b"x") + b"\x07"
    report = osc3008.decode(only_sequence(fits))

    assert isinstance(report, Report)
    assert (report.source, report.rule) == (Source.PROTOCOL, "osc-3008")
    with pytest.raises(DecodeError, match="too-long"):
        osc3008.decode(only_sequence(fits[:-1] + b"x\x07"))


def test_pair_limit() -> None:
    """The 32nd pair is read, the 33rd is not."""
    body = b"\x1b]3008;start=claude;" + b"x=1;" * 30 + b"%bevent=busy\x07"

    assert osc3008.decode(only_sequence(body % b""))
    with pytest.raises(DecodeError, match="not-ours"):
        osc3008.decode(only_sequence(body % b"x=1;"))
