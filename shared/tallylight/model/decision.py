"""
A decision: the status to show for a pane, and why.

The tracker makes decisions; surfaces draw them and `tally why` prints them. Everything in here is a value.
"""

from __future__ import annotations

import functools

from tallylight.model import attributes
from tallylight.model.report import Report, Source
from tallylight.model.status import NEEDS_PERSON, Kind, Status
from tallylight.model.timing import Timing

#: The ends of each status, in words.
_CHANGES: dict[Status, str] = {
    Status.WORKING: "silence, the end of its turn, a question, or its exit",
    Status.WAITING: "the agent continues or exits, or a better source disagrees; no timer and no look",
    Status.BACKGROUND: "its background tasks end, or a new turn",
    Status.DONE: "a look at the pane, or a new turn",
    Status.ERROR: "a new turn, or its exit",
    Status.LIMITED: "a new turn, or its exit",
    Status.DOWN: "a look at the pane, or a new command",
    Status.QUIET: "visible output, a sign on its screen, or a better source",
    Status.IDLE: "a new turn or command",
    Status.ACTIVE: "an agent in the foreground, or a report",
}
#: The same for statuses of some sources. The numbers are the tracker's times in seconds.
_CHANGES_BY: dict[Status, dict[Source | None, str]] = {
    Status.WORKING: {
        Source.PROTOCOL: "its next report, its exit, or {fuse} without report and visible output",
        Source.REGISTRY: "its status file, a newer report of its own, or its exit",
        Source.PROCESS: "its answer ends, a dialog on its screen, a better source, or its exit",
        Source.TITLE: "its title, a dialog on its screen, its exit, or {stale} of silence",
        Source.SCREEN: "another screen, a better source, its exit, or {stale} without any change",
        Source.HEURISTIC: "{silence} without visible output, a sign on its screen, or a better source",
    },
    Status.WAITING: {
        Source.SCREEN: "its dialog leaves the screen, a better source, or its exit; no timer and no look",
        Source.HEURISTIC: "visible output, a known idle screen, or a better source; no timer and no look",
        Source.REGISTRY: "its status file, a newer report of its own, or its exit; no timer and no look",
    },
    Status.IDLE: {
        Source.SCREEN: "output, another screen, or a better source",
        Source.HEURISTIC: "visible output, a sign on its screen, or a better source",
    },
    Status.ERROR: {
        Source.SCREEN: "the error leaves the end of its screen, a new turn, or its exit",
    },
}


_USUAL = Timing()


@functools.lru_cache(maxsize=64)
def what_would_change(status: Status, source: Source | None, timing: Timing = _USUAL) -> str:
    """Return in words what would end *status* as reported by *source*. A fuse of 0 never burns."""
    text = _CHANGES_BY.get(status, {}).get(source)
    if text is None:
        return _CHANGES[status]
    if source is Source.PROTOCOL and not timing.fuse_s:
        return "its next report, or its exit"
    return text.format(silence=f"{timing.silence_s:g} s", stale=f"{timing.stale_s:g} s", fuse=f"{timing.fuse_s:g} s")


@attributes.frozen
class Reason:
    """Why a status is shown: the source and rule that won, the monotonic time of that report, and what would end it."""

    source: Source | None
    rule: str
    at: float
    changes: str


@attributes.frozen
class Decision:
    """
    The state of one record, or of a pane as the roll-up of its records.

    *since* is when this status began to be true, in monotonic seconds. *report* has the display fields of all claims
    about the record, those of the best source first.
    """

    status: Status
    kind: Kind | None
    reason: Reason
    since: float
    report: Report
    #: The name of the subagent that shows in place of its pane; empty if none does.
    child_name: str = ""
    #: When the usage limit that stops its agent ends, in seconds since the epoch; 0 for none, or if unknown.
    limited_until: float = 0.0
    #: The kind of question by sources other than the screen; None if none reports one, or they differ.
    confirmed_kind: Kind | None = None

    @property
    def is_lit(self) -> bool:
        """
        Return whether a surface draws a light at all.

        There is none for a plain command, nor for a shell at its prompt in which no agent ran.
        """
        if self.status is Status.ACTIVE:
            return False
        return not (self.status is Status.IDLE and self.reason.source is Source.SHELL)

    @property
    def needs_person(self) -> bool:
        """Return whether the status needs a person who has not dealt with it yet."""
        return self.status in NEEDS_PERSON
