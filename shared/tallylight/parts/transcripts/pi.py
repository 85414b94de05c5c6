"""
pi's session: `~/.pi/agent/sessions/--<directory>--/<time>_<session>.jsonl`, one JSON object a line.

As seen in 1.5.2. A session begins with its process, but its file is made with the first answer. The process is not
recorded: a session belongs to the one that worked in its directory when it began. An answer's `stopReason` shows how it
went: `stop` ends the turn, `toolUse` continues. Questions of an extension to a person are not recorded; nor is the
window of the model. It retries after most errors, and only the others end a turn.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Candidate, Facts, own_record, written
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, epoch, in_lines, table, tables, word
from tallylight.model.status import Status
from tallylight.wire import values

_NAME = re.compile(r"[0-9TZ-]{20,32}_([A-Za-z0-9-]{1,64})\.jsonl")
_WORDS = (b'"type":"message"', b'"type":"session"', b'"type":"model_change"')
#: A line begins with the type of its entry.
_TYPE_BYTES = 64
#: The status in a server's answer, and words of errors that are retried.
_STATUS = re.compile(r"(4\d\d)\b")
_RETRIED = re.compile(
    r"4(?:08|09|29)\b|overload|rate.?limit|too many|unavailable|server.?error|internal|network|connection|timed? ?out|"
    r"terminated|retry",
    re.IGNORECASE,
)

#: Words of errors that mean a limit, without a retry.
_LIMITS = re.compile(
    r"GoUsageLimitError|FreeUsageLimitError|usage limit reached|hit your ChatGPT usage limit|available balance|"
    r"insufficient_quota|out of budget|quota exceeded|billing|usage_limit_exceeded|\"code\"\s*:\s*\"?1308(?!\d)",
    re.IGNORECASE,
)


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session of this process; None if uncertain."""
    folder = facts.environ.get("PI_CODING_AGENT_SESSION_DIR", "")
    if not folder:
        top = facts.environ.get("PI_CODING_AGENT_DIR") or posixpath.join(facts.home, ".pi/agent")
        folder = posixpath.join(top, "sessions", f"--{re.sub(r'[/:]', '-', facts.cwd.removeprefix('/'))}--")
    found = [
        Candidate(Place(path), match[1], at)
        for path, match, head in written(folder, _NAME, facts, places)
        if (at := epoch(head.get("timestamp"))) is not None and head.get("cwd") == facts.cwd
    ]
    return own_record(facts, found, places)


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    message = table(entry, "message")
    match entry.get("type"), message.get("role"):
        case "session", _:
            found.session = word(entry.get("id"))
            found.cwd = values.exact(entry.get("cwd"), 4096) or ""
            return False
        case "model_change", _:
            found.named(entry.get("modelId"))
        case "message", "user":
            found.began(at)
        case "message", "assistant":
            _answer(found, message, at)
        case "message", "toolResult":
            text = "".join(values.text(part.get("text"), 1 << 16) for part in tables(message.get("content")))
            found.took(message.get("toolCallId"), text, is_error=message.get("isError") is True)
        case _:
            return False
    return True


read = in_lines(_take, _WORDS, _TYPE_BYTES)


def _answer(found: Reading, message: dict[str, Any], at: float | None) -> None:
    """Add a message of the agent: its reply, its calls, its model and its tokens."""
    found.named(message.get("model"))
    found.counted(table(message, "usage").get("totalTokens") or None)
    for part in tables(message.get("content")):
        if part.get("type") == "text":
            found.replied(part.get("text"))
        elif part.get("type") == "toolCall":
            found.runs(part.get("id"), part.get("name"), part.get("arguments"), at)
    match message.get("stopReason"):
        case "stop" | "length":
            found.ended(Status.DONE, at)
        case "aborted":
            found.ended(Status.IDLE, at)
        case "error":
            said = values.text(message.get("errorMessage"), 512)
            if _LIMITS.search(said):
                found.limited(at, said)
            elif _STATUS.match(said) and not _RETRIED.search(said):
                found.ended(Status.ERROR, at, said)
        case _:
            if found.turn is not None and found.turn.status is not Status.WORKING:
                found.began(at)  # by an extension


READER = Reader(locate, read, wants_others=True)
