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

from tallylight.actions.answer import Done, Occupant, Question
from tallylight.actions.caller import PERSON
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import (
    MAX_MESSAGE_BYTES,
    QUESTION,
    SILENT,
    DeferredText,
    Lines,
    LookRequest,
    Open,
    Reply,
    Request,
    TooLongError,
    Unqueue,
    decode_reply,
    decode_request,
    encode_reply,
)
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.model.status import Status
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list.actions import Channelled, Direct
from tallylight.ui.agent_list.channel import CHANNEL
from tallylight.ui.agent_list.selection import Act
from tallylight.wire.text import width
from tests.actions.desk import Desk, seen
from tests.entries import pane_with
from tests.ui.agent_list.panes import asking as asks
from tests.ui.agent_list.panes import client_of, no_client, question_of, rows_of


def question(name: str = "claude/permission-bash-120") -> Question:
    return Desk(seen(name)).shown()


def test_a_question_goes_over_the_channel_whole() -> None:
    """It comes out as it went in, also where its context is far longer than what a socket takes at once."""
    assert decode_reply(encode_reply(question())) == question()
    long = attrs.evolve(question(), context=tuple(f"{n} " + "日" * 300 for n in range(400)))
    assert decode_reply(encode_reply(long)) == long
    assert decode_reply(encode_reply(Refusal("gone", "it is gone"))) == Refusal("gone", "it is gone")


def test_what_is_too_long_is_refused_in_words() -> None:
    """Beyond its bound a question is not cut: the person is told to go there."""
    endless = attrs.evolve(question(), context=("x" * MAX_MESSAGE_BYTES,))

    told = decode_reply(encode_reply(endless))
    assert isinstance(told, Refusal) and told.rule == "too-long"


def _without(name: str, **more: Any) -> Any:
    value = json.loads(encode_reply(question()))
    return {**{key: part for key, part in value.items() if key != name}, **more}


def test_what_is_no_answer_is_none() -> None:
    """Anything else that comes over the channel shows no question."""
    values = [None, [], "x", {}, 1, {"type": "said"}, {"type": 1}, {"type": "question"}, {"type": "request"}]
    values += [_without(name) for name in attrs.asdict(question())]
    values += [_without("", **more) for more in (
        {"pid": True}, {"pid": -1}, {"start": "1"}, {"context": [1]}, {"context": "x"}, {"first": None},
        {"choices": [{"number": 2, "label": "x", "keys": "1"}]}, {"choices": ["x"]}, {"choices": [{"number": 1}]},
    )]  # fmt: skip

    assert [value for value in values if decode_reply(json.dumps(value).encode()) != SILENT] == []
    assert decode_reply(b"[" * 100_000) == decode_reply(b"\xff") == SILENT
    assert decode_request(b"[" * 100_000) == decode_request(b"{}") == (None, False)


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
    channel = Channelled.of({CHANNEL: str(far.detach())}, no_client)
    long = attrs.evolve(question(), context=("x" * 1000,) * 1000)
    row = rows_of(asks(3))[0]
    look, given = LookRequest("3", QUESTION), question().answer(1)
    asked: list[bytes] = []

    def terminal() -> None:
        for said in (long, question(), Done("3", "answered 1. Yes")):
            asked.append(near.recv(1000))
            near.sendall(encode_reply(said))

    thread = threading.Thread(target=terminal)
    thread.start()
    assert channel is not None
    assert channel.perform(row, look) == long and channel.perform(row, look) == question()
    assert channel.perform(row, given) == Done("3", "answered 1. Yes")
    thread.join()
    near.close()
    assert [decode_request(line)[0] for line in asked] == [look, look, given]


def test_no_keys_are_sent() -> None:
    """What goes to the terminal names a choice; nothing in it could be typed."""
    given = attrs.asdict(question().answer(2))

    assert set(given) == {"pane", "pid", "start", "fingerprint", "number"} and given["number"] == 2


def test_other_panes_are_refused_in_words(tmp_path: Path) -> None:
    """A pane of another terminal is neither looked at nor answered, whatever it says about itself."""
    other = attrs.evolve(rows_of(asks(1))[0], is_own=False)
    evil = attrs.evolve(other, host="sessions-1", pane=pane_with(other.pane, attach=("bash", "-c", "id")))
    actions = Direct({"XDG_RUNTIME_DIR": str(tmp_path)}, client_of(PaneAccess({})))

    for row, why in ((other, "only from its kitty's own list"), (evil, "not a pane of tmux")):
        for asked in (LookRequest(row.pane.id, QUESTION), question_of(row.pane).answer(1)):
            told = actions.perform(row, asked)
            assert isinstance(told, Refusal) and why in told.text


def test_what_is_done_to_a_pane_of_another_machine(tmp_path: Path) -> None:
    """Its turn is stopped, by the process that was shown; what only that machine itself does is refused in words."""
    given: list[object] = []
    held = Occupant("devbox/sessions-1:%2", "claude", 4711, 88001)

    class Far(PaneClient):
        def ask_host(self, host: str, asked: Request, timeout_s: float, *, is_key: bool = False) -> Reply:
            assert is_key and host == "machines-9"
            if isinstance(asked, LookRequest):
                return held
            given.append(asked)
            return Done("x", "interrupted") if len(given) == 1 else Refusal("no-turn", "it does not work")

    client = Far(PaneAccess({}), lambda: PERSON, lambda _: "own", is_key=True)
    actions = Direct({"XDG_RUNTIME_DIR": str(tmp_path)}, lambda: client)
    there = attrs.evolve(rows_of(asks(3))[0].pane, id=held.pane)
    row = attrs.evolve(rows_of(asks(3))[0], is_own=False, host="machines-9", pane=there)
    stop = Act.INTERRUPT.of(held)
    assert actions.perform(row, Act.INTERRUPT.look_request(held.pane)) == held
    assert isinstance(actions.perform(row, stop), Done) and isinstance(actions.perform(row, stop), Refusal)
    assert given == [stop] * 2
    for asked in (
        Act.CLOSE.look_request(held.pane),
        Act.CLOSE.of(held),
        DeferredText(held.pane, held.pid, held.start, "then this"),
        Unqueue(held.pane),
    ):
        told = actions.perform(row, asked)
        assert isinstance(told, Refusal) and "devbox itself" in told.text, told
    for verb in ("fork", "resume"):
        told = actions.perform(row, Open(verb, row.pane.id))
        assert told == Refusal("elsewhere", f"{verb} is for devbox itself: Enter goes there")
    assert len(given) == 2


def test_a_detached_question_is_answered_once(tmp_path: Path) -> None:
    """Before the agent has drawn anything else nothing is typed again, however often; after that it is."""
    desk = Desk(seen("claude/permission-bash-80"))
    panes = SimpleNamespace(at=lambda _host, _pane: desk)
    actions = Direct({"XDG_RUNTIME_DIR": str(tmp_path)}, client_of(panes))
    row = attrs.evolve(rows_of(asks(3))[0], host="sessions-1", is_own=False)
    look = LookRequest(row.pane.id, QUESTION)

    def answered() -> str:
        asked = actions.perform(row, look)
        assert isinstance(asked, Question)
        told = actions.perform(row, asked.answer(1))
        assert isinstance(told, Done | Refusal)
        return told.text

    assert answered() == "answered 1. Yes"
    assert "already answered" in answered() and "already answered" in answered()
    assert desk.typed == ["1"]
    before, desk.now = desk.now, seen("claude/working-120", Status.WORKING)
    assert isinstance(actions.perform(row, look), Refusal)
    desk.now = before
    assert answered() == "answered 1. Yes"
    assert desk.typed == ["1", "1"]


def test_a_long_row_is_wrapped_and_not_cut() -> None:
    """Every word of what is asked is in some line, at any width, and no line is wider than the screen."""
    row = "  $ rm -rf " + "日本 " * 40 + "tail"
    for columns in (7, 20, 79, 80, 300):
        asked = attrs.evolve(question(), context=(row,), first=0)
        shown = asking.sized(asking.opened(asked, rows_of(asks(3))[0]), columns, 10, is_page=True)
        lines = [part.text for part in shown.lines]
        assert "".join("".join(lines).split()).startswith("".join(row.split()))
        assert max(map(width, lines)) <= columns - asking.INDENT_CELLS
        assert sum(part.number > 0 for part in shown.lines) == 4


def test_the_command_is_told_from_what_is_said_of_it() -> None:
    """The rows that hold what is asked for are marked, also where its middle was left out, and no others."""
    command = ["cd /srv/app &&", "rm -rf /var/lib/backups"]
    rows = ("Bash command", "╌" * 32, *(f"  {row}" for row in command), "  Remove old backups", "", "Proceed?")
    for what in ("Bash: cd /srv/app && rm -rf /var/lib/backups", "Bash: cd /srv/app && r…/var/lib/backups", ""):
        row = rows_of(asks(3, what=what))[0]
        asked = asking.opened(attrs.evolve(question(), context=rows, first=0), row)
        shown = asking.sized(asked, 80, 20, is_page=True)
        assert not any("╌" in part.text for part in shown.lines)
        assert [part.text.strip() for part in shown.lines if part.is_command] == (command if what else [])


def test_all_choices_are_shown_before_more_of_the_context() -> None:
    """Where the detail is too low for the dialog: "No" is not hidden while "Yes" is shown. It is not whole for that."""
    (row,) = rows_of(asks(1, 90))
    shown = asking.opened(question(), row)
    whole = asking.sized(shown, 80, 60, is_page=False)
    choices = [part.text for part in whole.lines if part.is_choice]
    low = asking.sized(shown, 80, len(choices) + 3, is_page=False)
    drawn = [low.lines[number].text for number in low.window]
    assert drawn == [*(part.text for part in low.lines[:2]), "…", *choices]
    assert whole.is_whole and not low.is_whole and asking.drawn(low).unread
    page = asking.sized(asking.drawn(low), 80, len(choices) + 3, is_page=True)
    assert not page.seen and page.must == low.must
