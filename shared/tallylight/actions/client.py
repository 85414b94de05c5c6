"""
The client: how a command of a person or a script reaches a pane, in any host.

kitty and the host of other machines are asked over their socket (`snapshot.sockets`). The panes of tmux, GNU Screen and
WezTerm are reached from this process, where `actions.perform` decides as it does in kitty. Their host is asked only for
its own things: the texts that wait, and tapes. The caller is known by the process that connects. If this process asks
for somebody else, as a server does, it is decided here first: nobody borrows its rights.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import attrs

from tallylight.actions import request
from tallylight.actions.answered import OnDisk
from tallylight.actions.caller import Being, Caller, Who, agent_named, caller_of, this_process
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.actions.once import KEYS_SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import Verb, Verdict, check, refusal_of, verb_of
from tallylight.actions.request import DeferredText, LookRequest, Reply, Request, Start, TooLongError, Unqueue, Visible
from tallylight.actions.seat import Identify, seated
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.evidence.process_table import Table
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.elsewhere import HOST, is_elsewhere, parts
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.sockets import SocketError

#: Seconds to wait for a terminal: it looks for scripts every `poll_ms`, which may be half a minute.
TERMINAL_REPLY_S = 45.0
#: Seconds to wait where a person may have to be asked first.
CONSENT_REPLY_S = 330.0
_LISTENS = ("kitty", HOST)
_NOBODY: Being = (0, 0)


def identify_by(environ: Mapping[str, str]) -> Identify:
    """
    Return a function that identifies processes for this one.

    The agent files that *environ* leads to can add agents, and hide none of the packaged ones.
    """
    table, packaged = process_table.table(), agent_files.load_agents({})[0]
    own = agent_files.load_agents(environ)[0]
    return lambda pid: caller_of(pid, own, table, was_agent=lambda other, _: agent_named(table.get(other), packaged))


def own_caller(environ: Mapping[str, str], prove: Callable[[Caller, Identify, Table], Caller] | None = None) -> Caller:
    """Return the caller that this process is: with *prove*, `seat.seated` or `seat.let_in`, perhaps the person."""
    identify = identify_by(environ)
    caller = identify(this_process())
    return caller if prove is None else prove(caller, identify, process_table.table())


def seated_caller(environ: Mapping[str, str]) -> Callable[[], Caller]:
    """
    Return a function that returns this process's caller each time: the person, while they sit at its terminal.

    The line of its first call counts, for its parents may end.
    """
    identify, table = identify_by(environ), process_table.table()
    opened = identify(this_process())
    return lambda: seated(opened, identify, table)


def is_asked(found: Row) -> bool:
    """Return whether only the host itself can look at the pane, and is asked over its socket."""
    return found.host.partition("-")[0] in _LISTENS


@attrs.define
class PaneClient:
    """
    The client for all panes. *panes* are those that are reached from this process.

    *timeout_s* is the time for a look by a terminal, and *ask_timeout_s* for anything typed. *caller* identifies this
    process; *level* returns the level of `[scripting]` of a host. *asks_for*: the caller that it acts for, if that is
    another; *is_key*: it is a list, where a key was pressed.
    """

    panes: Panes
    caller: Callable[[], Caller]
    level: Callable[[str], str]
    #: Returns the caller that started a pane of *panes*, and its first process; None if no script did.
    started_by: Callable[[str, Pane], tuple[Being, Being] | None] = lambda _host, _pane: None
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    timeout_s: float = TERMINAL_REPLY_S
    ask_timeout_s: float = CONSENT_REPLY_S
    is_key: bool = False
    asks_for: Caller | None = None
    once: Once = attrs.field(
        default=attrs.Factory(lambda self: Once(KEYS_SETTLE_S, OnDisk(self.environ)), takes_self=True)
    )

    @property
    def asker(self) -> Caller:
        """The caller that it acts for."""
        return self.asks_for or self.caller()

    def for_caller(self, caller: Caller) -> PaneClient:
        """Return the same client, acting for *caller*."""
        return attrs.evolve(self, asks_for=caller)

    def look(self, found: Row, what: str) -> Reply:
        """Return the reply to a `LookRequest` for *what* of a pane."""
        return self.perform(found, LookRequest(found.pane.id, what))

    def perform(self, found: Row, asked: Request) -> Reply:
        """Have the request *asked* done, by the host of the pane or from here, and return its reply."""
        if not is_asked(found):
            is_its_own = isinstance(asked, DeferredText | Unqueue) or request.asks_for_tape(asked)
            if self.asks_for is None and is_its_own:
                return self.ask_host(found.host, asked, self.timeout_s, is_key=self.is_key)
            return self._perform(found, asked)
        machine = parts(found.pane.id)[0] if is_elsewhere(found.host) else ""
        is_own = isinstance(asked, Close | DeferredText | Unqueue) or asked == LookRequest(
            found.pane.id, request.OCCUPANT
        )
        if machine and is_own:
            return Refusal("elsewhere", f"only {machine} itself can do that: go there")
        if self.asks_for is not None and (refused := self._refusal_for_other(found, asked)) is not None:
            return refused
        is_key = self.is_key and bool(machine)
        timeout_s = self.timeout_s if isinstance(asked, LookRequest) else self.ask_timeout_s
        return self.ask_host(found.host, asked, timeout_s, is_key=is_key)

    def start(self, host: str, asked: Start) -> Reply:
        """Have the terminal *host* start an agent in this process's directory; `Done.pane` is its new pane."""
        return self.ask_host(host, asked, self.ask_timeout_s)

    def may_read(self, found: Row) -> Refusal | None:
        """Return why the contents of the pane are refused; None if they are not."""
        return self.forbidden(found, Verb.READ, _NOBODY)

    def forbidden(self, found: Row, verb: Verb, holder: Being) -> Refusal | None:
        """Return why *verb* is refused for the pane with *holder* in its foreground; None if it is not."""
        caller, level = self.asker, self.level(found.host)
        if caller.who is Who.PERSON or verb is Verb.READ:
            return refusal_of(check(level, caller, verb))
        started = self.started_by(found.host, found.pane)
        is_own = started is not None and started[0] == caller.being
        pane = [holder, *(started[1:] if started is not None else ())]
        if caller.terminal and process_table.terminal(holder[0], process_table.table()) == caller.terminal:
            pane.append(caller.asker)
        return refusal_of(check(level, caller, verb, pane, is_own=is_own))

    def why_not(self, found: Row) -> Refusal | None:
        """Return why the terminal of the pane would type nothing, as far as this process can know."""
        if self.asks_for is not None and (refused := self.forbidden(found, Verb.TEXT, _NOBODY)) is not None:
            return refused
        own = self.caller()
        is_inside = found.host.rpartition("-")[2] in {str(pid) for pid, _ in own.lineage}
        if not is_elsewhere(found.host) and not is_inside:
            own = attrs.evolve(own, who=Who.UNKNOWN)
        verdict = check(self.level(found.host), own, Verb.TEXT)
        return refusal_of(verdict) if is_elsewhere(found.host) or isinstance(verdict, Refusal) else None

    def _perform(self, found: Row, asked: Request) -> Reply:
        """Carry out the request from this process."""
        typist = self.panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist

        def permit(_asker: Caller, verb: Verb, holder: Being) -> Verdict | Refusal:
            return self.forbidden(found, verb, holder) or Verdict.ALLOWED

        return perform(Access(typist, self.once, permit), asked, self.asker) or request.SILENT

    def _refusal_for_other(self, found: Row, asked: Request) -> Refusal | None:
        """Return why a terminal is not even asked on behalf of another caller; None if it is."""
        verb = verb_of(asked, None)
        if verb is None:
            return request.UNKNOWN
        return self.forbidden(found, verb, (getattr(asked, "pid", 0), getattr(asked, "start", 0)))

    def ask_host(self, host: str, asked: Request, timeout_s: float, *, is_key: bool = False) -> Reply:
        """Send the request *asked* to *host* over its socket, and return its reply."""
        try:
            with sockets.connect(host, timeout_s, self.environ) as connection:
                connection.sendall(request.encode(asked, is_key=is_key))
                if (line := request.first_line(connection.recv, request.MAX_MESSAGE_BYTES)) is not None:
                    told = request.decode_reply(line)
                    return told if not isinstance(told, Visible) else request.SILENT
        except SocketError as error:
            return Refusal("unreachable", str(error))
        except (OSError, TooLongError):
            pass
        return request.no_reply(host, asked)
