"""`tally wrong`: the last two minutes are shown, a person says what was right, and a rule is in force."""

from __future__ import annotations

import os
import types
import weakref
from pathlib import Path

import attrs
import pytest
from benchmarks import accuracy, taught, unknown

from tallylight.actions.answered import InProcess
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.perform import Access, perform
from tallylight.actions.request import STRETCH, LookRequest, Reply, Stretch, decode_reply, encode_reply
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.cli.main import main
from tallylight.cli.reaching import reached
from tallylight.pane import tape as pane_tape
from tallylight.parts import index
from tallylight.parts.lab import PART, frames
from tallylight.parts.lab.replay import Replay
from tallylight.snapshot.addresses import Row, read_panes
from tests.actions.callers import CALLERS
from tests.actions.desk import Desk, seen
from tests.cli.panes import WAITING, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk

AGENTS, _ = agent_files.load_agents({})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / ".config/tallylight/agents"


@pytest.fixture
def tape(home: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What a pane remembers in which Kimi ran, whose input box is known by no rule of the person's file."""
    kimi = AGENTS.get("kimi")
    assert kimi is not None
    lost = attrs.evolve(kimi, screen_rules=tuple(one for one in kimi.screen_rules if one.name != "input box"))
    monkeypatch.setattr(agent_files, "load_agents", lambda _env=None: (Agents([lost]), []))
    # All panes share one limit. Those of earlier tests, some of which stay, would shorten this tape.
    monkeypatch.setattr(pane_tape, "_ALL", weakref.WeakSet())
    recording = accuracy.read(unknown.recordings("kimi")["kimi-denial"])
    replay = Replay(recording.header, Agents([lost]))
    for event in recording.events:
        for _ in replay.play(event):
            pass
    return replay.tape.data


def asked(monkeypatch: pytest.MonkeyPatch, told: Reply) -> None:
    """A terminal that tells this, over the wire, and a person at it who knows the truth."""
    monkeypatch.setattr(PaneClient, "look", lambda _self, _found, _what: decode_reply(encode_reply(told)))
    monkeypatch.setattr(frames, "is_anybody", lambda: True)
    truth = accuracy.read(unknown.recordings("kimi")["kimi-denial"]).truth
    monkeypatch.setattr(frames, "ask", lambda shown: [(look, taught.said(truth, look.time)) for _, look in shown])


@pytest.mark.slow
def test_a_rule_is_added(
    home: Path, runtime: Path, tape: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lights are listed with their reasons; what was wrong becomes a rule, in a file of its own."""
    publish(runtime, [attrs.evolve(WAITING, agent="kimi")])
    asked(monkeypatch, Stretch.of(tape))
    monkeypatch.setattr(
        "tallylight.parts.lab.verbs.wrong.System", lambda: types.SimpleNamespace(ask=lambda _question: True)
    )
    code, told = main(["wrong", "3"]), capsys.readouterr().out
    assert code == 0, told
    text = (home / "kimi.taught.toml").read_text()

    assert "s ago" in told and "screen: " in told
    assert "is written, and in force" in told
    assert 'name = "kimi"\nadds = true\n' in text
    assert text.count("[[screen.rules]]") == 1
    assert text.partition("[[")[2] in told


@pytest.mark.slow
def test_a_recording_for_a_report(
    runtime: Path, tape: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording is written whose words are crossed out, never over a file, and `tally replay` shows its lights."""
    publish(runtime, [attrs.evolve(WAITING, agent="kimi")])
    asked(monkeypatch, Stretch.of(tape))
    file = tmp_path / "wrong.cast"
    assert main(["wrong", "3", "--save", str(file)]) == 0
    assert "is written." in capsys.readouterr().out
    assert "scripted" not in file.read_text()
    assert main(["replay", str(file)]) == 0
    assert "kimi" in capsys.readouterr().out
    assert main(["wrong", "3", "--save", str(file)]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_the_key_of_the_list(
    home: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """! in any list does it in the list's own terminal, and waits until the person has read that."""
    publish(runtime, [WAITING])
    monkeypatch.setattr(PaneClient, "look", lambda *_: Refusal("tape", "no tape"))
    monkeypatch.setattr("builtins.input", print)
    found = read_panes(os.environ).panes[0]
    key = PART.keys["!"]
    assert index.load(key.call)(found) == ""
    said = capsys.readouterr()
    assert "no tape" in said.err and "Enter: back" in said.out


@pytest.mark.slow
def test_nobody_to_ask(
    home: Path, runtime: Path, tape: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a person nothing is guessed and nothing written."""
    publish(runtime, [attrs.evolve(WAITING, agent="kimi")])
    asked(monkeypatch, Stretch.of(tape))
    monkeypatch.setattr(frames, "is_anybody", lambda: False)
    assert main(["wrong", "3"]) == 1
    assert "nobody can be asked here what was right" in capsys.readouterr().err
    assert not home.exists()


def test_who_is_told_a_tape(runtime: Path, kitty: Kitty) -> None:
    """A tape is told over the terminal's socket by the rules of a screen: only while an agent holds the foreground."""
    publish(runtime, [WAITING])
    desk = ScriptDesk.of(kitty, "claude/permission-bash-80")
    pane = desk.host.panes[3]
    pane.tape.note("title", 1.0, "x" * 40_000)

    def told() -> Reply:
        found, client = reached("3")
        assert isinstance(found, Row)
        return client.look(found, STRETCH)

    assert desk.run(told) == Stretch.of(pane.tape.data)
    pane.foreground = attrs.evolve(pane.foreground, agent=None)
    refused = desk.run(told)
    assert isinstance(refused, Refusal)
    assert refused.rule == "process"


def test_only_a_host_has_tapes() -> None:
    """A process that acts for another machine has none: that is said, and what to do instead."""
    access = Access(Desk(seen("claude/permission-bash-80")), Once(0.0, InProcess()), lambda *_: None)
    refused = perform(access, LookRequest("3", STRETCH), CALLERS[Who.PERSON])

    assert isinstance(refused, Refusal)
    assert refused.rule == "tape"
    assert "run `tally wrong` in a terminal there" in refused.text
