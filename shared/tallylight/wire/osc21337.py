r"""
OSC 21337, the status of a tab: `OSC 21337 ; key=value ; … ST`. https://iterm2.com/documentation-escape-codes.html

In: one sequence. Out of `decode`: a `TabUpdate` of validated pairs, or DecodeError. A key left out keeps its value and
an empty one clears it, so that each pane has a `TabStatus` that merges updates and yields Reports. At most 4096 bytes
a frame, 32 pairs of it. In a value `\;` is a semicolon and `\\` a backslash; a backslash before anything else is one.

`status` is text for a person. Only the words that Claude Code puts there count, and any others say nothing: where
`awaiting` says it, they are the detail that there else is none of. Another program uses this number as
`21337;web-terminal;…`, which has no key that is known here.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire.frame import check_length, known_pairs, utf8
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBER = 21337
FRAME_LIMIT = 4096
PAIR_LIMIT = 32
TEXT_CELLS = 256
#: The words of `status`, in lower case and without the ellipsis.
STATUSES = {"working": Status.WORKING, "waiting": Status.WAITING, "idle": Status.IDLE}
RULE = "osc-21337"

_TOKEN = re.compile(r"(?:[^;\\]|\\.?)*+", re.DOTALL)
_ESCAPED = re.compile(r"\\([;\\])")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


@attributes.frozen
class TabUpdate:
    """The valid pairs of one frame, in the order sent. An empty value clears its key."""

    pairs: tuple[tuple[str, str], ...]


def decode(sequence: Sequence) -> TabUpdate:
    """Read one frame; `not-ours` if it holds nothing of this protocol, `too-long` or `malformed` otherwise."""
    if sequence.number != NUMBER:
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    return TabUpdate(known_pairs(_tokens(utf8(sequence.body)), _value))


class TabStatus:
    """One pane's map of OSC 21337 values."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._spoke = False

    def merge(self, update: TabUpdate) -> Report | None:
        """
        Take an update in; return what the pane's agent now says, or None while it says nothing.

        When it stops saying anything its record is withdrawn, once.
        """
        for key, value in update.pairs:
            if value:
                self._values[key] = value
            else:
                self._values.pop(key, None)
        word = self._values.get("status", "")
        status = STATUSES.get(word.strip().rstrip("….").casefold())
        detail = self._values.get("detail", "") or ("" if status else word)
        if self._values.get("awaiting") == "1":
            status = Status.WAITING
        spoke, self._spoke = self._spoke, status is not None
        if status is None and not spoke:
            return None
        return Report(source=Source.PROTOCOL, rule=RULE, status=status, detail=detail if status else "")


def _tokens(text: str) -> list[str]:
    if "\\" not in text:
        return text.split(";", PAIR_LIMIT)[:PAIR_LIMIT]
    tokens: list[str] = []
    at = 0
    while at <= len(text) and len(tokens) < PAIR_LIMIT:
        match = _TOKEN.match(text, at)
        assert match, "no token is a token"
        tokens.append(match[0])
        at = match.end() + 1
    return tokens


def _value(key: str, escaped: str) -> str | None:
    """Unescape and check one pair's value; None drops the pair."""
    value = _ESCAPED.sub(r"\1", escaped) if "\\" in escaped else escaped
    if key in ("status", "detail"):
        shown = sanitise(value, cells=TEXT_CELLS, graphemes=TEXT_CELLS).strip()
        # What is nothing but invisible characters would read as "clear": it is a bad value instead.
        return shown if shown or not value else None
    if key in ("indicator", "status-color"):
        return value if not value or _COLOR.fullmatch(value) else None
    if key == "awaiting":
        return {"1": "1", "0": "", "": ""}.get(value)
    return None
