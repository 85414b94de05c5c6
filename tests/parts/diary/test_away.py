"""`tally away`: what happened since the person left, by the file of turns and the panes that there are."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.model.status import Kind, Status
from tallylight.parts.diary import history_file
from tallylight.parts.diary.turns import Ending, Turn
from tallylight.snapshot.schema import Pane
from tests.cli.panes import publish

#: A Sunday noon.
NOW = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
HOUR = 3600.0
LEFT = NOW - 2 * HOUR
#: They gave `shop` its last turn and left; `old` had ended before that.
TURN = Turn(id="a", agent="claude", project="shop", session="s1", began=LEFT, ended=NOW - HOUR, worked_s=900.0)
TURNS = [
    attrs.evolve(TURN, questions=1, ending=Ending.DONE),
    attrs.evolve(TURN, id="b", began=LEFT - HOUR, agent="codex", project="api", session="s2", ending=Ending.ERROR),
    attrs.evolve(TURN, id="c", began=LEFT - HOUR, ended=LEFT - 60, project="old", session="s3", ending=Ending.DONE),
    attrs.evolve(TURN, id="d", began=LEFT - HOUR, ended=NOW - 60, project="web", session="s4", doing="working"),
]
PANES = [
    Pane(
        id="1", status=Status.DONE, agent="claude", project="shop", session="s1", since=NOW - HOUR,
        outcome="All 12 tests pass.", more={"diffstat": (12, 0)},
    ),
    Pane(
        id="2", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", project="web", session="s4",
        what="Bash: npm test", since=NOW - 60,
    ),
    Pane(
        id="3", status=Status.LIMITED, agent="claude", project="docs", session="s5",
        limited_until=NOW + HOUR, since=NOW - HOUR,
    ),
    Pane(id="4", status=Status.DONE, agent="claude", project="old", session="s3", since=LEFT - 60),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _written(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    publish(runtime, PANES)


def lines(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    assert main(["away", *argv]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def kept() -> None:
    history_file.append(history_file.path(os.environ), TURNS)


@pytest.mark.usefixtures("kept")
def test_since_the_last_turn_was_begun(capsys: pytest.CaptureFixture[str]) -> None:
    """What needs a person comes first; what was over before they left, and what goes on, is left out."""
    until = time.strftime("%H:%M", time.localtime(NOW + HOUR))
    assert lines(capsys) == [
        "the last 2 h: 2 turns, 1 question, 1 failed, 1 at a limit, 1 waits for you",
        "!  web   claude                              1m: Bash: npm test",
        "✓  shop  claude  1 turn, 15 min, 1 question  All 12 tests pass.  +12",
        f"◷  docs  claude                              limit: 1 h 00, until {until}",
        "-  api   codex   1 turn, 15 min, 1 failed    has ended",
    ]


@pytest.mark.usefixtures("kept")
def test_a_span(capsys: pytest.CaptureFixture[str]) -> None:
    """What ended in the last 30 minutes, or needs a person since then."""
    first, *rest = lines(capsys, "30m")
    assert first == "the last 30 min: 1 waits for you"
    assert [line.split()[1] for line in rest] == ["web"]


@pytest.mark.usefixtures("kept")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same for programs, in the same order."""
    found = json.loads("".join(lines(capsys, "--json")))
    assert found["version"] == 1
    assert found["since"] == LEFT
    assert [(one["project"], one.get("status"), one["turns"], one["errors"]) for one in found["panes"]] == [
        ("web", "waiting", 0, 0),
        ("shop", "done", 1, 0),
        ("docs", "limited", 0, 0),
        ("api", None, 1, 1),
    ]


@pytest.mark.parametrize("word", ["0s", "8d", "soon", "-1h"])
def test_a_span_that_is_none(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is wrong usage, and says what a span looks like."""
    assert main(["away", "--", word]) == 2
    assert "must be a span like" in capsys.readouterr().err


def test_nothing_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    """Without turns nobody knows when the person left."""
    assert lines(capsys) == ["no turn was recorded in 7 days"]
