"""
Deferred sequences: an inbox for whole sequences that come by the thousand.

Sequences that come too fast are stored unread, and sorted once they are due or too many. So most of a flood is never
decoded. The result is that of `Inbox.keep` for each sequence in turn, as a test compares. It may even keep more, for
nothing makes room for a sequence that is replaced a moment later. Sequences about the program itself are always found,
because they are kept however many records there are.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Hashable, Iterator, Set

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.wire import envelope, osc88, osc1338, osc7501, user_var
from tallylight.wire.inbox import RECIPE, Call, Inbox, Key, Limits, key_of, record_key
from tallylight.wire.scanner import Sequence, whole

#: The most sequences, and bytes of them, that are stored before they are sorted.
MAX_DEFERRED, MAX_DEFERRED_BYTES = 8192, 262_144
#: The fields of OSC 7501 that its codec would read.
_FIELD_7501 = re.compile(rb"(?:\A|:)\s*(state|id)\s*=\s*([A-Za-z0-9_.,+/=-]*)\s*(?=:|\Z)")
#: Most sequences about a child, found without decoding.
_OF_CHILD = re.compile(
    rb"\x1b\](?:7501;[^\x07\x1b]*?:id=|1338;[^\x07\x1b%]*?;id=[^;\x07\x1b%]++(?![^\x07\x1b]*;id=))"
).match
#: Sequences that may be about the program itself, as far as that is known without decoding.
_OWN = re.compile(
    rb"\x1b\](?:7501(?![^\x07\x1b]*[;:]\s*id\s*=)|1338|88|1337)"
    rb";[^\x07\x1b]*(?:\x07|\x1b\\)"
)
#: A recipe in a payload, which has no status.
_RECIPE = re.compile(rb";resume=(?!.*;state=)", re.DOTALL)
_ID_7501 = re.compile(rb"[;:]\s*id\s*=")
_VARIABLE = b"\x1b]%b%b=" % (user_var.BEGINNING, envelope.CARRIER.encode())
_ARM = b"\x1b]88;"
_NUMBER = slice(2, 7)


class DeferredSequences(Inbox):
    """The deferred sequences of one program. *read* is called with each of them in its turn."""

    def __init__(self, limits: Limits, read: Callable[[Sequence], object]) -> None:
        super().__init__(limits)
        self._read_sequence = read
        self._unsorted: list[bytes] = []
        self._unsorted_size = 0
        #: Whether there is room for more records than were found.
        self._has_room = True

    def __len__(self) -> int:
        return len(self._unsorted) + super().__len__()

    def is_full(self, now: float) -> bool:
        """Return whether the next sequence must wait."""
        return bool(self._unsorted) or super().is_full(now)

    def defer(self, raws: list[bytes], size: int) -> None:
        """Keep *raws*, whole sequences of *size* bytes in all, for later."""
        self._unsorted += raws
        self._unsorted_size += size
        if len(self._unsorted) >= MAX_DEFERRED or self._unsorted_size >= MAX_DEFERRED_BYTES:
            self._sort()

    def due(self) -> float | None:
        return self._next() if len(self) else None

    def take(self, now: float, *, is_last: bool = False) -> list[Call]:
        self._sort()
        return super().take(now, is_last=is_last)

    def forget_all_but_recipes(self) -> None:
        """Drop all waiting sequences except recipes, which a reset of the screen does not concern."""
        self._unsorted = [raw for raw in self._unsorted if raw.startswith(_ARM)]
        self._sort()
        self.forget_but(osc88.NUMBER)

    def _sort(self) -> None:
        """Decode the stored sequences as far as they count, and keep them by their keys."""
        unsorted, self._unsorted, self._unsorted_size = self._unsorted, [], 0
        for key, sequence in reversed([*self._newest(unsorted)]):
            self.keep(key, lambda _, sequence=sequence: self._read_sequence(sequence), len(sequence.raw))  # type: ignore[misc]

    def _newest(self, raws: list[bytes]) -> Iterator[tuple[Key, Sequence]]:
        """Yield the newest of *raws* for each record, the newest first, as many as can be kept."""
        found: set[Hashable] = set()
        count = size = 0
        #: For sequences about the program itself, by kind: no older one counts, or only a withdrawal.
        is_over: dict[tuple[bytes, bool], bool] = {}
        self._has_room = True
        for raw in self._that_may_count(list(dict.fromkeys(reversed(raws)))):
            text = _own_text(raw)
            if text is None and not self._has_room:
                continue
            # One that names a source may be of another record than one that names none.
            plain = b"" if text is None or b"source=" in text else text
            kind = raw[_NUMBER], _RECIPE.match(plain) is not None
            if plain and kind in is_over and (is_over[kind] or b"clear" not in plain):
                continue
            sequence = whole(raw)
            if (key := _new_key(sequence, found)) is None:
                continue
            found |= {key.name, key.replaces}
            if key.is_many:
                count, size = count + 1, size + len(raw)
                self._has_room = count < self._limits.kept and size < self._limits.kept_bytes
            elif plain:
                is_over[kind] = key.replaces is not None
            yield key, sequence

    def _that_may_count(self, raws: list[bytes]) -> Iterator[bytes]:
        """Yield each of *raws* while there is room, then only those that may be about the program itself."""
        for at, raw in enumerate(raws, 1):
            yield raw
            if not self._has_room:
                rest = [raw for raw in raws[at:] if not _OF_CHILD(raw)]
                yield from _OWN.findall(b"".join(rest))
                return


def _own_text(raw: bytes) -> bytes | None:
    """Return the readable part of *raw* if it may be about the program itself, else None."""
    if raw.startswith(b"\x1b]7501;"):
        return None if _ID_7501.search(raw) else raw
    text = raw
    if raw.startswith(_VARIABLE):
        try:
            text = b";" + binascii.a2b_base64(raw[len(_VARIABLE) :])
        except binascii.Error:
            return None
    elif raw.startswith(_VARIABLE[:-1]):
        return b";state=clear"
    elif not raw.startswith((b"\x1b]1338;", _ARM)):
        return None
    # The last id counts; an empty one is that of the program itself.
    _, has_id, rest = text.rpartition(b";id=")
    is_child = has_id and rest[:1] not in (b"", b";", b"\x07", b"\x1b")
    return None if is_child or b";at=" in text else text


def _new_key(sequence: Sequence, found: Set[Hashable]) -> Key | None:
    """Return the key of *sequence*; None if a newer one of that key is in *found*, or it cannot be read."""
    key = key_of_sequence(sequence)
    return None if key is None or key.name in found or wire.decode(sequence) is None else key


def key_of_sequence(sequence: Sequence) -> Key | None:
    """Return the key under which *sequence* waits; None for a sequence without any content."""
    number, body = sequence.number, sequence.body
    if number == osc7501.NUMBER:
        fields = dict(_FIELD_7501.findall(body))
        state, id_ = fields.get(b"state"), fields.get(b"id", b"").decode("ascii", "replace")
        return record_key(number, id_, is_clear=osc7501.STATUSES[state] is None) if state in osc7501.STATUSES else None
    if number == osc1338.NUMBER:
        key = key_of(body.decode("utf-8", "replace"), number)
        return _newer(key) if key is not None and key.name != RECIPE else None
    if number == user_var.NUMBER:
        try:
            event = user_var.decode(sequence)
        except DecodeError:
            return None
        key = key_of(event.value, number) if event.name == envelope.CARRIER else None
        return _newer(key) if key is not None else None
    if number == osc88.NUMBER:
        return Key(osc88.NUMBER)
    # Partial updates must all be read, but an equal one needs no second reading.
    return Key(sequence.raw, is_many=True)


def _newer(key: Key) -> Key:
    """Return *key*, changed so that here the newest sequence counts in any case."""
    return Key(key.name, is_many=True) if key.stays else key
