"""
Marks of other machines: `seen` and `snooze` requests of a person who sees this machine's panes elsewhere.

This machine decides, and only if its configuration has `marks = true`. A mark counts for a pane that exists and still
shows the status that the person saw. One from the broker's store, or one too many, is ignored. No mark types or starts
anything: it becomes a request of `snapshot.requests`, as of `tally seen`.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tallylight.model.bucket import Bucket
from tallylight.model.status import NEEDS_PERSON
from tallylight.parts.remote.topics import decode_mark
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Snapshot

#: Marks that are accepted at once, and a second.
BURST_MARKS, PER_SECOND = 20, 2.0
#: By how many seconds the beginning of a status may differ between two copies of it.
SAME_S = 0.5


@attrs.define
class Marks:
    """Checks marks. *is_allowed*: the configuration of this machine accepts them."""

    is_allowed: bool
    _room: Bucket = attrs.field(init=False, factory=lambda: Bucket(PER_SECOND, BURST_MARKS))
    _is_flooded: bool = False

    def take(
        self, host: str, id_: str, payload: bytes, hosts: Iterable[Snapshot], now: float, *, is_stored: bool
    ) -> Request | str:
        """
        Return the request to *host* for its pane *id_*, or why there is none.

        The reason is empty if the last mark had the same one. *now* is monotonic.
        """
        was_flooded, self._is_flooded = self._is_flooded, not self._room.take(now)
        if self._is_flooded:
            return "" if was_flooded else f"more than {BURST_MARKS} marks at once"
        if not self.is_allowed:
            return "this machine takes no marks: `marks = true` in [fleet] allows them"
        mark = decode_mark(payload)
        if is_stored or mark is None:
            return "it is not a mark, or the broker kept it"
        shown = (pane for one in hosts if one.name == host for pane in one.panes)
        pane = next((pane for pane in shown if pane.id == id_), None)
        if pane is None:
            return "there is no such pane now"
        if pane.status is not mark.status or abs(pane.since - mark.since) > SAME_S:
            return f"it is {pane.status} now, and changed after it was seen"
        if mark.verb == "snooze" and pane.status not in NEEDS_PERSON:
            return f"it needs nothing now: it is {pane.status}"
        return Request(mark.verb, pane.id, () if mark.minutes is None else (f"{mark.minutes:g}",))
