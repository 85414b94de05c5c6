"""
kitty's session files: the windows in one, and the command that the shell of each runs first. Pure.

Only what kitty itself has saved (`save_as_session`) is understood: one `launch` a window, and its first word holds the
window's number in the kitty that saved it. https://sw.kovidgoyal.net/kitty/sessions/ and `serialize_state_as_session`
in kitty's tabs.py, 0.43 to 0.49.
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
        elif len(found) < MAX_WINDOWS and (launch := _launch(line)) is not None:
            saved, options, program = launch
            if (id_ := values.integer(saved.get("id"), 1, MAX_EXACT)) is not None:
                own = next((option.partition("=")[2] for option in options if option.startswith("--cwd=")), "")
                cwd = posixpath.normpath(posixpath.join(folder, own)) if own else of_tab
                found.append(SavedWindow(number, id_, cwd, tuple(program)))
    return found


def with_commands(text: str, commands: Mapping[int, Sequence[str]]) -> str:
    """
    *text* with *commands*, by the lines of their windows, as what their shells run first; the rest byte for byte.

    A window that runs a program in the place of a shell runs the command in the place of that program.
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
    What kitty noted of a window, its options, each one word, and what it runs in the place of a shell.

    None for a line that is no `launch` of a saved window, or has quotes that do not match.
    """
    verb, _, rest = line.strip().partition(" ")
    try:
        first, *words = shlex.split(rest) if verb == "launch" else [""]
        saved = values.load(first.removeprefix(_FLAG).encode()) if first.startswith(_FLAG) else None
    except (ValueError, DecodeError):
        return None
    options = list(itertools.takewhile(lambda word: word.startswith("--"), words))
    return (saved, options, words[len(options) :]) if isinstance(saved, dict) else None
