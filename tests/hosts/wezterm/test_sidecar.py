"""The sidecar on real terminals, with a stand-in for `wezterm` and its GUI: the time-lines that kitty has, too."""

from __future__ import annotations

import base64
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.actions import answer, close, say
from tallylight.actions.answer import Done, Question, Seen, Typist
from tallylight.actions.gate import Refusal
from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.hosts.wezterm.sidecar import socket_of
from tallylight.hosts.wezterm.typist import gui_of
from tallylight.model.queued import Queued
from tallylight.model.status import Status
from tallylight.parts.shift.kept import LEFT, QueuedRecorder
from tallylight.snapshot import requests, rows, writer
from tallylight.wire.styled import Run, Style
from tests.hosts.test_detached import AGENT
from tests.hosts.test_pane import HandTable
from tests.hosts.wezterm.conftest import light_of
from tests.hosts.wezterm.desk import Desk, is_running
from tests.hosts.wezterm.fake import Fake, System
from tests.real_kitty.asking_claude import install_asking_claude
from tests.real_kitty.test_fake_agent import _AGENT, _SERVER

pytestmark = pytest.mark.programs

#: An agent that only hooks speak for: it sets the variable to what it reads, a line each, and prints nothing.
_HOOKED = """#!/usr/bin/python3
import base64, os, sys, termios
settings = termios.tcgetattr(0)
settings[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSANOW, settings)
for line in sys.stdin:
    value = base64.b64encode(line.strip().encode()).decode()
    os.write(1, f"\\x1b]1337;SetUserVar=tally={value}\\x07".encode())
"""
#: One that draws without a rest.
_SPINNER = """#!/usr/bin/python3
import os, sys, time
while True:
    os.write(1, b"\\r|\\r/")
    time.sleep(0.005)
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One desk for the tests that do not break it."""
    desk = Desk(tmp_path_factory.mktemp("wezterm"))
    desk.program("claude", _AGENT)
    desk.program("codex", _HOOKED)
    desk.program("server", _SERVER)
    desk.start()
    yield desk
    desk.close()


class Agent:
    """The agent of the kitty tests, which only prints, in a pane of its own."""

    def __init__(self, desk: Desk, name: str, face: str = "plain") -> None:
        self.desk = desk
        self.folder = desk.home / name
        self.folder.mkdir()
        self.pane = desk.spawn(FAKE=str(self.folder), FAKE_FACE=face)
        desk.send(self.pane, "claude\r")
        desk.wait((self.folder / "pid").exists, "the agent")
        desk.wait_status(self.pane, "working")

    def lights(self, since: float) -> set[str]:
        return {name for at, name in self.desk.lights.get(self.pane, ()) if at >= since}


def talk(agents: list[Agent], lines: int = 10) -> list[tuple[float, float]]:
    """Have agents print, all at the same time; when each printed its first and its last line."""
    for agent in agents:
        (agent.folder / "printed").write_text("")
        (agent.folder / "talk").touch()
    for agent in agents:
        printed = agent.folder / "printed"
        agent.desk.wait(lambda p=printed: p.read_text().count("\n") >= lines, "the output")
    for agent in agents:
        (agent.folder / "talk").unlink()
    time.sleep(0.3)
    times = [[float(line) for line in (agent.folder / "printed").read_text().split()] for agent in agents]
    return [(found[0], found[-1]) for found in times]


def test_the_time_line_of_an_agent_that_only_prints(desk: Desk) -> None:
    """Blue on output, quiet after four silent seconds, typing changes neither, exit and kill take the light along."""
    server = desk.spawn(FAKE=str(desk.home))
    desk.send(server, "server\r")
    agents = [Agent(desk, face, face) for face in ("plain", "boxed")]
    for agent, (_, last) in zip(agents, talk(agents), strict=True):
        # A poll of half a second, and a program that has to be started for it, come on top of what kitty allows; on a
        # machine that has others to serve first that takes its time.
        assert 3.9 <= desk.wait_light(agent.pane, "quiet", last) - last <= 10.0
    typing = time.monotonic()
    for agent in agents:
        desk.send(agent.pane, "what do you think")
    time.sleep(1.5)
    for agent in agents:
        assert agent.lights(typing) <= {"quiet"}
        assert desk.status(agent.pane) == "quiet"
    for agent, (first, _) in zip(agents, talk(agents), strict=True):
        assert desk.wait_light(agent.pane, "working", typing) - first <= 5.0
    left = time.monotonic()
    os.kill(int((agents[0].folder / "pid").read_text()), signal.SIGKILL)
    desk.send(agents[1].pane, "exit\r")
    for agent in agents:
        desk.wait(lambda a=agent: desk.status(a.pane) not in ("working", "quiet"), "the end of the light")
        assert agent.lights(left) <= {"working", "quiet", "active", "idle", "done"}
    assert {name for _, name in desk.lights[server]} <= {"active", "idle"}


def test_only_the_screens_of_agents_are_read(desk: Desk) -> None:
    """A screen is read where output would be evidence: not for a shell, not for a server, however much it prints."""
    shell = desk.spawn()
    desk.wait(lambda: desk.status(shell), "the shell's pane")
    # The shell itself prints: on a busy machine a look would find a program in front of it, and look what that is.
    desk.send(shell, "for n in {1..1000}; do echo $n; done\r")
    calls = len(desk.calls("list"))
    desk.wait(lambda: len(desk.calls("list")) >= calls + 2, "two more looks")
    read = {line.split()[-1] for line in desk.calls("get-text")}
    assert str(shell) not in read


def test_the_whole_way_round(desk: Desk) -> None:
    """What a hook says goes by terminal, Lua and feed into the tracker, and back by the scene to the title."""
    pane = desk.spawn()
    desk.send(pane, "codex\r")
    desk.wait(lambda: desk.panes().get(pane) and desk.panes()[pane].agent_pid, "the agent")
    system = System()
    window = system.window()
    tab = system.tab(window)
    # The stand-in has tabs of its own.
    tab.id += 1000
    lua_pane = system.pane(tab)
    lua_pane.id = pane
    fake = Fake("nightly", system, run=lambda argv: (True, json.dumps(desk.sidecar), ""))
    fake.living_pids.add(desk.sidecar["pid"])
    fake.evaluate(
        "local w = require 'wezterm'\nlocal config = w.config_builder()\n"
        "require('tallylight').apply_to_config(config)\nreturn config"
    )

    def turn() -> None:
        fake.now = time.time()
        value = json.loads((desk.folder / "vars.json").read_text())[str(pane)].get("tally", "")
        if value != lua_pane.user_vars.get("tally", ""):
            fake.set_var(lua_pane, "tally", value)
        fake.pump()
        fake.now += 1
        fake.update_title(window)
        fake.pump()

    def shows(light: str) -> bool:
        turn()
        return light_of(fake.format_tab(tab)) == light

    def heard() -> tuple[str, str]:
        found = desk.panes()[pane]
        return found.status.value, found.reason.source

    for said, status, light in (
        ("state=working;tool=codex;project=api", "working", "●"),
        ("state=waiting;tool=codex;kind=question;message=Which one?", "waiting", "?"),
        ("state=done;tool=codex", "done", "✓"),
        ("state=working;tool=codex", "working", "●"),
    ):
        desk.send(pane, said + "\n")
        # Before it hears of it the sidecar guesses, and may guess right.
        desk.wait(lambda x=(light, status): shows(x[0]) and heard() == (x[1], "protocol"), light)
    # Killed in mid-turn: what the variable still says is not what is shown.
    pid = desk.panes()[pane].agent_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    desk.wait_status(pane, "down")
    desk.wait(lambda: shows("▼"), "the hollow stripe")
    assert lua_pane.user_vars["tally"] == "state=working;tool=codex"
    assert fake.errors() == []


def test_panes_of_other_domains(desk: Desk) -> None:
    """A pane without a terminal here is judged by what Lua heard; a reload that tells it again changes nothing."""
    pane = desk.spawn("sleep", "1000", domain="ssh")
    desk.write_feed("one", {pane: [(1, "state=working;tool=claude"), (2, "state=waiting;tool=claude;kind=question")]})
    desk.wait_status(pane, "waiting")
    since = desk.panes()[pane].since
    assert desk.panes()[pane].pid is None
    desk.write_feed("two", {pane: [(1, "state=waiting;tool=claude;kind=question")]})
    desk.write_feed("two", {pane: [(1, "state=waiting;tool=claude;kind=question"), (2, "state=done;tool=claude")]})
    desk.wait_status(pane, "done")
    assert desk.panes()[pane].since > since


def test_seen(desk: Desk) -> None:
    """What Lua says is in front counts as looked at: a green light goes out a second later."""
    pane = desk.spawn("sleep", "1000", domain="ssh")
    desk.write_feed("seen", {pane: [(1, "state=done;tool=claude")]})
    desk.wait_status(pane, "done")
    desk.write_feed("seen", {pane: [(1, "state=done;tool=claude")]}, front=str(pane))
    desk.wait(lambda: desk.panes()[pane].attention.seen or desk.status(pane) != "done", "the look")


def test_requests(desk: Desk) -> None:
    """`focus` makes the stand-in activate the pane."""
    pane = desk.spawn()
    desk.wait(lambda: desk.status(pane), "the pane")
    name = Path(desk.sidecar["snapshot"]).stem
    requests.send(name, requests.Request("focus", str(pane)), desk.env)
    desk.wait(lambda: any(line.endswith(f" {pane}") for line in desk.calls("activate-pane")), "the call")


def test_focus_of_a_pane_behind_a_zoomed_one(desk: Desk) -> None:
    """WezTerm 20240203 keeps a zoomed pane in front: it is unzoomed first, but only if it hides the pane."""
    zoomed, hidden, elsewhere = desk.spawn(), desk.spawn(), desk.spawn()
    desk.ask(do="zoom", pane=zoomed, over=hidden)
    desk.wait(lambda: desk.status(elsewhere), "the panes")
    name = Path(desk.sidecar["snapshot"]).stem

    def asked(pane: int) -> list[str]:
        before = len(desk.calls(""))
        requests.send(name, requests.Request("focus", str(pane)), desk.env)
        desk.wait(lambda: any(" activate-pane" in line for line in desk.calls("")[before:]), "the call")
        return [line for line in desk.calls("")[before:] if "zoom-pane" in line or "activate-pane" in line]

    assert [
        [line.partition("--no-auto-start ")[2] for line in asked(pane)] for pane in (elsewhere, zoomed, hidden)
    ] == [
        [f"activate-pane --pane-id {elsewhere}"],
        [f"activate-pane --pane-id {zoomed}"],
        [f"zoom-pane --unzoom --pane-id {zoomed}", f"activate-pane --pane-id {hidden}"],
    ]


def test_tmux_is_found_by_itself(desk: Desk) -> None:
    """The sidecar has it watched; its tab shows what asks in there, and lists have that in the row of tmux's pane."""
    (desk.home / ".local/bin").mkdir(parents=True)
    install_asking_claude(desk.home)
    tmux = ["tmux", "-f", "/dev/null", "-S", str(desk.home / "socket")]
    pane = desk.spawn(*tmux, "new-session", "-s", "shop", str(desk.home / ".local/bin/claude"))
    try:
        desk.wait_status(pane, "waiting")
        row = desk.panes()[pane]
        assert (row.agent, row.kind, row.choices) == ("claude", "permission", ())
        assert row.reason.rule.startswith("attached session shop: ")
        snapshots, _ = writer.read_snapshots(writer.directory(desk.env))
        listed = {(found.host.partition("-")[0], found.pane.id) for found in rows.build(snapshots, "", 0.0)}
        assert ("wezterm", str(pane)) not in listed
        assert any(host == "sessions" for host, _ in listed)
    finally:
        subprocess.run([*tmux, "kill-server"], env=desk.env, check=False)
    desk.wait(lambda: desk.status(pane) != "waiting", "the end of the light")


def test_a_panel_is_no_agent(desk: Desk) -> None:
    """`tally panel` in a pane of its own shows the agents and is none itself: neither lit nor a candidate."""
    agent = desk.spawn("sleep", "1000", domain="ssh")
    desk.write_feed("panel", {agent: [(1, "state=waiting;tool=claude;message=Shall%20I%3F")]})
    desk.wait_status(agent, "waiting")
    panel = desk.spawn(*desk.tally, "panel")
    desk.wait(lambda: "claude" in desk.screen(panel), "the panel")
    desk.wait(lambda: desk.lights.get(panel), "the pane")
    desk.wait(lambda: desk.variables(panel).get("tally_panel") == "1", "its variable")
    # It draws anew, and the sidecar looks again.
    desk.write_feed("panel", {agent: [(2, "state=done;tool=codex")]})
    desk.wait_status(agent, "done")
    desk.wait(lambda: "codex" in desk.screen(panel), "the other row")
    looked = len(desk.calls("list"))
    desk.wait(lambda: len(desk.calls("list")) > looked + 1, "another look")
    row = desk.panes()[panel]
    assert (row.agent, row.agent_pid, row.program.name) == ("", None, ""), row
    # A program that is no agent, which lights nothing.
    assert {name for _, name in desk.lights[panel]} <= {"active", "idle"}
    desk.send(panel, "q")
    desk.wait(lambda: panel not in desk.panes(), "its end")


def test_fork(desk: Desk) -> None:
    """
    `tally fork --here` in a split shows the page whole, and becomes what it shows; a refusal is a page as well.

    Nothing of it was shown as a line of WezTerm's own, where it could be cut.
    """
    name = Path(desk.sidecar["snapshot"]).stem
    shell, agent = desk.spawn(), desk.spawn()
    desk.send(agent, "codex\r")
    desk.wait(lambda: desk.panes().get(agent) and desk.panes()[agent].agent_pid, "the agent")
    session = "0199a213-81c0-7800-8aa1-bbab2a035a53"
    desk.write_feed("fork", {agent: [(1, f"state=waiting;tool=codex;session={session}")]})
    desk.wait_status(agent, "waiting")
    page = desk.spawn(*desk.tally, "fork", "--here", f"{name}:{agent}")
    desk.wait(lambda: session in desk.screen(page) and "Enter" in desk.screen(page), "the page")
    assert "this pane" in desk.screen(page) and "OS window" not in desk.screen(page)
    desk.send(page, "\r")
    desk.wait(lambda: page in desk.panes() and desk.panes()[page].agent == "codex", "the fork")
    refused = desk.spawn(*desk.tally, "fork", "--here", f"{name}:{shell}")
    desk.wait(lambda: "Not forked" in desk.screen(refused), "the refusal")
    desk.send(refused, "x")
    desk.wait(lambda: refused not in desk.panes(), "the end of its page")
    # The page that a key opened moves, and nothing is started where it cannot.
    for is_full in (True, False):
        (desk.folder / "full").touch() if is_full else (desk.folder / "full").unlink()
        here = {"WEZTERM_PANE": str(refused + 2 - is_full), "WEZTERM_UNIX_SOCKET": f"/run/gui-sock-{desk.gui.pid}"}
        words = ("fork", "--here", "--location", "vsplit", f"{name}:{agent}")
        page = desk.spawn(*desk.tally, *words, **here)
        assert str(page) == here["WEZTERM_PANE"]
        desk.wait(lambda: "a pane beside this one" in desk.screen(page), "the page")  # noqa: B023
        desk.send(page, "t")
        desk.wait(lambda: "a new tab" in desk.screen(page), "the place")  # noqa: B023
        desk.send(page, "\r")
        if is_full:
            desk.wait(lambda: "nothing was started" in desk.screen(page), "the refusal")  # noqa: B023
            desk.send(page, "x")
    desk.wait(lambda: page in desk.panes() and desk.panes()[page].agent == "codex", "the fork in its tab")
    assert desk.calls("move-pane")[-1].endswith(f" move-pane-to-new-tab --pane-id {page}")
    assert desk.calls("activate-pane")[-1].endswith(f" activate-pane --pane-id {page}")


def test_a_closed_pane_goes(desk: Desk) -> None:
    """A pane that WezTerm no longer lists is not in the snapshot."""
    pane = desk.spawn()
    desk.wait(lambda: desk.status(pane), "the pane")
    desk.send(pane, "exit\r")
    desk.wait(lambda: pane not in desk.panes(), "its end")


def test_claudes_own_status_file(desk: Desk) -> None:
    """A Claude that writes its status file is believed: working, waiting, and gone with the file."""
    python = Path(os.path.realpath("/usr/bin/python3"))
    folder = desk.home / "real"
    folder.mkdir()
    (folder / "claude").symlink_to(python)
    script = folder / "script.py"
    script.write_text(
        "import json, os, sys\n"
        "pid = os.getpid()\n"
        "start = open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[19]\n"
        "path = os.path.expanduser(f'~/.claude/sessions/{pid}.json')\n"
        "os.makedirs(os.path.dirname(path), exist_ok=True)\n"
        "for line in sys.stdin:\n"
        "    entry = {'pid': pid, 'procStart': start, 'sessionId': 's-1', 'cwd': '/w/api', 'status': line.strip()}\n"
        "    open(path, 'w').write(json.dumps(entry))\n"
        "    print('.' * len(line))\n"
    )
    # `exec -a`: the kernel's name for it is the link's.
    pane = desk.spawn()
    desk.send(pane, f"{folder}/claude {script}\r")
    desk.wait(lambda: desk.panes().get(pane) and desk.panes()[pane].agent_pid, "the agent")
    desk.send(pane, "busy\r")
    desk.wait(lambda: desk.panes()[pane].reason.source == "registry", "the status file")
    assert desk.status(pane) == "working"
    desk.send(pane, "waiting\r")
    desk.wait_status(pane, "waiting")


SCREENS = Path(__file__).parents[2] / "evidence/screens/claude"


def test_answered_and_typed_into(desk: Desk) -> None:
    """
    A pane of WezTerm is answered, told something and interrupted like a detached one: against what was shown, once.

    The program asks twice, then is at its prompt, then works.
    """
    folder = desk.home / "asking"
    folder.mkdir()
    (folder / "claude").write_text(AGENT)
    (folder / "claude").chmod(0o755)
    pane = desk.spawn("sh", "-c", f"{folder}/claude {SCREENS}; exec cat")
    host = Path(desk.sidecar["snapshot"]).stem
    multiplexers = PaneAccess(desk.env)
    desk.wait(lambda: desk.status(pane), "the pane")

    def typist(status: Status) -> Typist:
        found = multiplexers.at(host, attrs.evolve(desk.panes()[pane], status=status))
        assert not isinstance(found, Refusal), found
        return found

    def asked(text: str) -> Question:
        found: list[Question] = []

        def is_there() -> bool:
            shown = answer.ask(typist(Status.WAITING))
            if isinstance(shown, Question) and any(text in row for row in shown.context):
                found.append(shown)
            return bool(found)

        desk.wait(is_there, text)
        return found[-1]

    def typed() -> bytes:
        return (folder / "typed").read_bytes() if (folder / "typed").exists() else b""

    assert multiplexers.can_type(host, desk.panes()[pane])
    first = asked("echo one")
    before = typist(Status.WAITING).see()
    assert isinstance(before, Seen)
    assert answer.answer(typist(Status.WAITING), first.answer(1)) == Done(str(pane), "answered 1. Yes")
    second = asked("rm -rf build")
    # What comes between the look and the keys gets none.
    assert not typist(Status.WAITING).press("1", before)
    assert not typist(Status.WAITING).paste("1", enter=True, seen=before)
    again = answer.answer(typist(Status.WAITING), first.answer(1))
    assert isinstance(again, Refusal) and again.rule == "changed" and typed() == b"1"
    assert answer.answer(typist(Status.WAITING), second.answer(4)) == Done(str(pane), "answered 4. No")

    hard = "'\"$HOME `id` #{x} --pane-id 1 grüße 日本;"
    text = say.Say(second.pane, second.pid, second.start, hard, enter=True)
    desk.wait(lambda: isinstance(say.say(typist(Status.IDLE), text), Done), "its prompt")
    desk.wait(lambda: typed() == f"14{hard}\r".encode(), "the text")
    stop = say.Interrupt(second.pane, second.pid, second.start)
    desk.wait(lambda: isinstance(say.interrupt(typist(Status.WORKING), stop), Done), "its work")
    desk.wait(lambda: typed().endswith(b"\r\x1b"), "Escape")
    desk.wait(lambda: isinstance(held := answer.holder(typist(Status.IDLE)), Refusal) and held.rule == "process", "cat")
    desk.send(pane, "\x1b[2J\x1b[H\x1b[31mred\x1b[m not\r")
    red = (Run("red", Style(foreground=1)), Run(" not"))
    desk.wait(lambda: red in multiplexers.screen(host, desk.panes()[pane]).lines, "what cat repeats, with its colours")

    far = desk.spawn("sleep", "1000", domain="ssh")
    desk.wait(lambda: far in desk.panes(), "the other pane")
    assert not multiplexers.can_type(host, desk.panes()[far])
    refused = answer.ask(multiplexers.at(host, desk.panes()[far]))  # type: ignore[arg-type]
    assert isinstance(refused, Refusal) and refused.rule == "remote"
    gone = answer.ask(multiplexers.at(host, attrs.evolve(desk.panes()[pane], id="999")))  # type: ignore[arg-type]
    assert isinstance(gone, Refusal) and gone.rule == "gone"

    closer = multiplexers.at(host, desk.panes()[pane])
    assert not isinstance(closer, Refusal)
    held = close.occupant(closer)
    assert isinstance(held, answer.Occupant) and held.agent == "cat"
    stale = close.close(closer, close.Close(held.pane, second.pid, second.start))
    assert isinstance(stale, Refusal) and stale.rule == "process"
    assert close.close(closer, close.Close(held.pane, held.pid, held.start)) == Done(str(pane), "closed")
    desk.wait(lambda: pane not in desk.panes(), "the end of the pane")


def test_the_last_two_minutes_are_told(other: Desk) -> None:
    """A command in another pane has them written: the sidecar remembers what its light was made of."""
    config = other.home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[scripting]\nallow = "all"\n')  # the stand-in is no terminal that anybody knows
    other.start()
    pane = other.spawn("sh", "-c", f"{other.program('claude', AGENT)} {SCREENS}; exec cat")
    other.wait_status(pane, "waiting")
    file, shell = other.home / "wrong.cast", other.spawn()
    other.send(shell, shlex.join([*other.tally, "wrong", str(pane), "--save", str(file)]) + "\r")
    written = lambda: other.screen(shell).replace("\n", "")  # noqa: E731 - a long path wraps anywhere
    other.wait(lambda: "tally replay" in written() or "tally wrong:" in written(), "its reply")
    told = written()
    assert "the same lights" in told, told
    assert "touch" not in file.read_text()


def test_a_text_for_the_end_of_a_limit_when_the_sidecar_ends(other: Desk) -> None:
    """What one that was killed has kept, or another program has written, the next one shows and does not type."""
    program = other.program("claude", AGENT.replace('("echo one", "rm -rf build")', "()"))
    first = other.start()
    pane = other.spawn("sh", "-c", f"{program} {SCREENS}; exec cat")
    other.wait(lambda: other.panes().get(pane) and other.panes()[pane].agent_pid, "the agent")
    os.kill(first["pid"], signal.SIGKILL)
    other.wait(lambda: not is_running(first["pid"]), "its end")
    pid = other.panes()[pane].agent_pid
    start = process_table.table().start(pid) if pid is not None else None
    assert pid is not None and start is not None
    QueuedRecorder(other.env).keep([Queued(pid=pid, start=start, text="go on", at=int(time.time()))])
    other.start()
    typed = other.bin / "typed"
    other.wait(lambda: pane in other.panes() and other.panes()[pane].queue.problem == LEFT, "the text")
    assert other.panes()[pane].queue.text == "go on"
    assert not typed.exists() or typed.read_bytes() == b""


def test_whose_panes_they_are() -> None:
    """Only a process that was started as a sidecar is asked which WezTerm it is for; a name alone is nothing."""
    argv = ("python3", "/x/tally", "host", "wezterm", "--pid", str(os.getpid()), "--wezterm", "/usr/bin/wezterm")

    class Processes(HandTable):
        def get(self, pid: int) -> Process | None:
            return Process(pid, 1, pid, "python3", argv, "", 1) if pid == os.getpid() else None

        def start(self, pid: int) -> int | None:
            return 1 if pid == os.getpid() else None

    table = Processes("")
    assert gui_of(f"wezterm-{os.getpid()}", table) == (os.getpid(), "/usr/bin/wezterm")
    for name in ("wezterm-1", "kitty-1", "wezterm-", "wezterm-x", f"sessions-{os.getpid()}", "wezterm-99999999999999"):
        assert gui_of(name, table) is None
    for bad in (argv[:4], ("python3", "host"), (*argv[:5], "x"), ("a", "host", "sessions", *argv[4:])):
        argv = bad
        assert gui_of(f"wezterm-{os.getpid()}", table) is None


def variable(payload: str) -> str:
    """The words for a shell that set the variable `tally`, as `tally emit` does."""
    return f"printf '\\033]1337;SetUserVar=tally={base64.b64encode(payload.encode()).decode()}\\007'"


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_emit_and_read(desk: Desk, shell: str) -> None:
    """
    `tally emit waiting …; read answer` in a plain shell: amber while it waits, and at its prompt until a look.

    WezTerm tells nothing of the shell's marks. bash is seen to edit a line; of another shell it is seen that a program
    that was in the foreground has ended.
    """
    said, python = "state=waiting;project=api", Path(sys.executable).resolve().name
    pane = desk.spawn(*(("bash", "--norc", "-i") if shell == "bash" else ("sh", "-i")))
    desk.wait(lambda: desk.status(pane), "the pane")
    # A script that asks, where the shell itself cannot be told apart from its prompt.
    asks = f"{variable('state=waiting')}; read -r answer"
    desk.send(pane, f"{asks}\r" if shell == "bash" else f'bash -c "{asks}"\r')
    desk.wait(lambda: "tally" in desk.variables(pane), "the variable")
    desk.write_feed(f"emit-{shell}", {pane: [(1, said)]}, workspace="nowhere")
    desk.wait_status(pane, "waiting")
    # What WezTerm showed while `tally emit` ran is no title of a program.
    desk.write_feed(f"emit-{shell}", {pane: [(1, said)]}, workspace="nowhere", title=python)
    desk.wait(
        lambda: {tab["pane"]: tab["name"] for tab in desk.scene()["tabs"].values()}.get(pane) == "api", "its name"
    )
    lists = len(desk.calls("list"))
    desk.wait(lambda: len(desk.calls("list")) >= lists + 2, "two more looks")
    assert desk.status(pane) == "waiting"
    desk.send(pane, "yes\r")
    desk.wait(lambda: desk.panes()[pane].reason.rule == "it ended while waiting", "the prompt")
    desk.write_feed(f"emit-{shell}", {pane: [(1, said)]}, front=str(pane), workspace="nowhere")
    desk.wait(lambda: desk.status(pane) != "waiting", "the look")
    found = desk.panes()[pane]
    assert (found.status.value, found.reason.source) == ("idle", "shell")
    # What a command said when it was done stands at the prompt until it was looked at, and leaves nothing.
    desk.write_feed(f"emit-{shell}", {pane: [(1, said), (2, "state=done")]}, workspace="nowhere")
    desk.wait_status(pane, "done")
    desk.write_feed(f"emit-{shell}", {pane: [(1, said), (2, "state=done")]}, front=str(pane), workspace="nowhere")
    desk.wait(lambda: desk.status(pane) != "done", "the look")
    if shell == "bash":
        assert desk.panes()[pane].reason.source == "shell", "and no grey light"


def test_wezterm_is_woken(other: Desk) -> None:
    """What waits at the FIFO ends once the snapshot says what was found out, and when the sidecar ends."""
    other.program("codex", _SPINNER)
    other.start()
    news = Path(other.sidecar["snapshot"]).with_suffix(".news")
    assert news.is_fifo(), "it is there when Lua learns of it"
    pane = other.spawn()
    other.send(pane, "codex\r")
    other.wait(lambda: other.panes().get(pane) and other.panes()[pane].agent_pid, "the agent")
    other.write_feed("news", {pane: [(1, "state=working;tool=codex")]})
    while other.status(pane) != "working":
        subprocess.run(["sh", "-c", ': <"$1"', "sh", str(news)], check=True, timeout=30)
    assert other.variables(pane) == {}
    waiting = subprocess.Popen(["sh", "-c", ': <"$1"', "sh", str(news)])
    os.kill(other.sidecar["pid"], signal.SIGTERM)
    assert waiting.wait(30) == 0
    other.wait(lambda: not news.exists(), "the end of the FIFO")


def test_a_mux_server(other: Desk) -> None:
    """The sidecar of a mux server asks at that server's socket, and wakes its Lua for each new word."""
    if not Path("/proc/self/comm").exists():
        pytest.skip("NOT TESTED: a process cannot be given a name here")
    other.ask(do="name", name="wezterm-mux-server")
    other.program("codex", _HOOKED)
    other.start()
    news = Path(other.sidecar["snapshot"]).with_suffix(".news")
    pane = other.spawn()
    other.send(pane, "codex\r")
    other.wait(lambda: other.panes().get(pane) and other.panes()[pane].agent_pid, "the agent")
    other.write_feed("server", {pane: [(1, "state=waiting;tool=codex")]})
    other.wait_status(pane, "waiting")
    other.write_feed("server", {pane: [(2, "state=working;tool=codex")]})
    while not other.scene()["words"][str(pane)].startswith("working"):
        subprocess.run(["sh", "-c", ': <"$1"', "sh", str(news)], check=True, timeout=30)
    environ = {"HOME": "/home/u", "WEZTERM_UNIX_SOCKET": f"/x/gui-sock-{other.gui.pid}"}
    assert socket_of(environ, other.gui.pid) == "/home/u/.local/share/wezterm/sock"
    assert socket_of({"WEZTERM_UNIX_SOCKET": "/x/mine"}, other.gui.pid) == "/x/mine"


# What breaks it ---------------------------------------------------------------------------------------------------


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "desk")
    yield desk
    desk.close()


def log(desk: Desk) -> list[str]:
    path = desk.home / "run" / "tallylight" / f"wezterm-{desk.gui.pid}.log"
    return path.read_text().splitlines() if path.exists() else []


def test_one_a_wezterm(other: Desk) -> None:
    """Started again it is the same one; killed, the next is another; it goes with its WezTerm and all its files."""
    first = other.start()
    assert other.start() == first
    os.kill(first["pid"], signal.SIGKILL)
    other.wait(lambda: not is_running(first["pid"]), "its end")
    second = other.start()
    assert second["pid"] != first["pid"]
    assert second["feed"] == first["feed"]
    other.wait(lambda: Path(second["snapshot"]).exists(), "its snapshot")
    other.spawn()
    scene = other.home / "run" / "tallylight" / f"wezterm-{other.gui.pid}.scene.json"
    other.wait(scene.exists, "what is drawn")
    os.kill(other.gui.pid, signal.SIGKILL)
    other.gui.wait()
    other.wait(lambda: not is_running(second["pid"]), "the end with its WezTerm")
    left = {path.name for path in (other.home / "run" / "tallylight").iterdir()}
    assert left <= {Path(first["snapshot"]).name, f"{Path(first['snapshot']).stem}.requests"}


@pytest.mark.parametrize("how", ["crash", "logout", "stopped"])
def test_what_was_open(other: Desk, how: str) -> None:
    """With WezTerm its conversations end, which `tally restore` lists; not where the sidecar alone is ended."""
    other.program("codex", _HOOKED)
    first = other.start()
    pane = other.spawn()
    other.send(pane, "codex\r")
    other.wait(lambda: other.panes().get(pane) and other.panes()[pane].agent_pid, "the agent")
    kept = other.home / ".local/state/tallylight/open"
    other.wait(lambda: list(kept.glob("wezterm-*.json")), "the file")
    if how != "crash":
        os.kill(first["pid"], signal.SIGTERM)
    if how != "stopped":
        os.kill(other.gui.pid, signal.SIGKILL)
        other.gui.wait()
    other.wait(lambda: not is_running(first["pid"]), "the end of the sidecar")
    assert bool(list(kept.glob("wezterm-*.json"))) is (how != "stopped")

    def listed() -> list[str]:
        found = json.loads(other.run_tally("restore", "--json").stdout)["conversations"]
        return [one["pane"]["agent"] for one in found]

    if how != "stopped":
        other.wait(lambda: listed() == ["codex"], "the end of the agent")
        # The next WezTerm says so, once.
        with subprocess.Popen(["sleep", "600"]) as gui:
            begun = other.run_tally("host", "wezterm", "--pid", str(gui.pid), "--wezterm", str(other.wezterm))
            toasts = Path(json.loads(begun.stdout)["feed"].replace("feed.json", "toasts"))
            other.wait(toasts.exists, "the offer")
            ((_, status, title, body),) = json.loads(toasts.read_text())
            gui.kill()
        assert (status, title) == ("restore", "1 conversation was open when WezTerm ended")
        assert body == "Run `tally restore` to resume it."


def test_no_wezterm_process(other: Desk) -> None:
    """A pid that nobody has is refused in words."""
    done = other.run_tally("host", "wezterm", "--pid", "999999999")
    assert done.returncode == 1 and "there is no process" in done.stderr


@pytest.mark.parametrize("how", ["broken", "gone"])
def test_wezterm_that_fails(other: Desk, how: str) -> None:
    """A `wezterm` that fails or is gone costs one line in the log; the panes stay, and it is asked again later."""
    pane = other.spawn()
    other.start()
    other.wait_status(pane, "active")
    if how == "gone":
        other.wezterm.rename(other.bin / "away")
    else:
        (other.folder / "broken").touch()
    other.wait(lambda: log(other), "the line")
    # The next try is a second later.
    time.sleep(1.2)
    assert len(log(other)) == 1
    assert other.status(pane) == "active"
    if how == "gone":
        (other.bin / "away").rename(other.wezterm)
    else:
        (other.folder / "broken").unlink()
    another = other.spawn()
    other.wait(lambda: other.status(another), "the new pane")


def test_hostile_feed(other: Desk) -> None:
    """A feed that is no feed is ignored, and the next good one is heard."""
    pane = other.spawn()
    other.start()
    other.wait_status(pane, "active")
    path = Path(other.sidecar["feed"])
    for bad in (
        b"",
        b"[]",
        b"{" * 10_000,
        b'{"version":1,"panes":{"1":{"said":[{"n":"x"},3,{"n":1}]},"2":4},"front":9}',
    ):
        path.write_bytes(bad)
        time.sleep(0.3)
    said = base64.b64encode(b"x").decode()
    other.write_feed("a", {pane: [(1, "rubbish"), (2, said), (3, "state=waiting;tool=claude")]})
    other.wait_status(pane, "waiting")
    assert log(other) == []
