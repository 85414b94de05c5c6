"""
Screens of a program that nobody has seen, drawn by hand or by a library: those in `drawn/asks.txt` wait for a person,
those in `drawn/rests.txt` do not. `⌁` is where the visible cursor is; without one it is hidden.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.evidence.looks import ScreenReader
from tallylight.evidence.screen import Look
from tallylight.evidence.unknown import candidate
from tallylight.model.status import Status
from tallylight.wire.text import width
from tests.tables import each

CURSOR, COLUMNS, LINES = "⌁", 80, 30


def drawn(name: str) -> dict[str, str]:
    """The screens in a file, by what they are."""
    text = (Path(__file__).parent / "drawn" / name).read_text("utf-8")
    parts = (part.partition("\n") for part in text.split("=== ")[1:])
    return {name: screen for name, _, screen in parts}


ASKS, RESTS = drawn("asks.txt"), drawn("rests.txt")


def look_at(text: str) -> Look:
    """A look at the screen that is drawn in *text*."""
    rows = text.splitlines()
    row = next((at for at, line in enumerate(rows) if CURSOR in line), None)
    column = width(rows[row].partition(CURSOR)[0]) if row is not None else 0
    lines = [line.replace(CURSOR, "") for line in rows] + [""] * (LINES - len(rows))
    return Look(lines, row or 0, column, COLUMNS, row is not None)


def is_waited_for(text: str) -> bool:
    """Whether somebody is waited for, once the screen has stood for two seconds."""
    look = look_at(text)
    reader = ScreenReader(candidate("mystery"))
    told = None
    for number in range(8):
        reader.look(look)
        told = reader.read(look, number / 4) or told
    return told is not None and told.status is Status.WAITING


@pytest.mark.slow
@each("name", ASKS)
def test_asks(name: str) -> None:
    """Whoever asks, in whatever notation and language, is seen to wait."""
    assert is_waited_for(ASKS[name])


@each("name", RESTS)
def test_rests(name: str) -> None:
    """What only looks like a question is none."""
    assert not is_waited_for(RESTS[name])
