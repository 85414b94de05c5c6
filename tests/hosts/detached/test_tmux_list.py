"""tmux's list of panes and its control mode: what is read of them, whatever stands in them."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.evidence.screen import Look
from tallylight.hosts.tmux import control_protocol
from tallylight.hosts.tmux.control_client import quote
from tallylight.hosts.tmux.control_protocol import ControlReader, Notice, Output, Reply
from tallylight.hosts.tmux.ear import Ears
from tallylight.hosts.tmux.pane_list import CLIENTS, MAX_PANES, PANES, SCREENS, QueryFormat, TmuxPane
from tallylight.hosts.tmux.server import Server, TerminalsState
from tallylight.model.status import Status
from tallylight.snapshot.schema import CollisionEntry, Pane
from tests.tables import each

FORM = QueryFormat("5ecret0")
HOSTILE = [
    "",
    "a\nb",
    "P",
    "!",
    "P5ecret",
    "5ec",
    "5ecPret",
    "ret0",
    "%end 1 2 1",
    "#{pid}",
    "x" * 5000,
    "ü❯\udcff",
    "\t|;",
]


CLIENT = (
    "client_control_mode", "session_id", "window_id", "client_flags", "client_tty", "client_pid", "focus-events",
    "client_activity",
)  # fmt: skip


def row(kind: str, *fields: str) -> str:
    """A row as tmux fills it in; a client has typed long ago."""
    if kind == "C":
        values = dict(zip(CLIENT, (*fields, "1795230000"), strict=False))
        fields = tuple(values[name] for name in CLIENTS[1] if name in values)
    return f"{FORM.secret[:3]}{kind}{FORM.secret[3:]}{FORM.secret.join(fields)}{FORM.secret}!\n"


def pane(**changed: str) -> str:
    """The row of a pane."""
    usual = {
        "pid": "100", "pane_id": "%3", "pane_pid": "200", "session_id": "$1", "session_name": "work",
        "window_id": "@2", "window_index": "0", "pane_active": "1", "window_zoomed_flag": "0",
        "window_activity": "1795230000", "pane_dead": "0", "pane_tty": "/dev/pts/7", "pane_title": "t", "@tally": "",
    }  # fmt: skip
    values = {**usual, **changed}
    return row("P", *(values[name] for name in PANES[1]))


def test_where_a_session_is_attached() -> None:
    """Each of its panes knows the terminals of people, not those of control clients; a change makes another sight."""
    server = Server("/tmp/none", lambda _: {}, Ears(lambda *_: None))
    clients = row("C", "0", "$1", "@2", "attached,focused", "/dev/pts/1", "9", "1") + row(
        "C", "0", "$1", "@2", "", "/dev/pts/2", "9", "1"
    )
    others = row("C", "1", "$1", "@2", "control-mode", "/dev/pts/3", "9", "1") + row(
        "C", "0", "$4", "@9", "", "/dev/pts/4", "9", "1"
    )
    server.take(FORM, pane() + pane(pane_id="%4", session_id="$5") + clients + others, TerminalsState())
    assert server.source_panes["%3"][1].terminals == ("/dev/pts/1", "/dev/pts/2")
    assert server.source_panes["%4"][1].terminals == ()
    server.take(FORM, pane(), TerminalsState())
    assert server.source_panes["%3"][1].terminals == ()


def test_two_agents_that_change_the_same_lines() -> None:
    """A second mark in the window of one of them, as soon as it is known; nothing is set that is there already."""
    server = Server("/tmp/none", lambda _: {}, Ears(lambda *_: None))
    server.take(FORM, pane() + pane(pane_id="%4"), TerminalsState())
    busy, idle = (Pane(id=f"tmux/100/{id_}", status=Status.WORKING, agent="claude") for id_ in ("%3", "%4"))
    for same, mark in ((False, "●"), (True, "●≠"), (False, "●")):
        other = CollisionEntry(pane="kitty-1:1", file="cart.py", same=same)
        entries = {busy.id: attrs.evolve(busy, collisions=(other,)), idle.id: idle}
        commands = server.light(entries)
        assert commands[commands.index("@tally_mark") + 1] == mark
        assert server.light(entries) == []


def test_what_is_asked_for() -> None:
    """The format holds the secret around every field, and does not end in what tmux takes for the end of a command."""
    asked = FORM.ask(PANES)
    assert asked.startswith("5ecPret0#{pid}5ecret0#{pane_id}5ecret0")
    assert asked.count(FORM.secret) == len(PANES[1])
    assert not asked.endswith(";")


@each("text", HOSTILE)
@each("field", ["session_name", "pane_title", "@tally"])
def test_free_text_is_only_text(field: str, text: str) -> None:
    """Whatever a name or a title holds, the row before and after it, and the clients behind, are read as they are."""
    text = text.replace(FORM.secret, "")
    client = row("C", "0", "$1", "@2", "attached,focused,UTF-8", "/dev/pts/1", "300", "1")
    listed = pane(pane_id="%1") + pane(**{field: text}) + pane(pane_id="%4") + "\n" + client

    panes = FORM.read_panes(listed)

    assert [one.id for one in panes] == ["%1", "%3", "%4"]
    assert {"session_name": panes[1].session, "pane_title": panes[1].title, "@tally": panes[1].light}[field] == text
    assert [one.session_id for one in FORM.read_clients(listed)] == ["$1"]


def test_a_pane() -> None:
    """Numbers and flags are read; a dead pane of a new tmux has no pid; a window linked twice is listed once."""
    (one,) = FORM.read_panes(pane(pane_pid="", pane_dead="1", window_zoomed_flag="1") + pane(session_name="other"))

    assert (one.server, one.pid, one.is_dead, one.is_zoomed, one.is_active) == (100, 0, True, True, True)
    assert (one.session, one.drawn_at) == ("work", 1795230000)


@each(
    ("flags", "control", "events", "is_control", "is_focused"),
    [
        ("attached,focused,UTF-8", "0", "1", False, True),
        ("attached,focused,UTF-8", "0", "on", False, True),
        ("attached,UTF-8", "0", "1", False, False),
        ("attached,focused,UTF-8", "0", "0", False, None),
        ("attached,focused,UTF-8", "0", "", False, None),
        ("attached,focused,control-mode,ignore-size", "1", "1", True, True),
        ("", "0", "1", False, None),
    ],
)
def test_clients(flags: str, control: str, events: str, is_control: bool, is_focused: bool | None) -> None:
    """A control client is no person; without `focus-events` tmux calls every client focused, and knows nothing."""
    (client,) = FORM.read_clients(row("C", control, "$0", "@1", flags, "/dev/pts/7", "300", events))

    assert (client.is_control, client.is_focused, client.pid) == (is_control, is_focused, 300)


@each(
    ("flags", "events", "in_front", "expected"),
    [
        ("attached,focused", "0", {}, False),  # nobody knows
        ("attached,focused", "0", {300: True}, True),
        ("attached,focused", "0", {300: False}, False),
        ("attached,focused", "1", {}, True),
        ("attached", "1", {}, False),
        ("attached,focused", "1", {300: False}, False),  # the tab of its terminal is not selected
        ("attached,control-mode,focused", "1", {300: True}, False),
    ],
)
def test_a_look_counts_where_somebody_knows_of_it(
    flags: str, events: str, in_front: dict[int, bool | None], expected: bool
) -> None:
    """A window is seen if its terminal has the focus: by tmux itself, or by the host of the terminal it runs in."""
    server = Server("/s", lambda _: {}, Ears(lambda *_: None))
    text = pane() + "\n" + row("C", "0", "$1", "@2", flags, "/dev/pts/7", "300", events)
    server.take(FORM, text, TerminalsState(in_front))

    assert [source_pane.visible for _, source_pane in server.source_panes.values()] == [expected]
    assert server.see(TerminalsState(in_front)) is False
    assert server.see(TerminalsState({300: not expected})) is ("control" not in flags)


def screen(pane: str = "%3", visible: str = "1", dead: str = "0") -> str:
    """What tmux says behind the text of a screen."""
    return row("S", pane, "4", "1", visible, "80", "3", dead)


def look(*rows: str) -> Look:
    """The screen that `screen` stands behind."""
    return Look(list(rows), cursor_row=1, cursor_column=4, columns=80)


def test_screens() -> None:
    """The cursor and as many rows as the pane has; more are cut, missing ones are empty; a pane that is gone is not."""
    assert FORM.read_screens(f"a\n  b!\n{screen()}") == {"%3": look("a", "  b!", "")}
    assert FORM.read_screens(f"1\n2\n3\n4\n{screen()}") == {"%3": look("1", "2", "3")}
    assert FORM.read_screens(f"\n{screen()}") == {"%3": look("", "", "")}
    assert FORM.read_screens(screen(dead="1")) == {"%3": None}
    assert FORM.read_screens("") == {}
    assert FORM.read_screens("can't find pane: %9\n") == {}
    assert FORM.read_screens(f"a\n{screen(visible='')}") == {}


@each("text", HOSTILE)
def test_a_screen_is_only_text(text: str) -> None:
    """Whatever a screen shows, it is no part of another one, nor the end of its own."""
    text = text.replace(FORM.secret, "").replace("\n", " ")
    found = FORM.read_screens(f"one\n{screen('%1')}{text}\n{text}\n{screen('%3')}three\n{screen('%4')}cut o")

    assert found == {"%1": look("one", "", ""), "%3": look(text, text, ""), "%4": look("three", "", "")}


def test_a_row_that_is_the_same() -> None:
    """Is the same pane as before; one that has changed is another, and what is gone is forgotten."""
    known: dict[str, TmuxPane] = {}
    first = FORM.read_panes(pane(pane_id="%1") + pane(pane_id="%2") + pane(pane_id="%3"), known)
    second = FORM.read_panes(pane(pane_id="%1") + pane(pane_id="%2", pane_title="new"), known)

    assert second[0] is first[0]
    assert (second[1].id, second[1].title) == ("%2", "new")
    assert {one.id for one in known.values()} == {"%1", "%2"}
    assert len(known) == 2


def test_limit() -> None:
    """No more than `MAX_PANES` are read."""
    listed = "".join(pane(pane_id=f"%{n}") for n in range(MAX_PANES + 1))

    assert len(FORM.read_panes(listed)) == MAX_PANES


@given(st.text(max_size=300))
def test_anything_is_read(text: str) -> None:
    """No text raises."""
    FORM.read_panes(text)
    FORM.read_clients(text)
    FORM.read_screens(text)
    FORM.read_screens(FORM.ask(SCREENS) + text + FORM.ask(SCREENS))


def replies(*lines: str) -> list[object]:
    reader = ControlReader()
    return [found for line in lines if (found := reader.line(line)) is not None]


def test_control_mode() -> None:
    """Replies come whole, in order; notifications of change are told apart from others; the end is the end."""
    found = replies(
        "%begin 1795230775 274 0",
        "%end 1795230775 274 0",
        "%session-changed $1 two",
        "%output %1 hello",
        "%begin 1795230776 279 1",
        "%0 one",
        "%end 1795230776 278 1",
        "%session-changed this is text",
        "%end 1795230776 279 1",
        "%begin 1795230777 280 1",
        "can't find pane: %77",
        "%error 1795230777 280 1",
        "%subscription-changed x $1 - - - : %0",
        "%unlinked-window-add @7",
        "%message something",
        "%exit",
    )

    text = "%0 one\n%end 1795230776 278 1\n%session-changed this is text"
    assert found == [
        Reply("", is_error=False),
        Notice.CHANGE,
        Output("%1", b"hello"),
        Reply(text, is_error=False),
        Reply("can't find pane: %77", is_error=True),
        Notice.CHANGE,
        Notice.CHANGE,
        Notice.END,
    ]


def test_a_reply_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a reply that is too long the beginning is kept, and the next one is read as it should be."""
    monkeypatch.setattr(control_protocol, "MAX_REPLY_LINES", 3)
    found = replies("%begin 1 1 1", *["x"] * 10, "%end 1 1 1", "%begin 2 2 1", "y", "%end 2 2 1")

    assert found == [Reply("x\nx\nx", is_error=False), Reply("y", is_error=False)]


@each(("word", "quoted"), [("a b", "'a b'"), ("it's", "'it'\\''s'"), ("a\nkill-server", "'a kill-server'"), ("", "''")])
def test_quoting(word: str, quoted: str) -> None:
    """A word stays one word, and no line end makes it two commands."""
    assert quote(word) == quoted
