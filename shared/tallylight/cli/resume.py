"""`tally resume`: `tally fork` with the other verb."""

from __future__ import annotations

from tallylight.actions.plan import Verb
from tallylight.cli import fork
from tallylight.cli.parser import Parser


def make_parser() -> Parser:
    """What `tally resume` takes."""
    return fork.make_parser(Verb.RESUME)


def main(argv: list[str]) -> int:
    """Resume one pane."""
    return fork.main(argv, Verb.RESUME)
