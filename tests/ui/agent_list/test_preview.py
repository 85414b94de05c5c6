"""The preview of the list: its pages, its colours, how it follows the selection, and how often a screen is read."""

from __future__ import annotations

import threading

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.snapshot.rows import Row
from tallylight.ui import ansi
from tallylight.ui.agent_list import flow, geometry, state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Plain
from tallylight.ui.agent_list.geometry import areas, list_columns
from tallylight.ui.agent_list.preview import PAGES, Page
from tallylight.ui.agent_list.reading import PACE_S, Screens
from tallylight.ui.agent_list.record import State
from tallylight.ui.ansi import Depth
from tallylight.ui.keys import Mouse
from tallylight.wire.styled import StyledScreen, read_screen
from tallylight.wire.text import width
from tests.patience import until
from tests.strategies import at_most
from tests.tables import each
from tests.ui.agent_list.panes import (
    NOW,
    OWN,
    asked,
    asking,
    glanced,
    listed,
    pane,
    pressed,
    question_of,
    rows_of,
    texts,
)

SHOP = asking(1, project="shop", what="Bash: npm test", question="Do you want to proceed?")
TASKS = ("Read the code", "Write the test", "Change the code")


def beside(now: State) -> list[str]:
    """The preview, at the right of the list and below the detail."""
    details = areas(now).details
    return [text[list_columns(now) + geometry.GAP_COLUMNS :] for text in texts(now)[1 + details : -1]]


def screen(*rows: str, columns: int = 200, cursor: tuple[int, int] | None = None) -> StyledScreen:
    return read_screen(rows, columns, cursor=cursor)


def shown(*rows: str, columns: int = 200, lines: int = 22, cursor: tuple[int, int] | None = None) -> State:
    """The list of `SHOP` with the preview of a screen of these rows."""
    now = pressed(listed(SHOP, columns=columns, lines=lines), " ")[0]
    return state.pictured(now, f"{OWN}:1", screen(*rows, cursor=cursor))


def on(page: Page, found: object = SHOP, columns: int = 200) -> list[str]:
    """The lines of that page, without the titles and the empty ones."""
    now = listed(found, columns=columns, lines=30)  # type: ignore[arg-type]
    now = pressed(now, " ", *["tab"] * PAGES.index(page))[0]
    return [line for line in beside(now)[1:] if line]


# Where it stands -------------------------------------------------------------------------------------------------


def test_a_large_screen_has_it_from_the_beginning() -> None:
    """Detail and screen share the right side; a question that is longer than half of it has all of it."""
    now = state.pictured(listed(SHOP, columns=200, lines=50), f"{OWN}:1", screen("$ claude"))
    assert beside(now)[0].startswith("─ screen ─") and "$ claude" in beside(now)
    assert texts(now)[-1].startswith(" Enter go") and "Space close" in texts(now)[-1]
    assert pressed(now, "escape")[1] == (Plain.QUIT,), "it is no step that has to be taken back"
    assert areas(pressed(now, " ")[0]).preview == 0
    assert areas(glanced(now)).preview == 24

    row = now.row
    assert row is not None
    long = attrs.evolve(question_of(row.pane), context=tuple(f"row {n}" for n in range(30)))
    asks = state.drawn(flow.read(now, row, long))
    assert asks.asking is not None and asks.asking.is_whole and areas(asks).preview == 0


@each(("columns", "lines", "is_panel"), [(159, 50, False), (200, 39, False), (200, 50, True)])
def test_a_smaller_one_has_it_after_a_key(columns: int, lines: int, is_panel: bool) -> None:
    """Nor has a panel; but a window that grows has it at once."""
    now = state.resized(State(is_panel=is_panel), columns, lines)
    assert now.preview is None
    assert (state.resized(now, 200, 50).preview is None) is is_panel


def test_it_opens_beside_the_list() -> None:
    """Space shows the screen as it is below the detail, and another space closes it again."""
    before = listed(SHOP, columns=200, lines=22)
    now = shown("$ claude", "", "❯ 1. Yes")

    assert beside(now)[0].startswith("─ screen ─ reply ─ plan ─ why ─")
    assert [line for line in beside(now)[1:] if line] == ["$ claude", "❯ 1. Yes"]
    assert all(f"{text} "[list_columns(now) : list_columns(now) + 3] == " │ " for text in texts(now)[1:-1])
    assert "shop" in texts(now)[1]
    assert pressed(now, " ") == (before, ())


def test_in_a_narrow_window_it_is_below_all() -> None:
    """Below 160 columns the rows stay above it; the screen of what asks takes the place of the question."""
    now = glanced(shown(*(f"line {n}" for n in range(30)), columns=80, lines=24))
    lines = texts(now)

    assert "shop" in lines[1] and not any("$ rm -r build" in line for line in lines)
    at = next(number for number, line in enumerate(lines) if line.startswith("─ screen ─"))
    assert lines[at + 1 : -1] == [f"line {n}" for n in range(30 - (22 - at), 30)] and at < 14
    assert any(line.startswith("─ screen  1/4 ─") for line in texts(shown("x", columns=24, lines=24)))


def test_what_covers_the_list_covers_it() -> None:
    """While a question or a text has the whole width the preview is neither drawn nor read."""
    now = shown("here")
    assert state.watched(now) == rows_of(SHOP)[0]
    for covered in (asked(now), pressed(now, "?")[0]):
        assert state.watched(covered) is None and "─ screen" not in "\n".join(texts(covered))
    assert "here" in "\n".join(beside(pressed(now, "?", "escape")[0]))


def test_escape_closes_what_was_opened_last() -> None:
    """First the preview, then the list."""
    now, effects = pressed(shown("here"), "escape")

    assert now.preview is None and effects == ()


# The screen ------------------------------------------------------------------------------------------------------


def test_its_end_is_shown_and_the_rest_can_be_reached() -> None:
    """A screen that is larger than the preview begins at its end; keys and the wheel move the view, no further than
    there is anything."""
    now = shown(*(f"{n:02} {'x' * 90} right end {n:02}" for n in range(40)), cursor=(39, 0))
    assert [line[:2] for line in beside(now)[1:]] == [f"{n:02}" for n in range(31, 40)]

    assert beside(pressed(now, "[")[0])[1][:2] == "26"
    assert beside(pressed(now, *["["] * 20)[0])[1][:2] == "00"
    assert beside(pressed(now, *["["] * 20, "]")[0])[1][:2] == "05"
    assert beside(pressed(now, Mouse("wheel_up", 14, 150))[0])[1][:2] == "28"
    assert not any("right" in line for line in beside(now)) and all("right end" in line
        for line in beside(pressed(now, "right", "right")[0])[1:])  # fmt: skip
    assert pressed(now, "right", "left", "left")[0] == now

    # The wheel over the list moves the list, and a click beside it does nothing.
    assert pressed(now, Mouse("wheel_up", 3, 5))[0] == now
    assert pressed(now, Mouse("press", 14, 150)) == (now, ())


def test_the_cursor_is_seen() -> None:
    """Its cell is in reverse, behind the end of the text too; where it is hidden none is."""
    at_end, inside, hidden = shown("❯ ab", cursor=(0, 5)), shown("❯ 日本", cursor=(0, 2)), shown("❯ ab")
    lit = [
        [span.text for line in draw(now) for span in line if span.style is not None and span.style.is_reverse]
        for now in (at_end, inside, hidden)
    ]

    assert lit == [[" "], ["日"], []]
    assert beside(at_end)[1] == "❯ ab"


@each("columns", range(160, 168))
def test_wide_characters_are_cut_at_cells(columns: int) -> None:
    """No half of a character stands at either edge, wherever the view is: every line has the cells it should have."""
    now = shown("日本語" * 40, "a" + "日本語" * 40, columns=columns)
    for moved in (now, pressed(now, "right")[0], pressed(now, "right", "right")[0]):
        assert all(width(text) <= columns for text in texts(moved))
        assert all(width(line) in (columns - 115, columns - 116) for line in beside(moved)[1:3])


def test_colours_are_those_of_the_program() -> None:
    """Of its sequences the attributes and colours come through, anew, and nothing else does."""
    now = shown("\x1b[1;31mred\x1b[0m \x1b[48;2;1;2;3mon\x1b[m \x1b]8;;http://evil/\x07link\x1b]8;;\x07 \x1b[2J\x1b[5n")
    (line,) = (line for line in draw(now) if any("red" in span.text for span in line))

    full, cube, none = (ansi.sgr(line, depth) for depth in (Depth.FULL, Depth.CUBE, Depth.NONE))
    assert "\x1b[1;38;5;1mred\x1b[0m" in full and "\x1b[48;2;1;2;3mon\x1b[0m" in full
    assert "\x1b[1;38;5;1mred\x1b[0m" in cube and "\x1b[48;5;16mon\x1b[0m" in cube
    assert "\x1b[1mred\x1b[0m" in none and "48;" not in none
    assert not any(part in full for part in ("evil", "\x1b[2J", "\x1b[5n", "\x1b]"))


@settings(max_examples=at_most(60), deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=40), st.sampled_from(["\x1b[31m", "\x1b[7m日本", "\x1b]0;x\x07"])), max_size=9),
    st.integers(1, 200),
    st.integers(1, 30),
    st.lists(st.sampled_from(["tab", "shift+tab", "[", "]", "left", "right"]), max_size=6),
    st.tuples(st.integers(0, 50), st.integers(0, 90)),
)
def test_whatever_stands_there_the_picture_fits(
    rows: list[str], columns: int, lines: int, keys: list[str], cursor: tuple[int, int]
) -> None:
    """Any screen, in any window, on any page: as many lines as there are, none too wide, and no sequence but ours."""
    evil = attrs.evolve(SHOP, tasks=tuple(rows), progress="1/3", reply="".join(rows), question="".join(rows))
    now = pressed(listed(evil, pane(2), columns=columns, lines=lines), " ")[0]
    now = pressed(state.pictured(now, f"{OWN}:1", screen(*rows, cursor=cursor)), *keys)[0]
    drawn = draw(now)

    assert len(drawn) == lines
    for line in drawn:
        text = "".join(span.text for span in line)
        assert width(text) <= columns and not any(c < " " or "\x7f" <= c < "\xa0" for c in text)


# The other pages -------------------------------------------------------------------------------------------------


def test_tab_turns_the_pages() -> None:
    """All of them, in both directions, and around the end."""
    now, pages = shown("here"), []
    for _ in PAGES:
        assert now.preview is not None
        pages.append(now.preview.page)
        now = pressed(now, "tab")[0]
    assert pages == list(PAGES) and now == shown("here")
    back = pressed(now, "shift+tab")[0]
    assert back.preview is not None and back.preview.page is Page.WHY


def test_the_last_reply_is_wrapped() -> None:
    """All that is known of it, broken between words."""
    reply = "All tests pass now. " * 6
    assert " ".join(on(Page.REPLY, pane(1, "done", reply=reply))).split() == reply.split()
    assert on(Page.REPLY, pane(1)) == ["its last reply is unknown"]


def test_the_plan_has_its_steps() -> None:
    """Those that are done, the current one, and those to come, below how far it is."""
    found = pane(1, progress="1/3", tasks=TASKS, children=(("Explore", "working"),))
    bar, *steps = on(Page.PLAN, found)

    assert bar.endswith(" 1/3")
    assert steps == ["✓ Read the code", "▸ Write the test", "· Change the code", "Explore working"]
    assert on(Page.PLAN, pane(1, tasks=TASKS)) == [f"· {task}" for task in TASKS]
    assert on(Page.PLAN, pane(1, progress="1/9", tasks=TASKS))[-1] == "… of 9 steps in all"
    assert on(Page.PLAN, pane(1)) == ["it reported no plan"]


# Whom it shows ---------------------------------------------------------------------------------------------------


def test_it_follows_the_selection() -> None:
    """Of another agent nothing is shown before its screen was read; one that comes late for another is not shown."""
    now = pressed(listed(SHOP, pane(2, project="docs"), columns=200), " ")[0]
    now = state.pictured(now, f"{OWN}:1", screen("of the shop"))
    other = pressed(now, "down")[0]

    assert "of the shop" in "\n".join(beside(now)) and "of the shop" not in "\n".join(beside(other))
    assert state.pictured(other, f"{OWN}:1", screen("late")) == other
    row = state.watched(other)
    assert row is not None and row.pane.id == "2"


def test_an_agent_that_goes_is_told_of() -> None:
    """When it leaves the list while it is shown, the preview says so, and shows no other before a key was pressed."""
    now = pressed(listed(SHOP, pane(2, project="docs"), columns=200), " ")[0]
    now = state.refreshed(now, rows_of(pane(2, project="docs")), NOW)
    assert [line for line in beside(now)[1:] if line] == ["shop is no longer in the list"]
    assert state.watched(now) is None

    after = pressed(now, "j")[0]
    row = state.watched(after)
    assert row is not None and row.pane.id == "2"

    gone = state.refreshed(shown("here"), (), NOW)
    assert "is no longer in the list" in "\n".join(beside(gone))
    later = state.refreshed(pressed(gone, "x")[0], rows_of(pane(2)), NOW)
    assert (row := state.watched(later)) is not None and row.pane.id == "2"


def test_a_screen_that_cannot_be_read_is_told_of() -> None:
    """The words of whoever could not stand in its place, and go when it can be read again."""
    now = state.pictured(shown("here"), f"{OWN}:1", "that pane is gone")
    assert [line for line in beside(now)[1:] if line] == ["that pane is gone"]

    again = state.pictured(now, f"{OWN}:1", screen("there"))
    assert [line for line in beside(again)[1:] if line] == ["there"]


def test_a_screen_that_has_not_changed_changes_nothing() -> None:
    """So nothing is drawn for it."""
    now = shown("here")

    assert state.pictured(now, f"{OWN}:1", screen("here")) is now


# How often -------------------------------------------------------------------------------------------------------


class Source:
    """What the list may do, as far as screens go: each look gives the next number."""

    def __init__(self, *, has_channel: bool = True) -> None:
        self.has_channel = has_channel
        self.looks: list[str] = []
        self.threads: set[int] = set()
        self.fault: Exception | None = None
        self.go_on = threading.Event()
        self.go_on.set()

    def screen(self, row: Row) -> StyledScreen | str | None:
        self.threads.add(threading.get_ident())
        self.looks.append(row.pane.id)
        self.go_on.wait(30)
        if self.fault is not None:
            raise self.fault
        return screen(str(len(self.looks)))


def test_a_screen_is_read_four_times_a_second() -> None:
    """However often the loop asks, however many rows it asks for, and none while nothing is shown."""
    source = Source()
    screens = Screens(source)  # type: ignore[arg-type]
    first, second = rows_of(asking(1), pane(2))
    for tick in range(200):
        screens.poll(first if tick % 2 else second, 1000 + tick / 100)
    assert len(source.looks) == 2 / PACE_S

    for tick in range(200):
        assert screens.poll(None, 1002 + tick / 100) is None
    assert len(source.looks) == 2 / PACE_S
    assert source.threads == {threading.get_ident()}


def test_another_host_is_read_off_the_drawing_thread() -> None:
    """While its multiplexer takes its time the list goes on, and asks it for nothing else."""
    source = Source(has_channel=False)
    source.go_on.clear()
    screens = Screens(source)  # type: ignore[arg-type]
    (row,) = rows_of(asking(1))
    for tick in range(100):
        assert screens.poll(row, 1000 + tick) is None
    until(lambda: source.looks or None)
    assert len(source.looks) == 1
    source.go_on.set()

    assert until(lambda: screens.poll(None, 2000)) == (row.address, screen("1"))
    assert source.threads.isdisjoint({threading.get_ident()})


def test_the_list_sleeps_until_the_next_look() -> None:
    """Until the time for another look has come; without a preview there is nothing to wait for."""
    source = Source()
    screens = Screens(source)  # type: ignore[arg-type]
    (row,) = rows_of(asking(1))
    screens.poll(row, 1000)

    assert screens.due(row) == 1000 + PACE_S and screens.due(None) == float("inf")
    source.has_channel = False
    source.go_on.clear()
    screens.poll(row, 1001)
    assert screens.due(None) < 1001 + PACE_S
    source.go_on.set()


@each("is_own", [True, False])
def test_a_fault_costs_one_picture(is_own: bool) -> None:
    """What goes wrong while a screen is read is told, and the next look is made all the same."""
    source = Source(has_channel=is_own)
    source.fault = OSError("broken pipe")
    screens = Screens(source)  # type: ignore[arg-type]
    (row,) = rows_of(asking(1))

    def look(at: float) -> object:
        return screens.poll(row, at) or until(lambda: screens.poll(None, at))

    assert look(1000) == (row.address, "its screen could not be read: broken pipe")
    source.fault = None
    assert look(1001) == (row.address, screen("2"))


def test_no_part_is_lost_on_the_smallest_screens() -> None:
    """Down to one line and one column there are as many lines as the screen has."""
    for columns in (1, 2, 20, 101, 161):
        for lines in range(1, 12):
            now = state.resized(shown("here"), columns, lines)
            assert len(draw(now)) == lines and areas(now).preview <= lines
