"""
A `wezterm.lua`, read to find out which lines it needs for Tallylight and where. Pure: nothing is run or written.

Two places matter. `require` has to come before any `format-tab-title` handler is registered, since WezTerm calls the
first one alone. `apply_to_config` needs the variable of the configuration, just before the file returns it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallylight.model.errors import TallyError

#: Loads Tallylight if it is there.
LOAD = "local has_tallylight, tallylight = pcall(require, 'tallylight')"
_TOKEN = re.compile(
    r"--(?P<comment>\[=*\[)?|(?P<long>\[=*\[)|(?P<quote>['\"])|(?P<word>[A-Za-z_]\w*)|(?P<open>[(\[{])|(?P<close>[)\]}])"
)
_OPENS, _CLOSES = frozenset({"function", "do", "if", "repeat"}), frozenset({"end", "until"})
_NAME = re.compile(r"\s*\(?\s*([A-Za-z_]\w*)\s*\)?\s*;?\s*\Z")
_HANDLER = re.compile(r"\bon\s*\(?\s*(['\"])format-tab-title\1")


def apply(name: str) -> str:
    """Return the line that lights the tabs of the configuration in the variable *name*."""
    return f"if has_tallylight then tallylight.apply_to_config({name}) end"


class Edit(NamedTuple):
    """One edit by hand: *text* goes before the line, counted from 1, or replaces *old* in it; 0 is the end."""

    line: int
    text: str
    old: str = ""

    @property
    def where(self) -> str:
        """The instruction, without the text."""
        if self.old:
            return f"in line {self.line}, instead of `{self.old}`, write"
        return (
            "at the end, add"
            if self.line == 0
            else "at the top, add"
            if self.line == 1
            else f"before line {self.line}, add"
        )

    def __str__(self) -> str:
        return f"{self.where} `{self.text.replace(chr(10), '; ')}`"


class Return(NamedTuple):
    """The last `return` of a file: its line, and the variable that it returns."""

    line: int
    #: The variable that the file returns; "" where it returns another value.
    name: str


def edits(source: str) -> list[Edit]:
    """Return the edits for this file. The `TallyError` has the instruction where the places cannot be found."""
    found = _returned(source)
    if found is None:
        raise TallyError(
            f"it has no `return` of its own at its end. Put `{LOAD}` at its top, and `{apply('config')}` before each "
            "`return`, with the variable that is returned there in place of `config`"
        )
    top = Edit(1, LOAD)
    if found.name:
        return [top, Edit(found.line, apply(found.name))]
    return [top, Edit(found.line, "local config =", "return"), Edit(0, f"{apply('config')}\nreturn config")]


def is_late(source: str) -> bool:
    """Return whether Tallylight is loaded only after a `format-tab-title` handler of the same file was registered."""
    code = without_comments(source)
    handler, loaded = _HANDLER.search(code), re.search(r"\brequire\b[^\n]*\btallylight\b", code)
    return handler is not None and loaded is not None and handler.start() < loaded.start()


def without_comments(source: str) -> str:
    """Return the same text with blanks for its comments."""
    return "".join(
        re.sub(r"[^\n]", " ", source[start:end]) if kind == "comment" else source[start:end]
        for kind, start, end in _pieces(source)
    )


def _pieces(source: str) -> list[tuple[str, int, int]]:
    """Return the parts of a Lua file, each a kind, a start and an end: comments, strings, words, brackets, others."""
    pieces, at = [], 0
    while (found := _TOKEN.search(source, at)) is not None:
        pieces.append(("other", at, found.start()))
        kind, end = _ended(source, found)
        pieces.append((kind, found.start(), end))
        at = end
    return [*pieces, ("other", at, len(source))]


def _ended(source: str, found: re.Match[str]) -> tuple[str, int]:
    """Return the kind of the part that begins with *found*, and its end; that of the file where it is open."""
    bracket = found["comment"] or found["long"]
    if bracket:
        end = source.find(bracket.replace("[", "]"), found.end())
        return "comment" if found["comment"] else "string", len(source) if end < 0 else end + len(bracket)
    if found["quote"]:
        string = re.compile(rf"(?:\\.|[^\\\n{found['quote']}])*{found['quote']}?", re.S).match(source, found.end())
        return "string", string.end() if string else found.end()
    if found[0] == "--":
        end = source.find("\n", found.end())
        return "comment", len(source) if end < 0 else end
    return str(found.lastgroup), found.end()


def _returned(source: str) -> Return | None:
    """Return the last `return` of the file itself, outside every block; None if there is none."""
    depth, at, end = 0, -1, -1
    for kind, start, stop in _pieces(source):
        word = source[start:stop]
        if kind == "open" or (kind == "word" and word in _OPENS):
            depth += 1
        elif kind == "close" or (kind == "word" and word in _CLOSES):
            depth -= 1
        elif word == "return" and kind == "word" and depth == 0:
            at, end = start, stop
    if at < 0:
        return None
    name = _NAME.match(without_comments(source[end:]))
    is_name = name is not None and name[1] not in ("nil", "true", "false")
    return Return(source.count("\n", 0, at) + 1, name[1] if name is not None and is_name else "")
