"""
The fuzzer: recorded sessions, mutated, through the scanner, every codec and the sanitiser.

The invariants, for any bytes:

1. Nothing raises, but for DecodeError out of a codec.
2. However the bytes are cut, the items, the events and what is pending are the same, and no byte is lost.
3. Nothing grows: what is held stays under the limit, accumulators stay bounded, and so does the process.
4. Text of an event is already harmless: sanitising it again changes nothing.

The seeds in `seeds/` are recordings: vim, less, bash, tmux around a shell, and three turns of Claude Code. The vectors
are seeds too.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.parts.lab.scanner import Item, Scanner
from tallylight.relay.passthrough import Unwrapper
from tallylight.wire import cli_agent, notification, osc26, osc1338, osc21337, title, user_var
from tallylight.wire.frame import Update
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise
from tests.helpers import VECTORS, coalesce, load_vectors, raw
from tests.strategies import FRAGMENTS

SEEDS = Path(__file__).parent / "seeds"
#: Growth of the process that no leak hides in, after the first inputs have warmed every cache.
GROWTH_KIB = 30_000
#: Small ones, so that overruns happen all the time, and the real one.
LIMITS = (16, 64, 300, 131_072)


def seeds() -> list[bytes]:
    """The recorded sessions, whole and in screenfuls, and every vector."""
    sessions = [path.read_bytes() for path in sorted(SEEDS.glob("*.raw"))]
    pieces = [session[at : at + 800] for session in sessions for at in range(0, len(session), 800)]
    vectors = [vector.data for path in sorted(VECTORS.glob("*.toml")) for vector in load_vectors(path.stem)]
    return sessions + pieces + vectors


@attrs.define
class Mutator:
    """Makes hostile input out of seeds."""

    random: random.Random
    corpus: list[bytes]

    def next(self) -> bytes:
        """One input: a seed after one to eight mutations."""
        data = bytearray(self.random.choice(self.corpus))
        for _ in range(self.random.randint(1, 8)):
            self._mutate(data)
        return bytes(data[:20_000])

    def _mutate(self, data: bytearray) -> None:
        pick = self.random
        at = pick.randint(0, len(data))
        end = min(len(data), at + pick.choice([1, 2, 8, 64, 700]))
        match pick.randrange(9):
            case 0 if data:
                data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
            case 1 if data:
                data[pick.randrange(len(data))] = pick.choice(b"\x1b\x07\x18\x1a\x00\x7f\x9c\x9d;=%\\[]P")
            case 2:
                del data[at:end]
            case 3:
                data[at:at] = pick.choice(FRAGMENTS)
            case 4:
                data[at:at] = data[at:end] * pick.choice([1, 2, 20])
            case 5:
                data[at:at] = pick.randbytes(pick.choice([1, 4, 30]))
            case 6:
                other = pick.choice(self.corpus)
                data[at:] = other[pick.randint(0, len(other)) :]
            case 7:
                data[at:at] = pick.choice(FRAGMENTS) * pick.choice([5, 100])
            case _:
                del data[at:]


@attrs.define
class Fuzzer:
    """Checks inputs one after the other; what outlives an input is kept, so that a leak would show."""

    seed: int
    inputs: int = 0
    bytes: int = 0
    sequences: int = 0
    events: int = 0
    _mutator: Mutator = attrs.field(init=False)
    _stream: Scanner = attrs.Factory(Scanner)
    _unwrapper: Unwrapper = attrs.Factory(Unwrapper)
    _otty: osc26.Accumulator = attrs.Factory(osc26.Accumulator)
    _tab: osc21337.TabStatus = attrs.Factory(osc21337.TabStatus)
    _told: notification.Notifications = attrs.Factory(notification.Notifications)
    _warm_kib: int = 0

    def __attrs_post_init__(self) -> None:
        self._mutator = Mutator(random.Random(self.seed), seeds())

    def run(self, seconds: float) -> None:
        """Make and check inputs for so long."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            data = self._mutator.next()
            try:
                self.check(data)
            except BaseException:
                sys.stdout.write(f"seed {self.seed}, input {self.inputs}: {data!r}\n")
                raise

    def check(self, data: bytes) -> None:
        """Hold one input to every invariant."""
        pick = self._mutator.random
        limit, screen = pick.choice(LIMITS), pick.random() < 0.2
        whole = Scanner(limit, screen=screen)
        items = whole.feed(data)
        cut = Scanner(limit, screen=screen)
        pieces: list[Item] = []
        for piece in self._pieces(data):
            pieces += cut.feed(piece)
            assert len(cut.pending()) < limit, "the scanner holds more than its limit"
        assert coalesce(pieces) == coalesce(items), "a cut changes the items"
        assert cut.pending() == whole.pending(), "a cut changes what is pending"
        assert raw(items) + whole.pending() == data, "bytes are lost"
        assert list(self._decode(items)) == list(self._decode(pieces)), "a cut changes the events"

        # The same bytes as a part of one endless stream.
        for item in self._stream.feed(data):
            if isinstance(item, Sequence):
                self._unwrapper.feed(item)
        assert len(self._stream.pending()) < self._stream.limit
        assert len(self._told) <= notification.UNFINISHED_LIMIT
        text = data.decode(pick.choice(["utf-8", "latin-1", "utf-16-le"]), "replace")
        clean = sanitise(text, cells=pick.choice([3, 40, 5000]))
        assert sanitise(clean, cells=5000) == clean, "sanitising twice is not sanitising once"
        self.inputs += 1
        self.bytes += len(data)
        self._watch_growth()

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        step = self._mutator.random.choice([1, 2, 3, 7, 64, 1000])
        if step == 1 and len(data) > 3000:
            step = 2
        return (data[at : at + step] for at in range(0, len(data), step))

    def _decode(self, items: list[Item]) -> Iterator[wire.Event | None]:
        for item in items:
            if not isinstance(item, Sequence):
                continue
            self.sequences += 1
            for codec in wire.CODECS.values():
                try:
                    codec(item)
                except DecodeError as error:
                    assert error.reason
            event = wire.decode(item)
            self.events += event is not None
            self._check_event(event)
            yield event

    def _check_event(self, event: wire.Event | None) -> None:
        if isinstance(event, Update):
            report = (self._otty if event.number == osc26.NUMBER else self._tab).merge(event)
            self._check_text(*[value for key, value in event.pairs if key != "TaskList"])
            self._check_event(report)
        elif isinstance(event, cli_agent.CliAgentEvent):
            self._check_event(cli_agent.to_report(event, Status.WAITING))
        elif isinstance(event, osc1338.Recipe):
            self._check_text(event.cwd, *event.argv)
        elif isinstance(event, notification.Chunk):
            self._check_event(self._told.merge(event))
        elif isinstance(event, notification.Notification):
            self._check_text(event.title, event.body)
        elif isinstance(event, Report):
            self._check_text(event.agent, event.title, event.project, event.message, event.detail, *event.tasks)
        elif isinstance(event, title.Title):
            self._check_text(event.text)
        elif isinstance(event, user_var.UserVar) and event.value is not None:
            try:
                osc1338.decode_payload(event.value)
            except DecodeError as error:
                assert error.reason

    @staticmethod
    def _check_text(*texts: str) -> None:
        for text in texts:
            assert sanitise(text, cells=5000) == text, "the text of an event is not sanitised"

    def _watch_growth(self) -> None:
        if self.inputs == 500:
            self._warm_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        elif self.inputs > 500 and self.inputs % 500 == 0:
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self._warm_kib
            assert grown < GROWTH_KIB, f"the process grew by {grown} KiB over {self.inputs} inputs"
