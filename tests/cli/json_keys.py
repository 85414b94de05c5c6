"""
The JSON that commands print: every key of it, as docs/json.md has them, and docs/json.schema.json for programs.

What the records of a snapshot are made of, they say themselves (`snapshot.values.key`); what a command puts around them
stands here. `python -m tests.cli.json_keys` writes both files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from tallylight.model.beside import Checks
from tallylight.model.status import URGENCY, Kind, Status
from tallylight.snapshot.entries import REPORT_TEXTS
from tallylight.snapshot.labels import Label
from tallylight.snapshot.schema import (
    AnswerEntry,
    ConversationEntry,
    LosingEntry,
    Pane,
    ReasonEntry,
    RecordEntry,
)

ROOT = Path(__file__).resolve().parents[2]
Schema = dict[str, Any]


class Key(NamedTuple):
    """One key: what JSON Schema says of its value, what it means, and whether it is always there."""

    schema: Schema
    about: str
    is_always: bool = True


class Part(NamedTuple):
    """An object: its title on the page, what it is, and its keys."""

    title: str
    about: str
    keys: dict[str, Key]


def _of(cls: type) -> dict[str, Key]:
    """The keys of a record, by how its fields are declared."""
    found = {}
    for field in attrs.fields(cls):
        if (said := field.metadata.get("key")) is not None:
            schema = _refers(said.form.schema)
            schema = _or_null(schema) if field.default is None else schema
            found[said.name or field.name] = Key(schema, said.about, said.is_always)
    return found


def _refers(schema: Schema) -> Schema:
    if "record" in schema:
        return _to(_RECORDS[schema["record"]])
    return schema | {"items": _refers(schema["items"])} if "items" in schema else schema


def _to(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TRUTH: Schema = {"type": "boolean"}
_STATUS: Schema = {"enum": [status.value for status in Status]}
COUNTED = [status.value for status in URGENCY if status is not Status.ACTIVE]
_VERSION = Key({"const": 1}, "a key that goes or changes its meaning makes it 2; a new key does not")
#: `label` has lost its colour and its pin.
_SECOND = Key({"const": 2}, "a key that goes or changes its meaning makes it 3; a new key does not")
_RECORDS: dict[type, str] = {
    Pane: "pane",
    Label: "label",
    ReasonEntry: "reason",
    RecordEntry: "record",
    LosingEntry: "losing",
    AnswerEntry: "answer",
    ConversationEntry: "conversation",
}
_ADDRESS = Key(_TEXT, "the pane, among all terminals: `kitty-4711:3`")
_HOST = Key(_TEXT, "the host that it is in: `kitty-4711`")
_PLACED = {
    "address": _ADDRESS,
    "host": _HOST,
    "lit": Key(_TRUTH, "it has a light"),
    "pane": Key(_to("pane"), "the pane"),
}


def _line(about: str, event: str, keys: dict[str, Key], *, is_counted: bool = True) -> Part:
    """A line of `tally watch`."""
    head = {
        "version": _VERSION,
        "at": Key(_NUMBER, "seconds since the epoch"),
        "event": Key({"const": event}, "what the line tells"),
    }
    counts: Schema = {"type": "object", "additionalProperties": False, "required": COUNTED}
    counted = {
        "counts": Key(
            counts | {"properties": dict.fromkeys(COUNTED, _COUNT)},
            "how many panes have each status, of those that have a light",
        ),
        "text": Key(_TEXT, "the same, short: `!2 ●1`"),
    }
    return Part(f"`tally watch`: `{event}`", about, head | (counted if is_counted else {}) | keys)


PARTS: dict[str, Part] = {
    "status": Part(
        "`tally status --json`",
        "One object.",
        {
            "version": _SECOND,
            "hosts": Key(_list(_TEXT), "the hosts that run: `kitty-4711`"),
            "machines": Key(
                {"type": "object", "additionalProperties": _TRUTH},
                "other machines by their names, and whether each is there",
                is_always=False,
            ),
            "panes": Key(_list(_to("row")), "the panes, the one that needs you most first"),
            "problems": Key(_list(_TEXT), "what could not be read, and why"),
            "waited_s": Key(_NUMBER, "in how many seconds of today an agent waited for you", is_always=False),
        },
    ),
    "row": Part(
        "A pane of `tally status`",
        "The keys of a pane, below, and these. `tally why --json` prints one, without `label` and `beside`.",
        {
            "address": _ADDRESS,
            "host": _HOST,
            "label": Key(_to("label"), "what you gave its conversation"),
            "beside": Key(_to("beside"), "with `-o wide`: what stands beside its agent", is_always=False),
        },
    ),
    "wait": Part(
        "`tally wait --json`",
        "One object a line for each pane that was waited for.",
        {
            "version": _VERSION,
            "address": _ADDRESS,
            "state": Key(
                {"enum": [*_STATUS["enum"], "gone", "no-turn"]},
                "its status, or `gone`: it was closed or its agent ended, or `no-turn`: no turn followed the text",
            ),
            "pane": Key(_or_null(_to("pane")), "what was last known of it; null if it was never seen"),
        },
    ),
    "read": Part(
        "`tally read --json`",
        "One object, whatever happens. What was not asked for, or is not there, is null.",
        {
            "version": _VERSION,
            "address": Key(_or_null(_TEXT), "the pane; null if there is none of that name"),
            "status": Key(_or_null(_STATUS), "what it shows"),
            "kind": Key(_or_null({"enum": [kind.value for kind in Kind]}), "what it waits for"),
            "agent": Key(_or_null(_TEXT), "the name of the agent: `claude`"),
            "question": Key(_or_null(_to("question")), "what it asks"),
            "reply": Key(
                _or_null(_TEXT),
                "the text of its last reply, or of what it waits for where its screen shows no question to be read",
            ),
            "screen": Key(_or_null(_list(_TEXT)), "the rows of its screen, without the empty ones at the end"),
            "refused": Key(_or_null(_TEXT), "the [rule](scripting.md#exit-codes) by which nothing is told"),
            "text": Key(_or_null(_TEXT), "the same as a sentence"),
        },
    ),
    "send": Part(
        "`tally send --json`",
        "One object, also of `tally interrupt --json`. `tally send --wait --json` prints that of `tally wait`.",
        {
            "version": _VERSION,
            "address": Key(_or_null(_TEXT), "the pane; null if there is none of that name"),
            "at": Key(_or_null(_NUMBER), "when the text was sent, for `tally wait --since`"),
            "done": Key(_or_null(_TEXT), "what was done"),
            "refused": Key(_or_null(_TEXT), "the [rule](scripting.md#exit-codes) by which nothing was typed"),
            "text": Key(_TEXT, "what was done, or why not, as a sentence"),
        },
    ),
    "question": Part(
        "A question of `tally read`",
        "",
        {
            "id": Key(_TEXT, "what tells this very question, for `tally send --answer`"),
            "question": Key(_TEXT, "what is asked, one line"),
            "rows": Key(_list(_TEXT), "the dialog above its choices"),
            "choices": Key(_list(_to("choice")), "its answers"),
            "missing": Key(_or_null(_TEXT), "why it [cannot be answered](actions.md#shown-whole-or-not-answered)"),
        },
    ),
    "choice": Part(
        "A choice of `tally read`",
        "",
        {"number": Key(_COUNT, "by which it is chosen"), "label": Key(_TEXT, "its text")},
    ),
    "watch_state": _line(
        "The first line: the whole state.",
        "state",
        {
            "hosts": Key(_list(_TEXT), "the names of all hosts"),
            "panes": Key(_list(_to("placed")), "all panes, the one that needs you most first"),
        },
    ),
    "placed": Part("A pane of `tally watch`", "", _PLACED),
    "watch_pane": _line(
        "A pane is new or has changed.",
        "pane",
        {"before": Key(_or_null(_STATUS), "its status before; null if it is new"), **_PLACED},
    ),
    "watch_gone": _line("A pane is gone.", "gone", {"address": _ADDRESS}),
    "watch_host": _line(
        "A host came or went.", "host", {"host": Key(_TEXT, "which"), "up": Key(_TRUTH, "it is there")}
    ),
    "watch_broker": _line(
        "With `--broker`: it came or went.",
        "broker",
        {"up": Key(_TRUTH, "it is there"), "problem": Key(_TEXT, "why it is not")},
        is_counted=False,
    ),
    "watch_machine": _line(
        "With `--broker`: a machine came or went.",
        "machine",
        {"machine": Key(_TEXT, "its name"), "up": Key(_TRUTH, "it is there")},
        is_counted=False,
    ),
    "pane": Part("A pane", "Of each pane there are all of these.", _of(Pane)),
    "label": Part("`label`", "What you gave a conversation in a list.", _of(Label)),
    "reason": Part("`reason`", "Why a pane shows what it shows.", _of(ReasonEntry)),
    "record": Part(
        "An entry of `records`",
        "",
        _of(RecordEntry)
        | {name: Key(_TEXT, "of its report, if it has any", is_always=False) for name in REPORT_TEXTS}
        | {
            "progress": Key(_TEXT, "how far it is: `3/7`", is_always=False),
            "background": Key(_TEXT, "how many background tasks or subagents still run", is_always=False),
        },
    ),
    "losing": Part("An entry of `losing`", "", _of(LosingEntry)),
    "answer": Part("An entry of `answers`", "[How a light is decided](trust.md) explains them.", _of(AnswerEntry)),
    "conversation": Part(
        "`conversation`", "Of an agent whose process the host itself saw there.", _of(ConversationEntry)
    ),
    "beside": Part(
        "`beside`",
        "What is not known is null or empty.",
        {
            "branch": Key(_TEXT, "the branch; the short commit where none is checked out"),
            "is_detached": Key(_TRUTH, "no branch is checked out"),
            "worktree": Key(_TEXT, "the name of a worktree that git has linked"),
            "changes": Key(_or_null(_to("changes")), "what is not committed or not pushed"),
            "pull_request": Key(_or_null(_to("pull_request")), "the open pull request of the branch"),
        },
    ),
    "changes": Part(
        "`changes`",
        "",
        {
            "added": Key(_COUNT, "lines of files that git knows"),
            "removed": Key(_COUNT, "the same"),
            "new": Key(_COUNT, "files and directories that git does not know"),
            "ahead": Key(_COUNT, "commits before the branch that it follows"),
            "behind": Key(_COUNT, "commits behind it"),
        },
    ),
    "pull_request": Part(
        "`pull_request`",
        "",
        {
            "number": Key(_COUNT, "its number"),
            "checks": Key({"enum": [one.value for one in Checks]}, "what its checks come to"),
        },
    ),
}


def schema() -> Schema:
    """One definition for each object, which has no other keys than these."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The JSON of tally status, wait, read, send and watch",
        "definitions": {name: _object(_keys(name)) for name in PARTS},
    }


def _keys(name: str) -> dict[str, Key]:
    return PARTS[name].keys | (PARTS["pane"].keys if name == "row" else {})


def _object(keys: dict[str, Key]) -> Schema:
    return {
        "type": "object",
        "properties": {name: key.schema | {"description": key.about} for name, key in keys.items()},
        "required": [name for name, key in keys.items() if key.is_always],
        "additionalProperties": False,
    }


def page() -> str:
    """docs/json.md."""
    parts = [
        "# JSON\n",
        "What `tally status`, `tally wait`, `tally read`, `tally send` and `tally watch` print for programs. Times are "
        "seconds since the epoch.\nTexts are as programs wrote them, with control characters escaped by JSON: sanitise "
        "them before you print them.\nKeys and events may be added; none goes or changes its meaning while `version` "
        "is the same.\n\n"
        "The same for programs is a [JSON Schema](json.schema.json), with a definition for each object.\n",
    ]
    for part in PARTS.values():
        parts += [f"## {part.title}\n", *([f"{part.about}\n"] if part.about else [])]
        rows = [f"| `{name}` | {_words(key)} | {key.about} |" for name, key in part.keys.items()]
        parts.append("\n".join(["| key | value | what |", "| --- | --- | --- |", *rows, ""]))
    return "\n".join(parts)


def _words(key: Key) -> str:
    words = _value(key.schema)
    return words if key.is_always else f"{words}, or not there"


def _value(schema: Schema) -> str:
    match schema:
        case {"anyOf": [inner, _]}:
            return f"{_value(inner)}, or null"
        case {"$ref": name}:
            title = PARTS[name.rpartition("/")[2]].title
            anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            return f"[{title[0].lower()}{title[1:]}](#{anchor})"
        case {"enum": words}:
            return ", ".join(f"`{word}`" for word in words if word)
        case {"const": word}:
            return f"`{word}`"
        case {"type": "array", "items": items}:
            return f"list: {_value(items)}"
        case {"type": "integer", "maximum": most}:
            return f"0 to {most}"
        case {"type": kind}:
            return {"string": "text", "boolean": "true or false"}.get(kind, kind)
    raise ValueError(schema)


def files() -> dict[Path, str]:
    """Both files, and what is to be in them."""
    return {
        ROOT / "docs/json.md": page(),
        ROOT / "docs/json.schema.json": json.dumps(schema(), indent=1, ensure_ascii=False) + "\n",
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, "utf-8")
