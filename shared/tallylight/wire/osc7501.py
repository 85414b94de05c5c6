"""
OSC 7501, the Program Status Protocol: `OSC 7501 ; key=value : … ST`.
https://superlogical.com/rex/docs/build/program-status

In: one sequence. Out: a Report, or DecodeError, also for `QUERY`, which asks for support. A report replaces its record
entirely, so nothing is kept here. A sequence has at most 4096 bytes.

A malformed pair costs only itself, and the last of two equal keys wins. A pair that breaks a limit, base64, UTF-8 or
the ban on control characters costs the whole report, even a `clear`. The page leaves some cases open, which are read
so. A key over its limit breaks a limit even if its pair is malformed. An invalid `id` always costs the report, which
would be about another record. Base64 with spare bits other than zero is invalid. Progress has at most three digits.
Unlike on the page, a too long name of an app costs only itself, as in other terminals: the status matters more.
"""

from __future__ import annotations

import re

from tallylight.model.dialog import SUBJECT_CELLS
from tallylight.model.errors import DecodeError
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.wire import base64
from tallylight.wire.agent_name import agent_name
from tallylight.wire.frame import check_ours
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import middle, sanitise

NUMBER = 7501
#: The page's limits, in bytes: a sequence with introducer and terminator, a key, a name, and texts with and without
#: base64.
FRAME_LIMIT = 4096
KEY_LIMIT = 16
APP_LIMIT = 32
ID_LIMIT = 128
TITLE_LIMITS = (256, 192)
MESSAGE_LIMITS = (2732, 2048)
#: The most cells of a message, which is shown on one line.
OSC7501_MESSAGE_CELLS = 512
RULE = "osc-7501"

QUERY = b"7501;?"

_KEY = re.compile(rb"[a-z]+")
_VALUE = re.compile(rb"[A-Za-z0-9_.,+/=-]*")
_SEGMENT = re.compile(rb"[A-Za-z0-9_.+-]{1,32}")
_ID = re.compile(rb"[A-Za-z0-9_.+-]{1,32}(?:/[A-Za-z0-9_.+-]{1,32}){0,7}")
_DIGITS = re.compile(rb"[0-9]{1,3}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


#: The words of `state`. `clear` withdraws the record and all below it.
STATUSES: dict[bytes, Status | None] = {
    b"idle": Status.IDLE,
    b"working": Status.WORKING,
    b"done": Status.DONE,
    b"blocked": Status.WAITING,
    b"error": Status.ERROR,
    b"clear": None,
}
_KINDS = {kind.value.encode(): kind for kind in (Kind.PERMISSION, Kind.QUESTION, Kind.AUTH)}


def decode(sequence: Sequence) -> Report:
    """Read one report. A query is none: `missing-state`."""
    check_ours(sequence, NUMBER, FRAME_LIMIT)
    title = message = ""
    values: dict[bytes, bytes] = {}
    for key, value in _pairs(sequence.body):
        values[key] = value
        if key == b"title":
            title = _text(value, *TITLE_LIMITS)
        elif key == b"msg":
            message = _text(value, *MESSAGE_LIMITS)
    if b"state" not in values:
        raise DecodeError("missing-state")
    if values[b"state"] not in STATUSES:
        raise DecodeError("unknown-state", repr(values[b"state"][:32]))
    status = STATUSES[values[b"state"]]
    kind = _KINDS.get(values.get(b"kind", b"")) if status is Status.WAITING else None
    percent = values.get(b"progress", b"") if status in (Status.WORKING, Status.WAITING) else b""
    message = sanitise(message, cells=OSC7501_MESSAGE_CELLS)
    what = ""
    if kind is Kind.PERMISSION:
        # Claude Code sends `approve Bash: npm test`. A message without a tool needs no subject.
        tool, _, rest = message.removeprefix("approve ").partition(": ")
        what = middle(f"{tool}: {rest}", SUBJECT_CELLS) if rest and tool.replace("_", "").isalnum() else ""
    return Report(
        source=Source.PROTOCOL,
        rule=RULE,
        status=status,
        id=values.get(b"id", b"").decode("ascii"),
        kind=kind,
        agent=agent_name(values.get(b"app", b"").decode("ascii")),
        title=sanitise(title),
        message=message,
        what=what,
        progress=Progress(int(percent), 100) if _DIGITS.fullmatch(percent) and int(percent) <= 100 else None,
    )


def _pairs(body: bytes) -> list[tuple[bytes, bytes]]:
    """
    Return the well-formed pairs in *body*, not decoded; raise `DecodeError` for a key that is too long, or a malformed
    id.
    """
    found = []
    for token in body.split(b":"):
        name, equals, content = token.partition(b"=")
        if not equals:
            continue
        key, value = name.strip(), content.strip()
        if len(key) > KEY_LIMIT:
            raise DecodeError("too-long", f"a key of {len(key)} bytes, {KEY_LIMIT} at most")
        if key == b"app" and value and not (len(value) <= APP_LIMIT and _SEGMENT.fullmatch(value)):
            continue
        if key == b"id" and (len(value) > ID_LIMIT or not _ID.fullmatch(value)):
            raise DecodeError("malformed", "an id is at most 8 names of A-Z a-z 0-9 _ . + - with / between")
        if _KEY.fullmatch(key) and _VALUE.fullmatch(value):
            found.append((key, value))
    return found


def _text(value: bytes, most_encoded: int, most: int) -> str:
    """Return the text in *value*, in base64; raise `DecodeError` beyond the limits, or for a control character."""
    if len(value) > most_encoded:
        raise DecodeError("too-long", f"{len(value)} bytes of base64, {most_encoded} at most")
    # Padding may be left out, but not left unfinished.
    text = base64.decode_text(value if b"=" in value else value + b"=" * (-len(value) % 4))
    if (size := len(text.encode())) > most:
        raise DecodeError("too-long", f"{size} bytes of text, {most} at most")
    if _CONTROL.search(text):
        raise DecodeError("bad-encoding", "a control character")
    return text
