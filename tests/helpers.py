"""
Helpers of the tests: the one that makes a vector many tests.

A vector is a table of `tests/vectors/*.toml`:

* `id`, `source` (who sends it, or who says how it is read) and, where it helps, `note`;
* `bytes`: ASCII, in which `\\xNN` is a byte and `\\\\` a backslash, so that Lua reads it as easily;
* `events`: what `wire.decode` gives for it in a stream, one table an event, default fields left out;
* `error`: the reason the codec itself gives, for a vector without events;
* `canonical`: what our encoder makes of the event, in the notation of `bytes`;
* `reports`: for OSC 26 and 21337, what a pane's memory of them yields;
* `told`: for OSC 7501, what the relay tells the host, if each sequence comes at its own time;
* `through`: `tmux` or `screen`, if its envelopes are opened first.
"""

from __future__ import annotations

import math
import re
import time
import tomllib
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.model.report import Progress, Report
from tallylight.parts.lab.scanner import Item, Scanner, Text
from tallylight.relay.passthrough import Unwrapper, unwrap
from tallylight.wire import osc26, osc21337
from tallylight.wire.frame import Update
from tallylight.wire.scanner import BEL, ST, Sequence, SequenceKind

VECTORS = Path(__file__).parent / "vectors"
#: Above this many bytes a vector is cut at both ends and every so often, instead of everywhere.
EVERY_CUT = 300
_NOTATION = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(\\))")
_NAMES = {"Report": "report", "Update": "update", "Mark": "mark", "ProgressReport": "progress"}
_NAMES |= {"Title": "title", "UserVar": "user_var", "Notification": "notification", "Chunk": "chunk"}
_NAMES |= {"CliAgentEvent": "cli_agent", "Recipe": "recipe"}


@attrs.frozen(kw_only=True)
class Vector:
    """One recorded or constructed byte string and what it means."""

    id: str
    data: bytes
    source: str
    events: list[dict[str, Any]] = attrs.Factory(list)
    error: str | None = None
    canonical: bytes | None = None
    reports: list[dict[str, Any]] | None = None
    told: list[dict[str, Any]] | None = None
    through: str | None = None
    note: str = ""


def read_bytes(notation: str) -> bytes:
    r"""Turn the notation of a vector into bytes: `\x1b]0;hi\x07`."""
    assert notation.isascii()
    return _NOTATION.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", notation).encode("latin-1")


def load_vectors(name: str) -> list[Vector]:
    """Read `tests/vectors/NAME.toml`."""
    tables = tomllib.loads((VECTORS / f"{name}.toml").read_text("ascii"))["vector"]
    vectors = []
    for table in tables:
        data = read_bytes(table.pop("bytes"))
        if "canonical" in table:
            table["canonical"] = read_bytes(table["canonical"])
        vectors.append(Vector(data=data, **table))
    assert len({vector.id for vector in vectors}) == len(vectors), f"{name}.toml uses an id twice"
    return vectors


def vector_params(name: str) -> list[Any]:
    """Parameters for `pytest.mark.parametrize("vector", …)`."""
    return [pytest.param(vector, id=vector.id) for vector in load_vectors(name)]


def check_vector(
    vector: Vector,
    strict: Callable[[bytes], Any] | None = None,
    encode: Callable[[Any], bytes] | None = None,
) -> None:
    """
    Check one vector in every way there is.

    Whole; cut in two everywhere; byte by byte; after and before junk that must survive; with the other terminator; with
    *strict*, the codec's own error; with *encode*, the canonical bytes and the way back.
    """
    data = vector.data
    whole = run(vector, [data])
    assert whole.events == vector.events
    if vector.reports is not None:
        assert whole.reports == vector.reports
    for pieces in cuts(data):
        assert run(vector, pieces) == whole, f"cut {[len(piece) for piece in pieces][:4]} changes the result"

    before, after = b"text \xe2\x9c\x93\x1b[1m", b"\x1b[0m\xe2\x80\x9d junk"
    assert run(vector, [before, data]).events == vector.events
    if not whole.pending and not vector.through:
        followed = run(vector, [data + after])
        assert followed.events == vector.events
        assert raw(followed.items)[-len(after) :] == after
        assert followed.items[-1].raw.endswith(b"\xe2\x80\x9d junk")
    for other in other_terminator(whole.items):
        assert run(vector, [other]).events == vector.events

    if vector.error is not None:
        assert strict is not None
        assert not vector.events
        with pytest.raises(DecodeError) as caught:
            strict(data)
        assert caught.value.reason == vector.error
    if vector.canonical is not None:
        assert strict is not None and encode is not None
        event = strict(data)
        assert encode(event) == vector.canonical
        assert strict(vector.canonical) == event


@attrs.frozen
class Outcome:
    """What a stream came to: events as tables, items with neighbouring text joined, what is still pending."""

    events: list[dict[str, Any]]
    reports: list[dict[str, Any]]
    items: list[Item]
    pending: bytes


def run(vector: Vector, pieces: Iterable[bytes]) -> Outcome:
    """Feed pieces to a fresh scanner, everything it gives to the codecs, and check that no byte is lost."""
    screen = vector.through == "screen"
    scanner = Scanner(screen=screen)
    unwrapper = Unwrapper(screen=screen)
    items: list[Item] = []
    fed = b""
    for piece in pieces:
        items += scanner.feed(piece)
        fed += piece
    assert raw(items) + scanner.pending() == fed
    memory = Memory()
    events, reports = [], []
    for item in items:
        if not isinstance(item, Sequence):
            continue
        enveloped = vector.through and unwrap(item, screen=screen) is not None
        for sequence in unwrapper.feed(item) if enveloped else [item]:
            event = wire.decode(sequence)
            if event is not None:
                events.append(describe(event))
            if report := memory.merge(event):
                reports.append(describe(report)["report"])
    return Outcome(events, reports, coalesce(items), scanner.pending())


@attrs.define
class Memory:
    """What one pane remembers of the protocols whose sequences say only what changed."""

    agent: osc26.Accumulator = attrs.Factory(osc26.Accumulator)
    tab: osc21337.TabStatus = attrs.Factory(osc21337.TabStatus)

    def merge(self, event: wire.Event | None) -> Report | None:
        """Take an event in; return what the agent now says."""
        if not isinstance(event, Update):
            return None
        return (self.agent if event.number == osc26.NUMBER else self.tab).merge(event)


def cuts(data: bytes) -> Iterable[list[bytes]]:
    """Every way to cut *data* in two, and into single bytes; for long data, a selection of the former."""
    step = 1 if len(data) <= EVERY_CUT else len(data) // 20
    places = sorted({*range(0, len(data), step), *range(min(20, len(data))), *range(max(0, len(data) - 5), len(data))})
    for at in places:
        yield [data[:at], data[at:]]
    yield [data[at : at + 1] for at in range(len(data))]


def raw(items: Iterable[Item]) -> bytes:
    """The bytes that *items* came from."""
    return b"".join([item.raw for item in items])


def coalesce(items: Iterable[Item]) -> list[Item]:
    """Join neighbouring text, where a cut is the only thing between them."""
    out: list[Item] = []
    for item in items:
        last = out[-1] if out else None
        if isinstance(item, Text) and isinstance(last, Text) and item.drawn == last.drawn:
            out[-1] = Text(last.raw + item.raw, item.drawn)
        else:
            out.append(item)
    return out


def other_terminator(items: list[Item]) -> Iterable[bytes]:
    """The same bytes with BEL for ST and the other way about, if they hold an OSC."""
    if any(isinstance(item, Sequence) and item.kind is SequenceKind.OSC for item in items):
        swap = {BEL: ST, ST: BEL}
        yield b"".join(
            item.raw[: -len(item.terminator)] + swap[item.terminator]
            if isinstance(item, Sequence) and item.kind is SequenceKind.OSC
            else item.raw
            for item in items
        )


def describe(event: Any) -> dict[str, Any]:
    """Write an event as the table a vector holds: its name, and its fields that are not the default."""
    fields: dict[str, Any] = {}
    for field in attrs.fields(type(event)):
        value = getattr(event, field.name)
        if isinstance(event, Report) and field.name in ("source", "rule"):
            continue
        if isinstance(event, Report) and field.name == "status" and value is None:
            value = "withdrawn"
        if value is None or (value == field.default and field.default is not attrs.NOTHING):
            continue
        fields[field.name] = _plain(value)
    return {_NAMES[type(event).__name__]: fields}


def _plain(value: Any) -> Any:
    if isinstance(value, Report):
        return describe(value)["report"]
    if isinstance(value, Progress):
        return f"{value.done}/{value.total}"
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def is_linear(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Whether *work* for four times *size* takes about four times as long as for *size*, in time of the processor."""
    small = large = math.inf
    # A busy machine takes longer now and then, and never less: the least of several tries is what it costs.
    for _ in range(5):
        small = min(small, *(_seconds(work(size)) for _ in range(2)))
        large = min(large, _seconds(work(4 * size)))
        # 4 is linear and 16 is quadratic; the constant is for what is too fast to measure.
        if large < 9 * small + 0.02:
            return True
    return False


def least_seconds(work: Callable[[], object], enough: float) -> float:
    """How long *work* takes the processor: the least of several tries, or the first that is below *enough*."""
    least = math.inf
    for _ in range(5):
        least = min(least, _seconds(work))
        if least < enough:
            break
    return least


def _seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def only_sequence(data: bytes) -> Sequence:
    """The one sequence in *data*, for a codec's own decode."""
    found = [item for item in Scanner().feed(data) if isinstance(item, Sequence)]
    assert len(found) == 1
    return found[0]
