"""The relay's core, for any bytes in any pieces at any times."""

from __future__ import annotations

import functools

from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.status import Status
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import PACE, SEQUENCE_HELD_S, RelayCore
from tallylight.relay.position import unfinished
from tallylight.relay.splitter import INTRODUCERS
from tallylight.wire.scanner import MAX_SEQUENCE_BYTES, Sequence
from tests.relay.streams import streams
from tests.relay.told import QUERY, Line, state, told
from tests.strategies import chunkings

OURS = (1338, 26, 88, 7501)
#: What a relay wraps its own writes in, so that a test can tell them from any bytes of a program.
MARK = b"\x1b]6666;"
WARP = b"\x1b]777;notify;warp://cli-agent;"
#: Ends whatever a stream leaves unfinished; the first may be half of a pair in an envelope.
CANCEL = b"\x18\x18 "


class Marked:
    """A core whose own writes can be told from what it passes on."""

    def __init__(self, **options: bool) -> None:
        self.written: list[bytes] = []
        self.core = RelayCore(wrap=self._wrap, **options)

    def _wrap(self, data: bytes) -> bytes:
        self.written.append(data)
        return MARK + b"%d\x07" % (len(self.written) - 1)

    def finish(self, now: float) -> None:
        """Bring the stream to an end and give the core the time to tell everything."""
        self.core.tick(now)
        self.core.from_child(CANCEL, now)
        for second in range(20):
            self.core.tick(now + second)

    def split(self, out: bytes) -> tuple[bytes, list[bytes]]:
        """What was passed on, and what stood before each write of the core's own."""
        passed, before = b"", []
        for index in range(len(self.written)):
            head, found, out = out.partition(MARK + b"%d\x07" % index)
            assert found, "a write got lost"
            passed += head
            before.append(passed)
        return passed + out, before

    def seen(self, out: bytes) -> dict[str, Status | None]:
        """What a host knows after *out*, by id."""
        for index, data in enumerate(self.written):
            out = out.replace(MARK + b"%d\x07" % index, data)
        return {id_: report.status for id_, report in state(told(out)).items()}


def expected(data: bytes, *, in_flood: bool = False) -> tuple[bytes, int]:
    """What must be left of *data*, and how many queries it holds, by the scanner alone; *in_flood* 777 is not read."""
    scanner, terminal = Scanner(), Scanner()
    left, queries = b"", 0
    for item in scanner.feed(data):
        if isinstance(item, Sequence) and item.raw.startswith(INTRODUCERS):
            queries += item.payload == b"7501;?"
            is_foreign = in_flood and item.number == 777 and not item.raw.startswith(WARP)
            is_ours = item.number in OURS or (not is_foreign and is_read(item.raw))
            if is_ours and not terminal.pending() and not unfinished(left[-3:]):
                continue
        left += item.raw
        terminal.feed(item.raw)
    return left + scanner.pending(), queries


@functools.cache
def is_read(raw: bytes) -> bool:
    """Whether a fresh relay consumes this sequence, whose number others use too."""
    core = RelayCore()
    core.from_child(raw, 1.0)
    return raw not in core.to_terminal()


def is_safe(passed: bytes) -> bool:
    """Whether these bytes end between two sequences and two characters."""
    scanner = Scanner()
    scanner.feed(passed)
    return not scanner.pending() and not unfinished(passed[-3:])


@given(chunkings(streams()))
def test_output_is_input_minus_what_is_consumed(stream: tuple[bytes, list[bytes]]) -> None:
    """In any pieces, the terminal gets every byte but the sequences consumed, and our writes only between sequences."""
    data, pieces = stream
    marked = Marked()
    for at, piece in enumerate(pieces):
        marked.core.from_child(piece, 1.0 + at)
    marked.core.tick(1e6)
    passed, before = marked.split(marked.core.to_terminal())
    left, queries = expected(data)

    assert passed == left
    assert all(is_safe(head) for head in before)
    assert marked.core.to_child().replace(b"\x1b\\", b"\x07") == b"\x1b]7501;?\x07" * queries


@given(chunkings(streams()))
def test_output_in_a_flood_is_input_minus_what_is_consumed(stream: tuple[bytes, list[bytes]]) -> None:
    """Where more comes than is read at once, the same is consumed, and our writes stand between sequences too."""
    data, pieces = stream
    marked = Marked()
    marked.core.from_child(b"\x1b]7501;state=clear\x07" * PACE.at_once, 1.0)
    for piece in pieces:
        marked.core.from_child(piece, 1.0)
    marked.core.tick(1e6)
    passed, before = marked.split(marked.core.to_terminal())

    assert passed == expected(data, in_flood=True)[0]
    assert all(is_safe(head) for head in before)


@given(chunkings(streams()))
def test_passthrough_passes_everything(stream: tuple[bytes, list[bytes]]) -> None:
    """With passthrough nothing is taken out; what is understood, told and answered is the same."""
    data, pieces = stream
    marked, other = Marked(passthrough=True), Marked()
    ends = []
    for each in (marked, other):
        for piece in pieces:
            each.core.from_child(piece, 1.0)
        each.finish(2.0)
        out = each.core.to_terminal()
        ends.append((each.core.to_child(), each.core.reports(), each.seen(out)))
        if each is marked:
            assert each.split(out)[0] == data + CANCEL

    assert ends[0] == ends[1]


@given(chunkings(streams()))
def test_a_cut_changes_nothing(stream: tuple[bytes, list[bytes]]) -> None:
    """Whole or in pieces, the records, the arm, the answers and what the host knows in the end are the same."""
    data, pieces = stream
    whole, cut = Marked(), Marked()
    whole.core.from_child(data, 1.0)
    for piece in pieces:
        cut.core.from_child(piece, 1.0)
    ends = []
    for marked in (whole, cut):
        marked.finish(2.0)
        out, core = marked.core.to_terminal(), marked.core
        ends.append((marked.split(out)[0], core.to_child(), core.reports(), marked.seen(out)))

    assert ends[0] == ends[1]


@given(chunkings(streams()), st.lists(st.sampled_from([0.0, 0.001, 0.02, 0.05, 0.2, 7.0]), min_size=14, max_size=14))
def test_the_host_knows_the_last_state(stream: tuple[bytes, list[bytes]], steps: list[float]) -> None:
    """Whenever the terminal is free, what the host was told in the end is what the program said last."""
    _, pieces = stream
    marked, now = Marked(), 0.0
    for piece, step in zip(pieces, steps, strict=False):
        now += step
        # No tick in between: the rest of a sequence that was given up is not read, by contract.
        marked.core.from_child(piece, now)
    marked.finish(now + 1)

    known = {report.id: report.status for report in marked.core.reports()}
    assert marked.seen(marked.core.to_terminal()) == known
    assert marked.core.deadline() is None


@given(st.lists(st.tuples(st.booleans(), st.one_of(st.binary(max_size=8), st.just(QUERY), streams())), max_size=20))
def test_the_program_gets_what_was_typed(steps: list[tuple[bool, bytes]]) -> None:
    """The program gets the user's bytes, unchanged and in order, and between their sequences the constant answer."""
    core = RelayCore()
    out, typed, answered = b"", b"", 0
    for at, (is_user, data) in enumerate(steps):
        if is_user:
            data = data.replace(b"7501", b"7502")
            core.from_user(data, at * 0.01)
            typed += data
        else:
            core.from_child(data, at * 0.01)
        taken = core.to_child()
        out += taken
        answered += taken.count(b"\x1b]7501;?")
    core.tick(1e6)
    out += core.to_child()

    assert out.replace(b"\x1b]7501;?\x1b\\", b"").replace(b"\x1b]7501;?\x07", b"") == typed


@given(st.lists(streams(), max_size=8), st.integers(1, 8))
def test_nothing_grows(pieces: list[bytes], times: int) -> None:
    """Whatever is fed however often, what a core keeps stays within its limits once its output is taken."""
    core = RelayCore()
    for turn in range(times):
        for piece in pieces:
            core.from_child(piece, turn * 0.001)
        core.to_terminal()
        core.to_child()

    assert len(core.reports()) <= 256
    core.finished(60.0)
    assert len(left := core.to_terminal()) <= MAX_SEQUENCE_BYTES + 3 * 256 * 5000
    assert left.count(b"SetUserVar=tally=") <= 3 * 256
    assert core.to_child().count(b"7501") <= 128


@given(chunkings(streams()))
def test_nothing_is_late(stream: tuple[bytes, list[bytes]]) -> None:
    """After a while nothing of the program's is held back any more, and the core sleeps or says when it wakes."""
    data, pieces = stream
    line = Line(RelayCore(passthrough=True, wrap=lambda _: b""))
    out = line.at(1.0, *pieces)
    deadline = line.core.deadline()
    assert out == data or (deadline is not None and deadline <= 1.0 + SEQUENCE_HELD_S)
    assert out + line.tick(1.0 + SEQUENCE_HELD_S) == data


@given(chunkings(streams()), st.lists(st.sampled_from([b"", b"k", b"\x1b", b"\x1b[", b"\xc3"])), st.data())
def test_asking_for_the_deadline_changes_none(
    stream: tuple[bytes, list[bytes]], keys: list[bytes], data: st.DataObject
) -> None:
    """It is the same for a core that is asked after every step and for one that is asked at the end."""
    asked, other = RelayCore(), RelayCore()
    resize = data.draw(st.integers(-1, len(stream[1])))
    for step, piece in enumerate(stream[1]):
        for core in (asked, other):
            core.from_child(piece, step / 100)
            if step < len(keys):
                core.from_user(keys[step], step / 100)
            if step == resize:
                core.resized(step / 100)
        asked.deadline()
    assert asked.deadline() == other.deadline()
    assert (asked.to_terminal(), asked.to_child()) == (other.to_terminal(), other.to_child())
