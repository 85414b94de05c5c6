"""Fixtures of the tests of snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of the snapshots."""
    made = tmp_path / "tallylight"
    made.mkdir(mode=0o700)
    return made
