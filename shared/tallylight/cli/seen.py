"""`tally seen`: see `cli.snooze`."""

from __future__ import annotations

import functools

from tallylight.cli import snooze

make_parser = functools.partial(snooze.make_marker, "seen")
main = functools.partial(snooze.mark, "seen")
