"""The pile: what is laid aside and looked at late is what an inbox would have kept of it one by one."""

from __future__ import annotations

from base64 import b64encode

from hypothesis import given
from hypothesis import strategies as st

from tallylight import wire
from tallylight.relay.deferred import DeferredSequences, key_of_sequence
from tallylight.wire.inbox import Inbox, Limits
from tallylight.wire.scanner import Sequence, whole
from tests.relay.streams import READ

WIDE = Limits(at_once=0, every=0.1, a_go=1000, go_bytes=1_000_000, kept=1000, kept_bytes=1_000_000)
NARROW = Limits(at_once=0, every=0.1, a_go=1000, go_bytes=1_000_000, kept=6, kept_bytes=900)
IDS = ("", "", "a", "a/b", "c", "d", "e", "f")
STATES = ("working", "done", "clear", "clear", "wrong")


def variable(payload: str) -> bytes:
    return b"\x1b]1337;SetUserVar=tally=%b\x07" % b64encode(payload.encode())


CARRIED = st.one_of(
    st.builds("state={};id={}".format, st.sampled_from(STATES), st.sampled_from(IDS)),
    st.builds("state={};message={}".format, st.sampled_from(STATES), st.sampled_from(["x", "clear", "id=a"])),
    st.builds("id={};state=working;tool=%63".format, st.sampled_from(IDS)),
    st.builds("state=waiting;at={};of=1".format, st.integers(1, 20)),
    st.sampled_from(
        [
            "resume=x",
            "resume=y%0Az",
            "resume=",
            "resume=x;state=done",
            "state=waiting;source=notification",
            "",
            "x=;id=",
        ]
    ),
)
SEQUENCES = st.one_of(
    st.sampled_from(READ),
    CARRIED.map(variable),
    CARRIED.map(lambda payload: b"\x1b]1338;%b\x1b\\" % payload.encode()),
    st.builds("7501;state={}{}".format, st.sampled_from(STATES), st.sampled_from(["", ":id=", ":id=!", ":msg=!"])).map(
        lambda text: b"\x1b]%b\x07" % text.encode()
    ),
    st.builds("7501;state={}:id={}".format, st.sampled_from(STATES), st.sampled_from(IDS)).map(
        lambda text: b"\x1b]%b\x07" % text.encode()
    ),
    st.builds("7501; id = {} : state = {} ".format, st.sampled_from(["a", "b"]), st.sampled_from(STATES)).map(
        lambda text: b"\x1b]%b\x07" % text.encode()
    ),
    st.sampled_from(
        [
            b"\x1b]1337;SetUserVar=tally\x07",
            b"\x1b]1337;SetUserVar=tally=!\x07",
            b"\x1b]1337;SetUserVar=tallyx=YQ==\x07",
        ]
    ),
)


def one_by_one(raws: list[bytes], limits: Limits) -> list[bytes]:
    """What an inbox keeps of those of *raws* that can be read."""
    inbox, kept = Inbox(limits), []
    for raw in raws:
        sequence = whole(raw)
        if wire.decode(sequence) is not None and (key := key_of_sequence(sequence)) is not None:
            inbox.keep(key, lambda _, raw=raw: kept.append(raw), len(raw))  # type: ignore[misc]
    for call in inbox.take(1.0):
        call(1.0)
    return kept


def laid(raws: list[bytes], limits: Limits) -> list[bytes]:
    """What a pile keeps of *raws*."""
    read: list[Sequence] = []
    pile = DeferredSequences(limits, read.append)
    pile.defer(raws, sum(map(len, raws)))
    assert (pile.due() is None) == (not raws)
    for call in pile.take(1.0):
        call(1.0)
    return [sequence.raw for sequence in read]


@given(st.lists(SEQUENCES, max_size=60))
def test_what_is_looked_at_late_is_what_would_have_been_kept(raws: list[bytes]) -> None:
    """In the same order; where there is no room for all, at least that, and no more than there is room for."""
    assert laid(raws, WIDE) == one_by_one(raws, WIDE)

    kept, least = laid(raws, NARROW), one_by_one(raws, NARROW)
    assert [raw for raw in kept if raw in least] == least
    assert len(kept) <= NARROW.kept and sum(map(len, kept)) <= NARROW.kept_bytes
