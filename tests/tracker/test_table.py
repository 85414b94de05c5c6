"""The table in docs/trust.md is the one in the code, and the page is short."""

from __future__ import annotations

import re
from pathlib import Path

from tallylight.tracker.table import CELLS

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
MOST_WORDS = 980


def drawn() -> str:
    """The table as Markdown, best source first; `python -m tests.tracker.test_table` writes it into the page."""
    rows = [list(row.values()) for row in reversed(CELLS.values())]
    head = list(next(iter(CELLS.values())))
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page_with_table() -> str:
    """The page, with the table of the code in it."""
    marked = re.compile(r"(<!-- table -->\n).*?(<!-- /table -->)", re.DOTALL)
    return marked.sub(lambda match: f"{match[1]}{drawn()}{match[2]}", PAGE.read_text("utf-8"))


def test_the_page_has_the_table() -> None:
    assert PAGE.read_text("utf-8") == page_with_table()


def test_the_page_is_short() -> None:
    by_hand = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", PAGE.read_text("utf-8"), flags=re.DOTALL)
    words = re.findall(r"[^\s|/-]*[^\W\d_][^\s|/-]*", by_hand)
    assert len(words) <= MOST_WORDS


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), "utf-8")
