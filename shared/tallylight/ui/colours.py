"""
Whether to colour, and how deep: the command line decides first, then NO_COLOR, then FORCE_COLOR.

NO_COLOR (https://no-color.org) wins over FORCE_COLOR (https://force-color.org), as in Python's own tools. Each counts
when it is not empty; `FORCE_COLOR=0` forces nothing, as in programs for Node.js.

Standard library only: the parser of every verb needs it, and `tally setup` runs before there is anything else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

#: The values of `--color`; the first is the default.
CHOICES = ("auto", "always", "never")


class Depth(enum.Enum):
    """The number of colours, in bits."""

    NONE = 0
    CUBE = 8
    FULL = 24


def chosen(environ: Mapping[str, str], choice: str) -> Mapping[str, str]:
    """Return the environment with its colour variables set for *choice*, one of `CHOICES`."""
    if choice == "always":
        return {name: value for name, value in environ.items() if name != "NO_COLOR"} | {"FORCE_COLOR": "1"}
    return {**environ, "NO_COLOR": "1"} if choice == "never" else environ


def are_wanted(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether to colour the output to a terminal, or to something else."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM", "") not in ("", "dumb")


def depth(environ: Mapping[str, str], *, is_terminal: bool = True) -> Depth:
    """Return how many colours to use."""
    if not are_wanted(environ, is_terminal=is_terminal):
        return Depth.NONE
    term = environ.get("TERM", "")
    full = environ.get("COLORTERM") in ("truecolor", "24bit") or term in ("xterm-kitty", "wezterm")
    return Depth.FULL if full else Depth.CUBE
