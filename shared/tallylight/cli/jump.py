"""`tally jump`: to the next pane that needs a person, as the key binding does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from tallylight.cli.output import Output, age, clean, complain, status_words
from tallylight.cli.parser import Parser
from tallylight.cli.status import nothing
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Panes, own_place, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.next_pane import stops
from tallylight.snapshot.requests import Request


def make_parser() -> Parser:
    """What `tally jump` takes."""
    parser = Parser(
        prog="tally jump",
        description="Go to the next pane that needs you: oldest question, then errors, then finished turns. After the "
        "last one, go back to where you were.",
        examples={
            "tally jump": "to the oldest question",
            "tally jump --any": "to the next agent",
            "tally jump --dry-run": "only list them, in order",
        },
        codes={0: "done, or nothing needs you", 1: "no terminal with Tallylight runs"},
    )
    parser.add_argument("--previous", action="store_true", help="go to the previous one")
    parser.add_argument("--any", action="store_true", help="go to the next agent, whether it needs you or not")
    parser.add_argument("--dry-run", action="store_true", help="list the panes in order and stay here")
    return parser


def main(argv: list[str]) -> int:
    """Ask the terminal to jump."""
    options = make_parser().parse_args(argv)
    panes = read_panes(os.environ)
    complain("jump", *panes.problems)
    output = Output.to(sys.stdout, os.environ)
    now = time.time()
    host = find_host(panes, os.environ, now, is_any=options.any)
    if not host:
        if stops([found.pane for found in panes.panes if found.pane.attach], now, is_any=options.any):
            output.line("only agents in detached sessions need you; use `tally agents` to go there")
        else:
            output.line("nothing needs you" if panes.hosts else nothing(panes))
        return int(not panes.hosts)
    order = stops([found.pane for found in panes.panes if found.host == host], now, is_any=options.any)
    order = list(reversed(order)) if options.previous else order
    if options.dry_run:
        names = {found.pane.id: found.name for found in panes.panes if found.host == host}
        for pane in order:
            words = [names[pane.id], status_words(pane.status, pane.kind), age(now - pane.since), pane.project]
            output.line(clean("  ".join(filter(None, words)), output.columns))
        if not order:
            output.line("nothing needs you")
    elif host.startswith("kitty-"):
        chosen = tuple(f"--{name}" for name in ("previous", "any") if getattr(options, name))
        requests.send(host, Request("jump", "", chosen), os.environ)
    else:
        # Only kitty knows where a person came from; elsewhere it is a way there, and none back.
        here = own_place(os.environ)[1]
        for goal in [pane.id for pane in order if pane.id != here][:1]:
            requests.send(host, Request("focus", goal), os.environ)
    return 0


def find_host(panes: Panes, environ: Mapping[str, str], now: float, *, is_any: bool) -> str:
    """
    Name the host that is to jump; `""` for none.

    The terminal we are in. From elsewhere: the one whose pane needs a person most, of those that can show a pane.
    """
    own, _ = own_place(environ)
    if own in panes.hosts:
        return own
    shown = [found for found in panes.panes if not found.pane.attach and not is_elsewhere(found.host)]
    hosts = {id(found.pane): found.host for found in shown}
    order = stops([found.pane for found in shown], now, is_any=is_any)
    return hosts[id(order[0])] if order else ""
