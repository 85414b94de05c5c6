"""`tally unread`: see `cli.seen`."""

from __future__ import annotations

import functools

from tallylight.cli import seen

make_parser = functools.partial(seen.make_parser, "unread")
main = functools.partial(seen.main, verb="unread")
