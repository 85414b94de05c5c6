"""
kitty's session files: their windows, and the first command of each window's shell. Pure.

Only files that kitty itself saved (`save_as_session`) are understood: one `launch` for each window, with the window's
number in the kitty that saved it in its first word. https://sw.kovidgoyal.net/kitty/sessions/ and
`serialize_state_as_session` in kitty's tabs.py, 0.43 to 0.49.
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

#: The most windows and characters that are read of one file.
MAX_SESSION_WINDOWS, MAX_SESSION_FILE_CHARS = 1000, 1 << 20
_FLAG = "kitty-unserialize-data="
#: The key for the first command of a window's shell.
_STARTUP = "cmd_at_shell_startup"


@attrs.frozen
class SavedWindow:
    """
    A window of a session file: the number of its line from 0, its id in the kitty that saved it, and its directory.

    *program* is the one that it runs in place of a shell; empty if it does not.
    """

    line: int
    id: int
    cwd: str
    program: tuple[str, ...] = ()


def windows(text: str, folder: str) -> list[SavedWindow]:
    """Return the windows in *text*, a file in *folder*, where relative directories begin."""
    found: list[SavedWindow] = []
    of_tab = folder
    for number, line in enumerate(text[:MAX_SESSION_FILE_CHARS].splitlines()):
        verb, _, rest = line.strip().partition(" ")
        if verb in ("new_tab", "new_os_window"):
            of_tab = folder
        elif verb == "cd":
            of_tab = posixpath.normpath(posixpath.join(folder, rest.strip()))
        elif len(found) < MAX_SESSION_WINDOWS and (launch := _launch(line)) is not None:
            saved, options, program = launch
            if (id_ := values.integer(saved.get("id"), 1, MAX_EXACT)) is not None:
                own = next((option.partition("=")[2] for option in options if option.startswith("--cwd=")), "")
                cwd = posixpath.normpath(posixpath.join(folder, own)) if own else of_tab
                found.append(SavedWindow(number, id_, cwd, tuple(program)))
    return found


def with_commands(text: str, commands: Mapping[int, Sequence[str]]) -> str:
    """
    Return *text* with *commands*, by window line, as the first command of each shell; all else is unchanged.

    A window that runs a program in place of a shell runs the command in place of that program.
    """
    lines = text.splitlines(keepends=True)
    for number, argv in commands.items():
        line, launch = lines[number], _launch(lines[number])
        assert launch is not None
        saved, options, program = launch
        first = _FLAG + json.dumps(saved if program else {**saved, _STARTUP: list(argv)})
        end = line[len(line.rstrip("\r\n")) :]
        lines[number] = shlex.join(["launch", first, *options, *(argv if program else ())]) + end
    return "".join(lines)


def _launch(line: str) -> tuple[dict[str, object], list[str], list[str]] | None:
    """
    Return kitty's notes on a window, its options, one word each, and the program in place of a shell.

    None for a line that is no `launch` of a saved window, or has unbalanced quotes.
    """
    verb, _, rest = line.strip().partition(" ")
    try:
        first, *words = shlex.split(rest) if verb == "launch" else [""]
        saved = values.load(first.removeprefix(_FLAG).encode()) if first.startswith(_FLAG) else None
    except (ValueError, DecodeError):
        return None
    options = list(itertools.takewhile(lambda word: word.startswith("--"), words))
    return (saved, options, words[len(options) :]) if isinstance(saved, dict) else None
