"""
The private channel between a terminal and the list that it opened: lines of JSON over a pair of connected sockets.

The list asks with a list of words; the terminal answers with an object: *said*, what to tell the person, nothing when
all is done; *question*, what a look found; *holder*, the agent that takes text, or *busy* with *why* it does not yet;
or *screen*, what `pictures` makes of one, null while nobody can see the list. Unasked it says *seen*: whether the list
can be seen at all, or its tab is hidden. Both sides read line by line, of any length up to `MAX_MESSAGE`; what is
longer is refused in words, and never cut.

Nothing looks whether the list has asked: it rings, by setting the user variable `BELL` of its own window.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import attrs

from tallylight.actions.answer import Choice, Holder, Question
from tallylight.actions.say import Busy
from tallylight.model.errors import DecodeError
from tallylight.wire import values

#: The variables of a list that a terminal opened: the descriptor of its channel to there; and of the first picture the
#: row that was selected, and as of when the terminal's snapshot must be to be as new, in seconds since the epoch.
CHANNEL, SELECTED, AS_OF = "TALLYLIGHT_LIST_CHANNEL", "TALLYLIGHT_LIST_SELECTED", "TALLYLIGHT_LIST_AS_OF"
#: The user variable that a list sets after it has asked, and the sequence that sets it. Its value says nothing.
BELL = "tally_list"
RING = f"\x1b]1337;SetUserVar={BELL}=MQ==\x07"
#: The user variable of a window that shows a panel; and what sets and removes it.
PANEL = "tally_panel"
MARK, UNMARK = f"\x1b]1337;SetUserVar={PANEL}=MQ==\x07", f"\x1b]1337;SetUserVar={PANEL}=\x07"
#: Of one message, in bytes. A screen of 500 rows by 1000 columns fits.
MAX_MESSAGE = 4 * 1024 * 1024
#: Of a message from the list, which holds a few words, or a text for an agent.
MAX_WORDS = 64 * 1024
#: Of one read or write, in bytes.
CHUNK = 64 * 1024
TOO_LONG = "that screen is too large for the list; press Enter to go there"


class TooLongError(ValueError):
    """A line that is longer than it may be."""


class Lines:
    """The lines of a stream of bytes, of at most *limit* bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes, and return the lines that are whole; `TooLongError` for one that is too long."""
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
    """The first line, of at most *limit* bytes, that *recv* brings; None if the other side goes before it is whole."""
    lines = Lines(limit)
    while chunk := recv(CHUNK):
        if found := lines.feed(chunk):
            return found[0]
    return None


def encode(message: object) -> bytes:
    """*message* as a line; `TooLongError` if that is too long."""
    line = json.dumps(message).encode("ascii") + b"\n"
    if len(line) > MAX_MESSAGE:
        raise TooLongError
    return line


def read_words(line: bytes) -> list[str]:
    """The words that a list asks with; none if it is something else."""
    try:
        words = values.load(line)
    except DecodeError:
        return []
    if not isinstance(words, list) or not all(values.exact(word, MAX_WORDS) is not None for word in words):
        return []
    return words


@attrs.frozen
class Picture:
    """A message of `pictures`, to be sent or received; None while nobody can see the list."""

    message: object


@attrs.frozen
class Seen:
    """Whether the list can be seen from now on."""

    is_seen: bool


def word_of(seen: Seen) -> bytes:
    """What the terminal says unasked."""
    return encode({"seen": seen.is_seen})


def answer_to(said: str | Question | Holder | Busy | Picture) -> bytes:
    """What the terminal answers; in words, where a question is too long."""
    if isinstance(said, str):
        return encode({"said": said})
    if isinstance(said, Holder):
        return encode({"holder": attrs.asdict(said)})
    if isinstance(said, Busy):
        return encode({"busy": attrs.asdict(said.holder), "why": said.why})
    try:
        return encode({"screen": said.message} if isinstance(said, Picture) else {"question": attrs.asdict(said)})
    except TooLongError:
        return encode({"said": TOO_LONG})


def read_answer(line: bytes) -> str | Question | Holder | Busy | Picture | Seen | None:
    """What `answer_to` or `word_of` made; None if it is something else."""
    try:
        value = values.load(line)
    except DecodeError:
        return None
    if not isinstance(value, dict):
        return None
    if "screen" in value:
        return Picture(value["screen"])
    if "holder" in value:
        return _holder(value["holder"])
    if "busy" in value:
        held, why = _holder(value["busy"]), values.text(value.get("why"), MAX_WORDS)
        return Busy(held, why) if held is not None and why else None
    if isinstance(value.get("seen"), bool):
        return Seen(value["seen"])
    said = value.get("said")
    return said if isinstance(said, str) else _question(value.get("question"))


def _holder(value: object) -> Holder | None:
    if not isinstance(value, dict):
        return None
    pane, agent = (values.exact(value.get(name), MAX_WORDS) for name in ("pane", "agent"))
    pid, start = (values.integer(value.get(name), 1, 2**63) for name in ("pid", "start"))
    return Holder(pane, agent, pid, start) if None not in (pane, agent, pid, start) else None  # type: ignore[arg-type]


def _question(value: object) -> Question | None:
    if not isinstance(value, dict):
        return None
    texts = {name: value.get(name) for name in ("pane", "agent", "fingerprint", "prompt", "question", "missing")}
    counts = {name: value.get(name) for name in ("pid", "start", "first")}
    context, choices = value.get("context"), value.get("choices")
    if not all(isinstance(text, str) for text in texts.values()) or not texts["fingerprint"]:
        return None
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts.values()):
        return None
    if not isinstance(context, list) or not _are_texts(context) or not isinstance(choices, list):
        return None
    found = [_choice(number, choice) for number, choice in enumerate(choices, 1)]
    whole = tuple(choice for choice in found if choice is not None)
    if len(whole) < len(found) or not isinstance(is_plain := value.get("is_plain"), bool):
        return None
    return Question(**texts, **counts, context=tuple(context), choices=whole, is_plain=is_plain)  # type: ignore[arg-type]


def _choice(number: int, value: object) -> Choice | None:
    if not isinstance(value, dict) or value.get("number") != number:
        return None
    label, keys = value.get("label"), value.get("keys")
    return Choice(number, label, keys) if isinstance(label, str) and isinstance(keys, str) else None


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)
