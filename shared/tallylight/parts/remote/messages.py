"""
Messages between machines: JSON, in lines between `tally bridge` on another machine and the sessions host of this
one, and in what the broker of a fleet keeps (`remote.topics`), which is the state alone: panes, and who is there.

The bridge says first who it is, then every pane of its machine, then what changes, and answers what it is asked:

    {"bridge": 2, "tally": "0.2.0", "can": ["look", "answer"], "at": 1763690000.0}
    {"host": "kitty-4711", "pane": {…}}                    the pane as in a snapshot
    {"host": "kitty-4711", "gone": "3"}
    {"whole": true}                                        everything was sent once
    {"beat": true}
    {"reply": 7, "told": {…}}                              a reply of `actions.request`

The near end sends, every `BEAT_S` seconds at the latest:

    {"ask": 7, "host": "kitty-4711", "of": {…}}            a request of `actions.request`
    {"beat": true}

Neither end believes the other: lines and texts are bounded, types are checked, and what does not fit is no message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

import attrs

from tallylight.actions import request
from tallylight.actions.answer import Answer
from tallylight.actions.request import HOLDER, QUESTION, SCREEN, Look, Mark
from tallylight.actions.say import Interrupt, Say
from tallylight.model import attributes
from tallylight.snapshot.requests import is_host
from tallylight.snapshot.schema import Pane
from tallylight.wire import values

#: Of the protocol. A bridge with another number cannot be used; new verbs are announced by `can` instead.
PROTOCOL = 2
#: Of one line, in bytes, either way.
MAX_LINE = 256 * 1024
#: Of what a near end asks: the longest text that is typed fits.
MAX_ASKED = 64 * 1024
#: Seconds without a message after which an end says that it is still there.
BEAT_S = 5.0
#: Seconds without a message after which the other end is taken for gone.
SILENT_S = 20.0
#: What a bridge can be asked: to look at a pane, to type into it, and to mark it.
CARRIED_LOOKS = (SCREEN, QUESTION, HOLDER)
MARKS = ("focus", "seen", "unread", "snooze")
Carried = Look | Answer | Say | Interrupt | Mark
CAN = frozenset(map(request.type_of, (Look, Answer, Say, Interrupt, Mark)))
#: Of the id of a pane of another machine, in characters.
MAX_ID = 160
_MAX_NUMBER = 2**53
_MAX_VERSION, _MAX_VERBS = 64, 64


#: How the line of a `Hello` begins.
HELLO = b'{"bridge":'


@attrs.frozen
class Hello:
    """What a bridge says first: its protocol, its version, the verbs it knows, and its clock in epoch seconds."""

    protocol: int
    version: str
    can: frozenset[str]
    at: float


@attrs.frozen
class PaneState:
    """The pane as *host* of that machine shows it; over a broker with the *life* of the machine."""

    host: str
    pane: Pane
    life: str = ""


@attrs.frozen
class PaneGone:
    """*host* of that machine shows the pane *id* no more."""

    host: str
    id: str


@attrs.frozen
class InitialStateSent:
    """All panes have been sent once."""


@attrs.frozen
class Beat:
    """The other end is there."""


@attrs.frozen
class Reply:
    """What was *told* to question *number*."""

    number: int
    told: request.Reply


@attrs.frozen
class Ask:
    """What is *asked* of a pane of *host*, with a *number* of the asker's."""

    number: int
    host: str
    asked: Carried


Message = Hello | PaneState | PaneGone | InitialStateSent | Beat | Reply | Ask


def encode(message: Message) -> bytes:
    """*message* as one line; nothing if it is longer than one may be."""
    found: dict[str, Any]
    match message:
        case Hello(protocol, version, can, at):
            found = {"bridge": protocol, "tally": version, "can": sorted(can), "at": at}
        case PaneState(host, pane):
            found = {"host": host, "pane": told_of(pane)}
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
    return line if len(line) <= MAX_LINE else b""


def decode(line: bytes) -> Message | None:
    """The message in *line*, without the newline; None if it is none."""
    found = load(line, MAX_LINE)
    if "bridge" in found:
        return _hello(found)
    if "pane" in found or "gone" in found:
        return _pane(found)
    if "reply" in found:
        number, reply = values.integer(found["reply"], 1, _MAX_NUMBER), request.from_json(found.get("told"))
        if number is None or not isinstance(found.get("told"), dict):
            return None
        return Reply(number, reply if isinstance(reply, request.REPLIES) else request.SILENT)
    if "ask" in found:
        number, asked = values.integer(found["ask"], 1, _MAX_NUMBER), request.from_json(found.get("of"))
        host = found.get("host")
        return Ask(number, host, asked) if number is not None and is_host(host) and is_carried(asked) else None
    if found.get("whole") is True:
        return InitialStateSent()
    return Beat() if found.get("beat") is True else None


def _hello(found: Mapping[str, Any]) -> Hello | None:
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
    host = found.get("host")
    if not is_host(host):
        return None
    if "gone" in found:
        return PaneGone(host, found["gone"]) if is_id(found["gone"]) else None
    pane = pane_in(found)
    return PaneState(host, pane) if pane is not None else None


def is_carried(asked: object) -> TypeGuard[Carried]:
    """Whether a bridge carries *asked*. What would be closed, or waits, is a matter of the machine itself."""
    if isinstance(asked, Look):
        return asked.what in CARRIED_LOOKS and is_id(asked.pane)
    if isinstance(asked, Mark):
        return asked.verb in MARKS and is_id(asked.pane)
    return isinstance(asked, Answer | Say | Interrupt) and is_id(asked.pane)


def is_id(value: object) -> TypeGuard[str]:
    """Whether *value* can name a pane of a host: printable, not too long, and not like an option."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable() and value[0].isalnum()


def told_of(pane: Pane) -> dict[str, Any]:
    """*pane* as other machines get it: the values of its agent's options are for this machine alone."""
    conversation = attributes.evolve(pane.conversation, options=(), lost=())
    return attributes.evolve(pane, conversation=conversation).to_json()


def pane_in(found: Mapping[str, Any]) -> Pane | None:
    """The pane in a message, if there is one."""
    pane = found.get("pane")
    return Pane.from_json(pane) if isinstance(pane, dict) and is_id(pane.get("id")) else None


def dumps(value: object) -> bytes:
    """*value* as JSON, in one line of ASCII."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def load(data: bytes, most: int) -> dict[str, Any]:
    """The object in *data*; an empty one if there is none, or more than *most* bytes."""
    return values.members(data) if len(data) <= most else {}
