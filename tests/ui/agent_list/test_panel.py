"""The list as a panel: rows in 24 columns, keys and mouse where they are otherwise, and what it does when hidden."""

from __future__ import annotations

import socket
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.answer import Done
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Open, Visible, decode_reply, encode, encode_reply
from tallylight.snapshot import requests
from tallylight.snapshot.requests import Request
from tallylight.ui.agent_list import geometry, state
from tallylight.ui.agent_list.actions import Channelled, Direct
from tallylight.ui.agent_list.channel import CHANNEL, MARK, UNMARK
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Perform, Plain
from tallylight.ui.agent_list.record import State
from tallylight.ui.keys import Decoder, Focus, Mouse
from tallylight.wire.text import width
from tests.patience import until
from tests.ui.agent_list.panes import NOW, asking, going, no_client, pane, pressed, rows_of, texts
from tests.ui.agent_list.program import Host, List
from tests.ui.agent_list.test_idle import is_asleep


def panel(*panes: state.Pane, columns: int = 24, lines: int = 12, has_focus: bool = False) -> State:
    """The panel of these panes."""
    empty = State(is_panel=True, has_focus=has_focus)
    return state.refreshed(state.resized(empty, columns, lines), rows_of(*panes), NOW)


FEW = (
    asking(1, 200, project="shop", what="Bash: alembic upgrade head"),
    pane(2, project="日本語プロジェクト", message="テストは全部通りました。次", context=42),
    pane(3, "idle", project="docs"),
)


def test_what_needs_somebody_has_two_lines_where_there_is_room() -> None:
    """Mark, name and age; below what it asks. Wide characters are cut to whole cells; one idle agent is a row."""
    assert texts(panel(*FEW)) == [
        " ! 1  ● 1 · 1",
        " !  shop              3m",
        "    Bash: alembic upgra…",
        " ●  日本語プロジェ…   1m",
        " ·  docs              1m",
        *[""] * 7,
    ]


def test_one_line_where_there_is_not() -> None:
    """Many agents have one line each, and the idle ones together one."""
    assert texts(panel(*FEW, lines=5))[1:4] == [
        " !  shop              3m", " ●  日本語プロジェ…   1m", " ·  docs              1m",
    ]  # fmt: skip
    idle = [pane(n, "idle", project=f"p{n}") for n in (4, 5)]
    assert texts(panel(*FEW, *idle))[4] == " ·  3 idle: docs, p4, p5"


def test_a_limit_tells_how_long_it_lasts() -> None:
    """In place of its age, and until it has ended."""
    limited = pane(1, "limited", 60, project="shop", limited_until=NOW + 8000)
    assert texts(panel(limited))[1] == " ◷  shop          2 h 14"
    assert texts(panel(attrs.evolve(limited, limited_until=NOW)))[1] == " ◷  shop              1m"


def test_wider_is_the_list() -> None:
    """From 41 columns on it is the list as elsewhere."""
    busy = pane(1, project="shop", message="Writing", progress="3/7", tasks=("a", "b", "c", "Test"), context=42)
    assert texts(panel(busy, columns=40))[1] == " ●  shop                              1m"
    assert "Test  Writing  ━━──── 3/7" in texts(panel(busy, columns=60))[1]


@given(
    names=st.lists(st.text(max_size=40), max_size=12),
    said=st.text(max_size=60),
    columns=st.integers(24, 60),
    lines=st.integers(1, 40),
    has_focus=st.booleans(),
)
def test_no_line_is_wider_than_the_panel(
    names: list[str], said: str, columns: int, lines: int, has_focus: bool
) -> None:
    """Whatever agents are called and say, there are as many lines as the window has, and none is too wide."""
    panes = [pane(n, project=name, message=said, context=n) for n, name in enumerate(names)]
    drawn = texts(panel(*panes, columns=columns, lines=lines, has_focus=has_focus))

    assert len(drawn) == lines
    assert max(map(width, drawn)) <= columns


def test_without_the_keyboard_nothing_is_selected() -> None:
    """The selection and the keys that apply show while the panel has the keyboard; the terminal tells of it."""
    assert Decoder().feed(b"\x1b[I\x1b[O") == [Focus(True), Focus(False)]
    now, _ = pressed(panel(*FEW, lines=6), Focus(True))
    assert (
        any(span.is_raised for span in draw(now)[1])
        and texts(now)[1].startswith(" ! ▸shop")
        and texts(now)[-1] == " ? help   q quit"
    )
    now, _ = pressed(now, Focus(False))
    assert not any(span.is_raised for line in draw(now) for span in line) and texts(now)[-1] == ""


def test_one_click_goes_there() -> None:
    """A click on any line of a row goes to its pane; the others are as in the list."""
    now = panel(*FEW)
    for line, name in ((1, "shop"), (2, "shop"), (3, "日本語プロジェクト"), (4, "docs")):
        _, effects = pressed(now, Mouse("press", line, 3))
        assert [effect.row.pane.project for effect in effects if isinstance(effect, Perform)] == [name]
    assert pressed(now, Mouse("press", 10, 3))[1] == ()
    assert pressed(now, Mouse("press", 0, 3))[1] == ()


def test_escape_gives_the_keyboard_back_and_q_closes() -> None:
    """Esc never closes a panel; it takes a filter away first."""
    assert pressed(panel(*FEW), "escape")[1] == (Plain.BACK,)
    assert pressed(panel(*FEW), "q")[1] == (Plain.QUIT,)
    filtered, effects = pressed(panel(*FEW), "/", "d", "enter", "escape")
    assert (filtered.filter, effects) == ("", ())


def test_many_rows_scroll_by_what_is_in_view() -> None:
    """The wheel and the page keys show the last one, above the line that counts the others."""
    many = [asking(n, n, project=f"p{n}") for n in range(12)]
    assert geometry.drawn_heights(panel(*many[:4], lines=10)) == (2,) * 4
    now = attrs.evolve(panel(*many, lines=10), has_focus=True)
    assert geometry.drawn_heights(now) == ()
    now, _ = pressed(now, "end")
    assert "p0 " in texts(now)[7] and "↑ 5 above" in texts(now)[8]


# The program -----------------------------------------------------------------------------------------------------


def test_who_is_hidden_hears_of_it() -> None:
    """The word goes over the channel between answers, and changes none of them."""
    assert decode_reply(encode(Visible(False))) == Visible(False)
    near, far = socket.socketpair()
    channel = Channelled.of({CHANNEL: str(far.detach())}, no_client)
    assert channel is not None and channel.is_seen and len(channel.descriptors) == 1
    channel.listen()
    near.send(encode(Visible(False)) + encode_reply(Refusal("x", "no")))
    row = rows_of(asking(3))[0]
    assert channel.perform(row, going("3")) == Refusal("x", "no") and not channel.is_seen
    near.send(encode(Visible(True)))
    channel.listen()
    assert channel.is_seen
    near.close()
    channel.listen()
    assert channel.is_seen and not channel.descriptors


def test_a_jump_from_a_panel_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its terminal gives the keyboard back before it shows the goal; a panel somewhere else is none of that host's."""
    sent: list[tuple[str, Request]] = []
    monkeypatch.setattr(requests, "send", lambda host, request, _: sent.append((host, request)))
    row = rows_of(asking(3))[0]
    for host in (row.host, "wezterm-1", ""):
        actions = Direct({}, no_client, (host, host and "9"))
        assert isinstance(actions.perform(row, Open("go", "3")), Done)
        actions.back()
    jump, back = Request("focus", "3"), Request("focus", "9", ("9",))
    assert sent == [
        (row.host, attrs.evolve(jump, args=("9",))), (row.host, back), (row.host, jump), ("wezterm-1", back),
        (row.host, jump),
    ]  # fmt: skip


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with an agent whose age does not change today."""
    host = Host(tmp_path)
    host.publish(pane(1, "idle", project="shop", since=0.0))
    return host


@pytest.mark.slow
def test_it_is_marked_and_stays(host: Host, tmp_path: Path) -> None:
    """The program marks its window, stays after it went somewhere, and takes the mark away when it is closed."""
    shown = List(tmp_path, "panel")
    with shown.terminal:
        shown.wait("shop")
        assert MARK.encode() in shown.terminal.received
        shown.terminal.type(b"\r")
        until(lambda: any(request.verb == "focus" for request in host.spool.take()))
        assert shown.process.poll() is None
        shown.terminal.type(b"q")
        assert shown.end() == 0
        assert shown.terminal.received.endswith(UNMARK.encode())


@pytest.mark.slow
def test_a_hidden_one_is_woken_by_nothing(host: Host, tmp_path: Path) -> None:
    """While it is told that nobody sees it, a changed agent does not wake it; when it is seen again, it shows it."""
    near, far = socket.socketpair()
    shown = List(tmp_path, "panel", pass_fds=(far.fileno(),), **{CHANNEL: str(far.fileno())})
    with shown.terminal:
        shown.wait("shop")
        near.send(encode(Visible(False)))
        until(lambda: is_asleep(shown))
        received = len(shown.terminal.received)
        host.publish(pane(1, "idle", project="forge", since=0.0))
        assert is_asleep(shown) and len(shown.terminal.received) == received
        near.send(encode(Visible(True)))
        shown.wait("forge")
    near.close()
    far.close()
