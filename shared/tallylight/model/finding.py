"""A finding: one thing that `tally doctor` looked at, and what to do about it."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Health(enum.StrEnum):
    OK = "ok"
    MISSING = "missing"
    STALE = "stale"
    DUPLICATE = "duplicate"
    BROKEN = "broken"
    #: It works, and there is something that makes it better. No fault.
    HINT = "hint"
    #: It could not be tried here. No fault.
    SKIPPED = "skipped"


class Finding(NamedTuple):
    """One thing looked at. *remedy* is what to do; empty if nothing is."""

    what: str
    health: Health
    text: str
    remedy: str = ""

    @property
    def is_fault(self) -> bool:
        return self.health not in (Health.OK, Health.HINT, Health.SKIPPED)
