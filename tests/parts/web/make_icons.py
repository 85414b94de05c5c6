"""
The icons of the installed page as PNG, made of `icon.svg`: `python -m tests.parts.web.make_icons`.

Phones take no SVG for them, and cut them to a shape of their own: the light stands in the middle of an opaque square,
within the 80 % that are always shown (https://w3c.github.io/manifest/#icon-masks).
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, ImageDraw

from tallylight.parts.web.theme import PAGE

PAGES = Path("shared/tallylight/parts/web/page")
SIZES = (192, 512)
#: The share of the square that `icon.svg` fills; and how many times too large it is drawn, for smooth edges.
SHARE, FINE = 0.62, 8


def icon(size: int) -> Image.Image:
    """The icon in a square of so many pixels. `icon.svg` holds one circle and nothing else."""
    root = ElementTree.parse(PAGES / "icon.svg").getroot()
    (circle,) = root
    assert circle.tag.endswith("}circle")
    width = float(root.attrib["viewBox"].split()[2])
    x, y, radius = (float(circle.attrib[name]) for name in ("cx", "cy", "r"))
    large = size * FINE
    image = Image.new("RGB", (large, large), PAGE[1])
    scale, margin = large * SHARE / width, large * (1 - SHARE) / 2
    box = [margin + scale * edge for edge in (x - radius, y - radius, x + radius, y + radius)]
    ImageDraw.Draw(image).ellipse(box, fill=circle.attrib["fill"])
    return image.resize((size, size), Image.Resampling.BOX).quantize(32)


def main() -> int:
    """Write them."""
    for size in SIZES:
        icon(size).save(PAGES / f"icon-{size}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
