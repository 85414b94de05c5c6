"""From one question to the next: what a number answers, when it does, and where the cursor goes."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions.answer import Answer, Done, Occupant, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import LookRequest, Reply, Request
from tallylight.snapshot import rows
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list import flow, press, state
from tallylight.ui.agent_list.effects import Gather, Perform
from tallylight.ui.agent_list.flow import PICTURE_SHOWN_S
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.agent_list.selection import Act, Proposal, SharedAnswer, shared_answer
from tallylight.ui.keys import Focus, Key, Mouse
from tests.strategies import at_most
from tests.tables import each
from tests.ui.agent_list.panes import (
    NOW,
    OWN,
    asking,
    glanced,
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

ASKS = (asking(1, 90, project="shop"), asking(2, 80, project="cart"), asking(3, 70, project="api"), pane(4))


class Person:
    """A person at a list: each key costs one, and is pressed when what it is for has been read."""

    def __init__(self, *panes: Pane, lines: int = 24) -> None:
        self.now, self.at, self.keys = listed(*panes, lines=lines), 0.0, 0
        self.given: list[tuple[str, int]] = []
        self.screens = {found.id: question_of(found) for found in panes}
        self.read()

    def read(self) -> None:
        """What the list does between two keys: it reads what is wanted, and draws."""
        if (row := flow.wanted(self.now)) is not None:
            self.now = flow.read(self.now, row, self.looked(row))
        self.drawn = "\n".join(texts(self.now))
        self.now = flow.note_shown(state.drawn(self.now), self.at)

    def looked(self, row: Row) -> Reply:
        return self.screens.get(row.pane.id) or Refusal("no-question", "it asks nothing that can be answered here")

    def press(self, *keys: str, after: float = 1.0) -> None:
        for key in keys:
            self.at, self.keys = self.at + after, self.keys + 1
            self.now, effects = press.press(self.now, Key(key), self.at)
            for effect in effects:
                if isinstance(effect, Gather):
                    read = [(row, self.looked(row)) for row in effect.rows]
                    found = tuple((row, reply) for row, reply in read if isinstance(reply, Question))
                    self.now = state.proposed(self.now, shared_answer(found, effect.like))
                elif isinstance(effect, Perform):
                    self.perform(effect.row, effect.asked)
            self.read()

    def perform(self, row: Row, asked: Request) -> None:
        if isinstance(asked, Answer):
            self.given.append((asked.pane, asked.number))
            self.now = flow.answered(self.now, row, f"answered {asked.number}. Yes")
        elif isinstance(asked, LookRequest):
            reply = self.looked(row)
            self.now = state.asked(self.now, row, reply) if isinstance(reply, Question) else self.now


def test_one_key_answers_and_one_more_the_next() -> None:
    """From amber to work: the key that opens the list, and one for each question; the cursor goes to the next one."""
    person = Person(*ASKS)
    person.press("1")
    assert person.given == [("1", 1)] and person.keys + 1 <= 3
    assert person.now.selected == f"{OWN}:2" and person.now.message == "answered 1. Yes"
    person.press("2", "3")
    assert person.given == [("1", 1), ("2", 2), ("3", 3)] and person.keys == 3
    person.press("1", "1")
    assert len(person.given) == 3, "there is nothing left that asks"


def test_what_is_not_whole_takes_two_keys() -> None:
    """The first shows all of it, the second answers; more lines than the screen has are scrolled through first."""
    person = Person(*ASKS, lines=10)
    person.screens["1"] = attrs.evolve(question_of(ASKS[0]), context=("$ one", "$ two", "$ three", "May I?"), first=0)
    person.now = state.refreshed(attrs.evolve(person.now, asking=None, read_question=None), person.now.rows, NOW)
    person.read()
    assert "more lines; a shows all of it" in "\n".join(texts(person.now))
    person.press("1")
    assert person.given == [] and person.now.mode is Mode.ANSWER and "$ three" in "\n".join(texts(person.now))
    person.press("1")
    assert person.given == [("1", 1)] and person.keys + 1 == 3 and person.now.mode is Mode.LIST


def test_nothing_is_answered_before_it_was_read_off_its_screen() -> None:
    """What the host tells of a question is not the question: without a look, a number makes one."""
    now, effects = pressed(listed(*ASKS), "1")
    assert row_for(question, effects) == now.row
    other = rows.build([snapshot(asking(1), pid=8)], OWN, NOW)
    elsewhere = state.refreshed(State(), other, NOW)
    assert flow.wanted(elsewhere) is None and pressed(elsewhere, "1")[1] == ()
    assert "Enter goes there to answer." in "\n".join(texts(elsewhere)) and "  1  Yes" not in texts(elsewhere)
    assert "answer" not in texts(elsewhere)[-1]
    two = state.refreshed(State(), rows.build([snapshot(asking(1), asking(2), pid=8)], OWN, NOW), NOW)
    assert "answer" not in texts(two)[-1] and "own list" in pressed(two, "A")[0].message


@each("after", [0.0, PICTURE_SHOWN_S / 2, PICTURE_SHOWN_S - 0.01])
def test_a_number_that_was_meant_for_another_answers_nothing(after: float) -> None:
    """The cursor, or the dialog, has just changed: whoever presses a key now has not read what stands there."""
    by_cursor = Person(*ASKS)
    by_cursor.press("j")
    by_cursor.press("1", after=after)
    by_dialog = Person(*ASKS)
    by_dialog.press("?", "escape")
    changed = attrs.evolve(question_of(ASKS[0]), context=("$ rm -rf /", "May I?"), first=0, fingerprint="e" * 32)
    by_dialog.screens["1"] = changed
    by_dialog.now = flow.refused(by_dialog.now, "the screen has changed")
    by_dialog.read()
    by_dialog.press("1", after=after)
    for person in (by_cursor, by_dialog):
        assert person.given == [] and "only just appeared" in person.now.message
        person.press("1", after=2 * PICTURE_SHOWN_S)
        assert len(person.given) == 1


def test_a_key_that_is_held_down_answers_one_question() -> None:
    """However long: its repeats come sooner than anybody reads."""
    person = Person(*ASKS)
    person.press("1")
    person.press("1", after=PICTURE_SHOWN_S - 0.01)
    person.press(*"1" * 40, after=0.03)
    assert person.given == [("1", 1)]


def test_a_key_that_began_before_the_question_answers_nothing() -> None:
    """A terminal repeats a key that is held down after most of a second: that is the same press."""
    held = Person(*ASKS)
    held.press("1")
    for after in (0.66, 0.03, 0.03):
        held.press("1", after=after)
    assert held.given == [("1", 1)]
    early = Person(pane(1), pane(2))
    early.press("1")
    early.screens["1"] = question_of(ASKS[0])
    early.now = state.refreshed(early.now, rows_of(ASKS[0], pane(2)), NOW)
    early.read()
    early.press("1", after=0.66)
    assert early.given == [] and "only just appeared" in early.now.message


@each("after", [0.0, PICTURE_SHOWN_S - 0.01])
def test_a_number_that_goes_on_from_another_window_answers_nothing(after: float) -> None:
    """A panel gets the keyboard when the window beside it ends, whatever is being typed."""
    person = Person(*ASKS)
    for is_in in (False, True):
        person.now, _ = press.press(person.now, Focus(is_in), person.at + 5.0)
    person.at += 5.0
    before, _ = press.press(person.now, Key("1"), person.at)
    person.read()
    person.press("1", after=after)
    assert person.given == [] and "only just appeared" in person.now.message == before.message
    person.press("1")
    assert person.given == [("1", 1)]


@each(("keys", "mode"), [("/w", Mode.FILTER), ("?/w", Mode.HELP), ("n", Mode.NAME)])
def test_a_question_that_goes_ends_nothing_that_is_typed(keys: str, mode: Mode) -> None:
    """Else the next letters would be commands, and the next number an answer."""
    now, _ = pressed(glanced(listed(*ASKS)), *keys)
    after = state.refreshed(now, rows_of(pane(1), *ASKS[1:]), NOW)
    assert after.mode is mode and after.asking is None and not after.message
    hidden, _ = pressed(glanced(listed(*ASKS)), "/", *"cart")
    assert hidden.asking is None and hidden.selected == f"{OWN}:2"
    assert state.refreshed(hidden, hidden.rows, NOW).mode is Mode.FILTER


def test_what_was_jumped_over_was_not_read() -> None:
    """The end of a page tells nothing of its middle."""
    person = Person(*SAME, lines=8)
    person.press("A", "S", "G", "1")
    assert person.given == [] and "read all of it first" in person.now.message
    person.press("g", *["page_down"] * 4, "1")
    assert len(person.given) == 3


def test_a_page_is_laid_out_anew_for_another_width() -> None:
    """In a narrower window nothing of a command is cut away, and all of it is to be read once more."""
    person = Person(*SAME)
    command = "$ rm -r build && echo this one is longer than a narrow window has columns; rm -r /var/lib"
    for found in SAME:
        person.screens[found.id] = attrs.evolve(question_of(found), context=(command, "May I?"), first=0)
    person.now = attrs.evolve(person.now, asking=None, read_question=None)
    person.read()
    person.press("A", "S")
    person.now = state.resized(person.now, 30, 12)
    person.press("1")
    assert person.given == [] and isinstance(person.now.proposal, SharedAnswer)
    assert "".join(person.now.text).count("rm -r /var/lib") == 3
    person.press(*["page_down"] * 8, "1")
    assert len(person.given) == 3


def test_a_dialog_without_rows_is_the_same_by_its_question_only() -> None:
    """Where a question stands in none of the rows above its choices, it is shown and compared all the same."""
    found = [attrs.evolve(question_of(one), context=(), question=f"May I {one.id}?") for one in SAME]
    pairs = tuple(zip(rows_of(*SAME), found, strict=True))
    assert [question.pane for _, question in shared_answer(pairs, found[0]).targets] == ["1"]
    assert "  May I 1?" in shared_answer(pairs, found[0]).lines()


def test_a_page_too_narrow_to_show_a_choice_is_not_answered() -> None:
    """What is cut at the edge has not been seen."""
    person = Person(*ASKS)
    person.press("A")
    person.now = state.resized(person.now, 6, 200)
    person.read()
    person.press("1")
    assert person.given == []


def test_a_click_waits_where_lines_were_broken_anew() -> None:
    """Another width has moved the answers under the pointer."""
    person = Person(*ASKS)
    person.now = state.resized(person.now, 70, 24)
    person.at += 1.0
    person.read()
    line = next(number for number, text in enumerate(texts(person.now)) if text.startswith("  1  Yes"))
    assert press.press(person.now, Mouse("press", line, 3), person.at + PICTURE_SHOWN_S / 2)[1] == ()


def test_a_question_that_changes_is_read_again() -> None:
    """What was read of the one before is dropped at once, and stands nowhere."""
    now = glanced(listed(*ASKS))
    after = state.refreshed(now, rows_of(asking(1, 90, prompt="another"), *ASKS[1:]), NOW)
    assert after.asking is None and flow.wanted(after) == after.row and after.mode is Mode.LIST and not after.message
    late = flow.read(pressed(after, "j")[0], after.rows[0], question_of(ASKS[0]))
    assert late.asking is None, "what comes for a row that is not selected any more is not shown"


def test_what_was_read_is_not_read_again() -> None:
    """One look at each question, whatever came of it, and none while nobody has the keyboard."""
    now = listed(*ASKS)
    row = flow.wanted(now)
    assert row is not None
    assert flow.wanted(flow.read(now, row, Refusal("no-question", "no"))) is None
    assert flow.wanted(flow.read(now, row, question_of(row.pane))) is None
    assert flow.wanted(pressed(now, "?")[0]) is None and flow.wanted(pressed(now, "G")[0]) is None
    assert flow.wanted(press.press(now, Focus(False))[0]) is None
    limited = listed(pane(1, "limited"))
    assert flow.wanted(limited) is None


def test_a_preview_that_takes_the_room_is_noticed() -> None:
    """What was whole below the rows is so no more: the first key shows it, and only the second answers."""
    person = Person(*ASKS, lines=16)
    long = tuple(f"$ line {number}" for number in range(4))
    person.screens["1"] = attrs.evolve(question_of(ASKS[0]), context=(*long, "May I?"), first=0)
    person.now = flow.refused(person.now, "")
    person.read()
    assert person.now.asking is not None and person.now.asking.is_whole
    person.press(" ")
    assert person.now.asking is not None and not person.now.asking.is_whole
    person.press("1")
    assert person.given == [] and person.now.mode is Mode.ANSWER


def test_a_click_hits_what_has_stood_there() -> None:
    """A row that comes above moves the answers: a click is for none of them, and a key is for what it was."""
    person = Person(*ASKS)
    person.at = 5.0
    line = next(number for number, text in enumerate(texts(person.now)) if text.startswith("  3  "))
    person.now = state.refreshed(person.now, rows_of(*ASKS, pane(9)), NOW)
    person.read()
    assert texts(person.now)[line].startswith("  2  ")
    clicked, effects = press.press(person.now, Mouse("press", line, 6), 5.1)
    assert effects == () and "only just appeared" in clicked.message
    assert press.press(person.now, Mouse("press", line, 6), 6.0)[1] != ()
    assert press.press(person.now, Key("3"), 5.1)[1] != ()


def test_a_number_over_another_page_answers_nothing() -> None:
    """What stands below a page that closes a pane, the help or an explanation is not in sight."""
    now = glanced(listed(*ASKS))
    row = now.rows[0]
    closing = state.proposed(now, Proposal(Act.CLOSE, ((row, Occupant("1", "claude", 70, 700)),)))
    for page in (closing, pressed(now, "?")[0], state.explained(now, "why", ("a",))):
        assert page.mode is not Mode.LIST and pressed(state.drawn(page), "1")[1] == ()


# All of them -----------------------------------------------------------------------------------------------------


def test_all_are_answered_one_after_the_other() -> None:
    """`A` shows page after page, a number answers, Enter skips, Backspace goes back; the head says which it is."""
    person = Person(*ASKS)
    person.press("A")
    assert texts(person.now)[0] == " Answer all   1 of 3    shop ▸ cart ▸ api"
    assert "shop asks for permission  claude · 1m" in texts(person.now)[1]
    person.press("2", "enter")
    assert texts(person.now)[0] == " Answer all   3 of 3    api" and person.given == [("1", 2)]
    person.press("backspace", "1", "3")
    assert person.given == [("1", 2), ("2", 1), ("3", 3)]
    assert person.now.mode is Mode.LIST and not person.now.run
    person.press("A")
    assert "no agent asks anything" in person.now.message


def test_each_page_is_its_own_question() -> None:
    """Its own look and its own fingerprint; what cannot be read is said, and skipped by the same key."""
    person = Person(*ASKS)
    del person.screens["2"]
    person.press("A", "1")
    assert person.now.asking is None and "asks nothing" in person.now.message
    person.press("1")
    assert person.given == [("1", 1)]
    person.press("enter", "1")
    assert person.given == [("1", 1), ("3", 1)]


def test_a_page_whose_question_goes_is_left() -> None:
    """Somebody has answered it elsewhere: nothing of it can be pressed any more."""
    person = Person(*ASKS)
    person.press("A")
    person.now = state.refreshed(person.now, rows_of(pane(1), *ASKS[1:]), NOW)
    person.read()
    person.press("1", after=0.1)
    assert person.given == [] and "still being read" in person.now.message and person.now.run
    person.press("enter", "1")
    assert person.given == [("2", 1)]


SAME = [asking(n, 90 - n, project=f"p{n}", what="Bash: npm test", cwd=f"/src/p{n}") for n in (1, 2, 3)]


def test_the_same_request_is_answered_for_all_of_them() -> None:
    """`S` shows each whole, with its folder if known; a number answers each by its own print, once all was shown."""
    bare = Person(*(attrs.evolve(one, cwd="") for one in SAME))
    bare.press("A", "S")
    assert "p1, pane 1" in texts(bare.now)
    person = Person(*SAME, asking(4, 1, what="Bash: make"))
    person.press("A")
    assert "S the same for all 3" in texts(person.now)[-1]
    person.press("S")
    assert isinstance(person.now.proposal, SharedAnswer) and texts(person.now)[0] == "the same for these 3?"
    lines = texts(person.now)
    assert [line for line in lines if ", in /src/" in line] == [f"p{n}, pane {n}, in /src/p{n}" for n in (1, 2, 3)]
    assert lines.count("  $ rm -r build") == 3 and lines[-1] == " 1-3 answer all 3   Esc back"
    person.press("y", after=0.1)
    assert person.given == []
    person.press("S") if person.now.mode is Mode.ANSWER else person.press("A", "S")
    person.press("2", after=0.1)
    assert person.given == [] and "only just appeared" in person.now.message
    person.press("2")
    assert person.given == [("1", 2), ("2", 2), ("3", 2)]
    assert person.now.selected == f"{OWN}:4"


def test_what_is_not_word_for_word_the_same_is_left_out() -> None:
    """Another command, other answers, or a dialog that is not whole; alone there is nothing to share."""
    person = Person(*SAME)
    person.screens["2"] = attrs.evolve(question_of(SAME[1]), context=("$ rm -r /", "May I?"), first=0)
    person.screens["3"] = attrs.evolve(question_of(SAME[2]), missing="its end")
    person.press("A", "S")
    assert person.now.mode is Mode.ANSWER and person.now.message == "no other agent asks exactly the same"


def test_what_is_the_same_has_to_be_read() -> None:
    """In a small window all of it is scrolled through before a number counts."""
    person = Person(*SAME, lines=8)
    person.press("A", "S", "1")
    assert person.given == [] and "read all of it first" in person.now.message
    person.press(*["page_down"] * 4, "1")
    assert [number for _, number in person.given] == [1, 1, 1]


@pytest.mark.slow
@settings(max_examples=at_most(60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([*"123jkAS?aqO ", "enter", "backspace", "escape", "swap", "done", 7, 10, 24]),
                       st.floats(0, 1)), max_size=25)
)  # fmt: skip
def test_whatever_is_pressed_only_what_was_read_is_answered(keys: list[tuple[str | int, float]]) -> None:
    """Each answer is for the very screen that stood there whole for long enough, whatever changed in between."""
    person = Person(*SAME, *ASKS[3:])
    perform, version, was, drawn = person.perform, 0, Mode.LIST, person.drawn
    stood: dict[str, tuple[str, float]] = {}

    def checked(row: Row, asked: Request) -> None:
        if isinstance(asked, Answer):
            question = person.screens[row.pane.id]
            if was is Mode.LIST:
                assert all(text.strip() in drawn for text in question.context[question.first :]), drawn
                assert all(f"  {choice.number}  {choice.label}" in drawn for choice in question.choices), drawn
            print_of, since = stood[row.pane.id]
            assert asked.fingerprint == print_of and person.at - since >= PICTURE_SHOWN_S
        perform(row, asked)

    def note() -> None:
        shown = {}
        if isinstance(person.now.proposal, SharedAnswer):
            if person.now.proposal.read >= len(person.now.text):
                shown = {row.pane.id: found.fingerprint for row, found in person.now.proposal.targets}
        elif person.now.asking is not None and not person.now.asking.unread:
            shown = {person.now.asking.question.pane: person.now.asking.question.fingerprint}
        for id_ in stood.keys() - shown:
            del stood[id_]
        for id_, found in shown.items():
            if stood.get(id_, ("", 0.0))[0] != found:
                stood[id_] = found, person.at

    note()
    person.perform = checked  # type: ignore[method-assign]
    for key, after in keys:
        if key == "swap":
            # Another dialog in the place of the one before; its host tells of it.
            version += 1
            panes = [attrs.evolve(found, prompt=f"{found.prompt}-{version}") for found in SAME]
            for found in panes:
                person.screens[found.id] = attrs.evolve(question_of(found), fingerprint=f"{version:032}")
            person.now = state.refreshed(person.now, rows_of(*panes), NOW)
            person.read()
        elif key == "done":
            person.now = state.refreshed(person.now, rows_of(*ASKS), NOW)
            person.read()
        elif isinstance(key, int):
            person.now = state.resized(person.now, 80, key)
            person.read()
        else:
            was, drawn = person.now.mode, person.drawn
            person.press(key, after=after)
        note()


def test_a_done_is_no_answer_of_another() -> None:
    """What is said of an answer stands until the next key."""
    now = flow.answered(glanced(listed(*ASKS)), rows_of(*ASKS)[0], Done("1", "answered 1. Yes").text)
    assert now.message == "answered 1. Yes" and pressed(now, "j")[0].message == ""
