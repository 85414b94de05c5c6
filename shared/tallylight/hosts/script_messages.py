"""
What a script asks of a terminal, and what it is told: lines of JSON over `snapshot.sockets`.

It asks with a list of words, a verb, a pane and what the verb needs (`actions.given` has those that type); the terminal
answers each with an object: *rows*, a screen; *question*, what is asked on it; *holder*, the agent in the foreground;
*done*, what was typed; or *refused*, the rule, with *text*. Lines are read up to `MAX_ASKED` and `channel.MAX_MESSAGE`
bytes; what is longer ends the connection.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.actions.answer import Done, Holder, Question
from tallylight.actions.gate import Refusal
from tallylight.model.errors import DecodeError
from tallylight.ui.agent_list import channel
from tallylight.wire import values

#: In front of what a list asks of the host of other machines: a person has pressed a key for it. It counts only where
#: the process table bears that out (`actions.caller.seated`).
KEY = "key"
#: Of one message of a script, in bytes: the longest text that is typed fits.
MAX_ASKED = 64 * 1024
#: Of a screen that is told, in rows and in characters of a row.
MAX_ROWS, MAX_ROW = 1000, 4000
_MAX_RULE, _MAX_TEXT, _MAX_NUMBER = 64, 2000, 2**63
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


Told = Rows | Question | Holder | Done | Refusal


def encode(told: Told) -> bytes:
    """What the terminal answers."""
    if isinstance(told, Question):
        try:
            return channel.encode({"question": attrs.asdict(told)})
        except channel.TooLongError:
            told = Refusal("too-long", "what it asks is too long to be told")
    if isinstance(told, Refusal):
        return channel.encode({"refused": told.rule, "text": told.text})
    if isinstance(told, Holder):
        return channel.encode({"holder": attrs.asdict(told)})
    if isinstance(told, Done):
        return channel.encode({"done": told.text, "pane": told.pane})
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
    if "done" in value:
        return Done(values.text(value.get("pane"), _MAX_TEXT), values.text(value["done"], _MAX_TEXT))
    if "holder" in value:
        return _holder(value["holder"])
    rows = value.get("rows")
    if not isinstance(rows, list) or len(rows) > MAX_ROWS or not all(isinstance(row, str) for row in rows):
        return _SILENT
    return Rows(tuple(values.text(row, MAX_ROW) for row in rows))


def _holder(value: object) -> Holder | Refusal:
    if not isinstance(value, dict):
        return _SILENT
    pid, start = (values.integer(value.get(name), 1, _MAX_NUMBER) for name in ("pid", "start"))
    if pid is None or start is None:
        return _SILENT
    return Holder(values.text(value.get("pane"), _MAX_TEXT), values.text(value.get("agent"), _MAX_TEXT), pid, start)
