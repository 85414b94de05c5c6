"""A program called `claude` that asks as Claude Code does, with a dialog of the real one, and notes what is typed."""

from __future__ import annotations

from pathlib import Path

SCREENS = Path(__file__).parents[1] / "evidence/screens/claude"
SCREEN = SCREENS / "permission-bash-80.txt"

#: Writes Claude Code's status file: that it waits for an answer, or is idle.
STATUS = r"""
def status(word, waiting_for=""):
    import json, os, time
    folder = os.environ["HOME"] + "/.claude/sessions"
    os.makedirs(folder, exist_ok=True)
    start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
    said = dict(pid=os.getpid(), procStart=start, status=word, sessionId="s", cwd=os.getcwd())
    said.update(waitingFor=waiting_for, statusUpdatedAt=int(1000 * time.time()))
    with open(f"{folder}/{os.getpid()}.new", "w") as file:
        json.dump(said, file)
    os.rename(f"{folder}/{os.getpid()}.new", f"{folder}/{os.getpid()}.json")
"""

_CLAUDE = r"""#!/usr/bin/python3
import os, sys, termios, time, tty
STATUS
home = os.environ["HOME"]
head, _, body = open(f"{home}/screen").read().partition("---\n")
row = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("cursor:"))

def show(command):
    # Claude draws its lines as wide as the screen.
    columns = os.get_terminal_size().columns
    lines = body.replace("touch made1", command).replace("Green it is", command).rstrip("\n").split("\n")
    lines = [line[0] * columns if line and line == line[0] * 80 else line for line in lines]
    sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(lines) + f"\x1b[{row + 1};1H")
    sys.stdout.flush()

tty.setraw(0)
is_question = "shows: waiting/question" in head
if is_question:
    status("waiting", "input needed")
show("touch made1" if "touch made1" in body else "Green it is")
waits = ["rm -rf build"]
while True:
    typed = os.read(0, 100)
    if typed == b"\x02":
        show("rm -rf everything")
        continue
    with open(f"{home}/typed", "ab") as file:
        file.write(typed)
    while os.path.exists(f"{home}/held"):
        time.sleep(0.02)
    if waits:
        show(waits.pop())
        continue
    if is_question:
        status("idle")
    sys.stdout.write("\x1b[2J\x1b[HThank you\r\n")
    sys.stdout.flush()
""".replace("STATUS", STATUS)


def install_asking_claude(home: Path, screen: str = SCREEN.read_text("utf-8")) -> None:
    """
    Put the program on the PATH of a kitty with this home, with this recorded *screen*.

    Where that is a plain question, its status file says so, too, as the real one's does. What is typed comes into the
    file `typed` there, and the next question when there is no file `held`.
    """
    (home / "screen").write_text(screen)
    program = home / ".local/bin/claude"
    program.write_text(_CLAUDE)
    program.chmod(0o755)
