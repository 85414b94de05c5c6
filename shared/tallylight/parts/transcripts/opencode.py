"""
OpenCode's database, and that of Kilo, its fork: `~/.local/share/<name>/<name>.db`, SQLite.

As seen in OpenCode 1.18.33 and Kilo 7.7.9. Tables `session`, `message` and `part`, each message and part with its JSON
in `data`, and `todo`. Rows are passed on as one JSON object each: the reader is as pure as the others.

A turn is a user's message and the assistant's messages after it. The last one has its end in `finish` (`stop`, or
`tool-calls` when another follows) and `error`. `finish` appears 0.1 to 0.3 s before `completed`, and is an end as well:
only the agent's own work comes between. A refused call ends a turn as well. Questions to a person are not recorded.
Neither is the process: a session belongs to the one that worked in its directory when it began, or has its title on the
window.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

from tallylight.evidence.records import usage_limits
from tallylight.evidence.records.locate import SESSION_SLACK_S, Candidate, Facts, own_record
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import MAX_CALL_COMMANDS, Reading, entries, entry_of, epoch, table, total, word
from tallylight.model.status import Status
from tallylight.wire import values

#: A server's status for a limit.
_TOO_MANY = 429
#: The start of a call's error if a person did not permit it.
_REFUSED = "The user rejected permission"
#: The prefix of the session's title in the window's.
_TITLES = {"opencode": "OC | ", "kilo": "Kilo CLI | "}
_SESSIONS = (
    "select id, title, time_created from session where directory = ? and parent_id is null and time_updated >= ?"
    " order by time_created desc limit 256"
)
#: The latest rows, the oldest of them first. `substr` limits the size of a row; a cut one is no JSON.
QUERIES = (
    "select 'session', json_object('id', id, 'cost', cost) from session where id = ?",
    "select 'message', data from (select time_created, id, json_object('id', id, 'at', time_updated,"
    " 'data', substr(data, 1, 16384)) as data from message where session_id = ?"
    " order by time_created desc, id desc limit 8) order by time_created, id",
    "select 'part', json_object('message', message_id, 'data', substr(data, 1, 16384)) from part where message_id in"
    " (select id from message where session_id = ? order by time_created desc, id desc limit 4)"
    " order by message_id, id limit 128",
    "select 'todo', json_object('content', content, 'status', status) from todo where session_id = ?"
    " order by position limit 64",
    "select 'child', json_object('id', id, 'title', title, 'created', time_created, 'busy', exists (select 1 from"
    " message where session_id = session.id and json_extract(data, '$.role') = 'assistant' and"
    " json_extract(data, '$.time.completed') is null)) from session where parent_id = ?"
    " order by time_created desc limit 16",
)


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session of this process; None if uncertain."""
    for name, before in _TITLES.items():
        data = facts.environ.get("XDG_DATA_HOME") or posixpath.join(facts.home, ".local/share")
        path = posixpath.join(data, name, f"{name}.db")
        if path not in facts.open_files:
            continue
        since = round(1000 * (facts.started - SESSION_SLACK_S))
        rows = places.rows(path, _SESSIONS, (facts.cwd, since))
        found = [(row, began) for row in rows if len(row) == 3 and (began := epoch(row[2])) is not None]
        title = facts.title.removeprefix(before).rstrip("…. ") if facts.title.startswith(before) else ""
        titled = [row for row, _ in found if title and str(row[1]).startswith(title)]
        if len(titled) == 1:
            return Place(path, str(titled[0][0]))
        own = [Candidate(Place(path, str(row[0])), str(row[0]), began) for row, began in found]
        return own_record(facts, own, places)
    return None


def tail(rows: Sequence[tuple[object, ...]]) -> bytes:
    """Return the rows of `QUERIES` as lines."""
    return b"".join(
        f'{{"kind":"{row[0]}","row":{row[1]}}}\n'.encode("utf-8", "replace") for row in rows if len(row) == 2
    )


def read(tail: bytes, state: Reading | None) -> Reading:
    """Return the state in the rows. They repeat everything except replies older than these."""
    found = Reading(reply=state.reply, outcome=state.outcome) if state is not None else Reading()
    rows: dict[str, list[dict[str, Any]]] = {"session": [], "message": [], "part": [], "todo": [], "child": []}
    for entry in entries(tail, (b'"row"',)):
        rows.get(values.text(entry.get("kind"), 16), []).append(table(entry, "row"))
    session = next(iter(rows["session"]), {})
    found.session = word(session.get("id"))
    found.cost = values.number(session.get("cost"), 0, 1e9) or None
    found.planned((row.get("content"), row.get("status")) for row in rows["todo"])
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows["part"]:
        parts.setdefault(word(row.get("message")), []).append(entry_of(row.get("data")))
    since = 0.0
    for row in rows["message"]:
        data = entry_of(row.get("data"))
        created = epoch(table(data, "time").get("created"))
        if data.get("role") == "user":
            found.began(created)
            since = max(since, created or 0.0)
        elif data.get("role") == "assistant":
            _answer(found, data, epoch(row.get("at")), parts.get(word(row.get("id")), []))
        else:
            continue
        found.is_known = True
    # The rows are of the last messages; a turn may have more.
    before = state.ran.items() if state is not None else ()
    found.ran = {id_: one for id_, one in before if one.at >= since} | found.ran
    found.ran = dict(list(found.ran.items())[-MAX_CALL_COMMANDS:])
    _children(found, rows["child"], since)
    return found


def _children(found: Reading, rows: list[dict[str, Any]], since: float) -> None:
    """Note the children of the present turn, which began at *since*, and others that still work."""
    for row in rows:
        is_busy = row.get("busy") == 1
        if is_busy or (epoch(row.get("created")) or 0.0) >= since:
            found.started_child(row.get("id"), row.get("title"), Status.WORKING if is_busy else Status.DONE)


def _answer(found: Reading, data: dict[str, Any], at: float | None, parts: list[dict[str, Any]]) -> None:
    """Process a message of the assistant, last written *at*, with its parts."""
    tokens = table(data, "tokens")
    cache = table(tokens, "cache")
    found.named(data.get("modelID"))
    found.counted(total((tokens.get("input"), cache.get("read"), cache.get("write"))))
    is_refused, said, completed = False, None, epoch(table(data, "time").get("completed"))
    for part in parts:
        call = table(part, "state")
        if part.get("type") == "text":
            found.replied(part.get("text"))
            said = epoch(table(part, "time").get("end")) or said
        elif part.get("type") == "tool":
            is_refused |= values.text(call.get("error"), 64).startswith(_REFUSED)
            _call(found, part, call, at)
    error, end = table(data, "error"), completed or at
    if error.get("name") == "MessageAbortedError":
        found.ended(Status.IDLE, end)
    elif error:
        _failed(found, table(error, "data"), end)
    elif data.get("finish") == "stop" and (said or completed) is not None:
        # The same time in both, or it would be reported as two ends.
        found.ended(Status.DONE, said or completed)
    elif completed is not None and is_refused:
        found.ended(Status.IDLE, completed, rule="a call was refused")


def _call(found: Reading, part: dict[str, Any], call: dict[str, Any], at: float | None) -> None:
    """Note the call in *part*, and its result, if it has one."""
    id_ = part.get("callID")
    found.runs(id_, part.get("tool"), call.get("input"), epoch(table(call, "time").get("end")) or at)
    if call.get("status") in ("completed", "error"):
        code = table(call, "metadata").get("exit")
        found.took(id_, call.get("error"), code, is_error=call["status"] == "error")


def _failed(found: Reading, about: dict[str, Any], at: float | None) -> None:
    """Note that the turn failed, or that it ended at a usage limit."""
    if about.get("statusCode") == _TOO_MANY:
        found.limited(
            at, about.get("message"), usage_limits.after(table(about, "responseHeaders").get("retry-after"), at)
        )
    else:
        found.ended(Status.ERROR, at, about.get("message"))


READER = Reader(locate, read, QUERIES, tail, wants_files=True, wants_others=True)
