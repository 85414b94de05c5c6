"""
kitty's session files: the windows in one, and the command that the shell of each runs first. Pure.

Only what kitty itself has saved (`save_as_session`) is understood: one `launch` a window, whose first word tells the
window's number in the kitty that saved it. https://sw.kovidgoyal.net/kitty/sessions/ and `serialize_state_as_session`
in kitty's tabs.py, 0.43 to 0.48.
"""

from __future__ import annotations

import itertools
import json
import posixpath
import shlex
from collections.abc import Mapping, Sequence

import attrs

from tallylight.model.errors import DecodeError
from tallylight.model.limits import MAX_EXACT
from tallylight.wire import values

#: Windows that are read of one file, and characters of one.
MAX_WINDOWS, MAX_CHARS = 1000, 1 << 20
_FLAG = "kitty-unserialize-data="
#: What the shell of a window runs first.
_STARTUP = "cmd_at_shell_startup"


@attrs.frozen
class SavedWindow:
    """
    A window of a session file: the number of its line from 0, its id in the kitty that saved it, and its directory.

    *program* is what it runs in the place of a shell, if it does.
    """

    line: int
    id: int
    cwd: str
    program: tuple[str, ...] = ()


def windows(text: str, folder: str) -> list[SavedWindow]:
    """The windows in *text*, a file in *folder*, where relative directories begin."""
    found: list[SavedWindow] = []
    of_tab = folder
    for number, line in enumerate(text[:MAX_CHARS].splitlines()):
        verb, _, rest = line.strip().partition(" ")
        if verb in ("new_tab", "new_os_window"):
            of_tab = folder
        elif verb == "cd":
            of_tab = posixpath.normpath(posixpath.join(folder, rest.strip()))
        elif verb == "launch" and len(found) < MAX_WINDOWS and (words := _words(rest)) is not None:
            saved = _saved(words[0])
            if saved is not None and (id_ := values.integer(saved.get("id"), 1, MAX_EXACT)) is not None:
                own = next((word.partition("=")[2] for word in words[1:] if word.startswith("--cwd=")), "")
                cwd = posixpath.normpath(posixpath.join(folder, own)) if own else of_tab
                found.append(SavedWindow(number, id_, cwd, tuple(words[1 + len(_options(words)) :])))
    return found


def with_commands(text: str, commands: Mapping[int, Sequence[str]]) -> str:
    """
    *text* with *commands*, by the lines of their windows, as what their shells run first; the rest byte for byte.

    A window that runs a program in the place of a shell runs the command in the place of that program.
    """
    lines = text.splitlines(keepends=True)
    for number, argv in commands.items():
        line = lines[number]
        words = _words(line.strip().partition(" ")[2])
        saved = _saved(words[0]) if words is not None else None
        assert words is not None and saved is not None
        options = _options(words)
        has_shell = len(options) == len(words) - 1
        first = _FLAG + json.dumps({**saved, _STARTUP: list(argv)} if has_shell else saved)
        end = line[len(line.rstrip("\r\n")) :]
        lines[number] = shlex.join(["launch", first, *options, *(() if has_shell else argv)]) + end
    return "".join(lines)


def _options(words: Sequence[str]) -> list[str]:
    """The options of a `launch`: kitty writes each as one word."""
    return list(itertools.takewhile(lambda word: word.startswith("--"), words[1:]))


def _words(rest: str) -> list[str] | None:
    """The words behind `launch`; None if there are none, or their quotes do not match."""
    try:
        return shlex.split(rest) or None
    except ValueError:
        return None


def _saved(word: str) -> dict[str, object] | None:
    """What kitty noted of the window."""
    if not word.startswith(_FLAG):
        return None
    try:
        found = values.load(word.removeprefix(_FLAG).encode())
    except DecodeError:
        return None
    return found if isinstance(found, dict) else None
