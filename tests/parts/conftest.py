"""Fixtures that the tests of several parts share: those of the commands and of snapshots."""

from __future__ import annotations

from tests.cli.conftest import by_a_script as by_a_script
from tests.cli.conftest import runtime as runtime
from tests.snapshot.conftest import folder as folder
