"""
A picture of curves on two logarithmic axes, as SVG: small enough to be written here, so that no plotting library is
needed for one picture. It follows the reader's choice of dark or light, on a ground of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

#: Of one panel, in pixels: its frame, and what is left free around it.
WIDTH, HEIGHT = 400, 300
LEFT, TOP, BELOW, BETWEEN, RIGHT = 78, 66, 130, 96, 24
#: One of each for a curve: colours that differ in light and dark, to everybody, and the shapes of its points.
COLOURS = (("#0060a8", "#6cb6ff"), ("#b34700", "#ffa657"), ("#007a4d", "#56d39a"), ("#7a2f9e", "#d2a8ff"))
_STYLE = """
text { font: 13px sans-serif; fill: var(--ink) } .title { font-size: 15px; font-weight: bold }
.small { font-size: 11px } .grid { stroke: var(--grid) } .frame { stroke: var(--ink); fill: none }
.ground { fill: var(--ground) } .curve { fill: none; stroke-width: 2 }
"""

Curve = Sequence[tuple[float, float]]


class Panel(NamedTuple):
    """One pair of axes: what it is about, what the axes say, and the curves by their names; all numbers above 0."""

    title: str
    x: str
    y: str
    curves: Mapping[str, Curve]


def _label(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _range(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around *values*."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _marker(number: int, x: float, y: float) -> str:
    if number == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if number == 1:
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    if number == 2:
        return f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"/>'


def _panel(panel: Panel, left: float) -> list[str]:
    points = [point for curve in panel.curves.values() for point in curve]
    (x0, x1), (y0, y1) = _range([x for x, _ in points]), _range([y for _, y in points])

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            left + (math.log10(x) - x0) / (x1 - x0) * WIDTH,
            TOP + HEIGHT - (math.log10(y) - y0) / (y1 - y0) * HEIGHT,
        )

    lines = [f'<text class="title" x="{left}" y="{TOP - 14}">{escape(panel.title)}</text>']
    for power in range(x0, x1 + 1):
        x, _ = at(10.0**power, 10.0**y0)
        lines.append(f'<path class="grid" d="M{x:.1f} {TOP}v{HEIGHT}"/>')
        lines.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{_label(10.0**power)}</text>')
    for power in range(y0, y1 + 1):
        _, y = at(10.0**x0, 10.0**power)
        lines.append(f'<path class="grid" d="M{left} {y:.1f}h{WIDTH}"/>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{_label(10.0**power)}</text>')
    lines.append(f'<rect class="frame" x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>')
    middle = left + WIDTH / 2
    lines.append(f'<text x="{middle}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{escape(panel.x)}</text>')
    x, y = left - 56, TOP + HEIGHT / 2
    lines.append(f'<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle">{escape(panel.y)}</text>')
    for number, (name, curve) in enumerate(panel.curves.items()):
        places = [at(*point) for point in curve]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        lines.append(f'<path class="curve" style="stroke: var(--c{number})" d="{path}"/>')
        key = TOP + HEIGHT + 58 + 17 * number
        markers = "".join(_marker(number, x, y) for x, y in [*places, (left + 6, key - 4)])
        lines.append(f'<g style="fill: var(--c{number})">{markers}</g>')
        lines.append(f'<text x="{left + 18}" y="{key}">{escape(name)}</text>')
    return lines


def draw(panels: Sequence[Panel], caption: str) -> str:
    """The panels beside each other above *caption*, which says where it was measured."""
    width = LEFT + len(panels) * WIDTH + (len(panels) - 1) * BETWEEN + RIGHT
    height = TOP + HEIGHT + BELOW + 24
    light = "".join(f"--c{number}:{colour};" for number, (colour, _) in enumerate(COLOURS))
    dark = "".join(f"--c{number}:{colour};" for number, (_, colour) in enumerate(COLOURS))
    style = (
        f":root{{--ink:#1f2328;--grid:#d8dee4;--ground:#ffffff;{light}}}"
        f"@media (prefers-color-scheme: dark){{:root{{--ink:#e6edf3;--grid:#3d444d;--ground:#0d1117;{dark}}}}}{_STYLE}"
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{escape("; ".join(panel.title for panel in panels))}</title><style>{style}</style>',
        '<rect class="ground" width="100%" height="100%"/>',
    ]
    for number, panel in enumerate(panels):
        lines += _panel(panel, LEFT + number * (WIDTH + BETWEEN))
    lines.append(f'<text class="small" x="{LEFT}" y="{height - 12}">{escape(caption)}</text>')
    return "\n".join([*lines, "</svg>\n"])
