"""
The JSON that commands print: every key, for docs/json.md and docs/json.schema.json.

The records of a snapshot declare their own keys (`snapshot.values.key`); the keys that a command adds are here.
`python -m tests.cli.json_keys` writes both files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from tallylight.model.status import URGENCY, Kind, Status
from tallylight.parts import index
from tallylight.snapshot import fields
from tallylight.snapshot.entries import REPORT_TEXTS
from tallylight.snapshot.labels import Label
from tallylight.snapshot.schema import (
    AnswerEntry,
    CollisionEntry,
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
        if (inner := field.metadata.get("inline")) is not None:
            found |= _of(inner)
        elif (said := field.metadata.get("key")) is not None:
            schema = _refers(said.form.schema)
            schema = _or_null(schema) if field.default is None else schema
            found[said.name or field.name] = Key(schema, said.about, said.is_always)
    return found


def _of_parts() -> dict[str, Key]:
    """The keys that our own parts declare."""
    found = {}
    for part in index.find():
        for name, field in part.part.fields.items():
            form = fields.form(field)
            schema = form.schema if form.read(None) is not None else _or_null(form.schema)
            found[name] = Key(schema, f"{field.about} (part `{part.part.name}`)", is_always=False)
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
_VERSION = Key({"const": 1}, "grows when a key is removed or changes its meaning, not for new keys")
#: `label` has lost its colour and its pin.
_SECOND = Key({"const": 2}, "grows when a key is removed or changes its meaning, not for new keys")
_RECORDS: dict[type, str] = {
    Pane: "pane",
    Label: "label",
    ReasonEntry: "reason",
    RecordEntry: "record",
    CollisionEntry: "collision",
    LosingEntry: "losing",
    AnswerEntry: "answer",
    ConversationEntry: "conversation",
}
_ADDRESS = Key(_TEXT, "the pane's address: `kitty-4711:3`")
_HOST = Key(_TEXT, "its host: `kitty-4711`")
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
        "event": Key({"const": event}, "the kind of line"),
    }
    counts: Schema = {"type": "object", "additionalProperties": False, "required": COUNTED}
    counted = {
        "counts": Key(
            counts | {"properties": dict.fromkeys(COUNTED, _COUNT)},
            "number of lit panes by status",
        ),
        "text": Key(_TEXT, "the counts in short: `!2 ●1`"),
    }
    return Part(f"`tally watch`: `{event}`", about, head | (counted if is_counted else {}) | keys)


PARTS: dict[str, Part] = {
    "status": Part(
        "`tally status --json`",
        "One object.",
        {
            "version": _SECOND,
            "hosts": Key(_list(_TEXT), "the running hosts: `kitty-4711`"),
            "machines": Key(
                {"type": "object", "additionalProperties": _TRUTH},
                "other machines by name: true if connected",
                is_always=False,
            ),
            "panes": Key(_list(_to("row")), "the panes, most urgent first"),
            "problems": Key(_list(_TEXT), "problems with reading hosts"),
            "waited_s": Key(_NUMBER, "seconds of today in which an agent waited for you", is_always=False),
        },
    ),
    "row": Part(
        "A pane of `tally status`",
        "The keys of a pane, below, and these. `tally why --json` prints one, without `label` and `beside`.",
        {
            "address": _ADDRESS,
            "host": _HOST,
            "label": Key(_to("label"), "your name for its conversation"),
            "beside": Key(_to("beside"), "with `-o wide`: branch and changes", is_always=False),
        },
    ),
    "wait": Part(
        "`tally wait --json`",
        "One object a line, for each pane.",
        {
            "version": _VERSION,
            "address": _ADDRESS,
            "state": Key(
                {"enum": [*_STATUS["enum"], "gone", "no-turn"]},
                "its status, or `gone`: it was closed or its agent ended, or `no-turn`: no turn followed the text",
            ),
            "pane": Key(_or_null(_to("pane")), "its last known state; null if it was never seen"),
        },
    ),
    "read": Part(
        "`tally read --json`",
        "One object, whatever happens. Absent parts, and those that you did not ask for, are null.",
        {
            "version": _VERSION,
            "address": Key(_or_null(_TEXT), "the pane; null if no pane has that name"),
            "status": Key(_or_null(_STATUS), "its status"),
            "kind": Key(_or_null({"enum": [kind.value for kind in Kind]}), "the kind of waiting"),
            "agent": Key(_or_null(_TEXT), "the agent: `claude`"),
            "question": Key(_or_null(_to("question")), "its question"),
            "reply": Key(
                _or_null(_TEXT),
                "its last reply; while it waits without a readable question, what it waits for",
            ),
            "screen": Key(_or_null(_list(_TEXT)), "the rows of its screen, without trailing empty ones"),
            "refused": Key(_or_null(_TEXT), "the [rule](commands.md#rules) that refused it"),
            "text": Key(_or_null(_TEXT), "the refusal as a sentence"),
        },
    ),
    "send": Part(
        "`tally send --json`",
        "One object, also for `tally interrupt --json`. `tally send --wait --json` prints that of `tally wait`.",
        {
            "version": _VERSION,
            "address": Key(_or_null(_TEXT), "the pane; null if no pane has that name"),
            "at": Key(_or_null(_NUMBER), "when the text was sent, for `tally wait --since`"),
            "done": Key(_or_null(_TEXT), "what was done"),
            "refused": Key(_or_null(_TEXT), "the [rule](commands.md#rules) that refused it"),
            "text": Key(_TEXT, "the same as a sentence"),
        },
    ),
    "question": Part(
        "A question of `tally read`",
        "",
        {
            "id": Key(_TEXT, "the id of this question, for `tally send --answer --to`"),
            "question": Key(_TEXT, "the question, one line"),
            "rows": Key(_list(_TEXT), "the dialog above its choices"),
            "choices": Key(_list(_to("choice")), "its answers"),
            "missing": Key(_or_null(_TEXT), "why it [cannot be answered](security.md#shown-whole-or-not-answered)"),
        },
    ),
    "choice": Part(
        "A choice of `tally read`",
        "",
        {"number": Key(_COUNT, "the number to answer with"), "label": Key(_TEXT, "its text")},
    ),
    "watch_state": _line(
        "The first line: the whole state.",
        "state",
        {
            "hosts": Key(_list(_TEXT), "the names of all hosts"),
            "panes": Key(_list(_to("placed")), "all panes, most urgent first"),
        },
    ),
    "placed": Part("A pane of `tally watch`", "", _PLACED),
    "watch_pane": _line(
        "A new or changed pane.",
        "pane",
        {"before": Key(_or_null(_STATUS), "its previous status; null if it is new"), **_PLACED},
    ),
    "watch_gone": _line("A pane that was closed.", "gone", {"address": _ADDRESS}),
    "watch_host": _line(
        "A host started or ended.", "host", {"host": Key(_TEXT, "the host"), "up": Key(_TRUTH, "it is connected")}
    ),
    "watch_broker": _line(
        "With `--broker`: the broker connected or disconnected.",
        "broker",
        {"up": Key(_TRUTH, "it is connected"), "problem": Key(_TEXT, "why it is disconnected")},
        is_counted=False,
    ),
    "watch_machine": _line(
        "With `--broker`: a machine connected or disconnected.",
        "machine",
        {"machine": Key(_TEXT, "its name"), "up": Key(_TRUTH, "it is connected")},
        is_counted=False,
    ),
    "pane": Part(
        "A pane",
        "Every pane has all of these, except those of [parts](parts.md) that you do not have.",
        _of(Pane) | _of_parts(),
    ),
    "label": Part("`label`", "Your name for a conversation.", _of(Label)),
    "reason": Part("`reason`", "The reason for a pane's status.", _of(ReasonEntry)),
    "record": Part(
        "An entry of `records`",
        "",
        _of(RecordEntry)
        | {name: Key(_TEXT, "from its report, if present", is_always=False) for name in REPORT_TEXTS}
        | {
            "progress": Key(_TEXT, "its progress: `3/7`", is_always=False),
            "background": Key(_TEXT, "number of running background tasks and subagents", is_always=False),
        },
    ),
    "collision": Part(
        "An entry of `collisions`",
        "[Two agents that edit one file](list.md#two-agents-that-edit-one-file) explains them.",
        _of(CollisionEntry),
    ),
    "losing": Part("An entry of `losing`", "", _of(LosingEntry)),
    "answer": Part("An entry of `answers`", "[How a light is decided](trust.md) explains them.", _of(AnswerEntry)),
    "conversation": Part("`conversation`", "The last agent process that the host saw there.", _of(ConversationEntry)),
    "beside": Part(
        "`beside`",
        "Unknown values are null or empty.",
        {
            "branch": Key(_TEXT, "the branch, or the short commit if detached"),
            "is_detached": Key(_TRUTH, "no branch is checked out"),
            "worktree": Key(_TEXT, "the name of its linked git worktree"),
            "changes": Key(_or_null(_to("changes")), "uncommitted and unpushed changes"),
        },
    ),
    "changes": Part(
        "`changes`",
        "",
        {
            "added": Key(_COUNT, "added lines in tracked files"),
            "removed": Key(_COUNT, "removed lines in tracked files"),
            "new": Key(_COUNT, "untracked files and directories"),
            "ahead": Key(_COUNT, "commits ahead of its upstream branch"),
            "behind": Key(_COUNT, "commits behind its upstream branch"),
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
        "`tally status`, `tally wait`, `tally read`, `tally send` and `tally watch` print these objects for programs. "
        "[JSON Schema](json.schema.json) has the same definitions.\n\n"
        "* Times are seconds since the epoch.\n"
        "* Texts come from other programs, with control characters escaped: sanitise them before you print them.\n"
        "* New keys and events may appear. A `version` stays the same while no key is removed or changes its "
        "meaning.\n",
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
