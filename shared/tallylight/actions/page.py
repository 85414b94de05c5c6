"""The parts of pages that a person agrees to: lines, words that are broken and never cut, keys. Pure."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Sequence

from tallylight.wire.text import sanitise, width

#: A run of text and how it is drawn: `title`, `key`, `dim`, `bad`, or plain.
Piece = tuple[str, str]
Line = tuple[Piece, ...]


class Place(enum.StrEnum):
    """The place of the new pane, by the words of the command line."""

    VSPLIT = "vsplit"
    HSPLIT = "hsplit"
    TAB = "tab"
    OS_WINDOW = "os-window"

    @property
    def words(self) -> str:
        """The same for a person."""
        return next(words for place, _, words in PLACES.values() if place is self)


#: The place by its key, with the label of the key, and the words for a person.
PLACES = {
    "p": (Place.VSPLIT, "beside", "a pane beside this one"),
    "b": (Place.HSPLIT, "below", "a pane below this one"),
    "t": (Place.TAB, "tab", "a new tab"),
    "o": (Place.OS_WINDOW, "OS window", "a new OS window"),
}


class Act(enum.Enum):
    """The effect of a key on a page."""

    STAY = enum.auto()
    GO = enum.auto()
    LEAVE = enum.auto()


def sentence(text: str) -> str:
    """Return *text* with a capital and a dot."""
    return f"{text[:1].upper()}{text[1:]}."


def command_line(argv: Sequence[str]) -> str:
    """Return *argv* quoted as for a shell, so that every argument is distinct from its neighbours."""
    return " ".join(exact(word) for word in argv)


def _clean(text: str) -> str:
    return sanitise(text, cells=4096)


def exact(word: str) -> str:
    """Return *word* in a form that no other word has: characters that cannot be shown are spelled out."""
    quoted = shlex.quote(word)
    return quoted if quoted.isprintable() and _clean(quoted) == quoted else ascii(word)


def flow(words: Sequence[str], columns: int) -> list[str]:
    """Return lines with as many *words* as fit; one that fits no line is broken, never cut."""
    rows: list[str] = []
    line = ""
    for word in words:
        for part in _broken(word, columns):
            joined = f"{line} {part}" if line else part
            if width(joined) > columns:
                rows.append(line)
                joined = part
            line = joined
    return [*rows, line] if line else rows


def _broken(word: str, columns: int) -> list[str]:
    """Return *word* in pieces of at most so many columns."""
    parts = [""]
    for character in word:
        if width(parts[-1] + character) > columns:
            parts.append("")
        parts[-1] += character
    return parts


def facts(name: str, text: str, columns: int) -> list[Line]:
    """Return *text* in lines, behind its *name*."""
    first, *rest = flow(_clean(text).split(" "), max(4, columns - 9)) or [""]
    return [(("dim", f"  {name:<7}"), ("", first)), *((("", f"{'':9}{line}"),) for line in rest)]


def wrapped(text: str, columns: int, style: str = "") -> list[Line]:
    """Return *text* in lines of so many columns, two of them blank."""
    return [(("", "  "), (style, line)) for line in flow(_clean(text).split(" "), columns - 2)]


def fitted(lines: Sequence[Line], columns: int) -> list[Line]:
    """Return *lines*, with those that are wider than the screen broken."""
    fitted: list[Line] = []
    for line in lines:
        rows: list[list[Piece]] = [[]]
        left = columns
        for style, text in line:
            for character in text if width(text) > left else (text,):
                if width(character) > left and rows[-1]:
                    rows.append([])
                    left = columns
                rows[-1].append((style, character))
                left -= width(character)
        fitted += [tuple(row) for row in rows]
    return fitted


def key_lines(keys: Sequence[tuple[str, str]], columns: int) -> list[Line]:
    """Return *keys* with their effects, in as few lines of so many columns as hold them."""
    rows: list[list[Piece]] = [[]]
    used = 0
    for key, what in keys:
        size = 2 + len(key) + 1 + len(what)
        if used and used + size > columns:
            rows.append([])
            used = 0
        rows[-1] += [("", "  "), ("key", key), ("", f" {what}")]
        used += size
    return [tuple(row) for row in rows]
