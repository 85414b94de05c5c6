"""
The colours of the page, from those of the configuration: a stylesheet of custom properties. Pure.

Each light has two colours, `--waiting` for shapes and `--waiting-ink` for text: the configured colour, darker or
brighter as far as the page and a card require it. Lights that need a person or are news are filled. They have
`--waiting-fill` with `--waiting-on` for the text on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.model.contrast import (
    FILL_CONTRAST,
    SIGN_CONTRAST,
    fills_of,
    legible,
    news,
    readable_on,
)
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.status import Status

#: The backgrounds of lights, in a light and in a dark page: the page itself, and a card on it.
PAGE: tuple[RGB, RGB] = ((0xF4, 0xF5, 0xF7), (0x10, 0x13, 0x17))
CARD: tuple[RGB, RGB] = ((0xFF, 0xFF, 0xFF), (0x1A, 0x1E, 0x24))
#: The background with less contrast, for each.
_HARD: tuple[RGB, RGB] = (PAGE[0], CARD[1])


def stylesheet(colours: Mapping[Status, RGB] = COLOURS) -> str:
    """Return the custom properties of a page with lights of these *colours*; a light without one has its default."""
    given = {status: colours.get(status, default) for status, default in COLOURS.items()}
    light, dark = (_scheme(given, number) for number in (0, 1))
    lines = [f"  --{name}: light-dark({css(colour)}, {css(dark[name])});\n" for name, colour in light.items()]
    return f":root {{\n{''.join(lines)}}}\n"


def _scheme(colours: Mapping[Status, RGB], number: int) -> dict[str, RGB]:
    """Return the properties of the light page, 0, or of the dark one, 1."""
    hard, touching = _HARD[number], frozenset({PAGE[number], CARD[number]})
    found = {"page": PAGE[number], "card": CARD[number]}
    for status, colour in colours.items():
        found[status.value] = legible(colour, hard, FILL_CONTRAST)
        found[f"{status.value}-ink"] = legible(colour, hard, SIGN_CONTRAST)
    fills = fills_of(colours, touching)
    for status, fill in fills.items():
        found |= {f"{status.value}-fill": fill, f"{status.value}-on": readable_on(fill)}
    done = news(colours[Status.DONE], hard, fills[Status.WAITING])
    if done is None:  # a plain mark: nothing is filled where it would look like amber
        return found | {"done-fill": CARD[number], "done-on": found["done-ink"]}
    return found | {"done-fill": done, "done-on": readable_on(done)}


def css(colour: RGB) -> str:
    """Return *colour* as a stylesheet has it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
