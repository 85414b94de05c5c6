"""
Codex's rollout: `<CODEX_HOME>/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`, one JSON object a line.

As seen in 0.169.0. The program itself, or the daemon behind all of them, makes the file at the first prompt. So open
files prove little: a session belongs to the one process that worked in its directory when it began. A turn begins with
`task_started`. It ends with `task_complete` (with an `error` if it failed) or `turn_aborted`. Questions to a person are
not recorded.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Candidate, Facts, own_record, written
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Below, Reader
from tallylight.evidence.records.reading import (
    BY_PERSON,
    BY_SETTINGS,
    Reading,
    entry_of,
    epoch,
    error_words,
    in_lines,
    line,
    table,
    tables,
    word,
)
from tallylight.model.status import Status
from tallylight.wire import values

#: Days of sessions to search, the latest first.
_SESSION_DAYS = 32
_NAME = re.compile(r"rollout-[0-9T-]{19}-([0-9a-f-]{36})\.jsonl")
_WORDS = (b'"event_msg"', b'"turn_context"', b'"function_call', b'"custom_tool_call"', b'"session_meta"')
#: All that is searched is at the start of a line; a command's output is not.
_LINE_TYPE_BYTES = 160


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session of this process; None if uncertain."""
    home = facts.environ.get("CODEX_HOME") or posixpath.join(facts.home, ".codex")
    top = posixpath.join(home, "sessions")
    opened = [path for path in facts.open_files if path.startswith(f"{top}/") and path.endswith(".jsonl")]
    if len(opened) == 1:
        return Place(opened[0])
    found = []
    for folder in _days(top, places):
        for path, match, head in written(folder, _NAME, facts, places):
            meta = table(head, "payload") if head.get("type") == "session_meta" else {}
            at = epoch(meta.get("timestamp"))
            # A subagent's thread has a session of its own.
            if at is not None and meta.get("cwd") == facts.cwd and isinstance(meta.get("source"), str):
                found.append(Candidate(Place(path), match[1], at))
    return own_record(facts, found, places)


def children(place: Place, reading: Reading, known: Below, places: Places) -> Below:
    """Return the subagents of this turn, and those that go on after it: each has a session of its own."""
    found = dict(known)
    for id_, child in (reading.children | reading.left).items():
        if id_ not in found and (path := _child(place, id_, places)):
            found[id_] = child.name, Place(path)
    return found


def _child(place: Place, id_: str, places: Places) -> str:
    """
    Return the record of the subagent *id_* of the session in *place*, which may be in another day's folder; else empty.
    """
    folder = posixpath.dirname(place.path)
    top = posixpath.normpath(posixpath.join(folder, "../../.."))
    for day in dict.fromkeys([folder, *_days(top, places)[:2]]):
        for name in places.names(day):
            match = _NAME.fullmatch(name)
            if match is not None and match[1] == id_:
                return posixpath.join(day, name)
    return ""


def _days(top: str, places: Places) -> list[str]:
    """Return the folders of the last days with sessions below *top*, the latest first."""
    found: list[str] = []
    for year in reversed(places.names(top)):
        for month in reversed(places.names(posixpath.join(top, year))):
            folder = posixpath.join(top, year, month)
            found += [posixpath.join(folder, day) for day in reversed(places.names(folder))]
            if len(found) >= _SESSION_DAYS:
                return found[:_SESSION_DAYS]
    return found


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    payload = table(entry, "payload")
    match entry.get("type"):
        case "event_msg":
            return _event(found, payload, at)
        case "turn_context":
            found.named(payload.get("model"))
            return True
        case "response_item" if payload.get("type") == "custom_tool_call":
            found.runs(payload.get("call_id"), payload.get("name"), payload.get("input"), at)
            return True
        case "response_item" if payload.get("type") == "function_call":
            given = entry_of(payload.get("arguments"))
            if word(payload.get("name")) in _RUN:
                found.runs(payload.get("call_id"), payload.get("name"), given, at)
            else:
                found.edited(given, at)
            if payload.get("name") == "update_plan":
                found.planned((step.get("step"), step.get("status")) for step in tables(given.get("plan")))
            return True
        case "response_item" if payload.get("type") == "function_call_output":
            _ran(found, payload)
            if values.text(payload.get("output"), 64).startswith("unsupported call: update_plan"):
                found.tasks = {}
            return True
        case "session_meta":
            found.session = line(payload.get("id"))
            found.cwd = values.exact(payload.get("cwd"), 4096) or ""
    return False


#: The functions that run commands, and those that write files.
_RUN = frozenset({"exec_command", "shell", "shell_command", "apply_patch"})
_CODE = re.compile(r"(?:^|\n)Process exited with code (\d{1,3})\n|\"exit_code\":(\d{1,3})\b")
_DENIED = re.compile(r"(aborted|rejected) by user|denied by|rejected by|(reject command\b|rejected: )")


def _ran(found: Reading, payload: dict[str, Any]) -> None:
    """Note how a call ended."""
    text = values.text(payload.get("output"), 512)
    code = _CODE.search(text)
    denied = _DENIED.search(text) if code is None else None
    by = "" if denied is None else BY_PERSON if denied[1] else BY_SETTINGS if denied[2] else ""
    number = int(code[1] or code[2]) if code else None
    found.ended_with(payload.get("call_id"), number, by, is_denied=denied is not None)


read = in_lines(_take, _WORDS, _LINE_TYPE_BYTES)


def _event(found: Reading, payload: dict[str, Any], at: float | None) -> bool:
    """Add an event of a turn; return whether it is of a known kind."""
    match payload.get("type"):
        case "task_started":
            found.began(at)
            found.counted(None, payload.get("model_context_window"))
        case "task_complete":
            working = {id_: child for id_, child in found.children.items() if child.status is Status.WORKING}
            found.children = {}
            found.replied(payload.get("last_agent_message"))
            error = payload.get("error")
            if not isinstance(error, dict):
                found.left = working  # their own records show their end
                found.ended(Status.DONE, at, rule="the turn is complete")
            elif error.get("codex_error_info") == "usage_limit_exceeded":
                found.limited(at, error.get("message"))
            else:
                found.ended(Status.ERROR, at, error_words(error.get("message")))
        case "turn_aborted":
            found.ended(Status.IDLE, at)
        case "token_count":
            info = table(payload, "info")
            last = table(info, "last_token_usage")
            found.counted(last.get("total_tokens"), info.get("model_context_window"))
            found.limited_until = _resets(table(payload, "rate_limits"))
        case "item_completed":
            item = table(payload, "item")
            if item.get("type") == "CollabAgentToolCall":
                # The state of the agents that it has started.
                agents = tables(item.get("receiver_agents"))
                names = {agent.get("thread_id"): agent.get("agent_nickname") for agent in agents}
                for id_, state in table(item, "agents_states").items():
                    word = table(state).get("status", next(iter(state), "")) if isinstance(state, dict) else state
                    found.started_child(id_, names.get(id_), _CHILD.get(values.text(word, 64), Status.WORKING))
        case _:
            return False
    return True


_CHILD = {"completed": Status.DONE, "shutdown": Status.DONE, "errored": Status.ERROR, "interrupted": Status.IDLE}


def _resets(windows: dict[str, Any]) -> float:
    """Return when its limit ends: of the windows that are used up, the last to open again."""
    resets = 0.0
    for name in ("primary", "secondary"):
        window = table(windows, name)
        if (values.number(window.get("used_percent"), 0, 1000) or 0.0) >= 100:
            resets = max(resets, values.number(window.get("resets_at"), 0, values.LATEST) or 0.0)
    return resets


READER = Reader(locate, read, children=children, wants_files=True, wants_others=True)
