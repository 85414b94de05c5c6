"""What the tests of the application share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.parts.web.browser import WIDTHS, Browser
from tests.parts.web.live import Live, Stage
from tests.parts.web.serving import AUTH, PANES, Served

#: Two questions, one behind the other, and the prompt behind both.
SCREENS = ("claude/permission-bash-80", "claude/permission-write-80", "claude/idle-start-80")


#: Of the recorded screens, what an agent draws in colours of its own.
PAINT = {
    r"─+|╌+": "38;5;153",
    r"Bash command|Create file": "1;38;5;153",
    r"❯ 1\. Yes": "38;5;153",
    r"●": "38;5;114",
    r"✻|✽|Claude Code": "1;38;2;215;119;87",
    r"Do you want .*": "1",
    r"Esc to cancel.*|Tab to amend.*|ctrl\+e to explain.*": "2",
}


def painted(text: str) -> str:
    """A screen's text with the colours of `PAINT`."""
    for found, sgr in PAINT.items():
        text = re.sub(found, lambda part, sgr=sgr: f"\x1b[{sgr}m{part[0]}\x1b[0m", text)
    return text


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browser]:
    """One browser for all tests."""
    made = Browser()
    yield made
    made.driver.quit()


@pytest.fixture
def browser(browsers: Browser) -> Iterator[Browser]:
    browsers.width(WIDTHS[0])
    browsers.scheme("light")
    browsers.driver.get("about:blank")
    # What an earlier test has left.
    browsers.problems()
    yield browsers
    browsers.driver.get("about:blank")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
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
    made = Stage(tmp_path, SCREENS, painted)
    try:
        yield made.start()
    finally:
        made.close()
