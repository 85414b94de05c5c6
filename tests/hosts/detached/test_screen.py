"""Real GNU Screen, 4.9 and 5.0: the host finds its sessions, reads their screens, and disturbs nobody."""

from __future__ import annotations

import os
import pty
import select
import stat
import time

import pytest

from tallylight.model.status import Kind, Status
from tallylight.wire.text import sanitise
from tests.evidence.test_generic import TEXTS
from tests.hosts.detached.conftest import everywhere
from tests.hosts.detached.yard import Screen, Yard, agent, names
from tests.real_agents.driver import wait_until

pytestmark = pytest.mark.programs


@everywhere
def test_an_agent_that_asks(yard: Yard) -> None:
    """Blue while it prints, amber with its question, blue when it goes on, each within 3 s; that beside it is dark."""
    yard.start_host()
    yard.host_pid()
    Screen(yard, "AUT", "sleep", "1000")
    session = Screen(yard, "AUTHX", agent(yard))
    pane = yard.pane("AUTHX")
    yard.wait(pane.id, "working", since=0)
    asked = wait_until(lambda: b"Esc to cancel" in session.text().encode("latin-1") and time.monotonic(), 20, "it asks")
    waiting = yard.wait(pane.id, "waiting/permission", since=asked)
    answered = session.send("1\r")
    working = yard.wait(pane.id, "working", since=answered)

    assert yard.late(waiting.at, asked) < session.within
    assert yard.late(working.at, answered) < session.within
    assert waiting.pane.message == "Do you want to proceed?"
    assert waiting.pane.commands.attach == ("screen", "-r", session.address, "-p", "0")
    other = yard.pane("AUT")
    assert (other.status, other.agent) == (Status.ACTIVE, "")
    assert names(yard.lights[other.id]) == ["active"]
    assert yard.log() == ""


@everywhere
def test_texts_of_agents_that_no_file_describes(yard: Yard) -> None:
    """What says that it works is blue for as long as it stands there, amber has a question, all else is quiet."""
    path = yard.home / "bin/crush"
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\ncat "$1"\nwhile sleep 1; do :; done\n')
    path.chmod(0o755)
    for number, (text, _, _) in enumerate(TEXTS):
        (yard.home / f"text-{number}").write_text(text)
        Screen(yard, f"t{number}-", str(path), str(yard.home / f"text-{number}"))
    yard.start_host()
    ids = [yard.pane(f"t{number}-").id for number in range(len(TEXTS))]
    lights = [str(status) for _, status, _ in TEXTS]

    wait_until(lambda: [str(yard.lights[id_][-1].pane.status) for id_ in ids] == lights, 60, "the light of each")
    was_amber = ["waiting" in {str(light.pane.status) for light in yard.lights[id_]} for id_ in ids]
    assert was_amber == [light == "waiting" for light in lights]


HOSTILE = ["a b  c", 'it\'s "$(touch was-here)"; `touch was-here`', "-r", "%n^[[31m", "ü❯", "L" * 40, "x\ty"]


@everywhere
def test_hostile_names(yard: Yard) -> None:
    """A session may be called anything that Screen allows: it is shown under that name, and its screen is read."""
    command = agent(yard)
    sessions = [Screen(yard, name, command) for name in HOSTILE]
    refused = [yard.run("screen", "-U", "-dmS", name, "sleep", "9") for name in ("../../up", "L" * 200)]
    yard.start_host()
    shown = [sanitise(session.name) for session in sessions]
    ids = [yard.pane(name).id for name in shown]
    for id_ in ids:
        yard.wait(id_, "waiting/permission", since=0)

    assert len(set(ids)) == len(HOSTILE)
    assert {pane.place.host_title for pane in yard.panes()} == set(shown)
    assert all(refused), "Screen itself takes neither"
    assert not list(yard.folder.rglob("was-here"))


def test_the_directory_of_hardcopies(yard: Yard) -> None:
    """Screens are written where only this user can look, and nothing is left of them in the end."""
    Screen(yard, "work", agent(yard))
    yard.start_host()
    yard.wait(yard.pane("work").id, "waiting/permission", since=0)
    (private,) = (yard.runtime / "tallylight").glob("screen-*")
    mode = private.stat().st_mode
    before = set(os.listdir("/tmp"))  # noqa: PTH208
    code = yard.stop_host()

    assert stat.S_IMODE(mode) == 0o700
    assert code == 0
    assert not [name for name in before if "hardcopy" in name]
    assert not list((yard.runtime / "tallylight").glob("s*-*.json"))
    assert not private.exists()


def test_a_session_that_comes_and_goes(yard: Yard) -> None:
    """Sessions and windows are found when they begin, and dropped when they end."""
    first = Screen(yard, "first", "sleep", "1000")
    yard.start_host()
    yard.pane("first")
    first.order("screen", "sleep", "1000")
    wait_until(lambda: len(yard.panes()) == 2, 5, "the second window")
    Screen(yard, "second", "sleep", "1000")
    yard.pane("second")
    first.order("quit")
    wait_until(lambda: [pane.place.host_title for pane in yard.panes()] == ["second"], 5, "the end of the first")


def test_a_dead_session(yard: Yard) -> None:
    """A session whose process was killed is in Screen's list, and in ours no longer."""
    dead = Screen(yard, "dead", "sleep", "1000")
    Screen(yard, "alive", "sleep", "1000")
    yard.start_host()
    yard.pane("dead")
    yard.run("kill", "-9", dead.address.partition(".")[0])
    wait_until(lambda: [pane.place.host_title for pane in yard.panes()] == ["alive"], 10, "only the living")

    assert "dead)" in yard.run("screen", "-ls").lower() or "(dead ???)" in yard.run("screen", "-ls").lower()


def test_a_session_that_hangs(yard: Yard) -> None:
    """A session that does not answer holds up no other."""
    command = agent(yard)
    hung = Screen(yard, "hung", command)
    yard.start_host()
    yard.pane("hung")
    pid = hung.address.partition(".")[0]
    yard.run("kill", "-STOP", pid)
    other = Screen(yard, "other", command)
    seen = yard.wait(yard.pane("other").id, "waiting/permission", since=0)
    yard.run("kill", "-CONT", pid)
    yard.wait(yard.pane("hung").id, "waiting/permission", since=0, timeout=30)

    assert other.address
    assert seen.pane.kind is Kind.PERMISSION


@everywhere
def test_a_person_who_is_attached_sees_nothing_of_us(yard: Yard) -> None:
    """Nothing is drawn on the display of an attached session while its screen is read."""
    session = Screen(yard, "work", agent(yard))
    session.send("")
    yard.start_host()
    id_ = yard.pane("work").id
    yard.wait(id_, "waiting/permission", since=0)
    display = _attach(yard, session)
    try:
        wait_until(lambda: yard.pane("work").attention.visible, 10, "the session to be attached")
        _drain(display, 0.5)
        session.send("1\r")
        yard.wait(id_, "working", since=0)
        drawn = _drain(display, 2.0)
    finally:
        os.close(display)

    assert b"after 1" in drawn
    assert b"flow UTF-8" not in drawn, "the answer to a question was drawn"
    assert b"hardcopy" not in drawn
    assert b"written" not in drawn


def _attach(yard: Yard, session: Screen) -> int:
    """Attach to a session on a terminal of its own; our end of that."""
    master, slave = pty.openpty()
    yard.room.popen(
        ["setsid", "-c", "screen", "-U", "-x", session.address],
        env=yard.env,
        cwd=str(yard.folder),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    return master


def _drain(fd: int, seconds: float) -> bytes:
    """All that is drawn in so many seconds."""
    drawn, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            try:
                drawn += os.read(fd, 65536)
            except OSError:
                break
    return drawn


def test_two_hosts_are_one_too_many(yard: Yard) -> None:
    """A second host says who looks after the sessions, and ends."""
    Screen(yard, "work", "sleep", "1000")
    yard.start_host()
    yard.pane("work")
    said = yard.run("tally", "host", "sessions")

    assert f"sessions-{yard.host_pid()}" in said
