"""What is drawn: texts, widths, looks, and that nothing a program says gets through."""

from __future__ import annotations

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.model import lights
from tallylight.model.contrast import readable_on
from tallylight.model.status import Kind, Status
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.ui import ansi
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.question import keys_named
from tallylight.ui.agent_list.record import State
from tallylight.ui.ansi import Depth, Screen
from tallylight.ui.layout import left
from tallylight.ui.spans import Line
from tallylight.wire.text import width
from tests.colour_vision import contrast
from tests.strategies import at_most
from tests.tables import each
from tests.ui.agent_list.panes import CHOICES, NOW, OWN, asked, asking, listed, pane, pressed, snapshot, texts


def test_a_row_tells_all_that_matters() -> None:
    """Mark, what it waits for, agent, project, age and the question, not the last message, stand in one line."""
    question = asking(1, 200, project="shop", message="I will run rm", kind=Kind.QUESTION)

    assert texts(listed(question, pane(2, project="docs", message="Tests run", progress="3/7")))[1:3] == [
        "▸ ?  question  claude  shop   3m  May I?",
        "  ●  working   claude  docs   1m  ━━──── 3/7  Tests run",
    ]


def test_forty_columns_and_ten_lines_are_enough() -> None:
    """On a small screen mark, name, age and the start of the question stay, and so do the details and the help."""
    rows = [asking(n, 60 * n, project=f"project-{n}", question="Do you want to make this edit?") for n in range(1, 9)]
    now = listed(*rows, columns=40, lines=10)

    assert texts(now) == [
        "8 agents, 8 waiting",
        "▸ !  project-8   8m  Do you want to mak…",
        "  !  project-7   7m  Do you want to mak…",
        "  !  project-6   6m  Do you want to mak…",
        "  !  project-5   5m  Do you want to mak…",
        "  !  project-4   4m  Do you want to mak…",
        "  !  project-3   3m  Do you want to mak…",
        "Do you want to make this edit?",
        "waiting (permission), claude, project-8…",
        "? help   Enter go   a answer   / filter",
    ]


@each(
    "host, there, shown",
    [
        ("machines", asking("devbox/kitty-7:3", project="shop", host_title="devbox: night"), "devbox: night"),
        ("desk/kitty", asking(3, project="shop", host_title="night"), "desk: night"),
        ("desk/kitty", asking(3, project="shop"), "desk/kitty-9"),
    ],
)
def test_another_machine_is_always_named(host: str, there: Pane, shown: str) -> None:
    """In its column also where all rows are of it; in front of the name on a small screen and in a panel."""
    found = rows.build([snapshot(there, host=host, pid=9)], OWN, NOW)
    machine = shown.partition(":")[0].partition("/")[0]
    for columns, panel, text in (
        (80, False, f"▸ !  permission  claude  {shown}  shop   1m  May I?"),
        (60, False, f"▸ !  claude  {machine}: shop   1m  May I?"),
        (32, True, f"▸ !  {machine}: shop"),
    ):
        begun = attrs.evolve(State(), is_panel=panel)
        now = state.refreshed(state.resized(begun, columns, 24), found, NOW)
        assert texts(now)[1].startswith(text), texts(now)


def test_answers_stand_with_what_they_type() -> None:
    """Before anything is typed a person reads what is asked, each answer, and the keys it stands for."""
    assert texts(asked(listed(asking(1, project="shop"), columns=40, lines=12)))[5:] == [
        "─" * 40,
        "$ rm -r build",
        "May I?",
        "1  Yes  types 1",
        "2  Yes, always  types 2",
        "3  No  types Esc",
        "a number answers   Esc leave",
    ]


def test_what_has_no_room_is_said() -> None:
    """Where there is no room for all that is asked, its end is shown, how much is above, and that it has to be read."""
    assert texts(asked(listed(asking(1), columns=40, lines=8)))[2:] == [
        "── … 1 more above ──────────────────────",
        "May I?",
        "1  Yes  types 1",
        "2  Yes, always  types 2",
        "3  No  types Esc",
        "… 1 to read: scroll",
    ]


@each(
    ("keys", "named"),
    [
        ("1", "1"),
        ("y\r", "y ⏎"),
        ("\x1b", "Esc"),
        ("\x1b[B", "Down"),
        ("\x03", "ctrl+c"),
        ("\t\r", "Tab ⏎"),
        (" ", "Space"),
    ],
)
def test_keys_have_names(keys: str, named: str) -> None:
    """What draws nothing is named, so that a person sees all that will be typed."""
    assert keys_named(keys) == named


@each(
    ("progress", "bar"),
    [
        ("0/4", "────── 0/4"), ("2/4", "━━━─── 2/4"), ("4/4", "━━━━━━ 4/4"), ("9/4", ""), ("1/0", ""),
        ("", ""), ("x/y", ""), ("-1/4", ""), ("1/" + "9" * 20, ""), ("1", ""), ("²/4", ""), ("40/100", "━━──── 40 %"),
    ],
)  # fmt: skip
def test_progress_is_a_bar(progress: str, bar: str) -> None:
    """`done/total` is a bar, never longer than full; what is no progress is not drawn."""
    assert texts(listed(pane(1, project="p", progress=progress)))[1] == f"▸ ●  working  claude  p   1m  {bar}".rstrip()


def test_what_it_does_stands_beside_how_far_it_is() -> None:
    """The current task's name, or a word for what it does; its mode, worktree and topic where there is room."""
    tasks = ("Add auth", "Fix login", "Ship")
    lines = texts(listed(pane(1, project="p", progress="1/3", tasks=tasks, mode="plan", worktree="fix", topic="Login")))

    assert lines[1].endswith("━━──── 1/3  Fix login  Login")
    assert "━━──── 1/3  Fix login" in lines and "mode plan, worktree fix" in lines and "Login" in lines
    assert texts(listed(pane(1, project="p", progress="3/3", tasks=tasks)))[1].endswith("━━━━━━ 3/3")
    assert texts(listed(pane(1, project="p", detail="Thinking")))[1].endswith("Thinking")
    assert texts(listed(asking(1, question="May I?", progress="1/3", tasks=tasks)))[1].endswith("━━──── 1/3  May I?")


def test_a_snooze_shows_how_long() -> None:
    """What was put off says until when, and is not counted among what waits."""
    lines = texts(listed(asking(1, snoozed_until=NOW + 600)))

    assert lines[0] == "1 agent" and "snoozed 10m" in lines[1]


@each(
    ("seconds", "words"),
    [
        (899.2, "15m"), (900, "15m"), (59.1, "1m"), (59, "59s"), (0.2, "1s"), (-5, "0s"), (3541, "1h"),
        (3600, "1h"), (86399, "1d"), (86400 * 2, "2d"), (61, "2m"),
    ],
)  # fmt: skip
def test_what_is_left_is_not_less_than_was_asked_for(seconds: float, words: str) -> None:
    """`snooze 15` says 15 minutes, and not the 14 whole ones of a moment later."""
    assert left(seconds) == words


def test_how_long_it_waited_today_counts_this_wait() -> None:
    """The time that an agent has waited today is that of its earlier questions and of this one."""
    now = listed(attrs.evolve(asking(1, 200), waited_s=60.0), columns=80, lines=20)

    assert any("waited 4m today" in text for text in texts(now))


def test_nothing_to_list_is_said() -> None:
    """An empty list says that there is no agent; a filter that finds none says that."""
    assert "no agent runs" in texts(listed())[2]
    assert "no agent matches" in texts(pressed(listed(pane(1)), "/", "z")[0])[2]


def test_the_end_of_a_long_filter_is_seen() -> None:
    """What was typed last stays visible."""
    assert (
        "end▏" in texts(pressed(listed(pane(1), columns=40), "/", *"a long filter that is longer than this end")[0])[0]
    )


@settings(max_examples=at_most(80), deadline=None)
@given(
    st.text(max_size=60),
    st.text(max_size=60),
    st.integers(1, 120),
    st.integers(1, 30),
    st.sampled_from(["", "a", "?", "/"]),
)
def test_nothing_that_a_program_says_gets_out(said: str, name: str, columns: int, lines: int, key: str) -> None:
    """Whatever texts panes have, a line is no wider than the screen and holds no control or bidirectional character."""
    evil = asking(
        1, project=name, title=said, message=said, question=said, agent=name, choices=(("1", said), (name, "x"))
    )
    now = listed(evil, pane(2, project=said, message=name, host_title=said), columns=columns, lines=lines)
    now = asked(now) if key == "a" else pressed(now, key)[0] if key else now
    now = state.notified(now, said)
    for line in draw(now):
        text = "".join(span.text for span in line)
        assert width(text) <= columns
        assert not any(
            c < " " or "\x7f" <= c < "\xa0" or c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068" for c in text
        )


# Looks -----------------------------------------------------------------------------------------------------------


def looks(now: State, depth: Depth) -> list[str]:
    return [ansi.sgr(line, depth) for line in draw(now)]


@each("status", [status for status in Status if status in lights.COLOURS])
def test_a_mark_stands_out_in_every_theme(status: Status) -> None:
    """A mark is black or white on its light's colour, with a contrast of at least 4.5 (WCAG 2), so no theme matters."""

    colour = lights.COLOURS[status]
    assert contrast(colour, readable_on(colour)) >= 4.5

    drawn = looks(listed(pane(1, status)), Depth.FULL)[1]
    red, green, blue = colour
    assert f"48;2;{red};{green};{blue};38;2;" in drawn


def test_without_colour_there_is_none() -> None:
    """With NO_COLOR no colour is set, of text or background; marks and the selection are still there."""
    everything = [pane(n, status) for n, status in enumerate(Status)]
    for line in looks(listed(*everything), Depth.NONE):
        assert not any(f"{code};" in line for code in ("38", "48")) and "\x1b[3" not in line and "\x1b[4" not in line
    asked = texts(listed(attrs.evolve(pane(1), status=Status.DONE, kind=Kind.QUESTION)))
    assert any("✓?" in line for line in asked)
    assert {lights.mark(s) for s in Status if s is not Status.ACTIVE} <= set("".join(texts(listed(*everything))))


def test_a_terminal_of_256_colours_gets_the_nearest() -> None:
    """Where the full range is not known, the colours are those of the cube."""
    assert "48;5;214;38;5;16" in looks(listed(asking(1)), Depth.CUBE)[1]


def test_only_changed_lines_are_written() -> None:
    """A screen gets the lines that differ, in one synchronised update, and nothing when none does."""
    screen = Screen()
    screen.update(["one", "two", "three"])

    assert screen.update(["one", "zwei", "three"]) == "\x1b[?2026h\x1b[2;1H\x1b[Kzwei\x1b[?2026l"
    assert screen.update(["one", "zwei", "three"]) == ""


def test_a_smaller_picture_leaves_nothing_behind() -> None:
    """When there are fewer lines than before, the screen is cleared first."""
    screen = Screen()
    screen.update(["one", "two"])

    assert screen.update(["one"]).startswith("\x1b[?2026h\x1b[0m\x1b[2J\x1b[1;1H")


def test_a_span_ends_its_look() -> None:
    """What follows a styled span is plain again."""
    selected: Line = draw(listed(asking(1, choices=CHOICES)))[1]
    for span in selected:
        drawn = ansi.sgr((span,), Depth.FULL)
        assert drawn == span.text or drawn.endswith("\x1b[0m")
    assert attrs.asdict(selected[3])["is_reverse"]


def test_every_control_key_has_a_name() -> None:
    """What is typed is named in letters that can be read, whatever control character it is."""
    names = [keys_named(chr(code)) for code in range(32)]

    assert all(name.isprintable() for name in names)
    assert (names[3], names[0x1F]) == ("ctrl+c", "ctrl+_")
