"""
Claude Code's transcript, for details beside the status: `<config>/projects/<directory>/<session>.jsonl`.

As seen in 2.1.330. Its status file names the session (`claude_status`); `claude_ending` reads how a turn ended. The
list of tasks arrives task by task (`TaskCreate`, `TaskUpdate`) or as a whole (`TodoWrite`).
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records import claude_ending, usage_limits
from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Below, Reader
from tallylight.evidence.records.reading import (
    BY_PERSON,
    MAX_CALL_TASKS,
    RECORD_NAME_CELLS,
    Reading,
    entry_of,
    in_lines,
    is_done_word,
    line,
    table,
    tables,
    total,
    word,
)
from tallylight.model.status import Status
from tallylight.wire import values

_WORDS = (b'"type":"assistant"', b'"type":"user"', b'"modelId"', b'"away_summary"', b'"last-prompt"')
#: Words behind a summary that are about the summary.
_OF_SUMMARY = re.compile(r"\s*\(disable recaps in /config\)\s*$")
#: The windows of models as `/context` reports them; the transcript does not have them.
_WINDOWS = {"claude-opus-5-5": 1_000_000}
_STARTED = re.compile(r"agentId: ([A-Za-z0-9]{1,64})")
_AGENT = re.compile(r"agent-([A-Za-z0-9_-]{1,64})\.jsonl")
_NOTICE = re.compile(r"<task-id>([A-Za-z0-9_-]{1,64})</task-id>.{0,4096}?<status>([a-z_]{1,32})</status>", re.S)


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the transcript of the session that the status file names."""
    parts = claude_ending.path_parts(facts.cwd, facts.session)
    if parts is None:
        return None
    top = facts.environ.get("CLAUDE_CONFIG_DIR") or posixpath.join(facts.home, ".claude")
    path = posixpath.join(top, *parts)
    if places.changed(path):
        return Place(path)
    # A session that has moved to another directory stays where it began.
    folder = posixpath.join(top, parts[0])
    found = [posixpath.join(folder, name, parts[2]) for name in places.names(folder)]
    return next((Place(other) for other in found if places.changed(other)), None)


def children(place: Place, reading: Reading, known: Below, places: Places) -> Below:
    """Return the subagents that have written since the turn began: each has two files of its own, one with its name."""
    folder = posixpath.join(place.path.removesuffix(".jsonl"), "subagents")
    paths = {
        match[1]: posixpath.join(folder, match[0]) for match in map(_AGENT.fullmatch, places.names(folder)) if match
    }
    written = {id_: at for id_, path in paths.items() if (at := places.changed(path)) >= reading.since}
    return {
        id_: known.get(id_) or (_called(paths[id_], places), Place(paths[id_]))
        for id_ in sorted(written, key=written.__getitem__)
    }


def _called(path: str, places: Places) -> str:
    """Return the name of the subagent with the record at *path*, by the file beside it."""
    about = entry_of(places.head(f"{path.removesuffix('.jsonl')}.meta.json"))
    return line(about.get("description") or about.get("agentType"), RECORD_NAME_CELLS) or "a subagent"


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    message = table(entry, "message")
    found.since = found.since or at or 0.0
    match entry.get("type"):
        case _ if entry.get("isSidechain") is True:
            _runs(found, message, at)
            _ran(found, entry)
            return False
        case "assistant" if entry.get("isApiErrorMessage") is not True:
            _answer(found, message, at)
        case "assistant" if claude_ending.is_limit(entry):
            stated = values.number(table(entry, "quotaLimits").get("resetsAt"), 0, values.LATEST)
            text = next(tables(message.get("content")), {}).get("text")
            found.limited_until = stated if stated is not None else usage_limits.ends(text, at)
        case "assistant":
            pass
        case "user":
            _result(found, message, entry.get("toolUseResult"), at)
            _ran(found, entry)
            found.prompt = _prompt(entry, message.get("content")) or found.prompt
        case "system" if entry.get("subtype") == "away_summary":
            found.summarised(_OF_SUMMARY.sub("", values.text(entry.get("content"), 4096)))
        case "last-prompt":
            # It is repeated from time to time: a long turn may have begun above what is read.
            found.prompt = line(entry.get("lastPrompt")) or found.prompt
            return False
        case _:
            return False
    found.session = word(entry.get("sessionId")) or found.session
    return True


def _prompt(entry: dict[str, Any], text: object) -> str:
    """Return the first line that a person has typed; "" for a caveat or a summary, which Claude writes itself."""
    is_typed = entry.get("isMeta") is not True and entry.get("isCompactSummary") is not True
    return line(text) if is_typed and isinstance(text, str) and not text.startswith("<") else ""


read = in_lines(_take, _WORDS)


def _answer(found: Reading, message: dict[str, Any], at: float | None) -> None:
    """Add a message of the agent: its reply, its calls, its model and its tokens."""
    found.limited_until = 0.0
    model = word(message.get("model"))
    if model and not model.startswith("<"):  # `<synthetic>` is no model
        found.named(model)
        usage = table(message, "usage")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        found.counted(total(map(usage.get, names)))
        found.window = _WINDOWS.get(model, 0)
    _runs(found, message, at)
    for part in tables(message.get("content")):
        if part.get("type") == "text":
            found.replied(part.get("text"))
        elif part.get("type") == "tool_use":
            given = table(part, "input")
            name = part.get("name")
            if name == "TodoWrite":
                found.planned((todo.get("content"), todo.get("status")) for todo in tables(given.get("todos")))
            elif name == "TaskUpdate":
                _task(found, word(given.get("taskId")), given.get("subject"), given.get("status"))
            elif name in ("Agent", "Task"):
                found.started_child(part.get("id"), given.get("description") or given.get("subagent_type"))


def _result(found: Reading, message: dict[str, Any], result: object, at: float | None) -> None:
    """Add the results in a message of the user, written *at*: of calls, subagents and background commands."""
    content = message.get("content")
    if isinstance(content, str):
        if (notice := _NOTICE.search(content)) is not None and notice[1] in found.children:
            found.started_child(notice[1], None, Status.DONE if notice[2] == "completed" else Status.ERROR)
        elif not content.startswith("<"):
            found.began(None)
            found.since = at or 0.0
        return
    for part in tables(content):
        if part.get("type") != "tool_result":
            continue
        id_ = word(part.get("tool_use_id"))
        task = table(table(result), "task")
        if task:
            _task(found, word(task.get("id")), task.get("subject"), "pending")
        if id_ in found.children:
            # The call that started it has its result: it is done, or goes on under an id of its own.
            text = "".join(values.text(one.get("text"), 1024) for one in tables(part.get("content")))
            started = _STARTED.search(text)
            if started is not None and "launched" in text:
                found.started_child(started[1], found.children.pop(id_).name)
            else:
                found.started_child(id_, None, Status.ERROR if part.get("is_error") is True else Status.DONE)


#: Tools that change nothing: their calls are news only where they are denied.
_QUIET = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "Agent", "Task"})
#: Who decided, by Claude's own words.
_DECIDED = {
    "config": "allowed by your settings or its mode",
    "hook": "allowed by a hook",
    "user_temporary": "you allowed it once",
    "user_permanent": "you allowed it for good",
}
#: How Claude words a denial to its model, and who it is by.
_DENIED = {
    "The user doesn't want to ": BY_PERSON,
    **claude_ending.DENIED_UNASKED,
}
_CODE = re.compile(r"Exit code (\d{1,3})\b")


def _runs(found: Reading, message: dict[str, Any], at: float | None) -> None:
    """Note the calls that run a command, write a file or ask the network."""
    for part in tables(message.get("content")):
        if part.get("type") == "tool_use" and word(part.get("name")) not in _QUIET:
            found.runs(part.get("id"), part.get("name"), part.get("input"), at)


def _ran(found: Reading, entry: dict[str, Any]) -> None:
    """Note how calls ended, and who decided on them."""
    by = _DECIDED.get(values.text(table(entry, "permissionDecision").get("source"), 64), "")
    for part in tables(table(entry, "message").get("content")):
        if part.get("type") == "tool_result":
            told = part.get("content")
            text = told if isinstance(told, str) else "".join(line(one.get("text")) for one in tables(told))
            is_error, failed = part.get("is_error") is True, _CODE.match(text)
            code = int(failed[1]) if failed is not None else None if is_error else 0
            denied = next((who for words, who in _DENIED.items() if text.startswith(words)), "") if is_error else ""
            found.ended_with(part.get("tool_use_id"), code, denied or by, is_denied=bool(denied))


def _task(found: Reading, id_: str, name: object, state: object) -> None:
    """Add the task *id_* with its name and state, or remove it."""
    known = found.tasks.get(id_)
    called = line(name, RECORD_NAME_CELLS) or (known[0] if known is not None else "")
    if state == "deleted":
        found.tasks.pop(id_, None)
    elif id_ and called and (known is not None or len(found.tasks) < MAX_CALL_TASKS):
        how_far = is_done_word(state) if isinstance(state, str) else known[1] if known is not None else False
        found.tasks[id_] = called, how_far


READER = Reader(locate, read, children=children)
