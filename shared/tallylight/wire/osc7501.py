"""
OSC 7501, the Program Status Protocol: `OSC 7501 ; key=value : … ST`.
https://superlogical.com/rex/docs/build/program-status

In: one sequence. Out of `decode`: a `Status7501`, or DecodeError; `is_query` tells the one that asks whether the
terminal speaks this. A report replaces its record entirely, so that nothing is kept here. At most 4096 bytes a
sequence.

A malformed pair costs itself only and of two equal keys the last wins, but what breaks a limit, base64, UTF-8 or the
ban on control characters costs the whole report, wherever it stands and even if it says `clear`. Where the page is
silent: a pair with a key over its limit counts as over a limit even if it is malformed otherwise; an `id` that is none
always costs the report, because without it the report would be about another record; base64 whose spare bits are not
zero is not base64; progress has three digits at most. Unlike the page's, a name of an app that is too long costs
itself only, as in other terminals: who speaks is worth less than what is said.
"""

from __future__ import annotations

import enum
import re
from binascii import b2a_base64

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.model.status import Kind, Status
from tallylight.wire import base64, envelope
from tallylight.wire.frame import check_length
from tallylight.wire.scanner import BEL, ST, Sequence, SequenceKind
from tallylight.wire.text import sanitise

NUMBER = 7501
#: The page's limits, in bytes: the sequence with introducer and terminator, a key, a name, and texts in base64 and out.
FRAME_LIMIT = 4096
KEY_LIMIT = 16
APP_LIMIT = 32
ID_LIMIT = 128
TITLE_LIMITS = (256, 192)
MESSAGE_LIMITS = (2732, 2048)
#: What we keep of a message that is shown on one line.
MESSAGE_CELLS = 512
RULE = "osc-7501"

QUERY = b"7501;?"
#: The answer to a query, by the query's own terminator: constant bytes, nothing of the program's is sent back to it.
ANSWERS = {BEL: b"\x1b]7501;?\x07", ST: b"\x1b]7501;?\x1b\\"}

_KEY = re.compile(rb"[a-z]+")
_VALUE = re.compile(rb"[A-Za-z0-9_.,+/=-]*")
_SEGMENT = re.compile(rb"[A-Za-z0-9_.+-]{1,32}")
_ID = re.compile(rb"[A-Za-z0-9_.+-]{1,32}(?:/[A-Za-z0-9_.+-]{1,32}){0,7}")
_DIGITS = re.compile(rb"[0-9]{1,3}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class State(enum.StrEnum):
    """What a program says of itself. The values are the words of the wire."""

    IDLE = "idle"
    WORKING = "working"
    DONE = "done"
    BLOCKED = "blocked"
    ERROR = "error"
    #: Forget the record and what is below it.
    CLEAR = "clear"


#: CLEAR withdraws.
STATUSES: dict[State, Status | None] = {
    State.IDLE: Status.IDLE,
    State.WORKING: Status.WORKING,
    State.DONE: Status.DONE,
    State.BLOCKED: Status.WAITING,
    State.ERROR: Status.ERROR,
    State.CLEAR: None,
}
STATES = {state.value.encode(): state for state in State}
_KINDS = {kind.value.encode(): kind for kind in (Kind.PERMISSION, Kind.QUESTION, Kind.AUTH)}


@attributes.frozen(kw_only=True)
class Status7501:
    """
    One report of one program about one record.

    *kind* belongs to BLOCKED, *progress* (percent) to BLOCKED and WORKING. An empty *app* is inherited from the nearest
    record above. *title* and *message* are sanitised.
    """

    state: State
    id: str = ""
    kind: Kind | None = None
    progress: int | None = None
    app: str = ""
    title: str = ""
    message: str = ""


def is_query(sequence: Sequence) -> bool:
    """Whether this asks if the terminal speaks OSC 7501: exactly `7501;?`."""
    return sequence.kind is SequenceKind.OSC and sequence.payload == QUERY


def answer(sequence: Sequence) -> bytes:
    """Return what to send back for a query: the same words, ended as the query was."""
    return ANSWERS[sequence.terminator]


def decode(sequence: Sequence) -> Status7501:
    """Read one report. A query is none: `missing-state`."""
    if sequence.number != NUMBER:
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    pairs = _pairs(sequence.body)
    texts = {"title": "", "msg": ""}
    values: dict[bytes, bytes] = {}
    for key, value in pairs:
        values[key] = value
        if key == b"title":
            texts["title"] = _text(value, *TITLE_LIMITS)
        elif key == b"msg":
            texts["msg"] = _text(value, *MESSAGE_LIMITS)
    if b"state" not in values:
        raise DecodeError("missing-state")
    state = STATES.get(values[b"state"])
    if state is None:
        raise DecodeError("unknown-state", repr(values[b"state"][:32]))
    return Status7501(
        state=state,
        id=values.get(b"id", b"").decode("ascii"),
        kind=_KINDS.get(values.get(b"kind", b"")) if state is State.BLOCKED else None,
        progress=_progress(values.get(b"progress", b"")) if state in (State.WORKING, State.BLOCKED) else None,
        app=values.get(b"app", b"").decode("ascii"),
        title=sanitise(texts["title"]),
        message=sanitise(texts["msg"], cells=MESSAGE_CELLS, graphemes=MESSAGE_CELLS),
    )


def encode(status: Status7501, *, st: bool = False) -> bytes:
    """Write one report: keys in the page's order, base64 padded, texts that are too long cut."""
    pairs = [
        ("state", status.state.value),
        ("id", status.id),
        ("kind", status.kind.value if status.kind else ""),
        ("progress", "" if status.progress is None else str(status.progress)),
        ("app", status.app),
        ("title", _packed(status.title, TITLE_LIMITS[1])),
        ("msg", _packed(status.message, MESSAGE_LIMITS[1])),
    ]
    return envelope.osc(NUMBER, ":".join([f"{key}={value}" for key, value in pairs if value]), st=st)


def _pairs(body: bytes) -> list[tuple[bytes, bytes]]:
    """Split and check what needs no decoding; leave malformed pairs out."""
    found = []
    for token in body.split(b":"):
        name, equals, content = token.partition(b"=")
        if not equals:
            continue
        key, value = name.strip(), content.strip()
        if len(key) > KEY_LIMIT:
            raise DecodeError("too-long", f"a key of {len(key)} bytes, {KEY_LIMIT} at most")
        if key == b"app" and not (len(value) <= APP_LIMIT and _SEGMENT.fullmatch(value)):
            continue
        if key == b"id" and (len(value) > ID_LIMIT or not _ID.fullmatch(value)):
            raise DecodeError("malformed", "an id is at most 8 names of A-Z a-z 0-9 _ . + - with / between")
        if _KEY.fullmatch(key) and _VALUE.fullmatch(value):
            found.append((key, value))
    return found


def _text(value: bytes, most_encoded: int, most: int) -> str:
    if len(value) > most_encoded:
        raise DecodeError("too-long", f"{len(value)} bytes of base64, {most_encoded} at most")
    # Padding may be left out, but not left unfinished.
    data = base64.decode_bytes(value if b"=" in value else value + b"=" * (-len(value) % 4))
    if len(data) > most:
        raise DecodeError("too-long", f"{len(data)} bytes of text, {most} at most")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("bad-encoding", f"base64 of bytes that are not UTF-8: {error.reason}") from None
    if _CONTROL.search(text):
        raise DecodeError("bad-encoding", "a control character")
    return text


def _progress(value: bytes) -> int | None:
    return int(value) if _DIGITS.fullmatch(value) and int(value) <= 100 else None


def _packed(text: str, most: int) -> str:
    data = text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore").encode("utf-8")
    return b2a_base64(data, newline=False).decode("ascii")
