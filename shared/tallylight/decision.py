"""
A decision: what is shown for a pane, and why.

The tracker makes decisions; surfaces draw them and `tally why` prints them. Everything in here is a value.
"""

from __future__ import annotations

import attrs

from tallylight.report import Report, Source
from tallylight.status import Kind, Status


@attrs.frozen
class Reason:
    """Why a status is shown: the source and rule that won, when they spoke (monotonic s), what would change it."""

    source: Source | None
    rule: str
    at: float
    changes: str


@attrs.frozen
class Losing:
    """A claim that did not win, and the trust rule that put it aside."""

    source: Source
    rule: str
    status: Status
    at: float
    why: str


@attrs.frozen
class Decision:
    """
    The state of one record, or of a pane as the roll-up of its records.

    *since* is when this status began to be true, in monotonic seconds; *report* holds the display fields, merged
    from every claim about the record, best source first.
    """

    status: Status
    kind: Kind | None
    reason: Reason
    since: float
    report: Report
    losing: tuple[Losing, ...] = ()

    @property
    def is_lit(self) -> bool:
        """
        Whether a surface draws a light at all.

        A plain command has nothing to say, and neither has a shell at its prompt that no agent ran in.
        """
        if self.status is Status.ACTIVE:
            return False
        return not (self.status is Status.IDLE and self.reason.source is Source.SHELL)

    @property
    def needs_person(self) -> bool:
        """Whether the status stands for something a person has not dealt with yet."""
        return self.status in (Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE)
