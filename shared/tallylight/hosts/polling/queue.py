"""
Queued texts in the panes of a polling host, the record of answers there, and the tapes of its panes.

A list queues and cancels texts over the host's socket (`snapshot.sockets`), `tally send --queue` queues them. The
kernel and the process table identify the sender: a person at a list on the terminal of its pane (`actions.seat`), or a
program. `actions.permission` decides what a program may do.

After any process answered in a pane, its screen is watched until its agent continues: its next question may look the
same.

Texts that wait for the end of a limit are saved, so that the next host can report those that were not typed
(`shift.kept`).

All looking and typing happens on one thread of its own, because a multiplexer may take seconds. Panes are changed on
the host's loop only.
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
from tallylight.actions.caller import Being, Caller
from tallylight.actions.client import PaneClient, identify_by
from tallylight.actions.close import Closer
from tallylight.actions.gate import Refusal
from tallylight.actions.once import KEYS_SETTLE_S, LATE_LOOK_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import PERSON_ONLY, Verb, Verdict
from tallylight.actions.request import DeferredText, Reply, Request, Unqueue, asks_for_tape
from tallylight.actions.seat import seated
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

#: How often, in seconds, panes with a queued text are looked at, and how often otherwise.
LOOK_S, LOOK_IDLE_S = LATE_LOOK_S, 2.0
#: How long, in seconds, a client may take to send its request.
RECEIVE_REQUEST_S = 2.0
#: How long, in seconds, to wait for a call on the loop, which nothing delays.
LOOP_S = 10.0
_GONE = Refusal("gone", "that pane is gone; nothing was done")
_T = TypeVar("_T")


class DeferredTexts:
    """The queued texts of *poller*, the host *host* of this process; *panes* reads its panes and types into them."""

    def __init__(self, poller: PollingHost, host: str, panes: Panes, environ: Mapping[str, str]) -> None:
        self._poller, self._panes = poller, panes
        self._name, self._environ = f"{host}-{os.getpid()}", environ
        self._listener = sockets.listen(host, environ)
        self._answered = OnDisk(environ)
        self._once = Once(KEYS_SETTLE_S, self._answered)
        #: The panes with a queued text.
        self._waiting: set[str] = set()
        #: Saves texts that wait for the end of a limit; `_left` are those of an earlier host, until their panes are
        #: found.
        self._kept = night.QueuedRecorder(environ)
        self._left: list[Queued] = [*self._kept.left(process_table.table().start)]
        #: Whether a pane of this host was answered and its agent has not continued yet.
        self._has_answered = False

    @classmethod
    def serve(cls, poller: PollingHost, host: str, panes: Panes, environ: Mapping[str, str]) -> None:
        """Accept texts from now on, on a thread. Without a socket, requests to queue a text are refused."""
        try:
            made = cls(poller, host, panes, environ)
        except (OSError, TallyError):
            return
        path = sockets.path_of(made._name, environ)
        poller.at_end.append(lambda: path.unlink(missing_ok=True))
        threading.Thread(target=made.run, name="tallylight-queue", daemon=True).start()

    def run(self) -> None:
        """Serve requests and advance queued texts, without end."""
        while True:
            is_busy = self._waiting or self._has_answered
            ready, _, _ = select.select([self._listener], [], [], LOOK_S if is_busy else LOOK_IDLE_S)
            try:
                if ready:
                    self._serve_client()
                self._show_left()
                self.look(time.monotonic())
                self._keep()
                self.look_at_answered()
            except Exception as error:  # the next one can succeed
                self._poller.problems["texts that wait"] = f"{type(error).__name__}: {error}"

    def _serve_client(self) -> None:
        """Serve one client's request."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone again
        with connection:
            connection.settimeout(RECEIVE_REQUEST_S)
            try:
                line = request.first_line(connection.recv, request.MAX_REQUEST_BYTES) or b""
                connection.sendall(request.encode_reply(self._answer(connection, *request.decode_request(line))))
            except (OSError, request.TooLongError):
                return

    def _answer(self, connection: socket.socket, asked: Request | None, is_key: bool) -> Reply:
        """
        Return the reply to *asked* from the process at the other end; with *is_key*, a person pressed a key for it.
        """
        identify, table = identify_by(self._environ), process_table.table()
        caller = caller_at(connection, lambda pid: seated(identify(pid), identify, table) if is_key else identify(pid))
        return self.act(asked, caller) if caller is not None else PERSON_ONLY

    def act(self, asked: Request | None, caller: Caller) -> Reply:
        """Carry out the request *asked* of *caller*, if allowed: queue a text, cancel it, or return the tape."""
        if not (isinstance(asked, DeferredText | Unqueue) or asks_for_tape(asked)):
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

        access = Access(typist, self._once, permit, keep, pane.queued, lambda: self._on_loop(lambda: pane.tape.data))
        return perform(access, asked, caller) or request.UNKNOWN

    def look(self, now: float) -> None:
        """Advance all queued texts at monotonic *now*."""
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

    def _show_left(self) -> None:
        """
        Show texts that an earlier host left, in the panes of their agents; drop those with agents that have ended.
        """
        table = process_table.table()
        for queued in list(self._left):
            is_over = table.start(queued.pid) != queued.start
            if is_over or self._on_loop(lambda queued=queued: self._shows(queued)):  # type: ignore[misc]
                self._left.remove(queued)
                self._kept.drop(queued)

    def _keep(self) -> None:
        """Save texts that wait for the end of a limit."""
        found = [self._on_loop(lambda id_=id_: self._waits(id_)) for id_ in self._waiting]  # type: ignore[misc]
        self._kept.keep(one[0] for one in found if one is not None)

    def look_at_answered(self) -> None:
        """Watch the screens of answered panes: an agent that has continued may ask the same again."""
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
        """Return the access to the pane *id_* of this host; a refusal if it is gone."""
        entry = self._on_loop(lambda: self._poller.entry(id_))
        return self._panes.at(self._name, entry) if entry is not None else _GONE

    # On the loop ---------------------------------------------------------------------------------------------

    def _waits(self, id_: str) -> tuple[Queued, Pane] | None:
        """Return the queued text of a pane and the pane's entry; None if no text waits."""
        pane, entry = self._poller.peek(id_), self._poller.entry(id_)
        if pane is None or entry is None or pane.queued is None or pane.queued.problem:
            return None
        return pane.queued, entry

    def _shows(self, queued: Queued) -> bool:
        """Show *queued* in its agent's pane unless another text waits there; return whether the pane was found."""
        for pane in self._poller.panes.values():
            if pane.agent_pid == queued.pid:
                if pane.queued is None:
                    pane.queue(queued)
                return True
        return False

    def _set(self, id_: str, queued: Queued | None, before: Queued | None = None) -> None:
        """Replace the queued text of a pane, provided that it is still *before* (None: any)."""
        pane = self._poller.pane(id_)
        if pane is None or (before is not None and pane.queued != before):
            return
        pane.queue(queued)
        if queued is not None:
            self._waiting.add(id_)

    def _on_loop(self, call: Callable[[], _T]) -> _T:
        """Return the result of *call*, made on the loop; raise `TallyError` if the loop has ended."""
        box: Mailbox[_T] = Mailbox()
        self._poller.post(lambda: box.put(call()))
        try:
            return box.get(LOOP_S)
        except Empty:
            raise TallyError("the host does not answer") from None
