"""
Tasks: how far an agent is and what it does now, in words and as a bar. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.model.report import current, progress
from tallylight.ui.layout import GAP

#: Cells of a bar, where there is room for one.
BAR = 6
#: What a protocol that tells a share makes of it.
_HUNDRED = 100


def bar(counted: str, cells: int = BAR) -> str:
    """
    Draw a bar of *cells* for `3/7` and write that behind it; without cells write it alone. Of a hundred it is a share.

    Nothing for what is no such thing.
    """
    found = progress(counted)
    if found is None:
        return ""
    full = found.done * cells // found.total
    drawn = f"{'━' * full}{'─' * (cells - full)} " if cells else ""
    return f"{drawn}{found.done} %" if found.total == _HUNDRED else f"{drawn}{found.done}/{found.total}"


def doing(counted: str, tasks: Sequence[str], detail: str, cells: int = BAR) -> str:
    """Say in one line how far an agent is and what it does: `━━━─── 3/7  Write the tests`."""
    return GAP.join(part for part in (bar(counted, cells), current(counted, tasks) or detail) if part)
