"""The other real agents with our hooks: work, a permission and the end of a turn arrive at their terminal."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.real_agents.driver import Pane, RemoteModel, wait_until
from tests.real_agents.hooked import Hooked, install_hooks
from tests.real_agents.install import AGENTS, InstallError
from tests.real_agents.manners import MANNERS, Manner
from tests.real_agents.prepare import prepare
from tests.real_agents.room import HOME, LoopbackRoom

pytestmark = pytest.mark.agents

#: Its hooks run in the process that has the terminal, and not in a daemon.
WORDS = {"codex": ["--no-daemon"]}
#: What a question arrives as, and its words, where an agent tells less of it than that it is one, and which.
QUESTIONS = {
    "gemini": ("waiting/permission", "Tool requires confirmation"),
    "copilot": ("waiting/question", "Information requested"),
}
#: A report is of this turn if it comes within so many seconds, on a machine that is busy with something else.
LATE_S = 60.0
#: What OpenCode and Kilo fetch into a folder with plugins before they start; without a network they try for a minute.
PLUGINS = {
    "opencode": ("@opencode-ai/plugin", AGENTS["opencode"].version),
    "kilo": ("@kilocode/plugin", AGENTS["kilo"].version),
}


def _pretend_plugins(folder: Path, package: str, version: str) -> None:
    """Let it look as if it had been fetched. Our plugin imports nothing of it."""
    wanted = {"dependencies": {package: version}}
    (folder / "package.json").write_text(json.dumps(wanted))
    (folder / "package-lock.json").write_text(json.dumps({"packages": {"": wanted}}))
    module = folder / "node_modules" / package
    module.mkdir(parents=True)
    (module / "package.json").write_text(json.dumps({"name": package, "version": version, "main": "index.js"}))
    (module / "index.js").write_text("")


def _trust(pane: Pane) -> None:
    """What Codex wants of a person before it runs any hook."""
    pane.wait_text("Hooks need review", 30)
    time.sleep(1.0)  # nothing says when it takes keys
    pane.send("2")
    pane.wait_text("› 2. Trust all")
    pane.send("\r")


@attrs.frozen
class Agent:
    """A real agent at its prompt, with our hooks."""

    name: str
    manner: Manner
    model: RemoteModel
    pane: Pane
    hooked: Hooked

    def submit(self, prompt: str) -> float:
        """Type a prompt and press Enter; the time of Enter."""
        self.pane.send(prompt)
        wait_until(lambda: prompt[:20] in self.pane.text(), 15, f"{prompt!r} on\n{self.pane.text()}")
        time.sleep(self.manner.settles)
        return self.pane.send("\r")


@pytest.fixture(scope="module", params=["codex", "opencode", "kilo", "gemini", "qwen", "copilot"])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    """Each agent, in a room of its own, after `tally hooks install` for it: it lives for all tests."""
    if os.geteuid() != 0:
        pytest.skip("real agents run in a network namespace with nothing but loopback: that needs root")
    name = request.param
    folder = Path(tempfile.mkdtemp(prefix="tallylight-hooks-", dir="/tmp"))
    home = folder / "home"
    home.mkdir()
    room = LoopbackRoom(home)
    model = RemoteModel(room, folder)
    pane = None
    try:
        try:
            launch = prepare(name, home, model.port)
        except InstallError as error:
            pytest.skip(str(error))
        install_hooks(room, home, name, called=HOME)
        if name in PLUGINS:
            plugins = home / ".config" / name
            _pretend_plugins(plugins, *PLUGINS[name])
            # It asks a question of its own where a busy machine takes long for its snapshots.
            settings = plugins / f"{name}.json"
            settings.write_text(json.dumps({**json.loads(settings.read_text()), "snapshot": False}))
        pane = Pane(room, launch._replace(argv=[*launch.argv, *WORDS.get(name, [])]), answers=True)
        if name == "codex":
            _trust(pane)
        pane.wait_text(MANNERS[name].ready, 60)
        time.sleep(1.0)  # nothing says when it takes keys
        yield Agent(name, MANNERS[name], model, pane, Hooked(pane))
    finally:
        if pane is not None:
            pane.close()
        model.close()
        room.close()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_turn_arrives(agent: Agent) -> None:
    """Work, a permission with what it is for, the end of the turn and the exit arrive, in order, and of this turn."""
    entered = agent.submit("TOOL touch made THEN fine")
    working = agent.hooked.wait("working", since=entered)
    asked = agent.model.wait_mark("waiting:permission")["monotonic"]
    waiting = agent.hooked.wait("waiting/permission", since=entered)
    agent.pane.wait_text(agent.manner.permission)
    time.sleep(agent.manner.settles)
    for key in agent.manner.approve:
        pressed = agent.pane.send(key)
    done = agent.hooked.wait("done", since=pressed)
    finished = agent.model.wait_mark("done")["monotonic"]

    assert working.report.agent == agent.name
    assert working.report.cwd == str(HOME / "project")
    assert working.report.session
    assert "touch made" in waiting.report.message or agent.name in ("gemini", "copilot")
    assert waiting.at - asked < LATE_S
    assert done.at - finished < LATE_S


def test_a_question_arrives(agent: Agent) -> None:
    """As one, where the agent tells it from a permission, with its words, where it tells them; its answer is work."""
    entered = agent.submit(f"{agent.manner.plan}ASK THEN fine")
    name, message = QUESTIONS.get(agent.name, ("waiting/question", "Which colour?"))
    waiting = agent.hooked.wait(name, since=entered)
    agent.pane.wait_text(agent.manner.question)
    time.sleep(agent.manner.settles)
    for key in agent.manner.answer:
        agent.pane.send(key)
        time.sleep(agent.manner.settles)
    working = agent.hooked.wait("working", since=waiting.at)
    agent.hooked.wait("done", since=working.at)

    assert message in waiting.report.message
