"""Writing to an agent from the list: whom it is for, what is kept, and what is refused."""

from __future__ import annotations

import json
import socket

import attrs

from tallylight.actions.answer import Done, Occupant
from tallylight.actions.gate import Refusal
from tallylight.actions.request import SILENT, DeferredText, Reply, Unqueue, decode_reply, decode_request, encode_reply
from tallylight.actions.say import Busy, Say
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import ReasonEntry
from tallylight.ui.agent_list import state, writing
from tallylight.ui.agent_list.actions import Channelled, Direct
from tallylight.ui.agent_list.channel import CHANNEL
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, opening
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.details import clock
from tallylight.ui.keys import Event, Mouse, Paste
from tests.actions.desk import Desk, seen
from tests.entries import pane_with
from tests.tables import each
from tests.ui.agent_list.panes import (
    NOW,
    OWN,
    client_of,
    listed,
    no_client,
    pane,
    pressed,
    prompt_agent,
    row_for,
    rows_of,
    texts,
)

SHOP, DOCS = pane(1, "done", 60, project="shop"), pane(2, "idle", 50, project="docs")
HOLDER = Occupant("1", "claude", 70, 700)


def writing_to(start: State, *keys: str | Event) -> tuple[State, Effects]:
    """After `e`, when the agent turned out to take text, and these keys."""
    start, effects = pressed(start, "e")
    row = row_for(prompt_agent, effects)
    return pressed(writing.begun(start, row, Occupant(row.pane.id, "claude", 70, 700)), *keys)


def test_enter_sends_what_was_written_to_whom_it_was_begun_for() -> None:
    """One effect, with the process that was there when the person began; Enter alone sends nothing."""
    now, effects = writing_to(listed(SHOP, DOCS), *"Go on", "alt+enter", *"please", "enter")

    assert effects == (Perform(rows_of(SHOP)[0], Say("1", 70, 700, "Go on\nplease", enter=True)),)
    assert now.mode is Mode.WRITE
    sent = writing.sent(now, "sent")
    assert (sent.mode, sent.message, sent.drafts) == (Mode.LIST, "sent", ())
    empty, effects = writing_to(listed(SHOP), " ", "enter")
    assert effects == () and empty.message == "there is nothing to send"


def test_letters_are_no_commands_meanwhile() -> None:
    """Nor is anything pasted, whatever keys it would be."""
    now, effects = writing_to(listed(SHOP, DOCS), *"qjs1/ ", Paste("x\r\ny\x1b[A"))

    assert effects == () and now.writing is not None and now.writing.editor.text == "qjs1/ x\ny[A"


@each("key", ["escape", "ctrl+c"])
def test_a_draft_is_kept_for_its_agent(key: str) -> None:
    """Leaving keeps it, for that row alone, and for the next time."""
    now, effects = writing_to(listed(SHOP, DOCS), *"later", key)
    assert (now.mode, effects) == (Mode.LIST, ())

    other, _ = writing_to(pressed(now, "down")[0])
    assert other.writing is not None and (other.writing.address, other.writing.editor.text) == (f"{OWN}:2", "")
    again, _ = writing_to(now, "!")
    assert again.writing is not None and again.writing.editor.text == "later!"


def test_drafts_are_bounded() -> None:
    """The oldest goes first."""
    now = listed(*(pane(n, "idle", project=f"p{n}") for n in range(writing.MAX_DRAFTS + 5)))
    for _ in range(writing.MAX_DRAFTS + 5):
        now, _ = writing_to(now, "x", "escape", "down")

    assert len(now.drafts) == writing.MAX_DRAFTS and now.drafts[0][0] == now.shown[5].address


def test_an_agent_that_leaves_the_list_ends_it() -> None:
    """Nothing goes to the row that is selected then; the draft is kept."""
    now, _ = writing_to(listed(SHOP, DOCS), *"Go on")
    now = state.refreshed(now, rows_of(DOCS), NOW)

    assert now.mode is Mode.LIST and now.message == "shop is no longer in the list; the draft is kept"
    assert pressed(now, "enter")[1] != () and pressed(now, "enter")[1] == opening(rows_of(DOCS)[0])
    assert [address for address, _ in now.drafts] == [f"{OWN}:1"]


def test_who_comes_too_late_is_not_written_to() -> None:
    """What was found out about a row that is not selected any more begins nothing."""
    now = listed(SHOP, DOCS)

    assert writing.begun(now, rows_of(DOCS)[0], HOLDER) == now
    assert writing.begun(pressed(now, "/")[0], rows_of(SHOP)[0], HOLDER).mode is Mode.FILTER


def test_clicks_leave_the_text_alone() -> None:
    """Neither a click nor the wheel goes anywhere while a text is written."""
    now, _ = writing_to(listed(SHOP, DOCS), "x")

    assert pressed(now, Mouse("press", 2, 3), Mouse("wheel_down", 1, 1)) == (now, ())


def test_a_paste_that_is_too_long_is_told() -> None:
    """What does not fit is left out, and the person knows."""
    now, _ = writing_to(listed(SHOP), Paste("x" * 5000))

    assert "the rest of what you pasted is left out" in now.message
    assert "4096 of 4096 characters" in "\n".join(texts(now))


def test_it_is_drawn_below_the_rows() -> None:
    """Whom it is for stands above it; the line of the cursor is always there."""
    now, _ = writing_to(listed(SHOP, columns=40, lines=9), *"one", "ctrl+j", *"two")

    assert texts(now)[4:] == [
        "── to claude in shop ───────────────────",
        "one",
        "two",
        "",
        " Enter send   Alt+Enter new line",
    ]
    long, _ = writing_to(listed(SHOP, columns=40, lines=9), *(["x", "ctrl+j"] * 30), "end", *"last")
    assert "last" in "\n".join(texts(long)) and "shop" in texts(long)[1]


@each(("columns", "is_there"), [(159, False), (160, True)])
def test_the_preview_stays_where_there_is_room(columns: int, is_there: bool) -> None:
    """Beside the text the screen goes on; where the text needs the lower half it does not."""
    now, _ = writing_to(pressed(listed(SHOP, columns=columns), " ")[0], "x")

    assert (state.watched(now) is not None) is is_there


# The queue -------------------------------------------------------------------------------------------------------


def test_for_a_busy_agent_a_text_is_queued() -> None:
    """The line above it says that it is for the end of the turn, and Enter queues it; `E` takes it back."""
    works = pane(1, project="shop")
    start, effects = pressed(listed(works), "e")
    now = writing.begun(
        start, row_for(prompt_agent, effects), HOLDER, "it is working, and takes no text; nothing was typed"
    )
    lines = "\n".join(texts(now))
    assert "── to claude in shop, queued until its turn ends ─" in lines and "it is working, and takes no text" in lines
    assert texts(pressed(now, "x", "backspace")[0])[-1].startswith(" Enter queue")
    now, effects = pressed(now, *"Go on", "enter")
    assert effects == (Perform(rows_of(works)[0], DeferredText("1", 70, 700, "Go on")),)

    row = pane_with(works, queued="Go on")
    assert "queued: Go on" in texts(listed(row))[1]
    assert pressed(listed(row), "E")[1] == (Perform(rows_of(row)[0], Unqueue("1")),)
    none, effects = pressed(listed(works), "E")
    assert effects == () and none.message == "nothing is queued for it; e writes to it"


def test_what_was_not_sent_is_told() -> None:
    """In the row of its pane, which stays in the list for that, whatever runs in it by then."""
    shell = attrs.evolve(SHOP, status=Status.IDLE, reason=ReasonEntry(source="shell"))
    assert listed(shell).shown == ()
    given_up = pane_with(shell, queued="Go on", unsent="its agent has ended")

    assert "not sent, its agent has ended: Go on" in texts(listed(given_up, columns=120))[1]


# The ways to the agent -------------------------------------------------------------------------------------------


class Room:
    """Panes of tmux: one, at a desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def at(self, host: str, found: object) -> Desk:
        return self.desk


def reached(desk: Desk) -> tuple[Direct, Row]:
    return Direct({}, client_of(Room(desk))), Row("sessions-1", pane("3"))


def said(actions: Direct, row: Row, holder: Occupant, text: str) -> Reply:
    """What comes of Enter behind a text."""
    return actions.perform(row, Say(holder.pane, holder.pid, holder.start, text, enter=True))


def test_text_reaches_an_agent_at_its_prompt() -> None:
    """It is typed as it is, with Enter behind it; the agent's process is that of the first look."""
    desk = Desk(seen("claude/idle-after-turn-80", Status.DONE, takes_paste=True))
    actions, row = reached(desk)
    holder = actions.perform(row, prompt_agent("3"))
    assert isinstance(holder, Occupant) and holder.agent == "claude"

    assert isinstance(said(actions, row, holder, "Go on\nplease"), Done)
    assert desk.typed == ["Go on\nplease\r"]


@each(
    ("name", "status", "words", "is_busy"),
    [
        ("claude/working-80", Status.WORKING, "it is working", True),
        ("claude/permission-bash-80", Status.WAITING, "it asks something", True),
        ("claude/menu-model-80", Status.IDLE, "nothing was typed", False),
    ],
)
def test_who_takes_none_is_refused_in_words(name: str, status: Status, words: str, is_busy: bool) -> None:
    """When it is sent; and before anything is written for it, but for one whose turn will end."""
    desk = Desk(seen("claude/idle-after-turn-80", Status.DONE))
    actions, row = reached(desk)
    holder = actions.perform(row, prompt_agent("3"))
    assert isinstance(holder, Occupant)
    desk.now = seen(name, status)

    told = said(actions, row, holder, "Go on")
    assert isinstance(told, Refusal) and words in told.text
    found = actions.perform(row, prompt_agent("3"))
    if is_busy:
        assert isinstance(found, Busy) and found.holder == holder and words in found.why
    else:
        assert isinstance(found, Refusal) and words in found.text
    assert desk.typed == []


def test_another_process_gets_nothing() -> None:
    """The agent has ended and another one runs in its pane: what was written was not meant for it."""
    desk = Desk(seen("claude/idle-after-turn-80", Status.DONE))
    actions, row = reached(desk)
    holder = actions.perform(row, prompt_agent("3"))
    assert isinstance(holder, Occupant)

    told = said(actions, row, attrs.evolve(holder, start=holder.start + 1), "Go on")
    assert isinstance(told, Refusal) and "another process is in the foreground" in told.text
    assert desk.typed == []


def test_the_channel_carries_the_text_and_whom_it_is_for() -> None:
    """To the terminal that opened the list: the pane, the process, the text, and nothing that could be keys."""
    near, far = socket.socketpair()
    channel = Channelled.of({CHANNEL: str(far.detach())}, no_client)
    assert channel is not None
    (row,) = rows_of(SHOP)
    asked = prompt_agent("1")
    near.send(encode_reply(HOLDER))
    assert channel.perform(row, asked) == HOLDER and decode_request(near.recv(1000))[0] == asked

    near.send(encode_reply(Done("1", "sent")))
    text = "ü\n" * 2048
    given = Say("1", 70, 700, text, enter=True)
    assert isinstance(channel.perform(row, given), Done)
    data = b""
    while not data.endswith(b"\n"):
        data += near.recv(100_000)
    assert decode_request(data)[0] == given
    near.close()


def test_the_channel_carries_who_is_busy() -> None:
    """With why; without that, or without who it is, it is no answer."""
    busy = Busy(HOLDER, "it is working")
    assert decode_reply(encode_reply(busy)) == busy
    held = attrs.asdict(HOLDER)
    for value in ({"holder": None, "why": "x"}, {"holder": held}, {"holder": held, "why": 1}):
        assert decode_reply(json.dumps({"type": "busy", **value}).encode()) == SILENT


@each("changes", [{"pane": 1}, {"agent": None}, {"pid": -1}, {"pid": "7"}, {"start": True}, {"start": -1}])
def test_what_is_no_holder_is_none(changes: dict[str, object]) -> None:
    """A broken message begins nothing."""
    value = {"type": "occupant", **attrs.asdict(HOLDER)}
    assert decode_reply(json.dumps(value).encode()) == HOLDER
    assert decode_reply(json.dumps({**value, **changes}).encode()) == SILENT


def test_leaving_the_list_takes_two_keys_from_there() -> None:
    """Esc leaves the text, and only then the list."""
    assert writing_to(listed(SHOP), "x", "escape", "escape")[1] == (Plain.QUIT,)


def test_for_an_agent_at_a_limit_a_text_waits_for_its_end() -> None:
    """The list says so before a letter is typed, and the text is for no time before that."""
    limited = pane(1, "limited", 60, project="shop", limited_until=NOW + 600)
    now, _ = writing_to(listed(limited))
    _, effects = writing_to(listed(limited), *"continue", "enter")
    assert now.message.endswith(": your text will be queued") and now.message.startswith("limit: 10 min, until ")
    assert effects == (Perform(rows_of(limited)[0], DeferredText("1", 70, 700, "continue", int(NOW) + 605)),)

    waits = pane_with(limited, queued="continue", queued_until=NOW + 605)
    assert any(line.count(f"types at {clock(NOW + 605, NOW)}: continue") for line in texts(listed(waits)))
