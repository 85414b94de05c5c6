"""Jobs: what is done away from a host's loop, as those who have one done see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable

#: Does a job of a key away from the loop, and delivers its result, or what it raised, there; False if it was not taken.
Submit = Callable[[Hashable, Callable[[], object], Callable[[object], None]], bool]
