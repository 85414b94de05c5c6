"""
The client: how a person's word, or a script's, reaches a pane, whichever host holds it.

kitty and the host of other machines are asked over their socket (`snapshot.sockets`); the panes of tmux, GNU Screen and
WezTerm are reached from this process, where `actions.perform` decides as it does in kitty. Their host is asked for what
it alone has: the texts that wait, and tapes. The caller is known by the process that connects. Where this process asks
for somebody else, as a server does, it is decided here first: nobody is lent its rights.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import attrs

from tallylight.actions import request
from tallylight.actions.answered import OnDisk
from tallylight.actions.caller import Being, Caller, Who, caller_of, named, this_process
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.actions.once import SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import Verb, Verdict, check, unasked, verb_of
from tallylight.actions.request import DeferredText, Look, Reply, Request, Start, TooLongError, Unqueue, Visible
from tallylight.actions.seat import Identify, seated
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.evidence.process_table import Table
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.elsewhere import HOST, is_elsewhere, parts
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.sockets import SocketError

#: Seconds that a terminal has to answer: it looks for scripts every `poll_ms`, which may be half a minute.
TIMEOUT_S = 45.0
#: The same, where a person may have to be asked first.
ASK_TIMEOUT_S = 330.0
_LISTENS = ("kitty", HOST)
_NOBODY: Being = (0, 0)


def identify_by(environ: Mapping[str, str]) -> Identify:
    """
    Return what identifies processes for this one.

    What its own environment leads to can add agents, and hide none of those that come with us.
    """
    table, packaged = process_table.table(), agent_files.load_agents({})[0]
    own = agent_files.load_agents(environ)[0]
    return lambda pid: caller_of(pid, own, table, was_agent=lambda other, _: named(table.get(other), packaged))


def here(environ: Mapping[str, str], prove: Callable[[Caller, Identify, Table], Caller] | None = None) -> Caller:
    """Return the caller on behalf of this process: by `seat.seated` or `seat.let_in` as *prove*, the person as well."""
    identify = identify_by(environ)
    caller = identify(this_process())
    return caller if prove is None else prove(caller, identify, process_table.table())


def sitting(environ: Mapping[str, str]) -> Callable[[], Caller]:
    """
    Return what tells the caller on behalf of this process each time: the person, while they sit at its terminal.

    Its line counts as it is now, for its parents may go.
    """
    identify, table = identify_by(environ), process_table.table()
    opened = identify(this_process())
    return lambda: seated(opened, identify, table)


def is_asked(found: Row) -> bool:
    """Whether only the host itself can look at the pane, and is asked."""
    return found.host.partition("-")[0] in _LISTENS


@attrs.define
class PaneClient:
    """
    What may be asked of all panes. *panes* are those that are reached from this process. A terminal has *timeout_s* to
    tell something, and *ask_timeout_s* to type.

    *caller* identifies this process; *level* is the level of `[scripting]` that a host goes by. *asks_for*:
    the one for whom it asks, if that is another; *is_key*: it is a list, where a key was pressed.
    """

    panes: Panes
    caller: Callable[[], Caller]
    level: Callable[[str], str]
    #: Who started a pane of *panes*, and its first process; None if nobody did.
    started_by: Callable[[str, Pane], tuple[Being, Being] | None] = lambda _host, _pane: None
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    timeout_s: float = TIMEOUT_S
    ask_timeout_s: float = ASK_TIMEOUT_S
    is_key: bool = False
    asks_for: Caller | None = None
    once: Once = attrs.field(default=attrs.Factory(lambda self: Once(SETTLE_S, OnDisk(self.environ)), takes_self=True))

    @property
    def asker(self) -> Caller:
        """The caller that it acts for."""
        return self.asks_for or self.caller()

    def by(self, caller: Caller) -> PaneClient:
        """The same for *caller*, whom this process acts for."""
        return attrs.evolve(self, asks_for=caller)

    def look(self, found: Row, what: str) -> Reply:
        """The reply to a `request.Look` at a pane."""
        return self.perform(found, Look(found.pane.id, what))

    def perform(self, found: Row, asked: Request) -> Reply:
        """Have done what is *asked*, by the host of the pane, or from here."""
        if not is_asked(found):
            is_its_own = isinstance(asked, DeferredText | Unqueue) or request.is_of_tape(asked)
            if self.asks_for is None and is_its_own:
                return self.ask_host(found.host, asked, self.timeout_s, is_key=self.is_key)
            return self._perform(found, asked)
        machine = parts(found.pane.id)[0] if is_elsewhere(found.host) else ""
        is_own = isinstance(asked, Close | DeferredText | Unqueue) or asked == Look(found.pane.id, request.OCCUPANT)
        if machine and is_own:
            return Refusal("elsewhere", f"only {machine} itself can do that: go there")
        if self.asks_for is not None and (refused := self._unlent(found, asked)) is not None:
            return refused
        is_key = self.is_key and bool(machine)
        timeout_s = self.timeout_s if isinstance(asked, Look) else self.ask_timeout_s
        return self.ask_host(found.host, asked, timeout_s, is_key=is_key)

    def start(self, host: str, asked: Start) -> Reply:
        """Have the terminal *host* start an agent in this process's directory; `Done.pane` is its new pane."""
        return self.ask_host(host, asked, self.ask_timeout_s)

    def may_read(self, found: Row) -> Refusal | None:
        """Why the contents of the pane are refused; None if they are not."""
        return self.forbidden(found, Verb.READ, _NOBODY)

    def forbidden(self, found: Row, verb: Verb, holder: Being) -> Refusal | None:
        """Why *verb* is refused for the pane with *holder* in its foreground; None if it is not."""
        caller, level = self.asker, self.level(found.host)
        if caller.who is Who.PERSON or verb is Verb.READ:
            return unasked(check(level, caller, verb))
        started = self.started_by(found.host, found.pane)
        is_own = started is not None and started[0] == caller.being
        pane = [holder, *(started[1:] if started is not None else ())]
        if caller.terminal and process_table.terminal(holder[0], process_table.table()) == caller.terminal:
            pane.append(caller.asker)
        return unasked(check(level, caller, verb, pane, is_own=is_own))

    def why_not(self, found: Row) -> Refusal | None:
        """Why the terminal that holds the pane would type nothing, as far as this process can know."""
        if self.asks_for is not None and (refused := self.forbidden(found, Verb.TEXT, _NOBODY)) is not None:
            return refused
        own = self.caller()
        is_inside = found.host.rpartition("-")[2] in {str(pid) for pid, _ in own.lineage}
        if not is_elsewhere(found.host) and not is_inside:
            own = attrs.evolve(own, who=Who.UNKNOWN)
        verdict = check(self.level(found.host), own, Verb.TEXT)
        return unasked(verdict) if is_elsewhere(found.host) or isinstance(verdict, Refusal) else None

    def _perform(self, found: Row, asked: Request) -> Reply:
        typist = self.panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist

        def permit(_asker: Caller, verb: Verb, holder: Being) -> Verdict | Refusal:
            return self.forbidden(found, verb, holder) or Verdict.ALLOWED

        return perform(Access(typist, self.once, permit), asked, self.asker) or request.SILENT

    def _unlent(self, found: Row, asked: Request) -> Refusal | None:
        """Why a terminal is not even asked for somebody else; None if it is."""
        verb = verb_of(asked, None)
        if verb is None:
            return request.UNKNOWN
        return self.forbidden(found, verb, (getattr(asked, "pid", 0), getattr(asked, "start", 0)))

    def ask_host(self, host: str, asked: Request, timeout_s: float, *, is_key: bool = False) -> Reply:
        """What *host* says to it over its socket."""
        try:
            with sockets.connect(host, timeout_s, self.environ) as connection:
                connection.sendall(request.encode(asked, is_key=is_key))
                if (line := request.first_line(connection.recv, request.MAX_MESSAGE)) is not None:
                    told = request.decode_reply(line)
                    return told if not isinstance(told, Visible) else request.SILENT
        except SocketError as error:
            return Refusal("unreachable", str(error))
        except (OSError, TooLongError):
            pass
        return request.silent(host, asked)
