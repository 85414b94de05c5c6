"""What the list of kitty answers, with a window that notes what is written: one question once."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.once import Once
from tallylight.model.status import Status
from tests.actions.desk import holder, look
from tests.host.kitty_fakes import Kitty
from tests.host.kitty_fakes import kitty as kitty  # a fixture
from tests.host.test_kitty_typist import Host, Pane, Window

DIALOG = "claude/permission-bash-80"


@attrs.define
class Kept(Host):
    """A host with one pane, that knows what was answered in it."""

    panes: dict[int, Any] = attrs.field(factory=dict)
    once: Once = attrs.field(factory=lambda: Once(settle_s=0.0))

    def guarded(self, _feature: str, call: Any) -> Any:
        return call


def test_the_list_answers_one_question_once(kitty: Kitty) -> None:
    """Before the agent has drawn anything else nothing is typed again, also from a list opened anew."""
    module = importlib.import_module("tallylight.hosts.kitty.agent_list")
    window = Window()
    host = Kept(look(DIALOG), SimpleNamespace(window_id_map={3: window}))
    host.panes[3] = Pane(holder("claude"), Status.WAITING)

    def answered() -> str:
        """`a` and `1`, in a list of its own."""
        shown = module._List(host, Path(), None)
        asked = shown.act(["look", "3"])
        assert isinstance(asked, Question)
        given = asked.answer(1)
        words = ["answer", given.pane, str(given.pid), str(given.start), given.fingerprint, str(given.number)]
        return str(shown.act(words))

    assert answered() == "answered 1. Yes"
    for _ in range(3):
        assert "already answered" in answered()
        kitty.run_soon()
    assert window.written == ["1"]

    # Nobody looks at it but the watch that goes on after an answer.
    assert kitty.timers
    host.screen = look("claude/working-120")
    kitty.run_soon()
    assert not kitty.timers
    host.screen = look(DIALOG)
    assert answered() == "answered 1. Yes"
    assert window.written == ["1", "1"]
