"""A question on its way to the list: over the channel, whole; and what the terminal does with the answer."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done, Holder, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Interrupt
from tallylight.hosts.detached.sessions import Multiplexers
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Found
from tallylight.ui.agent_list import actions as list_actions
from tallylight.ui.agent_list import channel
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list.actions import Private, Requests
from tallylight.ui.agent_list.channel import CHANNEL, Lines, TooLongError, answer_to, read_answer, read_words
from tallylight.ui.agent_list.effects import Answer, Queue
from tallylight.ui.agent_list.question import keys_named
from tallylight.ui.agent_list.selection import Act, Target
from tallylight.wire.text import width
from tests.actions.desk import Desk, seen
from tests.ui.agent_list.panes import asking as asks
from tests.ui.agent_list.panes import no_sessions, question_of, rows_of


def question(name: str = "claude/permission-bash-120") -> Question:
    return Desk(seen(name)).shown()


def test_a_question_goes_over_the_channel_whole() -> None:
    """It comes out as it went in, also where its context is far longer than what a socket takes at once."""
    assert read_answer(answer_to(question())) == question()
    long = attrs.evolve(question(), context=tuple(f"{n} " + "日" * 300 for n in range(400)))
    assert read_answer(answer_to(long)) == long
    assert read_answer(answer_to("that pane is gone")) == "that pane is gone"


def test_what_is_too_long_is_refused_in_words() -> None:
    """Beyond its bound a question is not cut: the person is told to go there."""
    endless = attrs.evolve(question(), context=("x" * channel.MAX_MESSAGE,))

    assert read_answer(answer_to(endless)) == channel.TOO_LONG


def _without(name: str, **more: Any) -> Any:
    value = json.loads(answer_to(question()))["question"]
    return {"question": {**{key: part for key, part in value.items() if key != name}, **more}}


def test_what_is_no_answer_is_none() -> None:
    """Anything else that comes over the channel shows no question."""
    values = [None, [], "x", {}, 1, {"said": 1}, {"question": []}, {"question": {}}]
    values += [_without(name) for name in attrs.asdict(question())]
    values += [_without("", **more) for more in (
        {"fingerprint": ""}, {"pid": True}, {"pid": -1}, {"start": "1"}, {"context": [1]}, {"context": "x"},
        {"first": None}, {"choices": [{"number": 2, "label": "x", "keys": "1"}]}, {"choices": ["x"]},
        {"choices": [{"number": 1}]},
    )]  # fmt: skip

    assert [value for value in values if read_answer(json.dumps(value).encode()) is not None] == []
    assert read_answer(b"[" * 100_000) is None and read_answer(b"\xff") is None
    assert read_words(b'["a", 1]') == read_words(b"[" * 100_000) == read_words(b"{}") == []


def test_lines_come_in_any_pieces() -> None:
    """Bytes in pieces of any size make the same lines; one that does not end is not kept beyond its bound."""
    data = b'["go", "1"]\n["look", "2"]\n'
    for size in range(1, len(data)):
        lines = Lines(100)
        found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
        assert found == data.splitlines()
    lines = Lines(100)
    for _ in range(10):
        lines.feed(b"x" * 10)
    with pytest.raises(TooLongError):
        lines.feed(b"x")
    with pytest.raises(TooLongError):
        Lines(3).feed(b"four\n")


def test_the_list_reads_a_long_answer_in_pieces() -> None:
    """A question of a megabyte is read to its end, and the next one is the next one's."""
    near, far = socket.socketpair()
    private = Private.of({CHANNEL: str(far.detach())}, no_sessions)
    long = attrs.evolve(question(), context=("x" * 1000,) * 1000)
    row = rows_of(asks(3))[0]
    asked: list[bytes] = []

    def terminal() -> None:
        for said in (long, question(), "answered 1. Yes"):
            asked.append(near.recv(1000))
            near.sendall(answer_to(said))

    thread = threading.Thread(target=terminal)
    thread.start()
    assert private is not None
    assert private.look(row) == long and private.look(row) == question()
    assert private.answer(Answer(row, question(), 1)) == "answered 1. Yes"
    thread.join()
    near.close()
    assert [json.loads(words)[:2] for words in asked] == [["look", "3"], ["look", "3"], ["answer", "3"]]
    assert json.loads(asked[2])[2:] == ["4711", "88001", question().fingerprint, "1"]


def test_no_keys_are_sent() -> None:
    """What goes to the terminal names a choice; nothing in it could be typed."""
    given = attrs.asdict(question().answer(2))

    assert set(given) == {"pane", "pid", "start", "fingerprint", "number"} and given["number"] == 2


def test_other_panes_are_refused_in_words(tmp_path: Path) -> None:
    """A pane of another terminal is neither looked at nor answered, whatever it says about itself."""
    other = attrs.evolve(rows_of(asks(1))[0], is_own=False)
    evil = attrs.evolve(other, host="sessions-1", pane=attrs.evolve(other.pane, attach=("bash", "-c", "id")))
    actions = Requests({"XDG_RUNTIME_DIR": str(tmp_path)}, lambda: Multiplexers({}))

    for row in (other, evil):
        assert "only from the list that its own terminal opened" in str(actions.look(row))
        assert "only from" in actions.answer(Answer(row, question_of(row.pane), 1))


def test_what_is_done_to_a_pane_of_another_machine(tmp_path: Path) -> None:
    """Its turn is stopped, by the process that was shown; what only that machine itself does is refused in words."""
    given: list[object] = []

    def give(found: Found, what: object) -> Done | Refusal:
        given.append((found.pane.id, what))
        return Done("x", "interrupted") if len(given) == 1 else Refusal("no-turn", "it does not work")

    held = Holder("devbox/sessions-1:%2", "claude", 4711, 88001)
    machines = SimpleNamespace(holder=lambda _found: held, give=give)
    actions = Requests({"XDG_RUNTIME_DIR": str(tmp_path)}, lambda: Multiplexers({}), lambda: machines)
    there = attrs.evolve(rows_of(asks(3))[0].pane, id=held.pane)
    row = attrs.evolve(rows_of(asks(3))[0], is_own=False, host="machines-9", pane=there)
    target = Target(row, held)
    assert actions.examine(Act.INTERRUPT, row) == held
    assert actions.carry(Act.INTERRUPT, target) == "" and actions.carry(Act.INTERRUPT, target) == "it does not work"
    assert given == [(held.pane, Interrupt(held.pane, 4711, 88001))] * 2
    for said in (
        actions.examine(Act.CLOSE, row),
        actions.carry(Act.CLOSE, target),
        actions.start("fork", row),
        actions.start("resume", row),
        actions.queue(Queue(row, held, "then this")),
        actions.unqueue(row),
    ):
        assert str(said).endswith("is for devbox itself: Enter goes there")
    assert len(given) == 2


def test_a_detached_question_is_answered_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before the agent has drawn anything else nothing is typed again, however often; after that it is."""
    monkeypatch.setattr(list_actions, "SETTLE_S", 0.0)
    desk = Desk(seen("claude/permission-bash-80"))
    panes = SimpleNamespace(at=lambda _host, _pane: desk)
    actions = Requests({"XDG_RUNTIME_DIR": str(tmp_path)}, lambda: panes)  # type: ignore[arg-type, return-value]
    row = attrs.evolve(rows_of(asks(3))[0], is_own=False)

    def answered() -> str:
        asked = actions.look(row)
        assert isinstance(asked, Question)
        return actions.answer(Answer(row, asked, 1))

    assert answered() == "answered 1. Yes"
    assert "already answered" in answered() and "already answered" in answered()
    assert desk.typed == ["1"]
    before, desk.now = desk.now, seen("claude/working-120", Status.WORKING)
    assert isinstance(actions.look(row), str)
    desk.now = before
    assert answered() == "answered 1. Yes"
    assert desk.typed == ["1", "1"]


def test_a_long_row_is_wrapped_and_not_cut() -> None:
    """Every character of what is asked is in some line, at any width, and no line is wider than the screen."""
    row = "  $ rm -rf " + "日本 " * 40 + "tail"
    for columns in (5, 20, 79, 80, 300):
        shown = asking.opened(attrs.evolve(question(), context=(row,), first=0), columns)
        lines = [line.text for line in shown.lines]
        assert "".join(lines).startswith(row)
        assert max(map(width, lines)) <= columns
        assert sum(line.number > 0 for line in shown.lines) == 4


def test_named_keys() -> None:
    """What moves a pointer is named key by key."""
    assert keys_named("\x1b[B\x1b[B\r") == "Down Down ⏎" and keys_named("\x1b[Z") == "Shift+Tab"
