"""
Messages of the fleet: which topic holds what, and the JSON in it.

MQTT 3.1.1, https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/ . What is shown is retained, so that a reader that comes late
is told everything; an empty payload takes a topic back.

    PREFIX/MACHINE/machine            {"version": 1, "online": true, "at": 1763690000.0, "life": "5f…", …}
    PREFIX/MACHINE/pane/HOST/PANE     {"version": 1, "life": "5f…", "pane": {…}}, the pane as it stands in a snapshot
    PREFIX/MACHINE/mark/HOST/PANE     {"version": 1, "verb": "seen", …}, what a person on another machine asks for

Marks are not retained: one that nobody hears is gone. A life is one run of `tally publish`.

Names become one level of a topic each: what is not a letter, a digit, `.`, `_` or `-` is percent-encoded. What comes
from a broker is untrusted: sizes are bounded, types are checked, and what does not fit is no message of ours.
"""

from __future__ import annotations

import json
from typing import Any

import attrs

from tallylight.model.errors import DecodeError
from tallylight.model.status import Status
from tallylight.pane.marks import MAX_MINUTES
from tallylight.snapshot.elsewhere import for_others
from tallylight.snapshot.schema import Pane, status_of
from tallylight.snapshot.values import text
from tallylight.wire import values
from tallylight.wire.pairs import percent_decode

VERSION = 1
#: Of one payload. A pane of one agent is about 1 kB.
MAX_BYTES = 256 * 1024
#: Of one mark.
MAX_MARK_BYTES = 1024
#: Of one topic.
MAX_TOPIC = 1024
#: Of the name of a life, in characters.
MAX_LIFE = 64
#: What can be asked for a pane of another machine: nothing that types or starts anything.
MARKS = ("seen", "snooze")
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
class MarkTopic(PaneTopic):
    """The topic of what is asked for pane *pane* of *host* on *machine*."""

    def encode(self, prefix: str) -> str:
        return "/".join((prefix, _level(self.machine), "mark", _level(self.host), _level(self.pane)))


@attrs.frozen
class MachineTopic:
    """The topic that tells whether *machine* is there. Its last will says that it is not."""

    machine: str

    def encode(self, prefix: str) -> str:
        return f"{prefix}/{_level(self.machine)}/machine"

    def encode_namesake(self, prefix: str) -> str:
        """The topic on which one that has the same name says so; nothing is kept under it."""
        return f"{prefix}/{_level(self.machine)}/namesake"

    def encode_panes(self, prefix: str) -> str:
        """The filter of the topics of all its panes."""
        return f"{prefix}/{_level(self.machine)}/pane/#"


@attrs.frozen
class Presence:
    """
    Whether a machine is there, and since when (seconds since the epoch; 0 in a last will).

    *life* tells one run of `tally publish` from every other. *marks*: it takes marks. *namesake*: another machine of
    its name is there, too, and is not shown.
    """

    online: bool
    at: float
    life: str = ""
    marks: bool = False
    namesake: bool = False


@attrs.frozen
class Told:
    """What a machine told of a pane, in which *life* of its."""

    pane: Pane
    life: str = ""


@attrs.frozen
class Mark:
    """
    What a person asks for a pane that they saw with this *status* *since* then: one of `MARKS`.

    *minutes* is how long a snooze lasts; None: as the machine of the pane is configured.
    """

    verb: str
    status: Status
    since: float
    minutes: float | None = None


def decode_topic(topic: str, prefix: str) -> PaneTopic | MachineTopic | MarkTopic | None:
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
        case [machine, "mark", host, pane]:
            return MarkTopic(machine, host, pane)
    return None


def encode_pane(pane: Pane, life: str = "") -> bytes:
    return _encode({"version": VERSION, "life": life, "pane": for_others(pane).to_json()})


def decode_pane(payload: bytes) -> Told | None:
    """What was told of a pane; None if *payload* is none, or of another version."""
    found = _decode(payload)
    pane = Pane.from_json(found["pane"]) if isinstance(found.get("pane"), dict) else None
    return Told(pane, text(found.get("life"), MAX_LIFE)) if pane is not None else None


def encode_presence(presence: Presence) -> bytes:
    return _encode({"version": VERSION, **attrs.asdict(presence)})


def decode_presence(payload: bytes) -> Presence | None:
    found = _decode(payload)
    online, at = found.get("online"), values.number(found.get("at"), 0, values.LATEST)
    if not isinstance(online, bool) or at is None:
        return None
    flags = {name: found.get(name) is True for name in ("marks", "namesake")}
    return Presence(online, at, text(found.get("life"), MAX_LIFE), **flags)


def encode_mark(mark: Mark) -> bytes:
    return _encode({"version": VERSION, **attrs.asdict(mark), "status": mark.status.value})


def decode_mark(payload: bytes) -> Mark | None:
    """The mark; None if *payload* is none, or anything in it is not as it should be."""
    found = _decode(payload) if len(payload) <= MAX_MARK_BYTES else {}
    verb, status, minutes = found.get("verb"), status_of(found.get("status")), found.get("minutes")
    since = values.number(found.get("since"), 0, values.LATEST)
    asked = values.number(minutes, 0, MAX_MINUTES)
    if verb not in MARKS or status is None or since is None or (minutes is not None and asked is None):
        return None
    return Mark(verb, status, since, asked)


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
