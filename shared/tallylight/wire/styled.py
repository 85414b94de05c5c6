"""
Styled text: the contents of a screen with their colours, from text with SGR sequences (ECMA-48 8.3.117).

In: a screen as written by kitty, `tmux capture-pane -e` or `wezterm cli get-text --escapes`; none of it is trusted.
Out: lines of `Run`s, with sanitised text (`wire.text`) and a style. Only SGR and sized text (OSC 66,
https://sw.kovidgoyal.net/kitty/text-sizing-protocol/) are read; all other sequences, hyperlinks too, are removed. It
never raises, takes linear time, and no line has more than its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tallylight.model import attributes
from tallylight.wire.text import sanitise, width

#: The most rows and columns of a screen, and characters of a row with its sequences. The rest is left out.
MAX_ROWS, MAX_COLUMNS, MAX_STYLED_ROW_CHARS = 500, 1000, 64 * 1024
#: The most parameters of one SGR sequence.
_MAX_PARAMETERS = 64
_TAB = 8
#: The most characters of the sizes of sized text, and the largest scale or number of cells.
_MAX_SIZES, _MAX_TEXT_SIZE = 64, 7

#: One of the 256 colours of the terminal's palette, by number (0 to 15 are the theme's); or red, green, blue, to 255.
Colour = int | tuple[int, int, int]


@attributes.frozen(kw_only=True)
class Style:
    """The look of text. A colour of None is that of the theme. *is_hidden*: the terminal does not show the text."""

    foreground: Colour | None = None
    background: Colour | None = None
    is_bold: bool = False
    is_dim: bool = False
    is_italic: bool = False
    is_underlined: bool = False
    is_reverse: bool = False
    is_struck: bool = False
    is_hidden: bool = False


PLAIN = Style()


@attributes.frozen
class Run:
    """Text of one style."""

    text: str
    style: Style = PLAIN


StyledLine = tuple[Run, ...]


@attributes.frozen(kw_only=True)
class StyledScreen:
    """
    A screen of so many *columns*: its *lines* from the top, each without the blanks at its end.

    *cursor* is the row and the column of the cursor, from 0; None if it is hidden or unknown.
    """

    columns: int
    lines: tuple[StyledLine, ...]
    cursor: tuple[int, int] | None = None


_TOKEN = re.compile(
    r"\x1b\[(?P<sgr>[0-9:;]*)m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"
    r"|\x1b\]66;(?P<sizes>[^;\x07\x1b\x9c]*);(?P<sized>[^\x07\x1b\x9c]*)(?:\x07|\x9c|\x1b\\|\Z)"
    # OSC, DCS, SOS, PM, APC: to their end, or that of the line.
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\|\Z)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<shift>[\x0e\x0f])"
    r"|(?P<text>[^\x1b\x0e\x0f]+)"
)
#: DEC special graphics, from `_` on: what line drawing was before Unicode, and what tmux writes for it still.
_GRAPHICS = dict(zip(range(0x5F, 0x7F), " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
_SET = {1: "is_bold", 2: "is_dim", 3: "is_italic", 4: "is_underlined", 7: "is_reverse", 8: "is_hidden", 9: "is_struck",
        21: "is_underlined"}  # fmt: skip
_RESET = {22: ("is_bold", "is_dim"), 23: ("is_italic",), 24: ("is_underlined",), 27: ("is_reverse",),
          28: ("is_hidden",), 29: ("is_struck",), 39: ("foreground",), 49: ("background",)}  # fmt: skip
#: The changes by a single parameter: an attribute set or reset, or one of the sixteen colours.
_CHANGES: dict[int, dict[str, object]] = {
    **{number: {name: True} for number, name in _SET.items()},
    **{number: {name: getattr(PLAIN, name) for name in names} for number, names in _RESET.items()},
    **{
        first + number: {name: offset + number}
        for first, name, offset in (
            (30, "foreground", 0),
            (40, "background", 0),
            (90, "foreground", 8),
            (100, "background", 8),
        )
        for number in range(8)
    },
}


def read_screen(
    lines: Iterable[str], columns: int, rows: int = MAX_ROWS, cursor: tuple[int, int] | None = None
) -> StyledScreen:
    """Return the screen of *rows* by *columns* with the text and sequences of *lines*, from the top."""
    reader = Reader(columns)
    read = [reader.line(line) for line, _ in zip(lines, range(min(rows, MAX_ROWS)), strict=False)]
    while read and not read[-1]:
        read.pop()
    return StyledScreen(columns=reader.columns, lines=tuple(read), cursor=cursor)


class Reader:
    """Reads the lines of one screen of *columns* columns, in order: a style continues in the next line."""

    def __init__(self, columns: int) -> None:
        self.columns = max(1, min(columns, MAX_COLUMNS))
        self._style = PLAIN
        self._is_graphics = False

    def line(self, text: str) -> StyledLine:
        """Read the next line."""
        runs: list[Run] = []
        column = 0
        for token in _TOKEN.finditer(text[:MAX_STYLED_ROW_CHARS]):
            if (sgr := token["sgr"]) is not None:
                self._style = apply(self._style, sgr)
            elif token["shift"] is not None:
                self._is_graphics = token["shift"] == "\x0e"
            elif (words := token["text"] or token["sized"]) is not None and column < self.columns:
                drawn = self._drawn(words, column)
                if token["sizes"] is not None:
                    drawn = _sized(drawn, token["sizes"], self.columns - column)
                if not drawn:
                    continue
                column += width(drawn)
                if runs and runs[-1].style == self._style:
                    drawn = runs.pop().text + drawn
                runs.append(Run(drawn, self._style))
        return _stripped(runs)

    def _drawn(self, text: str, column: int) -> str:
        """Return the part of *text* that is drawn from *column* on, sanitised."""
        if self._is_graphics:
            text = text.translate(_GRAPHICS)
        left = self.columns - column
        parts = []
        # Sanitising would turn a blank of two cells into one of one.
        for number, part in enumerate(text.replace("\u3000", "  ").split("\t")):
            if number and left > 0:
                tab = min(left, _TAB - (self.columns - left) % _TAB)
                parts.append(" " * tab)
                left -= tab
            if part and left > 0:
                parts.append(sanitise(part, cells=left))
                left -= width(parts[-1])
        drawn = "".join(parts)
        return " " * width(drawn) if self._style.is_hidden else drawn


def cut(line: StyledLine, columns: int, start: int = 0) -> StyledLine:
    """
    Return *columns* cells of *line* from the cell *start* on.

    A wide character across the right edge is left out; one across the left edge becomes a blank.
    """
    runs: list[Run] = []
    for run in line:
        if columns <= 0:
            break
        text, cells = run.text, width(run.text)
        if start and start >= cells:
            start -= cells
            continue
        if start:
            head = sanitise(text, cells=start)
            if width(head) < start:
                head = sanitise(text, cells=start + 1)
                text = " " + text[len(head) :]
            else:
                text = text[len(head) :]
            start, cells = 0, width(text)
        if text := sanitise(text, cells=columns):
            runs.append(attributes.evolve(run, text=text))
        columns -= cells
    return tuple(runs)


def plain(line: StyledLine) -> str:
    return "".join([run.text for run in line])


def apply(style: Style, parameters: str) -> Style:
    """Return *style* changed by the SGR *parameters*, `1;38:2::255:0:0`. An unknown parameter does nothing."""
    changes: dict[str, object] = {}
    words = iter(parameters.split(";", _MAX_PARAMETERS)[:_MAX_PARAMETERS])
    for word in words:
        number, *more = [_number(part) for part in word.split(":", 8)[:8]]
        if number == 0:
            style, changes = PLAIN, {}
        elif number == 4 and more[:1] == [0]:
            changes["is_underlined"] = False
        elif number in _CHANGES:
            changes |= _CHANGES[number]
        elif number in (38, 48, 58):
            colour = _colour_of(more) if more else _colour_behind(words)
            # 58 is the colour of an underline, which is not kept; what it takes is.
            if colour is not None and number != 58:
                changes["foreground" if number == 38 else "background"] = colour
    return attributes.evolve(style, **changes) if changes else style  # type: ignore[arg-type]


def _colour_behind(words: Iterator[str]) -> Colour | None:
    """Return the colour of `38;5;N` or `38;2;R;G;B`; its words after `38` are removed."""
    kind = _number(next(words, ""))
    return _colour_of([kind, *(_number(next(words, "")) for _ in range({5: 1, 2: 3}.get(kind, 0)))])


def _colour_of(numbers: list[int]) -> Colour | None:
    """Return the colour of `5:N`, `2:R:G:B` or `2:SPACE:R:G:B`; None for any other."""
    if not all(0 <= number <= 255 for number in numbers):
        return None
    match numbers:
        case [5, index]:
            return index
        case [2, red, green, blue] | [2, _, red, green, blue, *_]:
            return red, green, blue
    return None


def _sized(text: str, sizes: str, left: int) -> str:
    """Return *text* padded to the cells that the *sizes* of OSC 66 give it, `s=2:w=2`, and cut to *left* cells."""
    numbers = {"s": 1, "w": 0}
    for part in sizes[:_MAX_SIZES].split(":"):
        name, _, value = part.partition("=")
        if name in numbers and value.isascii() and value.isdigit():
            numbers[name] = min(int(value[:2]), _MAX_TEXT_SIZE)
    cells = min(numbers["s"] * (numbers["w"] or width(text)), left)
    shown = sanitise(text, cells=cells) if cells else ""
    return shown + " " * (cells - width(shown))


def _number(word: str) -> int:
    """Return a parameter as a number: 0 for an empty one, an unknown number for a too large one."""
    return int(word) if 0 < len(word) < 6 else 0 if not word else 65_536


def _stripped(runs: list[Run]) -> StyledLine:
    """Return *runs* without invisible blanks at the end."""
    while runs:
        last = runs[-1]
        if (
            last.style.background is not None
            or last.style.is_reverse
            or last.style.is_underlined
            or last.style.is_struck
        ):
            break
        text = last.text.rstrip(" ")
        if text:
            runs[-1] = attributes.evolve(last, text=text)
            break
        runs.pop()
    return tuple(runs)
