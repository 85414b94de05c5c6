"""
`tally watch`: the state of every pane, and from then on one JSON line a change, for bars, prompts and scripts.

The first line is everything (`"event": "state"`). Then each pane that changed (`"pane"`) or closed (`"gone"`) has a
line, and each host that started or ended (`"host"`). Every line has the counts by status, so a reader of counts needs
no table. It costs a `stat` for each host ten times a second, and ends when its reader does. docs/json.md has the keys.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

import attrs

from tallylight.cli.output import complain_once
from tallylight.cli.parser import Parser
from tallylight.model import lights
from tallylight.model.errors import TallyError
from tallylight.model.status import URGENCY, Status
from tallylight.parts import index
from tallylight.snapshot.addresses import Row, in_order
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import directory

TYPE_CHECKING = False
#: The version of every line. A removed key or a changed meaning makes it 2; a new key or event does not.
JSON_VERSION = 1
WATCH_EVERY_S = 0.1

Line = dict[str, Any]


def make_parser() -> Parser:
    parser = Parser(
        prog="tally watch",
        description="Print the state of every pane as one JSON line, then one line per change.",
        examples={
            "tally watch": "until its reader goes away",
            "tally watch --once | jq -r .text": "how many, in short: !2 ●1",
        },
        codes={0: "nobody reads any more", 1: "with --once: the broker cannot be reached"},
    )
    parser.add_argument("--once", action="store_true", help="exit after the first line, which is the whole state")
    parser.add_broker()
    return parser


def main(argv: list[str]) -> int:
    """Write lines until their reader ends, or ctrl-C."""
    options = make_parser().parse_args(argv)
    try:
        fleet = index.need("fleet", "other machines").subscriber("watch") if options.broker else None
        _follow(fleet, once=options.once)
    except BrokenPipeError:
        # The reader has ended, which is the usual end. The unwritten rest would cause an error message at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _follow(fleet: Any, *, once: bool) -> None:
    """Write changes of the *fleet* or of this machine, until the reader ends; *once*: the first line alone."""
    feed = fleet or Feed(directory(os.environ))
    watch, broker, reported = Watch(), BrokerWatch(), set[str]()
    while True:
        feed.poll(time.monotonic())
        if isinstance(feed, Feed):
            complain_once("watch", feed.problems, reported)
        if fleet is not None:
            _write(broker.changes(fleet.problem, fleet.mirror.known))
        # The state is complete only when the broker has sent everything.
        if fleet is None or fleet.is_complete or watch.has_begun:
            _write(watch.changes({found.name: found.panes for found in feed.snapshots}))
        sys.stdout.flush()
        if once and fleet is not None and fleet.link.has_failed:
            raise TallyError(fleet.problem)
        if (once and watch.has_begun) or not _is_read(sys.stdout, WATCH_EVERY_S):
            return


def _write(lines: Iterator[Line]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps({"version": JSON_VERSION, "at": round(time.time(), 3), **line}) + "\n")


def _is_read(stream: TextIO, seconds: float) -> bool:
    """Wait *seconds*; return whether *stream* still has a reader: a pipe shows that without a write."""
    try:
        poller = select.poll()
        poller.register(stream.fileno(), 0)
        return not poller.poll(seconds * 1000)
    except (OSError, ValueError):
        time.sleep(seconds)
        return True


@attrs.define
class BrokerWatch:
    """Prints changes of a fleet: whether its broker is connected, and which machines are online."""

    _problem: str | None = None
    _machines: dict[str, bool] = attrs.Factory(dict)

    def changes(self, problem: str, machines: Mapping[str, bool]) -> Iterator[Line]:
        """Yield the lines for changes to *problem* (empty while the broker answers) and *machines*."""
        if problem != self._problem:
            self._problem = problem
            yield {"event": "broker", "up": not problem, "problem": problem}
        for name in sorted(machines.keys() | self._machines.keys()):
            is_there = machines.get(name, False)
            if self._machines.get(name) is not is_there:
                yield {"event": "machine", "machine": name, "up": is_there}
        self._machines = dict(machines)


@attrs.define
class Watch:
    """Prints changes of panes, by their addresses."""

    _hosts: frozenset[str] = frozenset()
    _panes: dict[str, Row] = attrs.Factory(dict)
    has_begun: bool = False

    def changes(self, hosts: Mapping[str, tuple[Pane, ...]]) -> Iterator[Line]:
        """Yield the lines for changes to *hosts*, the panes of every living host."""
        panes = {found.address: found for host, those in hosts.items() for found in (Row(host, p) for p in those)}
        before, self._panes = self._panes, panes
        hosts_before, self._hosts = self._hosts, frozenset(hosts)
        counted = _counts(panes)
        if not self.has_begun:
            self.has_begun = True
            ordered = in_order(panes.values(), time.time())
            yield {"event": "state", **counted, "hosts": sorted(hosts), "panes": [_pane(found) for found in ordered]}
            return
        for host in sorted(hosts_before ^ self._hosts):
            yield {"event": "host", **counted, "host": host, "up": host in self._hosts}
        for address in sorted(before.keys() - panes.keys()):
            yield {"event": "gone", **counted, "address": address}
        for address, found in panes.items():
            old = before.get(address)
            if old is None or old.pane != found.pane:
                yield {
                    "event": "pane",
                    **counted,
                    "before": old.pane.status.value if old is not None else None,
                    **_pane(found),
                }


def _pane(found: Row) -> Line:
    return {"address": found.address, "host": found.host, "lit": found.is_lit, "pane": found.pane.to_json()}


def _counts(panes: Mapping[str, Row]) -> Line:
    """Return the count of panes of each status, most urgent first, and the same as a short text: `▲2 ●1`."""
    lit = [found.pane.status for found in panes.values() if found.is_lit]
    counts = {status: lit.count(status) for status in URGENCY if status is not Status.ACTIVE}
    text = " ".join(f"{lights.mark(status)}{count}" for status, count in counts.items() if count)
    return {"counts": {status.value: count for status, count in counts.items()}, "text": text}
