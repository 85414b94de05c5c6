"""What the pages show as printed is what is printed: the transcripts of docs/start.md, lights.md and list.md."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.model.status import Kind, Status
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.parts.diary import history_file
from tallylight.parts.diary.turns import Ending, Turn
from tallylight.snapshot.schema import AnswerEntry, Pane
from tests.cli.panes import NOW, publish
from tests.entries import new_pane

ASKS = AnswerEntry(
    question="asks",
    answer="permission",
    source="registry",
    rule="status file: waiting, permission prompt",
    at=NOW - 13,
    changes="protocol, registry or record disagrees, or its exit",
)
PANES = [
    new_pane(id="3", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", project="api", since=NOW - 13,
         message="Run the migration?",
         answers=(AnswerEntry(question="turn", answer="waits for an answer"), ASKS,
                  AnswerEntry(question="rest", answer="nothing"))),
    Pane(id="2", status=Status.WORKING, agent="claude", project="shop", since=NOW - 60,
         message="Rounding in the checkout"),
]  # fmt: skip


def shown(page: str, first: str) -> str:
    """The block of the *page* that begins with this line."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    (block,) = [block for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S) if block.startswith(first)]
    return block


def run(transcript: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The transcript with what its commands print now."""
    parts = []
    for command in re.findall(r"^\$ tally (.*)$", transcript, re.M):
        assert main(command.split()) in (0, 3)
        parts.append(f"$ tally {command}\n{capsys.readouterr().out}")
    return "".join(parts)


def test_status_and_why(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(runtime, PANES)
    page = shown("start.md", "$ tally status")
    assert run(page, capsys) == page


def test_log(runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    noon = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    monkeypatch.setattr("time.time", lambda: noon)
    claude = Turn(id="a", agent="claude", project="tallylight", began=noon - 9000, ended=noon, ending=Ending.DONE)
    codex = attrs.evolve(claude, id="b", agent="codex", project="api")
    turns = [
        attrs.evolve(claude, worked_s=6720.0, waited_s=2040.0, questions=6),
        attrs.evolve(codex, worked_s=1260.0, waited_s=11100.0, questions=2, ending=Ending.ERROR),
        *(attrs.evolve(claude, id=f"a{number}") for number in range(8)),
        *(attrs.evolve(codex, id=f"b{number}") for number in range(3)),
    ]
    history_file.append(history_file.path(os.environ), turns)
    page = shown("lights.md", "$ tally log")
    assert run(page, capsys).partition("\nthe last 7 days")[0] == page


def test_the_page_of_a_fork() -> None:
    argv = ("/home/me/.local/bin/claude", "--resume", "0f9c1c60-1111-4222-8333-444455556666", "--fork-session")
    plan = Plan(
        verb=Verb.FORK,
        argv=argv,
        cwd="/home/me/src/api",
        agent="claude",
        display="Claude Code",
        session=argv[2],
        method=Method.SESSION,
        title="⎇  api",
    )
    page = ForkPage(Verb.FORK, plan)
    lines = ["".join(text for _, text in line) for line in (*page.body(100), (), *page.keys(100))]
    assert "".join(f"{line.rstrip()}\n" for line in lines) == shown("list.md", "  ⎇  Fork Claude Code")
