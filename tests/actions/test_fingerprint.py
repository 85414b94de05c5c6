"""The fingerprint of a screen: nothing of a dialog is left out, and what agents move around it is."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from benchmarks.accuracy import read
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.evidence.fingerprint import fingerprint, steady_rows
from tallylight.evidence.prompts import read_screen
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.parts.lab.asciicast import Output
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner
from tests.actions.desk import SCREENS, look
from tests.evidence.agents import agent
from tests.strategies import at_most
from tests.tables import each

CORPUS = Path(__file__).parents[1] / "corpus"
#: Recordings of agents that wait for a person who does nothing, and how many frames there are at least.
WAITS = {
    "claude-permission": 8, "claude-neighbours": 8, "claude-silent": 18, "claude-background": 2,
    "claude-denial-relay": 4, "codex-permission": 1, "codex-silent": 1, "copilot-silent": 5, "copilot-question": 2,
    "copilot-permission": 1, "gemini-permission": 1, "gemini-silent": 1, "qwen-permission": 1, "qwen-silent": 1,
    "aider-permission": 1,
}  # fmt: skip
#: Seconds after which the screen is whole; Qwen Code takes its scroll bar away when it was drawn for so long.
SETTLED_S = {"qwen": 1.5}


def frames(name: str) -> list[str]:
    """The fingerprints of all frames of the first recorded wait, from half a second in to just before its end."""
    settled = SETTLED_S.get(name.partition("-")[0], 0.5)
    recording = read(CORPUS / f"{name}.cast.gz")
    start = next(at for at, word in recording.truth if word.startswith("waiting"))
    end = next((at for at, _ in recording.truth if at > start), start + 60)
    grid, scanner = Grid(recording.header.columns, recording.header.rows), Scanner()
    found: list[str] = []

    def note() -> None:
        read = read_screen(agent(name.partition("-")[0]), grid.lines, grid.cursor_row, columns=grid.columns)
        assert read is not None and read.dialog is not None, (name, grid.lines)
        found.append(fingerprint(grid.lines, grid.columns, read.dialog))

    is_in = False
    for event in recording.events:
        if event.time > start + settled and not is_in:
            is_in = True
            note()
        if event.time >= end - 0.2:
            break
        if isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
            if is_in:
                note()
    return found


@pytest.mark.slow
def test_a_real_agent_that_waits_stays_the_same() -> None:
    """From one frame to the next, in whole recorded waits, a person's answer would have been typed."""
    wrong = {}
    for name, least in WAITS.items():
        found = frames(name)
        if len(set(found)) != 1 or len(found) < least:
            wrong[name] = len(set(found)), len(found)

    assert wrong == {}


def dialogs() -> list[tuple[str, Dialog]]:
    """Every recorded screen with a dialog whose choices stand in rows of their own."""
    found = []
    for path in sorted(SCREENS.glob("*/*.txt")):
        name = f"{path.parent.name}/{path.stem}"
        shown = look(name)
        read = read_screen(agent(path.parent.name), shown.lines, shown.cursor_row, columns=shown.columns)
        dialog = read.dialog if read is not None else None
        if dialog is not None and dialog.place is not None and dialog.place.starts:
            found.append((name, dialog))
    return found


@pytest.mark.slow
def test_every_cell_of_a_dialog_counts() -> None:
    """In every row from a dialog's top on, the first, the last and a middle cell make another fingerprint."""
    wrong = []
    for name, dialog in dialogs():
        shown = look(name)
        assert dialog.place is not None
        top, whole = dialog.top, fingerprint(shown.lines, shown.columns, dialog)
        for row in range(top, dialog.place.end):
            line = shown.lines[row].ljust(shown.columns)
            for at in {0, len(line.rstrip()) // 2, max(0, len(line.rstrip()) - 1), len(line) - 1}:
                for other in ("\u00a0", "●", "|") if line[at] == " " else (" ", "\u00a0", "x́"):
                    changed = [*shown.lines[:row], line[:at] + other + line[at + 1 :], *shown.lines[row + 1 :]]
                    if line[at] != other and fingerprint(changed, shown.columns, dialog) == whole:
                        wrong.append((name, row, at, other))

    assert wrong == []


@each(
    ("row", "kept"),
    [
        ("● Running", "  Running"), ("  ⠙ Thinking", "    Thinking"), ("✻ Baked", "  Baked"), ("* rm", "* rm"),
        ("● ", "●"), ("●rm", "●rm"), ("1● rm", "1● rm"), ("- rm", "- rm"), ("> ls", "> ls"), ("é /etc", "é /etc"),
        ("do" + " " * 35 + "5s", "do"), ("do" + " " * 32 + "1m 5s", "do"),
        ("do" + " " * 33 + "5s ┃", "do" + " " * 36 + "┃"),
        ("do" + " " * 20 + "5s", "do" + " " * 20 + "5s"), ("sleep" + " " * 33 + "9s", "sleep"),
        ("x" * 36 + "  5s", "x" * 36 + "  5s"), ("do" + " " * 35 + "5x", "do" + " " * 35 + "5x"),
        ("• Working (12s • esc to interrupt)", "  Working (0s • esc to interrupt)"),
        ("✻ Vibing… (1m 2s · ↓ 9 tokens · esc to interrupt)", "  Vibing… (0s · ↓ 9 tokens · esc to interrupt)"),
        ("rm (12s • esc to delete)", "rm (12s • esc to delete)"), ("rm |", "rm |"), ("rm\u00a0", "rm\u00a0"),
    ],
)  # fmt: skip
def test_what_is_left_out_above(row: str, kept: str) -> None:
    """Above a dialog: a bullet in front, an elapsed time at the right edge, that of a status row; nothing else."""
    lines = [row, "─" * 40, "Go?", "❯ 1. Yes", "  2. No"]

    assert steady_rows(lines, 40, _at(Place(2, 2, (3, 4), 5), 1))[0] == kept


@each(
    ("row", "kept"),
    [
        ("  ⠙ Waiting", "  ⠿ Waiting"), ("● Waiting", "● Waiting"), ("x" + " " * 37 + "5s", "x" + " " * 37 + "5s"),
        ("⠙ Thinking (9s · esc to cancel)", "⠿ Thinking (0s · esc to cancel)"), ("⠙x", "⠙x"),
    ],
)  # fmt: skip
def test_what_is_left_out_below(row: str, kept: str) -> None:
    """Below a dialog: the glyph of a spinner, though not that there is one, and the time of a status row."""
    lines = ["─" * 40, "Go?", "❯ 1. Yes", "  2. No", row]

    assert steady_rows(lines, 40, _at(Place(1, 1, (2, 3), 4), 0))[4] == kept


@settings(max_examples=at_most(100), deadline=None)
@given(
    st.lists(st.text("ab ●│─╌╭╰5s(•⠙\u00a0é日", max_size=50), min_size=4, max_size=30),
    st.integers(1, 120),
    st.data(),
)
def test_any_screen_has_one(lines: list[str], columns: int, data: st.DataObject) -> None:
    """Whatever stands on it: rows of the dialog count as they are drawn."""
    first = data.draw(st.integers(1, len(lines) - 1))
    asks = data.draw(st.integers(0, first - 1))
    place = Place(data.draw(st.integers(0, asks)), asks, (first,), first + 1)
    top = data.draw(st.integers(0, place.top))

    kept = steady_rows(lines, columns, _at(place, top))
    assert kept[top : place.end] == [line.rstrip(" ") for line in lines[top : place.end]]
    assert len(kept) == len(lines)
    fingerprint(lines, columns, Dialog(None, "x", place=place))


def test_lone_surrogates_have_one() -> None:
    """A screen with bytes that are no text is as good as any other."""
    dialog = Dialog(None, "x")

    assert fingerprint(["\udcff"], 80, dialog) != fingerprint(["\udcfe"], 80, dialog)


_ASKS = ["Do you want to proceed?", "❯ 1. Yes", "  2. No"]
_LINE = "─" * 40


def _at(place: Place, top: int) -> Dialog:
    return Dialog(None, "x", place=place, top=top)


def test_without_a_place_nothing_is_left_out() -> None:
    """Where nobody can tell what belongs to a dialog, every cell counts but blanks at the end of a row."""
    assert steady_rows(["  ● a  5s ", " b |\u00a0"], 10, Dialog(None, "x")) == ["  ● a  5s", " b |\u00a0"]


def test_where_an_elapsed_time_ends() -> None:
    """At most three columns from the right edge, and within it."""
    for columns, is_time in ((9, False), (10, True), (13, True), (14, False)):
        lines = ["do" + " " * 6 + "5s", _LINE, *_ASKS]
        kept = steady_rows(lines, columns, _at(Place(2, 2, (3, 4), 5), 1))[0]
        assert (kept == "do") is is_time, columns


def test_size_keys_and_rule_are_in_it() -> None:
    """The same rows on another screen, or with other keys behind the choices, are another question."""
    yes, lines = Choice("1", "Yes"), ["Go?", "1. Yes"]
    dialog = Dialog(None, "x", choices=(yes,))
    others = [(80, attrs.evolve(dialog, rule="y")), (81, dialog), (80, attrs.evolve(dialog, choices=()))]
    others += [(80, attrs.evolve(dialog, choices=(choice,))) for choice in (Choice("2", "Yes"), Choice("1", "No"))]
    marks = {fingerprint(lines, columns, one) for columns, one in [(80, dialog), *others]}

    assert {len(mark) for mark in marks} == {32}
    assert len(marks) == 6 and fingerprint([*lines, ""], 80, dialog) not in marks
