"""The recordings of ordinary programs, made anew: `python -m tests.ordinary.make [NAME …]`.

Each is a program in a room of its own, with a few keys pressed in it, recorded by `tally record`. As root, on a machine
that has the programs: Debian's nano, vim, neovim, less, htop, fzf, mc, tig, ncdu, mutt, ranger, w3m, man-db, and so on.
What is not installed is named and left out.
"""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "shared"))

from tests.real_agents.driver import Launch, Pane  # noqa: E402
from tests.real_agents.room import HOME, LoopbackRoom  # noqa: E402
from tests.real_agents.session import TALLY, merge  # noqa: E402
from tests.real_kitty.roots import CHECKOUT  # noqa: E402

RECORDINGS = Path(__file__).parent / "recordings"
_ENTER, _ESC, _DOWN, _C = "\r", "\x1b", "\x1b[B", "\x03"
#: What is read, listed and edited.
_TEXT = "".join(f"{n}. A line about nothing in particular, number {n}.\n" for n in range(1, 60))
#: A script that turns a spinner, sets a title and asks, as a program of somebody's own might.
_DEPLOY = """
import itertools, sys, time
print("\\033]0;deploy\\007Deploying to staging")
for _, frame in zip(range(30), itertools.cycle("\\u280b\\u2819\\u2839\\u2838\\u283c\\u2834")):
    sys.stdout.write(f"\\r{frame} Uploading ({_} s)"); sys.stdout.flush(); time.sleep(0.1)
print("\\r\\u2714 Uploaded        ")
answer = input("Do you want to proceed to production? [y/N] ")
print("\\nWhich region?\\n\\u276f 1. Europe\\n  2. America\\n\\nEnter to select, Esc to cancel")
input()
"""
_BUILD = """
import sys, time
print("\\033]0;build\\007Building")
for part in range(0, 101, 5):
    sys.stdout.write(f"\\033]9;4;1;{part}\\033\\\\\\r[{'#' * (part // 5):20}] {part} %")
    sys.stdout.flush()
    time.sleep(0.15)
print("\\033]9;4;0;0\\033\\\\\\nBuilt. Overwrite the old one? [y/N] ", end="", flush=True)
input()
"""


class Play(NamedTuple):
    """A command, and the keys that are pressed in it, a second apart."""

    name: str
    argv: tuple[str, ...]
    keys: tuple[str, ...]


def _play(name: str, command: str, *keys: str) -> Play:
    return Play(name, tuple(command.split()), keys)


PLAYS = (
    _play("vim", "vim notes.txt", "i", "> 1. Yes\r  2. No\r", _ESC, ":set title\r", "gg", ":q!\r"),
    _play("nvim", "nvim notes.txt", "i", "Password:", _ESC, "G", ":q!\r"),
    _play("nano", "nano notes.txt", "Do you want to proceed? [y/N]", "\x18", "n"),
    _play("ed", "ed notes.txt", "1,5p\r", "q\r"),
    _play("less", "less notes.txt", " ", "/number 40\r", "h", "q", "q"),
    _play("man", "man less", " ", " ", "/quit\r", "q"),
    _play("more", "more notes.txt", " ", "q"),
    _play("tail", "tail -f notes.txt", "\r", _C),
    _play("watch", "watch -n 1 date", "\r", "\r", _C),
    _play("top", "top", "c", "h", "q", "q"),
    _play("htop", "htop", _DOWN, "\x1b[15~", _ESC, "q"),
    _play("fzf", "fzf --border", "no", _DOWN, _ESC),
    _play("mc", "mc -u", _DOWN, "\x1b[15~", _ESC + _ESC, "\x1b[20~", _ESC + _ESC, "exit\r"),
    _play("ranger", "ranger", "j", "j", ":", _ESC, "q"),
    _play("ncdu", "ncdu .", "j", "d", "n", "q"),
    _play("tig", "tig", "j", _ENTER, "h", "q", "q", "q"),
    _play("git-add", "git add -p", "?\r", "s\r", "q\r"),
    _play("git-rebase", "git rebase -i --autostash HEAD~1", "j", ":q!\r"),
    _play("git-commit", "git commit -a", ":q!\r"),
    _play("mutt", "mutt -n -f box", "n", "?", "q", "q"),
    _play("w3m", "w3m page.html", _DOWN, "H", "q", "y"),
    _play("python", "python3 -q", "input('Continue? [y/N] ')\r", "n\r", "exit()\r"),
    _play("ipython", "ipython --simple-prompt", "1+1\r", "exit\r"),
    _play("ipython-full", "ipython", "for i in range(3):\r", "print(i)\r", "\r", "exit\r"),
    _play("node", "node", "1+1\r", ".help\r", ".exit\r"),
    _play("lua", "lua", "print(1)\r", _C),
    _play("sqlite", "sqlite3 data.db", ".help\r", "select 1;\r", ".quit\r"),
    _play("bc", "bc -q", "1+1\r", "quit\r"),
    _play("gdb", "gdb -q", "help\r", "q\r"),
    _play("perl", "perl -de1", "p 1\r", "q\r"),
    _play("bash", "bash --norc", "ls\r", "read -p 'Delete? [y/N] '\r", "n\r", "exit\r"),
    _play("bash-select", "bash --norc", "select x in Yes No; do break; done\r", "1\r", "exit\r"),
    _play("ssh-keygen", "ssh-keygen -f key", "secret\r", "secret\r"),
    _play("apt", "apt-get -s install sl", "\r"),
    _play("apt-list", "apt list --installed", "\r"),
    _play("pip", "pip download --no-deps nothing-at-all-here", "\r", _C),
    _play("pip-uninstall", "python3 -m pip uninstall pytest", "n\r"),
    _play("npm-init", "npm init", "thing\r", "\r", _C),
    _play("debconf", "dpkg-reconfigure -f readline tzdata", "\r", "1\r", _C),
    _play("debconf-dialog", "dpkg-reconfigure -f dialog tzdata", _DOWN, _ESC, _C),
    _play("tmux", "tmux -L ordinary -f /dev/null new-session less notes.txt", " ", "q"),
    _play("deploy", "python3 deploy.py", "", "", "", "y\r", "", "\r"),
    _play("build", "python3 build.py", "", "", "", "n\r"),
    _play("mc-edit", "mcedit notes.txt", "x", "\x1b[21~", _DOWN, _ESC + _ESC),
    _play("crontab", "select-editor", "1\r"),
    _play("screen", "screen -S ordinary less notes.txt", " ", "q"),
)


def make(play: Play) -> bytes:
    """Record one."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-session-", dir="/tmp"))
    home = folder / "home"
    project = home / "project"
    project.mkdir(parents=True)
    _furnish(project)
    room = LoopbackRoom(home)
    pane: Pane | None = None
    try:
        cast = HOME / "session.cast"
        argv = [sys.executable, "-c", TALLY, "record", str(cast), "--", *play.argv]
        env = {"HOME": str(HOME), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games:/usr/sbin:/root/.pyenv/shims"}
        env |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "COLORTERM": "truecolor"}
        env |= {"PYTHONPATH": str(CHECKOUT / "shared"), "PYTHONDONTWRITEBYTECODE": "1", "TALLY_RELAY": "0"}
        env |= {"EDITOR": "vim", "GIT_EDITOR": "vim", "PAGER": "less", "LC_ALL": "C.UTF-8"}
        pane = Pane(room, Launch(argv, env, HOME / "project"), 100, 30, answers=True)
        time.sleep(3.0)
        for key in play.keys:
            if pane.ended is not None:
                break
            if key:
                pane.send(key)
            time.sleep(1.0)
        end = time.monotonic() + 3.0
        while pane.ended is None and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        if pane is not None:
            pane.close()
        room.close()
        text = merge((home / "session.cast").read_text(), [], f"program {play.name}")
        shutil.rmtree(folder, ignore_errors=True)
    # A monitor shows the recorder, too.
    text = text.replace(str(CHECKOUT), "/" + "c" * (len(str(CHECKOUT)) - 1)).replace("/root", "/user")
    return gzip.compress(text.encode(), 9, mtime=0)


def _furnish(project: Path) -> None:
    import subprocess

    (project / "notes.txt").write_text(_TEXT)
    (project / "deploy.py").write_text(_DEPLOY)
    (project / "build.py").write_text(_BUILD)
    (project / "page.html").write_text("<h1>A page</h1><p>Do you want to proceed?<ol><li>Yes<li>No</ol>")
    mail = "From a@example.org Mon Jan  5 10:00:00 2026\nFrom: a@example.org\nSubject: {0}\n\n{0}?\n\n"
    (project / "box").write_text("".join(mail.format(f"Letter {n}") for n in range(5)))
    git = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "User"],
        ["config", "user.email", "user@example.org"],
        ["add", "notes.txt"],
        ["commit", "-q", "-m", "Begin"],
        ["commit", "-q", "--allow-empty", "-m", "Go on"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True, env=git)
    (project / "notes.txt").write_text("A new first line\n" + _TEXT + "A new last line\n")


def main(argv: list[str] | None = None) -> int:
    """Make all of them, or those that are named."""
    wanted = argv if argv is not None else sys.argv[1:]
    for play in PLAYS:
        if wanted and play.name not in wanted:
            continue
        if shutil.which(play.argv[0]) is None:
            sys.stdout.write(f"{play.name}: {play.argv[0]} is not installed\n")
            continue
        data = make(play)
        (RECORDINGS / f"{play.name}.cast.gz").write_bytes(data)
        sys.stdout.write(f"{play.name}: {len(data)} bytes\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
