"""
`tally restore --session FILE`: changes a session file of kitty so that windows with agents resume their conversations.

The file starts no agent by itself. The shell of such a window runs `tally restore PLACE` first, which shows the exact
command and waits for Enter, by the usual rules.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tallylight.cli.output import clean, complain
from tallylight.files import managed_block, read_write
from tallylight.files.program import own_command
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.parts.conversations import kitty_session
from tallylight.parts.conversations.kitty_session import SavedWindow
from tallylight.parts.conversations.open_conversations import Lost, read_kept

#: The option with the program that runs if nothing is resumed.
OTHERWISE = "--otherwise"


def main(file: str, *, is_agreed: bool) -> int:
    """Show the changes to *file*, ask unless *is_agreed*, and write them."""
    path = Path(file)
    try:
        text = read_write.read_limited(path, kitty_session.MAX_SESSION_FILE_CHARS).decode("utf-8")
    except FileNotFoundError:
        raise TallyError(f"there is no {path}; kitty's action `save_as_session` writes one") from None
    except UnicodeDecodeError:
        raise TallyError(f"{path} is not UTF-8, and so no session of kitty's") from None
    kept, problems = read_kept(os.environ)
    complain("restore", *problems)
    found = {
        window: lost
        for window in kitty_session.windows(text, os.path.realpath(path.parent))
        if (lost := _conversation(window, kept)) is not None
    }
    command = own_command(os.environ.get("PATH", "")) or "tally"
    commands = {
        window.line: (command, "restore", lost.place, *_otherwise(window.program)) for window, lost in found.items()
    }
    new = kitty_session.with_commands(text, commands)
    if new == text:
        why = "its windows do that already" if found else "none of its windows had an agent that is known"
        sys.stdout.write(f"{path} is left as it is: {why}\n")
        return 0
    for lost in found.values():
        sys.stdout.write(f"{clean(lost.pane.agent, 40)} in {clean(lost.pane.conversation.cwd)}\n")
    sys.stdout.write(managed_block.diff(str(path), text, new))
    if not is_agreed and not (agreed := System().ask(f"Change {path}?")):
        if agreed is None:
            complain("restore", "nothing was changed; `--yes` changes it without a question")
        return 1
    read_write.rewrite(path, new.encode("utf-8"))
    return 0


def _otherwise(program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments that run a window's own *program* if nothing is resumed."""
    if program[1:2] == ("restore",) and OTHERWISE in program:
        return program[program.index(OTHERWISE) :]
    return (OTHERWISE, *program) if program else ()


def _conversation(window: SavedWindow, kept: list[Lost]) -> Lost | None:
    """Return the newest conversation that was open in *window*: in a kitty, by its id and its directory."""
    for lost in kept:
        if lost.host.host == "kitty" and lost.pane.id == str(window.id):
            cwd = lost.pane.conversation.cwd
            if cwd and os.path.realpath(cwd) == os.path.realpath(window.cwd):
                return lost
    return None
