"""`tally seen`: see `cli.snooze`."""

from __future__ import annotations

from tallylight.cli.snooze import seen as main

__all__ = ["main"]
