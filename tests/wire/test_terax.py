"""Terax and its forks: their vectors."""

from __future__ import annotations

from tallylight.model.report import Source
from tallylight.wire import terax
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


@each("vector", vector_params("terax"))
def test_terax(vector: Vector) -> None:
    """Terax's presence is read exactly; whatever else has its name for a title is a notification."""
    check_vector(vector, lambda data: terax.decode(only_sequence(data)))


def test_report() -> None:
    """A report of Terax's ranks as a protocol and names its rule."""
    report = terax.decode(only_sequence(b"\x1b]777;notify;Terax;x;working\x07"))

    assert (report.source, report.rule) == (Source.PROTOCOL, "terax")
