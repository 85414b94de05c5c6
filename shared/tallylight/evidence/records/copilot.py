"""
GitHub Copilot's events: `<COPILOT_HOME>/session-state/<session>/events.jsonl`, one JSON object a line.

As seen in 1.0.102. Beside it lies `inuse.<pid>.lock`, and the process holds `inuse.<pid>.hold` open: whose session it
is is certain. A turn begins with `user.message`, and goes on with each `assistant.turn_start`. It has ended when
`assistant.turn_end` follows a message that calls no tool; `abort` and `session.error` come after a `turn_end` of their
own. Commands in the background outlive it, and each is told of once when it has ended. What a person is asked is in it,
from `permission.requested` to `permission.completed`, or as a call of `ask_user`: turns are told exactly.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Facts, Place, Places
from tallylight.evidence.records.reading import Reading, entries, epoch, table, tables, target, word
from tallylight.model.status import Kind, Status
from tallylight.wire import values

_HELD = re.compile(r"/session-state/([A-Za-z0-9-]{1,64})/inuse\.[0-9]{1,10}\.(?:hold|lock)$")
_WORDS = (
    b'"session.', b'"user.message"', b'"assistant.', b'"tool.execution_', b'"subagent.', b'"abort"',
    b'"system.notification"', b'"permission.', b'"human_response.recorded"',
)  # fmt: skip
#: A line begins with the type of its event.
_WITHIN = 64
_QUESTION = "ask_user"
#: What it calls errors that mean that nothing more is available.
_LIMITS = ("rate_limit", "quota")
#: Commands in the background that are counted.
_MAX_SHELLS = 64
_STARTED = re.compile(r"<command started in background with shellId: ([A-Za-z0-9_-]{1,64})>")


def locate(facts: Facts, places: Places) -> Place | None:
    """The session that the process holds."""
    held = [path for path in facts.open_files if _HELD.search(path)]
    if not held:
        top = posixpath.join(
            facts.environ.get("COPILOT_HOME") or posixpath.join(facts.home, ".copilot"), "session-state"
        )
        locks = [f"inuse.{pid}.lock" for pid in (facts.pid, *facts.pids)]
        for session in places.names(top):
            folder = posixpath.join(top, session)
            if any(places.changed(posixpath.join(folder, lock)) >= max(facts.started, 1.0) for lock in locks):
                held.append(posixpath.join(folder, locks[0]))
    folders = {posixpath.dirname(path) for path in held}
    return Place(posixpath.join(folders.pop(), "events.jsonl")) if len(folders) == 1 else None


def read(tail: bytes, state: Reading | None) -> Reading:
    """What *tail* adds to *state*."""
    found = state.copy() if state is not None else Reading()
    for entry in entries(tail, _WORDS, _WITHIN):
        data, at, kind = table(entry, "data"), epoch(entry.get("timestamp")), entry.get("type")
        if isinstance(kind, str):
            if entry.get("agentId") is not None:
                _child(found, kind, values.text(entry.get("agentId"), 64), data)
            else:
                _event(found, kind, data, at)
    return found


def _event(found: Reading, kind: str, data: dict[str, Any], at: float | None) -> None:
    match kind:
        case "session.start":
            found.session = word(data.get("sessionId"))
            found.named(data.get("selectedModel"))
        case "session.model_change":
            found.named(data.get("newModel"))
        case "session.error" if data.get("errorType") in _LIMITS:
            found.limited(at, data.get("message"))
        case "session.error":
            found.ended(Status.ERROR, at, "its record: the turn failed", data.get("message"))
        case "session.shutdown":
            found.background = frozenset()
        case "user.message" | "assistant.turn_start":  # news of a command in the background begin one, too
            found.began(at)
            found.is_answered = False
        case "assistant.message":
            found.named(data.get("model"))
            found.replied(data.get("content"))
            found.calls = {}
            found.is_answered = not data.get("toolRequests")
            for call in tables(data.get("toolRequests")):
                found.called(call.get("toolCallId"), call.get("name"), target(call.get("arguments")))
        case "assistant.turn_end" if found.is_answered:
            status = Status.BACKGROUND if found.background else Status.DONE
            found.ended(status, at, f"its record: the turn ended{', a command runs on' if found.background else ''}")
        case "abort":
            found.ended(Status.IDLE, at, "its record: the turn was broken off")
        case "tool.execution_start" if data.get("toolName") == _QUESTION:
            found.asks(data.get("toolCallId"), at, Kind.QUESTION, table(data, "arguments").get("message"))
        case "permission.requested":
            found.asks(data.get("requestId"), at, Kind.PERMISSION)
        case "permission.completed":
            found.settled(data.get("requestId"), at)
        case "human_response.recorded":
            found.settled(data.get("toolCallId"), at)
        case "tool.execution_complete":
            found.settled(data.get("toolCallId"), at)
            _result(found, data)
        case "system.notification":
            about = table(data, "kind")
            if about.get("type") == "shell_completed":
                found.background -= {word(about.get("shellId"))}
                turn = found.turn
                if not found.background and turn is not None and turn.status is Status.BACKGROUND:
                    found.ended(Status.DONE, at, "its record: the command in the background ended")
        case _:
            return
    found.is_known = True


def _result(found: Reading, data: dict[str, Any]) -> None:
    found.answered(data.get("toolCallId"))
    metrics = table(table(data, "toolTelemetry"), "metrics")
    used, window = (metrics.get(name) for name in ("context_current_tokens", "context_token_limit"))
    found.counted(_whole(used), _whole(window))
    text = values.text(table(data, "result").get("content"), 1024)
    if (started := _STARTED.search(text)) is not None and len(found.background) < _MAX_SHELLS:
        found.background |= {started[1]}


def _child(found: Reading, kind: str, id_: str, data: dict[str, Any]) -> None:
    """An event of a subagent."""
    match kind:
        case "subagent.started":
            found.begot(id_, data.get("agentDisplayName") or data.get("agentName"))
        case "subagent.completed":
            found.begot(id_, None, Status.DONE)
        case "subagent.failed":
            found.begot(id_, None, Status.ERROR)
        case _:
            return
    found.is_known = True


def _whole(value: object) -> int | None:
    count = values.number(value, 0, 1 << 40)
    return int(count) if count is not None else None
