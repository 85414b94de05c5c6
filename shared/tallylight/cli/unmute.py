"""`tally unmute`: see `cli.mute`."""

from __future__ import annotations

from tallylight.cli.mute import make_unmute_parser as make_parser
from tallylight.cli.mute import unmute as main

__all__ = ["main", "make_parser"]
