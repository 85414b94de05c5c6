"""
An answer to a terminal of this machine whose connection ends, at each step of it, as in `tests.parts.remote.test_cuts`:
over the list's own channel and over the socket of a host. The pane is typed into at most once, and the person is
told what is known.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallylight.actions import request
from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import PERSON
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import Verdict
from tallylight.actions.request import Reply, Request
from tallylight.snapshot import sockets
from tallylight.ui.agent_list import actions
from tallylight.ui.agent_list.actions import Channelled
from tallylight.ui.agent_list.channel import CHANNEL
from tests.actions.desk import Desk, seen
from tests.parts.remote.far import HandPanes
from tests.parts.remote.test_cuts import DONE, PERHAPS, part
from tests.ui.agent_list.panes import asking, no_client, rows_of

NAME = f"kitty-{os.getpid()}"
LOOKED = "does not answer"
#: What the terminal still does: it takes the request, and says so much of its reply; how often the pane was typed into
#: by then; and what the person is told.
CUTS = [
    ("", "", 0, PERHAPS),
    ("request", "nothing", 0, PERHAPS),
    ("reply", "nothing", 1, PERHAPS),
    ("reply", "half", 1, PERHAPS),
    ("reply", "all but its end", 1, PERHAPS),
    ("reply", "all", 1, DONE),
]
#: Has the terminal, which does so much, be asked.
Ask = Callable[["Terminal", Request], Reply]


class Terminal:
    """Takes one request about *desk*, and goes at the *step*; a silent one does so once nobody waits any more."""

    def __init__(
        self, desk: Desk, once: Once, step: str = "reply", much: str = "all", *, is_silent: bool = False
    ) -> None:
        self._access = Access(desk, once, lambda *_: Verdict.ALLOWED)
        self._step, self._much, self._is_silent = step, much, is_silent
        self.gone = threading.Event()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            line = request.first_line(connection.recv, request.MAX_REQUEST_BYTES) if self._step else None
            if line is not None and self._step == "reply":
                asked, _ = request.decode_request(line)
                assert asked is not None
                reply = request.encode_reply(perform(self._access, asked, PERSON) or request.UNKNOWN)
                connection.sendall(part(reply, self._much))
            if self._is_silent:
                self.gone.wait(60)


@contextlib.contextmanager
def serving(terminal: Terminal, connect: Callable[[], socket.socket]) -> Iterator[None]:
    """The terminal on a thread, at the connection that *connect* takes."""
    thread = threading.Thread(target=lambda: terminal.serve(connect()))
    thread.start()
    try:
        yield
    finally:
        terminal.gone.set()
        thread.join()


def over_the_channel(terminal: Terminal, asked: Request) -> Reply:
    """A list that the terminal has just opened."""
    near, far = socket.socketpair()
    channel = Channelled.of({CHANNEL: str(far.detach())}, no_client)
    assert channel is not None
    with serving(terminal, lambda: near):
        told = channel.perform(rows_of(asking(3))[0], asked)
        if isinstance(told, Refusal) and terminal._much != "all":
            # What is pressed then in the same list reaches nobody.
            again = channel.perform(rows_of(asking(3))[0], asked)
            assert isinstance(again, Refusal) and "nothing was done" in again.text
    channel._close()
    return told


@pytest.fixture(params=["channel", "socket"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ask]:
    if request.param == "channel":
        yield over_the_channel
        return
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    listener = sockets.listen("kitty", environ)
    listener.setblocking(True)
    client = PaneClient(HandPanes(), lambda: PERSON, lambda _: "all", environ=environ)

    def over_the_socket(terminal: Terminal, asked: Request) -> Reply:
        with serving(terminal, lambda: listener.accept()[0]):
            return client.ask_host(NAME, asked, actions.LIST_REPLY_S)

    with listener:
        yield over_the_socket


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize(("step", "much", "typed", "says"), CUTS)
def test_an_answer_that_is_cut(
    step: str, much: str, typed: int, says: str, is_silent: bool, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the terminal ends there or only falls silent. Nothing is asked twice of itself, or done twice."""
    if is_silent and says != DONE:
        monkeypatch.setattr(actions, "LIST_REPLY_S", 0.1)
    desk, once = Desk(seen("claude/permission-bash-120")), Once(0.0, InProcess())
    question = desk.shown()
    asked = Answer(question.pane, question.pid, question.start, question.fingerprint, 1)

    told = ask(Terminal(desk, once, step, much, is_silent=is_silent), asked)
    assert isinstance(told, Done if says == DONE else Refusal) and says in told.text, told
    assert len(desk.typed) == typed

    # The terminal is there again, and the person presses once more. The agent has drawn nothing since.
    monkeypatch.undo()
    again = ask(Terminal(desk, once), asked)
    assert len(desk.typed) == 1
    assert (again.rule == "answered") if isinstance(again, Refusal) else not typed, again


@pytest.mark.parametrize(("step", "much"), [row[:2] for row in CUTS[:-1]])
def test_a_look_that_is_cut(step: str, much: str, ask: Ask) -> None:
    """Nothing can have been done, and nothing is said of that; the next look is whole."""
    desk, once = Desk(seen("claude/permission-bash-120")), Once(0.0, InProcess())
    look = request.LookRequest(desk.shown().pane, request.QUESTION)
    told = ask(Terminal(desk, once, step, much), look)
    assert isinstance(told, Refusal) and told.text.endswith(LOOKED), told
    assert isinstance(ask(Terminal(desk, once), look), Question) and not desk.typed
