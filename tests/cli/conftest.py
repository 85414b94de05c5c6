"""What the tests of the commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.panes import NOW


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the commands to an empty runtime directory, and stop their clock."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    for name in ("KITTY_PID", "KITTY_WINDOW_ID", "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("time.time", lambda: NOW)
    return tmp_path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home directory with a space in its name, for `tally setup` to be tried in."""
    home = tmp_path / "home of me"
    home.mkdir()
    return home
