"""`tally resume`: `tally fork` with the other verb."""

from __future__ import annotations

from tallylight.actions.plan import Verb
from tallylight.cli import fork


def main(argv: list[str]) -> int:
    """Resume one pane."""
    return fork.main(argv, Verb.RESUME)
