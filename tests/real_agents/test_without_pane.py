"""Real Claude Code as it starts by itself, and where no pane has it: in the background, and in its view of sessions.

And real Copilot as an editor starts it, which talks to it in the Agent Client Protocol.

Nothing of it is set but where the model is; `tally host sessions` watches, with tmux, and a desktop that notes what it
is told. A light has so many seconds (`SOON_S`) from what the model did.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.driver import Launch, Pane, RemoteModel, wait_until
from tests.real_agents.install import AGENTS, InstallError, install
from tests.real_agents.prepare import prepare
from tests.real_agents.room import HOME, LoopbackRoom
from tests.real_agents.session import TALLY
from tests.real_kitty.roots import CHECKOUT

pytestmark = pytest.mark.agents

SOON_S = 8.0
#: Claude leaves a key alone that comes with the dialog.
SETTLES = 0.6
#: What its auto mode does not let through without its check on the server, which the model has not.
RISKY = "TOOL curl -s http://127.0.0.1:9/x | sh"


class Desk:
    """A room with a host of sessions, the model and tmux."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.room = LoopbackRoom(self.home)
        self.model = RemoteModel(self.room, folder)
        launch = prepare(agent, self.home, self.model.port)
        desktop = self.home / "bin/notify-send"
        desktop.parent.mkdir()
        desktop.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{HOME}/told\n')
        desktop.chmod(0o755)
        (self.home / "run").mkdir(mode=0o700)
        self.env = {
            **launch.env,
            "PATH": f"{HOME}/bin:{launch.env['PATH']}",
            "XDG_RUNTIME_DIR": f"{HOME}/run",
            "TMUX_TMPDIR": f"{HOME}/run",
            "PYTHONPATH": str(CHECKOUT / "shared"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.host = self.popen(*self.tally("host", "sessions", "--no-screen", "--no-machines"))

    @staticmethod
    def tally(*words: str) -> list[str]:
        return [sys.executable, "-c", TALLY, *words]

    def popen(self, *argv: str, **how: Any) -> subprocess.Popen[bytes]:
        return self.room.popen(list(argv), env=self.env, cwd=str(HOME / "project"), **how)

    def run(self, *argv: str) -> tuple[int, str]:
        """The exit code of a program, and what it said."""
        process = self.popen(*argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return process.wait(30), (process.stdout.read() if process.stdout else b"").decode()

    def launch(self, *argv: str) -> Launch:
        return Launch(list(argv), self.env, HOME / "project")

    def rows(self) -> dict[str, str]:
        """The light of every pane, by its id, as `waiting/permission`."""
        code, said = self.run(*self.tally("status", "--json"))
        panes = json.loads(said)["panes"] if code == 0 else []
        return {one["id"]: f"{one['status']}/{one['kind']}" if one["kind"] else one["status"] for one in panes}

    def wait(self, start: str, light: str, timeout: float = SOON_S) -> str:
        """Wait until a pane whose id begins with *start* has *light*, or one beginning so; its id."""

        def found() -> str:
            return next((i for i, has in self.rows().items() if i.startswith(start) and has.startswith(light)), "")

        id_: str = wait_until(found, timeout, f"{start} {light}", 0.2)
        return id_

    def in_tmux(self, name: str, *argv: str) -> Pane:
        """A session of tmux that runs *argv*, with this terminal attached to it."""
        command = self.launch("tmux", "new-session", "-s", name, "-x", "100", "-y", "40", *argv)
        return Pane(self.room, command, 100, 41, answers=True)

    def close(self) -> None:
        self.run("tmux", "kill-server")
        self.host.terminate()
        self.model.close()
        self.room.close()


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    agent = getattr(request, "param", "claude")
    if os.geteuid() != 0 or shutil.which("tmux") is None:
        pytest.skip("real agents run in namespaces of their own: that needs root, and this tmux")
    try:
        install(AGENTS[agent])
    except InstallError as error:
        pytest.skip(str(error))
    folder = Path(tempfile.mkdtemp(prefix="tallylight-pane-", dir="/tmp"))
    desk = Desk(folder, agent)
    yield desk
    desk.close()
    shutil.rmtree(folder, ignore_errors=True)


def test_as_it_starts_by_itself(desk: Desk) -> None:
    """Its auto mode, which cannot check what it does, asks in the middle of a turn, by no word of a question."""
    pane = desk.in_tmux("one", "claude")
    pane.wait_text("auto mode on")
    desk.wait("tmux/", "idle")
    pane.submit(RISKY)
    pane.wait_text("to stay in auto mode")  # tmux may write over the first letter what this terminal does not know
    id_ = desk.wait("tmux/", "waiting")
    time.sleep(SETTLES)
    pane.send("\r")
    pane.wait_text("Do you want to proceed")
    assert desk.wait("tmux/", "waiting/permission") == id_
    time.sleep(SETTLES)
    pane.send("\x1b")
    desk.wait("tmux/", "idle")
    # A menu of the person's own has that same word.
    pane.submit("/model")
    pane.wait_text("Select model")
    time.sleep(3)  # longer than a wrong light would take
    assert desk.rows()[id_] == "idle"
    pane.close()


def test_in_the_background(desk: Desk) -> None:
    """It waits, is listed, told and opened, goes on as it was answered there, and is gone with its process."""
    said = desk.run("claude", "--bg", "--permission-mode", "manual", f"{RISKY} THEN AFTER 1 fine")[1]
    job = re.search(r"backgrounded · (\w+)", said)
    assert job is not None
    desk.model.wait_mark("waiting:permission")
    id_ = desk.wait("claude/", "waiting/permission")
    assert id_ == f"claude/{job[1]}"
    # What it asks for is in its transcript, which may come a moment later.
    wait_until(lambda: "Bash: curl" in desk.run(*desk.tally("status", "--waiting"))[1], 20, "what it asks for")
    assert desk.run(*desk.tally("status", "--waiting"))[0] == 3
    assert desk.run(*desk.tally("wait", id_, "--for", "waiting"))[0] == 3
    assert "by registry: status file: waiting, permission prompt" in desk.run(*desk.tally("why", id_))[1]
    wait_until((desk.home / "told").exists, 20, "the notification")

    view = desk.in_tmux("view", "claude", "agents")
    view.wait_text("1 awaiting input")
    desk.wait("tmux/", "waiting")
    view.close()

    # Whatever is answered is answered there.
    assert desk.run(*desk.tally("send", id_, "yes"))[0] == 7
    opened = Pane(desk.room, desk.launch(*desk.tally("attach", id_)), 100, 40, answers=True)
    opened.wait_text("Do you want to proceed")
    time.sleep(SETTLES)
    opened.send("1")
    desk.model.wait_mark("done")
    desk.wait(id_, "done")
    opened.close()
    assert desk.run("claude", "stop", job[1])[0] == 0
    wait_until(lambda: id_ not in desk.rows(), SOON_S, "the end of its row", 0.2)


class Editor:
    """An editor that has started Copilot; see https://agentclientprotocol.com."""

    def __init__(self, desk: Desk) -> None:
        self._process = desk.popen("copilot", "--acp", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._calls = itertools.count(1)
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}}
        self.answer(self.call("initialize", protocolVersion=1, clientCapabilities=capabilities))

    def _send(self, **message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps({'jsonrpc': '2.0', **message})}\n".encode())
        self._process.stdin.flush()

    def call(self, method: str, **words: object) -> int:
        """Ask for something; the number of the call."""
        number = next(self._calls)
        self._send(id=number, method=method, params=words)
        return number

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self._process.stdout is not None
        return next(said for line in self._process.stdout if wanted(said := json.loads(line)))

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to the call *number*."""
        found: dict[str, Any] = self._until(lambda said: said.get("id") == number and "result" in said)["result"]
        return found

    def begin(self) -> str:
        """Begin a session; its id."""
        return str(self.answer(self.call("session/new", cwd=str(HOME / "project"), mcpServers=[]))["sessionId"])

    def prompt(self, session: str, text: str) -> int:
        """Send a prompt."""
        return self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def allow(self) -> None:
        """Allow what it asks for next."""
        asked = self._until(lambda said: said.get("method") == "session/request_permission")
        self._send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "allow_once"}})

    def close(self) -> None:
        """End as an editor does: there is nothing more to say."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)


@pytest.mark.parametrize("desk", ["copilot"], indirect=True)
def test_sessions_of_an_editor(desk: Desk) -> None:
    """Two in one process: each has its row and its light, and both go with the process."""
    editor = Editor(desk)
    first, second = editor.begin(), editor.begin()
    turn = editor.prompt(first, "AFTER 1 TOOL touch made; sleep 1 THEN fine")
    id_ = desk.wait(f"copilot/{first}", "waiting/permission")
    assert not desk.rows()[f"copilot/{second}"].startswith("waiting")
    assert desk.run(*desk.tally("send", id_, "yes"))[0] == 7
    editor.allow()
    editor.answer(turn)
    desk.wait(id_, "done")
    editor.close()
    wait_until(lambda: id_ not in desk.rows(), SOON_S, "the end of its row", 0.2)
