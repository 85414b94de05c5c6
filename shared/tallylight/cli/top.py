"""
`tally top`: the live list of every agent, detached ones too, in any terminal.

It is the list that `tally agents` draws, under the name people look for: one list, with one set of keys. A second one
on a library for terminal interfaces would have to be kept like the first, and could do no more.
"""

from __future__ import annotations

from tallylight.cli import agents


def main(argv: list[str]) -> int:
    """Show the list until the person leaves it."""
    return agents.main(argv, "top")
