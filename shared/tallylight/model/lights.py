"""
Lights: the colour, the mark and the pulse of each status.

They are the same for every surface: a tab bar, `tally status`, a demo in a terminal. Colours are `(red, green, blue)`
from 0 to 255.
"""

from __future__ import annotations

import math

from tallylight.model.status import CONCLUDED, Kind, Status

RGB = tuple[int, int, int]
_WHITE: RGB = (255, 255, 255)

#: The stripe of a light, at the left edge of a tab.
STRIPE = "▌"
#: The stripe of an agent that is gone, or quiet: hollow.
HOLLOW_STRIPE = "▯"

#: One period of the pulse, in seconds, and the share of white in the light at its brightest.
PULSE_S = 1.4
PULSE_WHITE = 0.4
#: A pulsing light is drawn at most so many times a second.
PULSE_HZ = 10
#: A light pulses for so many seconds after a change.
PULSE_LASTS_S = 10.0

#: Statuses with a filled mark and name on every surface. `done` has only a filled mark; `limited` is written in colour.
FILLED: frozenset[Status] = frozenset({Status.WAITING, Status.ERROR, Status.DOWN})

#: The default colours. `active` has none: it is not drawn. Green is darker than the others, so that it never rivals
#: amber.
COLOURS: dict[Status, RGB] = {
    Status.WORKING: (0x33, 0x99, 0xFF),
    Status.WAITING: (0xFF, 0xAA, 0x00),
    Status.BACKGROUND: (0x1F, 0x5C, 0x99),
    Status.DONE: (0x22, 0xAA, 0x55),
    Status.LIMITED: (0xE5, 0x48, 0x4D),
    Status.ERROR: (0xE5, 0x48, 0x4D),
    Status.DOWN: (0xE5, 0x48, 0x4D),
    Status.QUIET: (0x88, 0x88, 0x88),
    Status.IDLE: (0x88, 0x88, 0x88),
}

#: The mark of each status, so that colour is never the only difference. All are one cell wide and in common fonts.
MARKS: dict[Status, str] = {
    Status.WORKING: "●",
    Status.WAITING: "!",
    Status.BACKGROUND: "○",
    Status.DONE: "✓",
    Status.LIMITED: "◷",
    Status.ERROR: "×",
    Status.DOWN: "▼",
    Status.QUIET: "◇",
    Status.IDLE: "·",
    Status.ACTIVE: " ",
}

#: The sign after the mark of an agent if another one has changed the same lines.
COLLISION = "≠"


def mark(status: Status, kind: Kind | None = None) -> str:
    """Return the mark of a status, one cell wide; two for a `done` that ends with a question."""
    if status is Status.DONE and kind is Kind.QUESTION:
        return f"{MARKS[status]}?"
    if status is Status.WAITING and kind is Kind.QUESTION:
        return "?"
    return MARKS[status]


def stripe(status: Status) -> str:
    """Return the stripe of a status, one cell wide."""
    return HOLLOW_STRIPE if status in CONCLUDED else STRIPE


def blend(colour: RGB, background: RGB, level: float) -> RGB:
    """Return *colour* at *level* (0 to 1) over *background*."""
    red, green, blue = (round(c * level + b * (1 - level)) for c, b in zip(colour, background, strict=True))
    return red, green, blue


def pulsed(colour: RGB, now: float) -> RGB:
    """Return *colour* as it pulses at monotonic *now*: between itself and brighter, never darker."""
    wave = (1 + math.sin(2 * math.pi * now / PULSE_S)) / 2
    return blend(_WHITE, colour, PULSE_WHITE * wave)


def sgr_foreground(colour: RGB) -> str:
    """Return the SGR sequence that sets *colour* as the foreground (ITU T.416, colon form)."""
    return f"\x1b[38:2:{colour[0]}:{colour[1]}:{colour[2]}m"


def sgr_background(colour: RGB) -> str:
    """Return the SGR sequence that sets *colour* as the background."""
    return sgr_foreground(colour).replace("[38", "[48")


def nearest(rgb: RGB) -> int:
    """Return the nearest colour of the 6x6x6 cube of 256-colour terminals."""
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = (min(range(6), key=lambda n: abs(levels[n] - channel)) for channel in rgb)
    return 16 + 36 * red + 6 * green + blue
