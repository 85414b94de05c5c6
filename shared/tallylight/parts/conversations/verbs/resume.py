"""`tally resume`: `tally fork` with the other verb."""

from __future__ import annotations

import functools

from tallylight.parts.conversations.plan import Verb
from tallylight.parts.conversations.verbs import fork

make_parser = functools.partial(fork.make_parser, Verb.RESUME)
main = functools.partial(fork.main, verb=Verb.RESUME)
