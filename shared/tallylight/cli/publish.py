"""
`tally publish`: tells the broker of a fleet what this machine's agents do, until it is stopped.

A process of its own that reads the snapshots the hosts write: no host ever waits for it.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from tallylight.cli.ending import on_signal
from tallylight.cli.fleet import configured
from tallylight.cli.parser import Parser
from tallylight.config.fleet import Fleet
from tallylight.files import extras
from tallylight.hosts.fleet.messages import MachineTopic, Message, Presence, encode_presence
from tallylight.hosts.fleet.outbox import Outbox
from tallylight.snapshot import writer
from tallylight.snapshot.feed import Feed

#: How often, in seconds, the snapshots are looked at.
POLL_S = 0.2


def make_parser() -> Parser:
    """What `tally publish` takes."""
    parser = Parser(
        prog="tally publish",
        description="Send the state of this machine's agents to the fleet's broker.",
        examples={
            "tally publish": "until you press ctrl-C",
            "tally publish --quiet": "as a service",
        },
        codes={0: "it was told to end"},
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="print nothing, not even that the broker cannot be reached",
    )
    return parser


def main(argv: list[str]) -> int:
    """Publish until a signal ends it."""
    options = make_parser().parse_args(argv)
    fleet = configured("tally publish")
    on_signal(_leave, signal.SIGTERM, signal.SIGHUP)
    try:
        publish(fleet, quiet=options.quiet)
    except KeyboardInterrupt:
        return 0
    return 0


def publish(fleet: Fleet, *, quiet: bool) -> None:
    """Publish until `KeyboardInterrupt`; then say goodbye."""
    extras.enable("fleet")
    try:
        from tallylight.hosts.fleet.broker import Link, machine_name
    except ImportError:
        raise extras.missing("fleet") from None
    machine = machine_name(fleet)
    place = MachineTopic(machine).encode(fleet.prefix)
    here = encode_presence(Presence(online=True, at=round(time.time(), 3)))
    outbox = Outbox(fleet.prefix, machine)
    outbox.show((), here)
    feed = Feed(writer.directory(os.environ))

    def take(topic: str, payload: bytes, is_stored: bool) -> None:
        # What we send ourselves comes back too, and may be older than what has been acknowledged since.
        if is_stored:
            outbox.found(topic, payload)

    link = Link(
        fleet,
        subscribe=f"{place.rpartition('/')[0]}/#",
        take=take,
        will=Message(place, encode_presence(Presence(online=False, at=0.0))),
        acknowledged=outbox.acknowledged,
        changed=lambda is_up: None if is_up else outbox.lost(),
    )
    said = ""
    try:
        while True:
            now = time.monotonic()
            if feed.poll(now):
                outbox.show(feed.snapshots, here)
            if link.is_up:
                for message in outbox.take():
                    link.send(message)
            link.step(now, POLL_S)
            if link.state != said and not quiet:
                sys.stderr.write(f"tally publish: {fleet.broker}:{fleet.port}: {link.state}\n")
                sys.stderr.flush()
            said = link.state
            if not link.is_up:
                time.sleep(POLL_S)
    finally:
        link.close(Message(place, encode_presence(Presence(online=False, at=round(time.time(), 3)))))


def _leave(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
