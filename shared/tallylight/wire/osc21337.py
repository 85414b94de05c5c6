r"""
OSC 21337, the status of a tab: `OSC 21337 ; key=value ; … ST`. https://iterm2.com/documentation-escape-codes.html

In: one sequence. Out of `decode`: an `Update` of validated pairs, or DecodeError. A key left out keeps its value, and
an empty one clears it. So each pane has a `TabStatus`, which merges updates and returns Reports. A frame has at most
4096 bytes and 32 pairs. In a value `\;` is a semicolon and `\\` a backslash; any other backslash is itself.

`status` is text for a person. Only Claude Code's words count there. Other words are only the detail, if there is none
and `awaiting` is set. Another program uses this number as `21337;web-terminal;…`, which has no known key.
"""

from __future__ import annotations

import itertools
import re

from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire.frame import Update, check_ours, update, utf8
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBER = 21337
FRAME_LIMIT = 4096
PAIR_LIMIT = 32
CHIP_TEXT_CELLS = 256
#: The words of `status`, in lower case and without the ellipsis.
STATUSES = {"working": Status.WORKING, "waiting": Status.WAITING, "idle": Status.IDLE}
RULE = "osc-21337"
#: The beginning of a frame that is certainly of this protocol, up to a printable character.
CERTAIN = rb"21337;(?:status|detail)=[!-:<-\[\]-~]"

#: A pair ends at a `;` that has no backslash in front of it.
_TOKEN = re.compile(r"((?:[^;\\]|\\.?)*+)(?:;|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\([;\\])")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


def decode(sequence: Sequence) -> Update:
    """Read one frame; `not-ours` if it holds nothing of this protocol, `too-long` or `malformed` otherwise."""
    check_ours(sequence, NUMBER, FRAME_LIMIT)
    tokens = (match[1] for match in _TOKEN.finditer(utf8(sequence.body)))
    return update(NUMBER, itertools.islice(tokens, PAIR_LIMIT), _value)


class TabStatus:
    """The OSC 21337 values of one pane."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._has_report = False

    def merge(self, update: Update) -> Report | None:
        """
        Take in an update; return the report of the pane's agent, or None while there is no status.

        When the status goes, the record is withdrawn, once.
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
        had_report, self._has_report = self._has_report, status is not None
        if status is None and not had_report:
            return None
        return Report(source=Source.PROTOCOL, rule=RULE, status=status, detail=detail if status else "")


def _value(key: str, escaped: str) -> str | None:
    """Unescape and check one pair's value; None drops the pair."""
    value = _ESCAPED.sub(r"\1", escaped) if "\\" in escaped else escaped
    if key in ("status", "detail"):
        shown = sanitise(value, cells=CHIP_TEXT_CELLS).strip()
        # A value of invisible characters alone would clear the key: it is a bad value instead.
        return shown if shown or not value else None
    if key in ("indicator", "status-color"):
        return value if not value or _COLOR.fullmatch(value) else None
    if key == "awaiting":
        return {"1": "1", "0": "", "": ""}.get(value)
    return None
