"""Jobs: work away from a host's loop, on threads, as its callers see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

Result = TypeVar("Result")
#: Callbacks on the loop: one gets the job's result, the other its exception.
Done = Callable[[Result], object]
Failed = Callable[[Exception], object]


def ignored(_: object) -> None:
    """Ignore a job's result or exception."""


def raised(error: Exception) -> None:
    """Raise a job's exception on the loop."""
    raise error


class Submit(Protocol):
    """
    Runs *job* on a thread, then *done* with its result, or *failed* with its exception, on the loop.

    One job of a *key* runs at a time. Returns False if the job was refused.
    """

    def __call__(
        self, key: Hashable, job: Callable[[], Result], done: Done[Result] = ignored, failed: Failed = ignored
    ) -> bool: ...
