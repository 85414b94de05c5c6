"""`tally unread`: see `cli.snooze`."""

from __future__ import annotations

from tallylight.cli.snooze import unread as main

__all__ = ["main"]
