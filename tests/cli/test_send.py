"""`tally send` and `tally interrupt`: what is typed, what is refused, and what the exit code says."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Done
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.panes import Panes
from tallylight.actions.request import id_of, read_id
from tallylight.cli import send
from tallylight.cli.exit_codes import FAILED, GONE, REFUSED, TIMED_OUT
from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tests.actions.callers import as_caller, at
from tests.actions.desk import PID, START, Desk, seen
from tests.cli.panes import NOW, WAITING, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.tables import each

IDLE_PANE = attrs.evolve(WAITING, status=Status.IDLE, kind=None, message="", since=NOW)
DIALOG, IDLE, WORKING = "claude/permission-bash-80", "claude/idle-after-turn-80", "claude/working-80"


def a_desk(kitty: Kitty, screen: str, status: Status, allow: str = "all") -> ScriptDesk:
    """A kitty in whose window 3 an agent shows *screen*."""
    return ScriptDesk.of(kitty, screen, status, allow)


def test_a_text_goes_to_the_agent_at_its_prompt(
    runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a paste with Enter behind it; without that if so asked; from standard input, too."""
    publish(runtime, [WAITING])
    desk = a_desk(kitty, IDLE, Status.IDLE)
    assert desk.run(lambda: main(["send", "3", "go on"])) == 0
    assert capsys.readouterr().out == "sent, and Enter pressed\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nb\n"))
    assert desk.run(lambda: main(["send", "3", "-", "--no-enter", "--json"])) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["done"], told["refused"]) == ("typed, and Enter not pressed", None)
    assert desk.window.written == ["\x1b[200~go on\x1b[201~\r", "\x1b[200~a\nb\x1b[201~"]


def test_it_waits_for_its_own_turn(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """`--wait` returns what the turn came to that the text began, and not what the pane shows from before."""
    publish(runtime, [IDLE_PANE])
    desk = a_desk(kitty, IDLE, Status.IDLE)

    class Working(list[str]):
        def append(self, text: str) -> None:
            publish(runtime, [attrs.evolve(IDLE_PANE, status=Status.ERROR, since=time.time() + 1)])

    desk.window.written = Working()
    assert desk.run(lambda: main(["send", "3", "go on", "--wait", "--timeout", "60"])) == FAILED
    assert capsys.readouterr().out.split() == ["3", "error", "claude", "tallylight"]
    assert main(["send", "3", "go on", "--wait", "--no-enter"]) == 2
    publish(runtime, [IDLE_PANE])
    desk.window.written = []
    assert desk.run(lambda: main(["send", "3", "go on", "--wait", "--timeout", "0"])) == TIMED_OUT
    assert desk.run(lambda: main(["send", "3", "go on", "--json"])) == 0
    assert json.loads(capsys.readouterr().out)["at"] == pytest.approx(time.time(), abs=60)


def test_an_answer_is_of_what_was_read(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """The id that `tally read` prints names the screen: of another one nothing is typed."""
    publish(runtime, [WAITING])
    desk = a_desk(kitty, DIALOG, Status.WAITING)
    assert desk.run(lambda: main(["read", "3", "--json"])) == 0
    read = json.loads(capsys.readouterr().out)["question"]["id"]
    desk.show("claude/permission-write-80", Status.WAITING)
    assert desk.run(lambda: main(["send", "3", "--answer", "1", "--to", read])) == REFUSED
    assert capsys.readouterr().err.startswith("tally send: changed: ")
    desk.show(DIALOG, Status.WAITING)
    assert desk.run(lambda: main(["send", "3", "--answer", "2", "--to", read])) == 0
    assert desk.run(lambda: main(["send", "3", "--answer", "2", "--to", read, "--json"])) == REFUSED
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["refused"] == "answered"
    assert desk.window.written == ["2"]


def test_an_interruption(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """The agent's own key where it works, and nothing where it does not, or where the pane is gone."""
    publish(runtime, [WAITING, attrs.evolve(WAITING, id="7")])
    desk = a_desk(kitty, WORKING, Status.WORKING)
    assert desk.run(lambda: main(["interrupt", "3"])) == 0
    desk.show(IDLE, Status.IDLE)
    assert desk.run(lambda: main(["interrupt", "3", "--json"])) == REFUSED
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["refused"] == "no-turn"
    assert desk.run(lambda: main(["interrupt", "7"])) == GONE
    assert desk.window.written == ["\x1b"]


def test_only_own_panes_unless_more_is_allowed(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """The default: a pane that somebody else started gets nothing, and the message says what would allow it."""
    publish(runtime, [WAITING])
    desk = a_desk(kitty, IDLE, Status.IDLE, allow="own")
    assert desk.run(lambda: main(["send", "3", "go on"])) == REFUSED
    told = capsys.readouterr().err
    assert told.startswith("tally send: permission: ") and "[scripting] allow" in told
    assert desk.window.written == []


@each(
    "argv",
    [
        ["send", "3"],
        ["send", "3", "a", "--answer", "1"],
        ["send", "3", "--answer", "1"],
        ["send", "3", "--answer", "one", "--to", "1.1.aa"],
        ["send", "3", "--answer", "1", "--to", "1.1.aa"],
        ["send", "3", "--answer", "1", "--to", f"0.1.{'0' * 32}"],
        ["send", "3", "--answer", "1", "--to", f"1.1.{'A' * 32}"],
        ["send", "3", "--answer", "1", "--to", f"1.1.{'0' * 33}"],
        ["send", "3", "--answer", "1", "--to", f"1.1.{'0' * 32}\n"],
        ["send", "3", "--queue"],
        ["send", "3", "a", "--queue", "--no-enter"],
        ["send", "3", "a", "--queue", "--to", f"1.1.{'0' * 32}"],
        ["interrupt"],
    ],
)
def test_wrong_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It is not clear what is meant, or of which question."""
    assert main(argv) == 2
    assert f"usage: tally {argv[0]}" in capsys.readouterr().err


def test_text_that_is_none(runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are no UTF-8, nothing, and too much of it are refused before any terminal is asked."""
    publish(runtime, [WAITING])
    for data, code in ((b"\xff", 1), (b"", REFUSED), (b"\n", REFUSED), (b"x" * 5000, REFUSED)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
        assert main(["send", "3", "-"]) == code
        assert "tally" in capsys.readouterr().err


def test_ids() -> None:
    """What `id_of` makes is read back, whatever the question."""
    asked = Desk(seen(DIALOG)).shown()
    assert read_id(id_of(asked)) == (asked.pid, asked.start, asked.fingerprint)


def test_a_text_for_later(runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """While it works the text waits in its pane, and a second one is refused; elsewhere than in kitty none waits."""
    publish(runtime, [WAITING])
    desk = a_desk(kitty, WORKING, Status.WORKING)
    assert desk.run(lambda: main(["send", "3", "go on"])) == REFUSED
    assert desk.run(lambda: main(["send", "3", "--queue", "go on"])) == 0
    assert capsys.readouterr().out == "queued until its turn ends\n"
    assert desk.run(lambda: main(["send", "3", "--queue", "and on"])) == REFUSED
    assert "tally send: queued: " in capsys.readouterr().err
    assert (desk.host.panes[3].queued.text, desk.window.written) == ("go on", [])


@each("allow, rule", [("none", "permission"), ("own", "permission"), ("ask", "permission"), ("all", "")])
def test_panes_that_are_reached_from_here(allow: str, rule: str) -> None:
    """Panes of tmux and others are typed into by this process, by the same rules; there is nobody to ask."""
    desk = Desk(seen(IDLE, Status.IDLE))

    class PaneAccess(Panes):
        def at(self, host: str, pane: Pane) -> Desk:
            return desk

    reach = PaneClient(PaneAccess(), as_caller(Who.SCRIPT), at(allow), once=Once(0.0, InProcess()))
    found = Row("sessions-1", Pane(id="3", status=Status.IDLE))
    held = reach.look(found, "holder")
    assert isinstance(held, Refusal) == (allow == "none")
    told = reach.perform(found, send.Say("3", PID, START, "go on", True))
    if rule:
        assert isinstance(told, Refusal) and told.rule == rule
    else:
        assert isinstance(told, Done)
    assert desk.typed == ([] if rule else ["go on\r"])
