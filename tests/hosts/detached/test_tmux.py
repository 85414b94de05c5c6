"""Real tmux, 3.3 to 3.8: the host finds every server's panes, follows changes, and changes nothing for a person."""

from __future__ import annotations

import json
import os
import pty
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tallylight.model.status import Status
from tests.hosts.detached.conftest import everywhere
from tests.hosts.detached.yard import Tmux, Yard, agent, names
from tests.real_agents.driver import wait_until

pytestmark = pytest.mark.programs

#: What a person sees of a server, and could be changed by whoever attaches to it.
SEEN = "#{session_name} #{session_attached} #{window_width}x#{window_height} #{window_active} #{session_group}"


@everywhere
def test_an_agent_that_asks(yard: Yard) -> None:
    """Blue while it prints, amber within 1 s when it asks, blue within 2 s when it goes on; beside it is dark."""
    yard.start_host()
    yard.host_pid()
    session = Tmux(yard, "work", agent(yard))
    session.tmux("split-window", "-d", "-t", "work", "sleep", "1000")
    pane = wait_until(lambda: next((p for p in yard.panes() if p.agent), None), 10, "a pane with an agent")
    other = wait_until(lambda: next((p for p in yard.panes() if p.id != pane.id), None), 10, "the pane beside it")
    yard.wait(pane.id, "working", since=0)
    asked = wait_until(lambda: "Esc to cancel" in session.text() and time.monotonic(), 20, "it asks")
    waiting = yard.wait(pane.id, "waiting/permission", since=asked)
    answered = session.send("1\r")
    working = yard.wait(pane.id, "working", since=answered)

    assert yard.late(waiting.at, asked) < session.within
    assert yard.late(working.at, answered) < session.within + 1, "a screen that moves is read every fourth look"
    assert waiting.pane.message == "Do you want to proceed?"
    assert names(yard.lights[other.id]) == ["active"]
    assert yard.log() == ""


@pytest.mark.parametrize("ends", ["-KILL", "-TERM"])
def test_a_host_that_is_started_again(yard: Yard, ends: str) -> None:
    """Killed or asked to end while an agent waits: the next one tells since when it has waited, and to its answer."""
    yard.start_host()
    first = yard.host_pid()
    session = Tmux(yard, "work", agent(yard))
    pane = wait_until(lambda: next((p for p in yard.panes() if p.agent), None), 10, "a pane with an agent")
    before = yard.wait(pane.id, "waiting/permission", since=0).pane
    yard.end_host(ends)

    yard.start_host()
    wait_until(lambda: yard.host_pid() != first, 10, "another host")
    began = time.monotonic()
    now = wait_until(
        lambda: next((p for p in yard.panes() if p.status is Status.WAITING), None), 20, "it waits for the next one"
    )
    assert now.id == before.id
    assert now.since == pytest.approx(before.since, abs=0.01)
    session.send("1\r")
    working = yard.wait(pane.id, "working", since=began).pane
    assert working.since > before.since
    assert yard.log() == ""


def test_the_light_of_a_window(yard: Yard) -> None:
    """A window's options say what its most urgent pane shows, a status line can draw it; in the end they are gone."""
    session = Tmux(yard, "work", "sleep", "1000")
    session.tmux("new-window", "-d", "-t", "work:", agent(yard))
    yard.start_host()
    form = "#{@tally} #{@tally_mark} #{@tally_colour}"

    def lights() -> list[str]:
        return session.tmux("list-windows", "-t", "work", "-F", form).splitlines()

    wait_until(lambda: lights() == ["  ", "waiting ! #FFAA00"], 15, "the light in the window's options")
    drawn = session.tmux("display-message", "-p", "-t", "work:1", "#{?@tally,#{@tally_mark} ,}#I:#W")
    yard.stop_host()

    assert drawn.startswith("! 1:")
    assert lights() == ["  ", "  "]


HOSTILE = [
    "a b  c",
    "##{pid} ##(touch was-here)",
    'it\'s "$(touch was-here)"; `id`',
    "%end 1 1 1",
    "-t",
    "ü❯",
    "L" * 200,
    "../up",
]


@everywhere
def test_hostile_names(yard: Yard) -> None:
    """Whatever a session is called, and whatever a program makes of its title: it is found once, and nothing runs."""
    title = "printf '\\033]2;#(touch was-here) #{pid} %%end 1 1 1;\\007'; exec sleep 1000"
    sessions = [Tmux(yard, name, "sh", "-c", title, server=f"s {n} ;") for n, name in enumerate(HOSTILE)]
    yard.start_host()
    wait_until(lambda: len(yard.panes()) == len(HOSTILE), 10, "all of them")
    panes = yard.panes()
    titles = {session.tmux("display-message", "-p", "#{session_name}").rstrip("\n") for session in sessions}

    assert {pane.place.host_title for pane in panes} == titles
    assert len({pane.id for pane in panes}) == len(HOSTILE)
    # tmux 3.8 makes it harmless itself, and in its own way.
    wait_until(lambda: all("(touch was-here) #{pid}" in p.title for p in yard.panes()), 5, "the title")
    assert not list(yard.folder.rglob("was-here"))


def test_a_turn_is_in_the_log(yard: Yard) -> None:
    """From a real session to `tally log`: it worked, asked, was answered, worked on, and its session was ended."""
    yard.start_host()
    yard.host_pid()
    session = Tmux(yard, "work", agent(yard))
    pane = wait_until(lambda: next((p for p in yard.panes() if p.agent), None), 10, "a pane with an agent")
    yard.wait(pane.id, "waiting/permission", since=0)
    answered = session.send("1\r")
    yard.wait(pane.id, "working", since=answered)
    session.tmux("kill-server")
    wait_until(lambda: yard.panes() == [], 10, "the end of the session")

    def turns() -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(yard.run("tally", "log", "--json"))["turns"]
        return found if found and found[-1].get("ending") else []

    (turn,) = wait_until(turns, 10, "the turn in the history")
    assert (turn["agent"], turn["questions"]) == ("aider", 1)
    assert turn["ending"] in ("done", "left"), "nobody was told how it ended"
    assert turn["asked"] == ["Do you want to proceed?"]
    assert 1 < turn["worked_s"] < 60 and 0 < turn["waited_s"] < 60
    assert "aider" in yard.run("tally", "log", "--today")
    assert yard.log() == ""


def test_servers_come_and_go(yard: Yard) -> None:
    """Every server of the user is found, also a second one at the socket of a first that is gone."""
    first = Tmux(yard, "one", "sleep", "1000", server="a")
    Tmux(yard, "two", "sleep", "1000", server="b")
    yard.start_host()
    yard.pane("one")
    yard.pane("two")
    first.tmux("kill-server")
    wait_until(lambda: [pane.place.host_title for pane in yard.panes()] == ["two"], 5, "the end of the first")
    Tmux(yard, "three", "sleep", "1000", server="a")
    yard.pane("three")


def test_a_server_inside_a_pane(yard: Yard) -> None:
    """A tmux in a tmux is a server like another; the outer pane shows its light, and has no agent itself."""
    outer = Tmux(yard, "outer", "bash", "--norc", "-i", server="outer")
    outer.send(f"TMUX= tmux -L inner -f /dev/null new-session -s inner {agent(yard)}\r")
    yard.start_host()
    inner = yard.pane("inner")
    yard.wait(inner.id, "waiting/permission", since=0)

    around = wait_until(lambda: (p := yard.pane("outer")).status is Status.WAITING and p, 10, "the light around it")
    assert around.reason.rule.startswith("attached session inner: ")
    assert (around.agent_pid, around.evidence.answers) == (None, ())


def test_a_named_socket(yard: Yard) -> None:
    """A server with a socket of its own place is looked after if it is named."""
    path = str(yard.folder / "my socket")
    yard.run("tmux", "-S", path, "-f", "/dev/null", "new-session", "-d", "-s", "there", "sleep", "1000")
    yard.start_host("--socket", path)
    pane = yard.pane("there")

    assert pane.commands.attach[:3] == ("tmux", "-S", path)


def test_copy_mode_and_dead_panes(yard: Yard) -> None:
    """A person who scrolls back does not hide the question; a pane that outlived its program shows nothing."""
    session = Tmux(yard, "work", agent(yard))
    session.tmux("set-option", "-w", "-t", "work", "remain-on-exit", "on")
    session.tmux("copy-mode", "-t", "work")
    yard.start_host()
    id_ = yard.pane("work").id
    yard.wait(id_, "waiting/permission", since=0)
    session.tmux("respawn-pane", "-k", "-t", "work", "true")
    wait_until(lambda: yard.pane("work").agent_pid is None, 5, "the end of the agent")

    assert yard.pane("work").status is Status.WAITING, "what an agent asked for stays until it is seen"


@contextmanager
def attached(yard: Yard, session: Tmux) -> Iterator[int]:
    """A person who is attached, on a terminal of 90 columns; our end of it."""
    master, slave = pty.openpty()
    yard.room.popen(
        [
            "setsid",
            "-c",
            "sh",
            "-c",
            'stty cols 90 rows 20; exec tmux -L "$1" attach -t "=$2"',
            "sh",
            session.server,
            session.name,
        ],
        env=yard.env,
        cwd=str(yard.folder),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    try:
        wait_until(lambda: "attached" in session.tmux("list-sessions"), 5, "a person who is attached")
        yield master
    finally:
        session.tmux("detach-client", "-s", f"={session.name}")
        os.close(master)


def clients(session: Tmux) -> list[str]:
    """The flags of every client."""
    return session.tmux("list-clients", "-F", "#{client_flags}").splitlines()


def test_nobody_is_attached_by_us(yard: Yard) -> None:
    """Where no person is attached nobody is: not to the session, not to any other."""
    session = Tmux(yard, "work", agent(yard))
    before = session.tmux("list-windows", "-a", "-F", SEEN)
    yard.start_host()
    yard.wait(yard.pane("work").id, "waiting/permission", since=0)

    assert clients(session) == []
    assert session.tmux("list-windows", "-a", "-F", SEEN) == before


@everywhere
def test_changes_are_told(yard: Yard) -> None:
    """Where a person is, a control client without a size tells of changes, and it leaves when they do."""
    session = Tmux(yard, "work", "sleep", "1000")
    session.tmux("new-session", "-d", "-s", "other", "sleep", "1000")
    session.tmux("set-option", "-s", "focus-events", "on")
    yard.start_host()
    pane = yard.pane("work")
    with attached(yard, session):
        wait_until(lambda: any("control-mode" in flags for flags in clients(session)), 5, "a control client")
        (ours,) = [flags for flags in clients(session) if "control-mode" in flags]
        size = session.tmux("display-message", "-p", "-t", "=work:", "#{window_width}x#{window_height}").strip()
        seen = wait_until(lambda: yard.pane("work").attention.visible, 5, "the pane to be seen")
        before = time.monotonic()
        session.tmux("split-window", "-d", "-t", "=other:", "sleep", "1000")
        wait_until(lambda: len(yard.panes()) == 3, 5, "the new pane of another session")
        told = time.monotonic() - before
    wait_until(lambda: clients(session) == [], 5, "nobody attached any more")

    assert {"ignore-size", "pause-after=3", "read-only"} <= set(ours.split(","))
    assert size == "90x19"
    assert seen
    assert told < 2.5
    assert yard.pane("work").id == pane.id


def test_the_way_in(yard: Yard) -> None:
    """What the snapshot says attaches does attach, and to that very pane."""
    session = Tmux(yard, "a b;c", "sleep", "1000")
    session.tmux("new-window", "-t", "=a b;c:", "sleep", "1000")
    session.tmux("split-window", "-t", "=a b;c:1", "sleep", "1000")
    session.tmux("select-window", "-t", "=a b;c:0")
    yard.start_host()
    wait_until(lambda: len(yard.panes()) == 3, 10, "three panes")
    pane = next(p for p in yard.panes() if p.id.endswith("%1"))
    master, slave = pty.openpty()
    yard.room.popen(
        ["setsid", "-c", *pane.commands.attach], env=yard.env, cwd="/", stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    wait_until(
        lambda: session.tmux("list-clients", "-F", "#{client_control_mode} #{pane_id}").splitlines()[:1] == ["0 %1"],
        5,
        "a person at %1",
    )
    os.close(master)
    assert pane.status is Status.ACTIVE


def test_a_server_that_hangs(yard: Yard) -> None:
    """A server that does not answer holds up no other, and is there again when it goes on."""
    hung = Tmux(yard, "hung", "sleep", "1000", server="hung")
    yard.start_host()
    yard.pane("hung")
    pid = hung.tmux("display-message", "-p", "#{pid}").strip()
    yard.run("kill", "-STOP", pid)
    Tmux(yard, "other", agent(yard), server="other")
    yard.wait(yard.pane("other").id, "waiting/permission", since=0, timeout=20)
    yard.run("kill", "-CONT", pid)

    assert {pane.place.host_title for pane in yard.panes()} == {"hung", "other"}


def test_a_second_host(yard: Yard) -> None:
    """It says who watches already, or with `--quiet` nothing: tmux would show that each time it reads its file."""
    yard.start_host()
    pid = yard.host_pid()

    said = yard.run("sh", "-c", "tally host sessions; echo $?; tally host sessions --quiet; echo $?")
    assert said.splitlines()[-2:] == ["1", "0"]
    assert f"already watched by sessions-{pid}" in said.splitlines()[0]
    assert yard.host_pid() == pid
