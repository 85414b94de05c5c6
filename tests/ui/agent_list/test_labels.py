"""Names and groups in the list and in a panel: keys, order, lines, the mouse."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.snapshot import rows
from tallylight.snapshot.labels import NOTHING, Label, Labels
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Effects, Plain, Relabel
from tallylight.ui.agent_list.filtering import grouped, matches
from tallylight.ui.agent_list.geometry import areas, in_view, least_top, placed, row_at
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.keys import Mouse, Paste
from tests.ui.agent_list.panes import NOW, OWN, going, listed, pane, pressed, row_for, snapshot, texts


def label_of(effects: Effects) -> Label:
    """The label that a key asked to keep."""
    assert isinstance(effects[-1], Relabel)
    return effects[-1].label


def labelled(*panes: tuple[Pane, Label], **more: object) -> State:
    """A list of these panes, each with its label."""
    labels = Labels()
    for found, label in panes:
        labels = labels.with_label(OWN, found, label, NOW)
    built = rows.build([snapshot(*(found for found, _ in panes))], OWN, NOW, labels)
    return state.refreshed(state.resized(State(**more), 80, 24), built, NOW)  # type: ignore[arg-type]


SHOP, DOCS = pane(1, project="shop", agent_pid=1), pane(2, project="docs", agent_pid=2)


def test_a_name_is_typed_and_kept() -> None:
    """`n` begins with the name that there is, Enter keeps what was typed; what is pasted is text."""
    now, _ = pressed(listed(SHOP), "n", *"the x", "backspace")
    now, effects = pressed(now, Paste("shop\n\x1b[A"))
    assert now.mode is Mode.NAME and not effects and texts(now)[-1].startswith("name: the shop")
    now, effects = pressed(now, "enter")

    assert now.mode is Mode.LIST and label_of(effects).name.startswith("the shop")
    assert "\x1b" not in label_of(effects).name
    again = labelled((SHOP, Label("the shop")))
    assert texts(again)[1].startswith("▸ ●  the shop ")
    _, effects = pressed(again, "n", "ctrl+u", "enter")
    assert label_of(effects) == NOTHING


def test_a_name_that_is_left_is_not_kept() -> None:
    """Esc leaves it; and when its agent goes meanwhile, no other one gets the name."""
    now, effects = pressed(listed(SHOP), "n", *"some", "escape")
    assert now.mode is Mode.LIST and effects == ()
    now, _ = pressed(listed(SHOP, DOCS), "n", *"some")
    gone = state.refreshed(now, tuple(row for row in now.rows if row.address != now.selected), NOW)
    assert gone.mode is Mode.LIST and "nothing was renamed" in gone.message


def test_a_named_row_is_found_by_its_name() -> None:
    """A filter knows the name as well as the project."""
    now = labelled((SHOP, Label("billing")), (DOCS, NOTHING))
    for word in ("billing", "shop"):
        assert [row.pane.id for row in now.rows if matches(row, word, NOW)] == ["1"]


SEVERAL = (
    pane(1, "error", project="shop"), pane(2, project="docs"), pane(3, "done", project="shop"), pane(4, project=""),
)  # fmt: skip


def test_rows_stand_in_groups() -> None:
    """By project, machine, terminal, session, agent, and by nothing again; a group stands where its neediest stands."""
    now = listed(*SEVERAL)
    now, effects = pressed(now, "O")
    assert effects == (Plain.REGROUP,) and now.group == "project" and texts(now)[-1] == " grouped by project"
    lines = [text.rstrip("─ ") for text in texts(now)]
    assert [lines.index(heading) for heading in ("shop", "docs", "no project")] == [1, 4, 6]
    assert [row.pane.id for row in now.shown] == ["1", "3", "2", "4"]
    for by, heading in (
        ("machine", "this machine"),
        ("terminal", "kitty"),
        ("session", "one pane each"),
        ("agent", "claude"),
    ):
        now, effects = pressed(now, "O")
        assert effects == (Plain.REGROUP,) and now.group == by and texts(now)[1].startswith(f"{heading} ──")
    now, effects = pressed(now, "O")
    assert effects == (Plain.REGROUP,) and now.group == "" and now.headings == () and texts(now)[1].startswith("▸")


def test_terminals_of_one_kind_have_their_numbers() -> None:
    """Two kittys are told from each other; a machine of a fleet is named."""
    several = rows.build(
        [snapshot(SHOP, pid=7), snapshot(DOCS, pid=8), snapshot(pane("tmux/1/%1"), host="sessions", pid=9)], OWN, NOW
    )
    assert set(grouped(several, "terminal")[1]) == {"kitty 7", "kitty 8", "detached sessions"}
    far = attrs.evolve(several[0], host="desk/kitty-7")
    assert grouped([far], "machine")[1] == ("desk",) and grouped([far], "terminal")[1] == ("desk kitty",)
    there = attrs.evolve(several[0], host="machines-9", pane=pane("devbox/sessions-7:tmux/1/%1"))
    assert grouped([there], "machine")[1] == ("devbox",)
    assert grouped([there], "terminal")[1] == ("devbox detached sessions",)


def test_a_click_hits_the_row_that_is_drawn_there() -> None:
    """With headings between them, in the list and in a panel of rows of several lines."""
    for panel in (False, True):
        now = attrs.evolve(listed(*SEVERAL, columns=30 if panel else 80, lines=24), is_panel=panel, group="project")
        now = state.resized(state.filtered(now), 30 if panel else 80, 24)
        for line in range(24):
            index = row_at(now, line)
            text = texts(now)[line]
            if index is not None and text[:4].strip(" ▸") in ("×", "●", "✓"):
                assert (now.shown[index].pane.project or "claude") in text
        _, effects = pressed(state.select(now, 0), Mouse("press", 1, 3))
        assert effects == ()
        assert row_at(now, 1) is None and row_at(now, 2) == 0
        _, effects = pressed(state.select(now, 0), Mouse("press", 2, 3))
        assert row_for(going, effects) == now.shown[0]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 30), st.booleans(), st.data())
def test_the_least_top_shows_the_row_and_no_other_does(
    letters: list[str], lines: int, is_panel: bool, data: st.DataObject
) -> None:
    """From that row on the wanted one has room, and from the one before it has not."""
    headings = tuple(sorted(letters))
    shown = (Row(OWN, SHOP),) * len(headings)
    now = State(columns=40, lines=lines, is_panel=is_panel, shown=shown, headings=headings)
    index = data.draw(st.integers(0, len(headings) - 1))
    top = least_top(now, index)
    assert 0 <= top <= index
    if areas(now).rows > 2:
        assert top + in_view(attrs.evolve(now, top=top)) > index
    if top:
        assert top - 1 + in_view(attrs.evolve(now, top=top - 1)) <= index


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(4, 20), st.lists(st.sampled_from([
    "down", "up", "page_down", "page_up", "end", "home", Mouse("wheel_down", 3, 3), Mouse("wheel_up", 3, 3), "o", " ",
]), max_size=20))  # fmt: skip
def test_the_selected_row_is_always_drawn(projects: list[str], lines: int, keys: list[str | Mouse]) -> None:
    """Whatever was pressed: it has a line, and there are never more lines than the screen has."""
    panes = [pane(number, project=project) for number, project in enumerate(projects)]
    now = state.filtered(attrs.evolve(listed(*panes, lines=lines), group="project"))
    now, _ = pressed(now, *keys)
    if areas(now).rows >= 2:
        assert now.index in [index for heading, index in placed(now) if not heading] and in_view(now) > 0
    assert len(draw(now)) <= lines
