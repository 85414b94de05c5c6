"""`tally unread`: see `cli.snooze`."""

from __future__ import annotations

import functools

from tallylight.cli import snooze

make_parser = functools.partial(snooze.make_marker, "unread")
main = functools.partial(snooze.mark, "unread")
