"""`tally away`: the events since you left, a line for each conversation."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from tallylight.cli.output import GAP, LEAST_NAME_CELLS, Output, clean, complain, fit
from tallylight.cli.parser import Parser, span
from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.parts.diary import away, history_file
from tallylight.parts.diary.away import Away
from tallylight.snapshot import fields, labels_file
from tallylight.snapshot.addresses import Row, labelled, read_panes
from tallylight.snapshot.rows import in_order
from tallylight.ui import details
from tallylight.ui.layout import age, duration

#: The version of the JSON. A removed key or a changed meaning makes it 2; a new key does not.
VERSION = 1
#: How far back it looks, in days and in seconds.
SEARCHED_DAYS = 7
MOST_S = SEARCHED_DAYS * 86_400.0


def make_parser() -> Parser:
    parser = Parser(
        prog="tally away",
        description="Print what happened since you left: how many turns ended, what they came to, and what needs you.",
        examples={
            "tally away": "since you last gave an agent something to do",
            "tally away 2h": "in the last two hours",
            "tally away --json": "for programs",
        },
    )
    parser.add_argument(
        "span", nargs="?", type=_span, help=f"how far to look back: 90s, 20m, 2h or 1d; at most {SEARCHED_DAYS}d"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_color()
    return parser


def _span(word: str) -> float:
    """Return the seconds of *word*, a span up to `MOST_S`; raise an error for any other word."""
    seconds = span(word)
    if seconds is None or not 0 < seconds <= MOST_S:
        raise argparse.ArgumentTypeError(f"must be a span like 90s, 20m, 2h or 1d, at most {SEARCHED_DAYS}d")
    return seconds


def main(argv: list[str]) -> int:
    options = make_parser().parse_args(argv)
    now = time.time()
    turns = history_file.recent(os.environ, now, SEARCHED_DAYS).turns
    panes = read_panes(os.environ)
    labels = labels_file.LabelsFile(labels_file.path(os.environ))
    labels.poll()
    shown = in_order([found for found in labelled(panes.panes, labels.labels) if found.is_lit], now)
    then = now - options.span if options.span is not None else away.left_at(turns)
    lines = away.since(turns, shown, then)
    if options.json:
        sys.stdout.write(
            json.dumps({"version": VERSION, "since": then, "panes": [_json(line) for line in lines]}) + "\n"
        )
        return 0
    complain("away", *panes.problems, *filter(None, [labels.problem]))
    output = Output.chosen(options.color)
    if not then:
        output.line(f"no turn was recorded in {SEARCHED_DAYS} days")
        return 0
    output.line(output.strong(f"the last {duration(now - then)}: {away.in_one_line(lines) or 'nothing happened'}"))
    rows = [_row(line, now) for line in lines]
    for line, cells in zip(lines, fit(rows, output.columns, {4: 8, 1: LEAST_NAME_CELLS, 3: 8, 2: 4}), strict=True):
        status = line.found.pane.status if line.found is not None else Status.ACTIVE
        painted = [output.lit(status, cell) if index == 0 else cell for index, cell in enumerate(cells)]
        output.line(GAP.join(painted).rstrip())
    return 0


def _row(line: Away, now: float) -> list[str]:
    found, whole = line.found, line.total
    counts = away.counts(whole)
    counts[1:1] = [duration(whole.worked_s)] if whole.turns else []
    mark = lights.mark(found.pane.status, found.pane.kind) if found is not None else "-"
    name = (found.label.name if found is not None else "") or whole.project
    return [mark, clean(name, 40), clean(whole.agent, 20), ", ".join(counts), clean(_said(found, now))]


def _said(found: Row | None, now: float) -> str:
    """Return the text of its pane now."""
    if found is None:
        return "has ended"
    pane = found.pane
    words = f"{age(now - pane.since)}: {pane.asks}" if pane.asks else pane.outcome or pane.message
    return GAP.join(part for part in (details.limit(pane, now), words, fields.words(pane.more)) if part)


def _json(line: Away) -> dict[str, object]:
    """Return one line of the JSON. Every text is as a program wrote it, so the reader must sanitise it."""
    found = line.found
    pane = {"address": found.address, "status": found.pane.status.value} if found is not None else {}
    return {**line.total.to_json(), **pane}
