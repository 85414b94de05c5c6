"""The ordinary programs that are recorded: how each is started, and the keys that are pressed in it.

`ASKS` and `RESTS` among the keys press nothing: they mark in the recording from when on the program asks, as an agent
would, and from when on it does so no longer.
"""

from __future__ import annotations

import shlex
from typing import NamedTuple

_ENTER, _ESC, _DOWN, _RIGHT, _C = "\r", "\x1b", "\x1b[B", "\x1b[C", "\x03"
#: What is true from now on, as marks of a recording call it.
ASKS, RESTS = "\0waiting:question", "\0idle"
#: What is read, listed and edited.
TEXT = "".join(f"{n}. A line about nothing in particular, number {n}.\n" for n in range(1, 60))
#: A script that turns a spinner, sets a title and asks, as a program of somebody's own might.
DEPLOY = """
import itertools, sys, time
print("\\033]0;deploy\\007Deploying to staging")
for _, frame in zip(range(30), itertools.cycle("\\u280b\\u2819\\u2839\\u2838\\u283c\\u2834")):
    sys.stdout.write(f"\\r{frame} Uploading ({_} s)"); sys.stdout.flush(); time.sleep(0.1)
print("\\r\\u2714 Uploaded        ")
answer = input("Do you want to proceed to production? [y/N] ")
print("\\nWhich region?\\n\\u276f 1. Europe\\n  2. America\\n\\nEnter to select, Esc to cancel")
input()
"""
BUILD = """
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
    return Play(name, tuple(shlex.split(command)), keys)


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
    # Editors.
    _play("mg", "mg notes.txt", "Allow?", "\x18\x03", "n", "yes\r"),
    _play("joe", "joe notes.txt", "x", "\x0bh", "\x03", "y"),
    _play("ne", "ne notes.txt", "x", _ESC, _DOWN, _ESC, "\x1bq", "y"),
    _play("micro", "micro notes.txt", "Really?", "\x05", "help\r", "\x11", "\x11", "n"),
    _play("kak", "kak -n notes.txt", "ithis\x1b", ":w", _ESC, ":q!\r"),
    _play("vis", "vis notes.txt", "ithis\x1b", ":help\r", ":q!\r", ":q!\r"),
    _play("zile", "zile notes.txt", "x", "\x18\x03", "n", "yes\r"),
    _play("jed", "jed -n notes.txt", "x", "\x18\x03", "y", "y"),
    _play("tilde", "tilde notes.txt", "x", "\x1bf", _DOWN, _ESC, "\x11", "n"),
    _play("hexedit", "hexedit notes.txt", _DOWN, "\x18", "n"),
    _play("dte", "dte notes.txt", "x", "\x11", "n"),
    # Pagers, and what shows things.
    _play("most", "most notes.txt", " ", "/number 40\r", "h", "q", "q"),
    _play("batcat", "batcat --paging=always notes.txt", " ", "q"),
    _play("lynx", "lynx page.html", _DOWN, "H", "q", "y"),
    _play("elinks", "elinks page.html", _DOWN, _ESC, _DOWN, _ESC, "q", "\r"),
    _play("links", "links page.html", _DOWN, _ESC, _DOWN, _ESC, "q", "\r"),
    _play("visidata", "vd people.csv", "j", "F", "q", "gq"),
    _play("lnav", "lnav -n server.log", "q"),
    _play("lnav-full", "lnav server.log", "j", "i", "q", "q"),
    _play("info", "info ls", " ", "m", _ESC, "q"),
    # Interpreters at their prompt.
    _play("irb", "irb", "[1, 2].each { |x| p x }\r", "puts 'Continue? [y/N]'\r", "exit\r"),
    _play("php", "php -a", "echo 'Yes or no?';\r", "exit\r"),
    _play("tclsh", "tclsh", "puts {1. Yes}\r", "exit\r"),
    _play("guile", "guile", "(+ 1 2)\r", "(car 1)\r", ",q\r", ",q\r"),
    _play("swipl", "swipl -q", "member(X, [1, 2, 3]).\r", ";", ".", "halt.\r"),
    _play("gnuplot", "gnuplot", "set terminal dumb\r", "plot sin(x)\r", "quit\r"),
    _play("jshell", "jshell", "", "int x = 1\r", "/help\r", "/exit\r"),
    _play("gforth", "gforth", "1 2 + .\r", "bye\r"),
    _play("clisp", "clisp -q", "(+ 1 2)\r", "(car 1)\r", ":q\r", "(exit)\r"),
    _play("qalc", "qalc", "5 km to miles\r", "quit\r"),
    _play("units", "units", "5 km\r", "miles\r", _C),
    _play("ocaml", "ocaml", "1 + 2;;\r", "exit 0;;\r"),
    _play("bpython", "bpython", "import os\r", "os.p", "\t", "\x15", "exit()\r"),
    _play("ptpython", "ptpython", "print('Continue? [y/N]')\r", "import o", "\x15", "exit()\r", "y"),
    _play("redis-cli", "redis-cli", "ping\r", "exit\r"),
    _play(
        "litecli",
        "litecli data.db",
        "create table t (a int);\r",
        "select * from t;\r",
        "drop table t;\r",
        "n\r",
        "exit\r",
    ),
    # Debuggers.
    _play("pdb", "python3 -m pdb tool.py", "n\r", "l\r", "h\r", "q\r"),
    _play("pudb", "python3 -m pudb tool.py", "n", "n", "?", "q", "q", "q"),
    _play("node-inspect", "node inspect tool.js", "n\r", "help\r", ".exit\r"),
    _play("cgdb", "cgdb", "help\r", "q\r"),
    # Finders and pickers.
    _play("fzy", "bash -c 'ls | fzy'", "no", _ESC),
    _play("pick", "bash -c 'ls | pick'", "no", _C),
    _play("smenu", "smenu words.txt", _RIGHT, "q"),
    _play("fzf-height", "fzf --height 12 --reverse --multi --header 'Which one?'", "no", "\t", _ESC),
    _play("peco", "peco words.txt", "a", _DOWN, _ESC),
    # Files.
    _play("nnn", "nnn", "j", "?", "q", "x", "n", "q"),
    _play("vifm", "vifm", "j", "dd", "n", ":q\r"),
    _play("lf", "lf", "j", ":delete\r", "n", "q"),
    _play("gdu", "gdu .", "j", "d", _ESC, "q"),
    _play("rm", "rm -i notes.txt words.txt", "n\r", "n\r"),
    _play("cp", "cp -i notes.txt words.txt", "n\r"),
    # Monitors.
    _play("btop", "btop", _ESC, _DOWN, _ESC, "q"),
    _play("atop", "atop 1", "c", "h", " ", "q"),
    _play("glances", "glances", "h", "h", "q"),
    _play("nload", "nload lo", "", "q"),
    _play("bmon", "bmon -p lo", "d", "?", "q", "q"),
    _play("vmstat", "vmstat 1 5"),
    _play("iostat", "iostat 1 4"),
    _play("slabtop", "slabtop", "", "q"),
    _play("s-tui", "s-tui", _DOWN, _DOWN, "q"),
    _play("ping", "ping -c 5 127.0.0.1"),
    _play("mtr", "mtr 127.0.0.1", "d", "?", "q", "q"),
    _play("iotop", "iotop", "o", "q"),
    # Version control.
    _play("git-clean", "git clean -i", "4\r", "n\r", "n\r", "7\r"),
    _play("git-interactive", "git add -i", "2\r", "1\r", "\r", "q\r"),
    _play("git-stash", "git stash -p", "?\r", "n\r", "n\r"),
    _play("git-log", "git log --graph", "j", "q"),
    # Users, machines, keys.
    _play("ssh", "bash ../demos/ssh.sh", ASKS, RESTS, "no\r"),
    _play("gpg", "gpg --full-generate-key", "1\r", "\r", "0\r", "y\r", "A person\r", "a@example.org\r", "\r", "q\r"),
    _play("gpg-symmetric", "gpg -c notes.txt", "secret", _ESC, _C),
    _play("passwd", "passwd", "secret\r", "other\r"),
    _play("sudo", "runuser -u nobody -- sudo ls", "secret\r", _C),
    _play("openssl", "openssl req -new -newkey rsa:2048 -nodes -keyout key.pem -out r.pem", "DE\r", "\r", _C),
    _play("keytool", "keytool -genkeypair -keyalg RSA -keystore store", "secret\r", "secret\r", "A\r", "\r", _C),
    _play("cryptsetup", "cryptsetup luksFormat disk.img", "no\r"),
    _play("fdisk", "fdisk disk.img", "m\r", "n\r", "p\r", "\r", "q\r", "q\r"),
    _play("cfdisk", "cfdisk disk.img", _DOWN, "\r", _RIGHT, _RIGHT, "q"),
    # Menus and forms.
    _play("dialog-menu", "dialog --menu 'Which one?' 12 40 4 1 Red 2 Green 3 Blue", ASKS, _DOWN, RESTS, "\r"),
    _play("dialog-yesno", "dialog --yesno 'Remove all of it?' 8 40", ASKS, "\t", RESTS, "\r"),
    _play(
        "dialog-checklist",
        "dialog --checklist 'Install which?' 14 50 4 a Apache on b Bind off c Cups off",
        ASKS,
        _DOWN,
        " ",
        RESTS,
        "\r",
    ),
    _play("dialog-gauge", "bash ../demos/gauge.sh"),
    _play(
        "dialog-form",
        "dialog --form 'An account' 12 50 2 Name 1 1 x 1 10 20 0 Mail 2 1 y 2 10 20 0",
        "ann",
        _DOWN,
        "\t",
        "\t",
        "\r",
    ),
    _play("whiptail-menu", "whiptail --menu 'Which one?' 12 40 4 1 Red 2 Green 3 Blue", ASKS, _DOWN, RESTS, "\r"),
    _play("whiptail-yesno", "whiptail --yesno 'Restart the service?' 8 40", ASKS, "\t", RESTS, "\r"),
    _play(
        "whiptail-radio",
        "whiptail --radiolist 'Which mirror?' 12 50 3 eu Europe on us America off",
        ASKS,
        _DOWN,
        " ",
        RESTS,
        "\r",
    ),
    _play("ccmake", "ccmake .", "c", "", "q"),
    _play("aptitude", "aptitude -s", _DOWN, "?", "q", "q", "y"),
    _play("cpan", "cpan", "no\r", _C),
    # Games.
    _play("nethack", "nethack", "n", "y", "\r", "i", _ESC, "#quit\r", "y", "q", "q"),
    _play("moon-buggy", "moon-buggy", "", " ", "q", "n"),
    _play("adventure", "adventure", "no\r", "enter\r", "quit\r", "yes\r"),
    _play("hangman", "hangman", "e", "t", "a", _C, "y"),
    _play("go-fish", "go-fish", "n\r", "5\r", _C),
    _play("worm", "worm", "l", "l", "j", _C),
    _play("nudoku", "nudoku", "l", "j", "5", "Q"),
    _play("greed", "greed", "l", "q", "y"),
    _play("gnuchess", "gnuchess", "e4\r", "", "quit\r"),
    _play("sl", "sl"),
    _play("tetris", "bastet", "\r", "", "q"),
    # Mail, chat, news, dates, music.
    _play("irssi", "irssi", "/help\r", "hello > there\r", "/quit\r"),
    _play("weechat", "weechat", "/help\r", "hello\r", "/quit\r"),
    _play("alpine", "alpine", "e", "?", "q", "y"),
    _play("neomutt", "neomutt -n -f box", "n", "?", "q", "q"),
    _play("calcurse", "calcurse", "\t", "a", _ESC, "q", "y"),
    _play("profanity", "profanity", "/help\r", "/quit\r"),
    _play("task", "task list", "n\r"),
    _play("cmus", "cmus", "5", ":q\r", "y"),
    # What builds, installs and tests.
    _play("make", "make all", "", "", ""),
    _play("cargo", "cargo build --offline", "", ""),
    _play("cargo-login", "cargo login", "secret\r"),
    _play("pytest", "python3 -m pytest -v tests_here/check_wait.py", "", ""),
    _play("pv", "bash -c 'pv -L 500 notes.txt > copy'", ""),
    _play("rsync", "rsync -a --info=progress2 --bwlimit=1 notes.txt copy.txt", ""),
    _play("vite", "vite --clearScreen", "h\r", "r\r", "q\r"),
    _play("vitest", "vitest", "h", "q"),
    _play("jest", "jest --watchAll", "w", "q"),
    _play("nodemon", "nodemon tool.js", "rs\r", _C),
    _play("tsc", "tsc --watch --noEmit", "", _C),
    _play("sphinx-quickstart", "sphinx-quickstart", "n\r", "Name\r", "Author\r", _C),
    _play("cookiecutter", "cookiecutter ./template", "name\r", "2\r", _C),
    _play("commitizen", "cz commit", _DOWN, "\r", "core\r", _C),
    _play("bundle-gem", "bundle gem thing", "n\r", "n\r", "n\r"),
    _play("composer-init", "composer init", "a/b\r", "\r", "n\r", _C),
    _play("create-vite", "create-vite", ASKS, "thing\r", _DOWN, "\r", _C),
    _play("create-vue", "create-vue", ASKS, "thing\r", _RIGHT, "\r", _C),
    _play("sv", "sv create --no-install", ASKS, "thing\r", _DOWN, "\r", _C),
    _play("eslint-init", "create-config", ASKS, "\r", _DOWN, "\r", _C),
    _play("changeset", "changeset", ASKS, " ", "\r", _C),
    _play("npm-check-updates", "ncu -i", "", _C),
    # Libraries that ask, as people's own scripts use them.
    _play(
        "ask-questionary",
        "python3 ../demos/ask_questionary.py",
        ASKS,
        _DOWN,
        "\r",
        "y",
        " ",
        "\r",
        "2",
        "\r",
        RESTS,
        "x\r",
    ),
    _play(
        "ask-inquirerpy",
        "python3 ../demos/ask_inquirerpy.py",
        ASKS,
        _DOWN,
        "\r",
        "n",
        "2",
        "\r",
        _DOWN,
        "\r",
        " ",
        RESTS,
        "\r",
    ),
    _play("ask-inquirer", "python3 ../demos/ask_inquirer.py", ASKS, _DOWN, "\r", "n\r", " ", "\r", RESTS, "x\r"),
    _play("ask-pick", "python3 ../demos/ask_pick.py", ASKS, _DOWN, "\r", " ", RESTS, "\r"),
    _play("ask-menu", "python3 ../demos/ask_menu.py", ASKS, _DOWN, "\r", _DOWN, RESTS, "q"),
    _play("ask-rich", "python3 ../demos/ask_rich.py", "", "", "", ASKS, "red\r", "", RESTS, "n\r"),
    _play(
        "ask-fields",
        "python3 ../demos/ask_fields.py",
        *(ASKS, "\r", "x\r", "2\r", "there\r", "eu\r", "x\r", "x\r", RESTS, "y\r", "", "", ASKS, "", RESTS, "\r"),
        *("one", "\r", "", "\r", "two\r", "three", "\r", "\r"),
    ),
    _play(
        "form-textual",
        "python3 ../demos/form_textual.py",
        *(ASKS, "\t", "x", "\t", "\r", _DOWN, "\r", _DOWN, "\t", RESTS, "\r", "some", ""),
    ),
    _play("ask-click", "python3 ../demos/ask_click.py", "", "", ASKS, "80\r", "", RESTS, "n\r"),
    _play(
        "ask-dialogs",
        "python3 ../demos/ask_dialogs.py",
        ASKS,
        "\r",
        _DOWN,
        "\t",
        "\r",
        "\t",
        RESTS,
        "\r",
        "hello",
        "\r",
    ),
    _play("spinners", "python3 ../demos/spinners.py", "", "", "", ""),
    _play("form-urwid", "python3 ../demos/form_urwid.py", _DOWN, " ", _DOWN, "ann", _DOWN, "\r"),
    _play("form-npyscreen", "python3 ../demos/form_npyscreen.py", "ann", "\t", _DOWN, "\r", "\t", "\r"),
    _play("board-textual", "python3 ../demos/board_textual.py", _DOWN, "\x11"),
    _play("ask-prompts", "node ../demos/ask_prompts.mjs", ASKS, _DOWN, "\r", "n", " ", "\r", "\t", "\r", RESTS, "\r"),
    _play("ask-enquirer", "node ../demos/ask_enquirer.mjs", ASKS, _DOWN, "\r", "n", " ", "\r", RESTS, "ann\r"),
    _play(
        "ask-inquirer-js",
        "node ../demos/ask_inquirer.mjs",
        ASKS,
        _DOWN,
        "\r",
        "n\r",
        "2\r",
        " ",
        "\r",
        "y\r",
        "Bl",
        RESTS,
        "\r",
    ),
    _play("ask-clack", "node ../demos/ask_clack.mjs", ASKS, "x\r", _DOWN, "\r", " ", "\r", RESTS, "\r", "", ""),
    _play("ask-ink", "node ../demos/ask_ink.mjs", ASKS, _DOWN, RESTS, "\r", "one", "\r", "two", "\r"),
    _play(
        "ask-signin",
        "node ../demos/ask_signin.mjs",
        *(ASKS, _DOWN, "\r", "\r", "x", "\r", "\r", RESTS, "\r", "some", ""),
    ),
    _play("tasks", "node ../demos/tasks.mjs", "", "", "", ""),
    _play("dashboard", "node ../demos/dashboard.cjs", _DOWN, "\r", "n", "q"),
)
