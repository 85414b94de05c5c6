"""Pixels: what colours a person sees in a tab of the tab bar.

kitty tells where each tab lies (`SPANS`, evaluated inside kitty, for only the layout knows); the screenshot tells
what is there. Title text and backgrounds of kitty's default colours are grey, so whatever is saturated is a light.
"""

from __future__ import annotations

from collections import Counter

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


def saturated_colours(image: Image.Image, box: Box, *, least: int = 8) -> list[Colour]:
    """The saturated colours inside `box`, most pixels first. Fewer than `least` pixels are the edge of a glyph."""
    pixels = image.crop(box).convert("RGB").tobytes()
    counts = Counter(zip(pixels[0::3], pixels[1::3], pixels[2::3], strict=True))
    return [
        colour for colour, count in counts.most_common() if count >= least and max(colour) - min(colour) >= SATURATED
    ]


def near(one: Colour, other: Colour, tolerance: int = 12) -> bool:
    """Whether two colours are the same but for rounding on the way to the screen."""
    return all(abs(a - b) <= tolerance for a, b in zip(one, other, strict=True))
