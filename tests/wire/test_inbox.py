"""The inbox: what is read at once, what is kept, in which order it is read, and what is left out and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.wire import envelope, inbox, osc1338
from tallylight.wire.inbox import COUNT_S, TOLD_S, Inbox, Key, Limits, Pace, key_of, key_of_sequence
from tallylight.wire.scanner import Sequence
from tests.helpers import is_linear, only_sequence
from tests.tables import each

LIMITS = Limits(at_once=2, every=0.1, a_go=3, go_bytes=1000, kept=4, kept_bytes=500)


class Reader:
    """An inbox and what was read of it, in order."""

    def __init__(self, *known: str, limits: Limits = LIMITS) -> None:
        self.inbox = Inbox(lambda id_: any(k == id_ or k.startswith(f"{id_}/") for k in known), limits)
        self.read: list[str] = []

    def hear(self, payload: str, now: float = 0.0, size: int = 10) -> None:
        key = key_of(payload)
        assert key is not None
        if self.inbox.admits(now):
            self.read.append(payload)
        else:
            self.inbox.keep(key, lambda _: self.read.append(payload), size)

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


#: What is kept of what is said, in which order it is read. `a` and `x/y` are known records.
FOLDED: dict[str, tuple[list[str], list[str]]] = {
    "a withdrawal of what waits and is not known": (["state=working;id=n", "state=clear;id=n"], []),
    "one of a record": (["state=working;id=a", "state=clear;id=a"], ["state=clear;id=a"]),
    "one of a record's parent": (["state=clear;id=x"], ["state=clear;id=x"]),
    "one with children that wait": (["state=working;id=n/1", "state=clear;id=n"], []),
    "a report after it": (["state=clear;id=a", "state=working;id=a"], ["state=clear;id=a", "state=working;id=a"]),
    "one of everything": (["state=working;id=n", "state=working", "state=clear"], ["state=clear"]),
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
        reader = Reader("a", "x/y")
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
    """All of its own is read at once, and of its children's the newest, as many as are read in one go."""
    reader = Reader()
    reader.flood()
    for payload in ("state=waiting", *(f"state=working;id=r{n}" for n in range(4)), "resume=x"):
        reader.hear(payload)
    for call in reader.inbox.take_last(1.0):
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
    assert reader.inbox.pace == Pace(said=1200, read=2)
    reader.inbox.count(2 * COUNT_S)
    assert reader.inbox.pace is not None
    reader.inbox.count(COUNT_S + TOLD_S)

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


@each("payload", ["", "state", "id=a", "cwd=/;resume=x", "state=working;id=%zz", "state=" + "x" * 5000])
def test_what_says_nothing_has_no_key(payload: str) -> None:
    """Nothing is kept of it, and nothing is put aside for it."""
    assert key_of(payload) is None


SEQUENCES: dict[bytes, Key | None] = {
    b"\x1b]7501;state=working: id = a/b :app=x\x07": Key((7501, "a/b"), "a/b"),
    b"\x1b]7501;id=a:state=clear\x1b\\": Key((7501, "a", "clear"), "a", is_clear=True),
    b"\x1b]7501;state=done\x07": Key((7501, ""), ""),
    b"\x1b]7501;app=x\x07": None,
    b"\x1b]1338;state=working;id=a\x07": Key((1338, "a"), "a"),
    b"\x1b]88;clear\x07": Key(88),
    envelope.user_var("tally", "state=done;id=a"): Key((1337, "a"), "a"),
    b"\x1b]1337;SetUserVar=tally=!\x07": None,
    b"\x1b]26;Status=idle\x07": Key(b"\x1b]26;Status=idle\x07", is_many=True),
}


def test_keys_of_sequences() -> None:
    """A relay's sequences have the keys of what they say; what tells only changes has one for each."""
    found = {data: key_of_sequence(_sequence(data)) for data in SEQUENCES}

    assert found == SEQUENCES
    assert {data: key_of_sequence(_sequence(data)) for data in SEQUENCES} == SEQUENCES, "the second time too"


def test_few_keys_are_remembered() -> None:
    """Of what is said again the key is known; of a flood of others, and of long ones, no memory grows."""
    for n in range(2000):
        key_of_sequence(_sequence(b"\x1b]1338;state=working;id=r%d\x07" % n))
        key_of_sequence(_sequence(b"\x1b]1338;state=working;message=" + b"%d" % n * 300 + b"\x07"))

    assert 0 < len(inbox._KNOWN) <= inbox._MOST_KNOWN
    assert max(map(len, inbox._KNOWN)) <= inbox._LONGEST_KNOWN


def test_all_that_waits_is_void() -> None:
    """What is left of it is what was to be kept, and the room of the rest."""
    for kept in ("state=working;id=a/b", "state=working;id=x"):
        reader = Reader()
        reader.flood()
        for payload in ("state=working;id=a/b", "state=done", "state=working;id=a"):
            reader.hear(payload)
        key = key_of(kept)
        assert key is not None
        reader.inbox.forget_but(key.name)

        assert reader.inbox._left_out == (2 if kept.endswith("a/b") else 3)
        assert reader.go(9.0) == ([kept] if kept.endswith("a/b") else [])
        held = reader.inbox
        assert (len(held), held._size, held._spare, held._nested, held._ids) == (0, 0, 0, 0, {})


def _sequence(data: bytes) -> Sequence:
    return only_sequence(data)


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
    """Whether a payload can be read is told without reading it, and is the truth."""
    payload += ";message=" + "m" * (osc1338.PAYLOAD_LIMIT - len(payload) - 8) if is_long else ""

    assert osc1338.is_readable(payload) == (osc1338.decode_variable(payload) is not None)
