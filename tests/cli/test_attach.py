"""`tally attach`: who gets the keys of a pane."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallylight.actions.caller import Who
from tallylight.cli import attach
from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.parts.conversations import fork
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tests.actions.callers import CALLERS
from tests.cli.panes import publish
from tests.entries import new_pane
from tests.tables import each

PANE = new_pane(id="tmux/1/%3", status=Status.IDLE, attach=("tmux", "-S", "/tmp/t", "attach-session", "-t", "$1:@1.%3"))


def test_a_session_without_a_pane(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent's own command shows it, as the plan has it; a refusal runs nothing."""
    pane = new_pane(id="claude/a0b8", status=Status.IDLE, attach=("tally", "attach", "sessions-1:claude/a0b8"))
    publish(runtime, [pane], host="sessions")
    ran: list[list[str]] = []
    monkeypatch.setattr(attach, "own_caller", lambda *_: CALLERS[Who.PERSON])
    monkeypatch.setattr(os, "execvp", lambda _, argv: ran.append(argv))
    assert (main(["attach", "claude/a0b8"]), ran) == (1, [])
    assert "process: no agent runs in this pane" in capsys.readouterr().err
    found = Plan(
        verb=Verb.ATTACH, argv=("/opt/claude", "attach", "a0b8"), cwd="/w", agent="claude", display="Claude Code",
        session="a0b8", method=Method.SESSION, title="",
    )  # fmt: skip
    monkeypatch.setattr(fork, "act", lambda *_, **__: found)
    main(["attach", "claude/a0b8"])
    assert ran == [["/opt/claude", "attach", "a0b8"]]


@each(
    "who, allow, rule",
    [
        (Who.PERSON, "none", ""),
        (Who.SCRIPT, "own", "permission"),
        (Who.AGENT, "own", "permission"),
        (Who.AGENT, "ask", "permission"),
        (Who.AGENT, "all", ""),
        (Who.STRAY, "all", "permission"),
        (Who.UNKNOWN, "all", "caller"),
    ],
)
def test_whoever_attaches_may_type(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], who: Who, allow: str, rule: str
) -> None:
    """A person does; a program only where it may type into any pane."""
    publish(runtime, [PANE], host="sessions", allow=allow)
    ran: list[str] = []
    monkeypatch.setattr(attach, "own_caller", lambda *_: CALLERS[who])
    monkeypatch.setattr(os, "execvp", lambda program, _: ran.append(program))
    code = main(["attach", "tmux/1/%3"])
    assert ran == ([] if rule else ["tmux"]) and (code == 1 if rule else True)
    assert not rule or f"{rule}: " in capsys.readouterr().err
