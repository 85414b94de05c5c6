"""Claude Code's status file: what a whole one says, and every surprise that makes it no evidence."""

from __future__ import annotations

import json
from typing import Any

from tallylight.evidence.records.claude_status import Reading, decode, sessions_file
from tests.tables import each

FILE: dict[str, Any] = {
    "pid": 42,
    "procStart": "178666",
    "sessionId": "0f9c1c60-1111-4222-8333-444455556666",
    "cwd": "/home/u/api",
    "name": "Fix the build",
    "version": "2.1.329",
    "kind": "interactive",
    "status": "busy",
    "statusUpdatedAt": 1_763_000_000_000,
}


def read(**changes: Any) -> Reading | None:
    return decode(json.dumps({**FILE, **changes}), pid=42, start=178_666)


def test_whole_file() -> None:
    """A whole file gives its status, what it waits for, session, directory, name and time."""
    assert read() == Reading(
        "busy", "", "0f9c1c60-1111-4222-8333-444455556666", "/home/u/api", "Fix the build", 1_763_000_000_000
    )
    waiting = read(status="waiting", waitingFor="permission prompt", procStart=178_666)
    assert waiting is not None and (waiting.raw, waiting.waiting_for) == ("waiting", "permission prompt")


@each("status", ["idle", "busy", "waiting", "shell"])
def test_known_statuses(status: str) -> None:
    """The four words that were seen are read."""
    assert (reading := read(status=status)) is not None and reading.raw == status


@each(
    "changes",
    [
        {"status": "thinking"},
        {"status": None},
        {"status": ["busy"]},
        {"status": {"busy": 1}},
        {"status": "Busy"},
        {"pid": 43},
        {"pid": True},
        {"pid": None},
        {"pid": 42.0},
        {"procStart": "178667"},
        {"procStart": None},
        {"procStart": "0x2b9ea"},
        {"procStart": "١٧٨٦٦٦"},
        {"procStart": "9" * 5000},
        {"waitingFor": 7},
        {"waitingFor": ["permission prompt"]},
    ],
)
def test_surprise(changes: dict[str, Any]) -> None:
    """A file of another process, or of another shape, is no evidence."""
    assert read(**changes) is None


@each(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        '"busy"',
        "\0",
        "[" * 100_000,
        '{"a":' * 5_000,
        json.dumps(FILE)[:-1],
        json.dumps(FILE)[:-1] + ',"x":NaN}',
        json.dumps(FILE)[:-1] + ',"status":"idle"}',
        json.dumps(FILE)[:-1] + ',"x":' + "9" * 5000 + "}",
        json.dumps({**FILE, "x": "y" * 70_000}),
        json.dumps(FILE) + json.dumps(FILE),
    ],
)
def test_not_a_file_of_it(text: str) -> None:
    """Half-written, nested without end, doubled, huge or not JSON: no evidence and no exception."""
    assert decode(text, pid=42, start=178_666) is None


@each(
    ("changes", "field", "value"),
    [
        # What the gate refuses must reach it: as no id at all it would stand for the latest conversation.
        ({"sessionId": "--dangerous"}, "session", "--dangerous"),
        ({"sessionId": "a b"}, "session", "a b"),
        ({"sessionId": "a\n"}, "session", "a "),
        ({"sessionId": "x" * 256}, "session", "x" * 256),
        ({"sessionId": "x" * 10_000}, "session", "x" * 257),
        ({"sessionId": 7}, "session", ""),
        ({"cwd": "relative"}, "cwd", ""),
        ({"cwd": "/a\x1b[31m"}, "cwd", "/a[31m"),
        ({"name": "a\u202eb\x07"}, "name", "ab"),
        ({"name": "\ud800"}, "name", ""),
        ({"name": None}, "name", ""),
        ({"name": "api-2c", "nameSource": "derived"}, "name", ""),
        ({"name": "Fix the build", "nameSource": "auto"}, "name", "Fix the build"),
        ({"statusUpdatedAt": "soon"}, "at", 0),
    ],
)
def test_fields(changes: dict[str, Any], field: str, value: object) -> None:
    """A bad field costs itself; what will be displayed is sanitised."""
    reading = read(**changes)

    assert reading is not None
    assert getattr(reading, field) == value


@each(
    ("environ", "path"),
    [
        ({}, "/home/u/.claude/sessions/42.json"),
        ({"HOME": "/h"}, "/h/.claude/sessions/42.json"),
        ({"HOME": "relative"}, "/home/u/.claude/sessions/42.json"),
        ({"CLAUDE_CONFIG_DIR": "/c/d", "HOME": "/h"}, "/c/d/sessions/42.json"),
        ({"CLAUDE_CONFIG_DIR": ""}, "/home/u/.claude/sessions/42.json"),
        ({"CLAUDE_CONFIG_DIR": "relative"}, None),
    ],
)
def test_path(environ: dict[str, str], path: str | None) -> None:
    """The file follows the agent's own CLAUDE_CONFIG_DIR and HOME; a relative directory is not guessed at."""
    assert sessions_file(42, environ, "/home/u") == path


def test_path_of_no_process() -> None:
    """There is no file of process 0."""
    assert sessions_file(0, {}, "/home/u") is None
