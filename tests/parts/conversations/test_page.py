"""The page of `tally restore`: everything that would run is on it, and only that is agreed to."""

from __future__ import annotations

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act
from tallylight.actions.view import PageWindow
from tallylight.parts.conversations.page import Offered, RestorePage
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.wire.text import width
from tests.tables import each


def choice(number: int, **changes: object) -> Offered:
    plan = Plan(
        verb=Verb.RESUME,
        argv=("/bin/claude", "--resume", f"id of {number}"),
        cwd=f"/w/{number}",
        agent="claude",
        display="Claude Code",
        session=f"id of {number}",
        method=Method.SESSION,
        title="↻  api",
    )
    return Offered(number, f"Claude Code  api{number}", ["it was working", "“Allow rm?”"], plan, **changes)  # type: ignore[arg-type]


REFUSED = Offered(2, "Codex  web", [], Refusal("directory", "the directory '/gone' no longer exists"))


def text(page: RestorePage, columns: int = 80) -> list[str]:
    return ["".join(part for _, part in line) for line in page.body(columns)]


def keys(page: RestorePage) -> str:
    return "".join(part for line in page.keys(80) for _, part in line)


def test_all_that_would_run_is_shown() -> None:
    """The exact arguments and the directory of each, and why one cannot be resumed."""
    page = RestorePage([choice(1), REFUSED], "in new tabs", 2)
    rows = text(page)
    assert "  [x] 1  Claude Code  api1" in rows
    assert "      /bin/claude --resume 'id of 1'" in rows
    assert "      in /w/1" in rows
    assert "      2  Codex  web" in rows
    assert "      The directory '/gone' no longer exists." in rows
    assert [one.number for one in page.chosen] == [1]


@each("columns", [2, 7, 20, 24, 80, 300])
def test_no_line_is_wider_than_the_screen(columns: int) -> None:
    """Nothing is cut: what is too long is broken."""
    page = RestorePage([choice(1), REFUSED], "in new tabs", 2)
    for rows in (page.body(columns), page.keys(columns)):
        assert all(sum(width(part) for _, part in line) <= columns for line in rows)
    shown = "".join("".join(text(page, columns)).split())
    assert "/bin/claude--resume'idof1'" in shown


def test_keys_choose() -> None:
    """A digit takes one out and in again, `a` all or none; Enter does nothing without any."""
    page = RestorePage([choice(1), choice(2), choice(3)], "in new tabs", 3)
    assert page.key("2") is Act.STAY
    assert [one.number for one in page.chosen] == [1, 3] and "Enter resume 2" in keys(page)
    assert page.key("enter") is Act.GO
    page.key("a")
    assert len(page.chosen) == 3
    page.key("a")
    assert page.chosen == [] and page.refusal is not None and page.key("enter") is Act.STAY
    assert "Enter" not in keys(page) and "resume" not in keys(page)
    assert page.key("7") is Act.STAY and page.key("escape") is Act.LEAVE


def test_only_one_fits_in_this_pane() -> None:
    """Where no tab can be opened, Enter starts one, and says why not more."""
    page = RestorePage([choice(1), choice(2)], "in this pane", 1)
    assert page.key("enter") is Act.STAY
    assert any("Only 1 can be resumed in this pane" in row for row in text(page))
    page.key("1")
    assert page.key("enter") is Act.GO and [one.number for one in page.chosen] == [2]


def test_enter_counts_when_all_was_seen() -> None:
    """A list longer than the window is scrolled first; another choice begins anew."""
    view = PageWindow(RestorePage([choice(n) for n in range(1, 9)], "in new tabs", 8))
    view.draw(60, 12)
    assert view.key("enter") is Act.STAY
    for _ in range(9):
        view.draw(60, 12)
        view.key(" ")
    view.draw(60, 12)
    assert view.key("enter") is Act.GO
    view.key("3")
    view.draw(60, 12)
    assert view.key("enter") is Act.STAY
