"""
Gemini CLI's chat: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, one JSON object a line.

As seen in 0.61.0. An entry is a message, which may be written again with more in it, or `$set`, which changes the head.
`~/.gemini/projects.json` has the `<project>` of a directory. The process is not recorded: a session belongs to the one
that worked in the directory when it began. Questions to a person are not recorded. Neither is the end of a turn: a
message with a text may be followed by a tool.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records import usage_limits
from tallylight.evidence.records.locate import Candidate, Facts, own_record, written
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, entry_of, epoch, error_words, in_lines, table, tables, word
from tallylight.model.status import Status
from tallylight.wire import values

_NAME = re.compile(r"session-[0-9T-]{16,19}-[0-9a-f]{8}\.jsonl")
_PROJECT = re.compile(r"[A-Za-z0-9._-]{1,128}")
_WORDS = (b'"type":"gemini"', b'"type":"user"', b'"type":"info"', b'"type":"error"', b'"sessionId"')
#: The window that it assumes for every model, `tokenLimit` in its source.
_CONTEXT_TOKENS = 1_048_576
#: A request that failed; its other errors are commands of its interface that could not be run.
_FAILED = re.compile(r"\[?API Error")
_CANCELLED = "Request cancelled."
#: Its own words for a limit, or the server's words that it keeps.
_USAGE_LIMIT = re.compile(
    r"\[API Error: You have exhausted your (?:daily quota|capacity)|"
    r"\nPlease wait and try again later\. To increase your limits|"
    r"\(Status: RESOURCE_EXHAUSTED\)\]|\"status\": ?\"RESOURCE_EXHAUSTED\""
)


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session of this process; None if uncertain."""
    top = posixpath.join(facts.home, ".gemini")
    projects = table(entry_of(places.head(posixpath.join(top, "projects.json"))), "projects")
    project = values.text(projects.get(facts.cwd), 128)
    if not _PROJECT.fullmatch(project) or project.startswith("."):
        return None
    found = [
        Candidate(Place(path), values.text(head.get("sessionId"), 64), at)
        for path, _, head in written(posixpath.join(top, "tmp", project, "chats"), _NAME, facts, places)
        if (at := epoch(head.get("startTime"))) is not None and head.get("kind", "main") == "main"
    ]
    return own_record(facts, found, places)


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    content = entry.get("content")
    match entry.get("type"):
        case "gemini":
            _answer(found, entry, at)
        case "user":
            # A person's prompt begins a turn; tool results and the program's own messages do not.
            texts = [part["text"] for part in tables(content) if isinstance(part.get("text"), str)]
            if texts and not texts[0].startswith("<session_context>"):
                found.began(at)
        case "info":
            if content == _CANCELLED:
                found.ended(Status.IDLE, at)
        case "error" if _USAGE_LIMIT.search(values.text(content, 2048)):
            found.limited(at, error_words(content), usage_limits.ends(content, at))
        case "error" if _FAILED.match(values.text(content, 2048)):
            found.ended(Status.ERROR, at, error_words(content))
        case _:
            if isinstance(entry.get("sessionId"), str) and "startTime" in entry:
                found.session = word(entry["sessionId"])
            return False
    return True


read = in_lines(_take, _WORDS)


def _answer(found: Reading, entry: dict[str, Any], at: float | None) -> None:
    """Add a message of the agent: its reply, its calls, its model and its tokens."""
    tokens = table(entry, "tokens")
    if not tokens:
        return  # an earlier answer, written once more
    found.named(entry.get("model"))
    found.counted(tokens.get("input"), _CONTEXT_TOKENS)
    found.replied(entry.get("content"))
    for call in tables(entry.get("toolCalls")):
        found.runs(call.get("id"), call.get("name"), call.get("args"), at)
        response = table(table(next(tables(call.get("result")), {}), "functionResponse"), "response")
        if (status := call.get("status")) in ("success", "cancelled", "error"):
            found.took(call.get("id"), response.get("error") or response.get("output"), is_error=status != "success")
        if call.get("name") == "write_todos":
            todos = tables(table(call, "args").get("todos"))
            found.planned((todo.get("description"), todo.get("status")) for todo in todos)


READER = Reader(locate, read, wants_others=True)
