"""Argument lists on the wire: whole, or not at all."""

from __future__ import annotations

import pytest

from tallylight.report import Report, Source
from tallylight.status import Status
from tallylight.wire import osc1338, pairs


def carried(words: str) -> tuple[str, ...]:
    """What is read of `resume=`*words*."""
    return osc1338.decode_payload(pairs.join([("state", "idle"), ("resume", words)])).resume


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("", ()),
        ("claude", ("claude",)),
        ("claude\n--resume\n{SessionId}", ("claude", "--resume", "{SessionId}")),
        ("claude\n\nx", ("claude", "", "x")),
        ("claude\na b", ("claude", "a b")),
        ("claude\na\tb", ()),
        ("claude\na\x1bb", ()),
        ("claude\na\u202eb", ()),
        ("\n".join(["x"] * osc1338.MAX_WORDS), ("x",) * osc1338.MAX_WORDS),
        ("\n".join(["x"] * (osc1338.MAX_WORDS + 1)), ()),
        ("x" * osc1338.MAX_WORD, ("x" * osc1338.MAX_WORD,)),
        ("x" * (osc1338.MAX_WORD + 1), ()),
    ],
)
def test_a_word_a_line(words: str, read: tuple[str, ...]) -> None:
    """A list that is too long, or has a character that cannot be shown, is no list; what has a space stays one word."""
    assert carried(words) == read


def test_a_word_with_a_line_end_does_not_become_two() -> None:
    """A list that cannot be written so that it comes back the same is not written."""
    report = Report(source=Source.PROTOCOL, status=Status.IDLE, resume=("claude", "a\n--yolo"), fork=("claude",))

    back = osc1338.decode_payload(osc1338.encode_payload(report))

    assert (back.resume, back.fork) == ((), ("claude",))


@pytest.mark.parametrize(("length", "kept"), [(256, 256), (257, 257), (3000, 257)])
def test_a_session_id_that_is_too_long_stays_too_long(length: int, kept: int) -> None:
    """Cut to its limit it would be another id, which might pass."""
    report = osc1338.decode_payload(f"state=idle;session={'x' * length}")

    assert len(report.session) == kept
