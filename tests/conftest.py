"""
Fixtures and settings every test gets.

`FAST=1` picks the small hypothesis profile (the inner loop), `CI=1` the large one. `fake_home` is autouse: no test
can read or write the real home, the real runtime directory, or believe it runs inside a multiplexer or a kitty.
"""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

_COMMON = {
    "deadline": None,
    # The autouse fixture below is safe to share between examples: no example writes there by itself.
    "suppress_health_check": [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
}
hypothesis.settings.register_profile("fast", max_examples=25, **_COMMON)
hypothesis.settings.register_profile("default", max_examples=100, **_COMMON)
hypothesis.settings.register_profile("ci", max_examples=500, **_COMMON)
hypothesis.settings.load_profile("fast" if os.environ.get("FAST") else "ci" if os.environ.get("CI") else "default")

#: Where each directory of the XDG specification points, relative to the fake home.
XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": "run",
}
#: What a surrounding terminal or multiplexer would leak into a test.
SURROUNDINGS = ("TMUX", "STY", "ZELLIJ", "WEZTERM_", "KITTY_", "TALLY_", "VIBEFLOW_", "CLAUDE")


@pytest.fixture(autouse=True)
def fake_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A throw-away HOME with every XDG directory in it, and no trace of the terminal the tests run in."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name, below in XDG.items():
        directory = home / below
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)
        monkeypatch.setenv(name, str(directory))
    for name in list(os.environ):
        if name.startswith(SURROUNDINGS):
            monkeypatch.delenv(name)
    return home
