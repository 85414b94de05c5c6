"""
Messages of the fleet: which topic holds what, and the JSON in it.

MQTT 3.1.1, https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/ . Every message is retained, so that a reader that comes late
is told everything at once; an empty payload takes a topic back.

    PREFIX/MACHINE/machine            {"version": 1, "online": true, "at": 1763690000.0}
    PREFIX/MACHINE/pane/HOST/PANE     {"version": 1, "pane": {…}}, the pane as it stands in a snapshot

Names become one level of a topic each: what is not a letter, a digit, `.`, `_` or `-` is percent-encoded. What comes
from a broker is untrusted: sizes are bounded, types are checked, and what does not fit is no message of ours.
"""

from __future__ import annotations

import json
from typing import Any

import attrs

from tallylight.model.errors import DecodeError
from tallylight.snapshot.schema import Pane
from tallylight.wire import values
from tallylight.wire.pairs import percent_decode

VERSION = 1
#: Of one payload. A pane of one agent is about 1 kB.
MAX_BYTES = 256 * 1024
#: Of one topic.
MAX_TOPIC = 1024
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@attrs.frozen
class Message:
    """What a topic is to hold; an empty *payload* takes it back."""

    topic: str
    payload: bytes


@attrs.frozen
class PaneTopic:
    """The topic of pane *pane* of *host* on *machine*."""

    machine: str
    host: str
    pane: str

    def encode(self, prefix: str) -> str:
        return "/".join((prefix, _level(self.machine), "pane", _level(self.host), _level(self.pane)))


@attrs.frozen
class MachineTopic:
    """The topic that tells whether *machine* is there. Its last will says that it is not."""

    machine: str

    def encode(self, prefix: str) -> str:
        return f"{prefix}/{_level(self.machine)}/machine"


@attrs.frozen
class Presence:
    """Whether a machine is there, and since when (seconds since the epoch; 0 in a last will)."""

    online: bool
    at: float


def decode_topic(topic: str, prefix: str) -> PaneTopic | MachineTopic | None:
    """What *topic* is for; None for one of somebody else."""
    if len(topic) > MAX_TOPIC or not topic.startswith(f"{prefix}/"):
        return None
    try:
        levels = [percent_decode(level.encode()).decode() for level in topic[len(prefix) + 1 :].split("/")]
    except (DecodeError, UnicodeError):
        return None
    if not all(levels):
        return None
    match levels:
        case [machine, "machine"]:
            return MachineTopic(machine)
        case [machine, "pane", host, pane]:
            return PaneTopic(machine, host, pane)
    return None


def encode_pane(pane: Pane) -> bytes:
    return _encode({"version": VERSION, "pane": pane.to_json()})


def decode_pane(payload: bytes) -> Pane | None:
    """The pane; None if *payload* is none, or of another version."""
    found = _decode(payload).get("pane")
    return Pane.from_json(found) if isinstance(found, dict) else None


def encode_presence(presence: Presence) -> bytes:
    return _encode({"version": VERSION, "online": presence.online, "at": presence.at})


def decode_presence(payload: bytes) -> Presence | None:
    found = _decode(payload)
    online, at = found.get("online"), values.number(found.get("at"), 0, values.LATEST)
    return Presence(online, at) if isinstance(online, bool) and at is not None else None


def _level(name: str) -> str:
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in name.encode("utf-8", "replace")) or "%20"


def _encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _decode(payload: bytes) -> dict[str, Any]:
    if len(payload) > MAX_BYTES:
        return {}
    try:
        found = values.load(payload)
    except DecodeError:
        return {}
    return found if isinstance(found, dict) and found.get("version") == VERSION else {}
