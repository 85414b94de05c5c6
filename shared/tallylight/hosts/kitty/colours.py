"""Converts colours to and from kitty's, which are numbers, objects, and another kind of numbers for its cursors."""

from __future__ import annotations

from typing import Any

from kitty.fast_data_types import Color
from kitty.rgb import color_from_int
from kitty.utils import color_as_int

from tallylight.model import lights
from tallylight.model.palettes import BACKGROUND_SHARE, THEME_NUMBERS
from tallylight.model.status import Status


def rgb(colour: int | Color) -> lights.RGB:
    """Return kitty's *colour* as RGB."""
    value = colour if isinstance(colour, int) else color_as_int(colour)
    parsed = color_from_int(value)
    return parsed.red, parsed.green, parsed.blue


def theme_colours(options: Any) -> dict[Status, lights.RGB]:
    """Return the colours of lights in the current theme, from kitty's *options*."""
    found = {status: rgb(getattr(options, f"color{number}")) for status, number in THEME_NUMBERS.items()}
    found[Status.BACKGROUND] = lights.blend(found[Status.WORKING], rgb(options.background), BACKGROUND_SHARE)
    return found


def as_int(colour: lights.RGB) -> int:
    """Return *colour* as one number, 0xRRGGBB."""
    return colour[0] << 16 | colour[1] << 8 | colour[2]


def as_sgr_int(colour: lights.RGB) -> int:
    """Return *colour* as kitty's cursor takes it: the low byte 2 marks RGB."""
    return as_int(colour) << 8 | 2
