"""
The order of hooks' reports, by the start time of each hook.

An agent's hooks are processes that run beside each other, so their reports come in any order, and some twice. Each
carries `at`, the start of its process in hundredths of a second since its machine's. The kernel notes it in the order
of their start. Reports of one record are kept for a while in that order; its state follows from all of them, whichever
came first:

* a later one replaces an earlier one; of two with the same time the more final one (`_RANK`) is the later;
* the end of one tool (`of`) does not end the wait for another;
* a `weak` one counts only where no better one has reported the same;
* when the agent itself exits, its subagents' earlier reports go with it.

In: the payload of OSC 1338 and its decoded report. Out: the reports for the tracker. A payload without `at` is not of a
hook, counts by itself and starts again.
"""

from __future__ import annotations

from collections import OrderedDict

import attrs

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report
from tallylight.model.status import Kind, Status
from tallylight.wire import osc1338, pairs

#: The rule of a report that a hook made, on any way.
RULE = "hook"
#: Hundredths of a second that a late report may be older than the latest; one that is older yet is of another machine's
#: clock.
LATEST_WITHIN_CS = 6_000
#: Reports kept of a record, and records kept of a pane.
MAX_KEPT = 32
MAX_ORDER_LINES = 256
#: Records above this number are forgotten with their agent's end, so that the next one is cheap.
FEW_RECORDS = 32

#: The rank of reports of one time: the greatest counts as the last.
_RANK: dict[Status | None, int] = {
    Status.IDLE: 0,
    Status.WORKING: 1,
    Status.WAITING: 2,
    Status.BACKGROUND: 3,
    Status.DONE: 3,
    Status.ERROR: 4,
    None: 5,
}
_OVER = (Status.DONE, Status.ERROR, Status.BACKGROUND, Status.IDLE, None)


@attrs.frozen(order=True)
class _Entry:
    """A report with its place in the order."""

    at: int
    rank: int
    #: Distinguishes two reports of one time, so that their order is always the same.
    payload: str
    report: Report = attrs.field(order=False)
    of: str = attrs.field(order=False)
    is_weak: bool = attrs.field(order=False)


@attrs.define
class _Line:
    """The reports of one record, by time. *base* is the state after the ones that are no longer kept."""

    entries: list[_Entry] = attrs.Factory(list)
    base: _Entry | None = None
    shown: Report | None = None

    def add(self, entry: _Entry) -> None:
        """Add *entry* in its place; the oldest one beyond `MAX_KEPT` goes into *base*."""
        self.entries.append(entry)
        self.entries.sort()
        while len(self.entries) > MAX_KEPT:
            self.base = _after(self.base, self.entries.pop(0))

    @property
    def latest(self) -> int | None:
        if self.entries:
            return self.entries[-1].at
        return self.base.at if self.base is not None else None

    def is_known(self, entry: _Entry) -> bool:
        """Return whether it is there already, or is older than all kept ones."""
        return entry in self.entries or (self.base is not None and entry <= self.base)

    def state(self) -> _Entry | None:
        """Return the state of the record after all of its reports."""
        state = self.base
        for entry in self.entries:
            state = _after(state, entry)
        return state


class HookOrder:
    """Sorts the reports of hooks in one pane."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, _Line] = OrderedDict()

    def admit(self, payload: str | None, report: Report) -> tuple[Report, ...]:
        """Return the reports that follow from *report*, decoded from *payload*; none if it changes nothing."""
        found = _entry(payload, report) if payload is not None else None
        if found is None:
            # Another source reported, and counts until the next report of a hook.
            self._forget(report.id)
            return (report,)
        line = self._line_of(report.id)
        if line.latest is not None and found.at < line.latest - LATEST_WITHIN_CS:
            self._forget(report.id)
            line = self._line_of(report.id)
        if line.is_known(found):
            return ()
        line.add(found)
        changed = self._changed_reports(line, found)
        if found.report.status is None and not found.report.id:
            are_many = len(self._lines) > FEW_RECORDS
            for id_, below in list(self._lines.items()):
                if id_ and are_many and below.latest is not None and below.latest <= found.at:
                    # The tracker withdraws it, and a late report finds the exit in the agent's own line.
                    del self._lines[id_]
                elif id_:
                    changed += self._apply_exit(below, id_, found)
        return tuple(changed)

    def _changed_reports(self, line: _Line, arrived: _Entry) -> list[Report]:
        """Return the reports about *line* now that *arrived* is in it."""
        state = line.state()
        if state is None or (state is not arrived and state.report == line.shown):
            return []
        line.shown = state.report
        return [state.report]

    def _apply_exit(self, line: _Line, id_: str, goodbye: _Entry) -> list[Report]:
        """Apply the agent's own *goodbye* to one of its subagents."""
        entry = attrs.evolve(goodbye, report=attrs.evolve(goodbye.report, id=id_))
        if line.is_known(entry):
            return []
        line.add(entry)
        # The tracker withdraws a record with its subagents. A subagent that came later is reported again.
        line.shown = None
        return self._changed_reports(line, entry)

    def _line_of(self, id_: str) -> _Line:
        """Return the reports of the record *id_*; a new subagent's begin with the agent's own exits."""
        line = self._lines.get(id_)
        if line is None:
            while len(self._lines) >= MAX_ORDER_LINES:
                del self._lines[next(known for known in self._lines if known)]
            line = self._lines[id_] = _Line()
            root = self._lines.get("") if id_ else None
            for entry in root.entries if root is not None else ():
                if entry.report.status is None:
                    line.add(attrs.evolve(entry, report=attrs.evolve(entry.report, id=id_)))
        self._lines.move_to_end(id_)
        return line

    def _forget(self, id_: str) -> None:
        """Forget the reports of a record, and with the agent's own those of all."""
        if id_:
            self._lines.pop(id_, None)
        else:
            self._lines.clear()


def _entry(payload: str, report: Report) -> _Entry | None:
    """Return the report with its place in the order; None if it is not of a hook."""
    if "at=" not in payload:
        return None
    found = dict(pairs.split(payload.encode("utf-8", "replace")))
    at = found.get(b"at", b"")
    if not at.isdigit() or len(at) > 15:
        return None
    try:
        of = pairs.percent_decode(found.get(b"of", b"")).decode("ascii", "replace")
    except DecodeError:
        of = ""
    rank = _RANK.get(report.status, 0)
    if report.rule == osc1338.VARIABLE_RULE:
        report = attrs.evolve(report, rule=RULE)
    return _Entry(int(at), rank, payload, report, of, found.get(b"weak") == b"1")


def _after(state: _Entry | None, entry: _Entry) -> _Entry:
    """Return the state of the record when *entry* follows on *state*."""
    if state is None:
        return entry
    before, now = state.report.status, entry.report.status
    is_over = before in _OVER or state.report.kind is Kind.LIMIT
    if entry.is_weak and (now is before or (now in (Status.IDLE, Status.DONE) and is_over)):
        return state
    is_other_tool = bool(entry.of and state.of) and entry.of != state.of
    if before is Status.WAITING and now is Status.WORKING and is_other_tool:
        return state
    return entry
