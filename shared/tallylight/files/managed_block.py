"""
The managed block: the only text that is ever put into a file of the user.

It takes and returns text; nothing here reads or writes files. The block is one `include` of our own file, or one
`source-file` in a tmux.conf, between two sentinels in kitty's style:

    # BEGIN_TALLYLIGHT
    include /home/me/.local/share/tallylight/kitty.conf
    # END_TALLYLIGHT

Two laws hold for every text: `insert(insert(t)) == insert(t)`, and `remove(insert(t)) == t` to the byte if *t* has no
sentinel. A person's lines between or after the sentinels survive both. Bytes that are not UTF-8 pass through if the
text was decoded with `surrogateescape`, like `decode`.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

BEGIN = "# BEGIN_TALLYLIGHT"
END = "# END_TALLYLIGHT"
#: The first sentinel if the line before had no line end, so that `remove` can restore it.
BEGIN_BARE = f"{BEGIN} (the line before had no end)"
_SENTINELS = (BEGIN, BEGIN_BARE, END)

#: The three line ends of kitty, which are those of Python's `open`. `str.splitlines` would also split at a form feed.
_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(rf"[^\r\n]*(?:{_END.pattern})|[^\r\n]+")
#: An include of our file, with any data directory.
_OURS = re.compile(r"\s*(?:include\s+\S.*/tallylight/kitty\.conf|source-file -q \S.*/tallylight/tmux\.conf\")\s*")
_INCLUDE = re.compile(r"\s*include\s+(.*\S)\s*")


def decode(data: bytes) -> str:
    """Return the bytes of a file as text; `encode` returns the same bytes again in any case."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def include_line(path: str) -> str:
    """
    Return the line that makes kitty read *path*.

    The rest of the line is the path, with its spaces, but kitty expands variables in it: `$$` is a literal `$`.
    """
    return "include " + path.replace("$", "$$")


def portable_include_line(path: str, home: str) -> str:
    """Return the same line for a kitty.conf that machines with another *home* read, too: `include ${HOME}/…`."""
    rest = path.removeprefix(f"{home.rstrip('/')}/")
    return f"include ${{HOME}}/{rest.replace('$', '$$')}" if rest != path else include_line(path)


def is_included(text: str, path: str, home: str) -> bool:
    """Return whether a person's own line includes *path*, with or without a word for *home* in it."""
    there = {include_line(path).removeprefix("include ")}
    rest = portable_include_line(path, home).removeprefix("include ${HOME}/")
    if not rest.startswith("include "):
        there |= {f"{word}/{rest}" for word in ("~", "$HOME", "${HOME}")}
    return not there.isdisjoint(includes(text))


def watcher_line(path: str) -> str:
    """Return the line that makes kitty load *path* as a watcher, with variables escaped as in an include."""
    return "watcher " + path.replace("$", "$$")


def path_problem(path: str) -> str:
    """Return why *path* cannot be written into kitty.conf; empty if it can."""
    if path != path.strip() or any(c < " " or c == "\x7f" for c in path):
        return "it begins or ends with a space, or holds a control character"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "it is not UTF-8, and kitty reads its configuration as UTF-8"
    return ""


class Part(NamedTuple):
    """
    A run of lines: the user's, or if *ours*, our block. *foreign* are lines that a person put into the block.

    *bare*: the line before a whole block had no line end.
    """

    text: str
    ours: bool = False
    whole: bool = False
    foreign: str = ""
    bare: bool = False


def lines(text: str) -> list[str]:
    """Return the lines of *text* with their ends; joined they are *text*."""
    return _LINE.findall(text)


def parts(text: str) -> list[Part]:
    """
    Split *text* into the user's runs and our blocks; joined they are *text*.

    A sentinel without its partner is a damaged block of that line alone, and of our include after it: lines after a
    lost sentinel stay the user's.
    """
    found: list[Part] = []
    todo = lines(text)
    i = 0
    while i < len(todo):
        word = todo[i].strip()
        if word not in _SENTINELS:
            start = i
            while i < len(todo) and todo[i].strip() not in _SENTINELS:
                i += 1
            found.append(Part("".join(todo[start:i])))
            continue
        start = i
        i += 1
        if word != END:
            close = next((j for j in range(i, len(todo)) if todo[j].strip() in _SENTINELS), None)
            if close is not None and todo[close].strip() == END:
                inside = todo[i:close]
                i = close + 1
                foreign = "".join(line for line in inside if not _OURS.fullmatch(line) and line.strip())
                bare = word == BEGIN_BARE
                found.append(Part("".join(todo[start:i]), ours=True, whole=True, foreign=foreign, bare=bare))
                continue
            if i < len(todo) and _OURS.fullmatch(todo[i]):
                i += 1
        found.append(Part("".join(todo[start:i]), ours=True))
    return found


def blocks(text: str) -> list[Part]:
    """Return our blocks in *text*, also damaged ones."""
    return [part for part in parts(text) if part.ours]


def includes(text: str) -> list[str]:
    """Return the paths of every `include` in the user's own lines, as written."""
    runs = (part.text for part in parts(text) if not part.ours)
    return [m[1] for run in runs for line in lines(run) if (m := _INCLUDE.fullmatch(line))]


def insert(text: str, body: str) -> str:
    """
    Return *text* with one block that contains *body*: in place of an earlier block, else at the end.

    The block has the line ends of the text, and always a final one, so that an appended line stays a line.
    """
    split = parts(text)
    rest = _theirs(split)
    first = _END.search(rest)
    end = first[0] if first is not None else "\n"
    place = next((i for i, part in enumerate(split) if part.whole), None)
    if place is None:
        is_bare = bool(rest) and rest[-1] not in "\r\n"
        before, behind = rest + end * is_bare, ""
    else:
        is_bare = split[place].bare
        before, behind = _theirs(split[:place]), _theirs(split[place:])
        # A `\r` before the next line end would become one with it: `\r\n`.
        end = "\n" if end == "\r" and behind.startswith("\n") else end
    return before + "".join(line + end for line in (BEGIN_BARE if is_bare else BEGIN, body, END)) + behind


def remove(text: str) -> str:
    """Return *text* without our blocks."""
    split = parts(text)
    made = _theirs(split)
    if split and split[-1].bare and not split[-1].foreign:
        return made[:-2] if made.endswith("\r\n") else made[:-1]
    return made


def diff(name: str, before: str, after: str) -> str:
    """Return the change as a unified diff. Control characters of the file become visible signs."""

    def shown(text: str) -> list[str]:
        rows = (line.rstrip("\r\n") for line in lines(text))
        return ["".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in row) for row in rows]

    rows = difflib.unified_diff(shown(before), shown(after), name, name + " (new)", lineterm="")
    return "".join(row + "\n" for row in rows)


def _theirs(split: list[Part]) -> str:
    return "".join(part.foreign if part.ours else part.text for part in split)
