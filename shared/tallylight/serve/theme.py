"""
The colours of the page, out of those of the configuration: a stylesheet of custom properties. Pure.

Each light has two, `--waiting` for what is drawn and `--waiting-ink` for what is read. Both are the configured colour,
darker or brighter as far as it takes on the page's own surfaces: by WCAG 2.2, 1.4.11 and 1.4.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.model.contrast import legible
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.status import Status

#: The contrast ratios of what is drawn and of what is read, at least.
DRAWN, READ = 3.0, 4.5
#: What lights stand on, in a light and in a dark page: the page itself, and a card on it.
PAGE: tuple[RGB, RGB] = ((0xF4, 0xF5, 0xF7), (0x10, 0x13, 0x17))
CARD: tuple[RGB, RGB] = ((0xFF, 0xFF, 0xFF), (0x1A, 0x1E, 0x24))
#: Of each, the one on which it is harder to read.
_HARD: tuple[RGB, RGB] = (PAGE[0], CARD[1])


def stylesheet(colours: Mapping[Status, RGB] = COLOURS) -> str:
    """The custom properties of a page whose lights are *colours*; a light that has none there has its default."""
    rows = {"page": PAGE, "card": CARD}
    for status, default in COLOURS.items():
        colour = colours.get(status, default)
        rows[status.value] = _both(colour, DRAWN)
        rows[f"{status.value}-ink"] = _both(colour, READ)
    lines = [f"  --{name}: light-dark({css(light)}, {css(dark)});\n" for name, (light, dark) in rows.items()]
    return f":root {{\n{''.join(lines)}}}\n"


def _both(colour: RGB, contrast: float) -> tuple[RGB, RGB]:
    return legible(colour, _HARD[0], contrast), legible(colour, _HARD[1], contrast)


def css(colour: RGB) -> str:
    """*colour* as a stylesheet has it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
