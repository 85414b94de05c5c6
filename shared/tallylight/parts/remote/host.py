"""
The near end of all bridges: keeps one process for each machine, shows their panes, and passes requests on.

It runs on a thread of its own beside the host of sessions, which it never delays. It waits for no machine: a pipe or
socket is used only when it is ready. Its snapshot is `machines-<pid>.json`. Requests arrive as for any host; questions,
answers and texts over its socket (`snapshot.sockets`), in the format of `actions.request`.

The kernel and the process table identify a client when it connects (`actions.caller`). `actions.permission` decides
what it may do, by the configuration of this host. A list counts as a person if it has the terminal of its pane. No
question can be asked here. The far end looks again before anything is typed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping

import attrs

from tallylight.actions.caller import Caller
from tallylight.actions.client import identify_by
from tallylight.actions.gate import Refusal
from tallylight.actions.permission import check, refusal_of, verb_of
from tallylight.actions.request import UNKNOWN, LookRequest, Mark, Reply, decode_request, encode_reply
from tallylight.actions.seat import Identify, seated
from tallylight.config.machines import Machine as Setting
from tallylight.config.powers import ALLOW, MACHINES
from tallylight.evidence import process_table
from tallylight.hosts.peers import Channel, caller_at
from tallylight.hosts.powers import Powers
from tallylight.model.errors import TallyError
from tallylight.parts.remote import commands
from tallylight.parts.remote.link import END_S, Link
from tallylight.parts.remote.machine import Machine
from tallylight.parts.remote.messages import Carried, is_carried
from tallylight.parts.remote.panes import Panes
from tallylight.snapshot import sockets
from tallylight.snapshot.elsewhere import HOST, parts
from tallylight.snapshot.requests import Spool
from tallylight.snapshot.schema import MachineEntry
from tallylight.snapshot.writer import MAX_PANES, MAX_SNAPSHOT_BYTES, SnapshotWriter

#: How often, in seconds, requests and the configuration are looked for.
POLL_REQUESTS_S, CONFIG_S = 0.25, 2.0
#: Seconds that a machine has for a reply, and for typing, when a person may be asked over there.
TELL_S, TYPE_S = 20.0, 75.0
#: The most clients on the socket, and how many seconds one has for its request, and for the answer.
MAX_PEERS, PEER_S = 16, 5.0
#: A process that closed its output has so many seconds to end by itself.
CLOSED_OUTPUT_S = 0.5
#: The part of a snapshot for all machines together, in bytes as received.
_ROOM = MAX_SNAPSHOT_BYTES * 3 // 4
_WAITS = "is new in config.toml, and starts with the next `tally host sessions`"


@attrs.define(eq=False)
class _Peer(Channel):
    """
    A client on the socket, which makes one request. *caller* is its identity by *identify*: None for another user.
    """

    caller: Caller | None
    identify: Identify
    until: float
    has_asked: bool = False

    @property
    def events(self) -> int:
        """The events to wait for, besides its end."""
        return select.POLLOUT if self.unsent else 0 if self.has_asked else select.POLLIN


def forbidden(level: str, caller: Caller | None, asked: Carried, identify: Identify, *, is_key: bool) -> Refusal | None:
    """Return why a request of *caller* is refused at the permission *level*; None if it is passed on."""
    if caller is None:
        return Refusal("caller", "only the owner of these machines can ask; nothing was done")
    if is_key:
        caller = seated(caller, identify, process_table.table())
    verb = verb_of(asked, None)
    return refusal_of(check(level, caller, verb)) if verb is not None else UNKNOWN


class MachinesHost:
    """The host of all configured machines. `run` belongs to one thread; `stop` may be called on any."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ, self._clock = environ, time.monotonic
        self._thread: threading.Thread | None = None
        #: The machines of the start; others wait for the next one.
        self._powers: Powers | None = None
        #: The permission of programs here (`scripting`).
        self._level = "none"
        self._config_at = self._look_at = float("-inf")
        self._machines: dict[str, Machine] = {}
        #: The names of machines that wait for the next start.
        self._new: list[str] = []
        self._links: dict[str, Link] = {}
        #: Links that were asked to end, each with the time when it is killed.
        self._ending: list[tuple[Link, float]] = []
        self._peers: list[_Peer] = []
        self._writer: SnapshotWriter | None = None
        self._spool: Spool | None = None
        self._listener: socket.socket | None = None
        self._wake, self._waker = os.pipe()
        self._is_over = False
        #: The current problem, for tests and debugging.
        self.problem = ""

    @classmethod
    def serve(cls, environ: Mapping[str, str]) -> MachinesHost:
        """Run the host on a thread of its own."""
        made = cls(environ)
        made._thread = threading.Thread(target=made.run, name="tallylight-machines", daemon=True)
        made._thread.start()
        return made

    def stop(self) -> None:
        """End `run`, and wait for it."""
        self._is_over = True
        with contextlib.suppress(OSError):
            os.write(self._waker, b"x")
        if self._thread is not None:
            self._thread.join(END_S)

    def run(self) -> None:
        """Run until `stop`, then clean up."""
        try:
            while not self._is_over:
                try:
                    self.step()
                except Exception as error:  # one failure must not lose the others
                    self.problem = f"{type(error).__name__}: {error}"
                    select.select([self._wake], [], [], POLL_REQUESTS_S)
        finally:
            self._close()

    def step(self) -> None:
        """Do everything that is due, and wait for the next event."""
        now = self._clock()
        if now >= self._config_at:
            self._config_at = now + CONFIG_S
            self._read_config()
        for name, machine in self._machines.items():
            self._drive(name, machine, now)
        if now >= self._look_at:
            self._look_at = now + POLL_REQUESTS_S
            self._take_requests(now)
        self._end_links(now)
        if any(machine.is_changed for machine in self._machines.values()):
            self._show(now)
        elif self._writer is not None:
            self._writer.flush(now)
        self._wait(now)

    # Machines ------------------------------------------------------------------------------------------------

    def _read_config(self) -> None:
        """Apply a changed configuration, as far as it gives programs no more power than at the start."""
        if self._powers is None:
            self._powers = Powers(self._environ, {MACHINES})
        elif not self._powers.look():
            return
        new = [one.key.removeprefix(f"{MACHINES}.") for one in self._powers.withheld]
        self._new = [name for name in new if name not in self._powers.config.machines and name != ALLOW]
        self._level = self._powers.config.scripting
        self.use(self._powers.config.machines)

    def use(self, settings: Mapping[str, Setting]) -> None:
        """Connect to the machines of *settings* and to no others. One with a changed command is connected again."""
        count = max(1, len(settings))
        for name in [name for name, one in self._machines.items() if settings.get(name) != one.setting]:
            machine = self._machines.pop(name)
            self._unlink(name, machine, self._clock())
        for name, setting in settings.items():
            made = self._machines.setdefault(name, Machine(setting, Panes(0, 0)))
            made.panes.max_rows, made.panes.max_bytes = MAX_PANES // count, min(1 << 20, _ROOM // count)
        if (self._machines or self._new) and self._writer is None:
            self._writer = SnapshotWriter.for_host(HOST, self._environ, time.time)
            self._spool = Spool(HOST, environ=self._environ)
            try:
                self._listener = sockets.listen(HOST, self._environ)
            except (OSError, TallyError) as error:
                # No request can then reach the machines; they are shown all the same.
                self.problem = str(error)
        self._show(self._clock())

    def _drive(self, name: str, machine: Machine, now: float) -> None:
        """Start the link of *machine* if it is time; end one that is overdue."""
        link = self._links.get(name)
        machine.expire(now)
        if link is None:
            if now >= machine.retry_at:
                machine.began(now)
                link = Link.start(commands.bridge(machine.setting.command), self._environ)
                if link is None:
                    machine.ended(None, "", now)
                else:
                    self._links[name] = link
        elif link.is_closed or link.child.poll() is not None or machine.overdue(now):
            self._unlink(name, machine, now)

    def _unlink(self, name: str, machine: Machine, now: float) -> None:
        """Ask the process of a link to end, without waiting for it."""
        link = self._links.pop(name, None)
        if link is None:
            return
        if link.child.poll() is None and link.is_closed:
            # It ends any moment, on a busy machine a little later: its exit code shows why.
            with contextlib.suppress(Exception):
                link.child.wait(CLOSED_OUTPUT_S)
        link.read_complaint()
        # Output before its end counts; a pipe holds no more than one reading takes.
        self._read(link, machine)
        code = link.child.poll()
        machine.ended(code if code is not None else -1, link.complaint.decode("utf-8", "replace"), now)
        link.end(is_asked=True)
        self._ending.append((link, now + END_S))

    def _end_links(self, now: float) -> None:
        """Close the links that have ended, and kill those that take too long."""
        left = []
        for link, until in self._ending:
            if link.child.poll() is not None:
                link.close()
            elif now >= until:
                link.end(is_asked=False)
                left.append((link, now + END_S))
            else:
                left.append((link, until))
        self._ending = left

    # The lights ---------------------------------------------------------------------------------------------

    def _show(self, now: float) -> None:
        """Publish the rows of all machines, as far as they fit into one snapshot."""
        if self._writer is None:
            return
        for machine in self._machines.values():
            machine.is_changed = False
        ordered = [self._machines[name] for name in sorted(self._machines)]
        known = [MachineEntry(name=m.name, is_up=m.is_up, says=m.says) for m in ordered]
        self._writer.machines = (*known, *(MachineEntry(name=name, is_up=False, says=_WAITS) for name in self._new))
        self._writer.allow, withheld = self._level, self._powers.withheld if self._powers is not None else ()
        self._writer.withheld = tuple(one.key for one in withheld)
        self._writer.publish([pane for machine in ordered for pane in machine.rows], now)

    # Waiting -------------------------------------------------------------------------------------------------

    def _wait(self, now: float) -> None:
        """Wait until a pipe is ready or something is due; then handle that."""
        poller = select.poll()
        poller.register(self._wake, select.POLLIN)
        calls: dict[int, Callable[[], None]] = {}

        def watch(fd: int, event: int, call: Callable[[], None]) -> None:
            poller.register(fd, event)
            calls[fd] = call

        dues = [self._look_at if self._spool is not None else self._config_at, self._config_at]
        for name, machine in self._machines.items():
            link = self._links.get(name)
            if link is None:
                dues.append(machine.retry_at)
                continue
            dues.append(machine.due())
            stdin, stdout, stderr = link.fds
            if link.may_read(now):
                watch(stdout, select.POLLIN, functools.partial(self._read, link, machine))
            if unsent := machine.output(now):
                watch(stdin, select.POLLOUT, functools.partial(link.write, unsent))
            if not link.is_mute:
                watch(stderr, select.POLLIN, link.read_complaint)
        if self._listener is not None and len(self._peers) < MAX_PEERS:
            watch(self._listener.fileno(), select.POLLIN, self._accept)
        for peer in list(self._peers):
            if now >= peer.until:
                self._drop(peer)
                continue
            dues.append(peer.until)
            watch(peer.socket.fileno(), peer.events, functools.partial(self._serve, peer))
        if self._writer is not None and (due := self._writer.due(now)) is not None:
            dues.append(due)
        for fd, _ in poller.poll(max(0.0, min(dues) - self._clock()) * 1000 + 1):
            if fd in calls:
                calls[fd]()

    def _read(self, link: Link, machine: Machine) -> None:
        if data := link.read():
            machine.received(data, self._clock(), time.time())

    # Requests -----------------------------------------------------------------------------------------------

    def _take_requests(self, now: float) -> None:
        """Pass on the marks of persons. No reply is awaited: the rows show the result."""
        for request in self._spool.take() if self._spool is not None else ():
            name, host, id_ = parts(request.pane)
            asked = Mark(request.verb, id_, request.args)
            if is_carried(asked) and (machine := self._machines.get(name)) is not None:
                machine.ask(host, asked, now + TELL_S, lambda _: None)

    def _accept(self) -> None:
        """Accept a client on the socket."""
        assert self._listener is not None
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            # The client's identity, from the process table at this moment.
            identify = identify_by(self._environ)
            self._peers.append(_Peer(connection, caller_at(connection, identify), identify, self._clock() + PEER_S))

    def _serve(self, peer: _Peer) -> None:
        """Receive the client's request, or send the reply."""
        if peer.unsent:
            peer.send()
            if not peer.unsent:
                self._drop(peer)
            return
        lines = None if peer.has_asked else peer.receive()
        if lines is None:
            self._drop(peer)  # it has gone; its request is carried out all the same
        elif lines:
            peer.has_asked = True
            self._pass_on(peer, lines[0])

    def _pass_on(self, peer: _Peer, line: bytes) -> None:
        """Check the request in *line*, and send it to the machine of its pane."""
        asked, is_key = decode_request(line)
        if not is_carried(asked) or isinstance(asked, Mark):
            self._reply(peer, UNKNOWN)
            return
        name, host, id_ = parts(asked.pane)
        machine = self._machines.get(name)
        if machine is None:
            self._reply(peer, Refusal("gone", "[machines] has no machine of that name; nothing was done"))
        elif (refused := forbidden(self._level, peer.caller, asked, peer.identify, is_key=is_key)) is not None:
            self._reply(peer, refused)
        else:
            until = self._clock() + (TELL_S if isinstance(asked, LookRequest) else TYPE_S)
            peer.until = until + PEER_S
            machine.ask(host, attrs.evolve(asked, pane=id_), until, functools.partial(self._reply, peer))

    def _reply(self, peer: _Peer, reply: Reply) -> None:
        peer.unsent = encode_reply(reply)
        peer.until = self._clock() + PEER_S

    def _drop(self, peer: _Peer) -> None:
        peer.close()
        if peer in self._peers:
            self._peers.remove(peer)

    def _close(self) -> None:
        """End everything: links, clients, the socket and the snapshot."""
        for link in (*self._links.values(), *(link for link, _ in self._ending)):
            link.end(is_asked=True)
            link.close()
        for peer in list(self._peers):
            self._drop(peer)
        if self._listener is not None:
            self._listener.close()
            with contextlib.suppress(OSError, TallyError):
                sockets.path_of(f"{HOST}-{os.getpid()}", self._environ).unlink(missing_ok=True)
        if self._spool is not None:
            self._spool.close()
        if self._writer is not None:
            self._writer.close()
