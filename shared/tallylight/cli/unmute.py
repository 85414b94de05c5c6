"""`tally unmute`: see `cli.mute`."""

from __future__ import annotations

import functools

from tallylight.cli import mute

make_parser = functools.partial(mute.make_parser, "unmute")
main = functools.partial(mute.main, verb="unmute")
