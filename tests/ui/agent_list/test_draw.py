"""What is drawn: texts, widths, looks, and that nothing a program says gets through."""

from __future__ import annotations

import re

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.model import lights
from tallylight.model.lights import RGB
from tallylight.model.status import Kind, Status
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.ui import ansi
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.geometry import row_at
from tallylight.ui.agent_list.record import State
from tallylight.ui.ansi import Depth, Screen
from tallylight.ui.layout import brief, left
from tallylight.ui.spans import Line
from tallylight.wire.text import width
from tests.colour_vision import contrast
from tests.entries import pane_with
from tests.strategies import at_most
from tests.tables import each
from tests.ui.agent_list.panes import CHOICES, NOW, OWN, asked, asking, listed, pane, pressed, snapshot, texts

CUT = "Bash: psql -h prod.example.org -c 'delete from carts' && rm -rf /var/lib/backups"


def test_a_row_tells_all_that_matters() -> None:
    """Mark, name, the question and not the last message, how old, and whose; what it does and how far it is."""
    question = asking(1, 200, project="shop", message="I will run rm", kind=Kind.QUESTION)
    done = pane(3, "done", project="api", outcome="All 14 links resolve.", more={"diffstat": (12, 3)})

    assert texts(listed(question, pane(2, project="docs", message="Tests run", progress="3/7"), done))[1:4] == [
        "▸ ?  shop   May I?                                                    3m  claude",
        "  ✓  api    All 14 links resolve.  +12 −3                             1m  claude",
        "  ●  docs   Tests run  ━━──── 3/7                                     1m  claude",
    ]


def test_forty_columns_and_ten_lines_are_enough() -> None:
    """On a small screen mark, name, age and the start of the question stay, and so do the details and the help."""
    rows = [asking(n, 60 * n, project=f"project-{n}", question="Do you want to make this edit?") for n in range(1, 9)]
    now = listed(*rows, columns=40, lines=10)

    assert texts(now) == [
        " 8 agents   ! 8 wait",
        "▸ !  project-8  Do you want to ma…    8m",
        "  !  project-7  Do you want to ma…    7m",
        "  !  project-6  Do you want to ma…    6m",
        "     ↓ 5 more: 5 wait",
        "─ project-8 asks for permis… ── 1 of 8 ─",
        " Do you want to make this edit?",
        "  1  Yes",
        "  2  Yes, always",
        " Enter go   1-3 answer   ? help   q quit",
    ]


def test_a_request_is_whole_where_all_rows_fit() -> None:
    """In up to three lines; else in one, and of joined commands the last stays, with its first word."""
    few = texts(listed(asking(1, what=CUT, project="shop"), pane(2, project="docs")))
    assert [line[12:66].rstrip() for line in few[1:4]] == [
        "Bash: psql -h prod.example.org -c 'delete from carts'", "&& rm -rf /var/lib/backups", ""
    ]  # fmt: skip
    many = texts(listed(asking(1, 99, what=CUT, project="shop"), *(pane(n, project="p") for n in range(2, 30))))
    assert many[1][12:66].rstrip() == "Bash: psql -h prod.example… && rm -rf /var/lib/backups"
    for cells in range(1, 90):
        cut = brief(CUT, cells)
        assert width(cut) <= cells
        assert "&&" not in cut or re.search("&& rm( |…|$)", cut), cut


def test_the_height_of_rows_does_not_depend_on_the_cursor() -> None:
    """Whatever is selected: each row stays where it is."""
    panes = [asking(1, 90, what=CUT, project="shop"), pane(2, project="docs"), pane(3, "done", project="api")]
    now = listed(*panes)
    drawn = {key: [row_at(after, line) for line in range(24)] for key in ("g", "j", "G")
             for after in (pressed(now, key)[0],)}  # fmt: skip
    assert drawn["g"] == drawn["j"] == drawn["G"]


def test_what_has_no_room_is_counted() -> None:
    """Below the rows, by what they do; the idle ones stand in one line, which `z` opens."""
    panes = [asking(1, project="shop"), *(pane(n, project=f"w{n}") for n in range(2, 30)),
             *(pane(n, "idle", project=f"i{n}") for n in (40, 41))]  # fmt: skip
    lines = texts(listed(*panes))
    shown = sum("  ●  " in line for line in lines)
    assert f"     ↓ {28 - shown} more: {28 - shown} working" in lines
    assert "  ·  2 idle: i40, i41  z opens" in lines
    opened = pressed(listed(*panes), "z")[0]
    assert not opened.folded and len(opened.shown) == 31 and pressed(opened, "z")[0].folded
    assert "↑ " in "\n".join(texts(pressed(opened, "G")[0]))


def test_a_screen_that_holds_all_folds_nothing() -> None:
    """Nor does a filter, an order or a group."""
    panes = [asking(1), pane(2, "idle"), pane(3, "idle")]
    assert not listed(*panes).folded
    crowd = [asking(1), *(pane(n, "idle", project="x") for n in range(2, 30))]
    assert len(listed(*crowd).folded) == 28
    for keys in (("o",), ("O",), ("/", "x")):
        assert not pressed(listed(*crowd), *keys)[0].folded


@each("columns", [40, 60, 80, 120])
def test_the_head_drops_words_and_never_numbers(columns: int) -> None:
    """What needs somebody first, all of it counted."""
    panes = [pane(n, status) for n, status in enumerate(Status) if status is not Status.ACTIVE]
    head = texts(listed(*panes, columns=columns))[0]
    assert [word for word in head.split() if word in "!×▼✓◷◇●○·"] == list("!×▼✓◷◇●○·")
    assert head.count("1") == 9 and width(head) <= columns
    assert ("1 wait" in head, "1 working" in head) == (columns > 60, columns > 80)


@each(
    "host, there, shown",
    [
        ("machines", asking("devbox/kitty-7:3", project="shop", host_title="devbox: night"), "devbox"),
        ("desk/kitty", asking(3, project="shop", host_title="night"), "desk"),
    ],
)
def test_another_machine_is_always_named(host: str, there: Pane, shown: str) -> None:
    """In front of the name, in the list as in a panel; its session stands in the detail."""
    found = rows.build([snapshot(there, host=host, pid=9)], OWN, NOW)
    for columns, panel in ((80, False), (60, False), (32, True)):
        begun = attrs.evolve(State(), is_panel=panel)
        now = state.refreshed(state.resized(begun, columns, 24), found, NOW)
        assert f"{shown}: shop " in texts(now)[1], texts(now)
        assert panel or "night" in "\n".join(texts(now)[2:])


def test_answers_stand_with_the_question() -> None:
    """On a page of their own; what the keys are is noise, and no label is broken by it."""
    assert texts(asked(listed(asking(1, project="shop"), columns=40, lines=12)))[1:] == [
        "─ shop asks for permission ──── 1 of 1 ─",
        " $ rm -r build",
        " May I?",
        "",
        "  1  Yes",
        "  2  Yes, always",
        "  3  No",
        "",
        "",
        "",
        " 1-3 answer   Esc leave   q quit",
    ]


def test_what_has_no_room_is_said() -> None:
    """Where there is no room for all that is asked, its begin is shown, and that more has to be read."""
    assert texts(asked(listed(asking(1), columns=40, lines=7)))[2:] == [
        " $ rm -r build",
        " May I?",
        "  1  Yes",
        "  2  Yes, always",
        " 1 more lines to read: scroll   q quit",
    ]


@each(
    ("progress", "bar"),
    [
        ("0/4", "────── 0/4"), ("2/4", "━━━─── 2/4"), ("4/4", "━━━━━━ 4/4"), ("9/4", ""), ("1/0", ""),
        ("", ""), ("x/y", ""), ("-1/4", ""), ("1/" + "9" * 20, ""), ("1", ""), ("²/4", ""), ("40/100", "━━──── 40 %"),
    ],
)  # fmt: skip
def test_progress_is_a_bar(progress: str, bar: str) -> None:
    """`done/total` is a bar, never longer than full; what is no progress is not drawn."""
    row = texts(listed(pane(1, project="p", progress=progress)))[1]
    assert row.removeprefix("▸ ●  p ").removesuffix("1m  claude").strip() == bar


def test_what_it_does_stands_beside_how_far_it_is() -> None:
    """The current task's name, or a word for what it does; its mode, worktree and topic in the detail."""
    tasks = ("Add auth", "Fix login", "Ship")
    lines = texts(listed(pane(1, project="p", progress="1/3", tasks=tasks, mode="plan", worktree="fix", topic="Login")))

    assert "Fix login  Login  ━━──── 1/3 " in lines[1]
    assert " ━━──── 1/3  Fix login" in lines and any("mode plan · worktree fix · Login" in line for line in lines)
    assert "Thinking" in texts(listed(pane(1, project="p", detail="Thinking")))[1]
    assert "1/3" not in texts(listed(asking(1, question="May I?", progress="1/3", tasks=tasks)))[1]


def test_a_snooze_shows_how_long() -> None:
    """What was put off says until when, and is not counted among what waits."""
    lines = texts(listed(asking(1, snoozed_until=NOW + 600)))

    assert lines[0] == " 1 agent" and "snoozed 10m" in lines[1]


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
    now = listed(pane_with(asking(1, 200), waited_s=60.0), columns=80, lines=20)

    assert any("waited 4m today" in text for text in texts(now))


def test_nothing_to_list_is_said() -> None:
    """An empty list says how to begin; a filter that finds none says that."""
    empty = "\n".join(texts(listed()))
    assert "No agent runs yet." in empty and "Start one in any tab" in empty and "tally doctor" in empty
    narrow = texts(state.resized(State(is_panel=True), 32, 24))
    assert not any("…" in line for line in narrow) and "  claude or codex." in narrow, "a panel has it whole"
    assert "No agent matches." in texts(pressed(listed(pane(1)), "/", "z")[0])[2]


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


DARK = ansi.Ground((0, 0, 0), (0xDD, 0xDD, 0xDD))
LIGHT = ansi.Ground((0xFD, 0xF6, 0xE3), (0x07, 0x36, 0x42))


def colours_of(drawn: str) -> list[tuple[str, RGB, RGB | None]]:
    """Each piece of a drawn line: its text, its colour and its ground, where it has any of its own."""
    found: list[tuple[str, RGB, RGB | None]] = []
    for codes, text in re.findall("\x1b\\[([0-9;]*)m(.*?)\x1b\\[0m", drawn):
        shades = {
            which: tuple(map(int, rgb.split(";")))
            for which, rgb in re.findall("(38|48);2;([0-9]+;[0-9]+;[0-9]+)", codes)
        }
        if "38" in shades:
            found.append((text, shades["38"], shades.get("48")))  # type: ignore[arg-type]
    return found


@each("ground", [DARK, LIGHT, ansi.Ground((0x2E, 0x34, 0x40), (0xD8, 0xDE, 0xE9)), ansi.UNKNOWN])
def test_all_that_has_a_colour_can_be_read(ground: ansi.Ground) -> None:
    """
    Each mark, name and dim word has at least 4.5 to what it stands on (WCAG 2), selected or not.

    What needs a person is one area: a black cell within amber reads as two.
    """
    background = ground.background or (0, 0, 0)
    everything = [pane(n, status, project="p", message="it says") for n, status in enumerate(Status)]
    for key in ("g", "G"):
        for line in draw(pressed(listed(*everything), key)[0]):
            pieces = colours_of(ansi.sgr(line, Depth.FULL, ground))
            for text, colour, own in pieces:
                assert contrast(colour, own or background) >= 4.49, (text, colour, own)
    for status in lights.FILLED:
        lines = draw(pressed(listed(*everything), "G")[0])
        row = next(line for line in lines if any(span.chip is status for span in line[1:2]))
        fills = [own for text, _, own in colours_of(ansi.sgr(row, Depth.FULL, ground)) if own and text.strip()]
        assert len(fills) > 1 and len(set(fills)) == 1


def test_what_needs_somebody_is_filled_and_what_works_is_not() -> None:
    """Mark and name of what waits, the mark of news, and no more than a coloured mark of work."""
    now = listed(asking(1, project="shop"), pane(2, "done", project="docs"), pane(3, project="auth"))
    fills = [
        "".join(text for text, _, own in colours_of(ansi.sgr(line, Depth.FULL, DARK)) if own).split()
        for line in draw(pressed(now, "G")[0])[1:3]
    ]
    assert fills == [["!", "shop"], ["✓"]]
    work = colours_of(ansi.sgr(draw(now)[3], Depth.FULL, DARK))
    assert work[0][0].strip() == "●" and work[0][2] is None


def test_the_selection_is_a_ground_or_where_there_is_none_reverse() -> None:
    """13 % towards the foreground; where the terminal does not tell its colours, and without colour, it is reverse."""
    row = draw(listed(pane(1, project="shop")))[1]
    raised = lights.blend((0xDD,) * 3, (0, 0, 0), ansi.RAISED)
    assert f"48;2;{raised[0]};{raised[1]};{raised[2]}" in ansi.sgr(row, Depth.FULL, DARK)
    assert "\x1b[7m" not in ansi.sgr(row, Depth.FULL, DARK)
    assert "7" in re.findall("\x1b\\[([0-9]+)", ansi.sgr(row, Depth.FULL))
    assert "\x1b[7m" in ansi.sgr(row, Depth.NONE)


def test_without_colour_there_is_none() -> None:
    """With NO_COLOR no colour is set, of text or background; what is filled is in reverse, and marks are there."""
    everything = [pane(n, status) for n, status in enumerate(Status)]
    for line in looks(listed(*everything), Depth.NONE):
        assert not any(f"{code};" in line for code in ("38", "48")) and "\x1b[3" not in line and "\x1b[4" not in line
    waits = draw(pressed(listed(asking(1, project="shop"), pane(2)), "j")[0])[1]
    assert [span.text.strip() for span in waits if "7" in re.findall("[0-9]+", ansi.sgr((span,), Depth.NONE))] == [
        "!", "shop"
    ]  # fmt: skip
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
