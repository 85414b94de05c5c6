"""
The trust table: what each source knows, and how much its word weighs.

A status that a source reports answers up to three questions: does a *turn* run, is anything *asked*, and does a *rest*
of subagents and tasks run on. A cell is `says/holds`. The facts of a question are walked in the order of their time,
and **a newer one overrules the present one if its `says` is at least the other's `holds`**. `-` is silence.
docs/trust.md shows the table; `tracker.questions` is the walk.
"""

from __future__ import annotations

from typing import NamedTuple

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status

#: Of a turn: it *runs* or is *over*. Of what is asked: a source *asks*, and *still* does when it is seen again; or
#: nothing is asked, for the agent *works*, its turn has *ended*, or has *failed*. Of the rest: it has some, or is
#: *alone*. Who has the greater *how* knows better how a turn ended.
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
#: Which columns a status is: of the turn, of what is asked, of the rest.
IMPLIES: dict[Status, tuple[str, str, str]] = {
    Status.WORKING: ("runs", "works", ""),
    Status.WAITING: ("", "asks", ""),
    Status.BACKGROUND: ("over", "ended", "rest"),
    Status.DONE: ("over", "ended", "alone"),
    Status.QUIET: ("over", "ended", "alone"),
    Status.IDLE: ("over", "ended", "alone"),
    Status.ERROR: ("over", "failed", "alone"),
}
#: For so long, in seconds, another source has to contradict a protocol before it is believed: hooks are silent when a
#: person presses Esc or answers a dialog. Longer than one poll, so that a file that is read late contradicts nothing.
STANDS_S = 0.4
#: So late, in seconds, a file may tell how a turn ended: read every quarter of a second, and written up to 0.6 s after.
LATE_S = 1.0
LATE = frozenset({Source.RECORD, Source.REGISTRY})
#: For so long, in seconds, a dialog that the screen has shown stands there, whatever a record or a bar tells of
#: the turn's end: a little longer than until it is told again (`evidence.looks.AGAIN_LOOKS`). That it is gone is told
#: much sooner.
SHOWN_S = 2.5
KEEPS_DIALOG = frozenset(
    {(Source.RECORD, Status.DONE), (Source.RECORD, Status.BACKGROUND), (Source.PROGRESS, Status.DONE)}
)
#: It is read all the time and alone knows a rest from work: what it says of the turn is of now.
CURRENT = (Source.REGISTRY, Status.BACKGROUND)
#: Who, when it says the same again, tells of now: a report is an event, and so are a request of a process and what a
#: screen shows of an end.
EVENTS = frozenset({(Source.PROTOCOL, status) for status in Status} | {(Source.PROCESS, Status.WORKING)}) | {
    (Source.SCREEN, status) for status in (Status.DONE, Status.IDLE, Status.ERROR, Status.BACKGROUND)
}


class Fact(NamedTuple):
    """An answer: whether it *is so* that a turn runs, a dialog stands there, a rest runs on; and what that weighs."""

    is_so: bool
    says: int
    holds: int


def _fact(source: Source, column: str) -> Fact | None:
    says, _, holds = CELLS[source].get(column, "-").partition("/")
    return Fact(column in ("runs", "asks", "still", "rest"), int(says), int(holds)) if holds else None


_HEAD, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
#: The table, by source and column.
CELLS = {Source[row[0].upper()]: dict(zip(_HEAD, row, strict=True)) for row in _ROWS}
HOW = {source: int(row["how"]) for source, row in CELLS.items()}
REPEATED = {source: _fact(source, "still") for source in CELLS}
#: What each source says of the turn, of what is asked and of the rest, by the status that it reports.
FACTS = {
    (source, status): tuple(_fact(source, column) for column in columns)
    for source in CELLS
    for status, columns in IMPLIES.items()
}


def facts_of(report: Report) -> tuple[Fact | None, ...]:
    """What *report* says of the turn, of what is asked and of the rest; nothing where it tells no status."""
    # At a limit nobody is asked anything: a turn has ended there.
    status = Status.ERROR if report.kind is Kind.LIMIT else report.status
    return FACTS.get((report.source, status), ()) if status is not None else ()
