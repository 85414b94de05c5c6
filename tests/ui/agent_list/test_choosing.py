"""What a key asks for a row, the page before one or all are interrupted or closed, the help."""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Occupant
from tallylight.actions.request import Mark
from tallylight.model.status import Status
from tallylight.ui.agent_list import flow, press, state
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, Propose
from tallylight.ui.agent_list.help import HELP
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.agent_list.selection import Act, Proposal, outcome
from tallylight.ui.keys import Key, Mouse, Paste
from tallylight.wire.text import width
from tests.entries import pane_with
from tests.tables import each
from tests.ui.agent_list.panes import NOW, asking, listed, pane, pressed, rows_of, texts

MANY = [pane(number, age=number, project=f"p{number}") for number in range(1, 6)]


def asked_for(effects: Effects) -> list[tuple[str, str]]:
    """What was asked of which pane."""
    return [(e.asked.pane, e.asked.verb) for e in effects if isinstance(e, Perform) and isinstance(e.asked, Mark)]


def proposed(now: State, effects: Effects, *left_out: str) -> State:
    """The page of what the last effect proposed, drawn; each pane has a program, but those that are left out."""
    effect = effects[-1]
    assert isinstance(effect, Propose)
    targets = tuple(
        (row, Occupant(row.pane.id, "claude", 70, 700)) for row in effect.rows if row.pane.id not in left_out
    )
    out = tuple((row, "it is not working") for row in effect.rows if row.pane.id in left_out)
    return state.drawn(state.proposed(now, Proposal(effect.act, targets, out)))


@each(("key", "verb"), [("s", "snooze"), ("v", "seen"), ("u", "unread")])
def test_a_key_marks_the_selected_row(key: str, verb: str) -> None:
    """That one, and no other; a snooze that is on is taken back."""
    asks = [attrs.evolve(one, status=Status.WAITING) for one in MANY]
    assert asked_for(pressed(listed(*asks), "j", "j", key)[1]) == [("3", verb)]
    off = pane_with(MANY[0], snoozed_until=NOW + 60)
    _, effects = pressed(listed(off), "s")
    assert [e.asked for e in effects if isinstance(e, Perform)] == [Mark("snooze", "1", ("0",))]


def test_what_needs_nobody_is_not_snoozed() -> None:
    """The key says so: a person who hears nothing presses it again."""
    now, effects = pressed(listed(pane(1)), "s")
    assert (now.message, effects) == ("it does not need you now, so there is nothing to snooze", ())


@each("key", ["x", "X", "c", "p"])
def test_keys_that_are_gone_do_nothing(key: str) -> None:
    """What chose, coloured and pinned rows is no key any more, and is told of."""
    assert pressed(listed(*MANY), key) == (attrs.evolve(listed(*MANY), message=f"{key} does nothing here"), ())


@each(("key", "act"), [("i", Act.INTERRUPT), ("D", Act.CLOSE)])
def test_nothing_is_done_before_its_page_was_read(key: str, act: Act) -> None:
    """The page names the pane and its program; the same key again names all that are shown, and what is left out."""
    now, effects = pressed(listed(*MANY[:3], columns=60), key)
    page = proposed(now, effects)
    assert texts(page)[:3] == [
        f"{act.value} 1 {'agent' if act is Act.INTERRUPT else 'pane'}?",
        "p1, pane 1",
        "  claude, working",
    ]
    assert texts(page)[-1] == f" y {page.title.rstrip('?')}   {key} all rows   Esc back"
    page = proposed(*pressed(page, key), "2")
    lines = texts(page)
    assert lines[0] == page.title == f"{act.value} 2 {'agents' if act is Act.INTERRUPT else 'panes'}?"
    assert lines[1:3] == ["p1, pane 1", "  claude, working"]
    assert "p2, pane 2: it is not working" in lines and lines[-1].startswith(" y ")
    after, effects = pressed(page, "y")
    assert isinstance(effects[-1], Proposal) and effects[-1].act is act
    assert [row.pane.id for row, _ in effects[-1].targets] == ["1", "3"]
    assert after.mode is Mode.LIST


def test_all_are_those_that_the_filter_shows() -> None:
    """What a filter hides is not offered, and nothing is asked of it."""
    now, effects = pressed(listed(*MANY, asking(9, project="shop")), "/", *"is:work", "enter", "D")
    _, effects = pressed(proposed(now, effects), "D")
    assert isinstance(effects[-1], Propose) and [row.pane.id for row in effects[-1].rows] == ["1", "2", "3", "4", "5"]


def test_other_keys_leave_the_page() -> None:
    """Esc, q, Enter, a paste and a click do nothing to any pane."""
    page = proposed(*pressed(listed(*MANY), "D"))
    assert pressed(page, "q")[1] == (Plain.QUIT,)
    for key in ("escape", "enter", "n", Mouse("press", 2, 2), Paste("y")):
        assert pressed(page, key)[1] == ()
    assert pressed(page, "escape")[0].mode is Mode.LIST


def test_what_was_not_on_the_screen_is_not_agreed_to() -> None:
    """In a small window all of it has to be scrolled to; a y that is typed ahead of the page does nothing."""
    page = proposed(*pressed(listed(*MANY, lines=6), "D"))
    assert isinstance(pressed(page, "y")[1][-1], Proposal)
    page = proposed(*pressed(page, "D"))
    unread, effects = pressed(page, "y")
    assert effects == () and "read all of it first" in texts(unread)[-1] and "more lines to read" in texts(page)[-1]
    read = state.drawn(pressed(state.drawn(pressed(page, "page_down")[0]), "page_down")[0])
    assert isinstance(pressed(read, "y")[1][-1], Proposal)
    ahead = attrs.evolve(page, proposal=attrs.evolve(page.proposal, read=0))  # type: ignore[type-var]
    assert pressed(ahead, "y")[1] == ()


def test_what_has_only_just_appeared_is_not_agreed_to() -> None:
    """A key that was meant for something else does not close a pane; nor does one that is held down."""
    page = flow.note_shown(proposed(*pressed(listed(*MANY), "D")), 10.0)
    early, effects = press.press(page, Key("y"), 10.3)
    assert effects == () and "only just appeared" in early.message
    assert press.press(flow.note_shown(early, 10.4), Key("y"), 10.5)[1] == ()
    assert isinstance(press.press(page, Key("y"), 10.5)[1][-1], Proposal)


def test_a_person_who_went_on_is_not_asked() -> None:
    """A page that comes late covers nothing else; one with nothing to do is a line."""
    now, effects = pressed(listed(*MANY), "i")
    assert proposed(pressed(now, "/")[0], effects).mode is Mode.FILTER
    none = proposed(now, effects, "1")
    assert none.mode is Mode.LIST and texts(none)[-1] == " p1: it is not working"


def test_what_came_of_it_is_one_line() -> None:
    """How many, and the first that it was not done to."""
    row, other = rows_of(*MANY[:2])
    assert outcome(Act.CLOSE, 2, ()) == "2 closed"
    assert outcome(Act.INTERRUPT, 1, ((row, "gone"), (other, "x"))) == "1 interrupted; p1: gone; and 1 more not"


def test_a_small_window_shows_the_page_whole() -> None:
    """Forty columns: lines are wrapped, and nothing of a name is cut away."""
    long = asking(1, project="a very long name of a project that does not fit", agent="claude")
    page = proposed(*pressed(listed(long, columns=24, lines=12), "D"))
    assert "".join(texts(page)[1:3]).replace("  ", " ").startswith("a very long name of a pro")
    assert all(len(line) <= 24 for line in texts(page))


def test_the_help_is_searched() -> None:
    """After `/` words find the keys that do something; Esc leaves, and `q` quits; no line has more than 80 columns."""
    now, _ = pressed(listed(*MANY), "?")
    assert texts(now)[:2] == ["Keys", HELP[0]] and all(width(line) <= 80 for line in HELP)
    assert pressed(now, "q")[1] == (Plain.QUIT,)
    now, _ = pressed(now, *"/Close pane")
    assert [line for line in texts(now)[1:-1] if line] == [line for line in HELP if " i, D " in line]
    assert texts(now)[0] == "Keys  /Close pane▏"
    now, _ = pressed(now, Paste("zzz"))
    assert texts(now)[1] == "no key does that"
    assert pressed(now, *["backspace"] * 4)[0].sought == "Close pan"
    assert pressed(now, "escape")[0] == listed(*MANY)
