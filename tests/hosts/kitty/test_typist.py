"""A window of kitty as one that is answered and typed into, with a window that notes what is written."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions import answer, say
from tallylight.actions.answer import Done, Seen
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Say
from tallylight.evidence.foreground import Identity
from tallylight.evidence.screen import Look
from tallylight.hosts.kitty import unparsed
from tallylight.hosts.kitty.typist import AT_ONCE_S, COMPARE_TRIES, WindowTypist
from tallylight.model.errors import SessionError
from tallylight.model.status import Kind, Status
from tallylight.pane.tape import Tape
from tests.actions.desk import PID, START, holder, look
from tests.evidence.styled import named
from tests.tables import each


@attrs.define
class Host:
    """A host that shows *screen* in its window 3."""

    screen: Look
    boss: Any
    unread: Sequence[Look] = attrs.field(factory=list, kw_only=True)
    has_read: bool = attrs.field(default=True, kw_only=True)

    def parse(self, _window: object) -> bool:
        """Have the windows show what their programs have written since, and nobody has read yet."""
        if self.unread:
            self.screen, *self.unread = self.unread
        return self.has_read

    def look_at(self, _window: object, _pane: object) -> Look:
        return self.screen


@attrs.define
class Pane:
    """A pane of the agent *foreground*, which waits."""

    foreground: Identity
    status: Status
    queued: Any = None
    kind: Kind = Kind.PERMISSION
    #: A source other than the screen reports the same kind.
    is_confirmed: bool = True
    tape: Tape = attrs.field(factory=lambda: Tape(lambda _: None))

    def queue(self, text: Any) -> None:
        self.queued = text

    @property
    def decision(self) -> SimpleNamespace:
        confirmed = self.kind if self.is_confirmed else None
        return SimpleNamespace(status=self.status, kind=self.kind, confirmed_kind=confirmed)

    def holder(self) -> Identity:
        return self.foreground


@attrs.define
class Window:
    """Window 3, whose rows are *drawn* with their colours, and what was written to its program."""

    takes_paste: bool = True
    drawn: tuple[str, ...] = ()
    written: list[str] = attrs.field(factory=list)
    id: int = 3
    child: SimpleNamespace = attrs.field(factory=lambda: SimpleNamespace(child_fd=9, env={}))
    title: str = "three"

    @property
    def screen(self) -> SimpleNamespace:
        return SimpleNamespace(
            in_bracketed_paste_mode=self.takes_paste,
            as_text_non_visual=lambda write, *_how: write("\r\n".join(self.drawn)),
            lines=len(self.drawn),
            columns=80,
            cursor=SimpleNamespace(x=0, y=0),
            cursor_visible=False,
        )

    def write_to_child(self, text: str) -> None:
        self.written.append(text)


def typist(name: str, status: Status, **more: bool) -> tuple[WindowTypist, Window]:
    window = Window(**more)
    host = Host(look(name), SimpleNamespace(window_id_map={3: window}))
    return WindowTypist(host, window, Pane(holder("claude"), status)), window  # type: ignore[arg-type]


def test_an_answer_is_written_once() -> None:
    """The keys of the choice, and nothing else; the second time the screen is another."""
    hand, window = typist("claude/permission-bash-80", Status.WAITING)
    shown = answer.ask(hand)
    assert isinstance(shown, answer.Question)

    assert answer.answer(hand, shown.answer(2)) == Done("3", f"answered 2. {shown.choices[1].label}")
    hand.host.screen = look("claude/permission-write-80")  # type: ignore[misc]
    assert isinstance(answer.answer(hand, shown.answer(2)), Refusal)
    assert window.written == ["2"]


def test_the_selection_is_told_by_the_colours_of_the_window() -> None:
    """The keys lead from the choice that is highlighted now; once another one is, nothing is typed."""
    first, moved = named("opencode/permission-80"), named("opencode/permission-moved-80")
    window = Window(drawn=first.rows)
    host = Host(first.look, SimpleNamespace(window_id_map={3: window}))
    hand = WindowTypist(host, window, Pane(holder("opencode"), Status.WAITING))  # type: ignore[arg-type]
    shown = answer.ask(hand)
    assert isinstance(shown, answer.Question)
    assert [choice.keys for choice in shown.choices] == ["\r", "\x1b[C\r", "\x1b[C\x1b[C\r"]
    window.drawn = moved.rows
    refused = answer.answer(hand, shown.answer(3))
    assert isinstance(refused, Refusal) and refused.rule == "changed"
    window.drawn = first.rows

    assert answer.answer(hand, shown.answer(3)) == Done("3", "answered 3. Reject")
    assert window.written == ["\x1b[C\x1b[C\r"]


#: Another screen that kitty has not parsed, or more that it has not read; and the keys, or a text at the prompt.
UNPARSED = {
    "nothing": ("claude/permission-bash-80", {}, True),
    "another dialog": ("claude/permission-bash-80", {"unread": [look("claude/permission-write-80")]}, False),
    "what it has not read": ("claude/permission-bash-80", {"has_read": False}, False),
    "a dialog at the prompt": ("claude/idle-start-80", {"unread": [look("claude/permission-write-80")]}, False),
}


@pytest.mark.parametrize("name", UNPARSED)
def test_all_is_parsed_before_anything_is_typed(name: str) -> None:
    """What comes to light is another screen than the one that was compared."""
    screen, more, is_typed = UNPARSED[name]
    hand, window = typist(screen, Status.WAITING)
    seen = hand.see()
    assert isinstance(seen, Seen)
    for key, value in more.items():
        setattr(hand.host, key, value)

    assert hand.press("1", seen) is is_typed
    assert hand.paste("1", enter=True, seen=seen) is is_typed
    assert bool(window.written) is is_typed
    assert hand.press("1"), "an interruption does not compare the screen"


@each(("slow", "is_typed"), [(COMPARE_TRIES - 1, True), (COMPARE_TRIES, False)])
def test_a_comparison_that_was_held_up_is_made_again(
    slow: int, is_typed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs ran meanwhile, and the agent may have drawn; but that is not tried without end."""
    hand, window = typist("claude/permission-bash-80", Status.WAITING)
    times = iter([n for pair in range(COMPARE_TRIES + 1) for n in (pair, pair + (2 * AT_ONCE_S if pair < slow else 0))])
    monkeypatch.setattr("tallylight.hosts.kitty.typist.time", SimpleNamespace(monotonic=lambda: next(times)))
    seen = hand.see()
    assert isinstance(seen, Seen)

    assert hand.press("1", seen) is is_typed
    assert window.written == ["1"] * is_typed


def test_what_is_unread_is_known_of_the_terminal() -> None:
    """Before kitty has read it nothing is parsed; then all is, and kitty goes on reading."""
    done: list[str] = []
    near, far = pty.openpty()
    try:
        tty.setraw(far)
        screen = SimpleNamespace(test_parse_written_data=lambda: done.append("parsed"))
        window = SimpleNamespace(id=3, child=SimpleNamespace(child_fd=near), screen=screen)
        boss = SimpleNamespace(child_monitor=SimpleNamespace(wakeup=lambda: done.append("woken")))
        os.write(far, b"another dialog")
        assert not unparsed.parse(boss, window) and done == []
        os.read(near, 100)
        assert unparsed.parse(boss, window) and done == ["parsed", "woken"]
        window.child.child_fd = None
        assert not unparsed.parse(boss, window)
    finally:
        os.close(near)
        os.close(far)


def test_a_kitty_that_does_not_parse_on_request_gets_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It parses by itself; a second look comes later than that, and not so late that it is for another answer."""
    clock = [100.0]
    monkeypatch.setattr(unparsed, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(unparsed, "_asked", {})
    near, far = pty.openpty()
    window = SimpleNamespace(id=3, child=SimpleNamespace(child_fd=near), screen=SimpleNamespace())
    found = []
    try:
        for passed in (0, 0.01, 0.02, 0.001, 5, 0.09, 0.02):
            clock[0] += passed
            found.append(unparsed.parse(None, window))
    finally:
        os.close(near)
        os.close(far)
    assert found == [False, False, True, True, False, True, False]


def test_a_thread_that_reads_has_not_handed_all_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only one that waits has."""
    state = tmp_path / "stat"
    assert unparsed._reader(os.getpid()) is None, "only kitty has that thread"
    monkeypatch.setattr(unparsed, "_reader", lambda _: state)
    found = []
    for letter in "SRD":
        state.write_text(f"7 (Kitty) Child) {letter} 1 7 7")
        found.append(unparsed._is_reading())
    assert found == [False, True, True]


@each(
    ("takes_paste", "text", "enter", "written"),
    [
        (True, "a\nb", True, ["\x1b[200~a\nb\x1b[201~\r"]),
        (True, "a", False, ["\x1b[200~a\x1b[201~"]),
        (False, "a;", True, ["a;\r"]),
        (False, "a\nb", True, []),
    ],
)
def test_text_is_a_paste_where_that_was_asked_for(
    takes_paste: bool, text: str, enter: bool, written: list[str]
) -> None:
    """In one piece with the Enter behind it, so that nothing comes between."""
    hand, window = typist("claude/idle-after-turn-80", Status.IDLE, takes_paste=takes_paste)
    say.say(hand, Say("3", PID, START, text, enter))

    assert window.written == written


def test_a_window_that_is_gone_is_neither_seen_nor_written() -> None:
    """Also where it goes between the look and the keys."""
    hand, window = typist("claude/permission-bash-80", Status.WAITING)
    seen = hand.see()
    assert isinstance(seen, Seen) and (seen.pane, seen.kind, seen.takes_paste) == ("3", Kind.PERMISSION, True)
    window.child.child_fd = None
    assert isinstance(gone := hand.see(), Refusal) and gone.rule == "gone"
    hand.host.boss.window_id_map = {}
    assert isinstance(hand.see(), Refusal)
    with pytest.raises(SessionError):
        hand.press("1")
    assert window.written == []
