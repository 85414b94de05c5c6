"""
GitHub Copilot's events: `<COPILOT_HOME>/session-state/<session>/events.jsonl`, one JSON object a line.

As seen in 1.0.102. Beside it is `inuse.<pid>.lock`, and the process holds `inuse.<pid>.hold` open: its session is
certain. A turn begins with `user.message`, and continues with each `assistant.turn_start`. It has ended when
`assistant.turn_end` follows a message that calls no tool; `abort` and `session.error` follow a `turn_end` of their own.
Commands in the background outlive it, and each is recorded once when it has ended. Questions to a person are recorded,
from `permission.requested` to `permission.completed`, or as a call of `ask_user`: turns are exact.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import BY_PERSON, BY_SETTINGS, Reading, in_lines, table, tables, target, word
from tallylight.model.status import Kind, Status
from tallylight.wire import values

_HELD = re.compile(r"/session-state/([A-Za-z0-9-]{1,64})/inuse\.[0-9]{1,10}\.(?:hold|lock)$")
_WORDS = (
    b'"session.', b'"user.message"', b'"assistant.', b'"tool.execution_', b'"subagent.', b'"abort"',
    b'"system.notification"', b'"permission.', b'"human_response.recorded"',
)  # fmt: skip
#: A line begins with the type of its event.
_TYPE_BYTES = 64
_QUESTION = "ask_user"
#: Types of errors that mean a limit.
_LIMITS = ("rate_limit", "quota")
#: The most commands in the background that are counted.
_MAX_SHELLS = 64
_STARTED = re.compile(r"<command started in background with shellId: ([A-Za-z0-9_-]{1,64})>")


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session that the process holds."""
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
    # An editor has several sessions in one process.
    folders = {path for path in folders if posixpath.basename(path) == facts.session} or folders
    return Place(posixpath.join(folders.pop(), "events.jsonl")) if len(folders) == 1 else None


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    data, kind = table(entry, "data"), entry.get("type")
    if entry.get("agentId") is not None:
        return _child(found, kind, data, values.text(entry.get("agentId"), 64), at)
    return _session(found, kind, data, at) or _turn(found, kind, data, at) or _asked(found, kind, data, at)


read = in_lines(_take, _WORDS, _TYPE_BYTES)


def _child(found: Reading, kind: object, data: dict[str, Any], id_: str, at: float | None) -> bool:
    """Process an event of the subagent *id_*: its begin, its end, or a call."""
    status, known = _CHILD.get(values.text(kind, 64)), found.children.get(id_)
    if status is not None:
        name = data.get("agentDisplayName") or data.get("agentName")
        found.started_child(id_, name if status is Status.WORKING else None, status)
    elif kind == "assistant.message":
        for call in tables(data.get("toolRequests")):
            name = known.name if known is not None else "a subagent"
            found.runs(call.get("toolCallId"), call.get("name"), call.get("arguments"), at, name)
    elif kind == "permission.completed":
        _decided(found, data)
    elif kind == "tool.execution_complete":
        _result(found, data)
    return status is not None


def _session(found: Reading, kind: object, data: dict[str, Any], at: float | None) -> bool:
    """Process an event of the session, or of its background commands."""
    match kind:
        case "session.start":
            found.session = word(data.get("sessionId"))
            found.named(data.get("selectedModel"))
        case "session.model_change":
            found.named(data.get("newModel"))
        case "session.shutdown":
            found.background = frozenset()
        case "system.notification":
            about = table(data, "kind")
            if about.get("type") == "shell_completed":
                found.background -= {word(about.get("shellId"))}
                turn = found.turn
                if not found.background and turn is not None and turn.status is Status.BACKGROUND:
                    found.ended(Status.DONE, at, rule="the command in the background ended")
        case _:
            return False
    return True


def _turn(found: Reading, kind: object, data: dict[str, Any], at: float | None) -> bool:
    """Process an event of a turn: its begin, progress or end."""
    match kind:
        case "user.message" | "assistant.turn_start":  # news of a command in the background begin one, too
            found.began(at, goes_on=kind != "user.message")
            found.is_answered = False
        case "assistant.message":
            found.named(data.get("model"))
            found.replied(data.get("content"))
            found.calls = {}
            found.is_answered = not data.get("toolRequests")
            for call in tables(data.get("toolRequests")):
                found.called(call.get("toolCallId"), call.get("name"), target(call.get("arguments")))
                found.runs(call.get("toolCallId"), call.get("name"), call.get("arguments"), at)
        case "assistant.turn_end" if found.is_answered and found.background:
            found.ended(Status.BACKGROUND, at, rule="the turn ended, a command still runs")
        case "assistant.turn_end" if found.is_answered:
            found.ended(Status.DONE, at)
        case "abort":
            found.ended(Status.IDLE, at)
        case "session.error" if data.get("errorType") in _LIMITS:
            found.limited(at, data.get("message"))
        case "session.error":
            found.ended(Status.ERROR, at, data.get("message"))
        case _:
            return False
    return True


def _asked(found: Reading, kind: object, data: dict[str, Any], at: float | None) -> bool:
    """Process an event of a call: a person is asked, has answered, or it has its result."""
    match kind:
        case "tool.execution_start" if data.get("toolName") == _QUESTION:
            found.asks(data.get("toolCallId"), at, Kind.QUESTION, table(data, "arguments").get("message"))
        case "permission.requested":
            found.asks(data.get("requestId"), at, Kind.PERMISSION)
        case "permission.completed":
            found.settled(data.get("requestId"), at)
            _decided(found, data)
        case "human_response.recorded":
            found.settled(data.get("toolCallId"), at)
        case "tool.execution_complete":
            found.settled(data.get("toolCallId"), at)
            found.answered(data.get("toolCallId"))
            _ended(found, data)
        case _:
            return False
    return True


def _decided(found: Reading, data: dict[str, Any]) -> None:
    """Note a call that was denied."""
    if (ended := values.text(table(data, "result").get("kind"), 64)).startswith(("denied", "cancelled")):
        by = BY_SETTINGS if ended.startswith("denied-by-") else BY_PERSON
        found.ended_with(data.get("toolCallId"), None, by, is_denied=True)


def _ended(found: Reading, data: dict[str, Any]) -> None:
    """Note the result of a call, and the tokens so far."""
    metrics = table(table(data, "toolTelemetry"), "metrics")
    names = ("context_current_tokens", "context_token_limit")
    counts = (values.number(metrics.get(name), 0, 1 << 40) for name in names)
    found.counted(*(int(count) if count is not None else None for count in counts))
    text = values.text(table(data, "result").get("content"), 1024)
    if (started := _STARTED.search(text)) is not None and len(found.background) < _MAX_SHELLS:
        found.background |= {started[1]}
    else:
        _result(found, data)


def _result(found: Reading, data: dict[str, Any]) -> None:
    """Note how a call ended that no person denied."""
    one = found.ran.get(word(data.get("toolCallId")))
    if one is None or one.is_denied:
        return
    if table(data, "error").get("code") == "denied":
        found.ended_with(data.get("toolCallId"), None, BY_SETTINGS, is_denied=True)
    else:
        text = values.text(table(data, "result").get("content"), 1024)
        code = table(data, "shellExecution").get("exitCode")
        found.took(data.get("toolCallId"), text, code, is_error=data.get("success") is not True)


#: The status of a subagent, by its event.
_CHILD = {
    "subagent.started": Status.WORKING,
    "subagent.completed": Status.DONE,
    "subagent.failed": Status.ERROR,
}


READER = Reader(locate, read, is_exact=True, wants_files=True)
