"""`tally log`: what it prints of the file of turns, for a person at any width and for a program."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.parts.diary import history_file
from tallylight.parts.diary.turns import Ending, Turn
from tallylight.wire.text import width
from tests.cli.panes import HOST, publish

#: A Sunday noon.
NOON = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
HOUR, DAY = 3600.0, 86400.0

TURN = Turn(id="a", agent="claude", project="tallylight", began=NOON - HOUR, ended=NOON, worked_s=2700.0)
TURNS = [
    attrs.evolve(TURN, waited_s=900.0, questions=2, asked=("Bash: npm test",), title="Add a retry", ending=Ending.DONE),
    attrs.evolve(TURN, id="b", agent="codex", project="api", worked_s=40.0, ending=Ending.ERROR),
    attrs.evolve(TURN, id="c", began=NOON - 2 * DAY, ended=NOON - 2 * DAY + 60, worked_s=60.0, ending=Ending.STOPPED),
    attrs.evolve(TURN, id="d", began=NOON - 9 * DAY, ended=NOON - 9 * DAY + 60, worked_s=7200.0),
]


@pytest.fixture(autouse=True)
def _written(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOON)
    history_file.append(history_file.path(os.environ), TURNS)


def lines(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    assert main(["log", *argv]) == 0
    return capsys.readouterr().out.splitlines()


def test_today_and_the_week(capsys: pytest.CaptureFixture[str]) -> None:
    """Without an option: what was done today, and in seven days, an agent and a project a line."""
    assert lines(capsys) == [
        "today",
        "agent   project     turns  worked  waited  questions  errors",
        "claude  tallylight      1  45 min  15 min          2       0",
        "codex   api             1    40 s     0 s          0       1",
        "all                     2  45 min  15 min          2       1",
        "",
        "the last 7 days",
        "agent   project     turns  worked  waited  questions  errors",
        "claude  tallylight      2  46 min  15 min          2       0",
        "codex   api             1    40 s     0 s          0       1",
        "all                     3  46 min  15 min          2       1",
    ]


def test_a_turn_that_goes_on_has_worked(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two minutes into a turn it has worked two minutes, though less is written; not if its host is gone."""
    going = attrs.evolve(TURN, began=NOON - 120, ended=NOON - 115, worked_s=5.0, doing="working", project="new")
    publish(runtime, [])
    for host, worked in ((HOST, "2 min"), ("kitty-999999999", "5 s")):
        history_file.append(history_file.path(os.environ), [attrs.evolve(going, id=f"{host}:3:1", agent=host)])
        (line,) = [line for line in lines(capsys, "--today", "--agent", host) if line.startswith(host)]
        assert f"  {worked}  " in line


def test_a_day_each(capsys: pytest.CaptureFixture[str]) -> None:
    """The newest first; a day without anything is left out."""
    named = [line for line in lines(capsys, "--days", "7") if line.startswith("2026")]
    assert named == ["2026-11-22", "2026-11-20"]
    assert lines(capsys, "--days", "10", "--agent", "Claude")[-3:] == [
        "2026-11-13",
        "agent   project     turns  worked  waited  questions  errors",
        "claude  tallylight      1     2 h     0 s          0       0",
    ]


def test_a_project_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """By its whole name, in any case."""
    assert [line.split()[:2] for line in lines(capsys, "--today", "--project", "API")][2:] == [["codex", "api"]]
    assert lines(capsys, "--project", "ap") == ["nothing was recorded in 7 days"]


def test_each_turn(capsys: pytest.CaptureFixture[str]) -> None:
    """When it began, how it ended, and what was asked."""
    assert lines(capsys, "--turns", "--today") == [
        "2026-11-22",
        "       agent   project     worked  waited  end    title",
        "11:00  claude  tallylight  45 min  15 min  done   Add a retry",
        "      ? Bash: npm test",
        "11:00  codex   api           40 s     0 s  error",
    ]


@pytest.mark.parametrize("columns", [20, 32, 40, 60, 80])
@pytest.mark.parametrize("option", ["--today", "--turns"])
def test_it_fits(
    columns: int, option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is wider than the terminal; where it is narrow the name of the agent and the times are what stays."""
    wide = attrs.evolve(TURN, id="x", project="日本語のとても長い名前の計画", title="日本語" * 20, asked=("何?" * 40,))
    history_file.append(history_file.path(os.environ), [wide])
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    found = lines(capsys, option)

    assert max(width(line) for line in found) <= max(columns, 31)
    assert any("45 min" in line for line in found)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The days, the sums and every turn."""
    found = json.loads("\n".join(lines(capsys, "--json")))

    assert found["version"] == 1
    assert found["days"][0] == "2026-11-16" and len(found["days"]) == 7
    assert found["sums"][-1] == {
        "day": "2026-11-22", "agent": "codex", "project": "api", "turns": 1, "worked_s": 40.0, "waited_s": 0.0,
        "questions": 0, "errors": 1,
    }  # fmt: skip
    assert [turn["id"] for turn in found["turns"]] == ["c", "a", "b"]
    assert found["turns"][1]["asked"] == ["Bash: npm test"]


def test_where_nothing_is_kept(capsys: pytest.CaptureFixture[str], fake_home: Path) -> None:
    """It says why there is nothing new, and still shows what there is."""
    folder = Path(os.environ["XDG_CONFIG_HOME"], "tallylight")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[history]\nkeep = false\n")

    first, *rest = lines(capsys, "--today")
    assert first.startswith("nothing is recorded: [history] keep = false in ") and rest


@pytest.mark.parametrize("word", ["0", "32", "-1", "x", "1.5", "٣", "9" * 400])
def test_a_number_of_days_that_is_none(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with what it may be."""
    assert main(["log", f"--days={word}"]) == 2
    assert "must be 1 to 31" in capsys.readouterr().err


def test_a_file_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is told, with the name of the file."""
    path = history_file.path(os.environ)
    path.chmod(0o666)
    path.parent.chmod(0o777)
    assert main(["log"]) == 1
    assert "other users" in capsys.readouterr().err
