"""What tests with real agents share: the room, the folder both sides see, the scripted model, Claude on a pty."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from tests.real_agents.desk import Desk, Tab
from tests.real_agents.driver import Pane, RemoteModel, StatusWatch, place, prepare_claude
from tests.real_agents.install import CLAUDE, CODEX, Agent, InstallError
from tests.real_agents.waits import Waits
from tests.real_kitty.roots import SUITES, Room, open_room, root_of


@attrs.frozen
class Claude:
    """Claude Code at its prompt, and everything that watches it."""

    room: Room
    model: RemoteModel
    pane: Pane
    status: StatusWatch
    home: Path
    waits: Waits

    def late(self, seen: float, truth: float) -> float:
        """How long after the truth it was seen, but for what Claude and we waited for a processor."""
        self.waits.note()
        return seen - truth - self.waits.between(truth, seen)


@pytest.fixture
def workspace() -> Iterator[Path]:
    """A folder directly in /tmp: rooms see it, and a unix socket's path in it stays short."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-agents-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def claude_program() -> Iterator[Path]:
    """Claude's program where a room can see it; the test is skipped where none can be had."""
    yield from _placed(CLAUDE)


@pytest.fixture(scope="session")
def codex_program() -> Iterator[Path]:
    """Codex, likewise."""
    yield from _placed(CODEX)


def _placed(agent: Agent) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("real agents run in a network namespace with nothing but loopback: that needs root")
    folder = Path(tempfile.mkdtemp(prefix=f"tallylight-{agent.name}-", dir="/tmp"))
    try:
        yield place(agent, folder)
    except InstallError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module", params=list(SUITES))
def desk(
    request: pytest.FixtureRequest, claude_program: Path, codex_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """One kitty of each version for all tests of a file, with both agents."""
    if root_of(request.param) is None:
        pytest.skip(f"no root with kitty {request.param}: run tests/run once as root")
    desk = Desk(request.param, tmp_path_factory.mktemp("model"), claude=claude_program, codex=codex_program)
    yield desk
    desk.close()


@pytest.fixture
def borrow(desk: Desk) -> Iterator[Callable[[str, str], Tab]]:
    """Tabs with an agent at its prompt, by the agent's name and the command that starts it."""
    lent: list[Tab] = []

    def borrow(agent: str, command: str) -> Tab:
        lent.append(desk.borrow(agent, command))
        return lent[-1]

    yield borrow
    for tab in lent:
        desk.give_back(tab)


@pytest.fixture
def agent_room(claude_program: Path) -> Iterator[Room]:
    """A room with only loopback, around whichever kitty root there is."""
    version = next((version for version in SUITES if root_of(version)), None)
    if version is None:
        pytest.skip("no root to run agents in: run tests/run once as root")
    room = open_room(version)
    yield room
    room.close()


@pytest.fixture
def claude(agent_room: Room, claude_program: Path, workspace: Path) -> Iterator[Claude]:
    """Claude Code, ready, with no hook installed and none of its settings changed."""
    model = RemoteModel(agent_room, workspace)
    home = workspace / "home"
    launch = prepare_claude(home, claude_program, model.port)
    status = StatusWatch(home)
    pane = Pane(agent_room, launch)
    try:
        pane.wait_text("manual mode on", 30)
        status.wait("idle")
        waits = Waits([pid_of(home), os.getpid()])
        waits.note()
        yield Claude(agent_room, model, pane, status, home, waits)
    finally:
        status.close()
        pane.close()
        model.close()


def pid_of(home: Path) -> int:
    """The pid of the Claude of this *home*, as this side of its pid namespace counts."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={home}".encode() not in path.read_bytes().split(b"\0"):
                continue
            if (path.parent / "cmdline").read_bytes().startswith(b"claude\0"):
                return int(path.parent.name)
        except OSError:
            continue
    raise AssertionError("no process with this home is called claude")
