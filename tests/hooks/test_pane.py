"""Hooks at a host's pane: what arrives late does not put an old light on."""

from __future__ import annotations

from tallylight.pane.pane import Pane
from tests.hosts.test_pane import CLAUDE, HandTable, pane, table

__all__ = ["HandTable", "pane", "table"]


def test_a_late_hook_is_late(pane: Pane) -> None:
    """A hook that was started before another and arrives after it changes nothing; an old carrier still does."""
    pane.foreground(CLAUDE.pid, 0)
    pane.user_variable("state=working;tool=claude;at=1001", 1)
    pane.user_variable("state=done;tool=claude;at=1003", 2)
    pane.user_variable("state=working;tool=claude;at=1002", 3)
    pane.tick(4)
    assert pane.decision.status == "done"
    assert pane.decision.reason.rule == "hook"

    pane.user_variable("state=waiting;tool=claude", 5)
    pane.tick(6)
    assert pane.decision.status == "waiting"
    assert pane.decision.reason.rule == "user variable"
