"""Panes for the tests of the commands, and how to publish them as a living host."""

from __future__ import annotations

import os
from pathlib import Path

from tallylight.model.status import Kind, Status
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.schema import AnswerEntry, LosingEntry, Pane, ReasonEntry, RecordEntry
from tests.entries import new_pane

NOW = 100_000.0
HOST = f"kitty-{os.getpid()}"

WAITING = new_pane(
    id="3",
    status=Status.WAITING,
    kind=Kind.PERMISSION,
    agent="claude",
    project="tallylight",
    title="fix the lights",
    session="0123",
    message="Allow rm -r build?",
    since=NOW - 125,
    reason=ReasonEntry(source="protocol", rule="osc-1338", at=NOW - 120, changes="the agent continues"),
    records=(
        RecordEntry(status=Status.WAITING, kind=Kind.PERMISSION, source="protocol", at=NOW - 120),
        RecordEntry(id="a", status=Status.WORKING, source="protocol", at=NOW - 7, fields={"title": "read files"}),
    ),
    losing=(LosingEntry(source="heuristic", rule="output", status="working", at=NOW - 3, why="explicit wins"),),
    answers=(
        AnswerEntry(question="turn", answer="running", source="title", rule="spinner", at=NOW - 9, changes="record"),
        AnswerEntry(question="asks", answer="permission", source="protocol", rule="osc-1338", at=NOW - 120),
        AnswerEntry(question="rest", answer="nothing"),
    ),
)
DONE = Pane(id="1", status=Status.DONE, agent="codex", title="make tests", since=NOW - 12)
WORKING = Pane(id="2", status=Status.WORKING, agent="claude", since=NOW - 1)
SHELL = Pane(id="4", status=Status.IDLE, title="bash", reason=ReasonEntry(source="shell"))
COMMAND = Pane(id="5", status=Status.ACTIVE, title="make")


def publish(runtime: Path, panes: list[Pane], host: str = "kitty", allow: str = "own") -> None:
    """Write a snapshot of *panes* as this process, which lives."""
    writer = snapshot.SnapshotWriter.for_host(host, {"XDG_RUNTIME_DIR": str(runtime)}, lambda: NOW)
    writer.allow = allow
    writer.publish(panes, 0.0)
    assert writer.error == ""
