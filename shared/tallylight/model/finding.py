"""A finding: the result of one check of `tally doctor`, and what to do about it."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Health(enum.StrEnum):
    """The result of a check."""

    OK = "ok"
    MISSING = "missing"
    STALE = "stale"
    DUPLICATE = "duplicate"
    BROKEN = "broken"
    #: It works and could be better. No fault.
    HINT = "hint"
    #: It could not be checked here. No fault.
    SKIPPED = "skipped"


class Finding(NamedTuple):
    """The result of one check. *what* names the checked thing; *remedy* is empty if there is nothing to do."""

    what: str
    health: Health
    text: str
    remedy: str = ""

    @property
    def is_fault(self) -> bool:
        return self.health not in (Health.OK, Health.HINT, Health.SKIPPED)
