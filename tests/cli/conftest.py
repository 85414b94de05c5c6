"""What the tests of the commands share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tallylight.actions.caller import Who
from tallylight.setup import environment
from tallylight.setup.environment import Source
from tests.actions.callers import CALLERS
from tests.cli.panes import NOW


@pytest.fixture(autouse=True)
def by_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are run by a script in a pane, wherever the tests are run."""
    for module in ("cli.reaching", "cli.attach", "parts.conversations.verbs.start"):
        monkeypatch.setattr(f"tallylight.{module}.own_caller", lambda *_: CALLERS[Who.SCRIPT])


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the commands to an empty runtime directory, and stop their clock."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    for name in ("KITTY_PID", "KITTY_WINDOW_ID", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("time.time", lambda: NOW)
    return tmp_path


@pytest.fixture(scope="session")
def small_source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Our code, without most of the package: `tally setup` copies hundreds of files and reads each of them."""
    whole = environment.running_source()
    package = tmp_path_factory.mktemp("source") / "tallylight"
    package.mkdir()
    for part in ("__init__.py", "model", "agents"):
        from_, to = whole.package / part, package / part
        shutil.copytree(from_, to, ignore=shutil.ignore_patterns("__pycache__")) if from_.is_dir() else shutil.copy(
            from_, to
        )
    return Source(package, whole.kittens, whole.wezterm)


@pytest.fixture
def home(tmp_path: Path, small_source: Source, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory with a space in its name, for `tally setup` to be tried in."""
    monkeypatch.setattr(environment, "running_source", lambda: small_source)
    home = tmp_path / "home of me"
    home.mkdir()
    return home
