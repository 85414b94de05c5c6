"""
`tally wait`: wait until agents need you or have finished, for scripts and for other agents.

It reads the hosts' snapshots and asks no agent anything. A pane that already is in one of the wanted states counts at
once, unless `--new` or `--since` is given. The exit code tells the result; docs/commands.md has the table.
"""

from __future__ import annotations

import argparse
import os
import time

from tallylight.cli.exit_codes import FAILED, NOTHING, TIMED_OUT, WAITS
from tallylight.cli.exit_codes import GONE as IS_GONE
from tallylight.cli.parser import Parser, within
from tallylight.cli.waiting import AT_REST, FINISHED, GONE, Wait, add_timeout, follow, print_ends
from tallylight.model.errors import TallyError
from tallylight.model.status import URGENCY, Status
from tallylight.snapshot.addresses import NAMED, Panes, add_pane, own_place, pick
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory

_WORDS = (*(status.value for status in URGENCY if status is not Status.ACTIVE), GONE)


def make_parser() -> Parser:
    parser = Parser(
        prog="tally wait",
        description="Wait until an agent needs you or has finished.",
        examples={
            "tally wait": "until any agent needs you or has finished",
            "tally wait --all --timeout 3600": "until all have, at most an hour",
            "tally wait 3 --for waiting": "until pane 3 asks something",
            "tally wait 3 4 --for done,error --json": "one JSON object a pane",
            "tally wait 3 --since 1764180000.5": "until the turn is over of the text that was sent then",
        },
        codes={
            0: "done, idle, quiet, or another status that you asked for",
            1: "nothing to wait for, or no such pane",
            WAITS: "an agent waits for a person, or for the end of its limit",
            FAILED: "an agent failed, or vanished in the middle of a turn",
            IS_GONE: "the pane or its agent is gone",
            NOTHING: "with --since: no turn followed the text",
            TIMED_OUT: "the timeout passed",
        },
    )
    add_pane(parser, nargs="*", help_=f"{NAMED}; by default every agent but the one in this pane")
    parser.add_argument(
        "--for",
        dest="wanted",
        type=_statuses,
        metavar="STATUS,…",
        help=f"statuses to wait for: {', '.join(_WORDS)}. By default a named agent must stop working. "
        "Without a name, an agent must need you or have finished.",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--any", action="store_true", help="return when one of the panes is there (the default)")
    which.add_argument("--all", action="store_true", help="return when all of the panes are there")
    newer = parser.add_mutually_exclusive_group()
    newer.add_argument("--new", action="store_true", help="count only what begins after this command")
    newer.add_argument(
        "--since",
        type=within(0, 99_999_999_999, float),
        metavar="AT",
        help="wait for the turn of the text that was sent then: `at` of `tally send --json`",
    )
    add_timeout(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per pane that was waited for")
    return parser


def main(argv: list[str]) -> int:
    """Wait, print a line for each pane that reached its state, and return the exit code."""
    options = make_parser().parse_args(argv)
    feed = Feed(directory(os.environ))
    feed.poll(time.monotonic())
    panes = Panes.of(feed.snapshots, feed.problems)
    if options.pane:
        chosen = tuple(dict.fromkeys(pick(panes, wanted, os.environ).address for wanted in options.pane))
    else:
        own = ":".join(own_place(os.environ, panes.hosts))
        chosen = tuple(found.address for found in panes.panes if found.is_lit and found.address != own)
    if not chosen:
        raise TallyError("no agent runs in any tab: there is nothing to wait for")
    # With `--all`, an agent at its prompt counts as finished.
    wait = Wait(
        wanted=options.wanted or (AT_REST if options.pane or options.all else FINISHED),
        is_all=options.all,
        since=time.time() if options.new else options.since,
        chosen=chosen,
        is_turn=options.since is not None,
    )
    return print_ends(follow("wait", wait, feed, options.timeout), as_json=options.json)


def _statuses(text: str) -> frozenset[str]:
    """Return the statuses in *text*, separated by commas; raise an error for an unknown one."""
    words = frozenset(text.split(","))
    unknown = sorted(words - set(_WORDS))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown status {unknown[0]!r}; known are {', '.join(_WORDS)}")
    return words
