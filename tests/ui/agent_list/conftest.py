"""Fixtures of the tests of the list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.agent_list.program import Host, List


@pytest.fixture
def shown(host: Host, tmp_path: Path) -> Iterator[List]:
    """Its list."""
    shown = List(tmp_path)
    with shown.terminal:
        shown.wait("docs")
        yield shown
