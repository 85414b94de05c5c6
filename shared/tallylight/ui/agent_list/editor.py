"""
The editor of the list: a text of one or more lines, and its cursor.

`pressed` applies a key, `inserted` a paste, and `rows_of` lays the text out. The text is typed into an agent as it is;
`actions.say` refuses characters that nobody could see.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from tallylight.actions.say import MAX_TYPED
from tallylight.ui.layout import chop
from tallylight.wire.text import sanitise, width

#: The keys that begin a new line; Enter sends.
NEW_LINE = ("alt+enter", "shift+enter", "ctrl+enter", "ctrl+j")
_LINE_END = re.compile(r"\r\n?")
#: Characters that a terminal would not paste either, and ones that could not be encoded.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MAX_DRAFT_CELLS = MAX_TYPED * 2


@attrs.frozen
class Editor:
    """A *text*, and the index of the character behind its cursor."""

    text: str = ""
    cursor: int = 0

    @property
    def before(self) -> str:
        """The text before the cursor."""
        return self.text[: self.cursor]

    @property
    def after(self) -> str:
        """The text behind the cursor."""
        return self.text[self.cursor :]


def inserted(editor: Editor, text: str) -> Editor:
    """Return the editor with *text* inserted at the cursor; characters beyond `MAX_TYPED` are left out."""
    clean = _CONTROLS.sub("", _LINE_END.sub("\n", text))[: MAX_TYPED - len(editor.text)]
    return Editor(editor.before + clean + editor.after, editor.cursor + len(clean))


def has_room(editor: Editor, text: str) -> bool:
    """Return whether all of *text* can be inserted."""
    return len(editor.text) + len(_LINE_END.sub("\n", text)) <= MAX_TYPED


def pressed(editor: Editor, name: str) -> Editor | None:
    """Return the editor after a key; None for a key that it does not use."""
    if name in NEW_LINE:
        return inserted(editor, "\n")
    if (change := _KEYS.get(name)) is not None:
        return change(editor)
    return inserted(editor, name) if len(name) == 1 else None


def line_pressed(text: str, name: str) -> str | None:
    """Return a *text* of one line, with the cursor at its end, after a key; None if the key is not used."""
    if name == "backspace":
        return text[:-1]
    return "" if name == "ctrl+u" else text + name if len(name) == 1 else None


def rows_of(editor: Editor, columns: int) -> tuple[list[str], tuple[int, int]]:
    """Return the text in rows of at most *columns*, for display; and the row and the column of the cursor."""
    rows: list[str] = []
    place = (0, 0)
    begin = 0
    for line in editor.text.split("\n"):
        if begin <= editor.cursor <= begin + len(line):
            before = chop(_shown(line[: editor.cursor - begin]), columns)
            place = (len(rows) + len(before) - 1, width(before[-1]))
        rows += chop(_shown(line), columns)
        begin += len(line) + 1
    if place[1] >= columns:
        place = (place[0] + 1, 0)
        if place[0] == len(rows):
            rows.append("")
    return rows, place


def _shown(line: str) -> str:
    return sanitise(line.replace("\t", "    "), cells=_MAX_DRAFT_CELLS * 4)


# Keys ------------------------------------------------------------------------------------------------------------


def _left(editor: Editor) -> Editor:
    """Move the cursor back by one character, with all marks that combine with it."""
    cursor = editor.cursor - 1
    while cursor > 0 and _is_mark(editor.text[cursor]):
        cursor -= 1
    return attrs.evolve(editor, cursor=max(0, cursor))


def _right(editor: Editor) -> Editor:
    """Move the cursor on by one character, with all marks that combine with it."""
    cursor = editor.cursor + 1
    while cursor < len(editor.text) and _is_mark(editor.text[cursor]):
        cursor += 1
    return attrs.evolve(editor, cursor=min(len(editor.text), cursor))


def _is_mark(char: str) -> bool:
    """
    Return whether *char* combines with the one before it. It is measured behind another one: alone it would be dropped.
    """
    return not char.isascii() and width(sanitise(f"x{char}")) < 2


def _to_line_start(editor: Editor) -> Editor:
    return attrs.evolve(editor, cursor=editor.before.rfind("\n") + 1)


def _to_line_end(editor: Editor) -> Editor:
    end = editor.text.find("\n", editor.cursor)
    return attrs.evolve(editor, cursor=len(editor.text) if end < 0 else end)


def _up(editor: Editor) -> Editor:
    """Move the cursor to the line above, into the same column if that line is long enough."""
    begin = editor.before.rfind("\n") + 1
    if not begin:
        return attrs.evolve(editor, cursor=0)
    above = editor.text.rfind("\n", 0, begin - 1) + 1
    return attrs.evolve(editor, cursor=min(above + editor.cursor - begin, begin - 1))


def _down(editor: Editor) -> Editor:
    """Move the cursor to the line below, into the same column if that line is long enough."""
    begin, end = editor.before.rfind("\n") + 1, editor.text.find("\n", editor.cursor)
    if end < 0:
        return attrs.evolve(editor, cursor=len(editor.text))
    below = editor.text.find("\n", end + 1)
    last = len(editor.text) if below < 0 else below
    return attrs.evolve(editor, cursor=min(end + 1 + editor.cursor - begin, last))


def _without(editor: Editor, begin: int, end: int) -> Editor:
    return Editor(editor.text[:begin] + editor.text[end:], begin)


_KEYS: dict[str, Callable[[Editor], Editor]] = {
    "left": _left,
    "right": _right,
    "up": _up,
    "down": _down,
    "home": _to_line_start,
    "ctrl+a": _to_line_start,
    "end": _to_line_end,
    "ctrl+e": _to_line_end,
    "backspace": lambda editor: _without(editor, _left(editor).cursor, editor.cursor),
    **dict.fromkeys(("delete", "ctrl+d"), lambda editor: _without(editor, editor.cursor, _right(editor).cursor)),
    "ctrl+w": lambda editor: _without(
        editor, max(editor.before.rstrip().rfind(blank) for blank in " \n\t") + 1, editor.cursor
    ),
    "ctrl+u": lambda editor: _without(editor, _to_line_start(editor).cursor, editor.cursor),
    "ctrl+k": lambda editor: _without(editor, editor.cursor, _to_line_end(editor).cursor),
}
