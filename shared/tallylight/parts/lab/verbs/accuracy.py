"""`tally accuracy`: how well titles and screens were read, for each version of each agent."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import groupby

from tallylight.cli.output import Output, ago, clean, fitted
from tallylight.cli.parser import Parser
from tallylight.config import config_file
from tallylight.files import directories
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health
from tallylight.parts.lab import grades
from tallylight.parts.lab.grades import Grade
from tallylight.snapshot.row_file import VERSION
from tallylight.snapshot.schema import Snapshot

_HEAD = ("agent", "version", "last day", "turns", "misread", "missed", "false", "wrong work")
#: The columns to shorten on a narrow screen, in order, each with its least width in cells.
_SHRINK = ({2: 10, 1: 6, 0: 4, 7: 5},)
#: A version is worse if its share of misread turns is greater by _WORSE and by _ERRORS standard errors, in at least
#: _MIN_TURNS turns. The version before needs at least _MIN_TURNS turns, too.
_WORSE, _ERRORS, _MIN_TURNS = 0.1, 2.6, 3


def make_parser() -> Parser:
    parser = Parser(
        prog="tally accuracy",
        description="Print how well titles and screens were read, by what agents report and record themselves.",
        examples={
            "tally accuracy": "the last 60 days, each version of each agent",
            "tally accuracy --json": "the same day by day, for programs",
        },
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, with each day")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Print the table."""
    options = make_parser().parse_args(argv)
    found = grades.read(grades.path(os.environ))
    if options.json:
        told = {"version": VERSION, "grades": [grade.to_json() for grade in found]}
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
        return 0
    output = Output.chosen(options.color)
    config, _ = config_file.load_config(os.environ)
    if not config.history.keep:
        output.line(f"nothing is graded: [history] keep = false in {directories.config_file(os.environ)}")
    elif not found:
        output.line("no turn was graded yet: this needs an agent that reports its status or keeps records")
    if found:
        rows = [_HEAD, *(_row(grade) for versions in by_agent(found) for grade in versions)]
        head, *lines = fitted(output, rows, _SHRINK, range(3, 8))
        for line in (output.strong(head), *lines):
            output.line(line)
    return 0


def _row(grade: Grade) -> tuple[str, ...]:
    """Return the cells of one version: its turns, and the shares of misread time."""
    waited, rest = grade.waiting_s, grade.graded_s - grade.waiting_s
    parts = ((grade.missed_s, waited), (grade.false_s, rest), (grade.work_s, rest))
    shares = (f"{part:.0f} s, {100 * part / whole if whole else 0:.0f} %" for part, whole in parts)
    names = clean(grade.agent, 20), clean(grade.version or "unknown", 24), clean(grade.day, 10)
    return (*names, str(grade.turns), str(grade.misread), *shares)


def by_agent(found: Iterable[Grade]) -> Iterator[list[Grade]]:
    """Yield the versions of each agent, the newest first, each with the sum of its days."""

    def key(grade: Grade) -> tuple[str, list[int], str]:
        return grade.agent, [int(number) for number in re.findall("[0-9]{1,9}", grade.version)], grade.version

    for _, of_agent in groupby(sorted(found, key=key), lambda grade: grade.agent):
        versions = groupby(of_agent, lambda grade: grade.version)
        yield [reduce(Grade.plus, days) for _, days in versions][::-1]


def checks(environ: Mapping[str, str], hosts: Iterable[Snapshot]) -> Iterator[Finding]:
    """Yield each agent that is misread since its last version, and a pane of *hosts* to look at."""
    try:
        found = grades.read(grades.path(environ))
    except (OSError, TallyError) as error:
        yield Finding("accuracy", Health.BROKEN, str(error), "correct that; until then no screen is graded")
        return
    for newest, *others in by_agent(found):
        before = next((grade for grade in others if grade.turns >= _MIN_TURNS), None)
        if before is None or not is_worse(newest, before):
            continue
        new, old = (f"{one.misread} of {one.turns} turns of {clean(one.version, 40)}" for one in (newest, before))
        text = f"the screen of {clean(newest.agent, 40)} was misread in {new}, and in {old}"
        panes = [f"{host.name}:{pane.id}" for host in hosts for pane in host.panes if pane.agent == newest.agent]
        address = newest.pane if newest.pane in panes else [*panes, "PANE"][0]
        remedy = f"run `tally wrong {address}` within two minutes of such a turn, or with `--save FILE` for a report"
        yield Finding("accuracy", Health.HINT, f"{text}; the last {ago(newest.at, time.time())}", remedy)


def is_worse(newer: Grade, older: Grade) -> bool:
    """Return whether the *newer* version is misread more often, and in so many turns that it is no chance."""
    if newer.turns < _MIN_TURNS:
        return False
    shares = [grade.misread / grade.turns for grade in (newer, older)]
    both = (newer.misread + older.misread) / (newer.turns + older.turns)
    error = math.sqrt(max(0.0, both * (1 - both)) * (1 / newer.turns + 1 / older.turns))
    return newer.misread >= _MIN_TURNS and shares[0] - shares[1] > max(_WORSE, _ERRORS * error)
