"""
Notifications: OSC 9 (iTerm2), OSC 99 (kitty), OSC 777 notify (rxvt-unicode).
https://iterm2.com/documentation-escape-codes.html https://sw.kovidgoyal.net/kitty/desktop-notifications/

In: one sequence. Out of `decode`: a `Notification`, a `Chunk` of one for OSC 99, or DecodeError. `Notifications` joins
chunks: at most 16 unfinished notifications, 4 KiB of each part. A notification raises attention and has no status.

OSC 9 has other users: ConEmu's `9;1` to `9;12`, progress among them, are not ours. OSC 99 has titles and bodies to
show; its last chunk may be an icon or buttons. Its queries and its closing are no notifications.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire import base64
from tallylight.wire.frame import check_length, utf8
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBERS = (9, 99, 777)
#: kitty takes chunks of 4 KiB in base64; nothing we show is longer.
FRAME_LIMIT = 8192
NOTIFICATION_CELLS = 512
ID_LIMIT = 64
UNFINISHED_LIMIT = 16
PART_LIMIT = 4096

_CONEMU = re.compile(rb"(?:[1-9]|1[0-2])(?:;|\Z)")
_ID = re.compile(r"[A-Za-z0-9_+.-]*")


#: The parts of a notification that a chunk belongs to, with and without text to show.
SHOWN, HIDDEN = ("title", "body"), ("icon", "buttons")


@attributes.frozen
class Notification:
    """A request of a program for attention. A single text is its title."""

    title: str
    body: str = ""


@attributes.frozen(kw_only=True)
class Chunk:
    """A piece of an OSC 99 notification. Its bytes may end in the middle of a character."""

    part: str
    data: bytes
    id: str = ""
    is_last: bool = True


def decode(sequence: Sequence) -> Notification | Chunk:
    """Read one sequence; `not-ours` for one of these numbers that is no notification."""
    if sequence.number not in NUMBERS or b";" not in sequence.payload:
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    body = sequence.body
    if sequence.number == 99:
        return _chunk(body)
    if sequence.number == 9:
        if _CONEMU.match(body):
            raise DecodeError("not-ours", "ConEmu's")
        return from_texts(utf8(body), "")
    command, _, texts = body.partition(b";")
    title, _, body = texts.partition(b";")
    if command != b"notify" or title.startswith(b"warp://"):
        raise DecodeError("not-ours")
    return from_texts(utf8(title), utf8(body))


class Notifications:
    """Joins the chunks of notifications; whole notifications pass through."""

    def __init__(self) -> None:
        #: The unfinished ones by id; the one with the oldest last chunk comes first.
        self._unfinished: dict[str, dict[str, bytes]] = {}

    def __len__(self) -> int:
        return len(self._unfinished)

    def merge(self, event: Notification | Chunk) -> Notification | None:
        """Take in one event; return the notification that it completes, or None."""
        if isinstance(event, Notification):
            return event
        parts = self._unfinished.pop(event.id, dict.fromkeys(SHOWN, b""))
        if event.part in parts:
            parts[event.part] = (parts[event.part] + event.data)[:PART_LIMIT]
        if not event.is_last:
            self._unfinished[event.id] = parts
            if len(self._unfinished) > UNFINISHED_LIMIT:
                del self._unfinished[next(iter(self._unfinished))]
            return None
        # The limit may have cut a character in two.
        texts = [parts[part].decode("utf-8", "ignore") for part in SHOWN]
        try:
            return from_texts(*texts)
        except DecodeError:
            return None


def from_texts(title: str, body: str) -> Notification:
    """Return the notification of two texts as sent; raise DecodeError `malformed` if there is nothing to show."""
    first = title and sanitise(title, cells=NOTIFICATION_CELLS).strip()
    second = body and sanitise(body, cells=NOTIFICATION_CELLS).strip()
    if not (first or second):
        raise DecodeError("malformed", "a notification without text")
    return Notification(first, second) if first else Notification(second)


def _chunk(body: bytes) -> Chunk:
    """Return the chunk in the body of an OSC 99; raise `DecodeError` for anything else."""
    metadata, semicolon, payload = body.partition(b";")
    if not semicolon:
        raise DecodeError("malformed", "no payload")
    fields = {}
    for field in metadata.decode("utf-8", "replace").split(":"):
        key, equals, value = field.partition("=")
        if field and not equals:
            raise DecodeError("malformed", "metadata without a value")
        fields[key] = value
    part = fields.get("p", "title")
    if part not in SHOWN + HIDDEN:
        raise DecodeError("not-ours", "no part of a notification")
    id_ = fields.get("i", "")
    if not _ID.fullmatch(id_) or len(id_) > ID_LIMIT:
        raise DecodeError("malformed", f"an id is at most {ID_LIMIT} of A-Z a-z 0-9 _ + . -")
    if part in HIDDEN:
        payload = b""
    elif fields.get("e") == "1":
        payload = base64.decode_bytes(payload if b"=" in payload else payload + b"=" * (-len(payload) % 4))
    return Chunk(part=part, data=payload, id=id_, is_last=fields.get("d") != "0")
