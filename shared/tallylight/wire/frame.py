"""
Frame: what codecs ask of a sequence before they read it.

In: bytes, and a limit. Out: the same as text or as an `Update`, the pairs that somebody knows; or DecodeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.scanner import Sequence


def check_length(data: bytes, limit: int) -> None:
    """Refuse what is longer than *limit* bytes: `too-long`."""
    if len(data) > limit:
        raise DecodeError("too-long", f"{len(data)} bytes, {limit} at most")


def check_ours(sequence: Sequence, number: int, limit: int) -> None:
    """Refuse a sequence of another number, `not-ours`, and one that is too long."""
    if sequence.number != number:
        raise DecodeError("not-ours")
    check_length(sequence.raw, limit)


def utf8(data: bytes) -> str:
    """Decode UTF-8; `malformed` if it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("malformed", f"not UTF-8: {error.reason}") from None


@attributes.frozen
class Update:
    """What changes of OSC *number*: the valid pairs of one frame, in the order sent. An empty value clears its key."""

    number: int
    pairs: tuple[tuple[str, str], ...]


def update(number: int, tokens: Iterable[str], read: Callable[[str, str], str | None]) -> Update:
    """
    Split `key=value` tokens; `not-ours` if none is left.

    *read* gives a value as it is kept, or None for a pair that costs itself only.
    """
    split = (token.partition("=") for token in tokens)
    found = ((key, read(key, value)) for key, equals, value in split if equals)
    known = tuple((key, value) for key, value in found if value is not None)
    if not known:
        raise DecodeError("not-ours", "no pair that is known")
    return Update(number, known)
