"""
`tally publish`: sends the state of this machine's agents to the broker of a fleet, until it is stopped.

It is a process of its own that reads the hosts' snapshots: no host ever waits for it.
"""

from __future__ import annotations

import os
import signal

from tallylight.cli.ending import on_signal
from tallylight.cli.output import complain
from tallylight.cli.parser import Parser
from tallylight.files import extras
from tallylight.parts.remote.fleet import configured


def make_parser() -> Parser:
    parser = Parser(
        prog="tally publish",
        description="Send the state of this machine's agents to the fleet's broker.",
        examples={
            "tally publish": "until you press ctrl-C",
            "tally publish --quiet": "as a service",
        },
        codes={0: "it was stopped"},
    )
    nothing = "print nothing, not even that the broker cannot be reached"
    parser.add_argument("--quiet", action="store_true", help=nothing)
    return parser


def main(argv: list[str]) -> int:
    """Publish until a signal ends it."""
    options = make_parser().parse_args(argv)
    fleet = configured("publish")
    on_signal(signal.default_int_handler, signal.SIGTERM, signal.SIGHUP)
    extras.enable("fleet")
    try:
        from tallylight.parts.remote.publisher import Publisher
    except ImportError:
        raise extras.missing("fleet") from None

    def report(text: str) -> None:
        if not options.quiet:
            complain("publish", text, cells=400)

    publisher = Publisher(fleet, os.environ, report)
    try:
        while True:
            publisher.step()
    except KeyboardInterrupt:
        return 0
    finally:
        publisher.close()
