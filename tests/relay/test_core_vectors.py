"""Every vector of every protocol through the relay: whole, at every cut, and with either terminator."""

from __future__ import annotations

import attrs
import pytest

from tallylight.model.report import Report
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore
from tallylight.relay.splitter import INTRODUCERS
from tallylight.wire.scanner import BEL, ST, Sequence, SequenceKind
from tests.helpers import VECTORS, Vector, cuts, describe, load_vectors
from tests.relay.told import Line, told
from tests.tables import each

PROTOCOLS = sorted(path.stem for path in VECTORS.glob("*.toml"))


@attrs.frozen
class Through:
    """What came of a stream."""

    out: bytes
    answers: bytes
    reports: list[Report]


def through(pieces: list[bytes], *, screen: bool) -> Through:
    """Relay the pieces in one instant, then let time pass; our own writes are left out."""
    core = RelayCore(screen=screen, wrap=lambda _: b"")
    for piece in pieces:
        core.from_child(piece, 1.0)
    core.tick(2.0)
    return Through(core.to_terminal(), core.to_child(), core.reports())


def left(data: bytes, *, screen: bool) -> tuple[bytes, bytes]:
    """The least and the most of *data* that may come out: without what may be consumed, and everything."""
    scanner = Scanner(screen=screen)
    pieces = [*(item.raw for item in scanner.feed(data)), scanner.pending()]
    return b"".join(piece for piece in pieces if not piece.startswith(INTRODUCERS)), data


def other(data: bytes) -> bytes:
    """The same with the other terminator, if it is one whole OSC."""
    items = Scanner().feed(data)
    if len(items) != 1 or not isinstance(items[0], Sequence) or items[0].kind is not SequenceKind.OSC:
        return data
    end = items[0].terminator
    return data[: -len(end)] + (ST if end == BEL else BEL)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_vectors(protocol: str) -> None:
    """A vector gives the same reports, answers and bytes however it is cut, and the same reports however it ends."""
    vectors: list[Vector] = load_vectors(protocol)
    assert vectors
    for vector in vectors:
        screen = vector.through == "screen"
        whole = through([vector.data], screen=screen)
        least, most = left(vector.data, screen=screen)
        assert whole.out in (least, most), vector.id
        for pieces in cuts(vector.data):
            assert through(pieces, screen=screen) == whole, vector.id
        if not vector.through:
            assert through([other(vector.data)], screen=screen).reports == whole.reports, vector.id


@each("protocol", ["osc1338", "osc7501", "osc3008", "terax"])
def test_the_events_of_a_vector_arrive(protocol: str) -> None:
    """What a codec reads as a status is what the host is told: no vector gets lost on the way."""
    arrived = 0
    for vector in load_vectors(protocol):
        statuses = [fields.get("status") for event in vector.events for fields in event.values()]
        if len(statuses) != 1 or statuses[0] in ("withdrawn", None):
            continue
        assert [report.status for report in through([vector.data], screen=False).reports] == statuses, vector.id
        arrived += 1

    assert arrived >= 5


@each("vector", [pytest.param(each, id=each.id) for each in load_vectors("osc7501") if each.told is not None])
def test_what_is_told_of_a_vector(vector: Vector) -> None:
    """Sequence by sequence, the host is told what has changed, with what is inherited, and nothing else."""
    line = Line()
    out = b"".join([line.at(float(at), item.raw) for at, item in enumerate(Scanner().feed(vector.data), 1)])

    assert [describe(report)["report"] for report in told(out)] == vector.told
