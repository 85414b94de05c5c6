"""
How a turn of Claude Code ended, and the call it asks a permission for, read from the end of its own transcript.

Its status file says `idle` after a finished turn, an interrupted one and a failed one alike. The transcript
(`projects/<directory>/<session>.jsonl` beside the status files) distinguishes them, about 0.1 s later. As seen in
2.1.329:

* finished: a `system` entry of subtype `turn_duration`, with the number of background agents it left running. Where
  `showTurnDuration` is off, it is a last `assistant` entry with `stop_reason` `end_turn`;
* failed: an `assistant` entry with `isApiErrorMessage`, and why: some errors only a login mends, some are a limit;
* interrupted, or a dialog dismissed: a `user` entry with a text that begins `[Request interrupted by user`.

While an agent of a turn that is over still runs, the status file keeps saying `busy`. Then only the number in
`turn_duration` shows that the turn is over. While it asks, the call is there without a result: an `assistant` entry
with a `tool_use`, and no `tool_result` of the same id behind it.

Undocumented, so an entry of another shape is no evidence. Bytes in, a value or None out. The caller reads at most
`TAIL_BYTES` from the end of the file (`reading`): a longer entry before the last ones is cut, which spoils that one
line.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import attrs

from tallylight.evidence.records.reading import BY_SETTINGS, entry_of, iso_epoch, table, tables
from tallylight.model.details import REPORTED_DENIALS
from tallylight.model.dialog import SUBJECT_CELLS
from tallylight.model.prose import last_question
from tallylight.model.status import Kind, Status
from tallylight.model.tool_call import tool_call
from tallylight.wire import values
from tallylight.wire.cli_agent import LIMITS
from tallylight.wire.text import middle, sanitise

#: Only lines with one of these are parsed.
_DECISIVE = (b'"turn_duration"', b'"isApiErrorMessage"', b"[Request interrupted", b'"end_turn"')
#: Agents left running, at most; a larger number is no count of agents.
_MAX_AGENTS = 9_999
_LOGIN_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed", "cloud_credential_error"})
#: Lines with one of these belong to the conversation.
_CONVERSATION = (b'"type":"user"', b'"type":"assistant"')
_MAX_KIND_CHARS = 64
_MAX_TOOL_ID_CHARS = 128
#: Entries with calls or results that are read.
_MAX_CALLS = 64
#: How a denial begins that no person gave, and who gave it.
DENIED_UNASKED = {
    "Permission for this action ": "auto mode denied it",
    "Permission to ": BY_SETTINGS,
    "Claude requested permissions ": "nobody allowed it",
}
_INTERRUPTED = "[Request interrupted by user"
_ENDING_MESSAGE_CELLS = 200
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")


@attrs.frozen
class Ending:
    """
    How a turn ended, by *status*:

    * `done`, with kind `question` if its last words ask one, or if its last calls were denied unasked;
    * `background`, with the number of agents still running;
    * `error`, with its first line;
    * `waiting`, for a login or for the end of a limit;
    * `idle`, if a person broke it off.
    """

    status: Status
    message: str = ""
    background: int = 0
    kind: Kind | None = None


def path_parts(cwd: str, session: str) -> tuple[str, str, str] | None:
    """
    Return the path, below Claude's directory, of the transcript of *session*, started in *cwd*; None for an unusual id.
    """
    if not _SESSION.fullmatch(session):
        return None
    return "projects", re.sub(r"[^A-Za-z0-9]", "-", cwd), f"{session}.jsonl"


def ending(tail: bytes, after: float, until: float = math.inf) -> Ending | None:
    """
    Return how the turn that began at *after* (seconds since the epoch) ended, by the last lines of its transcript.

    None while the transcript does not show it: the turn goes on, or was broken off before anything was written. An
    entry after *until* is of an earlier turn: the clock has been set back since.
    """
    for entry, at in _from_end(tail, _DECISIVE):
        if at is None or entry.get("isSidechain") is True:
            continue
        if not after <= at <= until:
            return None
        found = _ending_of(entry)
        if found is not None and found.status is Status.DONE and (asked := last_question(_last_reply(tail))):
            return Ending(Status.DONE, sanitise(asked, cells=_ENDING_MESSAGE_CELLS), kind=Kind.QUESTION)
        if found is not None and found.status is Status.DONE:
            message = refused(tail, after)
            return Ending(Status.DONE, message, kind=Kind.QUESTION) if message else found
        if found is not None:
            return found
    return None


def refused(tail: bytes, after: float) -> str:
    """Return what to say where the last `REPORTED_DENIALS` calls since *after* were denied unasked; else empty."""
    count, is_denied = 0, True
    for entry, at in itertools.islice(_from_end(tail, (b'"tool_result"',)), _MAX_CALLS):
        if at is None or at < after or not is_denied:
            break
        for part in tables(table(entry, "message").get("content")) if entry.get("isSidechain") is not True else ():
            if part.get("type") == "tool_result":
                is_denied = is_denied and values.text(part.get("content"), 64).startswith(tuple(DENIED_UNASKED))
                count += is_denied
    return f"{count} calls in a row were denied without asking you" if count >= REPORTED_DENIALS else ""


def left_running(tail: bytes, after: float) -> int:
    """
    Return how many agents still run of the turn that began at *after* (seconds since the epoch), and is over.

    0 while the turn goes on: then entries of the conversation are behind its end.
    """
    for entry, at in _from_end(tail, (b'"turn_duration"', *_CONVERSATION)):
        if entry and entry.get("isSidechain") is not True:
            found = _ending_of(entry) if entry.get("type") == "system" else None
            return found.background if found is not None and at is not None and at >= after else 0
    return 0


def _from_end(tail: bytes, words: tuple[bytes, ...]) -> Iterator[tuple[dict[str, Any], float | None]]:
    """Yield the entries in lines with one of *words*, the last first, with their times; empty ones if cut."""
    for line in reversed(tail.split(b"\n")):
        if any(word in line for word in words):
            entry = entry_of(line)
            yield entry, iso_epoch(entry.get("timestamp"))


def _last_reply(tail: bytes) -> str:
    """Return the last words of the agent to the person."""
    for line in reversed(tail.split(b"\n")):
        if b'"assistant"' in line and b'"text"' in line:
            entry = entry_of(line)
            if entry.get("type") == "assistant" and entry.get("isSidechain") is not True:
                return _first_text(entry)
        elif b'"user"' in line and b'"tool_result"' not in line and b'"content"' in line:
            break
    return ""


def pending_call(tail: bytes, cwd: str, after: float) -> str:
    """
    Return the one tool call since *after* (seconds since the epoch) without a result, in one line, sanitised.

    *cwd* is the agent's working directory. "" where there is none, or more than one: then the permission may be for
    any.
    """
    answered: set[str] = set()
    waiting: list[str] = []
    for entry, at in itertools.islice(_from_end(tail, (b'"tool_use"', b'"tool_result"')), _MAX_CALLS):
        if at is None or at < after:
            break  # cut off, or of an earlier dialog: entries before it are older
        if entry.get("isSidechain") is True:
            continue
        for part in tables(table(entry, "message").get("content")):
            if part.get("type") == "tool_result":
                answered.add(values.text(part.get("tool_use_id"), _MAX_TOOL_ID_CHARS))
            elif part.get("type") == "tool_use" and values.text(part.get("id"), _MAX_TOOL_ID_CHARS) not in answered:
                waiting.append(tool_call(part.get("name"), part.get("input"), cwd))
    return middle(waiting[0], SUBJECT_CELLS) if len(waiting) == 1 else ""


def is_limit(entry: dict[str, Any]) -> bool:
    """Return whether the entry of an API error reports a usage limit."""
    return values.text(entry.get("error"), _MAX_KIND_CHARS) in LIMITS


def _ending_of(entry: dict[str, Any]) -> Ending | None:
    """Return the end of a turn that *entry* records; None if it records none."""
    kind = entry.get("type")
    if kind == "system" and entry.get("subtype") == "turn_duration":
        count = values.integer(entry.get("pendingBackgroundAgentCount"), 1, _MAX_AGENTS)
        return Ending(Status.BACKGROUND, background=count) if count is not None else Ending(Status.DONE)
    if kind == "assistant" and entry.get("isApiErrorMessage") is True:
        message = sanitise(_first_text(entry).split("\n", 1)[0], cells=_ENDING_MESSAGE_CELLS)
        if values.text(entry.get("error"), _MAX_KIND_CHARS) in _LOGIN_ERRORS:
            return Ending(Status.WAITING, message, kind=Kind.AUTH)
        if is_limit(entry):
            return Ending(Status.WAITING, message, kind=Kind.LIMIT)
        return Ending(Status.ERROR, message)
    if kind == "assistant" and table(entry, "message").get("stop_reason") == "end_turn":
        return Ending(Status.DONE)
    if kind == "user" and _first_text(entry).startswith(_INTERRUPTED):
        return Ending(Status.IDLE)
    return None


def _first_text(entry: dict[str, Any]) -> str:
    """Return the first text in the message of *entry*."""
    content = table(entry, "message").get("content")
    if isinstance(content, str):
        return content
    return next((part["text"] for part in tables(content) if isinstance(part.get("text"), str)), "")
