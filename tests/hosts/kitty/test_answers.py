"""What the list of kitty answers, with a window that notes what is written: one question once."""

from __future__ import annotations

import importlib
import select
import socket
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done, Occupant, Question, Seen
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import PERSON, Caller, Who
from tallylight.actions.once import Once
from tallylight.actions.request import Draw, LookRequest, decode_reply, encode
from tallylight.hosts.peers import Channel
from tallylight.model.status import Kind, Status
from tallylight.ui.agent_list.pictures import Receiver
from tallylight.wire.styled import Run, Style, StyledScreen
from tests.actions.desk import holder, look
from tests.actions.hostile import HOSTILE
from tests.hosts.kitty.fakes import Cursor, Kitty, Screen
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_typist import Host, Pane, Window
from tests.tables import sampled

NOTICE = Caller(Who.NOTICE, (0, 0))
DIALOG = "claude/permission-bash-80"


@attrs.define
class Kept(Host):
    """A host with one pane, that knows what was answered in it."""

    panes: dict[int, Any] = attrs.field(factory=dict)
    once: Once = attrs.field(factory=lambda: Once(0.0, InProcess()))

    def guarded(self, _feature: str, call: Any) -> Any:
        return call


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["list", "notification"])
def test_nothing_hostile_is_answered(kitty: Kitty, surface: str) -> None:
    """
    Whatever has changed since the person was shown the question, by the list or by a button of a notification: nothing
    is typed, and they are told why.
    """
    lists = importlib.import_module("tallylight.hosts.kitty.agent_list")
    answering = importlib.import_module("tallylight.hosts.kitty.answering")
    wrong, tried, cases = [], 0, sampled(HOSTILE)
    for case in cases:
        window = Window()
        host = Kept(case.before.look, SimpleNamespace(window_id_map={3: window}))
        host.panes[3] = Pane(case.before.foreground, case.before.status)
        shown = lists._List(host, None)
        asked = shown.act(LookRequest("3", "question"))
        if not isinstance(asked, Question) or (isinstance(case.after, Seen) and case.after.pane != asked.pane):
            continue  # it is about colours, or about the id of a window, which is no other window's here
        tried += 1
        given = case.change(asked.answer(case.number))
        if isinstance(case.after, Seen):
            host.screen = case.after.look
            host.panes[3] = Pane(case.after.foreground, case.after.status)
        else:
            host.boss.window_id_map.clear()
        told = str((shown.act(given) if surface == "list" else answering.perform(host, given, NOTICE)).text)
        if window.written or not told or told.startswith("answered"):
            wrong.append((case.name, told, window.written))
    assert wrong == []
    assert tried > len(cases) * 3 // 4


def test_no_permission_is_answered_by_a_notification(kitty: Kitty) -> None:
    """A plain question is; what turns out to be a permission before the button is pressed is not."""
    answering = importlib.import_module("tallylight.hosts.kitty.answering")
    window = Window()
    host = Kept(look("claude/question-80"), SimpleNamespace(window_id_map={3: window}))
    host.panes[3] = pane = Pane(holder("claude"), Status.WAITING, kind=Kind.QUESTION)
    asked = answering.perform(host, LookRequest("3", "question"), PERSON)
    pane.kind = Kind.PERMISSION
    assert "no permission" in answering.perform(host, asked.answer(2), NOTICE).text and window.written == []
    pane.kind = Kind.QUESTION
    assert isinstance(answering.perform(host, asked.answer(2), NOTICE), Done) and window.written == ["2"]


def test_the_list_answers_one_question_once(kitty: Kitty) -> None:
    """Before the agent has drawn anything else nothing is typed again, also from a list opened anew."""
    module = importlib.import_module("tallylight.hosts.kitty.agent_list")
    window = Window()
    host = Kept(look(DIALOG), SimpleNamespace(window_id_map={3: window}))
    host.panes[3] = Pane(holder("claude"), Status.WAITING)

    def answered() -> str:
        """`a` and `1`, in a list of its own."""
        shown = module._List(host, None)
        asked = shown.act(LookRequest("3", "question"))
        assert isinstance(asked, Question)
        return str(shown.act(asked.answer(1)).text)

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


def test_the_list_hears_of_an_answer_once_it_is_decided(kitty: Kitty) -> None:
    """kitty's parser, in which the list rings, types nothing; what is asked for meanwhile waits, in order."""
    module = importlib.import_module("tallylight.hosts.kitty.agent_list")
    window, near, far = Window(), *socket.socketpair()
    near.setblocking(False)
    host = Kept(look(DIALOG), SimpleNamespace(window_id_map={3: window}), has_read=False)
    host.panes[3] = Pane(holder("claude"), Status.WAITING)
    shown = module._lists[9] = module._List(host, Channel(near))
    try:
        asked = shown.act(LookRequest("3", "question"))
        far.sendall(encode(asked.answer(1)) + encode(LookRequest("3", "holder")))
        module.receive(SimpleNamespace(id=9))
        assert window.written == []
        for _ in range(3):
            kitty.run_soon()
            assert window.written == [] and not select.select([far], [], [], 0)[0]
        host.has_read = True
        kitty.run_soon()
        assert window.written == ["1"]
        told = [decode_reply(line) for line in far.recv(65536).splitlines()]
        assert told[0] == Done("3", f"answered 1. {asked.choices[0].label}")
        assert isinstance(told[1], Occupant)
    finally:
        del module._lists[9]
        near.close()
        far.close()


def test_a_screen_is_shown_to_a_list_that_is_seen(kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the window with their colours, of the next picture what has changed; else kitty reads nothing."""
    module = importlib.import_module("tallylight.hosts.kitty.agent_list")
    screen = Screen("\x1b[m\x1b[31mred\r\x1b[mplain\r\n\r", Cursor(2, 1))
    window = SimpleNamespace(id=3, screen=screen)
    host = Kept(look(DIALOG), SimpleNamespace(window_id_map={3: window}))
    host.panes[3] = Pane(holder("claude"), Status.WAITING)
    shown = module._List(host, None, window_id=7)
    seen = {7}
    monkeypatch.setattr(module.kitty_windows, "visible", lambda _boss: seen)
    receiver = Receiver()

    def picture() -> StyledScreen | None:
        return receiver.take("3", shown.act(Draw("3", receiver.has("3"))).message)

    red = (Run("red", Style(foreground=1)),)
    assert picture() == StyledScreen(columns=80, lines=(red, (Run("plain"),), (), ()), cursor=(1, 2))
    screen.text, screen.cursor_visible = "\x1b[m\x1b[31mred\r\n\x1b[mother\r\n\r", False
    assert picture() == StyledScreen(columns=80, lines=(red, (Run("other"),), (), ()))
    typist = module.answering.WindowTypist(host, window, host.panes[3])
    assert typist.screen() == StyledScreen(columns=80, lines=(red, (Run("other"),)))

    seen.clear()
    window.screen = None
    assert picture() is None
    assert "gone" in shown.act(Draw("4", 0)).text
