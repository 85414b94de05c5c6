"""What keys, the mouse and new snapshots do to the list."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions.request import LookRequest, Mark, Open, Request
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list import flow, help, press, state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Perform, Plain, opening
from tallylight.ui.agent_list.geometry import areas
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.keys import Event, Key, Mouse, Paste
from tests.strategies import at_most
from tests.tables import each
from tests.ui.agent_list.panes import (
    NOW,
    OWN,
    asked,
    asking,
    glanced,
    going,
    listed,
    pane,
    pressed,
    question,
    question_of,
    row_for,
    rows_of,
    snapshot,
    texts,
)

THREE = (asking(1, 90), asking(2, 80), pane(3))


def test_the_neediest_is_selected_at_first() -> None:
    """The list opens on its first row."""
    assert listed(*THREE).row == rows_of(*THREE)[0]


@each(
    ("keys", "selected"),
    [
        (["down"], "2"), (["j", "j"], "3"), (["j"] * 9, "3"), (["k"], "1"), (["end", "up"], "2"),
        (["end", "home"], "1"), (["page_down"], "3"), (["end", "page_up"], "1"), (["G"], "3"), (["G", "g"], "1"),
    ],
)  # fmt: skip
def test_keys_move_the_selection(keys: list[str], selected: str) -> None:
    """Arrows, j and k, g and G, pages and ends move the selection, and not over the edge."""
    row = pressed(listed(*THREE), *keys)[0].row

    assert row is not None and row.pane.id == selected


@each(
    ("key", "effect"),
    [
        ("enter", Open("go", "2")), ("f", Open("fork", "2")), ("r", Open("resume", "2")),
        ("s", Mark("snooze", "2")), ("w", Plain.WHY), ("u", Mark("unread", "2")),
    ],
)  # fmt: skip
def test_commands_are_for_the_selected_row(key: str, effect: Request | Plain) -> None:
    """Each command key has its effect on the row that is selected."""
    after, effects = pressed(listed(*THREE), "down", key)

    assert effects == (effect if isinstance(effect, Plain) else Perform(rows_of(*THREE)[1], effect),)
    assert after.mode is Mode.LIST


@each("key", ["enter", "a", "f", "r", "s", "u", "w"])
def test_commands_of_an_empty_list_do_nothing(key: str) -> None:
    """Without an agent there is nothing to act on, and the list says so."""
    after, effects = pressed(listed(), key)

    assert effects == () and after.message == "no agent is selected"


@each("key", ["q", "escape", "ctrl+c"])
def test_leaving(key: str) -> None:
    """q, Esc and ctrl-C leave."""
    assert pressed(listed(*THREE), key)[1] == (Plain.QUIT,)


def test_a_snoozed_pane_is_woken_by_the_same_key() -> None:
    """s on what is snoozed takes it back."""
    effects = pressed(listed(asking(1, snoozed_until=NOW + 60)), "s")[1]

    assert [e.asked for e in effects if isinstance(e, Perform)] == [Mark("snooze", "1", ("0",))]


# Filter ----------------------------------------------------------------------------------------------------------


def test_a_filter_works_while_it_is_typed() -> None:
    """Each letter filters; letters are no commands meanwhile; Enter keeps the filter and Esc shows all again."""
    start = listed(asking(1, project="shop"), asking(2, project="docs"))
    typing, effects = pressed(start, "/", "d", "o", "q", "backspace")
    assert (typing.filter, [row.pane.id for row in typing.shown], effects) == ("do", ["2"], ())

    kept, effects = pressed(typing, "enter", "enter")
    assert effects == opening(kept.shown[0]) and kept.mode is Mode.LIST

    assert pressed(kept, "escape") == (attrs.evolve(start, selected=kept.selected), ())


def test_escape_in_the_filter_gives_it_up() -> None:
    """Esc while typing shows all rows, and ctrl-U empties the filter without leaving it."""
    assert len(pressed(listed(*THREE), "/", "z", "escape")[0].shown) == 3
    assert pressed(listed(*THREE), "/", "z", "ctrl+u")[0].mode is Mode.FILTER


def test_what_is_pasted_is_never_pressed() -> None:
    """A paste goes into the filter and nowhere else: it could hold the letters of commands, or an answer."""
    assert pressed(listed(*THREE), Paste("q")) == (listed(*THREE), ())
    shown = asked(listed(*THREE))
    assert pressed(shown, Paste("1")) == (shown, ())
    assert pressed(listed(*THREE), "/", Paste("\x1b[31mq\nr"))[0].filter == "[31mq r"


@pytest.mark.parametrize("extra", [0, 1])
def test_a_filter_is_bounded(extra: int) -> None:
    """So many characters, and what is typed beyond them is dropped."""
    assert len(pressed(listed(), "/", *["x"] * (state.MAX_FILTER + extra))[0].filter) == state.MAX_FILTER


# Answers ---------------------------------------------------------------------------------------------------------


def test_an_answer_takes_two_keys_and_a_look_at_the_screen() -> None:
    """`a` has the question read off the screen and shows its answers; a number is one of them, and carries no keys."""
    after, effects = pressed(listed(*THREE), "down", "a")
    row = rows_of(*THREE)[1]
    assert (after.mode, effects) == (Mode.LIST, (Perform(row, question(row.pane.id)),))

    shown = state.drawn(state.asked(after, row, question_of(row.pane)))
    assert shown.mode is Mode.ANSWER
    after, effects = pressed(shown, "3")
    assert effects == (Perform(row, question_of(row.pane).answer(3)),)
    assert after.mode is Mode.LIST


def test_a_question_that_comes_for_another_row_is_not_shown() -> None:
    """Whatever the list shows by then, an answer is never about another pane than the one selected."""
    first, second = rows_of(*THREE)[:2]
    start = listed(*THREE)

    assert state.asked(start, second, question_of(second.pane)) == start
    assert state.asked(pressed(start, "/")[0], first, question_of(first.pane)).mode is Mode.FILTER


@each("key", ["0", "4", "9", "x", "enter", "²", "٣", "tab"])
def test_other_keys_answer_nothing(key: str) -> None:
    """A number without a choice, and every other key, is no answer; the last line says so."""
    shown = asked(listed(*THREE))
    now, effects = pressed(shown, key)
    assert (attrs.evolve(now, message="", typed_at=shown.typed_at), effects) == (shown, ())
    assert now.message in (f"{key} does nothing here", f"there is no choice {key}")


def test_a_number_says_why_it_answers_nothing() -> None:
    """In the list where nothing is asked, and on a page that has no question yet."""
    assert pressed(listed(pane(1)), "1")[0].message == "it asks nothing"
    assert pressed(listed(), "1")[0].message == "no agent is selected"
    assert "snoozed" in pressed(listed(asking(1, snoozed_until=NOW + 60)), "1")[0].message
    page = attrs.evolve(asked(listed(*THREE)), asking=None)
    for key in ("1", "G"):
        assert pressed(page, key)[0].message == "its question is still being read"


def test_what_cannot_be_scrolled_is_said() -> None:
    """All of a short question is on its page: the end is where the person is."""
    shown = asked(listed(*THREE))
    now, _ = pressed(shown, "G")
    assert (attrs.evolve(now, message=""), now.message) == (shown, "all of it is on the screen")


def test_a_choice_without_known_keys_is_not_made() -> None:
    """Where it is not known what chooses an answer, nothing is typed, and the list says so."""
    shown = asked(listed(asking(1, choices=(("", "Maybe"), ("2", "No")))))
    after, effects = pressed(shown, "1")

    assert effects == () and "not known" in after.message
    assert pressed(shown, "2")[1] != ()


def test_escape_leaves_the_answers() -> None:
    """Esc goes back to the list, and the list is not left."""
    assert pressed(asked(listed(*THREE)), "escape") == (listed(*THREE), ())


@each(
    "before",
    [pane(1, "working", 91), pane(1, "waiting", 90), asking(1, 90, choices=()), asking(1, 90, prompt="older")],
    ids=["older than the question", "no prompt yet", "no choices yet", "another prompt before"],
)
def test_the_screen_knows_better_than_the_file(before: Pane) -> None:
    """What the host wrote last is older than a look: the answers of the look stay while the file catches up."""
    start, effects = pressed(listed(before), "a")
    assert effects == (Perform(start.rows[0], question(start.rows[0].pane.id)),)
    shown = state.asked(start, start.rows[0], question_of(asking(1, 90)))
    again, caught_up = (state.refreshed(shown, rows_of(row), NOW) for row in (before, asking(1, 90)))
    gone = state.refreshed(shown, rows_of(pane(1, "idle")), NOW)

    assert shown.mode is again.mode is caught_up.mode is Mode.ANSWER
    assert gone.mode is Mode.LIST and "gone" in gone.message


def test_panes_of_other_terminals_are_not_answered() -> None:
    """Only a pane of the terminal that draws the list."""
    other = rows.build([snapshot(asking(1), pid=8)], OWN, NOW)
    after, effects = pressed(state.refreshed(State(), other, NOW), "a", "1")

    assert effects == () and after.mode is Mode.LIST


def test_a_question_that_changes_is_not_answered() -> None:
    """When another prompt comes to the screen while the person decides, the list says so and takes no answer."""
    after = state.refreshed(asked(listed(*THREE)), rows_of(asking(1, 90, prompt="another"), *THREE[1:]), NOW)

    assert after.mode is Mode.LIST and after.message
    assert row_for(question, pressed(after, "1")[1]) == after.row, "it is read and shown, and not answered"


def test_the_same_question_of_another_pane_is_not_answered() -> None:
    """Two agents ask the very same: when the one goes away, the other does not get its answer."""
    same = {"prompt": "same"}
    shown = asked(listed(asking(1, 90, **same), asking(2, 80, **same)))
    after = state.refreshed(shown, rows_of(asking(2, 80, **same)), NOW)

    assert after.row is not None and after.row.pane.id == "2"
    assert after.mode is Mode.LIST and row_for(question, pressed(after, "1")[1]) == after.row


@each("lines", range(1, 12))
def test_only_what_was_drawn_can_be_chosen(lines: int) -> None:
    """In a window too small for all of it nothing is chosen before the person has scrolled through it, and then all."""
    shown = asked(listed(*THREE, lines=lines))
    fits = shown.asking is not None and shown.asking.unread == 0
    drawn = "\n".join("".join(span.text for span in line) for line in draw(shown))

    assert fits is (lines >= 8) and (("3  No" in drawn) is fits)
    assert [pressed(shown, str(n))[1] != () for n in (1, 2, 3)] == [fits] * 3
    assert fits or lines <= 3 or "to read: scroll" in drawn, drawn
    for _ in range(10):
        shown = state.drawn(pressed(shown, "down")[0])
    # A head, a heading and a foot leave nothing of three lines.
    assert [pressed(shown, str(n))[1] != () for n in (1, 2, 3)] == [lines > 3] * 3


def test_what_is_not_whole_has_no_numbers() -> None:
    """A dialog that is not whole is only read: numbers choose nothing and say why, and Enter goes there."""
    row = listed(*THREE).rows[0]
    why = "part of this cannot be seen here: some of its lines are left out; answer it in its own pane"
    part = attrs.evolve(question_of(row.pane), missing=why)
    shown = state.drawn(state.asked(listed(*THREE, lines=30), row, part))
    drawn = "\n".join("".join(span.text for span in line) for line in draw(shown))

    assert why in drawn.replace("\n", "") and "     Yes" in drawn and "1  Yes" not in drawn
    assert "Enter go there" in drawn and "1-3 answer" not in drawn
    after, effects = pressed(shown, "1")
    assert effects == () and after.message == why
    assert row_for(going, pressed(shown, "enter")[1]) == shown.row


def test_what_was_typed_ahead_chooses_nothing() -> None:
    """A number that comes before the question was drawn is no answer to it: nobody has seen it."""
    start, effects = pressed(listed(*THREE), "a")
    row = row_for(question, effects)
    shown = state.asked(start, row, question_of(row.pane))

    after, effects = pressed(shown, "1")
    assert effects == () and "read all of it first" in after.message
    assert pressed(state.drawn(after), "1")[1] != ()


def test_a_jump_to_the_end_leaves_the_middle_unread() -> None:
    """Only rows that were drawn count; what stood above the dialog need not be read."""
    row = listed(*THREE).rows[0]
    long = attrs.evolve(question_of(row.pane), context=tuple(f"row {n}" for n in range(40)), first=10)
    shown = state.drawn(state.asked(listed(*THREE, lines=12), row, long))
    end = state.drawn(pressed(shown, "end")[0])

    assert "read all" in pressed(end, "1")[0].message
    for _ in range(2):
        shown = state.drawn(pressed(shown, "page_down")[0])
    assert pressed(shown, "1")[1] == ()
    shown = state.drawn(pressed(shown, "page_down")[0])
    assert shown.asking is not None and shown.asking.window.stop < len(shown.asking.lines)
    assert pressed(shown, "1")[1] != ()


def test_another_width_is_to_be_read_anew() -> None:
    """Rows that are wrapped otherwise were not seen like that."""
    shown = asked(listed(*THREE))
    narrow = state.resized(shown, 30, 6)

    assert pressed(shown, "1")[1] != () and pressed(narrow, "1")[1] == ()


def test_the_wheel_scrolls_a_question() -> None:
    """As in every long text."""
    shown = asked(listed(*THREE, lines=6))
    assert shown.asking is not None
    after = pressed(shown, Mouse("wheel_up", 3, 0))[0]

    assert after.asking is not None and after.asking.top == max(0, shown.asking.top - press.WHEEL_LINES)


# News ------------------------------------------------------------------------------------------------------------


def test_the_selection_stays_with_its_pane() -> None:
    """When the order changes, the selected pane stays selected."""
    chosen = pressed(listed(*THREE), "end")[0]
    after = state.refreshed(chosen, rows_of(asking(3, 999), *THREE[:2]), NOW)

    assert (after.selected, after.index) == (f"{OWN}:3", 0)


def test_a_pane_that_goes_leaves_the_selection_to_its_neighbour() -> None:
    """The row that moves up to its place is selected."""
    chosen = pressed(listed(*THREE), "down")[0]

    assert state.refreshed(chosen, rows_of(THREE[0], THREE[2]), NOW).selected == f"{OWN}:3"


def test_what_there_is_to_tell_goes_with_the_next_key() -> None:
    """A message stays until a key is pressed, not only until the next snapshot."""
    told = state.refreshed(state.notified(listed(*THREE), "so it is"), rows_of(*THREE), NOW)

    assert told.message == "so it is" and pressed(told, "down")[0].message == ""


# The mouse and texts ---------------------------------------------------------------------------------------------


def test_a_click_selects_and_a_second_one_goes() -> None:
    """The first click on a row selects it, the next one goes there; beside the rows a click does nothing."""
    start = listed(*THREE)
    assert pressed(start, Mouse("press", 0, 5)) == (start, ())
    assert pressed(start, Mouse("press", 9, 5)) == (start, ())

    chosen, effects = pressed(start, Mouse("press", 2, 5))
    assert (chosen.selected, effects) == (f"{OWN}:2", ())
    assert pressed(chosen, Mouse("press", 2, 5))[1] == opening(rows_of(*THREE)[1])


@each("is_page", [False, True])
def test_a_click_on_an_answer_is_that_answer(is_page: bool) -> None:
    """In the list and on a page of its own; a click beside the answers does nothing, and none is sooner than a key."""
    shown = asked(listed(*THREE)) if is_page else glanced(listed(*THREE))
    line = next(number for number, text in enumerate(texts(shown)) if text.startswith("  2  "))
    row = rows_of(*THREE)[0]
    assert pressed(shown, Mouse("press", line, 6))[1] == (Perform(row, question_of(row.pane).answer(2)),)
    assert pressed(shown, Mouse("press", line + 2, 6))[1] == ()
    assert press.press(shown, Mouse("press", line, 6), 0.1)[1] == ()


def test_the_wheel_moves_the_view() -> None:
    """The wheel scrolls, and the selection comes along only when it would leave the view."""
    many = listed(*[pane(n, age=n) for n in range(50)], lines=12)
    down = pressed(many, Mouse("wheel_down", 3, 3))[0]

    assert (down.top, down.index) == (press.WHEEL_LINES, press.WHEEL_LINES)
    assert pressed(down, Mouse("wheel_up", 3, 3))[0].top == 0


def test_help_and_explanations_scroll_and_go_away() -> None:
    """A text over the list is scrolled by keys and the wheel; any other key brings the list back."""
    text = state.explained(listed(*THREE, lines=12), "why", tuple(map(str, range(30))))
    height = areas(text).rows

    assert pressed(text, "down", Mouse("wheel_down", 0, 0))[0].scroll == 1 + press.WHEEL_LINES
    assert pressed(text, "end")[0].scroll == 30 - height
    assert pressed(text, "end", "home", "x") == (listed(*THREE, lines=12), ())
    assert pressed(text, "q")[1] == (Plain.QUIT,)
    assert pressed(listed(*THREE), "?")[0].text == help.HELP


_EVENTS: list[Event] = [
    *map(Key, "afrsuwq/?jk123xXngGpcviDyAzOS"),
    *map(Key, ("enter", "escape", "up", "down", "end", "home", "backspace", "page_down")),
    *map(Key, (" ", " ", "tab", "[", "right")),
    Paste("x"), Mouse("press", 2, 1), Mouse("wheel_down", 1, 1), Mouse("wheel_up", 1, 1),
]  # fmt: skip
_PANES = st.lists(
    st.builds(
        lambda n, ask, age: asking(n, age) if ask else pane(n, age=age),
        st.integers(0, 30),
        st.booleans(),
        st.integers(0, 99),
    ),
    max_size=12,
    unique_by=lambda found: found.id,
)
_SIZES = st.tuples(st.integers(1, 130), st.integers(1, 30))


def test_a_question_that_goes_leaves_the_selection_in_view() -> None:
    """Below a preview it had made room for one row more."""
    now = pressed(listed(*THREE), " ")[0]
    row = flow.wanted(now)
    assert row is not None
    now = flow.read(now, row, question_of(row.pane))
    more = [pane(0, age=0), pane(1, age=0), *(asking(number, 0) for number in (2, 3, 4))]
    now = state.refreshed(now, rows_of(*more), NOW)
    assert now.asking is None and now.top <= now.index < now.top + areas(now).rows


@pytest.mark.slow
@settings(max_examples=at_most(60), deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_EVENTS), _PANES, _SIZES), max_size=12))
def test_whatever_happens_the_picture_fits(happenings: list[object]) -> None:
    """After any events there are as many lines as the screen has, and the selected row is one of those drawn."""
    now = listed(*THREE)
    for what in happenings:
        if isinstance(what, list):
            now = state.refreshed(now, rows_of(*what), NOW)
        elif isinstance(what, tuple):
            now = state.resized(now, *what)
        else:
            now, effects = press.press(now, what)  # type: ignore[arg-type]
            for effect in effects:
                if isinstance(effect, Perform) and isinstance(effect.asked, LookRequest):
                    now = state.asked(now, effect.row, question_of(effect.row.pane))
        if (row := flow.wanted(now)) is not None:
            now = flow.read(now, row, question_of(row.pane))
        parts = areas(now)
        assert len(draw(now)) == now.lines
        assert not now.shown or now.selected in {row.address for row in now.shown}
        if now.mode is Mode.LIST and parts.rows and now.shown:
            assert now.top <= now.index < now.top + parts.rows
