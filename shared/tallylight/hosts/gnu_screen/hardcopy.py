"""
GNU Screen's hardcopy: the visible rows of a window, as far as its file kept them.
https://www.gnu.org/software/screen/manual/html_node/Hardcopy.html

Screen 5 writes UTF-8. Screen 4 writes one byte a cell, the low byte of its code point (tried with 4.9.0 and 4.9.1): `─`
arrives as NUL, `●` as CF, `❯` as the letter `o`. ASCII and Latin-1 survive. Of the rest much can be restored, because
agents draw few characters in few places. Only characters that could hardly be text in their place are restored. So
rules for a terminal's text work on a hardcopy too, and no word is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tallylight.evidence.screen import MAX_COLUMNS, MAX_ROWS

#: Box drawing and block elements with low bytes that text never has.
_DRAWN = {
    0x00: "─", 0x01: "━", 0x02: "│", 0x03: "┃", 0x0C: "┌", 0x10: "┐", 0x14: "└", 0x18: "┘", 0x1C: "├",
    **{byte: chr(0x2500 + byte) for byte in range(0x80, 0xA0)},
    # Spinners, and the marks of success and failure.
    0x0B: "⠋", 0x19: "⠙", 0x13: "✓", 0x17: "✗",
}  # fmt: skip
#: All other controls except the line end.
_UNDRAWN = {byte: " " for byte in range(32) if byte not in _DRAWN and byte != 0x0A}
#: Dashes and quotes: the words beside them distinguish them from lines and spinners.
_WRITTEN = [
    (re.compile(r"(?<= )\x14(?= )"), "—"),
    (re.compile(r"(?<=\d)\x13(?=\d)"), "–"),
    (re.compile(r"(?<=\w)\x19"), "’"),
    (re.compile(r"\x18(?=\w)"), "‘"),
    (re.compile(r"\x1c(?=\w)"), "“"),
    (re.compile(r"(?<=[\w.,!?])\x1d"), "”"),
]

#: In order: a pattern that finds a lost character in its place, and the character.
_REPAIRS: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(pattern, re.MULTILINE), whole)
    for pattern, whole in (
        # A dashed line across.
        (r"^L{20,}$", lambda found: "╌" * len(found[0])),
        # Marks of omitted lines and of a cut row: `…` is `&` here. A shell's `&` has a blank before it.
        (r"░(?= ?\d+ )", "↑"),
        (r"▓(?= ?\d+ )", "↓"),
        (r"^([\W_]*)&(?= ?\+?\d+ )", r"\1…"),
        (r"(?<=\w)&(?=[\"'`)\]]? *[│┃]?$)", "…"),
        # The corners of a rounded box, beside its lines.
        (r"m(?=─{3})", "╭"),
        (r"(?<=─{3})n", "╮"),
        (r"p(?=─{3})", "╰"),
        (r"(?<=─{3})o", "╯"),
        # The pointer at the chosen answer of a list: `❯ 1. Yes`, and Codex's `›`.
        (r"(?:(?<=^)|(?<=[│┃ ]))o(?=[ \xa0]+\d{1,2}[.)] )", "❯"),
        (r"(?:(?<=^)|(?<=[│┃ ])):(?=[ \xa0]+\d{1,2}[.)] )", "›"),
        # A prompt below a line drawn across.
        (r"(?<=─{3}\n)o(?=[ \xa0]|$)", "❯"),
        (r"(?<=─{3}\n│ )o(?=[ \xa0]|$)", "❯"),
        # The bullets before an agent's texts and actions.
        (r"(?<=^)\xcf(?= )", "●"),
        (r"(?<=^)\xfa(?= )", "⏺"),
        (r"^( *)\xbf(?=[ \xa0])", r"\1⎿"),
        # `✻ Mending… (3s · esc to interrupt)`: both ends of the verb that shows work.
        (r'^[";=36\xb7*](?= \w[\w ]{0,40}& \((?:\d+[ms]|esc ))', "✻"),
        (r"(?<=^✻ )(\w[\w ]{0,40})&(?= \((?:\d|esc ))", r"\1…"),
        (r'^[";=36\xb7*\xd0-\xd3](?= Thinking…)', "✻"),
    )
]


def decode(data: bytes, *, keeps_text: bool) -> list[str]:
    """
    Return the rows in the file's *data*, from the top; at most `MAX_ROWS` of `MAX_COLUMNS`.

    *keeps_text*: Screen 5 or later wrote it. If it is not UTF-8 nevertheless, it is read as an older one's.
    """
    limited = data[: 4 * MAX_ROWS * MAX_COLUMNS]
    if keeps_text:
        try:
            return _rows(limited.decode("utf-8"))
        except UnicodeDecodeError:
            pass
    text = limited.decode("latin-1")
    for pattern, whole in _WRITTEN:
        text = pattern.sub(whole, text)
    text = text.translate(_DRAWN).translate(_UNDRAWN)
    for pattern, repair in _REPAIRS:
        text = pattern.sub(repair, text)
    return _rows(text)


def _rows(text: str) -> list[str]:
    return [row[:MAX_COLUMNS] for row in text.removesuffix("\n").split("\n")[:MAX_ROWS]]
