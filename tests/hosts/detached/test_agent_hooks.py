"""Real Claude Code and Codex with our hooks in tmux, attached and not, and in GNU Screen: what they report arrives."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.detached.conftest import opened
from tests.hosts.detached.test_handed import SESSIONS
from tests.hosts.detached.test_heard import person
from tests.hosts.detached.yard import Light, Session, Tmux, Yard, shows, submit, truth
from tests.real_agents.conftest import codex_program as codex_program
from tests.real_agents.driver import Launch, RemoteModel, prepare_claude, prepare_codex, wait_until
from tests.real_agents.manners import MANNERS
from tests.real_kitty.roots import SUITES, root_of

pytestmark = pytest.mark.agents

#: An agent leaves keys alone that come with the dialog.
SETTLES = 0.6


@pytest.fixture(params=["claude", "codex"])
def hooked(request: pytest.FixtureRequest) -> Iterator[tuple[Yard, str]]:
    """A yard with each agent's program, its model, and our hooks in its settings; how the agent is started."""
    version = next((version for version in SUITES if root_of(version)), None)
    if version is None:
        pytest.skip("no root to run agents in: run tests/run once as root")
    name = request.param
    program: Path = request.getfixturevalue(f"{name}_program")
    with opened(version) as yard:
        yard.model = RemoteModel(yard.room, yard.made("model"))
        launch: Launch
        if name == "claude":
            launch = prepare_claude(yard.home, program, yard.model.port)
        else:
            launch = prepare_codex(yard.home, program, yard.model.port, "--no-daemon")
        yard.env = {**launch.env, **yard.env, "PATH": f"{program.parent}:{yard.env['PATH']}"}
        said = yard.run("tally", "hooks", "install", name, "--yes")
        assert "hooks" in said, said
        yield yard, f"cd ~/project && {' '.join(launch.argv)}\r"


def begin(session: Session, name: str, command: str) -> None:
    """Start the agent, and agree to its hooks where it asks."""
    session.send(command)
    if name == "codex":
        shows(session, "Hooks need review", 40)
        time.sleep(SETTLES)
        session.send("2")
        shows(session, r"\S 2\. Trust all")  # GNU Screen has no `›`
        session.send("\r")
    shows(session, {"claude": "manual mode on", "codex": re.escape(MANNERS["codex"].ready)}[name], 60)
    time.sleep(1.0)  # nothing says when it takes keys


@pytest.mark.parametrize("kind", ["attached", "tmux", "screen"])
def test_a_turn(hooked: tuple[Yard, str], request: pytest.FixtureRequest, kind: str) -> None:
    """Work, a permission with its subject, and the end of the turn are known by the hooks, not by screen or files."""
    yard, command = hooked
    name = request.node.callspec.params["hooked"]
    session = SESSIONS["screen" if kind == "screen" else "tmux"](yard)
    yard.start_host()
    id_ = yard.pane("work").id

    def by_hook(light: str, since: float, what: str = "") -> Light:
        def found() -> Light | None:
            lights = [one for one in yard.lights.get(id_, []) if one.at >= since and one.name == light]
            told = (one for one in lights if one.pane.reason.source == "protocol")
            return next((one for one in told if what in one.pane.what), None)

        try:
            return wait_until(found, 30, f"{light} by a hook")  # type: ignore[no-any-return]
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{yard.history(id_, since)}") from None

    # Where Codex is heard it reports by OSC 7501, too, without a subject.
    subject = "" if (name, kind) == ("codex", "attached") else f"Bash: touch {kind}"
    with contextlib.ExitStack() as attached:
        if kind == "attached":
            assert isinstance(session, Tmux)
            attached.enter_context(person(yard, session))
        begin(session, name, command)
        prompt = f"TOOL touch {kind} THEN fine"
        entered = submit(session, prompt)
        by_hook("working", entered)
        waits = by_hook("waiting/permission", entered, subject)
        shows(session, MANNERS["codex"].permission if name == "codex" else "Do you want to proceed")
        time.sleep(SETTLES)
        pressed = session.send("y" if name == "codex" else "1")
        by_hook("done", pressed)

    assert yard.model is not None
    assert truth(yard.model, prompt, "done") > pressed
    assert waits.pane.agent == name
    assert yard.log() == ""
