"""Where jumps go: tables of panes and presses."""

from __future__ import annotations

import pytest

from tallylight.snapshot.next_pane import MAX_VISITS, Journey, jump, stops
from tallylight.snapshot.schema import Pane
from tests.ui.agent_list.panes import NOW, asking, pane


class Person:
    """Somebody who presses the key, in front of some panes."""

    def __init__(self, *panes: Pane, at: str) -> None:
        self.panes = {found.id: found for found in panes}
        self.here = at
        self.journey: Journey | None = None

    def press(self, *, is_backward: bool = False, is_any: bool = False) -> str | None:
        order = stops(list(self.panes.values()), NOW, is_any=is_any)
        self.journey, goal = jump(self.journey, order, self.here, existing=set(self.panes), is_backward=is_backward)
        if goal is not None:
            self.here = goal
        return goal

    def presses(self, count: int, **how: bool) -> list[str | None]:
        return [self.press(**how) for _ in range(count)]


HOME = pane("home", "idle")


def test_stops_are_waiting_oldest_first_then_error_then_what_is_over() -> None:
    """Waiting ones come oldest first; then errors; then down and done, as in the list; the rest is no stop."""
    found = stops(
        [
            pane("done", "done", 30), pane("down", "down", 20), pane("work"), asking("young", 5), pane("idle", "idle"),
            pane("error", "error"), asking("old", 500), pane("back", "background"), pane("longest-done", "done", 40),
            pane("limit", "limited", 900),
        ],
        NOW,
    )  # fmt: skip

    assert [stop.id for stop in found] == ["old", "young", "error", "down", "done", "longest-done", "limit"]


def test_snoozed_panes_are_no_stops() -> None:
    """What a person has put off is skipped until its time has come."""
    found = stops([asking("a", snoozed_until=NOW + 1), asking("b", snoozed_until=NOW - 1)], NOW)

    assert [stop.id for stop in found] == ["b"]


def test_five_presses_visit_five_and_the_sixth_returns() -> None:
    """A visit answers nothing, yet each press goes on; after the last one it goes back, and then all begins anew."""
    person = Person(HOME, *[asking(str(n), 100 - n) for n in range(5)], pane("work"), at="home")

    assert person.presses(7) == ["0", "1", "2", "3", "4", "home", "0"]


def test_whoever_walks_off_begins_anew_from_there() -> None:
    """A person who goes elsewhere on their own comes back to that place."""
    person = Person(HOME, pane("desk", "idle"), asking("a", 9), asking("b", 8), at="home")
    person.press()
    person.here = "desk"

    assert person.presses(3) == ["a", "b", "desk"]


def test_the_pane_one_is_in_is_no_goal() -> None:
    """Standing in the oldest question, the first press goes to the next one; then back."""
    person = Person(asking("a", 9), asking("b", 8), at="a")

    assert person.presses(2) == ["b", "a"]


def test_nothing_to_do_goes_nowhere() -> None:
    """Where nobody needs anything a press stays."""
    assert Person(HOME, pane("work"), at="home").presses(2) == [None, None]


def test_alone_in_front_of_the_only_question_a_press_stays() -> None:
    """The only one that needs something is in front already."""
    assert Person(asking("a"), pane("work"), at="a").press() is None


def test_what_asks_anew_is_visited_anew() -> None:
    """A pane that was answered and asks again in the same journey is a stop again."""
    person = Person(HOME, asking("a", 9), asking("b", 8), at="home")
    assert person.presses(2) == ["a", "b"]
    person.panes["a"] = asking("a", 1)

    assert person.presses(2) == ["a", "home"]


def test_what_becomes_needy_on_the_way_is_visited_before_the_return() -> None:
    """A new question comes before an old error, and before the way back."""
    person = Person(HOME, asking("a", 9), pane("error", "error"), at="home")
    assert person.press() == "a"
    person.panes["late"] = asking("late", 1)

    assert person.presses(3) == ["late", "error", "home"]


def test_a_visited_pane_that_is_dealt_with_is_no_obstacle() -> None:
    """`done` goes out when it is looked at; the journey goes on from there."""
    person = Person(HOME, pane("a", "done", 8), pane("b", "done", 9), at="home")
    assert person.press() == "a"
    person.panes["a"] = pane("a", "idle", 0)

    assert person.presses(2) == ["b", "home"]


def test_the_way_back_is_forgotten_with_its_pane() -> None:
    """Where the journey began there may be nothing any more: then the last press stays."""
    person = Person(HOME, asking("a"), at="home")
    assert person.press() == "a"
    del person.panes["home"]

    assert person.presses(2) == [None, None]


def test_the_other_way_round() -> None:
    """`--previous` begins at the end of the order, and visits all, too."""
    person = Person(HOME, asking("a", 9), asking("b", 8), pane("error", "error"), at="home")

    assert person.presses(4, is_backward=True) == ["error", "b", "a", "home"]


def test_turning_round_goes_back_the_way_one_came() -> None:
    """Against its direction a journey goes to the stop before, over what is gone, and at last to where it began."""
    person = Person(HOME, *[asking(str(n), 100 - n) for n in range(4)], at="home")
    assert person.presses(4) == ["0", "1", "2", "3"]
    del person.panes["2"]

    assert person.presses(3, is_backward=True) == ["1", "0", "home"]


def test_after_turning_round_the_next_one_is_next_again() -> None:
    """Going back takes a visit back: the next press forward goes there again."""
    person = Person(HOME, asking("a", 9), asking("b", 8), at="home")
    assert [*person.presses(2), person.press(is_backward=True)] == ["a", "b", "a"]

    assert person.presses(2) == ["b", "home"]


def test_any_agent_is_a_stop_if_one_wants() -> None:
    """`--any` visits every agent, the neediest first; shells and plain commands are none."""
    person = Person(pane("w1", age=5), asking("a"), pane("shell", "active"), pane("w2", age=9), at="shell")

    assert person.presses(4, is_any=True) == ["a", "w1", "w2", "shell"]


@pytest.mark.parametrize("extra", [0, 1])
def test_a_journey_remembers_only_so_much(extra: int) -> None:
    """A pane that asks anew all the time cannot fill the memory: at the limit, and one beyond it."""
    person = Person(HOME, asking("a"), asking("b"), at="home")
    for turn in range(MAX_VISITS + extra):
        person.panes = {"home": HOME, "a": asking("a", -turn), "b": asking("b", -turn)}
        assert person.press() is not None

    assert person.journey is not None and len(person.journey.visits) == MAX_VISITS
