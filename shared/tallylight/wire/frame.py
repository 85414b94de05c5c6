"""
Frame: checks that codecs make before they read a sequence, and the split into pairs.

In: bytes, and a limit. Out: text, or an `Update` with the known pairs; or DecodeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.scanner import Sequence


def check_length(data: bytes, limit: int) -> None:
    """Raise DecodeError `too-long` for *data* of more than *limit* bytes."""
    if len(data) > limit:
        raise DecodeError("too-long", f"{len(data)} bytes, {limit} at most")


def check_ours(sequence: Sequence, number: int, limit: int) -> None:
    """Raise DecodeError `not-ours` for a sequence of another number, `too-long` for one over *limit* bytes."""
    if sequence.number != number:
        raise DecodeError("not-ours")
    check_length(sequence.raw, limit)


def utf8(data: bytes) -> str:
    """Decode UTF-8, or raise DecodeError `malformed`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("malformed", f"not UTF-8: {error.reason}") from None


@attributes.frozen
class Update:
    """The changes in one frame of OSC *number*: its valid pairs in the order sent. An empty value clears its key."""

    number: int
    pairs: tuple[tuple[str, str], ...]


def update(number: int, tokens: Iterable[str], read: Callable[[str, str], str | None]) -> Update:
    """
    Return the valid pairs of `key=value` tokens; raise DecodeError `not-ours` if there is none.

    *read* returns a decoded value, or None for a pair to leave out.
    """
    split = (token.partition("=") for token in tokens)
    found = ((key, read(key, value)) for key, equals, value in split if equals)
    known = tuple((key, value) for key, value in found if value is not None)
    if not known:
        raise DecodeError("not-ours", "no pair that is known")
    return Update(number, known)
