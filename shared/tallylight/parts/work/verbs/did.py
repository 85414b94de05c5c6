"""`tally did`: what an agent ran in its last turn: each command, how it ended, and who allowed it."""

from __future__ import annotations

import json
import os
import sys
import time

from tallylight.cli.exit_codes import NOTHING
from tallylight.cli.output import JSON_VERSION, Output, clean, complain
from tallylight.cli.parser import Parser
from tallylight.model.errors import TallyError
from tallylight.parts.work import did, programs, row_fields
from tallylight.parts.work.did import Call, Did
from tallylight.snapshot.addresses import Row, add_pane, pick, read_panes
from tallylight.snapshot.values import write
from tallylight.ui.details import clock


def make_parser() -> Parser:
    """Return what `tally did` takes."""
    parser = Parser(
        prog="tally did",
        description="Print what an agent did in its last turn by its own record: commands with their exit codes, "
        "files, requests to the network, what was denied, and who allowed it.",
        examples={"tally did 3": "the last turn of pane 3", "tally did 3 --json": "for programs"},
        codes={1: "no such pane", NOTHING: "its record tells of no calls"},
    )
    add_pane(parser, nargs="?")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def main(argv: list[str]) -> int:
    """Print it, and return the exit code."""
    options = make_parser().parse_args(argv)
    found = pick(read_panes(os.environ), options.pane, os.environ)
    known = did.load(found.address, os.environ)
    if known is None:
        complain("did", f"the record of {found.name} tells of no calls; `tally doctor` lists agents with a record")
        return NOTHING
    if options.json:
        calls = [write(call) | {"is_network": call.is_network} for call in known.calls]
        sys.stdout.write(json.dumps({"version": JSON_VERSION, "address": found.address, "calls": calls}) + "\n")
        return 0
    output = Output.to(sys.stdout, os.environ)
    for line in lines(known, time.time()):
        output.line(line)
    return 0


def lines(known: Did, now: float) -> list[str]:
    """Return all of it in words, with the counts first."""
    found = [row_fields.show_did(known.counts) or "no commands in this turn"]
    for call in known.calls:
        found += [clean(f"{clock(call.at, now)}  {_ended(call):<9} {call.what}", 500)]
        notes = [
            f"its subagent {call.subagent}" if call.subagent else "",
            call.by,
            "asks the network" if call.is_network else "",
        ]
        notes += [f"outside the project: {path}" for path in call.outside]
        found += [clean(f"{'':17}{note}", 500) for note in notes if note]
    return found


def _ended(call: Call) -> str:
    if call.is_denied:
        return "denied"
    return "" if call.code is None else "ok" if call.code == 0 else f"exit {call.code}"


def over(row: Row) -> str:
    """Show it in the terminal of the list, in the person's pager."""
    known = did.load(row.address, os.environ)
    if known is None:
        raise TallyError("its record tells of no calls")
    programs.page("".join(f"{line}\n" for line in lines(known, time.time())), programs.pager({}))
    programs.key("\n  any key: back ")
    return ""
