"""
Warp's agent events: `OSC 777 ; notify ; warp://cli-agent ; JSON ST`. https://github.com/warpdotdev/claude-code-warp

In: one sequence. Out of `decode`: a `CliAgentEvent`, or DecodeError. What an event means depends on what the agent did
before, so that `to_report` wants its present status. At most 64 KiB a sequence and JSON 16 levels deep; JSON with a key
twice, a number that is none, or another version is refused whole. A field of the wrong type counts as left out.

The JSON may hold `;`: only the first two separate.
"""

from __future__ import annotations

import enum
import re

from tallylight.model import attributes
from tallylight.model.dialog import WHAT_CELLS
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.tool_call import tool_call
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

#: One without an end goes to the end: to look for another start in it would take quadratic time.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


class Moment(enum.StrEnum):
    """What happened. The values are the words of the wire."""

    SESSION_START = "session_start"
    PROMPT_SUBMIT = "prompt_submit"
    TOOL_COMPLETE = "tool_complete"
    PERMISSION_REQUEST = "permission_request"
    PERMISSION_REPLIED = "permission_replied"
    QUESTION_ASKED = "question_asked"
    IDLE_PROMPT = "idle_prompt"
    STOP = "stop"
    STOP_FAILURE = "stop_failure"


_MOMENTS = {moment.value: moment for moment in Moment}
#: What each says by itself. SESSION_START and IDLE_PROMPT change nothing: an agent that starts or reminds has no news.
_STATUSES: dict[Moment, tuple[Status, Kind | None]] = {
    Moment.PROMPT_SUBMIT: (Status.WORKING, None),
    Moment.PERMISSION_REQUEST: (Status.WAITING, Kind.PERMISSION),
    Moment.QUESTION_ASKED: (Status.WAITING, Kind.QUESTION),
    Moment.STOP: (Status.DONE, None),
    Moment.STOP_FAILURE: (Status.ERROR, None),
}
#: Of Claude Code's words for what failed, those by which nothing more is available: "rejected for now", and "no credit
#: left". That a server is `overloaded` is no limit of the person's.
LIMITS = frozenset({"rate_limit", "billing_error"})
#: What says only that the agent waits no longer.
_RELEASES = (Moment.TOOL_COMPLETE, Moment.PERMISSION_REPLIED)


@attributes.frozen(kw_only=True)
class CliAgentEvent:
    """
    One event. Every text is sanitised; *detail* is the tool at hand and what it is to do, *what* the same where a
    permission is asked for it.
    """

    moment: Moment
    agent: str = ""
    session: str = ""
    cwd: str = ""
    project: str = ""
    message: str = ""
    detail: str = ""
    what: str = ""
    #: A STOP_FAILURE that a limit is the reason of.
    is_limit: bool = False


def decode(sequence: Sequence) -> CliAgentEvent:
    """Read one event; `not-ours` for any other notification."""
    if sequence.number != NUMBER or not sequence.body.startswith(PREFIX):
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    fields = _read_json(sequence.body[len(PREFIX) :])
    version = fields.get("v")
    # True is 1 in Python and not in JSON.
    if version is not None and (type(version) is not int or version != VERSION):
        raise DecodeError("unknown-version")
    moment = _MOMENTS.get(_string(fields, "event"))
    if moment is None:
        raise DecodeError("unknown-event", repr(_string(fields, "event")[:32]))
    return CliAgentEvent(
        moment=moment,
        agent=agent_name(_string(fields, "agent")),
        session=_label(_string(fields, "session_id"), 256),
        cwd=_label(_string(fields, "cwd"), 1024),
        project=_label(_string(fields, "project"), 128),
        message=_label(_message(moment, fields), 512),
        detail=_label(_tool(fields), 256),
        what=_what(moment, fields),
        is_limit=moment is Moment.STOP_FAILURE and _string(fields, "error_type") in LIMITS,
    )


def to_report(event: CliAgentEvent, present: Status | None) -> Report | None:
    """Say what an event means for an agent whose status is *present*; None if it changes nothing."""
    if event.moment in _RELEASES and present is Status.WAITING:
        status, kind = Status.WORKING, None
    elif event.is_limit:
        status, kind = Status.WAITING, Kind.LIMIT
    elif event.moment in _STATUSES:
        status, kind = _STATUSES[event.moment]
    else:
        return None
    return Report(
        source=Source.PROTOCOL,
        rule=RULE,
        status=status,
        kind=kind,
        agent=event.agent,
        session=event.session,
        cwd=event.cwd,
        project=event.project,
        message=event.message,
        detail=event.detail,
        what=event.what,
    )


def _read_json(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise DecodeError("malformed", "not JSON in UTF-8") from None
    _check_depth(text)
    value = values.load(text, strict=True)
    if not isinstance(value, dict):
        raise DecodeError("malformed", "JSON that is no object")
    return value


def _check_depth(text: str) -> None:
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEPTH_LIMIT:
            raise DecodeError("too-long", f"JSON deeper than {DEPTH_LIMIT}")


def _string(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _label(text: str, cells: int) -> str:
    return sanitise(text, cells=cells, graphemes=cells).strip()


def _message(moment: Moment, fields: dict[str, Any]) -> str:
    """The words that tell a person most at this moment."""
    order = {
        Moment.PROMPT_SUBMIT: ("query", "summary"),
        Moment.STOP: ("summary", "response", "query"),
        Moment.STOP_FAILURE: ("summary", "error_type", "response"),
    }.get(moment, ("summary", "query"))
    return next((text for key in order if (text := _string(fields, key))), "")


def _what(moment: Moment, fields: dict[str, Any]) -> str:
    if moment is not Moment.PERMISSION_REQUEST:
        return ""
    return middle(tool_call(fields.get("tool_name"), fields.get("tool_input"), fields.get("cwd")), WHAT_CELLS)


def _tool(fields: dict[str, Any]) -> str:
    name, given = _string(fields, "tool_name"), fields.get("tool_input")
    preview = (_string(given, "command") or _string(given, "file_path")) if isinstance(given, dict) else ""
    return ": ".join([text for text in (name, preview) if text])
