"""Who sits at a pane: persons in windows and sessions of every kind, and what only looks like one."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.caller import Who, caller_of
from tallylight.actions.seat import let_in, seated
from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import Table
from tests.actions.callers import NULL, ZERO, Hand
from tests.actions.known import AGENTS
from tests.actions.real_panes import RealPanes, real_panes
from tests.actions.sshd import other_machine, sshd
from tests.actions.ways import made
from tests.patience import until
from tests.tables import each
from tests.test_other_users import needs_root

INIT, ASKER, PANE, WINDOW = made(1, 0, "init"), 90, ZERO, NULL
#: The list, typed at a prompt, and opened by a key.
TALLY = Process(ASKER, 40, ASKER, "tally", ("python3", "/bin/tally", "agents"), "/usr/bin/python3", 90)
OPENED = attrs.evolve(TALLY, ppid=30)
LOGIN = Process(3, 1, 3, "login", ("login",), "", 3)
#: As `hosts.kitty.agent_list` has kitty run it.
RUNS = "import sys; from tallylight.cli.main import main; sys.exit(main(['{}']))"
DESKTOP = (INIT, made(3, 1, "systemd", 0, "", "--user"))


def who(table: Table, pid: int = ASKER, prove: Callable[..., Any] = seated) -> Who:
    """Who *pid* is."""
    identify = functools.partial(caller_of, agents=AGENTS, table=table)
    found: Who = prove(identify(pid), identify, table).who
    return found


def window(*above: Process, shell: Process | None = None, name: str = "foot", **more: Any) -> Hand:
    """The list in a window of the terminal *name* below *above*, whose last process started it."""
    terminal = made(30, above[-1].pid, name)
    terminals = {40: PANE, ASKER: PANE} | more.pop("terminals", {})
    return Hand(*above, terminal, shell or made(40, 30, "bash"), TALLY, terminals=terminals, **more)


def session(name: str, *clients: Process, asker: Process = TALLY, **more: Any) -> Hand:
    """The list in a pane of the server *name*, which is an orphan, with *clients* of it."""
    around = (INIT, made(20, 1, "foot"), made(21, 20, "bash"))
    terminals = {40: PANE, ASKER: PANE, 21: WINDOW, 22: WINDOW} | more.pop("terminals", {})
    return Hand(*around, *clients, made(30, 1, name), made(40, 30, "bash"), asker, terminals=terminals, **more)


CLIENT, LINKED = made(22, 21, "tmux"), {22: ("socket:[2]",), 30: ("/dev/ptmx", "socket:[3]")}
#: A client in a pane of another tmux.
INNER = (made(26, 1, "tmux"), made(27, 26, "bash"), made(28, 27, "tmux"))
CODEX = made(5, 1, "codex")
#: The windows of a terminal: by what started it, and what its environment is.
WINDOWS: dict[str, tuple[Hand, Who]] = {
    "the desktop, which leaves no parent": (window(*DESKTOP), Who.PERSON),
    "the desktop, with a console's environment": (window(*DESKTOP, environs={30: {"TERM": "linux"}}), Who.PERSON),
    "the desktop, where all have the name of a terminal": (
        window(*DESKTOP, environs={30: {"TERM": "xterm-256color"}}), Who.PERSON
    ),
    "a compositor": (window(INIT, made(3, 1, "sway")), Who.PERSON),
    "a shell in another window": (
        window(INIT, made(20, 1, "kitty"), made(21, 20, "bash"), terminals={21: WINDOW}, environs={30: {"STY": ""}}),
        Who.PERSON,
    ),
    "a shell that has gone": (window(*DESKTOP, environs={30: {"KITTY_WINDOW_ID": "1"}}), Who.SCRIPT),
    "a shell that has gone, in a plain pane": (window(*DESKTOP, environs={30: {"TERM": "foot"}}), Who.SCRIPT),
    "a process that has gone": (window(INIT, made(3, 1, "sh"), environs={3: {"TMUX": "x"}}), Who.SCRIPT),
    "the desktop's mosh": (window(INIT, name="mosh-server", environs={30: {"TERM": "foot"}}), Who.PERSON),
    "mosh in a pane": (window(INIT, name="mosh-server", environs={30: {"TMUX": "x"}}), Who.SCRIPT),
    "cron": (window(INIT, made(3, 1, "cron"), made(4, 3, "sh")), Who.SCRIPT),
    "at, whose executable nobody reads": (
        window(INIT, Process(3, 1, 3, "atd", ("atd",), "", 3), made(4, 3, "sh")),
        Who.SCRIPT,
    ),
    "a terminal, in no pane of it": (window(INIT, made(20, 1, "kitty")), Who.SCRIPT),
    "a terminal, in no pane of it, at a console": (
        window(INIT, LOGIN, made(4, 3, "sway"), made(20, 4, "kitty"), owners={3: 0}), Who.SCRIPT
    ),
    "a compositor, at a console": (window(INIT, LOGIN, made(4, 3, "sway"), owners={3: 0}), Who.PERSON),
    "a terminal, in no pane of it, from outside": (window(made(20, 0, "kitty")), Who.SCRIPT),
    "tmux, in no pane of it": (window(INIT, made(20, 1, "tmux"), made(21, 20, "sh")), Who.SCRIPT),
    "an agent": (window(INIT, CODEX), Who.STRAY),
    "a program, in that window": (window(*DESKTOP, shell=made(40, 30, "sh", 0, "", "-c", "tally agents")), Who.SCRIPT),
    "a file of commands": (window(*DESKTOP, shell=made(40, 30, "bash", 0, "", "--rcfile", "x")), Who.SCRIPT),
    "a file of commands, as its input": (window(*DESKTOP, piped={40}), Who.SCRIPT),
    "something called like a shell": (window(*DESKTOP, shell=made(40, 30, "bash", 0, "/bin/python3")), Who.SCRIPT),
    "login(1)": (
        Hand(*DESKTOP, made(30, 3, "ghostty"), Process(35, 30, 35, "login", ("login",), "", 35), made(40, 35, "zsh"),
             TALLY, terminals={35: PANE, 40: PANE, ASKER: PANE}, owners={35: 0}),
        Who.PERSON,
    ),
    "kitty, by a key": (
        Hand(*DESKTOP, made(30, 3, "kitty"), OPENED, terminals={ASKER: PANE}),
        Who.PERSON,
    ),
    "kitty, by a key, with its own Python": (
        Hand(*DESKTOP, made(30, 3, "kitty"), made(ASKER, 30, "kitty", 0, "", "+runpy", RUNS.format("panel")),
             terminals={ASKER: PANE}),
        Who.PERSON,
    ),
    "kitty, by another program, with its own Python": (
        Hand(*DESKTOP, made(30, 3, "kitty"), made(ASKER, 30, "kitty", 0, "", "+runpy", RUNS.format("send")),
             terminals={ASKER: PANE}),
        Who.SCRIPT,
    ),
    "WezTerm, by a key": (
        Hand(*DESKTOP, made(30, 3, "wezterm-gui"), attrs.evolve(OPENED, argv=("python3", "/bin/tally", "panel")),
             terminals={ASKER: PANE}),
        Who.PERSON,
    ),
    "WezTerm, by another program": (
        Hand(*DESKTOP, made(30, 3, "wezterm-gui"), attrs.evolve(OPENED, argv=("python3", "/bin/tally", "send")),
             terminals={ASKER: PANE}),
        Who.SCRIPT,
    ),
    "kitty, by another program": (
        Hand(*DESKTOP, made(30, 3, "kitty"), made(ASKER, 30, "python3", 0, "", "/bin/tally", "send"),
             terminals={ASKER: PANE}),
        Who.SCRIPT,
    ),
}  # fmt: skip
#: The panes of servers: by who is attached.
SESSIONS: dict[str, tuple[Hand, Who]] = {
    "nobody": (session("tmux"), Who.SCRIPT),
    "a person": (session("tmux", CLIENT, files=LINKED), Who.PERSON),
    "a person, by a popup": (session("tmux", CLIENT, asker=OPENED, files=LINKED), Who.PERSON),
    "a person, with an agent in another pane": (
        session("tmux", CLIENT, made(41, 30, "bash"), made(50, 41, "codex"), files=LINKED, terminals={41: 7, 50: 7}),
        Who.PERSON,
    ),
    "a person, to another server": (session("tmux", CLIENT, files=LINKED | {22: ("socket:[4]",)}), Who.SCRIPT),
    "another program of that person's": (session("tmux", made(22, 21, "nc"), files=LINKED), Who.SCRIPT),
    "a client in a terminal of its own": (
        session("tmux", CLIENT, files=LINKED, terminals={22: 7}), Who.SCRIPT,
    ),
    "an agent's client": (
        session("tmux", made(50, 21, "codex", 21), made(22, 50, "tmux"), files=LINKED), Who.SCRIPT,
    ),
    "a host of ours, in a pane of the person's": (session("tmux", CLIENT, files=LINKED, piped={22}), Who.SCRIPT),
    "an orphan": (session("tmux", made(22, 1, "tmux"), files=LINKED), Who.SCRIPT),
    "itself": (
        session("tmux", made(22, 40, "tmux"), files=LINKED, terminals={22: PANE}), Who.SCRIPT,
    ),
    "a person in a tmux around it": (
        session("tmux", CLIENT, *INNER, terminals={27: NULL, 28: NULL},
                files=LINKED | {22: ("socket:[6]",), 26: ("socket:[7]",), 28: ("socket:[2]",)}),
        Who.PERSON,
    ),
    "nobody, in a tmux around it": (
        session("tmux", *INNER, terminals={27: NULL, 28: NULL}, files=LINKED | {28: ("socket:[2]",)}),
        Who.SCRIPT,
    ),
    "a person's WezTerm": (
        session("wezterm-mux-server", made(22, 1, "wezterm-gui"), files=LINKED, terminals={22: 0}), Who.PERSON,
    ),
    "an agent's WezTerm": (
        session("wezterm-mux-server", made(50, 21, "codex", 21), made(22, 50, "wezterm-gui"), files=LINKED), Who.SCRIPT,
    ),
    "a person, in GNU Screen": (
        session("screen", made(22, 21, "screen"), files={30: ("/dev/null",)}),
        Who.PERSON,
    ),
    "a person, in another Screen": (
        session("screen", made(22, 21, "screen"), files={30: ("/dev/zero",)}),
        Who.SCRIPT,
    ),
    "a person, in two Screens": (
        session("screen", made(22, 21, "screen"), made(32, 1, "screen"),
                files={30: ("/dev/null",), 32: ("/dev/null",)}),
        Who.SCRIPT,
    ),
    "a tmux that only has opened a person's terminal": (
        session("tmux", CLIENT, files={30: ("/dev/null",)}), Who.SCRIPT,
    ),
}  # fmt: skip


@each("name", [*WINDOWS])
def test_who_sits_at_a_window(name: str) -> None:
    """By what started its terminal, and what began the pane."""
    table, expected = WINDOWS[name]
    assert who(table) is expected


@each("name", [*SESSIONS])
def test_who_sits_at_a_session(name: str) -> None:
    """By who is attached to it, and sits there."""
    table, expected = SESSIONS[name]
    assert who(table) is expected


def test_only_what_has_the_terminal_of_the_pane_gets_its_keys() -> None:
    """Not what has another one, or none."""
    for terminal in (0, 7):
        assert who(window(*DESKTOP, terminals={ASKER: terminal})) is Who.SCRIPT


def test_who_comes_from_outside_of_this_container() -> None:
    """They are the person, with a terminal or without, unless a program of an agent's asks."""
    outside = Hand(made(40, 0, "sh"), TALLY)
    assert who(outside, prove=let_in) is Who.PERSON
    below = Hand(made(40, 0, "sh"), made(50, 40, "codex"), attrs.evolve(TALLY, ppid=50))
    assert who(below, prove=let_in) is Who.AGENT


SSHD, OWN_SSHD = Process(35, 1, 35, "sshd", ("sshd: me [priv]",), "", 35), made(36, 35, "sshd")
FROM = {"SSH_CONNECTION": "192.0.2.7 50000 10.0.0.1 22"}


@each(
    "near, environ, expected",
    [
        # Of another machine, of nobody who is known; and of this one: of a person, of an agent, of both.
        (None, FROM, Who.PERSON),
        ((), FROM, Who.SCRIPT),
        ((22, 24), FROM, Who.PERSON),
        ((23,), FROM, Who.SCRIPT),
        ((22, 23), FROM, Who.SCRIPT),
        (None, {}, Who.SCRIPT),
        (None, {"SSH_CONNECTION": "UNKNOWN 65535 UNKNOWN 65535 x"}, Who.SCRIPT),
    ],
)
def test_who_comes_in_by_a_login(
    monkeypatch: pytest.MonkeyPatch, near: tuple[int, ...] | None, environ: dict[str, str], expected: Who
) -> None:
    """By the connection that the login has, whichever way it is asked for."""
    monkeypatch.setattr("tallylight.actions.seat.ports.near_end", lambda *_: near)
    monkeypatch.setattr("tallylight.actions.caller.os.getuid", lambda: 1000)
    here = (INIT, made(20, 1, "foot"), made(21, 20, "bash"), made(22, 21, "ssh"), made(24, 22, "ssh"))
    agent = (made(5, 21, "codex", 21), made(23, 5, "ssh"))
    table = Hand(
        *(*here, *agent, SSHD, OWN_SSHD, made(40, 36, "bash"), TALLY),
        terminals={21: WINDOW, 22: WINDOW, 24: WINDOW, 23: WINDOW, 40: PANE, ASKER: PANE},
        owners={35: 0},
        environs={40: environ, ASKER: {"SSH_CONNECTION": "198.51.100.1 1 10.0.0.1 22"} if environ else {}},
    )
    assert who(table) is expected
    assert who(table, prove=let_in) is expected


# Real programs --------------------------------------------------------------------------------------------------------

_PROBE = """#!/bin/sh
echo $$ >{folder}/probed.new
mv {folder}/probed.new {folder}/probed
exec sleep 100
"""


@attrs.define
class Desk:
    """Real panes, in which a probe can be started."""

    panes: RealPanes

    @property
    def folder(self) -> Path:
        return self.panes.folder

    def probed(self) -> int:
        """The pid of the probe, once it runs."""
        found = self.folder / "probed"
        until(found.exists, "the probe does not start")
        pid = int(found.read_text())
        found.unlink()
        return pid

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", self.folder / "person", *words], capture_output=True, check=False)
        return done.stdout.decode()

    def attached(self) -> bool:
        return bool(self.tmux("list-clients").strip())

    def typed_in_tmux(self, window: str = "") -> int:
        """The pid of the probe that is typed at the prompt of a pane of tmux."""
        until(lambda: self.tmux("list-panes").strip(), "no pane")
        self.tmux("send-keys", "-t", window, f"{self.folder}/probe", "Enter")
        return self.probed()


def becomes(pid: int, expected: Who) -> None:
    """Wait until the process is that: clients come and go a moment after they were asked to."""
    table = process_table.table()
    until(lambda: who(table, pid) is expected, f"it is {who(table, pid)}, not {expected}")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "probe").write_text(_PROBE.format(folder=tmp_path))
    (tmp_path / "probe").chmod(0o755)
    with real_panes(tmp_path) as panes:
        try:
            yield Desk(panes)
        finally:
            subprocess.run(["screen", "-S", f"tally{os.getpid()}", "-X", "quit"], capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.programs
def test_a_prompt_in_a_window(desk: Desk) -> None:
    """What is typed there asks for a person; what the terminal starts instead of a shell asks for itself."""
    desk.panes.type(f"{desk.folder}/probe")
    becomes(desk.probed(), Who.PERSON)
    desk.panes.type("", f"{desk.folder}/probe")
    becomes(desk.probed(), Who.SCRIPT)


@pytest.mark.slow
@pytest.mark.programs
def test_tmux_attached_detached_and_attached_again(desk: Desk) -> None:
    """While the person is away, nobody presses a key there; an agent in another pane changes nothing."""
    desk.panes.type(f"tmux -f /dev/null -S {desk.folder}/person new-session")
    until(desk.attached, "nobody is attached")
    pid = desk.typed_in_tmux()
    becomes(pid, Who.PERSON)
    desk.tmux("split-window", f"{desk.folder}/claude --norc -i")
    becomes(pid, Who.PERSON)
    desk.tmux("detach-client", "-a")
    desk.tmux("detach-client")
    becomes(pid, Who.SCRIPT)
    # An agent's client shows the session to the agent.
    desk.panes.run(f"tmux -S {desk.folder}/person attach")
    until(desk.attached, "the agent is not attached")
    becomes(pid, Who.SCRIPT)
    # So does what a person runs that only reads of it.
    desk.panes.type(f"sleep 100 | tmux -S {desk.folder}/person -C attach >/dev/null")
    until(lambda: len(desk.tmux("list-clients").splitlines()) > 1, "no control client")
    becomes(pid, Who.SCRIPT)
    desk.panes.type(f"tmux -S {desk.folder}/person attach")
    becomes(pid, Who.PERSON)


@pytest.mark.slow
@pytest.mark.programs
def test_screen_attached_detached_and_attached_again(desk: Desk) -> None:
    """The same, where no connection lasts."""
    name = f"tally{os.getpid()}"
    desk.panes.type(f"screen -S {name} {desk.folder}/bash --norc --noprofile -i")

    def order(*words: str) -> bool:
        return not subprocess.run(["screen", "-S", name, *words], capture_output=True, check=False).returncode

    until(lambda: order("-Q", "title"), "no session")
    order("-X", "stuff", f"{desk.folder}/probe\n")
    pid = desk.probed()
    becomes(pid, Who.PERSON)
    order("-d")
    becomes(pid, Who.SCRIPT)
    desk.panes.run(f"screen -r {name}")
    until(lambda: "Attached" in subprocess.run(["screen", "-ls"], capture_output=True).stdout.decode(), "not attached")
    becomes(pid, Who.SCRIPT)
    order("-d")
    desk.panes.type(f"screen -r {name}")
    becomes(pid, Who.PERSON)


@pytest.mark.slow
@pytest.mark.programs
@needs_root
def test_a_login_from_another_machine(desk: Desk) -> None:
    """A person there is one here, in the login's terminal and in a tmux that they attach to."""
    with contextlib.ExitStack() as rest:
        address, enter = rest.enter_context(other_machine())
        rest.enter_context(sshd(desk.folder, address=address))
        ssh = [*enter, "ssh", "-F", str(desk.folder / "ssh.conf"), "-tt", "here"]
        quiet: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "env": desk.panes.env}
        for command in (f"{desk.folder}/probe", f"TERM=xterm tmux -f /dev/null -S {desk.folder}/person new-session"):
            far = subprocess.Popen([*ssh, command], **quiet)
            rest.callback(far.wait)
            rest.callback(far.kill)
            pid = desk.probed() if "probe" in command else desk.typed_in_tmux()
            becomes(pid, Who.PERSON)
            if "probe" in command:
                assert who(process_table.table(), pid, let_in) is Who.PERSON


@pytest.mark.slow
@pytest.mark.programs
@needs_root
def test_a_login_from_this_machine(desk: Desk) -> None:
    """It is the person's where they typed it at a prompt; tests/actions/test_caller.py has an agent's."""
    with sshd(desk.folder):
        desk.panes.type(f"ssh -F {desk.folder}/ssh.conf -tt here {desk.folder}/probe")
        pid = desk.probed()
        becomes(pid, Who.PERSON)
        assert who(process_table.table(), pid, let_in) is Who.PERSON
