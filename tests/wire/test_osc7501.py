"""OSC 7501: its vectors, its limits, and its query."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.wire import osc7501
from tallylight.wire.osc7501 import State, Status7501
from tallylight.wire.scanner import Scanner, Sequence
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


def decode(body: str) -> Status7501:
    return osc7501.decode(only_sequence(f"\x1b]7501;{body}\x07".encode()))


@pytest.mark.slow
@each("vector", vector_params("osc7501"))
def test_osc7501(vector: Vector) -> None:
    """OSC 7501 is read by the page and written in its canonical form."""
    check_vector(vector, lambda data: osc7501.decode(only_sequence(data)), osc7501.encode)


# Limits


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_frame_limit(end: bytes) -> None:
    """A sequence of exactly 4096 bytes, introducer and terminator included, is read; 4097 are too long."""
    start = b"\x1b]7501;state=idle:x="
    fits = start.ljust(4096 - len(end), b"x") + end

    assert osc7501.decode(only_sequence(fits)).state is State.IDLE
    assert wire.decode(only_sequence(fits[: -len(end)] + b"x" + end)) is None
    with pytest.raises(DecodeError, match="too-long"):
        osc7501.decode(only_sequence(fits[: -len(end)] + b"x" + end))


@pytest.mark.parametrize(("key", "encoded", "decoded"), [("title", 256, 192), ("msg", 2732, 2048)])
def test_text_limits(key: str, encoded: int, decoded: int) -> None:
    """A text is read at exactly its limit in base64 and decoded; one more of either costs the report."""
    fits = b64encode(b"a" * decoded).decode()
    assert len(fits) == encoded

    assert decode(f"state=idle:{key}={fits}").state is State.IDLE
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=idle:{key}={b64encode(b'a' * (decoded + 1)).decode().rstrip('=')}")
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=idle:{key}={fits}A")
    with pytest.raises(DecodeError, match="too-long"):
        decode(f"state=clear:{key}={fits}A:{key}=YQ==")


def test_id_limit() -> None:
    """An id of exactly 128 bytes is read, one of 129 is not."""
    fits = "/".join(["a" * 32] * 3 + ["a" * 29])
    assert len(fits) == osc7501.ID_LIMIT

    assert decode(f"state=idle:id={fits}").id == fits
    with pytest.raises(DecodeError, match="malformed"):
        decode(f"state=idle:id={fits}a")


def test_message_is_cut_for_one_line() -> None:
    """Of the longest message the first 512 cells are kept, and what is written of it is never over the limits."""
    status = decode(f"state=idle:msg={b64encode(b'a' * 2048).decode()}")
    assert status.message == "a" * osc7501.MESSAGE_CELLS

    data = osc7501.encode(Status7501(state=State.IDLE, title="✓" * 256, message="✓" * 2000))
    back = osc7501.decode(only_sequence(data))
    assert (back.title, back.message) == ("✓" * 64, "✓" * 512)


# The query


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_query(end: bytes) -> None:
    """A query is answered by its own bytes, with its own terminator, and says nothing else."""
    sequence = only_sequence(b"\x1b]7501;?" + end)

    assert osc7501.is_query(sequence)
    assert osc7501.answer(sequence) == sequence.raw
    assert wire.decode(sequence) is None


@each(
    "data",
    [
        b"\x1b]7501;??\x07",
        b"\x1b]7501;?:state=idle\x07",
        b"\x1b]7501;?:future=1\x07",
        b"\x1b]7501\x07",
        b"\x1b]7501;\x07",
        b"\x1b]7501; ?\x07",
        b"\x1b]7501;? \x07",
        b"\x1b]07501;?\x07",
        b"\x1b]7501?\x07",
        b"\x1bP7501;?\x1b\\",
        b"\x1b_7501;?\x1b\\",
    ],
)
def test_no_query(data: bytes) -> None:
    """Only exactly `OSC 7501;?` is a query."""
    assert not osc7501.is_query(only_sequence(data))


# Both ways


@given(
    st.builds(
        Status7501,
        state=st.sampled_from(State),
        id=st.sampled_from(["", "a", "a/b"]),
        app=st.sampled_from(["", "claude-code"]),
        title=st.text(alphabet="ab ;:=%é漢✓", max_size=40),
        message=st.text(alphabet="ab ;:=%é漢✓", max_size=300),
    ),
    st.booleans(),
)
def test_round_trip(status: Status7501, with_st: bool) -> None:
    """What is written comes back, and holds no control but its own."""
    data = osc7501.encode(status, st=with_st)

    assert osc7501.decode(only_sequence(data)) == status
    assert data[2:-2].isascii() and data[2:-2].decode().isprintable()


def test_two_reports_in_one_chunk() -> None:
    """Reports that arrive together are read one by one, in order."""
    items = Scanner().feed(b"\x1b]7501;state=working\x07\x1b]7501;state=done\x1b\\")
    states = [osc7501.decode(item).state for item in items if isinstance(item, Sequence)]

    assert states == [State.WORKING, State.DONE]
