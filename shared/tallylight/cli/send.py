"""
`tally send`: type a text into an agent that is at its prompt, or choose an answer to the question that was read.

Everything is checked in the process that types, as for a person at the list: the agent's process, its screen, and
whether the caller may type into that pane at all. An answer names the question by the id that `tally read` printed; no
other question is answered.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from tallylight.actions.answer import Answer, Done, Occupant
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import HOLDER, DeferredText, Given, Reply, read_id
from tallylight.actions.say import MAX_TYPED, Say, text_problem
from tallylight.cli.exit_codes import NOTHING
from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import CODES, print_reply, reached
from tallylight.cli.waiting import AT_REST, Wait, add_timeout, follow, print_ends
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Row, add_pane
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory


def make_parser() -> Parser:
    parser = Parser(
        prog="tally send",
        description="Type a text into an agent that is at its prompt, or choose an answer to its question. By default "
        "only into panes that the caller started; `[scripting] allow` of the configuration allows more.",
        examples={
            "tally send 3 'run the tests again'": "and press Enter",
            "git diff | tally send 3 -": "the text is standard input",
            "tally send 3 --wait 'run the tests again'": "and wait until that turn is over",
            "tally send 3 --queue 'then commit it'": "when its turn has ended",
            "tally send 3 --answer 1 --to ID": "choose 1 of the question that `tally read` printed with this ID",
        },
        codes={
            **CODES,
            NOTHING: "with --wait: no turn followed",
            "with --wait": "else as `tally wait`",
        },
    )
    add_pane(parser)
    parser.add_argument("text", metavar="TEXT", nargs="?", help=f"at most {MAX_TYPED} characters; -: standard input")
    parser.add_argument("--answer", metavar="N", type=int, help="choose the answer of this number")
    parser.add_argument("--to", metavar="ID", default="", help="the id of the question, from `tally read --question`")
    parser.add_argument("--queue", action="store_true", help="while it works or asks, wait for the end of its turn")
    parser.add_argument("--no-enter", action="store_true", help="do not press Enter behind the text")
    parser.add_argument("--wait", action="store_true", help="wait until the turn that it begins is over; print its end")
    add_timeout(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _parsed(argv: list[str]) -> tuple[argparse.Namespace, tuple[int, int, str] | None]:
    """Return the options, and the question that an answer is for, if any."""
    parser = make_parser()
    # So that an option may be before the text.
    options = parser.parse_intermixed_args(argv)
    if (options.text is None) == (options.answer is None):
        parser.error("give a text, or --answer N")
    if options.answer is not None and not options.to:
        parser.error("--answer needs --to ID, from `tally read --question`")
    if options.queue and (options.answer is not None or options.to or options.no_enter):
        parser.error("--queue is for a text alone")
    asked = read_id(options.to) if options.to else None
    if options.to and asked is None:
        parser.error(f"{clean(options.to, 80)!r} is not an id of a question")
    if options.wait and options.no_enter:
        parser.error("--wait needs Enter after the text: without it no turn begins")
    return options, asked


def main(argv: list[str]) -> int:
    """Send the text or the answer, and return the exit code."""
    options, asked = _parsed(argv)
    found, client = reached(options.pane)
    if isinstance(found, Refusal):
        return print_reply("send", None, found, as_json=options.json)
    given, at = _given(options, asked, found, client), round(time.time(), 3)
    turn = Wait(AT_REST, is_all=True, since=at, chosen=(found.address,), is_turn=True) if options.wait else None
    if turn is not None:
        turn.look([found], time.monotonic())
    reply = client.perform(found, given) if isinstance(given, Given) else given
    if turn is None or not isinstance(reply, Done):
        return print_reply("send", found, reply, at=at, as_json=options.json)
    feed = Feed(directory(os.environ))
    feed.poll(time.monotonic())
    return print_ends(follow("send", turn, feed, options.timeout), as_json=options.json)


def _given(
    options: argparse.Namespace, asked: tuple[int, int, str] | None, found: Row, client: PaneClient
) -> Given | Reply:
    """
    Return the answer or the text that is to be typed, or why nothing is.

    An answer is for the question *asked*, a text for the present agent of the pane.
    """
    if options.answer is not None and asked is not None:
        return Answer(found.pane.id, *asked, options.answer)
    text = options.text
    if text == "-":
        # One character more than may be typed, so that a longer text is refused, and never cut.
        try:
            text = sys.stdin.read(MAX_TYPED + 2).removesuffix("\n")
        except UnicodeDecodeError:
            raise TallyError("standard input is no text in UTF-8; nothing was typed") from None
    if (problem := text_problem(text)) is not None:
        return problem
    if asked is None:
        held = client.look(found, HOLDER)
        if not isinstance(held, Occupant):
            return held
        asked = held.pid, held.start, ""
    pid, start, fingerprint = asked
    if options.queue:
        return DeferredText(found.pane.id, pid, start, text)
    return Say(found.pane.id, pid, start, text, not options.no_enter, fingerprint)
