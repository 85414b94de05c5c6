"""
Contrast: how far a colour must move to differ from what it touches, and to be read.

Pure, and the same for every surface. Ratios are those of WCAG 2.2 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio),
1 to 21. Colours are moved in OKLCH (https://bottosson.github.io/posts/oklab/), which keeps their hue.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

from tallylight.model.lights import FILLED, RGB
from tallylight.model.status import Status

BLACK: RGB = (0, 0, 0)
WHITE: RGB = (255, 255, 255)

#: The least contrast ratio of a sign with its ground, and of a filled area with the colours that touch it.
SIGN_CONTRAST, FILL_CONTRAST = 4.5, 3.0
#: Green that is closer to amber than this ratio is not filled: at a glance, only lightness separates the two.
NEWS_CONTRAST = 1.5
#: The same for green that would be nearly black with more contrast: its hue tells it apart.
NEWS_HUE_CONTRAST = 2.0
#: So much of its chroma a colour keeps, of 1, or it is not seen as that colour any more.
VIVID = 0.75
#: Colours that are further apart than this, in OKLab, are told apart at a glance whatever their lightness.
APART = 0.15
#: One step of lightness, of 1 from black to white.
_STEP = 0.01
#: A grey has no more chroma than this, by rounding.
_GREY = 0.001


def luminance(colour: RGB) -> float:
    """Return the relative luminance of WCAG 2, 0 to 1."""
    red, green, blue = (_linear(channel) for channel in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: RGB, other: RGB) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable_on(ground: RGB) -> RGB:
    """Return black or white, whichever has more contrast with *ground*."""
    return max(BLACK, WHITE, key=lambda colour: ratio(colour, ground))


def distance(one: RGB, other: RGB) -> float:
    """Return how different two colours look: their distance in OKLab, 0 to about 1."""
    return math.dist(_oklab(one), _oklab(other))


def chroma(colour: RGB) -> float:
    """Return the chroma of *colour* in OKLab: 0 for a grey, to about 0.3."""
    _, a, b = _oklab(colour)
    return math.hypot(a, b)


#: The fill colours of statuses that need a person.
Fills = dict[Status, RGB]


@functools.lru_cache(maxsize=1024)
def moved(colour: RGB, grounds: frozenset[RGB], least: float) -> RGB | None:
    """
    Return the colour nearest to *colour*, lighter or darker, with at least the ratio *least* to each of *grounds*.

    The hue stays, and the chroma as far as a screen can show it. None if no lightness is enough.
    """
    lightness, a, b = _oklab(colour)
    for step in range(round(1 / _STEP) + 1):
        for level in (lightness + step * _STEP, lightness - step * _STEP) if step else (None,):
            if level is not None and not 0 <= level <= 1:
                continue
            found = colour if level is None else _shown(level, a, b)
            if all(ratio(found, ground) >= least for ground in grounds):
                return found
    return None


def legible(colour: RGB, ground: RGB, least: float = SIGN_CONTRAST) -> RGB:
    """Return *colour* as a readable sign on *ground*; black or white if no colour of its hue is readable there."""
    return moved(colour, frozenset({ground}), least) or readable_on(ground)


def marked(colour: RGB, ground: RGB) -> RGB:
    """Return *colour* as a mark on *ground*: as `legible`, or with less contrast where that would leave no colour."""
    found = legible(colour, ground)
    return found if _is_vivid(found, colour) else legible(colour, ground, FILL_CONTRAST)


def filled(colour: RGB, touching: frozenset[RGB]) -> RGB:
    """
    Return *colour* as the fill of a status that needs a person, in a bar with the colours *touching* it.

    It moves away from dark colours only: amber that moved away from light ones would be brown. Its text is readable.
    """
    dark = frozenset(ground for ground in touching if ratio(BLACK, ground) < FILL_CONTRAST)
    return moved(colour, dark, FILL_CONTRAST) or WHITE


def fills_of(colours: Mapping[Status, RGB], touching: frozenset[RGB]) -> Fills:
    """Return the fills of statuses that need a person, for lights in *colours* and the colours *touching* them."""
    return {status: filled(colour, touching) for status, colour in colours.items() if status in FILLED}


def news(colour: RGB, ground: RGB, amber: RGB) -> RGB | None:
    """
    Return the nearest fill to *colour* that differs enough from *ground*; None if there is none, or it looks like
    *amber*.
    """
    fill = moved(colour, frozenset({ground}), FILL_CONTRAST)
    if fill is not None and not _is_vivid(fill, colour):
        fill = moved(colour, frozenset({ground}), NEWS_HUE_CONTRAST)
    return None if fill is None or ratio(fill, amber) < NEWS_CONTRAST else fill


def _is_vivid(shade: RGB, colour: RGB) -> bool:
    """Return whether *shade*, which is *colour* moved, has kept its colour; a grey has none to lose."""
    return chroma(shade) >= VIVID * chroma(colour) - _GREY


def _linear(channel: float) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _oklab(colour: RGB) -> tuple[float, float, float]:
    """Return *colour* in OKLab: lightness, green to red, blue to yellow."""
    red, green, blue = (_linear(channel) for channel in colour)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _shown(lightness: float, a: float, b: float) -> RGB:
    """Return a colour of OKLab in sRGB, with as much of its chroma as a screen has at that lightness."""
    low, high = 0.0, 1.0
    if all(0 <= channel <= 1 for channel in _linear_rgb(lightness, a, b)):
        low = 1.0
    else:
        for _ in range(12):
            middle = (low + high) / 2
            is_inside = all(0 <= channel <= 1 for channel in _linear_rgb(lightness, a * middle, b * middle))
            low, high = (middle, high) if is_inside else (low, middle)
    red, green, blue = (_channel(channel) for channel in _linear_rgb(lightness, a * low, b * low))
    return red, green, blue


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    """Return a colour of OKLab as linear red, green and blue; outside of 0 to 1 where a screen has no such colour."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _channel(share: float) -> int:
    """Return a linear *share* as a channel of sRGB, 0 to 255."""
    share = min(1.0, max(0.0, share))
    return round(255 * (12.92 * share if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055))
