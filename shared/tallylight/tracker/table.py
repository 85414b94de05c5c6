"""
The trust table: which facts each source knows, and how much they weigh.

A reported status answers up to three questions. Does a *turn* run? Is anything *asked*? Does a *rest* of subagents
and tasks run on? A cell is `says/holds`. The facts of a question are compared in the order of their time.
**A newer fact overrules the present one if its `says` is at least the other's `holds`.** `-` is no fact.
docs/trust.md shows the table; `tracker.questions` applies it.
"""

from __future__ import annotations

from typing import NamedTuple

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status

#: The turn *runs* or is *over*. The agent *asks*, or *still* asks when that is seen again; or it asks nothing, because
#: it *works* or its turn has *ended* or *failed*. It has a *rest* or is *alone*. The greater *how*, the better a source
#: knows how a turn ended.
TABLE = """
source       runs  over  asks  still works ended failed rest  alone how
heuristic    0/0   0/0   0/0   -     0/0   0/0   0/0    0/0   0/0   1
screen       2/2   2/2   2/2   1/2   2/2   2/2   2/2    2/2   2/2   2
notification 2/2   2/2   2/3   -     2/2   2/2   2/2    -     -     2
progress     2/2   2/3   2/2   -     2/2   2/1   2/2    -     2/2   1
title        3/3   3/3   3/4   -     3/2   2/1   3/3    3/3   2/2   1
process      3/3   -     -     -     3/1   -     -      -     -     0
record       4/2   4/2   4/2   -     4/2   4/2   4/2    4/4   4/4   4
registry     4/4   4/3   4/4   -     4/4   4/4   4/4    4/4   4/4   4
protocol     5/3   5/3   5/3   -     5/3   5/3   5/3    5/3   -     5
"""
#: The columns of each status: for the turn, the question and the rest.
IMPLIES: dict[Status, tuple[str, str, str]] = {
    Status.WORKING: ("runs", "works", ""),
    Status.WAITING: ("", "asks", ""),
    Status.BACKGROUND: ("over", "ended", "rest"),
    Status.DONE: ("over", "ended", "alone"),
    Status.QUIET: ("over", "ended", "alone"),
    Status.IDLE: ("over", "ended", "alone"),
    Status.ERROR: ("over", "failed", "alone"),
}
#: The seconds for which another source must contradict a protocol before it wins: hooks are silent after Esc and after
#: an answer. Longer than one poll, so that a file that is read late contradicts nothing.
CONTRADICTION_S = 0.4
#: A file may report a turn's end so many seconds late: it is written up to 0.6 s after, and read every 0.25 s.
FILE_LAG_S = 1.0
LATE = frozenset({Source.RECORD, Source.REGISTRY})
#: A dialog seen on the screen counts for so many seconds against a turn's end in a record or a progress bar: a little
#: longer than until the screen is read again (`evidence.looks.REPEAT_REPORT_LOOKS`). A closed dialog is noticed much
#: sooner.
SHOWN_DIALOG_S = 2.5
#: Reports of a turn's end that an open dialog on the screen may outlast.
KEEPS_DIALOG = frozenset(
    {(Source.RECORD, Status.DONE), (Source.RECORD, Status.BACKGROUND), (Source.PROGRESS, Status.DONE)}
)
#: A report that is always of now: the file is read all the time, and it alone tells background work from a turn.
CURRENT = (Source.REGISTRY, Status.BACKGROUND)
#: Reports of events: a repeated one is a new event. Requests of processes and ends on the screen are among them.
EVENTS = frozenset({(Source.PROTOCOL, status) for status in Status} | {(Source.PROCESS, Status.WORKING)}) | {
    (Source.SCREEN, status) for status in (Status.DONE, Status.IDLE, Status.ERROR, Status.BACKGROUND)
}


class Fact(NamedTuple):
    """An answer to one question, yes or no. *says* is its weight to overrule another fact, *holds* to resist one."""

    is_so: bool
    says: int
    holds: int


def _fact(source: Source, column: str) -> Fact | None:
    """Return the fact in a cell of the table; None for an empty cell."""
    says, _, holds = CELLS[source].get(column, "-").partition("/")
    return Fact(column in ("runs", "asks", "still", "rest"), int(says), int(holds)) if holds else None


_HEAD, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
#: The table, by source and column.
CELLS = {Source[row[0].upper()]: dict(zip(_HEAD, row, strict=True)) for row in _ROWS}
#: How well each source knows how a turn ended.
HOW = {source: int(row["how"]) for source, row in CELLS.items()}
#: The fact in a question that a source reports again.
REPEATED = {source: _fact(source, "still") for source in CELLS}
#: The facts in a report by its source and status: for the turn, the question and the rest.
FACTS = {
    (source, status): tuple(_fact(source, column) for column in columns)
    for source in CELLS
    for status, columns in IMPLIES.items()
}


def facts_of(report: Report) -> tuple[Fact | None, ...]:
    """Return the facts in *report* for the turn, the question and the rest; an empty tuple without a status."""
    # A usage limit asks nothing: the turn has ended.
    status = Status.ERROR if report.kind is Kind.LIMIT else report.status
    return FACTS.get((report.source, status), ()) if status is not None else ()
