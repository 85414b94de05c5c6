"""
The topics of a fleet's broker, and the JSON in them.

MQTT 3.1.1, https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/ . Panes and machines are retained, so that a late reader
receives all of them. An empty payload removes a topic.

    PREFIX/MACHINE/machine            {"version": 1, "online": true, "at": 1763690000.0, "life": "5f…", …}
    PREFIX/MACHINE/pane/HOST/PANE     {"version": 1, "life": "5f…", "pane": {…}}, the pane as in a snapshot
    PREFIX/MACHINE/mark/HOST/PANE     {"version": 1, "verb": "seen", …}, a person's request on another machine
    PREFIX/MACHINE/namesake           as `machine`: sent by a second machine of the same name to the first one

The last two are not retained: an unread mark is lost. A life is one run of `tally publish`.

Each name is one level of a topic: characters except letters, digits, `.`, `_` and `-` are percent-encoded. A broker's
messages are not trusted: sizes are limited, types are checked, and other messages are ignored.
"""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.model.errors import DecodeError
from tallylight.model.status import Status
from tallylight.pane.marks import MAX_MINUTES
from tallylight.parts.remote.messages import PaneState, dumps, for_other_machines, load, pane_in
from tallylight.snapshot.schema import Pane, status_of
from tallylight.snapshot.values import text
from tallylight.wire import values
from tallylight.wire.pairs import percent_decode

VERSION = 1
#: The largest payload, in bytes. A pane of one agent is about 1 kB.
MAX_PAYLOAD_BYTES = 256 * 1024
#: The largest mark, in bytes.
MAX_MARK_BYTES = 1024
#: The longest topic, in bytes.
MAX_TOPIC = 1024
#: The longest name of a life, in characters.
MAX_LIFE = 64
#: Requests for a pane of another machine: none of them types or starts anything.
MARKS = ("seen", "snooze")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@attrs.frozen
class Presence:
    """
    Whether a machine is online, and since when (seconds since the epoch; 0 in a last will).

    *life* identifies one run of `tally publish`. *marks*: it accepts marks. *namesake*: another machine of its name is
    online, too, and is not shown.
    """

    online: bool
    at: float
    life: str = ""
    marks: bool = False
    namesake: bool = False


@attrs.frozen
class Mark:
    """
    A person's request, one of `MARKS`, for a pane that they saw with this *status* *since* then.

    *minutes* is the length of a snooze; None: as configured on the machine of the pane.
    """

    verb: str
    status: Status
    since: float
    minutes: float | None = None


def topic(prefix: str, *names: str) -> str:
    """Return the topic of *names*: a machine, one of the words above, and for a pane or a mark its host and its id."""
    return "/".join((prefix, *map(_level, names)))


def names_of(topic: str, prefix: str) -> tuple[str, ...]:
    """Return the names in *topic*, the reverse of `topic`; empty for a foreign topic."""
    if len(topic) > MAX_TOPIC or not topic.startswith(f"{prefix}/"):
        return ()
    try:
        found = tuple(percent_decode(level.encode()).decode() for level in topic[len(prefix) + 1 :].split("/"))
    except (DecodeError, UnicodeError):
        return ()
    match found:
        case (_, "machine" | "namesake") | (_, "pane" | "mark", _, _):
            return found if all(found) else ()
    return ()


def encode_pane(pane: Pane, life: str = "") -> bytes:
    return dumps({"version": VERSION, "life": life, "pane": for_other_machines(pane)})


def decode_pane(payload: bytes, host: str) -> PaneState | None:
    """Return the report about a pane of *host*; None if *payload* is none, or of another version."""
    found = _load(payload)
    pane = pane_in(found)
    return PaneState(host, pane, text(found.get("life"), MAX_LIFE)) if pane is not None else None


def encode_presence(presence: Presence) -> bytes:
    return dumps({"version": VERSION, **attrs.asdict(presence)})


def decode_presence(payload: bytes) -> Presence | None:
    """Return the presence in *payload*; None for a malformed one."""
    found = _load(payload)
    online, at = found.get("online"), values.number(found.get("at"), 0, values.LATEST)
    if not isinstance(online, bool) or at is None:
        return None
    flags = {name: found.get(name) is True for name in ("marks", "namesake")}
    return Presence(online, at, text(found.get("life"), MAX_LIFE), **flags)


def encode_mark(mark: Mark) -> bytes:
    return dumps({"version": VERSION, **attrs.asdict(mark), "status": mark.status.value})


def decode_mark(payload: bytes) -> Mark | None:
    """Return the mark in *payload*; None if any of it is invalid."""
    found = _load(payload, MAX_MARK_BYTES)
    verb, status, minutes = found.get("verb"), status_of(found.get("status")), found.get("minutes")
    since = values.number(found.get("since"), 0, values.LATEST)
    asked = values.number(minutes, 0, MAX_MINUTES)
    if verb not in MARKS or status is None or since is None or (minutes is not None and asked is None):
        return None
    return Mark(verb, status, since, asked)


def _level(name: str) -> str:
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in name.encode("utf-8", "replace")) or "%20"


def _load(payload: bytes, most: int = MAX_PAYLOAD_BYTES) -> dict[str, Any]:
    found = load(payload, most)
    return found if found.get("version") == VERSION else {}
