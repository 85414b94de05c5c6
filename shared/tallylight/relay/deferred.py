"""
DeferredSequences: an inbox for whole sequences that come by the thousand.

What comes too fast is laid aside as it is, at the speed of the memory, and looked at when it is due or has grown large:
from its newest end on, until as many records are found as the inbox keeps. Of all that is older only what may concern
the program itself is looked at, because that is kept however many records there are. So most of a flood is never
decoded. What is left is what `Inbox.keep` would have left, had each been kept when it came (a test compares them), and
perhaps more: nothing goes to make room for what is itself replaced a moment later.
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

#: What is laid aside at most before it is looked at, in sequences and in bytes.
MOST, MOST_BYTES = 8192, 262_144
#: One that cannot be read is none, as for the codec.
_FIELD_7501 = re.compile(rb"(?:\A|:)\s*(state|id)\s*=\s*([A-Za-z0-9_.,+/=-]*)\s*(?=:|\Z)")
#: Nearly all that names a child in plain words.
_OF_CHILD = re.compile(
    rb"\x1b\](?:7501;[^\x07\x1b]*?:id=|1338;[^\x07\x1b%]*?;id=[^;\x07\x1b%]++(?![^\x07\x1b]*;id=))"
).match
#: What may concern the program itself, as far as that is known without decoding anything.
_OWN = re.compile(
    rb"\x1b\](?:7501(?![^\x07\x1b]*[;:]\s*id\s*=)|1338|88|1337)"
    rb";[^\x07\x1b]*(?:\x07|\x1b\\)"
)
#: A recipe as it is carried: it has no status.
_RECIPE = re.compile(rb";resume=(?!.*;state=)", re.DOTALL)
_ID_7501 = re.compile(rb"[;:]\s*id\s*=")
_VARIABLE = b"\x1b]%b%b=" % (user_var.BEGINNING, envelope.CARRIER.encode())
_ARM = b"\x1b]88;"
_NUMBER = slice(2, 7)


class DeferredSequences(Inbox):
    """One program's. *read* is what is done with each sequence in its turn."""

    def __init__(self, limits: Limits, read: Callable[[Sequence], object]) -> None:
        super().__init__(limits)
        self._read_sequence = read
        self._laid: list[bytes] = []
        self._laid_size = 0
        #: Whether more records can be kept than were found.
        self._has_room = True

    def __len__(self) -> int:
        return len(self._laid) + super().__len__()

    def is_full(self, now: float) -> bool:
        """Whether what comes now is not to be read at once."""
        return bool(self._laid) or super().is_full(now)

    def defer(self, raws: list[bytes], size: int) -> None:
        """Read *raws*, whole sequences of *size* bytes, later."""
        self._laid += raws
        self._laid_size += size
        if len(self._laid) >= MOST or self._laid_size >= MOST_BYTES:
            self._look()

    def due(self) -> float | None:
        return self._next() if len(self) else None

    def take(self, now: float, *, is_last: bool = False) -> list[Call]:
        self._look()
        return super().take(now, is_last=is_last)

    def forget_but_arms(self) -> None:
        """All that waits is void, except for how to start again: that is not a matter of the screen."""
        self._laid = [raw for raw in self._laid if raw.startswith(_ARM)]
        self._look()
        self.forget_but(osc88.NUMBER)

    def _look(self) -> None:
        laid, self._laid, self._laid_size = self._laid, [], 0
        for key, sequence in reversed([*self._newest(laid)]):
            self.keep(key, lambda _, sequence=sequence: self._read_sequence(sequence), len(sequence.raw))  # type: ignore[misc]

    def _newest(self, raws: list[bytes]) -> Iterator[tuple[Key, Sequence]]:
        """Of each record the newest of *raws*, the newest first, as far as they can be kept."""
        found: set[Hashable] = set()
        count = size = 0
        #: Of what concerns the program itself, by kind: nothing older counts, or nothing but a withdrawal.
        is_over: dict[tuple[bytes, bool], bool] = {}
        self._has_room = True
        for raw in self._in_question(list(dict.fromkeys(reversed(raws)))):
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

    def _in_question(self, raws: list[bytes]) -> Iterator[bytes]:
        """Each of *raws* while there is room; of what is behind only what may concern the program itself."""
        for at, raw in enumerate(raws, 1):
            yield raw
            if not self._has_room:
                rest = [raw for raw in raws[at:] if not _OF_CHILD(raw)]
                yield from _OWN.findall(b"".join(rest))
                return


def _own_text(raw: bytes) -> bytes | None:
    """What of *raw* there is to read without more ado, if it may concern the program itself; None if it does not."""
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
    # The last id counts, and an empty one is none.
    _, has_id, rest = text.rpartition(b";id=")
    is_child = has_id and rest[:1] not in (b"", b";", b"\x07", b"\x1b")
    return None if is_child or b";at=" in text else text


def _new_key(sequence: Sequence, found: Set[Hashable]) -> Key | None:
    """What *sequence* is about; None for what is *found* already, and for what cannot be read and replaces nothing."""
    key = key_of_sequence(sequence)
    return None if key is None or key.name in found or wire.decode(sequence) is None else key


def key_of_sequence(sequence: Sequence) -> Key | None:
    """What *sequence* is about while it waits; None for one that says nothing."""
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
    # Reports of changes alone cannot be told apart; an equal one needs no second reading.
    return Key(sequence.raw, is_many=True)


def _newer(key: Key) -> Key:
    """*key*; of one that is kept where it first was, too, the newest counts here."""
    return Key(key.name, is_many=True) if key.stays else key
