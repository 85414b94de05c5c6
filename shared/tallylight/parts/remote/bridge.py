"""
The far end of a bridge: writes this machine's panes to standard output, and carries out requests from standard input.

Only the last state of a pane is sent: while the other end does not read, nothing piles up. A request is carried out
like that of a person at a list on this machine: process and screen are compared once more. A kitty of this machine also
applies its own `[scripting] allow`, as for any other process.

One loop waits for the two ends and the feed; requests run on threads (`hosts.jobs`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import attrs

from tallylight.actions import request
from tallylight.actions.answer import Done
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Lines, Mark, TooLongError
from tallylight.hosts.jobs import Jobs
from tallylight.hosts.mailbox import Mailbox
from tallylight.model.errors import TallyError
from tallylight.parts.remote.messages import (
    BEAT_S,
    CAN,
    MAX_REQUEST_BYTES,
    PROTOCOL,
    Ask,
    Beat,
    Hello,
    InitialStateSent,
    PaneGone,
    PaneState,
    Reply,
    decode,
    encode,
    is_id,
)
from tallylight.parts.remote.panes import Key
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.feed import Hosts
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.sockets import is_host

#: Bytes that may wait for the other end to read; beyond them no pane is sent.
MAX_UNREAD = 64 * 1024
#: The same limit for replies: beyond it the other end counts as gone, because it asks and does not read.
MAX_REPLIES = 8 * 1024 * 1024
#: How often, in seconds, to read the snapshots if no descriptor reports changes.
POLL_UNNOTIFIED_S = 0.2
#: Without a message for so many seconds the other end is gone: a lost connection is silent.
PEER_GONE_S = 60.0
#: For how long, in seconds, a request waits for the one before it to the same pane, and how many requests wait.
BUSY_S, MAX_WAITING_REQUESTS = 10.0, 64
_CHUNK_BYTES = 64 * 1024
_GONE = Refusal("gone", "that pane is gone; nothing was done")
_BUSY = Refusal("busy", "something else is just being done to that pane; nothing was done")


@attrs.define
class StateSender:
    """Sends the changes of panes since the last ones sent. Its memory grows with the panes, never with time."""

    _wanted: dict[Key, Pane] = attrs.field(init=False, factory=dict)
    _published: dict[Key, Pane] = attrs.field(init=False, factory=dict)
    _is_whole: bool = attrs.field(init=False, default=False)

    def show(self, hosts: Iterable[Snapshot]) -> None:
        """Take the panes that the *hosts* of this machine show now; those of other machines are left out."""
        own = (host for host in hosts if not is_elsewhere(host.name) and is_host(host.name))
        self._wanted = {(host.name, pane.id): pane for host in own for pane in host.panes if is_id(pane.id)}

    def find(self, host: str, id_: str) -> Pane | None:
        """Return the pane *id_* of *host*, as last shown."""
        return self._wanted.get((host, id_))

    def news(self) -> Iterator[bytes]:
        """Yield the lines to send; each counts as sent."""
        for key in [key for key in self._published if key not in self._wanted]:
            del self._published[key]
            yield encode(PaneGone(*key))
        for key, pane in self._wanted.items():
            if self._published.get(key) != pane:
                self._published[key] = pane
                # Without fields that are of use on this machine only; with fewer still if it is too long.
                whole = attrs.evolve(
                    pane,
                    commands=attrs.evolve(pane.commands, resume=(), fork=()),
                    choices=(),
                    place=attrs.evolve(pane.place, terminals=(), terminal=""),
                )
                shorter = attrs.evolve(
                    whole,
                    evidence=attrs.evolve(pane.evidence, records=(), losing=()),
                    tasks=(),
                    about=attrs.evolve(pane.about, children=()),
                )
                yield encode(PaneState(key[0], whole)) or encode(PaneState(key[0], shorter))
        if not self._is_whole:
            self._is_whole = True
            yield encode(InitialStateSent())


class Bridge:
    """
    The far end: reads *fd_in*, writes *fd_out*, which must not block. *client* carries out requests on panes.

    *keep* is called about once a second, to start a host for this machine's sessions if there is none.
    """

    def __init__(
        self,
        feed: Hosts,
        client: PaneClient,
        version: str,
        environ: Mapping[str, str],
        *,
        keep: Callable[[], None] = lambda: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._feed, self._client, self._environ, self._keep = feed, client, environ, keep
        self.sender = StateSender()
        self._lines = Lines(MAX_REQUEST_BYTES)
        self._results: Mailbox[Callable[[], None]] = Mailbox()
        self._wake: int | None = None
        self._jobs = Jobs(self._deliver)
        #: Requests for panes that have another one in hand, and when they came.
        self._waiting: list[tuple[float, Ask]] = []
        self._news: Iterator[bytes] = self.sender.news()
        self._unsent = bytearray(encode(Hello(PROTOCOL, version, CAN, round(wall(), 3))))
        self._beat_at = self._received_at = time.monotonic()
        self._kept_at = float("-inf")

    def run(self, fd_in: int, fd_out: int) -> None:
        """Run until the other end is gone."""
        wake, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        is_out = os.get_blocking(fd_out)
        os.set_blocking(fd_out, False)
        try:
            while self._step(fd_in, fd_out, wake):
                pass
        except (OSError, TooLongError):
            return
        finally:
            with contextlib.suppress(OSError):
                os.set_blocking(fd_out, is_out)

    def _step(self, fd_in: int, fd_out: int, wake: int) -> bool:
        """Send, receive and wait for more; return False once the other end is gone."""
        now = time.monotonic()
        if self._feed.poll(now):
            self.sender.show(self._feed.snapshots)
            self._news = self.sender.news()
        feeds = self._feed.descriptors()
        if now - self._kept_at >= 1.0:
            self._kept_at = now
            self._keep()
        self._fill(now)
        waiting = [fd_in, wake, *(feeds or ())]
        patience = POLL_UNNOTIFIED_S if feeds is None else min(1.0, BEAT_S)
        readable, writable, _ = select.select(waiting, [fd_out] if self._unsent else [], [], patience)
        if writable:
            with contextlib.suppress(BlockingIOError):
                del self._unsent[: os.write(fd_out, self._unsent[:_CHUNK_BYTES])]
        if wake in readable:
            os.read(wake, _CHUNK_BYTES)
        while not self._results.is_empty():
            self._results.get()()
        waiting_asks, self._waiting = self._waiting, []
        for came, asked in waiting_asks:
            self._take(asked, came)
        if fd_in in readable:
            if not (data := os.read(fd_in, _CHUNK_BYTES)):
                return False
            self._received_at = now
            for line in self._lines.feed(data):
                self._received(line)
        return now - self._received_at < PEER_GONE_S and len(self._unsent) < MAX_REPLIES

    def _fill(self, now: float) -> None:
        """Queue new lines and beats for the other end, as long as it reads."""
        if now - self._beat_at >= BEAT_S:
            self._beat_at = now
            if not self._unsent:
                self._unsent += encode(Beat())
        while len(self._unsent) < MAX_UNREAD and (line := next(self._news, None)) is not None:
            self._unsent += line

    # Requests -----------------------------------------------------------------------------------------------

    def _received(self, line: bytes) -> None:
        """Carry out the request in *line*; ignore a line without one."""
        if isinstance(asked := decode(line), Ask):
            self._take(asked, time.monotonic())

    def _take(self, asked: Ask, came: float) -> None:
        """Carry out a request on a thread, after the one before it to that pane."""
        host, id_ = asked.host, asked.asked.pane
        pane = self.sender.find(host, id_)
        if pane is None:
            self._reply(asked, _GONE)
            return
        perform = functools.partial(self._perform, asked, Row(host, pane))
        done, failed = functools.partial(self._reply, asked), functools.partial(self._failed, asked)
        if self._jobs.submit((host, id_), perform, done, failed):
            return
        if time.monotonic() - came < BUSY_S and len(self._waiting) < MAX_WAITING_REQUESTS:
            self._waiting.append((came, asked))
        else:
            self._reply(asked, _BUSY)

    def _perform(self, asked: Ask, found: Row) -> request.Reply:
        """Carry out the request *asked* for the pane *found*, and return its reply."""
        if isinstance(mark := asked.asked, Mark):
            requests.send(asked.host, Request(mark.verb, mark.pane, mark.args), self._environ)
            return Done(mark.pane, "")
        return self._client.perform(found, asked.asked)

    def _failed(self, asked: Ask, error: Exception) -> None:
        """Reply that the request failed."""
        is_told = isinstance(error, TallyError)
        words = ("unreachable", str(error)) if is_told else ("failed", f"it failed there: {type(error).__name__}")
        self._reply(asked, Refusal(*words))

    def _reply(self, asked: Ask, reply: request.Reply) -> None:
        """Queue *reply* to *asked*; a refusal in its place if it is too long."""
        too_long = Refusal("too-long", "that is too long to send")
        self._unsent += encode(Reply(asked.number, reply)) or encode(Reply(asked.number, too_long))

    def _deliver(self, call: Callable[[], None]) -> None:
        """Have the loop make *call*: a job has ended on its thread."""
        self._results.put(call)
        if self._wake is not None:
            with contextlib.suppress(BlockingIOError, OSError):
                os.write(self._wake, b"x")
