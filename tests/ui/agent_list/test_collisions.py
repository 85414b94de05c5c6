"""Two agents that edit one file, as the list and `tally why` tell of it."""

from __future__ import annotations

import attrs

from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import CollisionEntry
from tallylight.ui import details
from tests.ui.agent_list.panes import NOW, asking, listed, pane, texts

SAME = CollisionEntry(pane="kitty-7:2", name="api", file="src/cart.py", lines="40–62", same=True, at=NOW - 120)
OTHER = attrs.evolve(SAME, pane="kitty-9:1", name="docs", lines="7", same=False)
ASKED = attrs.evolve(OTHER, asked=True)


def test_the_same_lines_are_marked() -> None:
    """Behind the mark of the light; other lines of the file are told in the detail alone."""
    lines = texts(listed(pane(1, project="cart", collisions=(SAME, OTHER)), pane(2, project="api")))
    assert [line[:10] for line in lines[1:3]] == ["▸ ●≠ cart ", "  ●  api  "]
    detail = "\n".join(lines[3:])
    assert "also edited by api (pane 2): src/cart.py 40–62" in detail
    assert "also edited by docs (pane kitty-9:1): src/cart.py 7, other lines" in detail
    assert "≠" not in "".join(texts(listed(pane(1, collisions=(OTHER,)), pane(2))))
    question = pane(1, "done", kind=Kind.QUESTION, collisions=(SAME,))
    assert texts(listed(question))[1].startswith("▸ ✓? ")


def test_a_request_to_write_says_who_was_there() -> None:
    """In its row and in the detail, with when that was; not once it is answered."""
    asks = asking(1, what="Edit src/cart.py (+1 −1)", project="cart", collisions=(ASKED,))
    lines = texts(listed(asks, columns=100))
    assert "docs changed this file 2m ago  Edit src/cart.py (+1 −1)" in lines[1]
    assert sum("docs changed this file 2m ago" in line for line in lines) == 2
    assert details.changed_meanwhile(attrs.evolve(asks, status=Status.WORKING), NOW) == ""
    unknown = attrs.evolve(ASKED, at=0.0)
    assert details.changed_meanwhile(attrs.evolve(asks, collisions=(unknown,)), NOW) == "docs changed this file"
    assert (
        details.changed_meanwhile(attrs.evolve(asks, collisions=(unknown, ASKED)), NOW)
        == "docs changed this file 2m ago"
    )
