"""Pixels: what colours a person sees in a tab of the tab bar.

kitty tells where each tab lies (`SPANS`, evaluated inside kitty, for only the layout knows); the screenshot tells
what is there. Title text and backgrounds of kitty's default colours are grey, so whatever is saturated is a light.
"""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import Any

from PIL import Image

Colour = tuple[int, int, int]
Box = tuple[int, int, int, int]

#: How far apart the strongest and the weakest channel of a colour are, at least, for it to count as one.
SATURATED = 60

# A function body for `RemoteControl.eval`: {tab id: (left, top, right, bottom)} in pixels of the OS window {os_window}.
SPANS = """
tm = next(tm for tm in boss.all_tab_managers if tm.os_window_id == {os_window})
bar = tm.tab_bar
g, cw = bar.window_geometry, bar.cell_width
if hasattr(bar, "tab_extents"):  # 0.48: with rows, for the bar may stand at a side
    ch = bar.cell_height
    return {{
        e.tab_id: [g.left + x.start * cw, g.top + y.start * ch, g.left + (x.end + 1) * cw, g.top + (y.end + 1) * ch]
        for e in bar.tab_extents for x, y in [(e.x, e.y)]
    }}
return {{
    tab.id: [g.left + start * cw, g.top, g.left + (end + 1) * cw, g.bottom]
    for tab, (start, end) in zip(tm.tabs, bar.cell_ranges)
}}
"""


def read_screen(path: Path) -> Image.Image:
    """
    The picture in a file that Xvfb keeps what it shows in, as in an XWD file: https://www.x.org/releases/X11R7.7/doc/xorg-docs

    It is read until it was the same twice, for the server may be drawing at that moment; what never rests is read as
    it is.
    """
    before = path.read_bytes()
    for _ in range(5):
        if (data := path.read_bytes()) == before:
            break
        before = data
    # Numbers of 32 bits: the header's length, four others, the height, and so on; a colour of its table has 12 bytes.
    header = struct.unpack(">25I", data[:100])
    width, height, bits, line, colours = header[4], header[5], header[11], header[12], header[19]
    assert bits == 32, f"{path} has {bits} bits a pixel"
    pixels = data[header[0] + 12 * colours :]
    return Image.frombuffer("RGB", (width, height), pixels, "raw", "BGRX", line, 1)


def counted(image: Image.Image) -> Counter[Colour]:
    """How many pixels of each colour there are."""
    found: Any = image.convert("RGB").getcolors(image.width * image.height)
    return Counter({colour: count for count, colour in found})


def saturated_colours(image: Image.Image, box: Box, *, least: int = 8) -> list[Colour]:
    """The saturated colours inside `box`, most pixels first. Fewer than `least` pixels are the edge of a glyph."""
    return [
        colour
        for colour, count in counted(image.crop(box)).most_common()
        if count >= least and max(colour) - min(colour) >= SATURATED
    ]


def near(one: Colour, other: Colour, tolerance: int = 12) -> bool:
    """Whether two colours are the same but for rounding on the way to the screen."""
    return all(abs(a - b) <= tolerance for a, b in zip(one, other, strict=True))
