"""
A text as a QR code for a terminal, so that a phone's camera can read an address.

ISO/IEC 18004, by segno: https://segno.readthedocs.io
"""

from __future__ import annotations

import segno

#: Light modules on each side: a reader needs them to find the code.
BORDER_MODULES = 4
#: Black on white in every theme: colours of the cube, which themes do not change.
_BEGIN, _END = "\x1b[38;5;16;48;5;231m", "\x1b[0m"
#: Two modules, one above the other, as one character: by whether the upper and the lower one is dark.
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def rows(text: str) -> list[str]:
    """
    Return the QR code of *text* as rows of characters, one column a module and two modules a row, with its border.

    Any address of a host with a token is at most 73 columns wide.
    """
    code = segno.make_qr(text, error="l")
    modules = [[bool(module) for module in row] for row in code.matrix_iter(border=BORDER_MODULES)]
    # The height is odd: below its last row is more of the border.
    modules.append([False] * len(modules[0]))
    return [
        "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(modules[::2], modules[1::2], strict=True)
    ]


def coloured(found: list[str]) -> str:
    """Return these rows in black on white, which is legible on dark and on light terminals."""
    return "".join(f"{_BEGIN}{row}{_END}\n" for row in found)
