"""
The codecs by OSC number.

In: one sequence of any kind. Out of `decode`: an event, or None for a sequence that is foreign, broken, or meant for
the terminal. Callers treat the three alike.

Only OSC sequences have a number, and we read no others. Two numbers have several protocols: the first codec that
recognises a sequence decides, even if it then finds it broken.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report
from tallylight.wire import (
    cli_agent,
    notification,
    osc9_4,
    osc26,
    osc88,
    osc133,
    osc1338,
    osc3008,
    osc7501,
    osc21337,
    terax,
    title,
    user_var,
)
from tallylight.wire.frame import Update
from tallylight.wire.scanner import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Event: TypeAlias = (
    Report
    | Update
    | cli_agent.CliAgentEvent
    | notification.Chunk
    | notification.Notification
    | osc9_4.ProgressReport
    | osc133.Mark
    | osc1338.Recipe
    | title.Title
    | user_var.UserVar
)
Codec: TypeAlias = Callable[[Sequence], Event]


def _first_of(*codecs: tuple[Codec, tuple[bytes, ...]]) -> Codec:
    """
    Return a codec that asks each of *codecs* in turn until one recognises the sequence.

    A codec is asked only for a body with one of its beginnings.
    """

    def decode(sequence: Sequence) -> Event:
        body = sequence.body
        for codec, beginnings in codecs:
            if not body.startswith(beginnings):
                continue
            try:
                return codec(sequence)
            except DecodeError as error:
                # Broken is not foreign: a sequence that Warp's reader refuses must not become a notification.
                if error.reason != "not-ours":
                    raise
        raise DecodeError("not-ours")

    return decode


#: Each codec raises DecodeError for a sequence that is not its own or breaks its rules.
CODECS: MappingProxyType[int, Codec] = MappingProxyType(
    {
        0: title.decode,
        2: title.decode,
        9: _first_of((osc9_4.decode, (b"4;",)), (notification.decode, (b"",))),
        26: osc26.decode,
        88: osc88.decode,
        99: notification.decode,
        133: osc133.decode,
        777: _first_of(
            (cli_agent.decode, (cli_agent.PREFIX,)), (terax.decode, terax.BEGINNINGS), (notification.decode, (b"",))
        ),
        1337: user_var.decode,
        1338: osc1338.decode,
        3008: osc3008.decode,
        7501: osc7501.decode,
        21337: osc21337.decode,
    }
)


#: Numbers that no terminal outside understands.
OURS = osc7501.NUMBER, osc1338.NUMBER, osc26.NUMBER, osc88.NUMBER

#: The last events by raw sequence: programs and floods repeat a few sequences. Longer ones are not kept.
_KNOWN: dict[bytes, Event | None] = {}
_MOST_KNOWN, _LONGEST_KNOWN = 512, 256


def decode(sequence: Sequence) -> Event | None:
    """Return the event of one sequence; None if it is foreign, broken or meant for the terminal."""
    raw = sequence.raw
    if raw in _KNOWN:
        return _KNOWN[raw]
    codec = None if sequence.number is None else CODECS.get(sequence.number)
    try:
        event = codec(sequence) if codec else None
    except DecodeError:
        event = None
    if len(raw) <= _LONGEST_KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[raw] = event
    return event
