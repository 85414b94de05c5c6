"""
Palettes: named sets of colours for lights. docs/configuration.md shows how far apart the colours are.

The palettes for colour-blind people were found by simulation. Their five most common lights are as far apart as
possible, each with a contrast of 3 to a dark tab: working, waiting, done, error, idle. `tests/model/test_lights.py`
measures them. All but `light` are for dark tabs.
"""

from __future__ import annotations

from tallylight.model.lights import COLOURS, RGB
from tallylight.model.status import Status

#: The name that means the colours of the terminal's own theme.
THEME = "theme"


def _palette(working: str, waiting: str, background: str, done: str, error: str, idle: str) -> dict[Status, RGB]:
    """Return the palette of six colours as `RRGGBB`. `down` and `limited` look like `error`, `quiet` like `idle`."""
    texts = {
        Status.WORKING: working,
        Status.WAITING: waiting,
        Status.BACKGROUND: background,
        Status.DONE: done,
        Status.ERROR: error,
        Status.DOWN: error,
        Status.LIMITED: error,
        Status.QUIET: idle,
        Status.IDLE: idle,
    }
    return {status: (int(text[:2], 16), int(text[2:4], 16), int(text[4:], 16)) for status, text in texts.items()}


PALETTES: dict[str, dict[Status, RGB]] = {
    "default": COLOURS,
    #: For tabs with a light background.
    "light": _palette("1A5FE0", "D96B00", "8AA6D9", "1E9E3E", "B3001B", "7A7D83"),
    #: For people who see little or no red.
    "protan": _palette("1267F8", "FBCD03", "0B3F96", "4CF9FE", "E50408", "9A9897"),
    #: For people who see little or no green.
    "deutan": _palette("49AFF7", "FFE030", "2D5FD0", "64FFFB", "F8787B", "6F7073"),
    #: For people who see little or no blue.
    "tritan": _palette("55A5FD", "EEAF1D", "2D5FD0", "99FED9", "E71755", "6F716C"),
}
#: The number of the terminal theme's colour, 0 to 15, for each light.
THEME_NUMBERS = {
    Status.WORKING: 4,
    Status.WAITING: 3,
    Status.DONE: 2,
    Status.ERROR: 1,
    Status.DOWN: 1,
    Status.LIMITED: 1,
    Status.QUIET: 8,
    Status.IDLE: 8,
}
#: `background` has the theme's colour for work, at this share over the theme's background.
BACKGROUND_SHARE = 0.55
