"""
Colours as a person writes them: `#RRGGBB`, `#RGB`, or one of the sixteen names that every web page knows.

The names and their values: https://www.w3.org/TR/CSS21/syndata.html#color-units
"""

from __future__ import annotations

import re

from tallylight.model.lights import RGB

NAMES: dict[str, RGB] = {
    "black": (0, 0, 0),
    "silver": (0xC0, 0xC0, 0xC0),
    "gray": (0x80, 0x80, 0x80),
    "grey": (0x80, 0x80, 0x80),
    "white": (0xFF, 0xFF, 0xFF),
    "maroon": (0x80, 0, 0),
    "red": (0xFF, 0, 0),
    "purple": (0x80, 0, 0x80),
    "fuchsia": (0xFF, 0, 0xFF),
    "green": (0, 0x80, 0),
    "lime": (0, 0xFF, 0),
    "olive": (0x80, 0x80, 0),
    "yellow": (0xFF, 0xFF, 0),
    "navy": (0, 0, 0x80),
    "blue": (0, 0, 0xFF),
    "teal": (0, 0x80, 0x80),
    "aqua": (0, 0xFF, 0xFF),
    "orange": (0xFF, 0xA5, 0),
}
#: The form of a colour, as a pattern that JSON Schema knows, too. It accepts any name.
FORM = "#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}|[A-Za-z]+"
_HEX = re.compile(r"#(?:[0-9A-Fa-f]{3}){1,2}")


def parse_colour(text: str) -> RGB | None:
    """Return the colour in *text*; None if it is none. Each digit of `#FA0` counts twice."""
    if not _HEX.fullmatch(text):
        return NAMES.get(text.lower())
    digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def hexadecimal(colour: RGB) -> str:
    """Return a colour as `#RRGGBB`."""
    return "#{:02X}{:02X}{:02X}".format(*colour)
