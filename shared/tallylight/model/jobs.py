"""Jobs: what is done away from a host's loop, as those who have one done see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

Result = TypeVar("Result")
#: Get what a job returned, or what it raised, on the loop.
Done = Callable[[Result], object]
Failed = Callable[[Exception], object]


def ignored(_: object) -> None:
    """Take note of a result, or of what a job raised, that nobody waits for."""


def raised(error: Exception) -> None:
    """Raise what a job raised, on the loop."""
    raise error


class Submit(Protocol):
    """Does a *job* of a key away from the loop; False if it was not taken."""

    def __call__(
        self, key: Hashable, job: Callable[[], Result], done: Done[Result] = ignored, failed: Failed = ignored
    ) -> bool: ...
