"""
Cline's session: `~/.cline/data/sessions/<session>/<session>.messages.json`, one JSON document, written anew each time.

As seen in 3.0.65. The database `db/sessions.db` beside it, which the process has open, says which session a process
holds: whose it is is certain. The document has one message an entry of `messages`, indented by four blanks. An answer
without a call of a tool ends the turn, and so does an error. A prompt comes into it with the answer alone; that a turn
goes on, waits for a call to be permitted, or is over, `<session>.json` beside it says at once: `running`, `pending`,
`idle`. A question of the agent's own is told by its call. The window of the model is in neither.
"""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from tallylight.evidence.records.locate import Facts, Place, Places
from tallylight.evidence.records.reading import Phase, Reading, entry_of, epoch, line, table, tables, target
from tallylight.model.status import Kind, Status
from tallylight.wire import values

_DATABASE = "/db/sessions.db"
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
#: A process has one session at a time; that it has had before stays there.
_HELD = (
    "select session_id from sessions where pid = ? and is_subagent = 0 and updated_at >= ?"
    " order by updated_at desc limit 1"
)
#: The lines around a message, and the end of the document.
_BEGIN, _ENDS, _LAST = b"    {", (b"    }", b"    },"), b"\n}"
_QUESTION = "ask_question"
#: What the file beside the document calls what a session does.
_GOES_ON, _ASKS, _RESTS = "running", "pending", "idle"


def locate(facts: Facts, places: Places) -> Place | None:
    """The session that the database has for one of the processes."""
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
    """What the file beside it and the end of the document say; as it was before while that is being written."""
    if b"\0" in tail:
        beside, _, tail = tail.partition(b"\0")
    else:
        beside = b""
    if not tail.rstrip().endswith(_LAST):
        return state if state is not None else Reading()
    found = Reading(reply=state.reply if state is not None else "")
    for message in _messages(tail):
        at = epoch(message.get("ts"))
        match message.get("role"):
            case "user":
                _said(found, message, at)
            case "assistant":
                _answer(found, message, at)
            case _:
                continue
        found.is_known = True
    _phase(found, beside, state)
    return found


def _phase(found: Reading, beside: bytes, state: Reading | None) -> None:
    """What the file *beside* the document adds: when it was written, in a line of its own, and its text."""
    before = state.phase if state is not None else Phase()
    written, _, text = beside.partition(b"\n")
    name = values.text((entry_of(text) or {}).get("status"), 16)
    if name not in (_GOES_ON, _ASKS, _RESTS):
        name = before.name  # it is being written
    now = before
    if name != before.name:
        # What stands there at first was so before anybody looked.
        at = (_number(written) or 0.0) if before.name else 0.0
        now = Phase(name, at, at if before.name == _RESTS else before.began)
    found.phase = now
    turn = found.turn
    is_old, is_going = turn is None or turn.at < now.began, turn is not None and turn.status is Status.WORKING
    if name == _ASKS and found.calls:
        found.asks(next(reversed(found.calls)), now.since or (turn.at if turn is not None else None), Kind.PERMISSION)
    elif name == _GOES_ON and turn is not None and is_going:
        found.began(max(turn.at, now.since))
    elif name == _GOES_ON and now.began and is_old:
        found.began(now.began)
    elif name == _RESTS and now.since and (is_going or (now.began and is_old)):
        found.ended(Status.IDLE, now.since, "its record: the turn was broken off")


def _number(text: bytes) -> float | None:
    try:
        return values.number(float(text), 0, values.LATEST)
    except ValueError:
        return None


def _messages(tail: bytes) -> Iterator[dict[str, Any]]:
    """The messages that are whole in it."""
    begun: list[bytes] | None = None
    for text in tail.split(b"\n"):
        if text == _BEGIN:
            begun = []
        elif text in _ENDS and begun is not None:
            entry = entry_of(b"{" + b"\n".join(begun) + b"}")
            begun = None
            if entry is not None:
                yield entry
        elif begun is not None:
            begun.append(text)


def _said(found: Reading, message: dict[str, Any], at: float | None) -> None:
    """A prompt begins a turn; the result of a tool does not."""
    results = [part for part in tables(message.get("content")) if part.get("type") == "tool_result"]
    for part in results:
        found.answered(part.get("tool_use_id"))
        found.settled(part.get("tool_use_id"), at)
    if not results:
        found.began(at)


def _answer(found: Reading, message: dict[str, Any], at: float | None) -> None:
    parts = list(tables(message.get("content")))
    calls = [part for part in parts if part.get("type") == "tool_use"]
    said = next((part.get("text") for part in parts if part.get("type") == "text"), "")
    found.named(table(message, "modelInfo").get("id"))
    if table(message, "metadata").get("displayRole") == "error":
        found.ended(Status.ERROR, at, "its record: the turn failed", said)
        return
    metrics = table(message, "metrics")
    counts = (metrics.get(name) for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))
    found.counted(sum(values.integer(count, 0, 1 << 40) or 0 for count in counts) or None)
    found.replied(said)
    for call in calls:
        given = table(call, "input")
        found.called(call.get("id"), call.get("name"), target(given))
        if call.get("name") == _QUESTION:
            found.asks(call.get("id"), at, Kind.QUESTION, line(given.get("question")))
    if not calls:
        found.ended(Status.DONE, at, "its record: the turn ended")
