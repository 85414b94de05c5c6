"""Keys of parts: the list lends them its terminal, and offers the text that comes of it."""

from __future__ import annotations

import contextlib
import os
import pty
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyte
import pytest

from tallylight.actions.answer import Done, Occupant
from tallylight.actions.gate import Refusal
from tallylight.actions.request import DeferredText, LookRequest, Reply, Request
from tallylight.actions.say import Busy, Say
from tallylight.model.errors import TallyError
from tallylight.parts import Key, index
from tallylight.snapshot.labels_file import LabelsFile
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Snapshot
from tallylight.ui.agent_list import help as keys_help
from tallylight.ui.agent_list import loop
from tallylight.ui.agent_list.actions import Direct
from tallylight.ui.ansi import Depth
from tallylight.ui.terminal import Terminal
from tests.tables import each
from tests.ui.agent_list.panes import OWN, no_client, pane, snapshot
from tests.ui.agent_list.test_loop import Scripted

TEXT = "src/a:1 `two`: why?"


class Lending(Scripted):
    """A terminal on which these keys are pressed, one a read."""

    def __init__(self, *keys: bytes) -> None:
        super().__init__(5.0)
        self.keys, self.is_lent = list(keys), False

    def read(self, timeout: float | None, also: object = ()) -> bytes | None:
        self.now += 1.0
        return self.keys.pop(0)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        self.is_lent = True
        yield
        self.is_lent = False

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        return (snapshot(pane(1, "done"), pane(2, "done")),)


class Taking(Direct):
    """Takes texts, or refuses to, and keeps what it was asked."""

    def __init__(self, reply: Callable[[Occupant], Reply]) -> None:
        super().__init__({}, no_client)
        self.reply, self.given = reply, list[Request]()

    def perform(self, row: Row, asked: Request) -> Reply:
        if isinstance(asked, LookRequest):
            return self.reply(Occupant(row.pane.id, "claude", 70, 700))
        self.given.append(asked)
        return Done(row.pane.id, "done")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Lending, Taking]]:
    """A list with a key `d` of a part, whose keys are pressed; the terminal, and what was asked of panes."""

    def run(call: Callable[[Row], str], reply: Any, *keys: bytes, key: str = "") -> tuple[Lending, Taking]:
        terminal, actions = Lending(*keys), Taking(reply)
        real = index.load
        monkeypatch.setattr(index, "load", lambda name: call if name == "part:over" else real(name))
        monkeypatch.setattr(index, "keys", lambda: {"d": Key("show it", "part:over"), "q": Key("no", "part:over")})
        monkeypatch.setattr(loop, "time", terminal)
        labels = LabelsFile(Path("/nowhere/labels.json"))
        options: Any = {"own": OWN, "selected": f"{OWN}:2", "depth": Depth.NONE, "labels": labels, "key": key}
        loop.run(terminal, terminal, actions, lambda *_: [], **options)
        return terminal, actions

    return run


def test_a_text_is_sent_with_enter(shown: Callable[..., tuple[Lending, Taking]]) -> None:
    """The part gets the selected row while the terminal is its own; the text is sent only by the person's Enter."""
    rows: list[Row] = []
    _, actions = shown(lambda row: (rows.append(row), TEXT)[1], lambda held: held, b"d", b"\r", b"q")
    assert [row.pane.id for row in rows] == ["2"]
    assert actions.given == [Say("2", 70, 700, TEXT, enter=True)]
    _, actions = shown(lambda _: TEXT, lambda held: Busy(held, "it works"), b"d", b"\r", b"q")
    assert actions.given == [DeferredText("2", 70, 700, TEXT)]


def test_a_text_that_is_not_taken_now_is_kept(shown: Callable[..., tuple[Lending, Taking]]) -> None:
    """As a draft: the next `e` has it, and a second text is behind it."""
    replies = [Refusal("prompt", "a menu is open in it"), None]
    take = lambda held: replies.pop(0) or held  # noqa: E731
    _, actions = shown(lambda _: TEXT, take, b"d", b"e", b"\r", b"q")
    assert actions.given == [Say("2", 70, 700, TEXT, enter=True)]
    replies = [Refusal("prompt", "a menu is open in it"), None]
    _, actions = shown(lambda _: TEXT, take, b"d", b"d", b"\r", b"q")
    assert actions.given == [Say("2", 70, 700, f"{TEXT}\n{TEXT}", enter=True)]


@each("error", [TallyError("no turn of it is known"), ValueError("no turn of it is known"), KeyboardInterrupt()])
def test_a_fault_costs_nothing_else(error: BaseException, shown: Callable[..., tuple[Lending, Taking]]) -> None:
    """It is told in the list, which has its terminal again."""

    def fails(_row: Row) -> str:
        raise error

    terminal, actions = shown(fails, lambda held: held, b"d", b"q")
    assert (str(error) or "KeyboardInterrupt") in terminal.shown and not terminal.is_lent
    assert actions.given == []


def test_a_key_at_the_start(shown: Callable[..., tuple[Lending, Taking]]) -> None:
    """The list ends with what the key has shown, unless there is a text to send, or something to tell."""
    terminal, _ = shown(lambda _: "", lambda held: held, key="d")
    assert terminal.keys == []
    terminal, _ = shown(lambda _: "", lambda held: held, b"q", key="x")
    assert terminal.keys == [] and terminal.now > 0
    _, actions = shown(lambda _: TEXT, lambda held: held, b"\r", b"q", key="d")
    assert actions.given == [Say("2", 70, 700, TEXT, enter=True)]


def test_the_help_names_it() -> None:
    """Behind the keys of the list, which no part takes away."""
    found = keys_help.found("", {"d": Key("show it\x1b[2J", "part:over")})
    assert found[-2:] == ("Of parts", "  d          show it[2J")
    assert keys_help.found("show it", {"d": Key("show it", "part:over")})[-1] == "  d          show it"


def test_an_empty_screen() -> None:
    """What was there, such as the list's first picture, is scrolled away; what the program leaves is erased."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (3, 20))
    screen = pyte.HistoryScreen(20, 3)
    stream = pyte.ByteStream(screen)
    stream.feed(b"one\r\ntwo\r\nthree")
    with Terminal(slave, slave).lent():
        stream.feed(os.read(master, 4096).replace(b"\n", b"\r\n"))
        assert not "".join(screen.display).strip() and (screen.cursor.x, screen.cursor.y) == (0, 0)
        assert len(screen.history.top) == 3
        stream.feed(b"a page")
    stream.feed(os.read(master, 4096))
    assert not "".join(screen.display).strip() and len(screen.history.top) == 3
    os.close(master)
    os.close(slave)
