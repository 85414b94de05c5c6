"""
Terax's agent presence: `OSC 777 ; notify ; Terax ; agent ; working ST`. It has no page of its own.

In: one sequence. Out: a Report, or DecodeError. Older versions leave the agent out, and forks use their own names
in place of Terax. Any other sequence of that form is a notification, and `not-ours`.
"""

from __future__ import annotations

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire.agent_name import agent_name
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import is_ascii_id

NUMBER = 777
#: Terax and its forks.
NAMES = ("Terax", "Kex", "Lithe", "Anbo", "Koden")
BEGINNINGS = tuple(f"notify;{name};".encode() for name in NAMES)
STATUSES = {"working": Status.WORKING, "attention": Status.WAITING, "finished": Status.DONE}
RULE = "terax"


def decode(sequence: Sequence) -> Report:
    """Read one sequence; `not-ours` otherwise."""
    if sequence.number != NUMBER:
        raise DecodeError("not-ours")
    command, *rest = sequence.body.decode("utf-8", "replace").split(";", 4)
    if command != "notify" or len(rest) not in (2, 3) or rest[0] not in NAMES or rest[-1] not in STATUSES:
        raise DecodeError("not-ours")
    agent = rest[1] if len(rest) == 3 else ""
    if agent and not is_ascii_id(agent):
        raise DecodeError("not-ours", "a name no agent has")
    return Report(source=Source.PROTOCOL, rule=RULE, status=STATUSES[rest[-1]], agent=agent_name(agent))
