"""Asking on a terminal of our own: what counts as a key, and when."""

from __future__ import annotations

import os
import pty
import termios
import threading
from collections.abc import Callable, Iterator

import attrs
import pytest

from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.ui import confirm as ask
from tests.parts.conversations.test_offer import offer
from tests.tables import each

WAIT_S = 60.0


@attrs.define
class Desk:
    """Both ends of a terminal, and the page that is asked on it in a thread of its own."""

    ours: int
    theirs: int
    prepared: list[int] = attrs.Factory(list)
    before: Callable[[int], None] = lambda _: None
    answers: list[bool] = attrs.Factory(list)
    _thread: threading.Thread | None = None
    _shown: bytes = b""

    def ask(self, page: ForkPage) -> None:
        def prepare(_: ForkPage) -> None:
            self.before(len(self.prepared))
            self.prepared.append(1)

        self._thread = threading.Thread(
            target=lambda: self.answers.append(ask.ask(page, self.theirs, {}, prepare)), daemon=True
        )
        self._thread.start()

    def until(self, *texts: str) -> None:
        """Read until each of *texts* came, in this order."""
        for text in texts:
            while text.encode() not in self._shown:
                self._shown += os.read(self.ours, 65536)
            self._shown = self._shown.partition(text.encode())[2]

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def answer(self) -> bool:
        assert self._thread is not None
        self._thread.join(WAIT_S)
        return self.answers[0]


@pytest.fixture
def desk() -> Iterator[Desk]:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    yield Desk(ours, theirs)
    os.close(ours)
    os.close(theirs)


def test_a_page_that_takes_its_time_is_announced(desk: Desk) -> None:
    """Before what it lacks is looked up, the window says what will be there."""
    go_on = threading.Event()
    desk.before = lambda _: go_on.wait(WAIT_S)  # type: ignore[assignment,return-value]
    desk.ask(offer())
    desk.until("Fork: reading what there is …")
    assert not desk.prepared
    go_on.set()
    desk.until("Enter", "new worktree")
    desk.press("\x1b")

    assert not desk.answer()


def test_enter(desk: Desk) -> None:
    """On a page that is there, Enter is a word."""
    desk.ask(offer())
    desk.until("Enter", "new worktree")
    desk.press("\r")

    assert desk.answer()


@each("terminal", ["WezTerm", "xterm"])
def test_its_title_goes_with_it(desk: Desk, monkeypatch: pytest.MonkeyPatch, terminal: str) -> None:
    """A shell that sets no title would keep the page's: in WezTerm its word for none is set."""
    monkeypatch.setenv("TERM_PROGRAM", terminal)
    desk.ask(offer())
    desk.until("Enter")
    desk.press("\x1b")
    assert desk.answer() is False
    left = os.read(desk.ours, 65536)
    assert (b"\x1b]2;wezterm\x07" in left) is (terminal == "WezTerm")


def test_what_goes_on_from_another_window_does_not_count(desk: Desk) -> None:
    """A page that gets the keyboard in the middle of a person's typing waits until they look up."""
    looked_up = threading.Event()
    desk.ask(offer())
    desk.until("Enter", "new worktree")
    desk.before = lambda count: looked_up.set() if count == 1 else None
    desk.press("\x1b[I\r")
    for key in "\r", "q", "\r":
        desk.press(key)
    # It draws itself once more when nothing was typed for a while: then a key is one again.
    assert looked_up.wait(WAIT_S) and desk.answers == []
    desk.until("new worktree")
    desk.press("\r")
    assert desk.answer()


@pytest.mark.parametrize("comes", [b"\x1b[I", b"\x1b[O\x1b[I", b"q\x1b[I"])
def test_the_keyboard_comes_in_the_middle_of_a_read(monkeypatch: pytest.MonkeyPatch, comes: bytes) -> None:
    """Whatever was read with that, the keys that go on are not for this page."""
    ours, theirs = os.pipe()
    typed = [b"\r", b""]

    def select_(*_: object) -> tuple[list[int], list[int], list[int]]:
        found = typed.pop(0)
        os.write(theirs, found)
        return [ours] if found else [], [], []

    monkeypatch.setattr(ask.select, "select", select_)
    os.write(theirs, comes)
    assert ask.read_key(ours) == "" and typed == []
    os.close(ours)
    os.close(theirs)


def test_what_was_typed_before_the_page_does_not_count(desk: Desk) -> None:
    """Not while it was being found out what to show: an Enter of then would agree to what nobody has seen."""
    desk.before = lambda count: desk.press("\r") if count == 0 else None
    desk.ask(offer())
    desk.until("Enter", "new worktree")
    desk.press("x")
    desk.until("Enter", "new worktree")
    assert not desk.answers
    desk.press("\x1b")

    assert not desk.answer()


def test_what_was_typed_while_the_page_changed_does_not_count(desk: Desk) -> None:
    """`t` changes what would happen; an Enter that came with it, before that was drawn, was for the page before."""
    desk.ask(offer())
    desk.until("Enter", "new worktree")
    count = len(desk.prepared)
    desk.before = lambda now: desk.press("\r") if now == count else None
    desk.press("t")
    desk.until("a new tab", "new worktree")
    desk.press("x")
    desk.until("a new tab", "new worktree")
    assert not desk.answers
    desk.press("q")

    assert not desk.answer()


def test_three_rows(desk: Desk) -> None:
    """In a window of three rows the list has to be read to its end first; a larger window begins anew."""
    termios.tcsetwinsize(desk.theirs, (3, 80))
    desk.ask(offer())
    desk.until("2/")
    desk.press("\r")
    desk.until("Scroll down with")
    assert not desk.answers
    termios.tcsetwinsize(desk.theirs, (24, 80))
    desk.until("Enter", "new worktree")
    desk.press("\r")

    assert desk.answer()


@each(
    ("data", "key"),
    [
        (b"\r", "enter"),
        (b"\n", "enter"),
        (b"\x1b", "escape"),
        (b"\x1b[A", "up"),
        (b"\x1bOB", "down"),
        (b"\x1b[5~", "pageup"),
        (b"\x1b[6~", "pagedown"),
        (b" ", " "),
        (b"q", "q"),
        ("é".encode(), "é"),
        (b"\x03", "\x03"),
        (b"\r\r", ""),
        (b"up", ""),
        (b"enter", ""),
        (b"\x1b[200~\r\x1b[201~", ""),
        (b"\x1b[C", ""),
        (b"\xff", "\ufffd"),
    ],
)
def test_keys(data: bytes, key: str) -> None:
    """A key is what one read brings."""
    read, write = os.pipe()
    os.write(write, data)
    assert ask.read_key(read) == key
    os.close(write)
    assert ask.read_key(read) is None
    os.close(read)


def test_the_end_of_what_is_pasted_is_no_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line's end in a read of its own, with the end of the paste right behind it, confirms nothing."""
    monkeypatch.setattr(ask, "REST_OF_KEY_S", WAIT_S)
    read, write = os.pipe()
    os.write(write, b"\r")
    timer = threading.Timer(0.05, lambda: os.write(write, b"\x1b[201~"))
    timer.start()
    assert ask.read_key(read) == ""
    timer.join()
    os.close(read)
    os.close(write)
