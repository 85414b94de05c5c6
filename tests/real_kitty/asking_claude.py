"""A program called `claude` that asks as Claude Code does, with a dialog of the real one, and notes what is typed."""

from __future__ import annotations

from pathlib import Path

SCREEN = Path(__file__).parents[1] / "evidence/screens/claude/permission-bash-80.txt"

_CLAUDE = r"""#!/usr/bin/python3
import os, sys, termios, tty
home = os.environ["HOME"]
head, _, body = open(f"{home}/screen").read().partition("---\n")
row = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("cursor:"))

def show(command):
    lines = body.replace("touch made1", command).rstrip("\n").split("\n")
    # A line across is as long as the terminal is wide, as Claude draws it.
    lines = [line[0] * os.get_terminal_size().columns if set(line) in ({"─"}, {"╌"}) else line for line in lines]
    sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(lines) + f"\x1b[{row + 1};1H")
    sys.stdout.flush()

tty.setraw(0)
show("touch made1")
waits = ["rm -rf build"]
while True:
    typed = os.read(0, 100)
    if typed == b"\x02":
        show("rm -rf everything")
        continue
    with open(f"{home}/typed", "ab") as file:
        file.write(typed)
    if waits:
        show(waits.pop())
        continue
    sys.stdout.write("\x1b[2J\x1b[HThank you\r\n")
    sys.stdout.flush()
"""


def install_asking_claude(home: Path) -> None:
    """Put the program on the PATH of a kitty with this home. What is typed comes into the file `typed` there."""
    (home / "screen").write_text(SCREEN.read_text("utf-8"))
    program = home / ".local/bin/claude"
    program.write_text(_CLAUDE)
    program.chmod(0o755)
