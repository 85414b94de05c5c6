"""
OSC 26, Otty's agent protocol: `OSC 26 ; Key=Value ; … ST`. https://docs.otty.sh/vt/osc/osc-26

In: one sequence. Out of `decode`: an `Update` of validated pairs, or DecodeError. Frames are partial, so each pane has
an `Accumulator`, which merges updates and returns Reports. A frame has at most 8 KiB and 64 pairs, a value 4 KiB. A
pane has at most sixteen user variables, each with a name of 64 characters and a text of 256 bytes.

A bad value costs only its own pair and never clears the old one. An empty value clears; the last of two equal keys
wins. Keys are case-sensitive: another terminal uses 26 with lower-case keys, which are unknown here. A `Status` that
the page does not list leaves the status before it and is shown as detail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source, progress
from tallylight.model.status import Kind, Status
from tallylight.wire import base64, osc1338, scanner
from tallylight.wire.frame import Update, check_ours, update, utf8
from tallylight.wire.text import is_ascii_id, sanitise

NUMBER = 26
#: The page gives no limits; these hold the longest task list we would ever show.
FRAME_LIMIT = 8192
VALUE_LIMIT = 4096
PAIR_LIMIT = 64
TASK_LIMIT = 64

#: The words of `Status`. `finished` withdraws.
STATUSES: dict[str, tuple[Status | None, Kind | None]] = {
    "idle": (Status.IDLE, None),
    "running": (Status.WORKING, None),
    "awaiting-approval": (Status.WAITING, Kind.PERMISSION),
    "awaiting-input": (Status.WAITING, Kind.INPUT),
    "error": (Status.ERROR, None),
    "finished": (None, None),
}
#: Only a receiver may conclude it: no sender may claim it.
_DOWN = "down"
#: The key for a `Status` that is none of these. No key on the wire has a space.
_WORD = "Status word"
#: The keys that `finished` clears. The agent and its resume command stay.
LIVE = ("Status", _WORD, "Detail", "TaskList", "TaskProgress")
WORD_CELLS = 64
_VAR = "UserVar:"
RULE = "osc-26"

#: A text that is taken for a word, though it may be valid base64, too.
_TOKEN = re.compile(r"[A-Z]?[a-z0-9][a-z0-9-]{0,62}")
#: English for some words of `Detail`; all others are shown as they are.
_PLAIN = {
    "api-fail": "the API fails",
    "api-error": "the API fails",
    "rate-limit": "its rate is limited",
    "edit-file": "edit a file",
    "read-file": "read a file",
    "run-command": "run a command",
}
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def decode(sequence: scanner.Sequence) -> Update:
    """Read one frame; `not-ours` if it holds nothing of this protocol, `too-long` or `malformed` otherwise."""
    check_ours(sequence, NUMBER, FRAME_LIMIT)
    tokens = utf8(sequence.body).split(";", PAIR_LIMIT)[:PAIR_LIMIT]
    return update(NUMBER, tokens, _value)


class Accumulator:
    """The OSC 26 values of one pane."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._has_report = False

    def merge(self, update: Update) -> Report | None:
        """
        Take in an update; return the report of the pane's agent, or None while there is none.

        A report needs an agent: the page's own examples send a status before the agent's name. An agent without a
        status is `active`. At `finished`, or when the agent is cleared, the report withdraws the record, once; after
        `finished` a status or a name brings it back. Another agent's name clears all values, wherever in the frame it
        is: that agent must inherit neither status nor session.
        """
        self._take(update.pairs)
        values, get = self._values, self._values.get
        agent = get("CodeAgent", "")
        status, kind = None, None
        if agent and get("Status"):
            status, kind = STATUSES[values["Status"]]
            if status is None:
                for key in LIVE:
                    values.pop(key, None)
        elif agent and (self._has_report or "CodeAgent" in dict(update.pairs)):
            status = Status.ACTIVE
        elif not self._has_report:
            return None
        self._has_report = status is not None
        live = values if self._has_report else {}
        detail = live.get("Detail", "")
        return Report(
            source=Source.PROTOCOL,
            rule=RULE,
            status=status,
            kind=kind,
            agent=agent,
            session=get("SessionId", ""),
            title=get("SessionTitle", ""),
            project=get("ProjectFolder", "").rstrip("/").rpartition("/")[2],
            cwd=get("ProjectFolder", ""),
            worktree=get("WorkTree", ""),
            mode=get("Mode", ""),
            detail=sanitise(": ".join(filter(None, (live.get(_WORD), _PLAIN.get(detail, detail))))),
            vars=tuple((key.removeprefix(_VAR), values[key]) for key in self._vars),
            progress=progress(live.get("TaskProgress", "")),
            tasks=tuple(filter(None, live.get("TaskList", "").split("\n"))),
            # Split before any placeholder is filled: a session id can never become two arguments.
            resume=_with_agent(agent, get("MethodResume", "")),
            fork=_with_agent(agent, get("MethodFork", "")),
        )

    def _take(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Apply *pairs*: empty values clear, and another agent's name clears everything before."""
        values = self._values
        before = values.get("CodeAgent")
        if before and dict(pairs).get("CodeAgent", before) != before:
            values.clear()
        for key, value in pairs:
            if key == "Status":
                values[_WORD] = value if value not in STATUSES else ""
            if not value:
                values.pop(key, None)
            elif self._keeps(key) and (key != "Status" or value in STATUSES):
                values[key] = value

    @property
    def _vars(self) -> list[str]:
        return [key for key in self._values if key.startswith(_VAR)]

    def _keeps(self, key: str) -> bool:
        """Return whether there is room for *key*."""
        return key in self._values or not key.startswith(_VAR) or len(self._vars) < osc1338.MAX_VARS


def _with_agent(agent: str, arguments: str) -> tuple[str, ...]:
    """Return the argument list of a method, with the agent's name added in front if it is missing."""
    words = arguments.split(" ")
    if not (agent and arguments):
        return ()
    return tuple(words) if words[0] == agent else (agent, *words)


def _value(key: str, value: str) -> str | None:
    """Return the decoded value of one pair; None drops the pair."""
    read = _READERS.get(key) or (partial(_var, key.removeprefix(_VAR)) if key.startswith(_VAR) else None)
    if read is None or len(value) > VALUE_LIMIT:
        return None
    try:
        return read(value) if value else ""
    except DecodeError:
        return None


def _label(cells: int, value: str) -> str | None:
    # A value of invisible characters alone would clear the key: it is a bad value instead.
    return sanitise(_base64(value), cells=cells).strip() or None


def _base64(value: str) -> str:
    return base64.decode_text(value.encode("utf-8"))


def _read_status(value: str) -> str | None:
    """Return *value* if it is a known word; else a sanitised text for display, None for a forbidden word."""
    word = _word(value)
    # A word that only becomes a known one by sanitising must not count as that.
    return value if value in STATUSES else None if word in STATUSES or word == _DOWN else word


def _word(value: str) -> str | None:
    return sanitise(value, cells=WORD_CELLS).strip() or None


def _read_detail(value: str) -> str | None:
    """Return the text of `Detail`, which is sent in base64 or as a plain word."""
    # The page says "b64 / token", and `thinking` is both. Its words are open: one is `tool:Bash`, and one is `Step`,
    # which is base64 of "J" and a Hebrew letter. Nothing may ever depend on the text.
    try:
        text = "" if _TOKEN.fullmatch(value) else _base64(value)
    except DecodeError:
        text = ""
    if not text or _CONTROL.search(text):
        return _word(value)
    return sanitise(text).strip() or None


def _var(name: str, value: str) -> str | None:
    found = osc1338.var(name, _base64(value))
    return found[1] if found is not None else None


def _read_tasks(value: str) -> str | None:
    """Return the tasks in *value*, one a line, sanitised; None without any."""
    lines = [sanitise(line) for line in _base64(value).splitlines()[:TASK_LIMIT]]
    return "\n".join([line for line in lines if line.strip()]) or None


def _read_arguments(value: str) -> str | None:
    """Return the arguments in *value*; None if there are none, or they could not be shown as they are."""
    text = _base64(value)
    words = " ".join(text.split())
    # An argument is executed, not shown: one that sanitising would change is refused.
    return words if words and words == sanitise(text, cells=1024).strip() else None


_READERS: dict[str, Callable[[str], str | None]] = {
    "CodeAgent": lambda value: value if is_ascii_id(value) else None,
    "Status": _read_status,
    "TaskProgress": lambda value: value if progress(value) else None,
    # One more than the gate lets pass: an id that is too long must not become another id.
    "SessionId": partial(_label, 257),
    "SessionTitle": partial(_label, 256),
    "ProjectFolder": partial(_label, 1024),
    "WorkTree": partial(_label, 1024),
    "Mode": partial(_label, 64),
    "TaskList": _read_tasks,
    "MethodResume": _read_arguments,
    "MethodFork": _read_arguments,
    "Detail": _read_detail,
}
