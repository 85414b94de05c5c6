"""How long a test waits for what must come: on a machine with a load of twenty it comes, but late."""

from __future__ import annotations

#: How much longer than on a quiet machine. An agent that answers there in three seconds took thirty on a loaded one.
PATIENCE = 6
#: From here on a time to wait says "for as long as it may take"; less is a claim of how soon, and kept.
LONG_S = 5.0


def patient(timeout: float) -> float:
    """How many seconds to wait for what takes at most *timeout* on a quiet machine."""
    return timeout * PATIENCE if timeout >= LONG_S else timeout
