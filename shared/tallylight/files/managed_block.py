"""
The managed block: the only text that is ever put into a file of the user's.

Text goes in and text comes out; nothing here reads or writes. The block is fenced by two sentinels in kitty's own
style and holds one `include` of a file that we own, or in a tmux.conf one `source-file`:

    # BEGIN_TALLYLIGHT
    include /home/me/.local/share/tallylight/kitty.conf
    # END_TALLYLIGHT

Two laws, for every text: `insert(insert(t)) == insert(t)`, and `remove(insert(t)) == t` to the byte if *t* holds no
sentinel. What a person wrote between the sentinels, or behind them, is theirs and survives both. Bytes that are not
UTF-8 pass through if the text was decoded with `surrogateescape`, as `decode` does.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

BEGIN = "# BEGIN_TALLYLIGHT"
END = "# END_TALLYLIGHT"
#: The first of them where the line before had no end of its own, so that `remove` knows.
BEGIN_BARE = f"{BEGIN} (the line before had no end)"
_SENTINELS = (BEGIN, BEGIN_BARE, END)

#: The three line ends that kitty knows, because Python's `open` does. `str.splitlines` knows more and would cut a
#: line at a form feed.
_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(rf"[^\r\n]*(?:{_END.pattern})|[^\r\n]+")
#: An include of our file, wherever the data directory was when it was written.
_OURS = re.compile(r"\s*(?:include\s+\S.*/tallylight/kitty\.conf|source-file -q \S.*/tallylight/tmux\.conf\")\s*")
_INCLUDE = re.compile(r"\s*include\s+(.*\S)\s*")


def decode(data: bytes) -> str:
    """Bytes of a file as text; `encode` gives the same bytes back, whatever they were."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def include_line(path: str) -> str:
    """
    The line that makes kitty read *path*.

    The rest of the line is the path, spaces and all, but kitty expands variables in it: `$$` is its literal `$`.
    """
    return "include " + path.replace("$", "$$")


def portable_include_line(path: str, home: str) -> str:
    """The same for a kitty.conf that other machines read too, where *home* is another: `include ${HOME}/…`."""
    rest = path.removeprefix(f"{home.rstrip('/')}/")
    return f"include ${{HOME}}/{rest.replace('$', '$$')}" if rest != path else include_line(path)


def is_included(text: str, path: str, home: str) -> bool:
    """Whether a person's own line includes *path*, with or without a word for *home* in it."""
    there = {include_line(path).removeprefix("include ")}
    rest = portable_include_line(path, home).removeprefix("include ${HOME}/")
    if not rest.startswith("include "):
        there |= {f"{word}/{rest}" for word in ("~", "$HOME", "${HOME}")}
    return not there.isdisjoint(includes(text))


def watcher_line(path: str) -> str:
    """The line that makes kitty load *path* as a watcher. It is expanded as an include is."""
    return "watcher " + path.replace("$", "$$")


def path_problem(path: str) -> str:
    """Why *path* cannot be written into kitty.conf, or nothing."""
    if path != path.strip() or any(c < " " or c == "\x7f" for c in path):
        return "it begins or ends with a space, or holds a control character"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "it is not UTF-8, and kitty reads its configuration as UTF-8"
    return ""


class Part(NamedTuple):
    """
    A run of lines: the user's, or (if *ours*) a block of ours; *foreign* are the lines that a person put into it.

    *bare*: the line before a whole one had no end of its own.
    """

    text: str
    ours: bool = False
    whole: bool = False
    foreign: str = ""
    bare: bool = False


def lines(text: str) -> list[str]:
    """The lines of *text* with their ends; joined they are *text*."""
    return _LINE.findall(text)


def parts(text: str) -> list[Part]:
    """
    Split *text* into the user's runs and our blocks; joined they are *text*.

    A sentinel without its partner is a damaged block of that line alone, and of our include after it: lines
    behind a lost sentinel are never swallowed.
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
    """Our blocks in *text*, damaged ones too."""
    return [part for part in parts(text) if part.ours]


def includes(text: str) -> list[str]:
    """The paths of every `include` in the user's own lines, as written."""
    runs = (part.text for part in parts(text) if not part.ours)
    return [m[1] for run in runs for line in lines(run) if (m := _INCLUDE.fullmatch(line))]


def insert(text: str, body: str) -> str:
    """
    *text* with one block that holds *body*: where a block of ours already is, else at the end.

    The block has the line ends of the text, and always a final one: a line that somebody appends stays a line.
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
        # With the line end behind it, a `\r` would be one: `\r\n`.
        end = "\n" if end == "\r" and behind.startswith("\n") else end
    return before + "".join(line + end for line in (BEGIN_BARE if is_bare else BEGIN, body, END)) + behind


def remove(text: str) -> str:
    """*text* without any block of ours."""
    split = parts(text)
    made = _theirs(split)
    if split and split[-1].bare and not split[-1].foreign:
        return made[:-2] if made.endswith("\r\n") else made[:-1]
    return made


def diff(name: str, before: str, after: str) -> str:
    """What would change, as a unified diff. Control characters of the file are shown, never sent to the terminal."""

    def shown(text: str) -> list[str]:
        rows = (line.rstrip("\r\n") for line in lines(text))
        return ["".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in row) for row in rows]

    rows = difflib.unified_diff(shown(before), shown(after), name, name + " (new)", lineterm="")
    return "".join(row + "\n" for row in rows)


def _theirs(split: list[Part]) -> str:
    return "".join(part.foreign if part.ours else part.text for part in split)
