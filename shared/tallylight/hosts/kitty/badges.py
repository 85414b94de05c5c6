"""
Badges: the mark of a light as a small picture, for a kitty that can show nothing else over a window.

PNG, https://www.w3.org/TR/png-3/, written by hand: eight bits a channel with alpha, no filter.
"""

from __future__ import annotations

import struct
import zlib

from tallylight.model import lights

#: The width of a badge in cells; it is one line high.
BADGE_CELLS = 3
#: The marks, seven rows of five dots each, as bits of a number.
_DOTS = {
    "!": (0x04, 0x04, 0x04, 0x04, 0x04, 0x00, 0x04),
    "?": (0x0E, 0x11, 0x01, 0x06, 0x04, 0x00, 0x04),
    "●": (0x00, 0x0E, 0x1F, 0x1F, 0x1F, 0x0E, 0x00),
    "○": (0x00, 0x0E, 0x11, 0x11, 0x11, 0x0E, 0x00),
    "✓": (0x00, 0x01, 0x03, 0x16, 0x1C, 0x08, 0x00),
    "×": (0x00, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x00),
    "◷": (0x0E, 0x15, 0x15, 0x17, 0x11, 0x0E, 0x00),
    "◇": (0x00, 0x04, 0x0A, 0x11, 0x0A, 0x04, 0x00),
    "▼": (0x00, 0x1F, 0x1F, 0x0E, 0x0E, 0x04, 0x00),
}
_MARK_ROWS, _MARK_COLUMNS = 7, 5
#: The share of a badge's height that its mark takes.
_MARK_SHARE = 0.7


def picture(mark: str, fore: lights.RGB, back: lights.RGB, cell_width: int, cell_height: int) -> bytes:
    """Return a PNG of *mark* in *fore* on *back*, `BADGE_CELLS` cells wide and one high; a cell's size is in pixels."""
    width, height = BADGE_CELLS * cell_width, cell_height
    tall = max(_MARK_ROWS, round(height * _MARK_SHARE))
    wide = tall * _MARK_COLUMNS // _MARK_ROWS
    left, top = (width - wide) // 2, (height - tall) // 2
    paper, ink = bytes((*back, 255)), bytes((*fore, 255))
    dots = _DOTS.get(mark, ())
    rows = []
    for y in range(height):
        bits = dots[(y - top) * _MARK_ROWS // tall] if dots and 0 <= y - top < tall else 0
        columns = [
            _MARK_COLUMNS - 1 - (x - left) * _MARK_COLUMNS // wide if 0 <= x - left < wide else -1 for x in range(width)
        ]
        rows.append(b"\0" + b"".join(ink if column >= 0 and bits >> column & 1 else paper for column in columns))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    )
