"""
Requests to panes and their replies, with the one codec of both.

A message is a line of JSON: the name of its class as `type`, and its fields. Requests go from a list, a script, a page
or a bridge to the process that owns the pane. `actions.perform` decides and acts there; one reply comes back. Lines are
read whole, up to a limit of the reader; a longer one ends the connection, and is never cut.

    {"type": "answer", "pane": "3", "pid": 4711, "start": 88001, "fingerprint": "0f3c…", "number": 1}
    {"type": "done", "pane": "3", "text": "answered 1. Yes"}

A value of another type than its field, a missing field, or an unknown class makes a line no message.
"""

from __future__ import annotations

import binascii
import functools
import json
import re
import typing
from collections.abc import Callable, Sequence

import attrs

from tallylight.actions.answer import Answer, Done, Occupant, Question
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Busy, Interrupt, Say
from tallylight.wire import values

#: Bytes of one message. A screen of 500 rows by 1000 columns fits.
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
#: Bytes of a request: the longest text that is typed fits.
MAX_REQUEST_BYTES = 64 * 1024
#: Bytes of one read or write.
MESSAGE_CHUNK_BYTES = 64 * 1024
#: Limits of a screen in a reply: rows, and characters of a row.
MAX_REPLY_ROWS, MAX_REPLY_ROW_CHARS = 1000, 4000
_MAX_REQUEST_TEXT_CHARS, _MAX_REQUEST_NUMBER = 20_000, 2**63
#: Characters of a refusal's rule, and of a text for a person in a reply.
_MAX_RULE_CHARS, _MAX_PERSON_CHARS = 64, 2000
_ID = re.compile(r"([1-9][0-9]{0,9})\.([1-9][0-9]{0,18})\.([0-9a-f]{32})", re.ASCII)

#: The subjects of a `LookRequest`. The screen means its rows, and the holder is the agent in the foreground. The prompt
#: agent would take text, or is busy. A stoppable agent has a turn. The occupant is any program, to close the pane.
SCREEN, QUESTION, HOLDER = "screen", "question", "holder"
PROMPT_AGENT, STOPPABLE, OCCUPANT = "prompt_agent", "stoppable", "occupant"
#: And the evidence for its light in the last minutes, for a person who reports a mistake.
STRETCH = "stretch"
#: Limits of a stretch in a reply: characters of a part, and parts.
_PART_CHARS, _MAX_STRETCH_PARTS = 16_000, 64


@attrs.frozen
class LookRequest:
    """Ask for a part of the state of a pane: *what* is `SCREEN` or one of the other subjects."""

    pane: str
    what: str


@attrs.frozen
class DeferredText:
    """
    Type *text* for the agent with the process *pid*, started at *start*, when its turn has ended.

    With *at*, in seconds since the epoch, not before then: when a limit of the agent ends.
    """

    pane: str
    pid: int
    start: int
    text: str
    at: int = 0


@attrs.frozen
class Unqueue:
    """Forget the text that waits in a pane."""

    pane: str


@attrs.frozen
class Mark:
    """Move the person's view or set a mark: a *verb* of `snapshot.requests` with its *args*."""

    verb: str
    pane: str
    args: tuple[str, ...] = ()


@attrs.frozen
class Start:
    """Start an *agent* with a *prompt* in a new pane called *name*; *place* is `tab`, `split` or `os-window`."""

    agent: str
    place: str
    name: str
    prompt: str


@attrs.frozen
class Open:
    """Ask the terminal that opened this list to `go`, `fork` or `resume`, or to go `back` from a panel."""

    verb: str
    pane: str = ""


@attrs.frozen
class Attach:
    """Ask the terminal that opened this list for a tab with the command *argv*."""

    argv: tuple[str, ...]


@attrs.frozen
class Draw:
    """Ask the terminal that opened this list for the screen of a pane; the list *has* a picture already."""

    pane: str
    has: int


@attrs.frozen
class Rows:
    """The rows of a screen, as the program drew them: they must be sanitised before they are shown."""

    rows: tuple[str, ...]

    @classmethod
    def of(cls, lines: Sequence[str]) -> Rows:
        """Return the reply for a screen of these *lines*, without the empty ones at its end."""
        rows = [line[:MAX_REPLY_ROW_CHARS] for line in lines[:MAX_REPLY_ROWS]]
        while rows and not rows[-1].strip():
            rows.pop()
        return cls(tuple(rows))


@attrs.frozen
class Stretch:
    """The tape of a pane (`pane.tape`), in base64, in as many parts as it takes."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, tape: bytes) -> Stretch:
        """Return the reply for a *tape*."""
        text = binascii.b2a_base64(tape, newline=False).decode()
        return cls(tuple(text[at : at + _PART_CHARS] for at in range(0, len(text), _PART_CHARS)))

    @property
    def tape(self) -> bytes:
        """The tape; raises `ValueError` if it is none."""
        return binascii.a2b_base64("".join(self.parts), strict_mode=True)


@attrs.frozen
class Picture:
    """A screen as `ui.agent_list.pictures` encodes it; None while the list is hidden."""

    message: object


@attrs.frozen
class Visible:
    """A message to a list that it did not ask for: whether it can be seen from now on."""

    is_seen: bool


#: Requests that type, now or later.
Given = Answer | Say | Interrupt | DeferredText
Request = Given | LookRequest | Close | Unqueue | Mark | Start | Open | Attach | Draw
Reply = Rows | Stretch | Question | Occupant | Busy | Done | Refusal | Picture
REQUESTS = (Answer, Say, Interrupt, DeferredText, LookRequest, Close, Unqueue, Mark, Start, Open, Attach, Draw)
REPLIES = (Rows, Stretch, Question, Occupant, Busy, Done, Refusal, Picture)


def type_of(cls: type) -> str:
    """Return the name of a message of *cls* in JSON."""
    return cls.__name__.removesuffix("Request").lower()


_TYPES = {type_of(cls): cls for cls in (*REQUESTS, *REPLIES, Visible)}

UNKNOWN = Refusal("unknown", "that host does not know this request; does it run the same version?")
SILENT = Refusal("unreachable", "the terminal does not answer")


def no_reply(who: str, asked: Request) -> Refusal:
    """
    Return the refusal for the request *asked* that *who* did not answer: unless it was a look, it may have been done.
    """
    unsure = "" if isinstance(asked, LookRequest | Draw) else "; check whether it was done"
    return Refusal("unreachable", f"{who} does not answer{unsure}")


def asks_for_tape(asked: Request | None) -> typing.TypeGuard[LookRequest]:
    """Return whether *asked* is for the tape of a pane, which only its host has."""
    return isinstance(asked, LookRequest) and asked.what == STRETCH


class TooLongError(ValueError):
    """A line, of a request or a reply, is longer than its limit."""


class Lines:
    """Splits a stream of bytes into lines of at most *limit* bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes, and return the lines that are whole; raises `TooLongError` for one that is too long."""
        *whole, rest = data.split(b"\n")
        lines: list[bytes] = []
        for line in whole:
            lines.append(b"".join([*self._parts, line]))
            self._parts, self._size = [], 0
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > self._limit or any(len(line) > self._limit for line in lines):
            raise TooLongError
        return lines


def first_line(recv: Callable[[int], bytes], limit: int) -> bytes | None:
    """Return the first line that *recv* brings, at most *limit* bytes; None if the other side closes before."""
    lines = Lines(limit)
    while chunk := recv(MESSAGE_CHUNK_BYTES):
        if found := lines.feed(chunk):
            return found[0]
    return None


def encode(message: Request | Visible, *, is_key: bool = False) -> bytes:
    """
    Return *message* as a line; raises `TooLongError`.

    *is_key*: a person has pressed a key for it, in a list. It counts only where the process table confirms it
    (`actions.seat`).
    """
    return _line(to_json(message) | ({"key": True} if is_key else {}))


def encode_reply(reply: Reply) -> bytes:
    """Return *reply* as a line; a refusal in words, where it is too long."""
    try:
        return _line(to_json(reply))
    except TooLongError:
        return _line(to_json(Refusal("too-long", "it is too large to show here; go to the pane")))


def decode_request(line: bytes) -> tuple[Request | None, bool]:
    """Return the request in *line*, None if there is none, and whether it claims that a key was pressed for it."""
    value = values.members(line)
    found = from_json(value)
    return (found if isinstance(found, REQUESTS) else None), value.get("key") is True


def decode_reply(line: bytes) -> Reply | Visible:
    """Return the reply in *line*; a refusal if it is something else."""
    found = from_json(values.members(line))
    return found if isinstance(found, (*REPLIES, Visible)) else SILENT


def to_json(message: Request | Reply | Visible) -> dict[str, object]:
    found = {"message": message.message} if isinstance(message, Picture) else attrs.asdict(message)
    return {"type": type_of(type(message)), **found}


def from_json(value: object) -> Request | Reply | Visible | None:
    """
    Return the message in the JSON object *value*; None if there is none.

    A request names a pane, which is never blank. Numbers, rows and words have their bounds (`_is_sound`).
    """
    if not isinstance(value, dict) or (cls := _TYPES.get(str(value.get("type")))) is None:
        return None
    try:
        found = _read(cls, _cut(cls, value))
    except ValueError:
        return None
    if isinstance(found, REQUESTS) and not getattr(found, "pane", "-").strip() and found != Open("back"):
        return None
    return found if _is_sound(found) else None


def _cut(cls: type, value: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return *value* with its shown texts cut to their bounds and encodable, so that the outcome still arrives."""
    if cls in (Done, Refusal) and isinstance(words := value.get("text"), str):
        return value | {"text": values.text(words, _MAX_PERSON_CHARS)}
    if cls is Rows and isinstance(rows := value.get("rows"), list):
        return value | {
            "rows": [values.text(row, MAX_REPLY_ROW_CHARS) if isinstance(row, str) else row for row in rows]
        }
    return value


def _is_sound(found: object) -> bool:
    """Return whether a reply could have come from the other side, and is no longer than can be shown."""
    match found:
        case Question(fingerprint=shown, choices=choices):
            return bool(shown) and [choice.number for choice in choices] == [*range(1, len(choices) + 1)]
        case Busy(holder=held):
            return bool(found.why) and _is_sound(held)
        case Occupant(pid=pid, start=start):
            return pid > 0 and start > 0
        case Stretch(parts=parts):
            return len(parts) <= _MAX_STRETCH_PARTS
        case Rows(rows=rows):
            return len(rows) <= MAX_REPLY_ROWS
        case Refusal(rule=rule):
            return len(rule) <= _MAX_RULE_CHARS
    return True


def _read(form: typing.Any, value: object) -> typing.Any:
    """Return *value* as the type *form* of a field; raises `ValueError` if it is none."""
    found: object = value
    if attrs.has(form):
        if not isinstance(value, dict):
            raise ValueError
        return form(**{name: _read(kind, value.get(name)) for name, kind in _fields(form).items()})
    if typing.get_origin(form) is tuple:
        if not isinstance(value, list):
            raise ValueError
        return tuple(_read(typing.get_args(form)[0], one) for one in value)
    if form is str:
        found = values.exact(value, _MAX_REQUEST_TEXT_CHARS)
    elif form is int:
        found = values.integer(value, 0, _MAX_REQUEST_NUMBER)
    elif form is bool:
        found = value if isinstance(value, bool) else None
    if found is None and form is not object:
        raise ValueError
    return found


_fields = functools.cache(typing.get_type_hints)


def _line(message: dict[str, object]) -> bytes:
    """Return *message* as a line; raise `TooLongError` beyond `MAX_MESSAGE_BYTES`."""
    line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > MAX_MESSAGE_BYTES:
        raise TooLongError
    return line


def id_of(asked: Question) -> str:
    """Return the identity of this question, on this screen, of this process: `4711.88001.0f3c…`."""
    return f"{asked.pid}.{asked.start}.{asked.fingerprint}"


def read_id(text: str) -> tuple[int, int, str] | None:
    """Return the process, its start and the fingerprint of an `id_of`; None if *text* is something else."""
    found = _ID.fullmatch(text)
    return (int(found[1]), int(found[2]), found[3]) if found is not None else None
