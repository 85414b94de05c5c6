"""
Warp's agent events: `OSC 777 ; notify ; warp://cli-agent ; JSON ST`. https://github.com/warpdotdev/claude-code-warp

In: one sequence. Out of `decode`: a `CliAgentEvent`, or DecodeError. The meaning of an event depends on the agent's
present status, which `to_report` takes. A sequence has at most 64 KiB, and its JSON 16 levels. JSON with a key twice,
a number out of range, or another version is refused whole. A field of the wrong type counts as left out.

The JSON may contain `;`: only the first two separate.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.dialog import SUBJECT_CELLS
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.tool_call import target, tool_call
from tallylight.wire import values
from tallylight.wire.agent_name import agent_name
from tallylight.wire.frame import check_length
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import middle, sanitise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NUMBER = 777
PREFIX = b"notify;warp://cli-agent;"
VERSION = 1
#: Warp gives no limits; an answer quoted in full fits.
FRAME_LIMIT = 65_536
DEPTH_LIMIT = 16
RULE = "cli-agent"

#: The events, and the status that each reports; None for an event without a status of its own.
MOMENTS: dict[str, tuple[Status, Kind | None] | None] = {
    "session_start": None,
    "prompt_submit": (Status.WORKING, None),
    "tool_complete": None,
    "permission_request": (Status.WAITING, Kind.PERMISSION),
    "permission_replied": None,
    "question_asked": (Status.WAITING, Kind.QUESTION),
    "idle_prompt": None,
    "stop": (Status.DONE, None),
    "stop_failure": (Status.ERROR, None),
}
#: Events that only say that the agent waits no longer.
_RELEASES = ("tool_complete", "permission_replied")
#: The fields with the message of an event, best first.
_MESSAGES = {
    "prompt_submit": ("query", "summary"),
    "stop": ("summary", "response", "query"),
    "stop_failure": ("summary", "error_type", "response"),
}
#: Claude Code's errors that mean a used-up limit: "rejected for now" and "no credit left". `overloaded` is none.
LIMITS = frozenset({"rate_limit", "billing_error"})


@attributes.frozen
class CliAgentEvent:
    """One event: its name, and its report, without a status if the event has none of its own."""

    moment: str
    report: Report


def decode(sequence: Sequence) -> CliAgentEvent:
    """Read one event; `not-ours` for any other notification."""
    if sequence.number != NUMBER or not sequence.body.startswith(PREFIX):
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    try:
        text = sequence.body[len(PREFIX) :].decode("utf-8")
    except UnicodeDecodeError:
        raise DecodeError("malformed", "not JSON in UTF-8") from None
    fields = values.load(text, strict=True, depth=DEPTH_LIMIT)
    if not isinstance(fields, dict):
        raise DecodeError("malformed", "JSON that is no object")
    version = fields.get("v")
    # True is 1 in Python and not in JSON.
    if version is not None and (type(version) is not int or version != VERSION):
        raise DecodeError("unknown-version")
    moment = _string(fields, "event")
    if moment not in MOMENTS:
        raise DecodeError("unknown-event", repr(moment[:32]))
    return CliAgentEvent(moment, _report(moment, fields))


def to_report(event: CliAgentEvent, present: Status | None) -> Report | None:
    """Return the report that an event means for an agent with the status *present*; None if it changes nothing."""
    if event.moment in _RELEASES and present is Status.WAITING:
        return attributes.evolve(event.report, status=Status.WORKING)
    return event.report if event.report.status is not None else None


def _report(moment: str, fields: dict[str, Any]) -> Report:
    """
    Return the report of an event, with every text sanitised.

    *detail* is the present tool call; *what* is the same if the event asks for a permission.
    """
    status, kind = MOMENTS[moment] or (None, None)
    if moment == "stop_failure" and _string(fields, "error_type") in LIMITS:
        status, kind = Status.WAITING, Kind.LIMIT
    message = next(filter(None, (_string(fields, key) for key in _MESSAGES.get(moment, ("summary", "query")))), "")
    tool, given = _string(fields, "tool_name"), fields.get("tool_input")
    preview = target(given) if isinstance(given, dict) else ""
    what = ""
    if moment == "permission_request":
        what = middle(tool_call(fields.get("tool_name"), given, fields.get("cwd")), SUBJECT_CELLS)
    return Report(
        source=Source.PROTOCOL,
        rule=RULE,
        status=status,
        kind=kind,
        agent=agent_name(_string(fields, "agent")),
        session=_label(_string(fields, "session_id"), 256),
        cwd=_label(_string(fields, "cwd"), 1024),
        project=_label(_string(fields, "project"), 128),
        message=_label(message, 512),
        detail=_label(": ".join([text for text in (tool, preview) if text]), 256),
        what=what,
    )


def _string(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _label(text: str, cells: int) -> str:
    return sanitise(text, cells=cells).strip()
