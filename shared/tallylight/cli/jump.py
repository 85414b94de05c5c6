"""`tally jump`: go to the next pane that needs a person, as the key binding does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

from tallylight.cli.output import Output, age, clean, complain, status_words
from tallylight.cli.parser import Parser
from tallylight.hosts.sessions_inside import HOSTS, by_terminal
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Panes, Row, own_place, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.next_pane import stops
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane


def make_parser() -> Parser:
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
        if stops([found.pane for found in panes.panes if found.pane.commands.attach], now, is_any=options.any):
            output.line("only agents in detached sessions need you; use `tally agents` to go there")
        else:
            output.line("nothing needs you" if panes.hosts else panes.why_none)
        return int(not panes.hosts)
    order = stops(_jump_panes(panes, host), now, is_any=options.any)
    order = list(reversed(order)) if options.previous else order
    if options.dry_run:
        names = {id(found.pane): found.name for found in panes.panes}
        for pane in order:
            words = [names[id(pane)], status_words(pane.status, pane.kind), age(now - pane.since), pane.project]
            output.line(clean("  ".join(filter(None, words)), output.columns))
        if not order:
            output.line("nothing needs you")
    elif host.startswith("kitty-"):
        chosen = tuple(f"--{name}" for name in ("previous", "any") if getattr(options, name))
        requests.send(host, Request("jump", "", chosen), os.environ)
    elif goal := _after([pane.id for pane in order], own_place(os.environ, panes.hosts)[1]):
        # Only kitty knows where a person came from; elsewhere there is no way back.
        requests.send(host, Request("focus", goal), os.environ)
    return 0


def find_host(panes: Panes, environ: Mapping[str, str], now: float, *, is_any: bool) -> str:
    """
    Return the host that is to jump; "" for none.

    It is the terminal around us, or its tmux. From elsewhere it is the one with the most urgent pane, of those that can
    show a pane.
    """
    for own in (own_place(environ)[0], own_place(environ, panes.hosts)[0]):
        if own in panes.hosts:
            return own
    shown = _reachable_panes(panes)
    hosts = {id(found.pane): found.host for found in shown}
    order = stops([found.pane for found in shown], now, is_any=is_any)
    return hosts[id(order[0])] if order else ""


def _jump_panes(panes: Panes, host: str) -> list[Pane]:
    """Return the panes that a jump of *host* visits: in a kitty, those in an attached tmux in place of its window."""
    own = [found.pane for found in _reachable_panes(panes) if found.host == host]
    if not host.startswith("kitty-"):
        return own
    found = by_terminal(found.pane for found in panes.panes if found.host.startswith(HOSTS))
    inside = [pane for terminal in {pane.place.terminal for pane in own} for pane in found.get(terminal, ())]
    return [*(pane for pane in own if pane.place.terminal not in found), *inside]


def _reachable_panes(panes: Panes) -> list[Row]:
    """Return the panes that can be brought to the front: those of terminals, and of an attached tmux."""
    attached = {_server(found.pane) for found in panes.panes if found.pane.place.terminals}
    return [
        found
        for found in panes.panes
        if not is_elsewhere(found.host) and (not found.pane.commands.attach or _server(found.pane) in attached)
    ]


def _server(pane: Pane) -> str:
    """Return the server of *pane*, by its id; that of GNU Screen cannot show another session."""
    kind, _, rest = pane.id.partition("/")
    return rest.partition("/")[0] if kind == "tmux" else pane.id


def _after(order: Sequence[str], here: str) -> str:
    """Return the stop that follows *here*, else the first; "" if there is no other."""
    place = order.index(here) + 1 if here in order else 0
    return next((id_ for id_ in (*order[place:], *order[:place]) if id_ != here), "")
