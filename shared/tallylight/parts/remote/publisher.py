"""Reports this machine's agents to the broker of a fleet: reads hosts' snapshots, and other machines' requests."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping

from tallylight.config.fleet import Fleet
from tallylight.parts.remote.broker import Link, machine_name
from tallylight.parts.remote.marks import Marks
from tallylight.parts.remote.outbox import Outbox
from tallylight.parts.remote.topics import Presence, encode_presence, names_of, topic
from tallylight.snapshot import requests, writer
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import RequestError

#: How often, in seconds, the snapshots are read.
PUBLISH_EVERY_S = 0.2


class Publisher:
    """One run of `tally publish`. *report* gets messages for the person."""

    def __init__(self, fleet: Fleet, environ: Mapping[str, str], report: Callable[[str], None]) -> None:
        self._fleet, self._environ, self._report = fleet, environ, report
        self._machine, self._life = machine_name(fleet), uuid.uuid4().hex
        self._place = topic(fleet.prefix, self._machine, "machine")
        own = Presence(online=True, at=round(time.time(), 3), life=self._life, marks=fleet.marks)
        self._outbox = Outbox(fleet.prefix, self._machine, own)
        self._feed = Feed(writer.directory(environ))
        self._marks = Marks(fleet.marks)
        self._reported: tuple[str, ...] = ()
        self._link = Link(
            fleet,
            subscribe=f"{topic(fleet.prefix, self._machine)}/#",
            take=self._take,
            will=(self._place, encode_presence(Presence(online=False, at=0.0, life=self._life))),
            acknowledged=self._outbox.acknowledged,
            changed=lambda _: self._outbox.lost(),
        )

    def step(self) -> None:
        """Send changes to the broker, read its messages, and wait for more."""
        link, now = self._link, time.monotonic()
        if self._feed.poll(now):
            self._outbox.show(self._feed.snapshots)
        if link.is_up:
            if word := self._outbox.name.word():
                link.send(topic(self._fleet.prefix, self._machine, "namesake"), word, is_kept=False)
            for place, payload in self._outbox.take(now).items():
                link.send(place, payload)
        link.step(now, PUBLISH_EVERY_S)
        state = (link.standing, self._standing())
        for text in state:
            if text and text not in self._reported:
                self._report(text)
        self._reported = state
        if not link.is_up:
            time.sleep(PUBLISH_EVERY_S)

    def close(self) -> None:
        """Report this machine as offline, if its name is ours, and close the link."""
        goodbye = encode_presence(Presence(online=False, at=round(time.time(), 3), life=self._life))
        self._link.close((self._place, goodbye) if self._outbox.name.holder is None else None)

    def _take(self, place: str, payload: bytes, is_stored: bool) -> None:
        """Apply a message: a mark for one of our panes, or the presence of a machine of our name."""
        now = time.monotonic()
        match names_of(place, self._fleet.prefix):
            case (_, "mark", host, pane) if payload:
                self._mark(host, pane, payload, now, is_stored=is_stored)
        self._outbox.received(place, payload, now, is_stored=is_stored)

    def _mark(self, host: str, pane: str, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Send a mark to the host of its pane, and report the result."""
        asked = self._marks.take(host, pane, payload, self._feed.snapshots, now, is_stored=is_stored)
        if isinstance(asked, str):
            done = f"mark ignored: {asked}" if asked else ""
        else:
            try:
                requests.send(host, asked, self._environ)
                done = asked.verb
            except RequestError as error:
                done = f"mark ignored: {error}"
        if done:
            self._report(f"a mark for {host}:{pane}: {done}")

    def _standing(self) -> str:
        """Return what the person must know of this machine's name, if another one uses it; else empty."""
        if (holder := self._outbox.name.holder) is not None:
            since = time.strftime("%Y-%m-%d %H:%M", time.localtime(holder.at))
            return (
                f"another machine, or another `tally publish`, is called {self._machine} since {since}: not shown; "
                "give this one another name with `machine` in [fleet]"
            )
        other = f"another machine also uses the name {self._machine}, and is not shown"
        return other if self._outbox.name.follower is not None else ""
