"""
OSC 1338, the status of an agent: `OSC 1338 ; key=value ; … ST`. https://github.com/bjhengen/vibeflow

In: one sequence, or the payload alone, as the value of the `tally` user variable. Out: a Report, or
DecodeError. At most 4096 bytes are looked at. `state`, `tool` and `project` are read exactly as vibeflow reads
them: a bad one costs the frame.

vibeflow's own parser ignores our extensions: the states `idle`, `error`, `background` and `clear`, which withdraws,
and some keys. These are `id kind session title cwd worktree mode message what detail progress tasks vars background
resume fork via`. A bad value of those is dropped alone, except for `id`: the report would be about another record.
`what` is kept only with `waiting`. `resume` and `fork` are argument lists, the program first, a word a line (`%0A`).
`tasks` has one task a line, and `vars` one named text a line, `name=text`. `via` names the protocol that a relay read.
On a `clear` it may say that the program has ended while it waited. Other programs' sequences of this number have no
known `state`.

The variable has one more form: `resume` and `cwd` without a `state` say how to start the program again, and have no
status. A reader that does not know this form sees a frame without a state.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tallylight.model import attributes
from tallylight.model.dialog import SUBJECT_CELLS
from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source, progress
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.wire import pairs
from tallylight.wire.frame import check_length, utf8
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import middle, sanitise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NUMBER = 1338
#: vibeflow's limit for a whole frame, introducer and terminator included.
FRAME_LIMIT = 4096
#: The same for a payload that travels without its frame.
PAYLOAD_LIMIT = FRAME_LIMIT - len(b"\x1b]1338;\x07")

CLEAR = "clear"
STATUSES: dict[str, Status | None] = {status.value: status for status in Status if status not in CONCLUDED}
STATUSES[CLEAR] = None
#: The kinds of question, by status: a turn that is done may have ended with a question.
_KINDS: dict[Status | None, dict[str, Kind]] = {
    Status.WAITING: {kind.value: kind for kind in Kind},
    Status.DONE: {Kind.QUESTION.value: Kind.QUESTION},
}
_STRICT = ("state", "tool", "project")
#: The text fields by key: the report's field, and the most cells of it.
_TEXTS = {
    "tool": ("agent", 64),
    "project": ("project", 128),
    # One more than a session id may have: an id that is too long must not become another id.
    "session": ("session", 257),
    "title": ("title", 256),
    "cwd": ("cwd", 1024),
    "worktree": ("worktree", 1024),
    "mode": ("mode", 64),
    "message": ("message", 512),
    "what": ("what", SUBJECT_CELLS),
    "detail": ("detail", 256),
}
_METHODS = ("resume", "fork")
_EXTENDED = (*_TEXTS, *_METHODS, "id", "kind", "progress", "tasks", "vars", "background", "source", "via")
_KNOWN = frozenset({*_STRICT, *_EXTENDED})
#: The only other source that the variable may name: it raises attention and is trusted no further.
_NOTIFICATION = Source.NOTIFICATION.word
#: The keys that are left out, in this order, if a report is too long for one frame.
_EXPENDABLE = (
    *(
        "vars",
        "detail",
        "tasks",
        "message",
        "worktree",
        "cwd",
        "title",
        "mode",
        "fork",
        "resume",
        "what",
        "session",
        "project",
    ),
    "tool",
)
#: The most words of an argument list, and the most characters of a word.
MAX_LISTED_WORDS = 64
MAX_LISTED_WORD_CHARS = 500
#: The rule of a report in the user variable.
VARIABLE_RULE = "user variable"
#: The rules that `via` may name: those of the protocols that a relay reads.
SPOKEN = frozenset({"osc-7501", "osc-1338", "osc-26", "osc-21337", "osc-3008", "cli-agent", "terax"})
#: The `via` of a `clear` for a program that ended while it waited, without a report of its own.
EXIT = "exit"
#: The most named texts of an agent, the form of a name, and the most bytes of a text.
MAX_VARS = 16
VAR_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
MAX_VAR = 256
#: The most tasks of a list, and the most cells of a task.
MAX_LISTED_TASKS = 32
MAX_TASK = 96
ID = re.compile(r"[A-Za-z0-9._:@+-]{1,64}(?:/[A-Za-z0-9._:@+-]{1,64}){0,7}")
_COUNT = re.compile(r"[0-9]{1,4}")


def decode(sequence: Sequence) -> Report:
    check_length(sequence.raw, FRAME_LIMIT)
    text = utf8(sequence.payload)
    if sequence.number != NUMBER:
        raise DecodeError("not-ours", "not OSC 1338")
    return _report(text.partition(";")[2], "osc-1338")


def decode_payload(payload: str | bytes, *, rule: str = "osc-1338") -> Report:
    """
    Read the payload after `1338;`, as in the `tally` user variable.

    *rule* is for `tally why`. For the variable the protocol named in `via` takes its place.
    """
    data = payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else payload
    check_length(data, PAYLOAD_LIMIT)
    return _report(utf8(data), rule)


def decode_variable(value: str | None) -> Report | None:
    """Read the `tally` user variable. A deleted one (None) withdraws; return None for an unreadable value."""
    if value is None:
        return Report(source=Source.PROTOCOL, status=None, rule=VARIABLE_RULE)
    try:
        return decode_payload(value, rule=VARIABLE_RULE)
    except DecodeError:
        return None


@attributes.frozen
class Recipe:
    """The command with which a program wants to be started again, and its directory. An empty *argv* withdraws it."""

    argv: tuple[str, ...] = ()
    cwd: str = ""


def decode_recipe(value: str | None) -> Recipe | None:
    """Return the recipe in a value of the `tally` user variable; None if the value is another one."""
    data = (value or "").encode("utf-8", "surrogatepass")
    if not data.startswith(b"resume=") or len(data) > PAYLOAD_LIMIT:
        return None
    try:
        utf8(data)
        fields = {key: pairs.percent_decode(found).decode("utf-8") for key, found in pairs.split(data)}
    except (DecodeError, UnicodeDecodeError):
        return None
    if b"state" in fields:
        return None
    cwd, cells = fields.get(b"cwd", ""), _TEXTS["cwd"][1]
    # Cut or sanitised it would be another directory.
    is_whole = sanitise(cwd, cells=cells) == cwd
    return Recipe(_argument_list(fields[b"resume"]), cwd if is_whole else "")


def encode_recipe(recipe: Recipe) -> str:
    """Return the value that `decode_recipe` reads; a withdrawal if it is too long, for no part of it may be run."""
    payload = pairs.join([("resume", _lines(recipe.argv)), *([("cwd", recipe.cwd)] if recipe.cwd else ())])
    return (payload if len(payload) < PAYLOAD_LIMIT else b"resume=").decode("ascii")


def read_fields(payload: str) -> dict[str, str]:
    """Return the known pairs, decoded and not sanitised. Raise DecodeError for a bad value of a strict key."""
    fields: dict[str, str] = {}
    for token in payload.split(";"):
        key, equals, text = token.partition("=")
        if not equals or key not in _KNOWN:
            continue
        if "%" in text:
            try:
                text = pairs.percent_decode(text.encode("utf-8")).decode("utf-8")
            except (DecodeError, UnicodeDecodeError):
                if key in _STRICT or key == "id":
                    raise DecodeError("bad-encoding", f"the value of {key}") from None
                continue
        if key == "state" and text not in STATUSES:
            raise DecodeError("unknown-state", repr(text[:32]))
        if key == "id" and text and not ID.fullmatch(text):
            raise DecodeError("malformed", "an id is at most 8 names of A-Z a-z 0-9 . _ : @ + - with / between")
        fields[key] = text
    if "state" not in fields:
        raise DecodeError("missing-state")
    return fields


def encode_payload(report: Report, *, via: str = "") -> str:
    """
    Return the payload after `1338;` for *report*. *via* is the rule of the protocol it came by.

    Fields that do not fit are left out, the least important first; the state always fits.

    Raise ValueError for a report that the wire cannot express: `down`, or an invalid id.
    """
    if report.status not in STATUSES.values():
        raise ValueError(f"OSC 1338 has no word for status {report.status}")
    if report.id and not ID.fullmatch(report.id):
        raise ValueError(f"OSC 1338 has no word for the id {report.id[:80]!r}")
    fields = {key: getattr(report, name) for key, (name, _) in _TEXTS.items()}
    fields |= {
        "state": report.status.value if report.status else CLEAR,
        "id": report.id,
        "kind": report.kind.value if report.kind else "",
        "progress": f"{report.progress.done}/{report.progress.total}" if report.progress else "",
        "tasks": "\n".join(filter(None, report.tasks[:MAX_LISTED_TASKS])),
        "vars": "\n".join(map("=".join, report.vars)),
        "via": via if via in SPOKEN else "",
        "background": str(report.background) if report.background else "",
        "resume": _lines(report.resume),
        "fork": _lines(report.fork),
        "source": _NOTIFICATION if report.source is Source.NOTIFICATION else "",
    }
    told = ("progress", "background", "source", "tasks", "vars", "via")
    order = ("state", "tool", "project", "id", "kind", *list(_TEXTS)[2:], *_METHODS, *told)
    for dropped in range(len(_EXPENDABLE) + 1):  # pragma: no branch - with all of them gone it fits
        gone = _EXPENDABLE[:dropped]
        payload = pairs.join((key, fields[key]) for key in order if fields[key] and key not in gone)
        # Below the limit, not at it: the frame may end in ST, which is a byte longer than BEL.
        if len(payload) < PAYLOAD_LIMIT:
            break
    return payload.decode("ascii")


def _report(payload: str, rule: str) -> Report:
    """Return the report in *payload*; raise `DecodeError` for a bad value of a strict key."""
    fields = read_fields(payload)
    status = STATUSES[fields["state"]]
    is_waiting = status is Status.WAITING
    found: dict[str, Any] = {}
    for key, text in fields.items():
        name, cells = _TEXTS.get(key, (key, 0))
        if key == "what":
            found[name] = middle(text, cells) if is_waiting else ""
        elif cells:
            found[name] = sanitise(text, cells=cells)
        elif key in _READERS:
            found[name] = _READERS[key](text)
    via = fields.get("via", "")
    if rule == VARIABLE_RULE and (via in SPOKEN or (status is None and via == EXIT)):
        rule = via
    is_notification = is_waiting and fields.get("source") == _NOTIFICATION
    return Report(
        source=Source.NOTIFICATION if is_notification else Source.PROTOCOL,
        rule=rule,
        status=status,
        kind=_KINDS.get(status, {}).get(fields.get("kind", "")),
        **found,
    )


def _lines(words: tuple[str, ...]) -> str:
    """Return *words* one a line; empty if one of them has a line end."""
    return "" if any("\n" in word for word in words) else "\n".join(words)


def _tasks(text: str) -> tuple[str, ...]:
    """Return the tasks in *text*, one a line, sanitised and bounded."""
    if not text:
        return ()
    found = (sanitise(line, cells=MAX_TASK).strip() for line in text.split("\n")[:MAX_LISTED_TASKS])
    return tuple(task for task in found if task)


def var(name: str, text: str) -> tuple[str, str] | None:
    """Return a named text to show, sanitised; None for an invalid name, and for a text that is empty or too long."""
    shown = sanitise(text, cells=MAX_VAR).strip() if len(text.encode()) <= MAX_VAR else ""
    return (name, shown) if shown and VAR_NAME.fullmatch(name) else None


def _vars(text: str) -> tuple[tuple[str, str], ...]:
    found = (var(name, value) for name, _, value in (line.partition("=") for line in text.split("\n")[:MAX_VARS]))
    return tuple(dict(one for one in found if one is not None).items())


def _argument_list(text: str) -> tuple[str, ...]:
    """Return the words of an argument list, one a line; none if it is too long or could not be shown as it is."""
    words = text.split("\n") if text else []
    is_whole = len(words) <= MAX_LISTED_WORDS and all(
        len(word) <= MAX_LISTED_WORD_CHARS and word == sanitise(word, cells=2 * MAX_LISTED_WORD_CHARS) for word in words
    )
    return tuple(words) if is_whole else ()


#: The readers of all other fields, by key.
_READERS: dict[str, Callable[[str], object]] = {
    "id": str,
    "progress": progress,
    "tasks": _tasks,
    "vars": _vars,
    "background": lambda text: int(text) if _COUNT.fullmatch(text) else 0,
    **dict.fromkeys(_METHODS, _argument_list),
}
