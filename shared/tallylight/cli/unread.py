"""`tally unread`: see `cli.snooze`."""

from __future__ import annotations

from tallylight.cli.parser import Parser
from tallylight.cli.snooze import make_marker
from tallylight.cli.snooze import unread as main

__all__ = ["main", "make_parser"]


def make_parser() -> Parser:
    """What `tally unread` takes."""
    return make_marker("unread")
