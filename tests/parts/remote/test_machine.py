"""One machine as this one knows it: what it says, what it may say, and what it is asked, by a clock of the test."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from tallylight.actions import request
from tallylight.actions.answer import Answer, Done, Occupant, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import HOLDER, SCREEN, LookRequest
from tallylight.actions.request import QUESTION as QUESTION_OF
from tallylight.actions.say import Say
from tallylight.config.machines import Machine as Setting
from tallylight.model.status import Status
from tallylight.parts.remote.machine import HELLO_S, MAX_GREETING, MAX_UNANSWERED, Machine
from tallylight.parts.remote.messages import (
    BEAT_S,
    CAN,
    MAX_LINE_BYTES,
    PROTOCOL,
    SILENT_S,
    Ask,
    Beat,
    Hello,
    PaneGone,
    PaneState,
    Reply,
    decode,
    encode,
)
from tallylight.parts.remote.panes import Panes
from tallylight.snapshot import names, rows
from tallylight.snapshot.elsewhere import local_id, parts
from tallylight.snapshot.entries import ConversationEntry
from tallylight.snapshot.schema import Snapshot
from tests.entries import new_pane, pane_with
from tests.tables import each

HELLO = Hello(PROTOCOL, "0.2.0", CAN, 5000.0)
PANE = new_pane(id="tmux/1867/%2", status=Status.WAITING, agent="claude", since=4000.0, attach=("tmux", "attach"))
SSH = Setting("devbox", ("ssh", "devbox"))


def machine(setting: Setting = SSH, **limits: int) -> Machine:
    """One whose process has been started at 0."""
    made = Machine(setting, Panes(**{"max_rows": 100, "max_bytes": 1 << 20, **limits}))
    made.began(0.0)
    return made


def say(to: Machine, *messages: Any, now: float = 1.0, wall: float = 5000.0) -> None:
    """Have its bridge say them."""
    to.received(b"".join(encode(message) for message in messages), now, wall)


def up(**limits: int) -> Machine:
    """One that is connected and shows one pane."""
    made = machine(**limits)
    say(made, HELLO, PaneState("sessions-7", PANE))
    return made


def test_its_panes_are_rows_of_its_name() -> None:
    """A row has the machine in its id and its title, and leads there by our own verb."""
    found = up()
    assert (found.is_up, found.says) == (True, "connected, tally 0.2.0")
    (row,) = found.rows
    assert row.id == "devbox/sessions-7:tmux/1867/%2" and row.place.host_title == "devbox"
    assert row.commands.attach == ("tally", "attach", row.id) and row.status is Status.WAITING
    assert parts(row.id) == ("devbox", "sessions-7", "tmux/1867/%2")
    assert names.spellings("machines-9", row.id)[0] == "devbox tmux 2"
    assert names.spellings("machines-9", "devbox/kitty-1:3")[:2] == ("devbox 3", "devbox kitty 3")
    say(found, PaneGone("sessions-7", PANE.id))
    assert found.rows == []


def test_nothing_of_this_machine_can_be_named() -> None:
    """What a machine says of processes, terminals, directories to open or commands to run is not taken over."""
    lie = pane_with(
        PANE,
        id="3",
        pid=1,
        agent_pid=1,
        terminal="/dev/pts/0",
        terminals=("/dev/pts/0",),
        resume=("sh", "-c", "x"),
        fork=("sh",),
        attach=("ssh", "-oProxyCommand=touch /tmp/x", "y"),
        choices=(("\x03", "Yes"),),
        conversation=ConversationEntry(agent="claude", cwd="/"),
        visible=True,
    )
    found = machine()
    say(found, HELLO, PaneState("kitty-1", lie))
    (row,) = found.rows
    assert (
        row.pid,
        row.agent_pid,
        row.place.terminal,
        row.place.terminals,
        row.commands.resume,
        row.commands.fork,
    ) == (None, None, "", (), (), ())
    assert (row.choices, row.conversation, row.attention.visible, row.works_in) == ((), ConversationEntry(), False, "")
    assert row.commands.attach == ("tally", "attach", "devbox/kitty-1:3")


def test_it_cannot_hide_a_row_of_this_machine() -> None:
    """By no session and no terminal that it claims; what a pane of this machine tells as well is told once."""
    own = new_pane(id="3", status=Status.WAITING, agent="claude", session="s", terminal="/dev/pts/0")
    lie = pane_with(own, id="devbox/kitty-1:3", terminals=("/dev/pts/0",), agent_pid=7)
    other = attrs.evolve(lie, id="other/kitty-1:3", session="t")
    third = attrs.evolve(lie, id="third/kitty-1:3", session="t")
    hosts = [
        Snapshot(host="machines", pid=9, started=0.0, written=0.0, panes=(lie, other, third)),
        Snapshot(host="kitty", pid=4711, started=0.0, written=0.0, panes=(own,)),
    ]
    shown = {row.pane.id for row in rows.build(hosts, "kitty-4711", 1.0)}
    assert shown == {"3", "other/kitty-1:3", "third/kitty-1:3"}


def test_times_are_by_this_clock() -> None:
    """A machine whose clock is an hour behind has no questions that are an hour old."""
    found = machine()
    say(found, attrs.evolve(HELLO, at=1400.0), PaneState("sessions-7", attrs.evolve(PANE, since=1390.0)), wall=5000.0)
    assert found.rows[0].since == 4990.0 and found.rows[0].attention.snoozed_until == 0.0
    near = machine()
    say(near, attrs.evolve(HELLO, at=4999.0), PaneState("sessions-7", PANE), wall=5000.0)
    assert near.rows[0].since == PANE.since


def test_rows_are_bounded() -> None:
    """In number and in bytes; that there are more is told, and a row that grows too large goes."""
    found = machine(max_rows=3)
    say(found, HELLO, *(PaneState("kitty-1", attrs.evolve(PANE, id=str(n))) for n in range(10)))
    assert len(found.rows) == 3 and found.says.endswith("some of its panes are not shown")
    small = machine(max_bytes=4000)
    say(small, HELLO, *(PaneState("kitty-1", attrs.evolve(PANE, id=str(n))) for n in range(10)))
    assert 0 < len(small.rows) < 5
    say(small, PaneState("kitty-1", attrs.evolve(PANE, id="0", message="x" * 500, reply="x" * 500, title="x" * 500,
                                                topic="x" * 500, question="x" * 500, what="x" * 500)))  # fmt: skip
    assert "devbox/kitty-1:0" not in {row.id for row in small.rows}


def test_of_other_machines_it_says_nothing() -> None:
    """What a machine shows of others is not shown as its own."""
    found = machine()
    say(found, HELLO, PaneState("machines-7", attrs.evolve(PANE, id="x")))
    assert found.rows == []


@each(
    "code, complaint, says",
    [
        (255, "devbox: Permission denied (publickey).\n", "cannot be reached: devbox: Permission denied (publickey)."),
        (255, "", "cannot be reached: ssh failed"),
        (255, "a\nssh: \x1b[31mConnection refused\r\n", "cannot be reached: ssh: [31mConnection refused"),
        (127, "sh: 1: exec: tally: not found\n", "has no tally: install it there as here, with its `install.sh`"),
        (126, "", "has no tally: install it there as here, with its `install.sh`"),
        (2, "tally: unknown verb `bridge`, did you mean `fork`?; see `tally --help`\n", "its tally is too old"),
        (1, "Error: No such container: ci\n", "its command ended with code 1: Error: No such container: ci"),
        (0, "", "its command ended with code 0"),
        (None, "", "there is no program 'ssh' on this machine"),
    ],
)
def test_why_it_is_not_there(code: int | None, complaint: str, says: str) -> None:
    """Each way to fail has words of its own that say what to do."""
    found = machine()
    found.ended(code, complaint, 1.0)
    assert not found.is_up and found.says.startswith(says), found.says


@each(
    "hello, says",
    [
        ({"bridge": 1, "tally": "0.1.0"}, "its tally 0.1.0 is older"),
        ({"bridge": 3, "tally": "9.0.0"}, "its tally 9.0.0 is newer"),
        ({"bridge": 3, "tally": "\x1b]0;x\x07" + "9" * 500}, "its tally ]0;x9999"),
    ],
)
def test_another_protocol(hello: dict[str, Any], says: str) -> None:
    """A bridge of another protocol is not spoken with."""
    found = machine()
    found.received(json.dumps(hello).encode() + b"\n" + (encode(PaneState("kitty-1", PANE))), 1.0, 1.0)
    assert found.overdue(1.0) and not found.rows
    found.ended(-15, "", 1.0)
    assert found.says.startswith(says) and "run `tally setup`" in found.says, found.says


def test_an_older_one_shows_what_it_can() -> None:
    """A bridge without a verb is connected, and says that it cannot do that."""
    found = machine()
    say(found, attrs.evolve(HELLO, version="0.1.9", can=frozenset({"look"})), PaneState("sessions-7", PANE))
    assert found.is_up and found.rows and "older" in found.says and "answer" in found.says
    told: list[request.Reply] = []
    found.ask("sessions-7", Answer(PANE.id, 1, 1, "f", 1), 9.0, told.append)
    assert isinstance(told[0], Refusal) and told[0].rule == "version" and not found.output(1.0)


@pytest.mark.slow
def test_what_a_shell_prints_first_is_passed_over() -> None:
    """A greeting in front of the first line is none of ours, if it ends."""
    found = machine()
    found.received(b"Welcome to devbox!\n{}\n\x1b[0m\n" + (encode(HELLO)), 1.0, 5000.0)
    assert found.is_up
    endless = machine()
    endless.received(b"x\n" * (MAX_GREETING + 1), 1.0, 5000.0)
    assert endless.overdue(1.0)
    one_line = machine()
    one_line.received(b"x" * (MAX_LINE_BYTES + 2), 1.0, 5000.0)
    assert one_line.overdue(1.0)


def test_what_a_shell_prints_without_a_line_end() -> None:
    """A prompt in front of the first message, in its line, is passed over too."""
    found = machine()
    found.began(0.0)
    found.received(b"welcome\nx> " + encode(HELLO), 1.0, 5000.0)

    assert (found.is_up, found.says) == (True, "connected, tally 0.2.0")


@each(
    ("data", "says"),
    [
        (b"x> ", "does not answer: 'x>'"),
        (b"\x1b\x07Are you\nsure? [y/N] ", "does not answer: 'Are you sure? [y/N]'"),
        (b"", "does not answer"),
        (b"n" * 500, f"does not answer: '{'n' * 60}'"),
    ],
)
def test_what_it_says_instead(data: bytes, says: str) -> None:
    """What came is shown, harmless and short, so that a person knows why."""
    found = machine()
    found.began(0.0)
    found.received(data, 1.0, 5000.0)

    assert found.overdue(31.0)
    found.ended(1, "", 31.0)
    assert found.says == says


def test_one_that_hangs() -> None:
    """Without a first line, or without any later one, the link is ended in time, and its rows are gone."""
    found = machine()
    assert not found.overdue(HELLO_S) and found.overdue(HELLO_S + 0.1)
    found.ended(-15, "", HELLO_S + 0.1)
    assert found.says == "does not answer"
    silent = up()
    say(silent, Beat(), now=10.0)
    assert silent.due() <= 10.0 + SILENT_S
    assert not silent.overdue(10.0 + SILENT_S) and silent.overdue(10.1 + SILENT_S)
    silent.ended(-15, "", 40.0)
    assert (silent.is_up, silent.rows, silent.says) == (False, [], "has stopped answering")


def test_nonsense_is_no_sign_of_life() -> None:
    """A machine that says what is no message says nothing."""
    found = up()
    found.received(b"{}\n" * 1000, 15.0, 5000.0)
    assert found.overdue(1.1 + SILENT_S)


def test_it_is_tried_again_after_longer_and_longer_times() -> None:
    """Up to a minute; a connection that held is tried again soon."""
    found = machine()
    waits = []
    for _ in range(9):
        found.began(0.0)
        found.ended(255, "", 0.0)
        waits.append(found.retry_at)
    assert waits[:3] == [1.0, 2.0, 4.0] and waits[-1] == 60.0
    found.began(0.0)
    say(found, HELLO)
    found.ended(255, "", 100.0)
    assert found.retry_at == 101.0 and found.says == "the connection was lost"


def test_it_says_that_this_end_is_there() -> None:
    """A beat where nothing else was sent; none before the other end has said who it is."""
    found = up()
    assert not found.output(BEAT_S - 0.1) and decode(bytes(found.output(BEAT_S + 0.1)).rstrip()) == Beat()
    assert not machine().output(100.0)


QUESTION = Question(pane=PANE.id, agent="claude", pid=7, start=8, fingerprint="f", prompt="p", question="Go on?")


ASKED = {
    **{what: LookRequest(PANE.id, what) for what in (SCREEN, QUESTION_OF, HOLDER)},
    "answer": Answer(PANE.id, 1, 1, "f", 1),
    "say": Say(PANE.id, 1, 1, "x", enter=True),
}


def asked(found: Machine, what: str = "question", until: float = 20.0) -> list[request.Reply]:
    """Where its reply comes."""
    told: list[request.Reply] = []
    found.ask("sessions-7", ASKED[what], until, told.append)
    return told


def test_a_reply_is_of_the_pane_that_was_asked() -> None:
    """A question comes back under the name that the pane has here."""
    found = up()
    told = asked(found)
    sent = decode(bytes(found.output(1.0)).rstrip())
    assert sent == Ask(1, "sessions-7", ASKED["question"])
    say(found, Reply(1, QUESTION))
    assert told == [attrs.evolve(QUESTION, pane=local_id("devbox", "sessions-7", PANE.id))]


@each(
    "verb, reply",
    [
        ("question", attrs.evolve(QUESTION, pane="tmux/1867/%3")),
        ("question", attrs.evolve(QUESTION, pane="other/kitty-1:3")),
        ("question", Occupant(PANE.id, "claude", 7, 8)),
        ("question", Done(PANE.id, "answered")),
        ("holder", Occupant("3", "claude", 7, 8)),
        ("holder", QUESTION),
        ("screen", QUESTION),
        ("screen", Done(PANE.id, "x")),
        ("answer", QUESTION),
        ("say", Occupant(PANE.id, "claude", 7, 8)),
    ],
)
def test_a_reply_that_does_not_fit_is_none(verb: str, reply: request.Reply) -> None:
    """Of another pane or another kind: the person is told, and nothing of it is shown."""
    found = up()
    told = asked(found, verb)
    say(found, Reply(1, reply))
    assert isinstance(told[0], Refusal) and told[0].rule == "unreachable"


def test_a_reply_that_nobody_asked_for() -> None:
    """It is dropped, and a second one to the same question too."""
    found = up()
    told = asked(found)
    say(found, Reply(9, QUESTION))
    assert told == []
    say(found, Reply(1, QUESTION), Reply(1, Done(PANE.id, "x")))
    assert len(told) == 1


def test_no_reply() -> None:
    """One that does not come, or whose connection ends first, is told; it may have been done."""
    found = up()
    told = asked(found, until=5.0)
    found.expire(4.9)
    assert told == [] and found.due() <= 5.0
    found.expire(5.0)
    late = asked(found)
    found.output(5.0).clear()
    found.ended(255, "", 6.0)
    for one in (told[0], late[0]):
        assert isinstance(one, Refusal) and one.rule == "unreachable" and "check whether" in one.text
    after = asked(found)
    assert isinstance(after[0], Refusal) and "nothing was done" in after[0].text


@pytest.mark.parametrize("host, id_", [("sessions-7", "tmux/1867/%3"), ("sessions-8", PANE.id), ("kitty-1", "3")])
def test_a_pane_that_is_not_there_is_not_asked(host: str, id_: str) -> None:
    """What is not among its rows is gone, and nothing is sent."""
    found, told = up(), []
    found.ask(host, Answer(id_, 7, 8, "f", 1), 9.0, told.append)
    assert isinstance(told[0], Refusal) and told[0].rule == "gone" and not found.output(1.0)


def test_questions_are_bounded() -> None:
    """One that answers none is asked no more."""
    found = up()
    lists = [asked(found) for _ in range(MAX_UNANSWERED + 1)]
    assert [len(told) for told in lists] == [0] * MAX_UNANSWERED + [1]
    assert isinstance(lists[-1][0], Refusal) and lists[-1][0].rule == "busy"
