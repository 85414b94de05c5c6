"""The cells that each tab gets: what needs a person first, then errors, limits and the tab in front."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallylight.hosts.kitty.tab_room import ACTIVE, ENOUGH_CELLS, REST_RANK, Want, shared_out, want
from tests.tables import each

ASKS = want(0, 32, ("shop", "npm run build --all"), 0)
PLAIN = Want(REST_RANK, 13, 13)


@each(
    ("wants", "room", "expected"),
    [
        ([ASKS, PLAIN, PLAIN], 60, (32, 13, 13)),
        ([ASKS, PLAIN, PLAIN], 50, (25, 13, 12)),
        ([ASKS, PLAIN, PLAIN], 40, (25, 8, 7)),
        ([Want(0, 20, 20, 6), Want(REST_RANK, 10, 10, 6)], 41, (26, 10)),
        ([Want(0, 20, 20, 6), Want(REST_RANK, 10, 10, 6)], 35, (20, 10)),
        ([ASKS, *[PLAIN] * 8], 73, (25, *[6] * 8)),
        ([ASKS, *[PLAIN] * 8], 27, (3, *[3] * 8)),
        ([ASKS, Want(ACTIVE, 30, 30), *[PLAIN] * 3], 70, (25, 27, 6, 6, 6)),
        ([ASKS, Want(1, 30, 20), Want(2, 30, 20), PLAIN], 60, (25, 20, 9, 6)),
    ],
)
def test_who_gets_room(wants: list[Want], room: int, expected: tuple[int, ...]) -> None:
    """A question shows twelve cells of its subject before another tab has more than a mark and a piece of its name."""
    assert shared_out(tuple(wants), room) == expected


def test_what_a_tab_must_say() -> None:
    """Twelve cells of a name and of what is asked; the ends of its style can go."""
    assert want(0, 60, ("x" * 20, "y" * 30), 6) == Want(0, 54, 54 - 8 - 18, 6)
    assert want(REST_RANK, 10, (), 0) == Want(REST_RANK, 10, 10)
    assert ENOUGH_CELLS == 12


_WANTS = st.tuples(st.integers(0, REST_RANK), st.integers(1, 60), st.integers(0, 30)).map(
    lambda made: Want(made[0], made[1], max(1, made[1] - made[2]))
)


@given(st.lists(_WANTS, min_size=1, max_size=30), st.integers(0, 250))
def test_no_cell_is_left_while_a_tab_is_cut(wants: list[Want], more: int) -> None:
    """All fits, no tab has more than it wants, and none that asks is cut while there is room."""
    sizes = shared_out(tuple(wants), room := len(wants) + more)
    assert sum(sizes) == min(room, sum(one.text for one in wants))
    assert all(1 <= size <= one.text for size, one in zip(sizes, wants, strict=True))
