"""
Serves requests of scripts to this kitty over its socket: `tally read`, `tally send` and similar verbs.

Everything happens on kitty's main thread, where nothing may wait. Each tick looks for clients (`door`), and a timer
looks more often while one is connected. The kernel (`snapshot.sockets`) and the process table (`actions.caller`)
identify a client when it is accepted; other users are refused.

Permissions follow the configuration that this kitty has read, not the caller's environment. If a person must be asked,
`consents` does so over the caller's pane, and `actions.consent` keeps the answer.
"""

from __future__ import annotations

import functools
import os
import time
from typing import Any

import attrs
from kitty.fast_data_types import add_timer, remove_timer

from tallylight.actions import answer as answers
from tallylight.actions.caller import Being, Caller, End, Who, being_of, caller_of
from tallylight.actions.consent import ESCAPES, STARTS, Consent, Consents, Wanted
from tallylight.actions.gate import Refusal
from tallylight.actions.permission import Pairs, Verb, Verdict, check
from tallylight.actions.request import Reply, Request, Start, decode_request
from tallylight.evidence import confinement, process_table
from tallylight.evidence.process import Process
from tallylight.hosts.kitty import answering, consents
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.script_starts import Starts
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.hosts.peers import Channel, caller_at
from tallylight.wire.text import sanitise

#: Clients at a time; others wait until one has closed.
MAX_CALLERS = 16
#: How often, in seconds, a client is served, and how long a silent one may stay.
SERVE_EVERY_S, SILENT_CLIENT_S = 0.03, 10.0
#: The longest window title in a question, in cells.
ASKED_TITLE_CELLS = 40
#: How long, in seconds, a script waits for a person's answer.
CONSENT_S = 300.0


@attrs.define
class _Caller:
    """A connected script: its channel, since when it is silent, and the request that waits for a person."""

    channel: Channel
    who: Caller
    since: float
    pending: Request | None = None


@attrs.define
class Scripts:
    """The scripts connected to *host*, through its door."""

    host: KittyHost
    _callers: list[_Caller] = attrs.Factory(list)
    _timer: int | None = None
    #: Which caller started which pane; a person's answers; and whether a question is open.
    own: Pairs = attrs.Factory(Pairs)
    starts: Starts = attrs.field(init=False)
    _consents: Consents = attrs.Factory(Consents)
    _is_asking: bool = False
    #: This kitty's own.
    pid: int = attrs.field(factory=os.getpid)

    def __attrs_post_init__(self) -> None:
        self.starts = Starts(self.host, self.own)

    def look(self) -> None:
        """Accept new clients, and serve them until all have closed."""
        while len(self._callers) < MAX_CALLERS and (connection := self.host.door.accept()) is not None:
            # Its parents as they are now: what it becomes later makes it no other caller.
            caller = caller_at(connection, self.identify)
            if caller is None:
                connection.close()
                continue
            self._callers.append(_Caller(Channel(connection), caller, time.monotonic()))
        if self._callers:
            self._listen(None)
            if self._timer is None and self._callers:
                self._timer = add_timer(self.host.guarded("scripts", self._listen), SERVE_EVERY_S, True)

    def _listen(self, timer: int | None) -> None:
        """Serve every client once; without any, the calling *timer* removes itself."""
        now = time.monotonic()
        for caller in list(self._callers):
            if not self._serve(caller, now):
                self._callers.remove(caller)
                self.starts.forget(caller.who.asker)
                caller.channel.close()
        # Not when another timer calls: kitty frees a removed timer's function, though it may be about to call it.
        if not self._callers and timer is not None:
            remove_timer(timer)
            self._timer = None

    def _serve(self, caller: _Caller, now: float) -> bool:
        """Carry out requests of *caller*, or keep one that waits for a person; return whether it stays connected."""
        channel = caller.channel
        if not channel.unsent:
            lines = channel.receive()
            if lines is None or (lines and caller.pending):
                return False
            if lines:
                caller.since = now
            act = functools.partial(self.act, caller=caller.who)
            for asked in [caller.pending] if caller.pending else [decode_request(line)[0] for line in lines]:
                reply = answering.reply("scripts", act, asked)
                caller.pending = asked if reply is None else None
                channel.unsent += reply or b""
        patience = CONSENT_S if caller.pending else SILENT_CLIENT_S
        return now - caller.since < patience and (not channel.unsent or channel.send())

    def identify(self, pid: int) -> Caller:
        """Return the caller of the process *pid*: unknown, unless it runs in a window of this kitty."""
        return caller_of(pid, self.host.reader.agents, process_table.table(), self._ends, self.host.reader.was_agent)

    def _ends(self, below: Process, above: Process | None) -> End | None:
        """Return `End.OWN` if *above* is this kitty and *below* is the first process of a window; None if not."""
        if above is None or above.pid != self.pid:
            return None
        # A window that is held open may have the number of a process that has ended.
        is_window = any(one.child.pid == below.pid for one in self.host.boss.window_id_map.values())
        return End.OWN if is_window else None

    def act(self, asked: Request, caller: Caller) -> Reply | None:
        """Carry out *asked* for *caller*; return None while a person is asked."""
        if being_of(caller.asker[0], process_table.table()) != caller.asker:
            caller = attrs.evolve(caller, who=Who.UNKNOWN)
        if isinstance(asked, Start):
            return self._start(asked, caller)
        return answering.perform(self.host, asked, caller, self._permission)

    def _permission(self, typist: WindowTypist, caller: Caller, does: Verb, holder: Being) -> Verdict | Refusal | None:
        """
        Return whether *caller* may do that to the window of *typist* with the program *holder*; None while a person is
        asked.
        """
        window, level = typist.window, self.host.config.scripting
        if does is Verb.READ:
            return check(level, caller, does)
        pane = being_of(window.child.pid, process_table.table())
        if pane is None:
            return answering.GONE
        is_own = (caller.being, pane) in self.own
        wanted = Wanted(pane, holder)
        agreed = self._agreed(caller, wanted)
        verdict = check(level, caller, does, (holder, pane), is_own=is_own, agreed=agreed)
        if verdict is not Verdict.ASK:
            return verdict
        # A person agrees to the program that is there now, not to the caller's words.
        held = answers.holder(typist)
        if isinstance(held, Refusal):
            return held
        if (held.pid, held.start) != holder:
            return Refusal("process", "another process is in the foreground of that pane; nothing was typed")
        known = self.host.reader.agents.get(held.agent)
        agent = known.display if known is not None else held.agent
        return self._ask(
            *(caller, wanted, window, f"to act for you in {_named(window)}, where {agent} runs."),
            "type texts there, answer what is asked there, PERMISSIONS INCLUDED, and stop turns, until it or "
            f"{agent} ends.",
        )

    def _start(self, asked: Start, caller: Caller) -> Reply | None:
        """
        Start an agent beside the caller's window.

        With `ask`, and always for a caller in a sandbox, a person agrees once for each caller.
        """
        is_confined = confinement.is_confined(caller.asker[0], self.pid, process_table.table())
        wanted, where = (ESCAPES, " OUTSIDE of its sandbox") if is_confined else (STARTS, "")
        agreed = self._agreed(caller, wanted)
        verdict = check(self.host.config.scripting, caller, Verb.START, is_confined=is_confined, agreed=agreed)
        if isinstance(verdict, Refusal):
            return verdict
        window = self._window_of(caller)
        if window is None:
            return Refusal("place", "the caller runs in no window of this kitty; nothing was started")

        def consent() -> bool | Refusal:
            return (
                verdict is Verdict.ALLOWED
                or self._ask(
                    *(caller, wanted, window, f"to start agents in new panes{where}."),
                    f"start them{where}, type texts into them, answer their questions, but no permissions, and stop "
                    "their turns, until it ends.",
                )
                or False
            )

        return self.starts.start(asked, caller, window, consent)

    def _agreed(self, caller: Caller, wanted: Wanted) -> bool | None:
        """Return a person's answer to *caller* about *wanted*; None if there is none yet."""
        return self._consents.get(caller.being, self._place(caller), wanted, time.monotonic())

    def _place(self, caller: Caller) -> Being | None:
        """Return the first process of *caller*'s window."""
        window = self._window_of(caller)
        return being_of(window.child.pid, process_table.table()) if window is not None else None

    def _ask(self, caller: Caller, wanted: Wanted, window: Any, wants: str, may: str) -> Refusal | None:
        """Ask a person about *caller*: what it *wants*, and what it then *may* do. One question at a time."""
        if self._is_asking:
            return None
        own, place = self._window_of(caller), self._place(caller)
        who = caller.agent or "A script"
        where = f"in {_named(own)}" if own is not None else "outside of this kitty"
        all_ = "It, and all that it runs," if caller.agent else "All scripts of its window"
        page = Consent((f"{who} {where} asks {wants}", f"{all_} may from then on {may}"))

        def answered(is_allowed: bool) -> None:
            self._is_asking = False
            self._consents.put(caller.being, place, wanted, time.monotonic(), is_allowed=is_allowed)

        refused = consents.ask(own if own is not None else window, page, answered)
        self._is_asking = refused is None
        return refused

    def _window_of(self, caller: Caller) -> Any:
        """Return the window of *caller*; None if it is in none of this kitty."""
        windows = self.host.boss.window_id_map.values()
        return next((one for one in windows if being_of(one.child.pid, process_table.table()) in caller.lineage), None)


def _named(window: Any) -> str:
    """Return the name of *window* in quotes: a program may have chosen the words."""
    return f"{sanitise(kitty_windows.name(window), cells=ASKED_TITLE_CELLS)!r} (window {window.id})"


def serve(host: KittyHost) -> None:
    """Serve scripts for *host* from now on."""
    host.door.serve = Scripts(host).look
