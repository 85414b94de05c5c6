"""
Colours as people see them: simulated colour blindness, how far two colours are from each other, and contrast.

Simulation: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color
Vision Deficiency", 2009, severity 1.0, in linear light. Distance: Euclidean in Oklab
(https://bottosson.github.io/posts/oklab/), times 100: below about 2 two patches look the same. Contrast: WCAG 2.2.
"""

from __future__ import annotations

import math

RGB = tuple[int, int, int]
Matrix = tuple[tuple[float, float, float], ...]

#: By the name of the preset that is for it.
BLINDNESS: dict[str, Matrix] = {
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_TO_LMS: Matrix = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB: Matrix = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def _linear(channel: float) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _times(matrix: Matrix, vector: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def seen(colour: RGB, blindness: str = "") -> tuple[float, ...]:
    """*colour* in linear light, 0 to 1, as somebody with this blindness sees it."""
    linear = tuple(_linear(channel) for channel in colour)
    if blindness:
        linear = tuple(min(1.0, max(0.0, channel)) for channel in _times(BLINDNESS[blindness], linear))
    return linear


def oklab(colour: RGB, blindness: str = "") -> tuple[float, ...]:
    """*colour* in Oklab, as somebody with this blindness sees it."""
    return _times(_TO_LAB, tuple(math.cbrt(cone) for cone in _times(_TO_LMS, seen(colour, blindness))))


def distance(one: RGB, other: RGB, blindness: str = "") -> float:
    """How far apart two colours are for somebody with this blindness, or with none."""
    return 100 * math.dist(oklab(one, blindness), oklab(other, blindness))


def luminance(colour: RGB) -> float:
    """Relative luminance, 0 to 1."""
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), seen(colour), strict=True))


def contrast(one: RGB, other: RGB) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
