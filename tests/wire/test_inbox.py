"""The inbox: what is read at once, what is kept, in which order it is read, and what is left out and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.wire import osc1338
from tallylight.wire.inbox import COUNT_S, PACE_SHOWN_S, Inbox, Key, Limits, Pace, key_of
from tests.helpers import is_linear

LIMITS = Limits(at_once=2, every=0.1, a_go=3, go_bytes=1000, kept=5, kept_bytes=500)


def key(payload: str) -> Key:
    found = key_of(payload)
    assert found is not None
    return found


class Reader:
    """An inbox and what was read of it, in order."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.inbox = Inbox(limits)
        self.read: list[str] = []

    def hear(self, payload: str, now: float = 0.0, size: int = 10) -> None:
        if self.inbox.admits(now):
            self.read.append(payload)
        else:
            self.inbox.keep(key(payload), lambda _: self.read.append(payload), size)

    def flood(self) -> None:
        """Use up what is read at once."""
        for _ in range(LIMITS.at_once):
            self.inbox.admits(0.0)

    def go(self, now: float) -> list[str]:
        """Read once more; what that was."""
        before = len(self.read)
        for call in self.inbox.take(now):
            call(now)
        return self.read[before:]


def test_the_first_are_read_at_once_and_the_rest_in_their_turn() -> None:
    """So many of each span are not kept at all; nothing overtakes what is kept, not even after the span."""
    reader = Reader()
    for n in range(4):
        reader.hear(f"state=working;id=r{n}", 5.0)
    assert reader.read == ["state=working;id=r0", "state=working;id=r1"]
    assert reader.inbox.due() == 5.1
    reader.hear("state=done;id=r9", 5.2)
    assert len(reader.read) == 2

    assert reader.go(5.2) == ["state=working;id=r2", "state=working;id=r3", "state=done;id=r9"]
    assert reader.inbox.due() is None
    reader.hear("state=done", 5.21)
    assert reader.inbox.due() == pytest.approx(5.3), "what was read in a go counts for its span"
    reader.go(5.3)
    reader.hear("state=done", 5.4)
    assert reader.read[-1] == "state=done" and reader.inbox.due() is None


def test_the_newest_of_a_record_is_read_at_its_own_place() -> None:
    """Of one record only the last word is read, where it was said, and another record's stays before it."""
    reader = Reader()
    reader.flood()
    for payload in ("state=working;id=a", "state=waiting;id=b", "state=done;id=a"):
        reader.hear(payload)

    assert reader.go(1.0) == ["state=waiting;id=b", "state=done;id=a"]


#: What is kept of what is said, in which order it is read.
FOLDED: dict[str, tuple[list[str], list[str]]] = {
    "a withdrawal": (["state=working;id=a", "state=clear;id=a"], ["state=clear;id=a"]),
    "one with children that wait": (
        ["state=working;id=n/1", "state=working;id=n", "state=clear;id=n"],
        ["state=working;id=n/1", "state=clear;id=n"],
    ),
    "a report after it": (["state=clear;id=a", "state=working;id=a"], ["state=clear;id=a", "state=working;id=a"]),
    "one of everything": (
        ["state=working;id=n", "state=working", "state=clear"],
        ["state=working;id=n", "state=clear"],
    ),
    "and a child after it": (["state=clear", "state=working;id=n"], ["state=clear", "state=working;id=n"]),
    "an id that is written otherwise": (["state=working;id=%61", "state=done;id=a"], ["state=done;id=a"]),
    "the id that counts is the last": (["state=done;id=b;id=a", "state=idle;id=a"], ["state=idle;id=a"]),
    "a notification beside the agent's own word": (
        ["state=waiting", "state=waiting;source=notification"],
        ["state=waiting", "state=waiting;source=notification"],
    ),
    "hooks of two tools": (
        ["state=waiting;at=1;of=1", "state=working;at=2;of=2"],
        ["state=waiting;at=1;of=1", "state=working;at=2;of=2"],
    ),
    "a hook is not put aside for a withdrawal": (
        ["state=done;at=5", "state=clear"],
        ["state=done;at=5", "state=clear"],
    ),
    "a withdrawal after a hook of what is not known": (
        ["state=done;at=5;id=n", "state=clear;id=n"],
        ["state=done;at=5;id=n", "state=clear;id=n"],
    ),
    "a recipe beside a report": (["resume=x", "state=done", "resume=y"], ["state=done", "resume=y"]),
}


def test_what_is_folded() -> None:
    """Each case of the table, with all that goes wrong told together."""
    wrong = {}
    for name, (said, read) in FOLDED.items():
        reader = Reader()
        reader.flood()
        for payload in said:
            reader.hear(payload)
        if (found := reader.go(1.0)) != read:
            wrong[name] = found

    assert wrong == {}


def test_room() -> None:
    """Of too many the one heard of least recently goes; what is the pane's own stays, however old."""
    reader = Reader()
    reader.flood()
    reader.hear("state=waiting")
    for n in range(6):
        reader.hear(f"state=working;id=r{n}")
    reader.hear("state=working;id=r2")

    assert [*reader.go(1.0), *reader.go(2.0)] == [
        "state=waiting", *(f"state=working;id=r{n}" for n in (3, 4, 5, 2))
    ]  # fmt: skip


def test_bytes() -> None:
    """No more bytes are kept, nor read in one go, than there is room for."""
    reader = Reader(limits=Limits(at_once=0, every=0.1, a_go=9, go_bytes=250, kept=99, kept_bytes=500))
    for n in range(9):
        reader.hear(f"state=working;id=r{n}", size=100)
    assert len(reader.inbox) == 5

    assert len(reader.go(1.0)) == 3
    reader.hear("state=done;id=huge", size=501)
    assert len(reader.inbox) == 0


def test_the_end_of_a_program() -> None:
    """All that waits is read at once, in order."""
    reader = Reader()
    reader.flood()
    for payload in ("state=waiting", *(f"state=working;id=r{n}" for n in range(4)), "resume=x"):
        reader.hear(payload)
    for call in reader.inbox.take(1.0, is_last=True):
        call(1.0)

    assert reader.read == ["state=waiting", *(f"state=working;id=r{n}" for n in (1, 2, 3)), "resume=x"]
    assert len(reader.inbox) == 0


def test_the_pace() -> None:
    """What is said and read is told while something is left out, in round figures, and for a while after."""
    reader = Reader()
    reader.inbox.count(0.0)
    for n in range(1234):
        reader.hear("state=working", n / 1234)
    assert reader.inbox.pace is None
    reader.go(COUNT_S)
    assert reader.inbox.pace == Pace(arrived=1200, read=2)
    reader.inbox.count(2 * COUNT_S)
    assert reader.inbox.pace is not None
    reader.inbox.count(COUNT_S + PACE_SHOWN_S)

    assert reader.inbox.pace is None


def test_no_pace_where_nothing_is_left_out() -> None:
    """A burst that is merely read later is no flood."""
    reader = Reader()
    for n in range(5):
        reader.hear(f"state=working;id=r{n}")
    reader.go(0.1)
    reader.go(0.2)
    reader.inbox.count(9.0)

    assert len(reader.read) == 5
    assert reader.inbox.pace is None


def test_all_that_waits_is_void() -> None:
    """What is left of it is what was to be kept, and the room of the rest."""
    for kept, left in (("state=working;id=a/b", ["state=working;id=a/b"]), ("state=working;id=x", [])):
        reader = Reader(Limits(at_once=2, kept_bytes=30))
        reader.flood()
        said = ["state=working;id=a/b", "state=done", "state=working;id=a"]
        for payload in said:
            reader.hear(payload)
        reader.inbox.forget_but(key(kept).name)
        assert len(reader.inbox) == len(left)
        for payload in said[1:]:
            reader.hear(payload)

        assert reader.go(9.0) == [*left, *said[1:]]
        assert len(reader.inbox) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "payload", ["state=working;id=r{}", "state=clear;id=r{}", "state=working;id=a/r{}", "state=done"]
)
def test_a_flood_is_linear(payload: str) -> None:
    """Four times as much takes four times as long."""

    def work(size: int) -> object:
        reader = Reader(limits=Limits())
        return lambda: [reader.hear(payload.format(n)) for n in range(size)]

    assert is_linear(work, 5000)  # type: ignore[arg-type]


_TOKENS = [
    "state=working",
    "state=",
    "state=down",
    "state",
    "id=a/b",
    "id=",
    "id=-",
    "id=a b",
    "xid=é",
    "message=a",
    "=",
    "",
]
_TOKENS += ["message=%41", "id=%41", "tool=%", "xstate=working", "message=%", "state=%77orking", "what=a=b", "id=a\n"]


@given(st.lists(st.one_of(st.sampled_from(_TOKENS), st.text(max_size=6)), max_size=5).map(";".join), st.booleans())
def test_readable_is_what_is_read(payload: str, is_long: bool) -> None:
    """A payload has the key of what it says, and none if it cannot be read."""
    payload += ";message=" + "m" * (osc1338.PAYLOAD_LIMIT - len(payload) - 8) if is_long else ""

    report = osc1338.decode_variable(payload)
    found = key_of(payload)

    assert (found is None) == (report is None)
    if found is not None and report is not None:
        assert found == key_of(f"tool=%20;{payload}"), "the same by decoding it"
