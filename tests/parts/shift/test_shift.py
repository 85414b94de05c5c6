"""`tally shift`: a text for the end of a limit, put into panes of kitty."""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import pytest

from tallylight.actions.queue import MARGIN_S
from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.main import main
from tallylight.model.status import Status
from tests.cli.panes import WAITING, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk

IDLE = "claude/idle-after-turn-80"
ENDS = 4_000_000_000
LIMITED = attrs.evolve(WAITING, status=Status.LIMITED, kind=None, limited_until=float(ENDS))


@pytest.fixture
def desk(kitty: Kitty, runtime: Path) -> ScriptDesk:
    """A kitty in whose window 3 Claude stands at its prompt, stopped by a limit."""
    publish(runtime, [LIMITED, attrs.evolve(WAITING, id="4")])
    return ScriptDesk.of(kitty, IDLE, Status.IDLE, "all")


def test_a_pane_is_armed(desk: ScriptDesk, capsys: pytest.CaptureFixture[str]) -> None:
    """The text waits in its pane for the end of the limit, and nothing is typed."""
    assert desk.run(lambda: main(["shift", "3", "--words", "go on"])) == 0
    end = time.strftime("%a %d %b %H:%M", time.localtime(ENDS + MARGIN_S))
    assert capsys.readouterr().out == f"3: `go on` is typed at {end}\n"
    queued = desk.host.panes[3].queued
    assert (queued.text, queued.at, desk.window.written) == ("go on", ENDS + MARGIN_S, [])


def test_all_that_a_limit_stops(desk: ScriptDesk) -> None:
    """And no other pane."""
    assert desk.run(lambda: main(["shift", "--all"])) == 0
    assert desk.host.panes[3].queued.text == "continue"


def test_who_is_at_no_limit_gets_nothing(desk: ScriptDesk, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does a pane that nobody named."""
    assert desk.run(lambda: main(["shift", "4"])) == REFUSED
    assert "tally shift: no-limit: " in capsys.readouterr().err
    assert main(["shift"]) == 2
    assert main(["shift", "3", "--all"]) == 2
    assert main(["shift", "3", "--words", ""]) == 2
    assert "name a pane, or give --all" in capsys.readouterr().err
