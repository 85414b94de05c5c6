"""What the tests of the application share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tallylight.serve import answering
from tests.serve.live import Live, Stage
from tests.serve.serving import AUTH, PANES, Served

#: Two questions, one behind the other, and the prompt behind both.
SCREENS = ("claude/permission-bash-80", "claude/permission-write-80", "claude/idle-start-80")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    # A desk does not change by itself, and nobody need wait for that.
    monkeypatch.setattr(answering, "SETTLE_S", 0.0)
    made = Served()
    made.shows("sessions", *PANES)
    return made


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(served.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as made:
        yield made


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    made = Live(tmp_path).start()
    yield made
    made.stop()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, SCREENS)
    try:
        yield made.start()
    finally:
        made.close()
