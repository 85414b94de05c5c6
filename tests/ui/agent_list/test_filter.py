"""Filters with terms, the orders of the list, and the keys that its last line names."""

from __future__ import annotations

from tallylight.ui.agent_list.filtering import Order, matches, ordered
from tests.tables import each
from tests.ui.agent_list.panes import NOW, asking, listed, pane, pressed, rows_of, texts

SOME = (
    asking("a", 50, project="shop", agent="codex"),
    pane("b", "done", 300, project="Docs", unread=True),
    pane("c", "working", 10, project="api", agent="codex", message="is it done"),
    asking("d", 500, project="mill", snoozed_until=NOW + 60),
)


@each(
    ("wanted", "found"),
    [
        ("is:waiting", "ad"), ("is:wait agent:codex", "a"), ("IS:Done", "b"), ("is:unread", "b"), ("is:snoozed", "d"),
        ("is:permission", "ad"), ("agent:codex", "ac"), ("agent:odex", ""), ("project:do", "b"), ("host:kitty", "abcd"),
        ("codex shop", "a"), ("done", "bc"), ("agent:", "abcd"), ("no:such", ""), ("is:waiting shop", "a"),
        (":", "abcd"),
    ],
)  # fmt: skip
def test_what_a_filter_lets_through(wanted: str, found: str) -> None:
    """Terms and words have all to hold; a term is compared from its start; what is no term is a word."""
    assert {row.pane.id for row in rows_of(*SOME) if matches(row, wanted, NOW)} == set(found)


@each(("order", "ids"), [(Order.NEED, "abdc"), (Order.AGE, "dbac"), (Order.NAME, "cbda")])
def test_the_orders(order: Order, ids: str) -> None:
    """By need, the longest in its state first, by name in any case; who has no time comes last."""
    assert "".join(row.pane.id for row in ordered(rows_of(*SOME), order)) == ids
    timeless = pane("e", "idle", project="zoo", since=0.0)
    assert ordered(rows_of(*SOME, timeless), Order.AGE)[-1].pane.id == "e"


def test_a_key_goes_through_the_orders() -> None:
    """`o` sorts by age, by name, and by need again, says so, and the selection stays with its agent."""
    now = listed(*SOME)
    assert now.selected.endswith(":a")
    for order, ids in (("age", "dbac"), ("name", "cbda"), ("need", "abdc")):
        now, _ = pressed(now, "o")
        assert "".join(row.pane.id for row in now.shown) == ids and now.selected.endswith(":a")
        assert texts(now)[-1] == f" sorted by {order}"


def test_a_filter_is_typed() -> None:
    """A term is typed as any filter is, and the head counts what is left."""
    now, _ = pressed(listed(*SOME), "/", *"is:done")
    assert [row.pane.id for row in now.shown] == ["b"] and texts(now)[0].endswith("1 of 4")


def test_only_keys_that_apply_are_named() -> None:
    """An agent that works has no answer, one that waits takes no text, one that runs cannot be resumed."""
    asks, works, ended = (
        texts(listed(found, columns=200))[-1] for found in (asking(1), pane(1), pane(1, "down", unread=True))
    )
    assert "1-3 answer" in asks and "e write" not in asks and "r resume" not in asks and "A answer all" not in asks
    assert "answer" not in works and "e write" in works and "u unread" in works
    assert "r resume" in ended and "answer" not in ended and "u unread" not in ended
    assert all(line.endswith("   ? help   q quit") for line in (asks, works, ended))
    assert "A answer all" in texts(listed(asking(1), asking(2), columns=200))[-1]
