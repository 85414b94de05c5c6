"""
The tasks of an agent: which is the current one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.model.report import progress


def current(counted: str, tasks: Sequence[str]) -> str:
    """Name the task that comes after those which *counted*, `3/7`, says are done; nothing if that is not known."""
    found = progress(counted)
    if found is None or found.done >= len(tasks):
        return ""
    return tasks[found.done]
