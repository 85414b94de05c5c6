"""`tally unread`: see `cli.snooze`, whose kin it is."""

from __future__ import annotations

from tallylight.cli.snooze import unread as main

__all__ = ["main"]
