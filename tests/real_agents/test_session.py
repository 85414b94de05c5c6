"""How the truth comes into a recording: by the clock on the wall, in order, and dialogs by what was drawn."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.real_agents.scenes import scenes
from tests.real_agents.session import Session, merge

HEADER = {"version": 2, "width": 40, "height": 5, "started": 1000.0}


def cast(*events: list[Any]) -> str:
    """A recording of these events."""
    return "\n".join(json.dumps(line) for line in [HEADER, *events]) + "\n"


def session(tmp_path: Path, recording: str, marks: list[tuple[float, str]]) -> Session:
    """A session that was recorded, with what the model has marked."""
    made = Session.__new__(Session)
    made.cast = tmp_path / "a.cast"
    made.cast.write_text(recording)
    made.model = SimpleNamespace(marks=[{"epoch": at, "mark": name} for at, name in marks])  # type: ignore[assignment]
    made.told, made._dialogs, made.passed_over = [], [], set()
    return made


def test_merge() -> None:
    """The truth stands among the events by its time, ahead of none that came first; before the start is the start."""
    lines = merge(cast([1.0, "o", "a"], [2.0, "o", "b"]), [(999.5, "starting"), (1001.5, "idle")]).splitlines()

    assert [json.loads(line) for line in lines[1:]] == [
        [0.0, "m", "truth starting"],
        [1.0, "o", "a"],
        [1.5, "m", "truth idle"],
        [2.0, "o", "b"],
    ]


def test_truths(tmp_path: Path) -> None:
    """Marks of the model and of the driver make one truth; what repeats it, and what is a subagent's, is left out."""
    marks = [(1002.1, "working"), (1003.0, "sub:done"), (1004.0, "waiting:permission"), (1005.0, "done")]
    made = session(tmp_path, cast(), marks)
    made.told = [(1000.0, "starting"), (1001.0, "idle"), (1002.0, "working"), (1006.0, "gone")]

    assert [word for _, word in made.truths()] == ["starting", "idle", "working", "done", "gone"]


def test_dialog_is_dated_by_what_was_drawn(tmp_path: Path) -> None:
    """A dialog is true from the output on that completes it on the screen; one that was never drawn is an error."""
    recording = cast(
        [1.0, "o", "Proceed? (the last one)\r\n"],
        [3.0, "o", "\u001b[2J\u001b[HPro"],
        [4.0, "o", "ceed?"],
        [5.0, "o", " [y/n]"],
    )
    made = session(tmp_path, recording, [])
    made._dialogs = [(1002.0, "waiting:permission", "Proceed")]

    assert made.truths() == [(1004.0, "waiting:permission")]
    made._dialogs = [(1002.0, "waiting:permission", "Something else")]
    with pytest.raises(AssertionError, match="not in the recording"):
        made.truths()


def test_scenes() -> None:
    """Every agent plays the scenes that it has, each recording has a name of its own, and set-up is in the name."""
    files = [scene.file for scene in scenes()]

    assert len(set(files)) == len(files) > 30
    assert {scene.agent for scene in scenes()} == {
        *("claude", "codex", "opencode", "gemini", "qwen", "copilot", "kilo", "aider", "kimi", "pi", "cline"),
        *("grok", "nanocoder", "vibe", "cn", "gptme", "kolega", "tunacode", "mini"),
    }
    assert all((scene.set_up in scene.file) for scene in scenes())
