"""
A machine behind a program called `ssh`, in the list of a real kitty: another home, another tmux, its own `tally`.

A real sshd is in tests/parts/remote; here it is what a person sees and presses.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.real_kitty.asking_claude import install_asking_claude
from tests.real_kitty.desk import Desk
from tests.real_kitty.test_agents_list import QUIET, Board, answerable, picture

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

#: Takes OpenSSH's options and the host, and hands one line to a shell there, as the server does. `kitten ssh` asks it
#: for its version and, by giving it nothing, for its options.
_SSH = """#!/bin/sh
case $1 in
    -V) echo OpenSSH_9.9p1 >&2; exit ;;
    "") printf 'usage: ssh [-46AaTtxV] [-o option] [-p port]\\n           destination [command]\\n' >&2; exit 255 ;;
esac
while :; do case $1 in -o | -p) shift 2 ;; -*) shift ;; *) break ;; esac; done
[ "$1" = devbox ] || {{ echo "ssh: Could not resolve hostname $1" >&2; exit 255; }}
shift
cd "{home}" && exec env -i {settings} TERM="$TERM" SHELL=/bin/sh sh -c "$*"
"""
#: Behind a program that is no sshd, whatever runs over there counts as started by a login from another machine.
_RUNS = "from tallylight.cli.main import run"
_LOGIN = (
    "from tallylight.actions import caller, seat; caller.end_of = lambda *_: caller.End.LOGIN\n"
    "seat._Seats.is_taken = lambda *_: True\n"
)


@attrs.define
class Devbox:
    """The list here, and the machine over there."""

    board: Board
    home: Path
    env: dict[str, str]

    def tmux(self, *words: str) -> None:
        self.board.kitty.popen(["tmux", "-f", "/dev/null", *words], env=self.env, **QUIET).wait(30)

    def typed(self) -> bytes:
        return (self.home / "typed").read_bytes()


@pytest.fixture(scope="module")
def devbox(kitty_version: str) -> Iterator[Devbox]:
    """A machine `devbox` on which Claude asks something."""
    board = Board(kitty_version)
    kitty = board.kitty
    home = kitty.directory / "devbox"
    env = {"HOME": str(home), "TMUX_TMPDIR": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "LANG": "C.UTF-8"}
    env["PATH"] = f"{home}/.local/bin:/usr/bin:/bin"
    (home / "run").mkdir(parents=True, mode=0o700)
    (home / ".local/bin").mkdir(parents=True)
    tally = Path(shutil.copy(kitty.home / ".local/bin/tally", home / ".local/bin"))
    text = tally.read_text()
    assert _RUNS in text
    tally.write_text(text.replace(_RUNS, _LOGIN + _RUNS))
    install_asking_claude(home)
    (home / "typed").write_bytes(b"")
    ssh = kitty.home / ".local/bin/ssh"
    ssh.write_text(_SSH.format(home=home, settings=" ".join(f"{name}={value}" for name, value in env.items())))
    ssh.chmod(0o755)
    made = Devbox(board, home, env)
    try:
        made.tmux("new-session", "-d", "-x", "80", "-y", "24", "-s", "work", "claude")
        Desk.configure(board, '[kitty]\npulse = false\n[machines]\ndevbox = "ssh devbox"\n')
        kitty.launch("tally", "host", "sessions", keep_focus=True, tab_title="sessions")
        yield made
    finally:
        board.close()


def new_tab(board: Board, tabs: int) -> int:
    """The window of the tab behind so many, when it is in front."""
    (tab,) = board.kitty.wait_until(lambda: board.kitty.tabs()[tabs:], what="a new tab")
    window = int(tab["windows"][0]["id"])
    board.kitty.wait_until(lambda: board.in_front() == window, what="the tab in front")
    return window


def test_a_machine_that_cannot_be_reached(devbox: Devbox) -> None:
    """The tab stays with the command and what `ssh` said of it, until Enter."""
    board, kitty = devbox.board, devbox.board.kitty
    board.open("Do you want to proceed?")
    ssh = kitty.home / ".local/bin/ssh"
    works = ssh.read_text()
    ssh.write_text(works.replace("shift\ncd", "echo 'ssh: Connection refused' >&2; exit 255\ncd"))
    tabs = len(kitty.tabs())
    board.press("Return")
    board.wait_closed()
    window = new_tab(board, tabs)
    shown = kitty.wait_text(window, "press Enter to close this")
    kitty.screenshot(picture(board, "machine-refused"))
    assert "devbox" in board.bar()
    assert "kitten ssh -t -o RemoteCommand=none devbox" in shown and "ssh: Connection refused" in shown
    board.press("Return")
    kitty.wait_until(lambda: len(kitty.tabs()) == tabs, what="the end of the tab")
    ssh.write_text(works)


def test_a_question_of_another_machine(devbox: Devbox) -> None:
    """Its row has the machine's name, its answer is typed there once, and Enter attaches to it in a new tab."""
    board, kitty = devbox.board, devbox.board.kitty
    list_ = board.open("Do you want to proceed?")
    kitty.screenshot(picture(board, "machine-list"))
    board.wait_selected(list_, "devbox")
    board.press("a")
    kitty.wait_text(list_, "answer   Esc leave")
    answerable(board, list_)
    kitty.screenshot(picture(board, "machine-asks"))
    assert devbox.typed() == b""
    (held := devbox.home / "held").touch()
    board.press("1")
    kitty.wait_text(list_, "answered 1. Yes")
    board.press("1")
    board.let_pass(0.3)
    assert devbox.typed() == b"1"
    held.unlink()

    kitty.wait_text(list_, "rm -rf build")
    kitty.screenshot(picture(board, "machine-answered"))
    tabs = len(kitty.tabs())
    board.press("Return")
    board.wait_closed()
    window = new_tab(board, tabs)
    kitty.wait_text(window, "rm -rf build")
    kitty.screenshot(picture(board, "machine-attached"))
    board.press("1")
    kitty.wait_until(lambda: devbox.typed() == b"11", what="the key in the tab")
    board.press("ctrl+b")
    board.press("d")
    kitty.wait_until(lambda: len(kitty.tabs()) == tabs, what="the end of the tab when the session is left")
