"""A page in a window of any size: what could not be shown cannot be agreed to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act, Line
from tallylight.actions.view import PageWindow
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.wire.text import width
from tests.parts.conversations.test_offer import offer, worktree
from tests.tables import each


def text(line: Line) -> str:
    return "".join(piece for _, piece in line)


def drawn(view: PageWindow, columns: int, rows: int) -> list[str]:
    """What stands in the rows of the window."""
    lines, _ = view.draw(columns, rows)
    assert len(lines) <= rows
    assert all(width(text(line)) <= max(2, columns) for line in lines)
    return [text(line) for line in lines]


@pytest.mark.slow
@each("rows", [1, 2, 3, 5, 8])
@each("columns", [2, 10, 80])
@each("key", ["down", "pagedown", " "])
def test_enter_counts_once_all_of_it_was_on_the_screen(columns: int, rows: int, key: str) -> None:
    """Row by row or page by page to the end; what was seen on the way is the whole page."""
    page = offer()
    view = PageWindow(page)
    body = [text(line) for line in page.body(columns)]
    seen: set[str] = set()
    for _ in range(500):
        seen |= set(drawn(view, columns, rows))
        before = seen >= set(body)
        act = view.key("enter")
        assert (act is Act.GO) == before
        if act is Act.GO:
            break
        view.key(key)
    assert seen >= set(body)


def test_a_refused_enter_says_why() -> None:
    """In words, in as many rows as there are, until the next key."""
    for rows in (1, 2, 3, 5):
        view = PageWindow(offer())
        first = drawn(view, 80, rows)
        view.key("enter")
        assert "Scroll down with ↓ or space" in drawn(view, 80, rows)[-1]
        view.key("")
        assert drawn(view, 80, rows) == first


def test_what_a_refused_enter_hides_was_not_seen() -> None:
    """In one row the words take the place of the page: going on from there leaves nothing out."""
    view = PageWindow(offer())
    body = [text(line) for line in offer().body(80)]
    shown = []
    for _ in body:
        shown += drawn(view, 80, 1)
        view.key("enter")
        drawn(view, 80, 1)
        view.key("down")
    assert shown == body


def test_a_window_that_holds_it_shows_the_keys() -> None:
    """Then nothing is to be scrolled, and Enter counts at once; one row less, and it has to be read to its end."""
    page = offer()
    height = len(page.body(80)) + 1 + len(page.keys(80))
    view = PageWindow(page)
    assert "Enter fork" in drawn(view, 80, height)[-1]
    assert view.key("down") is Act.STAY
    assert view.key("enter") is Act.GO

    low = PageWindow(page)
    assert drawn(low, 80, height - 1)[-1].startswith("Enter fork  Esc leave")
    assert drawn(low, 80, 3)[-1] == f"2/{len(page.body(80))} ↓ space scroll  Esc leave"
    assert drawn(PageWindow(page), 10, 3)[-1][-1] == "…"


def test_a_window_that_is_larger_shows_the_page_and_the_keys() -> None:
    """Each in full, however narrow; in one column nothing but the keys, and in no row nothing."""
    page = offer()
    for columns in (2, 3, 80):
        foot = ["", *(text(line) for line in page.keys(columns))]
        whole = [text(line) for line in page.body(columns)] + foot
        for more in (0, 1, 3):
            assert drawn(PageWindow(page), columns, len(whole) + more) == whole
    keys = ["", *(text(line) for line in page.keys(2))]
    assert drawn(PageWindow(page), 1, 9999) == keys
    for columns in (1, 80):
        assert drawn(PageWindow(page), columns, 0) == []
    view = PageWindow(page)
    drawn(view, 1, 9999)
    view.key("enter")
    assert all(width(line) <= 2 for line in drawn(view, 1, 9999))


def test_the_place_fits_exactly() -> None:
    """What is as wide as the window is not cut."""
    page = offer()
    for columns in range(20, 60):
        found = drawn(PageWindow(page), columns, 3)[-1]
        whole = f"2/{len(page.body(columns))} ↓ space scroll  Esc leave"
        assert found == (whole if len(whole) <= columns else f"{whole[: columns - 1]}…")


def test_one_row_at_a_time() -> None:
    """Where one row is shown, or none, a page is one row."""
    for rows in (1, 2):
        view, found = PageWindow(offer()), []
        for key in ("pagedown", " ", "pageup", "pageup", "pageup"):
            drawn(view, 80, rows)
            view.key(key)
            found.append(view._top)
        assert found == [1, 2, 1, 0, 0], rows


def test_a_resize_or_other_words_begin_anew() -> None:
    """What was read was another page, or broke elsewhere; the page is at its beginning again."""
    page = offer()
    view = PageWindow(page)

    def read() -> None:
        for _ in range(50):
            drawn(view, 80, 4)
            view.key("down")

    changes: list[Callable[[], object]] = [
        lambda: drawn(view, 79, 4),
        lambda: drawn(view, 80, 5),
        lambda: view.key("t"),
        lambda: choose(page),
    ]
    for change in changes:
        read()
        assert drawn(view, 80, 4)[-1].startswith("Enter fork")
        change()
        assert drawn(view, 80, 4)[0] == text(page.body(80)[0])
        assert view.key("enter") is Act.STAY


def choose(page: ForkPage) -> None:
    page.wants_worktree = True
    page.worktree = worktree()


def test_it_is_told_when_it_begins_anew() -> None:
    """Whoever draws it throws away what was typed for another page."""
    view = PageWindow(offer())

    assert view.draw(80, 4)[1]
    assert not view.draw(80, 4)[1]
    view.key("down")
    assert not view.draw(80, 4)[1]
    assert view.draw(80, 3)[1]


def test_nothing_was_drawn_yet() -> None:
    """An Enter before the first drawing is none."""
    assert PageWindow(offer()).key("enter") is Act.STAY


def test_up_and_down() -> None:
    """The arrows go by one row, the others by as many as there are; never beyond either end."""
    view = PageWindow(offer())
    body = [text(line) for line in offer().body(80)]

    moves = [("up", 0), ("down", 1), ("pagedown", 3), (" ", 5), ("up", 4), ("pageup", 2), ("pageup", 0), ("pageup", 0)]
    found = []
    for key, _ in moves:
        drawn(view, 80, 3)
        view.key(key)
        drawn(view, 80, 3)
        found.append(view._top)
    assert found == [at for _, at in moves]
    for _ in range(99):
        view.key("down")
        drawn(view, 80, 3)
    assert view._top == len(body) - 2


def test_one_column_shows_nothing() -> None:
    """No text can be read there, so that nothing can be agreed to."""
    view = PageWindow(offer())
    for _ in range(500):
        view.draw(1, 50)
        assert view.key("enter") is not Act.GO
        view.key("down")


def test_a_refusal_is_scrolled_and_left() -> None:
    """A long reason can be read to its end; every other key leaves."""
    view = PageWindow(ForkPage(offer().verb, Refusal("remote", "x " * 300)))
    drawn(view, 40, 5)
    assert view.key("down") is Act.STAY
    assert view.key("enter") is Act.LEAVE
    short = PageWindow(ForkPage(offer().verb, Refusal("remote", "x")))
    drawn(short, 80, 24)
    assert short.key("down") is Act.LEAVE


@given(
    st.integers(1, 12), st.integers(2, 60), st.lists(st.sampled_from(["up", "down", " ", "pageup", "enter", "", "x"]))
)
def test_whatever_is_pressed_enter_means_all_was_seen(rows: int, columns: int, keys: list[str]) -> None:
    """By any way through the page, in any window."""
    page = offer()
    view = PageWindow(page)
    body = [text(line) for line in page.body(columns)]
    seen: set[str] = set()
    for key in keys:
        seen |= set(drawn(view, columns, rows))
        if view.key(key) is Act.GO:
            assert seen >= set(body)
            return


def test_a_page_further_where_none_of_it_is_shown() -> None:
    """While the words of a refused Enter fill the window, a page is one row, down and up."""
    view, found = PageWindow(offer()), []
    for key in ("pagedown", " ", "pageup"):
        drawn(view, 80, 1)
        view.key("enter")
        drawn(view, 80, 1)
        view.key(key)
        found.append(view._top)
    assert found == [1, 2, 1]
