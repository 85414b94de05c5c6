"""
Texts that wait in the panes of a polling host for the end of a turn, by `actions.queue`; what was answered there; and
the tapes of its panes, which it alone has.

A list puts and cancels them over the host's socket (`snapshot.sockets`), and `tally send --queue` puts them. Who is at
the other end is what the kernel says, and the process table: a person at a list that has the terminal of its pane
(`actions.seat`), or a program, which may do what `actions.permission` says.

A pane that any process has answered is looked at until its agent has gone on, for its next question may look the same.

What waits for the end of a limit is kept on the disk, for the next host to tell of what was not typed (`shift.kept`).

Everything that looks or types is done on one thread of its own, for a multiplexer may take seconds; the panes are
touched on the host's loop alone.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty
from typing import TypeVar

from tallylight.actions import request
from tallylight.actions.answered import OnDisk
from tallylight.actions.caller import Being, Caller, caller_of
from tallylight.actions.client import PaneClient
from tallylight.actions.close import Closer
from tallylight.actions.gate import Refusal
from tallylight.actions.once import LATE_LOOK_S, SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import PERSON_ONLY, Verb, Verdict
from tallylight.actions.request import DeferredText, Reply, Request, Unqueue, is_of_tape
from tallylight.actions.seat import seated
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.hosts import night
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.peers import caller_at
from tallylight.hosts.polling.host import PollingHost
from tallylight.model.errors import TallyError
from tallylight.model.queued import Queued
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane

#: How often, in seconds, panes with a waiting text are looked at; and whether any was answered, if none was.
LOOK_S, IDLE_S = LATE_LOOK_S, 2.0
#: How long, in seconds, one that connects may take for what it asks.
TAKE_S = 2.0
#: How long, in seconds, the loop may take for one call. It is held up by nothing.
LOOP_S = 10.0
_GONE = Refusal("gone", "that pane is gone; nothing was done")
_T = TypeVar("_T")


class DeferredTexts:
    """What waits in the panes of *poller*, the host *host* of this process, which *panes* reaches."""

    def __init__(self, poller: PollingHost, host: str, panes: Panes, environ: Mapping[str, str]) -> None:
        self._poller, self._panes = poller, panes
        self._name, self._environ = f"{host}-{os.getpid()}", environ
        self._listener = sockets.listen(host, environ)
        self._answered = OnDisk(environ)
        self._once = Once(SETTLE_S, self._answered)
        #: The panes with a waiting text.
        self._waiting: set[str] = set()
        #: What waits for the end of a limit, on the disk; and what an earlier host left of it, until its pane is seen.
        self._kept = night.QueuedRecorder(environ)
        self._left: list[Queued] = [*self._kept.left(process_table.table().start)]
        #: Whether a pane of this host was answered, and its agent was not seen to go on.
        self._has_answered = False

    @classmethod
    def serve(cls, poller: PollingHost, host: str, panes: Panes, environ: Mapping[str, str]) -> None:
        """Take texts from now on. Where there can be no socket there are none, and a request to queue is refused."""
        try:
            made = cls(poller, host, panes, environ)
        except (OSError, TallyError):
            return
        path = sockets.path_of(made._name, environ)
        poller.at_end.append(lambda: path.unlink(missing_ok=True))
        threading.Thread(target=made.run, name="tallylight-queue", daemon=True).start()

    def run(self) -> None:
        """Hear who comes and see to what waits, without end."""
        while True:
            is_busy = self._waiting or self._has_answered
            ready, _, _ = select.select([self._listener], [], [], LOOK_S if is_busy else IDLE_S)
            try:
                if ready:
                    self._hear()
                self._tell_left()
                self.look(time.monotonic())
                self._keep()
                self.look_at_answered()
            except Exception as error:  # the next one may well succeed
                self._poller.problems["texts that wait"] = f"{type(error).__name__}: {error}"

    def _hear(self) -> None:
        """Do what one that has come asks."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone again
        with connection:
            connection.settimeout(TAKE_S)
            try:
                line = request.first_line(connection.recv, request.MAX_REQUEST) or b""
                connection.sendall(request.encode_reply(self._told(connection, *request.decode_request(line))))
            except (OSError, request.TooLongError):
                return

    def _told(self, connection: socket.socket, asked: Request | None, is_key: bool) -> Reply:
        agents, table = agent_files.load_agents(self._environ)[0], process_table.table()

        def identify(pid: int) -> Caller:
            return caller_of(pid, agents, table)

        caller = caller_at(connection, lambda pid: seated(identify(pid), identify, table) if is_key else identify(pid))
        return self.act(asked, caller) if caller is not None else PERSON_ONLY

    def act(self, asked: Request | None, caller: Caller) -> Reply:
        """Do what *caller* asks, if they may: have a text wait in a pane, or none any more; or tell its tape."""
        if not (isinstance(asked, DeferredText | Unqueue) or is_of_tape(asked)):
            return request.UNKNOWN
        entry, pane = self._on_loop(lambda: (self._poller.entry(asked.pane), self._poller.peek(asked.pane)))
        if entry is None or pane is None:
            return _GONE
        typist = self._panes.at(self._name, entry)
        if isinstance(typist, Refusal):
            return typist
        client = PaneClient(self._panes, lambda: caller, lambda _: self._poller.allow, self._panes.started_by)

        def permit(_caller: Caller, verb: Verb, holder: Being) -> Verdict | Refusal:
            return client.forbidden(Row(self._name, entry), verb, holder) or Verdict.ALLOWED

        def keep(queued: Queued | None) -> None:
            self._on_loop(lambda: self._set(asked.pane, queued))

        access = Access(typist, self._once, permit, keep, pane.queued, lambda: self._on_loop(lambda: pane.tape.told))
        return perform(access, asked, caller) or request.UNKNOWN

    def look(self, now: float) -> None:
        """See to all that waits, at monotonic *now*."""
        for id_ in list(self._waiting):
            found = self._on_loop(lambda id_=id_: self._waits(id_))  # type: ignore[misc]
            if found is None:
                self._waiting.discard(id_)
                continue
            waits, entry = found
            typist = self._panes.at(self._name, entry)
            if isinstance(typist, Refusal):
                continue
            after = night.step_queued(typist, self._once, waits, now, entry.status, entry.limited_until)
            if after != waits:
                self._on_loop(lambda id_=id_, after=after, waits=waits: self._set(id_, after, before=waits))  # type: ignore[misc]

    def _tell_left(self) -> None:
        """Have panes show what an earlier host left and nobody has typed, as far as their agents still run."""
        table = process_table.table()
        for queued in list(self._left):
            is_over = table.start(queued.pid) != queued.start
            if is_over or self._on_loop(lambda queued=queued: self._shows(queued)):  # type: ignore[misc]
                self._left.remove(queued)
                self._kept.drop(queued)

    def _keep(self) -> None:
        """Keep on the disk what waits for the end of a limit."""
        found = [self._on_loop(lambda id_=id_: self._waits(id_)) for id_ in self._waiting]  # type: ignore[misc]
        self._kept.keep(one[0] for one in found if one is not None)

    def look_at_answered(self) -> None:
        """Look at what was answered in panes of this host: an agent that has gone on may ask the same again."""
        self._has_answered = False
        for agent, note in self._answered.all():
            id_, pid, start = agent
            typist = self._typist(id_)
            if isinstance(typist, Refusal):
                continue
            if process_table.table().start(pid) != start:
                self._answered.forget(agent, note)
            else:
                self._has_answered = True
                self._once.look(typist)

    def _typist(self, id_: str) -> Closer | Refusal:
        """What reaches the pane *id_* of this host."""
        entry = self._on_loop(lambda: self._poller.entry(id_))
        return self._panes.at(self._name, entry) if entry is not None else _GONE

    # On the loop ---------------------------------------------------------------------------------------------

    def _waits(self, id_: str) -> tuple[Queued, Pane] | None:
        """What waits in a pane, and its entry; None if nothing does any more."""
        pane, entry = self._poller.peek(id_), self._poller.entry(id_)
        if pane is None or entry is None or pane.queued is None or pane.queued.problem:
            return None
        return pane.queued, entry

    def _shows(self, queued: Queued) -> bool:
        """Have the pane of its agent show *queued*, if that is known by now and nothing else waits there."""
        for pane in self._poller.panes.values():
            if pane.agent_pid == queued.pid:
                if pane.queued is None:
                    pane.queue(queued)
                return True
        return False

    def _set(self, id_: str, queued: Queued | None, before: Queued | None = None) -> None:
        """Have *queued* wait in a pane, if there still is *before*; None for whatever there is."""
        pane = self._poller.pane(id_)
        if pane is None or (before is not None and pane.queued != before):
            return
        pane.queue(queued)
        if queued is not None:
            self._waiting.add(id_)

    def _on_loop(self, call: Callable[[], _T]) -> _T:
        """What *call* returns on the loop. `TallyError` if that has ended, for then nothing is known of any pane."""
        box: Mailbox[_T] = Mailbox()
        self._poller.post(lambda: box.put(call()))
        try:
            return box.get(LOOP_S)
        except Empty:
            raise TallyError("the host does not answer") from None
