"""
Kimi Code's session: `~/.kimi-code/sessions/<workspace>/<session>/agents/main/wire.jsonl`, one JSON object a line.

As seen in 2.1.0. `workspaces.json` has the `<workspace>` of a directory. A session begins with its first prompt. The
process is not recorded: it belongs to the one that worked in the directory when it began. A turn begins with
`turn.prompt` and ends with `turn.ended` and its reason. Questions are recorded from `interaction.request` to
`interaction.resolved`: turns are exact. The window of the model is not recorded. Subagents have files of their own;
their start and their answer are known by the tool call.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallylight.evidence.records.locate import Candidate, Facts, own_record, written
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, entry_of, epoch, in_lines, table, tables, target, word
from tallylight.model.status import Kind, Status
from tallylight.wire import values

_SESSION = re.compile(r"session_[A-Za-z0-9-]{1,64}")
_WORKSPACE = re.compile(r"[A-Za-z0-9._-]{1,160}")
_WORDS = (b'"turn.', b'"context.append_loop_event"', b'"interaction.', b'"token_counting.', b'"llm.request"')
#: All that is searched is at the start of a line.
_TYPE_BYTES = 64
#: Names of errors that mean a limit.
_LIMITS = ("APIProviderRateLimitError", "APIProviderQuotaExhaustedError")
_KINDS = {"approval": Kind.PERMISSION, "question": Kind.QUESTION}


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the session of this process; None if uncertain."""
    top = facts.environ.get("KIMI_CODE_HOME") or posixpath.join(facts.home, ".kimi-code")
    known = table(entry_of(places.head(posixpath.join(top, "workspaces.json"))), "workspaces")
    workspace = next((name for name, about in known.items() if table(about).get("root") == facts.cwd), "")
    if not _WORKSPACE.fullmatch(workspace) or workspace.startswith("."):
        return None
    folder = posixpath.join(top, "sessions", workspace)
    found = [
        Candidate(Place(path), match[0], at)
        for path, match, head in written(folder, _SESSION, facts, places, "/agents/main/wire.jsonl")
        if (at := epoch(head.get("created_at"))) is not None
    ]
    return own_record(facts, found, places)


def _take(found: Reading, entry: dict[str, Any], at: float | None) -> bool:
    """Add *entry*, written *at*, to the reading; return whether it is of a known kind."""
    match entry.get("type"):
        case "turn.prompt":
            found.began(at)
        case "turn.ended":
            reason, error = entry.get("reason"), table(entry, "error")
            if reason == "failed" and error.get("name") in _LIMITS:
                found.limited(at, error.get("message"))
            elif reason == "failed":
                found.ended(Status.ERROR, at, error.get("message"))
            else:
                found.ended(Status.IDLE if reason == "cancelled" else Status.DONE, at)
        case "interaction.request":
            _asked(found, entry, at)
        case "interaction.resolved":
            found.settled(entry.get("id"), at)
        case "context.append_loop_event":
            _event(found, table(entry, "event"), at)
        case "token_counting.measured":
            found.counted(entry.get("tokens"))
        case "llm.request":
            found.named(entry.get("model"))
        case _:
            return False
    return True


read = in_lines(_take, _WORDS, _TYPE_BYTES, "time")


def _asked(found: Reading, entry: dict[str, Any], at: float | None) -> None:
    """Note a question to the person, or a request for permission."""
    request = table(entry, "request")
    found.session = word(request.get("sessionId")) or found.session
    question = next(tables(request.get("questions")), {}).get("question")
    found.asks(entry.get("id"), at, _KINDS.get(values.text(entry.get("kind"), 64), Kind.INPUT), question)
    name = request.get("toolName") or ("AskUserQuestion" if question else None)
    found.called(entry.get("toolCallId"), name, question or target(table(request, "display")))


def _event(found: Reading, event: dict[str, Any], at: float | None) -> None:
    """Add an event of the loop: a part of the reply, a call, or its result."""
    match event.get("type"):
        case "content.part":
            part = table(event, "part")
            if part.get("type") == "text":
                found.replied(part.get("text"))
        case "tool.call":
            arguments = table(event, "args")
            if event.get("name") == "TodoList" and isinstance(arguments.get("todos"), list):
                found.planned((todo.get("title"), todo.get("status")) for todo in tables(arguments["todos"]))
            elif event.get("name") == "Agent":
                found.started_child(event.get("toolCallId"), arguments.get("description"))
            found.called(event.get("toolCallId"), event.get("name"), target(arguments))
            found.runs(event.get("toolCallId"), event.get("name"), arguments, at)
        case "tool.result":
            id_, result = event.get("toolCallId"), table(event, "result")
            failed = result.get("isError") is True
            found.took(id_, result.get("output"), is_error=failed)
            if id_ in found.children:
                found.started_child(id_, None, Status.ERROR if failed else Status.DONE)
            found.answered(id_)


READER = Reader(locate, read, is_exact=True, wants_others=True)
