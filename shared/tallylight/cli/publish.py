"""
`tally publish`: tells the broker of a fleet what this machine's agents do, until it is stopped.

A process of its own that reads the snapshots the hosts write: no host ever waits for it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid

from tallylight.cli.ending import on_signal
from tallylight.cli.fleet import configured
from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.config.fleet import Fleet
from tallylight.files import extras
from tallylight.remote.marks import Marks
from tallylight.remote.outbox import Name, Outbox
from tallylight.remote.topics import MachineTopic, MarkTopic, Message, Presence, decode_topic, encode_presence
from tallylight.snapshot import requests, writer
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request, RequestError

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
        from tallylight.remote.broker import Link, machine_name
    except ImportError:
        raise extras.missing("fleet") from None
    machine = machine_name(fleet)
    place = MachineTopic(machine).encode(fleet.prefix)
    namesakes = MachineTopic(machine).encode_namesake(fleet.prefix)
    life = uuid.uuid4().hex
    name = Name(Presence(online=True, at=round(time.time(), 3), life=life, marks=fleet.marks))
    outbox = Outbox(fleet.prefix, machine, life)
    outbox.show((), name.presence)
    feed = Feed(writer.directory(os.environ))
    marks = Marks(fleet.marks)

    def tell(text: str) -> None:
        if not quiet:
            sys.stderr.write(f"tally publish: {clean(text, 400)}\n")
            sys.stderr.flush()

    def take(topic: str, payload: bytes, is_stored: bool) -> None:
        found = decode_topic(topic, fleet.prefix)
        if isinstance(found, MarkTopic) and payload:
            asked = marks.take(found, payload, feed.snapshots, time.monotonic(), is_stored=is_stored)
            if asked:
                tell(f"a mark for {found.host}:{found.pane}: {_ask(found.host, asked)}")
        if isinstance(found, MachineTopic) or topic == namesakes:
            name.heard(payload, time.monotonic(), is_stored=is_stored)
        # What we send ourselves comes back too, and may be older than what has been acknowledged since.
        if is_stored or (isinstance(found, MachineTopic) and not name.is_own(payload)):
            outbox.found(topic, payload)

    def changed(is_up: bool) -> None:
        if not is_up:
            outbox.lost()
            name.lost()

    link = Link(
        fleet,
        subscribe=f"{place.rpartition('/')[0]}/#",
        take=take,
        will=Message(place, encode_presence(Presence(online=False, at=0.0, life=life))),
        acknowledged=outbox.acknowledged,
        changed=changed,
    )
    said: tuple[str, ...] = ()
    try:
        while True:
            now = time.monotonic()
            if feed.poll(now):
                outbox.show(feed.snapshots, name.presence)
            outbox.be(name.presence)
            if link.is_up:
                if word := name.word():
                    link.nudge(namesakes, word)
                for message in outbox.take(name, now):
                    link.send(message)
            link.step(now, POLL_S)
            state = (f"{fleet.broker}:{fleet.port}: {link.state}", _standing(name, machine))
            for text in state:
                if text and text not in said:
                    tell(text)
            said = state
            if not link.is_up:
                time.sleep(POLL_S)
    finally:
        goodbye = encode_presence(Presence(online=False, at=round(time.time(), 3), life=life))
        link.close(Message(place, goodbye) if name.holder is None else None)


def _standing(name: Name, machine: str) -> str:
    """What the person must know of the name of this machine, if it is not its own alone."""
    other = "give this one another name with `machine` in [fleet]"
    if name.holder is not None:
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(name.holder.at))
        return f"another machine, or another `tally publish`, is called {machine} since {since}: not shown; {other}"
    return f"another machine wants to be called {machine}, too, and is not shown" if name.has_namesake else ""


def _ask(host: str, asked: Request | str) -> str:
    """Put what a mark has come to to its host; what was done, or why not."""
    if isinstance(asked, str):
        return f"nothing is done: {asked}"
    try:
        requests.send(host, asked, os.environ)
    except RequestError as error:
        return f"nothing is done: {error}"
    return asked.verb


def _leave(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
