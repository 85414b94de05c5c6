"""Real programs in front of an agent, in a terminal of their own: whoever leads to it, the agent is the pane's."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.foreground import Identity
from tallylight.evidence.process_table import ForegroundReader, ProcTable, foreground, table
from tallylight.evidence.screen import Look
from tallylight.model.timing import Timing
from tallylight.pane import pane as watched
from tests.evidence.agents import AGENTS
from tests.patience import patient, until

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not isinstance(table(), ProcTable), reason="/proc is not what is read here"),
]

#: A program of an agent's name that does what its first argument says, and has told when it began.
TALK = "echo > began\nsleep 900\n"
#: A wrapper in Python with a terminal of its own, and one that is no program of anybody's list.
IRIS = f"#!{sys.executable}\nimport pty, sys\npty.spawn(sys.argv[1:])\n"
#: A terminal with panes of its own, as kitty is one, and a client of it that shows none of them.
HUB = f"""#!{sys.executable}
import os, pty, socket, time
with socket.socket(socket.AF_UNIX) as door:
    door.bind("hub.sock")
    door.listen()
    client, _ = door.accept()
    for words in (["claude", "talk"], ["sleep", "900"]):
        if pty.fork()[0] == 0:
            os.execvp(words[0], words)
    time.sleep(900)
"""
CLIENT = f"""#!{sys.executable}
import os, socket, time
with socket.socket(socket.AF_UNIX) as link:
    while not os.path.exists("hub.sock"):
        time.sleep(0.02)
    link.connect("hub.sock")
    time.sleep(900)
"""
MAKEFILE = """
chat:
	claude talk
quiet:
	claude talk < /dev/null > log
oneshot:
	claude -p talk
server:
	claude mcp serve
"""


@attrs.frozen
class Way:
    """A *line* that is typed, then others, each once *shows* is on the screen; what it needs, and what is found."""

    line: str
    then: tuple[str, ...] = ()
    needs: str = ""
    found: str = "claude"
    is_roots: bool = False
    is_direct: bool = False
    #: Whether what is in front of it may take keys itself.
    is_drawn: bool = False


WAYS = {
    "bare": Way("claude talk", is_direct=True),
    "no job control": Way("set +m", ("claude talk",)),
    "no job control in a script": Way("bash -c 'set +m; claude talk; true'"),
    "script": Way("sh ./start.sh"),
    "env -S": Way("env -S 'claude talk'", is_direct=True),
    "nice": Way("nice claude talk", is_direct=True),
    "nix": Way("nix/claude talk", is_direct=True),
    "timeout": Way("timeout --foreground 900 claude talk"),
    "setsid": Way("setsid --wait claude talk"),
    "native wrapper": Way("fence 900 claude talk"),
    "wrapper that finds its agent": Way("gh 900 gh/.local/share/gh/copilot/copilot talk", found="copilot"),
    "two wrappers": Way("fence 900 sh -c 'fence --foreground 900 claude talk; true'"),
    "make": Way("make -s chat", needs="make"),
    "npm": Way("npm run chat", needs="npm"),
    "git": Way("git chat", needs="git"),
    "behind a program that goes on": Way("sleep 900 | claude talk"),
    "strace": Way("strace -f -o /dev/null claude talk", needs="strace", is_roots=True),
    "script's terminal": Way("script -qc 'claude talk; true' /dev/null", needs="script"),
    "shell in script's terminal": Way("script -q /dev/null", ("claude talk",), needs="script"),
    "pty.spawn": Way("iris bash --norc -i", ("claude talk",)),
    "unbuffer": Way("unbuffer claude talk", needs="unbuffer"),
    "unbuffer -p": Way("unbuffer -p claude talk", needs="unbuffer"),
    "asciinema": Way("asciinema rec -q -c 'claude talk; true' a.cast", needs="asciinema"),
    "dtach": Way("dtach -A d claude talk", needs="dtach"),
    "dtach, attached": Way("dtach -n d claude talk", ("dtach -a d",), needs="dtach"),
    "elvish": Way("elvish", ("claude talk",), needs="elvish"),
    "fish -c": Way("fish -c 'claude talk; true'", needs="fish"),
    "nvim": Way("nvim -u NONE -c 'terminal claude talk'", needs="nvim", is_drawn=True),
    "nvim, later": Way("nvim -u NONE", (":terminal claude talk",), needs="nvim", is_drawn=True),
    "nvim without bars": Way(
        "nvim -u NONE --cmd 'set cmdheight=0 laststatus=0' -c 'terminal claude talk'", needs="nvim", is_drawn=True
    ),
    "vim": Way("vim -u NONE -c 'terminal claude talk'", needs="vim.basic", is_drawn=True),
    "vim's shell": Way("vim -u NONE -c '!claude talk'", needs="vim.basic"),
    "emacs": Way("emacs -nw -Q --eval '(term \"./start.sh\")'", needs="emacs", is_drawn=True),
    "bwrap": Way("bwrap --bind / / --dev-bind /dev /dev claude talk", needs="bwrap", is_roots=True),
    "bwrap's processes": Way(
        "bwrap --bind / / --dev /dev --bind $PWD $PWD --proc /proc --unshare-pid claude talk",
        needs="bwrap",
        is_roots=True,
    ),
    "bwrap's session": Way(
        "bwrap --bind / / --dev /dev --bind $PWD $PWD --proc /proc --unshare-all --new-session claude talk",
        needs="bwrap",
        is_roots=True,
    ),
    "unshare": Way("unshare -pf claude talk", is_roots=True),
    "firejail": Way("firejail --quiet --noprofile claude talk", needs="firejail", is_roots=True),
    "su": Way("su -c 'claude talk; true'", needs="su", is_roots=True),
    "sudo": Way("sudo env PATH=$PATH claude talk", needs="sudo", is_roots=True),
}
#: What runs an agent's program, and is no conversation.
DARK = {
    "make, without a terminal": Way("make -s quiet", needs="make"),
    "make, one question": Way("make -s oneshot", needs="make"),
    "make, a server": Way("make -s server", needs="make"),
    "background": Way("claude talk & sleep 900"),
    "background without job control": Way("bash -c 'set +m; claude talk & wait'"),
    "stopped": Way("iris bash --norc -i", ("claude talk", "\x1a")),
    "language server": Way("nvim -u NONE -c \"call jobstart(['claude', 'talk'])\"", needs="nvim"),
    "client of a terminal": Way("setsid hub & client"),
    "tmux": Way("tmux -f /dev/null -S t new claude talk", needs="tmux"),
    "GNU Screen": Way("screen -c /dev/null claude talk", needs="screen"),
}


class Pane:
    """A shell in a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.screen = folder, b""
        kept = {name: os.environ[name] for name in ("LANG", "PATH") if name in os.environ}
        # Short, for sockets have little room.
        env = kept | {"TERM": "xterm-256color", "HOME": str(folder), "PS1": "ready$ ", "SCREENDIR": str(folder / "s")}
        env["PATH"] = f"{folder}/bin:{kept['PATH']}"
        bash = shutil.which("bash") or "/bin/bash"
        self.pid, self.master = pty.fork()
        if self.pid == 0:  # as little as can be: another thread may have held a lock as it came to be
            os.chdir(folder)
            os.execve(bash, ["bash", "--norc", "-i"], env)
        fcntl.ioctl(self.master, 0x5414, b"\x1e\0\x64\0\0\0\0\0")  # TIOCSWINSZ
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.master, 65536):
                self.screen += data

    @property
    def group(self) -> int:
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(self.master)
        return 0

    def type(self, text: str) -> None:
        os.write(self.master, text.encode() + (b"" if text < " " else b"\r"))

    def play(self, way: Way) -> None:
        """Type the lines of *way*, each once what it is typed into waits for it."""
        until(lambda: b"$" in self.screen, "the shell has no prompt")
        # What is typed while the shell sets up its terminal may be lost.
        while way.line[:6].encode() not in self.screen:
            self.type("\x15")
            self.type(way.line)
            time.sleep(1)
        for line in way.then:
            before = -1
            # It has drawn something, and no more of it comes.
            while before != len(self.screen) or len(self.screen) < 8:
                before = len(self.screen)
                time.sleep(0.6)
            self.type(line)
        until((self.folder / "began").exists, f"the agent did not begin:\n{self.screen[-2000:]!r}")


def called(found: Identity) -> str:
    return found.agent.name if found.agent is not None else ""


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Pane]:
    """A pane in a folder with an agent, and all that leads to it."""
    for folder in ("bin", "nix", "gh/.local/share/gh/copilot", "s"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "s").chmod(0o700)
    bash, timeout = shutil.which("bash") or "", shutil.which("timeout") or ""
    for name in ("bin/claude", "nix/.claude-unwrapped", "gh/.local/share/gh/copilot/copilot"):
        shutil.copy(bash, tmp_path / name)
    shutil.copy(timeout, tmp_path / "bin/fence")
    shutil.copy(timeout, tmp_path / "bin/gh")
    scripts = {
        "bin/iris": IRIS,
        "bin/hub": HUB,
        "bin/client": CLIENT,
        "nix/claude": f'#!/bin/sh\nexec "{tmp_path}/nix/.claude-unwrapped" "$@"\n',
        "start.sh": "#!/bin/sh\nclaude talk\ntrue\n",
        "talk": TALK,
        "mcp": TALK,
        "Makefile": MAKEFILE,
        "package.json": '{"scripts": {"chat": "claude talk"}}',
        ".gitconfig": "[alias]\n\tchat = !claude talk\n",
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    made = Pane(tmp_path)
    yield made
    mark = f"HOME={tmp_path}".encode()
    source = ProcTable()
    for pid in source.pids():
        if mark in source.read(pid, "environ", 1 << 16).split(b"\0"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    os.waitpid(made.pid, 0)
    # It would read what the next pane shows, whose terminal may get the same number.
    made.reader.join(patient(10))
    assert not made.reader.is_alive(), "something still has its terminal"
    os.close(made.master)


def _need(way: Way) -> None:
    if way.is_roots and os.getuid():
        pytest.skip(f"NOT TESTED: {shlex.split(way.line)[0]} needs root")
    if way.needs and shutil.which(way.needs) is None:
        pytest.skip(f"NOT TESTED: there is no {way.needs}")


@pytest.mark.parametrize("name", WAYS)
def test_the_agent_is_found(name: str, pane: Pane) -> None:
    """Whatever leads to it, the agent is found by its own process; when that has ended, nobody is there."""
    way = WAYS[name]
    _need(way)
    reader = ForegroundReader(AGENTS)
    pane.play(way)

    until(lambda: called(reader.look(pane.group)) == way.found, f"{reader.look(pane.group)}")
    found = reader.look(pane.group)
    assert found.process is not None and found.is_direct
    assert found.process.argv[-1] == "talk" and found.process.pid != pane.pid
    assert found.is_behind is not way.is_direct
    assert foreground(pane.group, AGENTS) == attrs.evolve(found, is_drawn=way.is_drawn)
    for process in (*ProcTable().descendants(found.process.pid), found.process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    until(lambda: not called(reader.look(pane.group)), "it is still there")


@pytest.mark.parametrize("name", DARK)
def test_no_agent_is_found(name: str, pane: Pane) -> None:
    """What talks to nobody in this terminal is not its agent."""
    way = DARK[name]
    _need(way)
    pane.play(way)
    reader = ForegroundReader(AGENTS)

    until(lambda: not called(reader.look(pane.group)), f"{reader.look(pane.group)}")
    assert not called(foreground(pane.group, AGENTS))


#: The end of a screen that asks, and the rows of an editor around it.
ASKS = ["Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel · Tab to amend"]
BARS = ["term://~/project//18:claude                     26,6           All", "-- TERMINAL --"]


@pytest.mark.parametrize(("rows", "is_read"), [(28, True), (26, False), (30, False)])
def test_the_bars_around_an_inner_terminal(rows: int, is_read: bool, pane: Pane) -> None:
    """A dialog in a terminal of 28 rows is read in one of 30; where much more is around it, that may be anything."""
    pane.play(Way("iris bash --norc -i", (f"stty cols 100 rows {rows}; claude talk",)))
    seen = watched.Pane(Timing(), ForegroundReader(AGENTS, table()), table())
    look = Look([*[""] * 23, *ASKS, *BARS], 24, 0, 100)
    until(lambda: seen.foreground(pane.group, 1.0) or seen.agent, "no agent")
    for second in range(2, 8):
        seen.screen(lambda: look, second)

    assert (seen.dialog is not None) is is_read
