"""Asks a person what screens of an agent showed: draws each as it was, and takes one key as the answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tallylight.actions.page import Line
from tallylight.model.errors import TallyError
from tallylight.parts.lab.sightings import ASKING, BUSY, FAILED, IDLE, Sighting
from tallylight.ui import colours
from tallylight.ui.confirm import drawing, raw, read_key
from tallylight.ui.layout import clean
from tallylight.ui.terminal import size, write

_KEYS = {"w": BUSY, "a": ASKING, "r": IDLE, "f": FAILED}
WORDS = {BUSY: "working", ASKING: "asking", IDLE: "ready", FAILED: "failed"}
_HELP = " A menu that you opened counts as ready."
_SKIPS, _STOPS = ("s", "enter"), ("q", "escape", "\x03")


def is_anybody() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(shown: Sequence[tuple[str, Sighting]], fd: int = 0) -> list[tuple[Sighting, str]]:
    """Return a person's labels of screens, each with a heading; raise `TallyError` if they stop."""
    found: list[tuple[Sighting, str]] = []
    with raw(fd):
        for number, (heading, frame) in enumerate(shown, 1):
            key: str | None = ""
            while key not in _KEYS and key not in _SKIPS:
                lines = _page(f"{number} of {len(shown)}: {heading}", frame, *size(fd))
                write(fd, drawing(lines, has_colour=colours.are_wanted(os.environ, is_terminal=True)))
                key = read_key(fd)
                if key is None or key in _STOPS:
                    raise TallyError("stopped; nothing was changed")
            if key in _KEYS:
                found.append((frame, _KEYS[key]))
    return found


def _page(heading: str, frame: Sighting, columns: int, rows: int) -> list[Line]:
    """Return the lines of the page with *frame* and the keys for its labels."""
    keys: list[tuple[str, str]] = []
    for key, label in _KEYS.items():
        keys += [("key", key), ("dim", f" {WORDS[label]}  ")]
    keys += [("key", "s"), ("dim", " skip  "), ("key", "q"), ("dim", " stop")]
    room = max(1, rows - 5)
    screen: list[Line] = [(("", clean(row, columns)),) for row in frame.rows[-room:]]
    title: Line = (("title", clean(heading, columns)),)
    return [title, (), *screen, (), (("title", "What was it doing?"), ("dim", _HELP)), tuple(keys)]
