"""`tally read`: what is printed of a pane, by whom it is read, and what the exit code says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Question
from tallylight.actions.request import id_of
from tallylight.cli.exit_codes import GONE, NOTHING, REFUSED
from tallylight.cli.main import main
from tallylight.model.status import Status
from tests.actions.desk import PID, START
from tests.cli.panes import DONE, HOST, WAITING, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk

DIALOG = "claude/permission-bash-80"


def test_a_question_with_its_id(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands on the screen at this moment, as rows, choices and the id that tells this very question."""
    publish(runtime, [WAITING])
    desk = ScriptDesk.of(kitty, DIALOG)
    asked = desk.host.once.ask(desk.module.WindowTypist(desk.host, desk.window, desk.host.panes[3]))
    assert isinstance(asked, Question)

    assert desk.run(lambda: main(["read", "3", "--json"])) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["question"]["id"] == id_of(asked) == f"{PID}.{START}.{asked.fingerprint}"
    assert told["question"]["choices"][0] == {"number": 1, "label": "Yes"}
    assert any("Bash command" in row for row in told["question"]["rows"])
    assert (told["address"], told["status"], told["screen"], told["reply"]) == (f"{HOST}:3", "waiting", None, None)

    assert desk.run(lambda: main(["read", "3", "--question"])) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "1. Yes" in printed
    assert printed[-1] == f"id {id_of(asked)}"
    assert desk.window.written == []


def test_a_screen(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """The rows as they are drawn, without what would draw nothing."""
    publish(runtime, [WAITING])
    desk = ScriptDesk.of(kitty, DIALOG)
    desk.host.screen = attrs.evolve(desk.host.screen, lines=["a\x1b[2Jb\u202e", *desk.host.screen.lines])

    assert desk.run(lambda: main(["read", "3", "--screen"])) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "a[2Jb"
    assert any("Do you want to proceed?" in row for row in rows)
    assert desk.run(lambda: main(["read", "3", "--screen", "--json"])) == 0
    assert json.loads(capsys.readouterr().out)["screen"] == rows


def test_a_reply_asks_no_terminal(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last reply stands in what its host publishes; a pane of which none is known has nothing to read."""
    publish(runtime, [attrs.evolve(DONE, reply="All 12 tests\x1b pass.")])
    assert main(["read", "1"]) == 0
    assert capsys.readouterr().out == "All 12 tests pass.\n"
    assert main(["read", "1", "--reply", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reply"] == "All 12 tests pass."

    publish(runtime, [DONE])
    assert main(["read", "1", "--json"]) == NOTHING
    told = capsys.readouterr()
    assert json.loads(told.out)["reply"] is None
    assert "no reply of" in told.err
    assert json.loads(told.out)["refused"] == "no-reply"
    assert main(["read", "99", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)  # type: ignore[assignment]
    assert (told["address"], told["refused"]) == (None, "pane")  # type: ignore[index]


def test_a_shell_is_not_read(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """A pane without an agent in its foreground may show a secret that is none of a script's business."""
    publish(runtime, [WAITING])
    desk = ScriptDesk.of(kitty, DIALOG)
    desk.host.panes[3].foreground = attrs.evolve(desk.host.panes[3].foreground, agent=None)
    for part in ("--screen", "--question"):
        assert desk.run(lambda part=part: main(["read", "3", part])) == REFUSED  # type: ignore[misc]
        told = capsys.readouterr()
        assert told.err.startswith("tally read: process: ")
        assert told.out == ""


def test_what_cannot_be_read(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """A pane that is gone, an agent that asks nothing, and a terminal that does not listen."""
    publish(runtime, [WAITING, attrs.evolve(DONE, id="7")])
    assert main(["read", "3", "--screen"]) == REFUSED
    assert "is it running, and the same version?" in capsys.readouterr().err

    desk = ScriptDesk.of(kitty, "claude/idle-after-turn-80", Status.IDLE)
    assert desk.run(lambda: main(["read", "7", "--screen"])) == GONE
    assert desk.run(lambda: main(["read", "3", "--question"])) == NOTHING
    assert main(["read", "99"]) == 1
    # What the host has heard, where the screen has no question that could be read.
    capsys.readouterr()
    assert desk.run(lambda: main(["read", "3"])) == 0
    assert capsys.readouterr().out == f"{WAITING.message}\n"
    os.unlink(runtime / "tallylight" / f"{HOST}.sock")  # noqa: PTH108
