"""How long a test waits for what must come: on a machine with a load of twenty it comes, but late."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
#: How much longer than on a quiet machine. An agent that answers there in three seconds took thirty on a loaded one.
PATIENCE = 6
#: From here on a time to wait says "for as long as it may take"; less is a claim of how soon, and kept.
LONG_S = 5.0
#: Most of what is waited for comes within two milliseconds.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0005, 0.016


def patient(timeout: float) -> float:
    """How many seconds to wait for what takes at most *timeout* on a quiet machine."""
    return timeout * PATIENCE if timeout >= LONG_S else timeout


def until(condition: Callable[[], T], problem: str | Callable[[], object] = "it never came true") -> T:
    """Wait for *condition*, and return what it says as soon as that is anything. A *problem* may be made at the end."""
    end, pause = time.monotonic() + patient(30.0), _FIRST_PAUSE_S
    while not (found := condition()):
        assert time.monotonic() < end, problem() if callable(problem) else problem
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
    return found
