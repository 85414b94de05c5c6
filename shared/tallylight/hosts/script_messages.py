"""
What a script asks of a terminal, and what it is told: lines of JSON over `snapshot.sockets`.

It asks with a list of words, a verb, a pane and what the verb needs; the terminal answers each with an object: *rows*,
a screen; *question*, what is asked on it; or *refused*, the rule, with *text*. Lines are read up to
`MAX_ASKED` and `channel.MAX_MESSAGE` bytes; what is longer ends the connection.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.gate import Refusal
from tallylight.model.errors import DecodeError
from tallylight.ui.agent_list import channel
from tallylight.wire import values

#: Of one message of a script, in bytes: the longest text that is typed fits.
MAX_ASKED = 64 * 1024
#: Of a screen that is told, in rows and in characters of a row.
MAX_ROWS, MAX_ROW = 1000, 4000
_MAX_RULE, _MAX_TEXT = 64, 2000
_SILENT = Refusal("unreachable", "the terminal does not answer")


@attrs.frozen
class Rows:
    """The rows of a screen, as the program drew them: they are to be sanitised before they are shown."""

    rows: tuple[str, ...]

    @classmethod
    def of(cls, lines: Sequence[str]) -> Rows:
        """What is told of a screen of these *lines*: without the empty ones at its end."""
        rows = [line[:MAX_ROW] for line in lines[:MAX_ROWS]]
        while rows and not rows[-1].strip():
            rows.pop()
        return cls(tuple(rows))


Told = Rows | Question | Refusal


def encode(told: Told) -> bytes:
    """What the terminal answers."""
    if isinstance(told, Question):
        try:
            return channel.encode({"question": attrs.asdict(told)})
        except channel.TooLongError:
            told = Refusal("too-long", "what it asks is too long to be told")
    if isinstance(told, Refusal):
        return channel.encode({"refused": told.rule, "text": told.text})
    try:
        return channel.encode({"rows": list(told.rows)})
    except channel.TooLongError:
        return encode(Refusal("too-long", "that screen is too large to be told"))


def decode(line: bytes) -> Told:
    """What `encode` made; a refusal if it is something else."""
    try:
        value = values.load(line)
    except DecodeError:
        return _SILENT
    if not isinstance(value, dict):
        return _SILENT
    if "refused" in value:
        rule, text = values.text(value["refused"], _MAX_RULE), values.text(value.get("text"), _MAX_TEXT)
        return Refusal(rule or "unreachable", text)
    if "question" in value:
        found = channel.read_answer(line)
        return found if isinstance(found, Question) else _SILENT
    rows = value.get("rows")
    if not isinstance(rows, list) or len(rows) > MAX_ROWS or not all(isinstance(row, str) for row in rows):
        return _SILENT
    return Rows(tuple(values.text(row, MAX_ROW) for row in rows))
