"""Notifications: their vectors, their limits, and chunks put together."""

from __future__ import annotations

import pytest

from tallylight.model.errors import DecodeError
from tallylight.wire import notification
from tallylight.wire.notification import Chunk, Notification, Notifications
from tallylight.wire.scanner import Sequence
from tests.helpers import Vector, check_vector, coalesce, only_sequence, run, vector_params
from tests.tables import each


def strict(data: bytes) -> Notification | Chunk:
    return notification.decode(only_sequence(data))


@each("vector", vector_params("notification"))
def test_notification(vector: Vector) -> None:
    """A notification is what notifies somebody, and nothing else that shares its numbers."""
    check_vector(vector, strict)


def merge(*bodies: bytes) -> list[Notification | None]:
    told = Notifications()
    return [told.merge(strict(b"\x1b]99;%b\x07" % body)) for body in bodies]


def test_chunks() -> None:
    """The chunks of one id make one notification when the last of them comes, even if it is empty."""
    assert merge(b"i=1:d=0;Hello ", b"i=1:d=0;world", b"i=1:d=0:p=body;This", b"i=1:p=body; is cool") == [
        None,
        None,
        None,
        Notification("Hello world", "This is cool"),
    ]
    assert merge(b"i=1:d=0;x", b"i=1;")[-1] == Notification("x")


def test_an_icon_or_buttons_may_come_last() -> None:
    """They are not shown, and end the notification that they belong to; alone they notify nobody."""
    assert merge(b"i=1:d=0;Run it?", b"i=1:p=buttons;Yes\xe2\x80\xa8No")[-1] == Notification("Run it?")
    assert merge(b"i=1:d=0;a", b"i=1:d=0:p=body;b", b"i=1:p=icon:e=1;not base64")[-1] == Notification("a", "b")
    assert merge(b"i=1:p=icon;x", b"p=buttons;x") == [None, None]


def test_chunks_interleave() -> None:
    """Chunks of two ids do not mix, and one without an id is a notification of its own."""
    assert merge(b"i=1:d=0;a", b"i=2:d=0;b", b";c", b"i=2;B", b"i=1;A", b"i=1;new") == [
        None,
        None,
        Notification("c"),
        Notification("bB"),
        Notification("aA"),
        Notification("new"),
    ]


def test_character_over_two_chunks() -> None:
    """A character whose bytes are cut in two by chunks is whole again."""
    assert merge(b"i=1:d=0:e=1;4pw=", b"i=1:e=1;kw==")[-1] == Notification("✓")


def test_body_without_title() -> None:
    """A body alone is the title; nothing at all notifies nobody."""
    assert merge(b"p=body;x") == [Notification("x")]
    assert merge(b";", b"p=body;\xe2\x80\x8b") == [None, None]


def test_plain_ones_pass_through() -> None:
    """A notification that came whole is what it is."""
    assert Notifications().merge(Notification("a", "b")) == Notification("a", "b")


def test_unfinished_are_bounded() -> None:
    """Sixteen unfinished notifications are kept; the seventeenth costs the one that heard least recently."""
    told = Notifications()
    for index in range(notification.UNFINISHED_LIMIT):
        told.merge(Chunk(part="title", data=b"x", id=str(index), is_last=False))
    told.merge(Chunk(part="title", data=b"x", id="0", is_last=False))
    assert len(told) == notification.UNFINISHED_LIMIT
    told.merge(Chunk(part="title", data=b"x", id="new", is_last=False))

    assert len(told) == notification.UNFINISHED_LIMIT
    assert told.merge(Chunk(part="title", data=b"", id="1")) is None
    assert told.merge(Chunk(part="title", data=b"", id="0")) == Notification("xx")


def test_part_limit() -> None:
    """Of each part 4 KiB are kept, however many chunks come."""
    invisible = "\u200b".encode()
    for size, seen in ((notification.PART_LIMIT - 1, True), (notification.PART_LIMIT, False)):
        told = Notifications()
        told.merge(Chunk(part="body", data=(invisible * 2000)[:size], id="1", is_last=False))
        done = told.merge(Chunk(part="body", data=b"x", id="1"))

        assert done == (Notification("x") if seen else None)


@each("start", [b"\x1b]9;", b"\x1b]99;;", b"\x1b]777;notify;"])
def test_frame_limit(start: bytes) -> None:
    """A sequence of exactly 8 KiB is read, one byte more is not."""
    fits = start.ljust(notification.FRAME_LIMIT - 1, b"x") + b"\x07"

    assert strict(fits)
    with pytest.raises(DecodeError, match="too-long"):
        strict(fits[:-1] + b"x\x07")


def test_other_sequences() -> None:
    """No other number notifies anybody."""
    vector = Vector(id="x", data=b"\x1b]0;x\x07", source="constructed")
    for item in coalesce(run(vector, [vector.data]).items):
        assert isinstance(item, Sequence)
        with pytest.raises(DecodeError, match="not-ours"):
            notification.decode(item)
