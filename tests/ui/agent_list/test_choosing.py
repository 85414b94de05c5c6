"""Several rows at once: choosing, what a key asks for them, the page before an interruption or a close, the help."""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Occupant
from tallylight.actions.request import Mark
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, Propose
from tallylight.ui.agent_list.help import HELP
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.agent_list.selection import Act, Proposal, outcome
from tallylight.ui.keys import Mouse, Paste
from tallylight.wire.text import width
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
def test_a_key_is_for_all_that_are_chosen(key: str, verb: str) -> None:
    """Each is asked for, it is said how many, and then nothing is chosen any more; without a choice it is for one."""
    now, effects = pressed(listed(*MANY), "x", "j", "x", key)
    assert asked_for(effects) == [("1", verb), ("3", verb)] and not now.chosen
    assert now.message.startswith("2 ")
    assert asked_for(pressed(listed(*MANY), key)[1]) == [("1", verb)]


def test_what_is_chosen_is_marked_and_counted() -> None:
    """With a sign of its own; the last line names what can be done to all; Esc, X and x take it back."""
    now, _ = pressed(listed(*MANY, columns=100), "x", "x")
    assert [line[0] for line in texts(now)[1:6]] == ["◆", "◆", "▸", " ", " "]
    assert texts(now)[-1].startswith(" 2 chosen   s snooze") and "D close" in texts(now)[-1]
    assert not pressed(now, "escape")[0].chosen == len(pressed(now, "k", "x")[0].chosen) != 1
    assert len(pressed(now, "escape", "X")[0].chosen) == 5 and not pressed(now, "X")[0].chosen
    # One that has gone is not chosen any more.
    assert len(state.refreshed(now, rows_of(*MANY[1:]), NOW).chosen) == 1


def test_snoozes_are_taken_back_together() -> None:
    """Those that are not snoozed are; only where all are it ends."""
    off = [attrs.evolve(found, snoozed_until=NOW + 60) for found in MANY[:2]]
    _, effects = pressed(listed(*off, MANY[2]), "X", "s")
    assert [e.asked for e in effects if isinstance(e, Perform)] == [Mark("snooze", "3")]
    _, effects = pressed(listed(*off), "X", "s")
    assert [e.asked.args for e in effects if isinstance(e, Perform) and isinstance(e.asked, Mark)] == [("0",), ("0",)]


@each(("key", "act"), [("i", Act.INTERRUPT), ("D", Act.CLOSE)])
def test_nothing_is_done_before_its_page_was_read(key: str, act: Act) -> None:
    """The page names each pane, its program and process, and what is left out; y carries out just that."""
    now, effects = pressed(listed(*MANY), "x", "x", "x", key)
    page = proposed(now, effects, "2")
    lines = texts(page)
    assert lines[0] == page.title == f"{act.value} 2 {'agents' if act is Act.INTERRUPT else 'panes'}?"
    assert lines[1:3] == ["p1, pane 1", "  claude (process 70), working"]
    assert "p2, pane 2: it is not working" in lines and lines[-1].startswith(" y ")
    after, effects = pressed(page, "y")
    assert isinstance(effects[-1], Proposal) and effects[-1].act is act
    assert [row.pane.id for row, _ in effects[-1].targets] == ["1", "3"]
    assert after.mode is Mode.LIST and not after.chosen


def test_other_keys_leave_the_page() -> None:
    """Esc, q, Enter, a paste and a click do nothing to any pane."""
    page = proposed(*pressed(listed(*MANY), "X", "D"))
    assert pressed(page, "q")[1] == (Plain.QUIT,)
    for key in ("escape", "enter", "n", Mouse("press", 2, 2), Paste("y")):
        assert pressed(page, key)[1] == ()
    assert pressed(page, "escape")[0].mode is Mode.LIST


def test_what_was_not_on_the_screen_is_not_agreed_to() -> None:
    """In a small window all of it has to be scrolled to; a y that is typed ahead of the page does nothing."""
    now, effects = pressed(listed(*MANY, lines=6), "X", "D")
    page = proposed(now, effects)
    unread, effects = pressed(page, "y")
    assert effects == () and "read all of it first" in texts(unread)[-1] and "more lines to read" in texts(page)[-1]
    read = state.drawn(pressed(state.drawn(pressed(page, "page_down")[0]), "page_down")[0])
    assert isinstance(pressed(read, "y")[1][-1], Proposal)
    ahead = attrs.evolve(page, proposal=attrs.evolve(page.proposal, read=0))  # type: ignore[type-var]
    assert pressed(ahead, "y")[1] == ()


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
