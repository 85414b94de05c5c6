"""Real tmux and GNU Screen without a person: what `tally emit`, `tally hook` and `tally run` report arrives, too."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tests.hosts.detached.test_tmux import clients
from tests.hosts.detached.yard import Screen, Session, Tmux, Yard
from tests.real_agents.driver import wait_until

pytestmark = pytest.mark.programs

#: An agent that calls its hook as agents do: in a session of its own, without a terminal.
AGENT = """#!/bin/bash
setsid -w tally hook claude <"$1" >/dev/null 2>&1
echo hooked
exec -a claude cat
"""
SESSIONS: dict[str, Callable[[Yard], Session]] = {
    "tmux": lambda yard: Tmux(yard, "work", "bash", "--norc", "-i"),
    "screen": lambda yard: Screen(yard, "work"),
}
everywhere = pytest.mark.parametrize("kind", SESSIONS)


def shows(yard: Yard, status: Status, agent: str) -> Pane:
    """The pane, once it shows this."""
    pane: Pane = wait_until(
        lambda: (p := yard.pane("work")).status is status and p.agent == agent and p, 30, f"{status} of {agent}"
    )
    return pane


@everywhere
def test_a_report_of_a_shell(yard: Yard, kind: str) -> None:
    """`tally emit` in a pane is of that pane, with all that it says, and withdrawn by the next."""
    session = SESSIONS[kind](yard)
    yard.start_host()
    yard.pane("work")
    session.send("tally emit waiting --tool claude --message 'Go on; or \"not\"?'; cat\r")
    assert shows(yard, Status.WAITING, "claude").message == 'Go on; or "not"?'
    session.send("\x04")
    session.send("tally emit working --tool mine; cat\r")
    shows(yard, Status.WORKING, "mine")
    assert yard.log() == ""


@everywhere
def test_a_hook(yard: Yard, kind: str) -> None:
    """A hook of an agent, a process without a terminal in a session of its own, reports to the agent's pane."""
    program = yard.home / "bin/claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(AGENT)
    program.chmod(0o755)
    payload = yard.folder / "payload"
    asked = {"session_id": "s1", "cwd": "/w", "hook_event_name": "PermissionRequest", "tool_name": "Bash"}
    payload.write_text(json.dumps(asked | {"tool_input": {"command": "rm -r build"}}))
    session = SESSIONS[kind](yard)
    yard.start_host()
    yard.pane("work")
    session.send(f"{program} {payload}\r")
    pane = shows(yard, Status.WAITING, "claude")
    assert (pane.what, pane.session) == ("Bash: rm -r build", "s1")
    assert yard.log() == ""


@everywhere
def test_a_relay(yard: Yard, kind: str) -> None:
    """What a program says to the relay around it is shown, until it ends."""
    program = yard.home / "bin/pi"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/bash\nprintf '\\033]7501;state=blocked:app=pi\\033\\\\'\nread -r line\n")
    program.chmod(0o755)
    session = SESSIONS[kind](yard)
    yard.start_host()
    yard.pane("work")
    session.send(f"tally run {program}\r")
    shows(yard, Status.WAITING, "pi")
    session.send("\r")
    wait_until(lambda: yard.pane("work").reason.rule != "osc-7501", 30, "the end of it")
    assert yard.log() == ""


def test_nobody_else_reports_for_a_pane(yard: Yard) -> None:
    """A process that names a pane in its environment and does not run in it changes nothing, and nobody is attached."""
    session = Tmux(yard, "work", "sleep", "1000")
    yard.start_host()
    id_ = yard.pane("work").id
    place = session.tmux("display-message", "-p", "-t", "work:", "#{socket_path},#{pid},0 #{pane_id}").split()
    began = time.monotonic()
    yard.run("tally", "emit", "waiting", "--tool", "claude", TMUX=place[0], TMUX_PANE=place[1], TERM="tmux-256color")
    session.tmux("split-window", "-d", "-t", "work:", "tally emit waiting --tool claude; exec sleep 1000")
    wait_until(lambda: any(pane.status is Status.WAITING for pane in yard.panes()), 30, "the report of the other pane")

    assert {light.name for light in yard.lights[id_] if light.at > began} <= {"active"}
    assert clients(session) == []
    assert yard.log() == ""
