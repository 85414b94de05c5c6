"""
Hooks as tables of a TOML file: one block of ours at its end; all else stays, byte for byte.

    # BEGIN_TALLYLIGHT_HOOKS
    [[hooks]]
    event = "Stop"
    command = "/bin/sh -c '…/tally hook kimi Stop 2>/dev/null || true'"
    # END_TALLYLIGHT_HOOKS

Its functions take and return text. Standard library only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from tallylight.files import toml
from tallylight.model.errors import TallyError

_BEGIN, _END = "# BEGIN_TALLYLIGHT_HOOKS", "# END_TALLYLIGHT_HOOKS"
#: A block, with the line end that was inserted before it.
_BLOCK = re.compile(rf"{_BEGIN}\r?\n.*?{_END}(?:\r?\n|\Z)", re.DOTALL)


def insert(text: str, commands: Mapping[str, str]) -> tuple[str, str]:
    """Return *text*, which has nothing of ours, with a hook for each event at its end; and the inserted piece."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = [_BEGIN]
    for event, command in commands.items():
        lines += ["[[hooks]]", f"event = {json.dumps(event)}", f"command = {json.dumps(command)}"]
    piece = ("" if not text or text.endswith("\n") else end) + end.join([*lines, _END, ""])
    done = text + piece
    toml.load(text, "this file")
    try:
        toml.load(done, "this file")
    except TallyError:
        raise TallyError("its `hooks` cannot be extended as written; make them [[hooks]]") from None
    return done, piece


def remove(text: str, pieces: Sequence[str] = ()) -> str:
    """Return *text* without our hooks: without the inserted *pieces*, or without all between our marks."""
    for piece in pieces:
        if piece and text.count(piece) == 1:
            text = text.replace(piece, "")
    return _BLOCK.sub("", text)


def ours(text: str) -> dict[str, list[str]]:
    """Return the commands of our hooks, by event."""
    found: dict[str, list[str]] = {}
    for block in _BLOCK.findall(text):
        hooks = toml.load(block, "this file").get("hooks")
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict):
                found.setdefault(str(hook.get("event")), []).append(str(hook.get("command")))
    return found
