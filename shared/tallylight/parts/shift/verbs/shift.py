"""
`tally shift`: types a text at an agent's prompt when its limit has ended, so that it continues by itself.

The host of the pane types it, by the rules of `actions.queue` and `shift.steps`: into no dialog, after no other text,
and for this process only.
"""

from __future__ import annotations

import os
import time

from tallylight.actions.answer import Done, Occupant
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.queue import typing_time
from tallylight.actions.request import HOLDER, DeferredText, Reply
from tallylight.actions.say import text_problem
from tallylight.cli.output import complain
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import CODES, client_of, print_reply
from tallylight.parts.shift.steps import WORDS
from tallylight.snapshot.addresses import NAMED, Row, add_pane, pick, read_panes
from tallylight.ui.details import clock

_NO_LIMIT = Refusal("no-limit", "it is not stopped by a limit, or does not say when that ends; nothing is queued")


def make_parser() -> Parser:
    parser = Parser(
        prog="tally shift",
        description="Type a text into an agent when the limit that stops it has ended. It is typed at the agent's "
        "prompt only. If the next limit stops it again, the text is typed again, three times in all. `E` in the list "
        "cancels it.",
        examples={
            "tally shift 3": f"type `{WORDS}` into pane 3 when its limit has ended",
            "tally shift 3 --words 'run the tests again'": "the words to type",
            "tally shift --all": "every agent that a limit stops",
        },
        codes=CODES | {0: "it will be typed"},
    )
    add_pane(parser, nargs="?", help_=NAMED)
    parser.add_argument("--words", metavar="TEXT", default=WORDS, help=f"what to type; by default `{WORDS}`")
    parser.add_argument("--all", action="store_true", help="every agent that a limit stops")
    return parser


def main(argv: list[str]) -> int:
    """Queue the text for each pane, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.all == (options.pane is not None):
        parser.error("name a pane, or give --all")
    panes, now = read_panes(os.environ), time.time()
    if (problem := text_problem(options.words)) is not None:
        complain("shift", problem.text)
        return 2
    client = client_of(panes)
    wanted = [found for found in panes.panes if found.pane.limited_until > now] if options.all else [
        pick(panes, options.pane, os.environ)
    ]  # fmt: skip
    if not wanted:
        complain("shift", "no agent is stopped by a limit")
        return 1
    return max(
        print_reply("shift", found, _queue_text(client, found, options.words, now), as_json=False) for found in wanted
    )


def _queue_text(client: PaneClient, found: Row, text: str, now: float) -> Reply:
    """Queue *text* for the agent in *found*, for the end of its limit; return the reply."""
    if found.pane.limited_until <= now:
        return _NO_LIMIT
    held = client.look(found, HOLDER)
    if not isinstance(held, Occupant):
        return held
    at = typing_time(found.pane.limited_until)
    told = client.perform(found, DeferredText(found.pane.id, held.pid, held.start, text, at))
    return Done(told.pane, f"{found.name}: `{text}` is typed at {clock(at, now)}") if isinstance(told, Done) else told
