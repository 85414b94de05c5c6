"""
Messages between machines: lines of JSON between `tally bridge` and the sessions host of another machine.

The broker of a fleet stores the same JSON (`remote.topics`), but only the state: panes, and the machines that are
online.

The bridge first sends its own description, then every pane of its machine, then changes and replies:

    {"bridge": 2, "tally": "0.2.0", "can": ["look", "answer"], "at": 1763690000.0}
    {"host": "kitty-4711", "pane": {…}}                    the pane as in a snapshot
    {"host": "kitty-4711", "gone": "3"}
    {"whole": true}                                        everything was sent once
    {"beat": true}
    `{"reply": 7, "told": {…}}`                            a reply of `actions.request`

The near end sends, every `BEAT_S` seconds at the latest:

    {"ask": 7, "host": "kitty-4711", "of": {…}}            a request of `actions.request`
    {"beat": true}

Neither end trusts the other: lines and texts are limited, types are checked, and a line that does not fit is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

import attrs

from tallylight.actions import request
from tallylight.actions.answer import Answer
from tallylight.actions.request import HOLDER, QUESTION, SCREEN, LookRequest, Mark
from tallylight.actions.say import Interrupt, Say
from tallylight.model import attributes
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.sockets import is_host
from tallylight.wire import values

#: The version of the protocol. A bridge with another one cannot be used; `can` announces new verbs instead.
PROTOCOL = 2
#: The longest line, in bytes, either way.
MAX_LINE_BYTES = 256 * 1024
#: The longest request, in bytes: the longest text to type fits.
MAX_REQUEST_BYTES = 64 * 1024
#: Seconds without a message after which an end sends a beat.
BEAT_S = 5.0
#: Seconds without a message after which the other end counts as gone.
SILENT_S = 20.0
#: The requests to a bridge: look at a pane, type into it, and mark it.
CARRIED_LOOKS = (SCREEN, QUESTION, HOLDER)
MARKS = ("focus", "seen", "unread", "snooze")
Carried = LookRequest | Answer | Say | Interrupt | Mark
CAN = frozenset(map(request.type_of, (LookRequest, Answer, Say, Interrupt, Mark)))
#: The longest id of a pane of another machine, in characters.
MAX_PANE_ID_CHARS = 160
_MAX_REMOTE_NUMBER = 2**53
_MAX_VERSION, _MAX_VERBS = 64, 64


#: The start of the line of a `Hello`.
HELLO = b'{"bridge":'


@attrs.frozen
class Hello:
    """The first message of a bridge: its protocol, its version, the verbs it knows, and its clock in epoch seconds."""

    protocol: int
    version: str
    can: frozenset[str]
    at: float


@attrs.frozen
class PaneState:
    """The *pane* of *host* on that machine; over a broker with the *life* of the machine."""

    host: str
    pane: Pane
    life: str = ""


@attrs.frozen
class PaneGone:
    """*host* of that machine no longer has the pane *id*."""

    host: str
    id: str


@attrs.frozen
class InitialStateSent:
    """All panes have been sent once."""


@attrs.frozen
class Beat:
    """The other end is alive."""


@attrs.frozen
class Reply:
    """The reply to the request *number*."""

    number: int
    told: request.Reply


@attrs.frozen
class Ask:
    """The request *asked* for a pane of *host*, with a *number* chosen by the sender."""

    number: int
    host: str
    asked: Carried


Message = Hello | PaneState | PaneGone | InitialStateSent | Beat | Reply | Ask


def encode(message: Message) -> bytes:
    """Return *message* as one line; empty if it is too long."""
    found: dict[str, Any]
    match message:
        case Hello(protocol, version, can, at):
            found = {"bridge": protocol, "tally": version, "can": sorted(can), "at": at}
        case PaneState(host, pane):
            found = {"host": host, "pane": for_other_machines(pane)}
        case PaneGone(host, id_):
            found = {"host": host, "gone": id_}
        case InitialStateSent():
            found = {"whole": True}
        case Beat():
            found = {"beat": True}
        case Reply(number, reply):
            found = {"reply": number, "told": request.to_json(reply)}
        case Ask(number, host, asked):
            found = {"ask": number, "host": host, "of": request.to_json(asked)}
    line = dumps(found) + b"\n"
    return line if len(line) <= MAX_LINE_BYTES else b""


def decode(line: bytes) -> Message | None:
    """Return the message in *line*, given without the newline; None if it is none."""
    found = load(line, MAX_LINE_BYTES)
    if "bridge" in found:
        return _hello(found)
    if "pane" in found or "gone" in found:
        return _pane(found)
    if "reply" in found:
        number, reply = values.integer(found["reply"], 1, _MAX_REMOTE_NUMBER), request.from_json(found.get("told"))
        if number is None or not isinstance(found.get("told"), dict):
            return None
        return Reply(number, reply if isinstance(reply, request.REPLIES) else request.SILENT)
    if "ask" in found:
        number, asked = values.integer(found["ask"], 1, _MAX_REMOTE_NUMBER), request.from_json(found.get("of"))
        host = found.get("host")
        return Ask(number, host, asked) if number is not None and is_host(host) and is_carried(asked) else None
    if found.get("whole") is True:
        return InitialStateSent()
    return Beat() if found.get("beat") is True else None


def _hello(found: Mapping[str, Any]) -> Hello | None:
    """Return the hello in *found*; None for a malformed one."""
    protocol, at = values.integer(found["bridge"], 0, 10**6), values.number(found.get("at"), 0, values.LATEST)
    can = found.get("can")
    if protocol is None:
        return None
    verbs = can[:_MAX_VERBS] if isinstance(can, list) else []
    return Hello(
        protocol,
        values.text(found.get("tally"), _MAX_VERSION),
        CAN.intersection(verb for verb in verbs if isinstance(verb, str)),
        at or 0.0,
    )


def _pane(found: Mapping[str, Any]) -> PaneState | PaneGone | None:
    """Return the pane, or the pane that is gone, in *found*; None for a malformed one."""
    host = found.get("host")
    if not is_host(host):
        return None
    if "gone" in found:
        return PaneGone(host, found["gone"]) if is_id(found["gone"]) else None
    pane = pane_in(found)
    return PaneState(host, pane) if pane is not None else None


def is_carried(asked: object) -> TypeGuard[Carried]:
    """Return whether a bridge carries *asked*. Closing panes and queueing texts stay with the machine itself."""
    if isinstance(asked, LookRequest):
        return asked.what in CARRIED_LOOKS and is_id(asked.pane)
    if isinstance(asked, Mark):
        return asked.verb in MARKS and is_id(asked.pane)
    return isinstance(asked, Answer | Say | Interrupt) and is_id(asked.pane)


def is_id(value: object) -> TypeGuard[str]:
    """Return whether *value* can name a pane of a host: printable, not too long, and not like an option."""
    return isinstance(value, str) and 0 < len(value) <= MAX_PANE_ID_CHARS and value.isprintable() and value[0].isalnum()


def for_other_machines(pane: Pane) -> dict[str, Any]:
    """Return *pane* as JSON for other machines, without the option values of its agent."""
    conversation = attributes.evolve(pane.conversation, options=(), lost=())
    return attributes.evolve(pane, conversation=conversation).to_json()


def pane_in(found: Mapping[str, Any]) -> Pane | None:
    """Return the pane in a message; None if there is none."""
    pane = found.get("pane")
    return Pane.from_json(pane) if isinstance(pane, dict) and is_id(pane.get("id")) else None


def dumps(value: object) -> bytes:
    """Return *value* as JSON, in one line of ASCII."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def load(data: bytes, most: int) -> dict[str, Any]:
    """Return the object in *data*; an empty one if there is none, or more than *most* bytes."""
    return values.members(data) if len(data) <= most else {}
