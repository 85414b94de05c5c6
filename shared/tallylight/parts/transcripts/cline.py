"""
Cline's session: `~/.cline/data/sessions/<session>/<session>.messages.json`, one JSON document, rewritten each time.

As seen in 3.0.65. The database `db/sessions.db` beside it, which the process has open, names the session of a process:
its owner is certain. The document has one message for each entry of `messages`, indented by four blanks. An answer
without a tool call ends the turn, and so does an error. A prompt is written only with its answer. But `<session>.json`
beside it has the state at once: `running`, `pending` (a permission) or `idle`. The agent's own question is known by its
call. Neither has the window of the model.
"""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import (
    Phase,
    Reading,
    entry_of,
    epoch,
    line,
    number_of,
    table,
    tables,
    target,
    total,
)
from tallylight.model.status import Kind, Status
from tallylight.wire import values

_DATABASE = "/db/sessions.db"
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
#: A process has one session at a time; its earlier ones remain in the table.
_HELD = (
    "select session_id from sessions where pid = ? and is_subagent = 0 and updated_at >= ?"
    " order by updated_at desc limit 1"
)
#: The lines around a message, and the end of the document.
_BEGIN, _ENDS, _LAST = b"    {", (b"    }", b"    },"), b"\n}"
_QUESTION = "ask_question"
#: The states of a session in the file beside the document.
_GOES_ON, _ASKS, _RESTS = "running", "pending", "idle"


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session that the database has for one of the processes."""
    databases = {path for path in facts.open_files if path.endswith(_DATABASE)}
    if len(databases) != 1:
        return None
    database = databases.pop()
    since = datetime.datetime.fromtimestamp(facts.started, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for pid in (facts.pid, *facts.pids):
        for row in places.rows(database, _HELD, (pid, since)):
            session = values.text(row[0], 64) if row else ""
            if _SESSION.fullmatch(session):
                path = posixpath.join(database.removesuffix(_DATABASE), "sessions", session, session)
                return Place(f"{path}.messages.json", beside=f"{path}.json")
    return None


def read(tail: bytes, state: Reading | None) -> Reading:
    """Return the state of both files; unchanged while they are being written."""
    beside, mark, document = tail.partition(b"\0")
    if not mark:
        beside, document = b"", tail
    if not document.rstrip().endswith(_LAST):
        return state if state is not None else Reading()
    found = Reading(reply=state.reply, outcome=state.outcome) if state is not None else Reading()
    for message in _messages(document):
        at = epoch(message.get("ts"))
        match message.get("role"):
            case "user":
                # A prompt begins a turn; the result of a tool does not.
                results = [part for part in tables(message.get("content")) if part.get("type") == "tool_result"]
                for part in results:
                    found.answered(part.get("tool_use_id"))
                    found.settled(part.get("tool_use_id"), at)
                    found.took(part.get("tool_use_id"), part.get("content"), is_error=part.get("is_error") is True)
                if not results:
                    found.began(at)
            case "assistant":
                _answer(found, message, at)
            case _:
                continue
        found.is_known = True
    found.phase = _phase(beside, state.phase if state is not None else Phase())
    _settle_turn(found)
    return found


def _phase(beside: bytes, before: Phase) -> Phase:
    """Return the session's phase from the file *beside* the document: its time in a line of its own, then its text."""
    written, _, text = beside.partition(b"\n")
    name = values.text(entry_of(text).get("status"), 16)
    if name == before.name or name not in (_GOES_ON, _ASKS, _RESTS):
        return before  # else it is being written
    # The first one seen may have been so for long.
    at = (number_of(written, values.LATEST) or 0.0) if before.name else 0.0
    return Phase(name, at, at if before.name == _RESTS else before.began)


def _settle_turn(found: Reading) -> None:
    """Set the turn where only the file beside the document shows its state by now."""
    phase, turn = found.phase, found.turn
    at = turn.at if turn is not None else 0.0
    is_going, is_next = turn is not None and turn.status is Status.WORKING, at < phase.began
    if phase.name == _ASKS and found.calls:
        found.asks(next(reversed(found.calls)), phase.since or at or None, Kind.PERMISSION)
    elif phase.name == _GOES_ON and is_going:
        found.began(max(at, phase.since), goes_on=True)
    elif phase.name == _GOES_ON and is_next:
        found.began(phase.began)
    elif phase.name == _RESTS and phase.since and (is_going or is_next):
        found.ended(Status.IDLE, phase.since)


def _messages(tail: bytes) -> Iterator[dict[str, Any]]:
    """Yield the complete messages in it."""
    begun: list[bytes] | None = None
    for text in tail.split(b"\n"):
        if text == _BEGIN:
            begun = []
        elif text in _ENDS and begun is not None:
            yield entry_of(b"{" + b"\n".join(begun) + b"}")
            begun = None
        elif begun is not None:
            begun.append(text)


def _answer(found: Reading, message: dict[str, Any], at: float | None) -> None:
    """Add a message of the agent: its reply, its calls and its model."""
    parts = list(tables(message.get("content")))
    said = next((part.get("text") for part in parts if part.get("type") == "text"), "")
    found.named(table(message, "modelInfo").get("id"))
    if table(message, "metadata").get("displayRole") == "error":
        found.ended(Status.ERROR, at, said)
        return
    metrics = table(message, "metrics")
    found.counted(total(map(metrics.get, ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))))
    found.replied(said)
    calls = [part for part in parts if part.get("type") == "tool_use"]
    for call in calls:
        given = table(call, "input")
        found.called(call.get("id"), call.get("name"), target(given))
        found.runs(call.get("id"), call.get("name"), given, at)
        if call.get("name") == _QUESTION:
            found.asks(call.get("id"), at, Kind.QUESTION, line(given.get("question")))
    if not calls:
        found.ended(Status.DONE, at)


READER = Reader(locate, read, is_rewritten=True, is_exact=True, wants_files=True)
