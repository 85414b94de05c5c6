"""`tally log`: what the agents did today and in the last days: turns, work, waits for you, questions, errors."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence

from tallylight.cli.output import Output, clean, fitted
from tallylight.cli.parser import Parser, within
from tallylight.config import config_file
from tallylight.files import directories
from tallylight.parts.diary import history, history_file
from tallylight.parts.diary.history import History, Sum
from tallylight.parts.diary.turns import Ending
from tallylight.ui.layout import GAP, duration

_WEEK, _MOST_DAYS = 7, 31
_HEAD = ("agent", "project", "turns", "worked", "waited", "questions", "errors")
#: The columns to shorten on a narrow screen, in order, each with its least width in cells: first the project's name,
#: and then all that is not time.
_SHRINK = ({1: 8}, {5: 9, 2: 5, 6: 6, 1: 6, 0: 4})
_TURNS_HEAD = ("", "agent", "project", "worked", "waited", "end", "title")
_TURNS_SHRINK = ({6: 8}, {6: 8, 5: 7, 2: 6, 1: 4})
_ENDINGS = {Ending.OPEN: "", Ending.MIDNIGHT: "midnight"}


def make_parser() -> Parser:
    parser = Parser(
        prog="tally log",
        description="Print what the agents did: turns, how long they worked and waited for you, questions and errors.",
        examples={
            "tally log": "today, and the last seven days",
            "tally log --days 7": "the last seven days, day by day",
            "tally log --today --turns": "every turn of today, and what it asked",
            "tally log --days 30 --json | jq '[.sums[].waited_s] | add'": "for programs",
        },
    )
    span = parser.add_mutually_exclusive_group()
    span.add_argument("--today", action="store_true", help="only today")
    how_many = f"the last N days, day by day; 1 to {_MOST_DAYS}"
    span.add_argument("--days", type=within(1, _MOST_DAYS, int), metavar="N", help=how_many)
    parser.add_argument("--agent", metavar="A", help="only this agent")
    parser.add_argument("--project", metavar="P", help="only this project")
    parser.add_argument("--turns", action="store_true", help="list each turn, and what it asked")
    parser.add_argument("--json", action="store_true", help="one JSON object, with the sums and every turn")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Print the history."""
    options = make_parser().parse_args(argv)
    days = 1 if options.today else options.days or _WEEK
    found = _only(history_file.recent(os.environ, time.time(), days), options.agent, options.project)
    if options.json:
        turns = [turn.to_json() for turn in found.turns]
        sys.stdout.write(json.dumps(found.to_json() | {"turns": turns}, indent=2) + "\n")
        return 0
    output = Output.chosen(options.color)
    config, _ = config_file.load_config(os.environ)
    if not config.history.keep:
        output.line(f"nothing is recorded: [history] keep = false in {directories.config_file(os.environ)}")
    elif not found.turns:
        output.line("nothing was recorded today" if days == 1 else f"nothing was recorded in {days} days")
    if not found.turns:
        return 0
    if options.turns:
        _draw_turns(output, found)
    elif options.days:
        _draw_days(output, found)
    else:
        today = [one for one in found.sums if one.day == found.days[-1]]
        _draw(output, "today", history.merged(today))
        if days > 1:
            output.line()
            _draw(output, f"the last {days} days", history.merged(found.sums))
    return 0


def _only(found: History, agent: str | None, project: str | None) -> History:
    """Return the turns in *found* of one agent and one project; None means all of them."""
    turns = (
        turn
        for turn in found.turns
        if (agent is None or turn.agent.casefold() == agent.casefold())
        and (project is None or turn.project.casefold() == project.casefold())
    )
    return History(found.days, tuple(turns), found.day_of)


def _draw_days(output: Output, found: History) -> None:
    """Draw a table for each day with turns, the newest first."""
    days = [(day, [one for one in found.sums if one.day == day]) for day in reversed(found.days)]
    for number, (day, sums) in enumerate((day, sums) for day, sums in days if sums):
        if number:
            output.line()
        _draw(output, day, history.merged(sums))


def _draw(output: Output, name: str, sums: Sequence[Sum]) -> None:
    """Draw a table: a line for each of *sums*, and one for all together if they are several."""
    output.line(output.strong(name))
    if not sums:
        output.line("nothing")
        return
    rows = [_HEAD, *map(_row, sums)]
    if len(sums) > 1:
        rows.append(_row(history.added(sums, agent="all")))
    for line in fitted(output, rows, _SHRINK, range(2, 7)):
        output.line(line)


def _row(one: Sum) -> tuple[str, ...]:
    return (
        clean(one.agent, 20),
        clean(one.project, 60),
        str(one.turns),
        duration(one.worked_s),
        duration(one.waited_s),
        str(one.questions),
        str(one.errors),
    )


def _draw_turns(output: Output, found: History) -> None:
    """Print a line for each turn, under its day, with its questions."""
    for day in reversed(found.days):
        of_day = [turn for turn in found.turns if found.day_of(turn.began) == day]
        if not of_day:
            continue
        output.line(output.strong(day))
        rows = [_TURNS_HEAD]
        for turn in of_day:
            began = time.strftime("%H:%M", time.localtime(turn.began))
            end = _ENDINGS.get(turn.ending, turn.ending.value)
            worked, waited = duration(turn.worked_s), duration(turn.waited_s)
            names = clean(turn.agent, 20), clean(turn.project, 30)
            rows.append((began, *names, worked, waited, end, clean(turn.title, 120)))
        lines = fitted(output, rows, _TURNS_SHRINK, range(3, 5))
        output.line(lines[0])
        for turn, line in zip(of_day, lines[1:], strict=True):
            output.line(line)
            for asked in turn.asked:
                output.line(f"{GAP * 3}? {clean(asked, max(8, output.columns - 8))}")
