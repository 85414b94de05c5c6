"""
Qwen Code's chat: `~/.qwen/projects/<directory>/chats/<session>.jsonl`, one JSON object a line.

As seen in 0.24.4. `~/.qwen/sessions/<pid>.json` names the session of a process: its owner is certain. Questions to a
person are not recorded, nor that a turn was cancelled.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, entry_of, in_lines, table, tables, word
from tallylight.model.status import Status
from tallylight.wire import values

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORDS = (b'"type":"user"', b'"type":"assistant"', b'"type":"tool_result"', b'"type":"system"', b'"qwen-code.')
#: Errors after which it retries by itself.
_RETRIED = frozenset({408, 409, 429})
_TODO = "todo_write"


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session that the status file of one of the processes names."""
    top = posixpath.join(facts.home, ".qwen")
    for pid in (facts.pid, *facts.pids):
        path = posixpath.join(top, "sessions", f"{pid}.json")
        if places.changed(path) < facts.started:
            continue
        found = entry_of(places.head(path))
        session = values.text(found.get("sessionId") or found.get("session_id"), 64)
        cwd = found.get("workDir") or found.get("work_dir") or found.get("cwd") or facts.cwd
        if found.get("pid") == pid and _SESSION.fullmatch(session) and isinstance(cwd, str):
            folder = re.sub(r"[^A-Za-z0-9]", "-", cwd)
            return Place(posixpath.join(top, "projects", folder, "chats", f"{session}.jsonl"))
    return None


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    match entry.get("type"):
        case "user":
            found.began(at)
        case "assistant":
            found.named(entry.get("model"))
            found.counted(table(entry, "usageMetadata").get("promptTokenCount"), entry.get("contextWindowSize"))
            for part in tables(table(entry, "message").get("parts")):
                if part.get("thought") is not True:
                    found.replied(part.get("text"))
                call = table(part, "functionCall")
                found.runs(call.get("id"), call.get("name"), call.get("args"), at)
                if call.get("name") == _TODO:
                    todos = tables(table(call, "args").get("todos"))
                    found.planned((todo.get("content"), todo.get("status")) for todo in todos)
        case "tool_result":
            result = table(entry, "toolCallResult")
            part = next(tables(table(entry, "message").get("parts")), {})
            response = table(table(part, "functionResponse"), "response")
            code = table(result, "resultDisplay").get("exitCode")
            is_error = result.get("status") in ("cancelled", "error")
            found.took(result.get("callId"), response.get("error") or response.get("output"), code, is_error=is_error)
        case "system":
            event = table(table(entry, "systemPayload"), "uiEvent")
            code = values.integer(event.get("status_code"), 400, 499)
            if event.get("event.name") == "qwen-code.api_error" and code is not None and code not in _RETRIED:
                found.ended(Status.ERROR, at, event.get("error_message"), "the request failed")
        case _:
            return False
    found.session = word(entry.get("sessionId")) or found.session
    return True


read = in_lines(_take, _WORDS)


READER = Reader(locate, read)
