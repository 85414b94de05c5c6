"""What the tests of detached sessions share."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.detached.polling import HandSource, System
from tests.hosts.detached.yard import Yard
from tests.real_agents.conftest import claude_program as claude_program
from tests.real_kitty.roots import SUITES, open_room, root_of

#: For a test that is to hold with every version: Debian 12's, 13's and sid's.
everywhere = pytest.mark.parametrize("yard", ["here", *SUITES], indirect=True)


@pytest.fixture
def source() -> HandSource:
    """What the polling host of `system` asks."""
    return HandSource()


@pytest.fixture
def system(tmp_path: Path, source: HandSource) -> Iterator[System]:
    """A polling host made by hand."""
    system = System(tmp_path, source)
    yield system
    system.poller.close()


@pytest.fixture(scope="module")
def claude_yard(claude_program: Path) -> Iterator[Yard]:
    """A yard with Claude's program and a model."""
    version = next((version for version in SUITES if root_of(version)), None)
    if version is None:
        pytest.skip("no root to run agents in: run tests/run once as root")
    with opened(version, claude_program) as yard:
        yield yard


@pytest.fixture
def yard(request: pytest.FixtureRequest) -> Iterator[Yard]:
    """
    A yard without an agent, with the tmux and the Screen of this machine.

    A test that is marked with `everywhere` has those of each root, too.
    """
    version = getattr(request, "param", "here")
    if version in SUITES and (root_of(version) is None or os.geteuid() != 0):
        pytest.skip(f"no root {version}: run tests/run once as root")
    with opened(version) as yard:
        yield yard


@contextlib.contextmanager
def opened(version: str, claude: Path | None = None) -> Iterator[Yard]:
    """A yard in the room of *version*; at its end nothing of it is left."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-sessions-", dir="/tmp"))
    room = open_room(version)
    yard = Yard(room, folder, version, claude)
    try:
        yield yard
    finally:
        yard.close()
        room.close()
        _end_all(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _end_all(folder: Path) -> None:
    """End what was started in *folder* and would outlive the test: servers of multiplexers are daemons."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) + b"/" in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
