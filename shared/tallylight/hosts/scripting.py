"""
How a script reaches a pane, whichever host holds it: the agents of kitty and of other machines by the socket at which
their host listens, those of tmux, GNU Screen and WezTerm from this process.

Only a pane with an agent in its foreground, or a program that is taken for one, is read: a script has no business with
what stands in a shell. Who may do what is decided where it is done, by `actions.permission`: in kitty and in the host
of other machines, each by the process that connects, or here. Where this process asks for somebody else, as a server
does, it is decided here first: nobody is lent its rights.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import attrs

from tallylight.actions import answer as answers
from tallylight.actions.answer import Answer, Done, Holder, Question, Typist
from tallylight.actions.caller import Being, Caller, Who, caller_of, named, this_process
from tallylight.actions.gate import Refusal
from tallylight.actions.given import Given, Later, words_of
from tallylight.actions.once import SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.permission import Verb, check, limit, unasked, verb_of
from tallylight.actions.say import Say
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.hosts.script_messages import KEY, Rows, Told, decode
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Found
from tallylight.snapshot.elsewhere import HOST, is_elsewhere
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.sockets import SocketError
from tallylight.ui.agent_list.channel import MAX_MESSAGE, TooLongError, encode, first_line

#: Seconds that a terminal has to answer: it looks for scripts every `poll_ms`, which may be half a minute.
TIMEOUT_S = 45.0
#: The same, where a person may have to be asked first.
ASK_TIMEOUT_S = 330.0
_LISTENS = ("kitty", HOST)
_ID = re.compile(r"([1-9][0-9]{0,9})\.([1-9][0-9]{0,18})\.([0-9a-f]{32})", re.ASCII)
_STRANGE = Refusal("unreachable", "the terminal answers with something else; is it of this version?")
_NOBODY: Being = (0, 0)
_T = TypeVar("_T")


def id_of(asked: Question) -> str:
    """What names this question, on this screen, of this process: `4711.88001.0f3c…`."""
    return f"{asked.pid}.{asked.start}.{asked.fingerprint}"


def read_id(text: str) -> tuple[int, int, str] | None:
    """The process, its start and the fingerprint that `id_of` put together; None if *text* is something else."""
    found = _ID.fullmatch(text)
    return (int(found[1]), int(found[2]), found[3]) if found is not None else None


def screen(typist: Typist) -> Rows | Refusal:
    """The screen of the pane, if an agent holds its foreground, or a program that is taken for one."""
    return answers.reached(lambda: _screen(typist))


def _screen(typist: Typist) -> Rows | Refusal:
    seen = typist.see()
    if isinstance(seen, Refusal):
        return Refusal(seen.rule, seen.text.removesuffix("; nothing was typed"))
    holder = seen.foreground
    if holder.is_remote or not (holder.agent is not None or holder.is_candidate):
        return Refusal("process", "no agent is in the foreground of that pane, and only agents are read")
    return Rows.of(seen.look.lines)


def here(environ: Mapping[str, str]) -> Caller:
    """
    On whose behalf this process asks.

    What its own environment leads to can add agents, and hide none of those that come with us.
    """
    table, packaged = process_table.table(), agent_files.load_agents({})[0]
    own = agent_files.load_agents(environ)[0]
    return caller_of(this_process(), own, table, was_agent=lambda pid, _: named(table.get(pid), packaged))


@attrs.define
class Reach:
    """
    Everything that may be asked of panes. *panes* are those that are reached from this process. A terminal has
    *timeout_s* to tell something, and *ask_timeout_s* to type.

    *caller* tells who this process is; *level* by which word of `[scripting]` a host lets itself be asked. *asks_for*:
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
    once: Once = attrs.field(factory=lambda: Once(SETTLE_S))

    @property
    def is_person(self) -> bool:
        """Whether a person asks, who may do all that can be done."""
        return self._asker().who is Who.PERSON

    def by(self, caller: Caller) -> Reach:
        """The same for *caller*, for whom this process asks."""
        return attrs.evolve(self, asks_for=caller)

    def _asker(self) -> Caller:
        return self.asks_for or self.caller()

    def is_asked(self, found: Found) -> bool:
        """Whether only the terminal itself can look at the pane, and is asked."""
        return _is_asked(found)

    def screen(self, found: Found) -> Rows | Refusal:
        """What stands on its screen now."""
        told = self._read(found, "screen", screen)
        return told if isinstance(told, Rows | Refusal) else _STRANGE

    def question(self, found: Found) -> Question | Refusal:
        """What it asks now."""
        told = self._read(found, "question", self.once.ask)
        return told if isinstance(told, Question | Refusal) else _STRANGE

    def holder(self, found: Found) -> Holder | Refusal:
        """The agent that holds its foreground now."""
        told = self._read(found, "holder", answers.holder)
        return told if isinstance(told, Holder | Refusal) else _STRANGE

    def give(self, found: Found, given: Given) -> Done | Refusal:
        """Answer it, type into it or interrupt it, if that is allowed and all is as *given* says."""
        told: Told
        if not _is_asked(found):
            told = self._at(found, lambda typist: self._give(found, typist, given))
        elif is_elsewhere(found.host) and isinstance(given, Later):
            told = Refusal("queue", "no text is queued on another machine: wait with `tally wait`, then send")
        else:
            verb, _, *rest = words_of(given)
            told = self._unlent(found, given) or self._ask(found, verb, *rest)
        return told if isinstance(told, Done | Refusal) else _STRANGE

    def may_read(self, found: Found) -> Refusal | None:
        """Why nothing is told of what the pane shows; None if it is."""
        return unasked(check(self.level(found.host), self._asker(), Verb.READ))

    def forbidden(self, found: Found, verb: Verb, holder: Being) -> Refusal | None:
        """Why *verb* is not done to the pane, in whose foreground *holder* is; None if it is."""
        caller, level = self._asker(), self.level(found.host)
        if caller.who is Who.PERSON:
            return unasked(check(level, caller, verb))
        started = self.started_by(found.host, found.pane)
        is_own = started is not None and started[0] == caller.being
        pane = [holder, *(started[1:] if started is not None else ())]
        if caller.terminal and process_table.terminal(holder[0], process_table.table()) == caller.terminal:
            pane.append(caller.asker)
        return unasked(check(level, caller, verb, pane, is_own=is_own))

    def _unlent(self, found: Found, given: Given) -> Refusal | None:
        """Why a terminal is not even asked for somebody else; None if it is."""
        if self.asks_for is None:
            return None
        return self.forbidden(found, verb_of(given, None), (given.pid, given.start))

    def why_not(self, found: Found) -> Refusal | None:
        """Why the terminal that holds the pane would type nothing, as far as that can be told from here."""
        if self.asks_for is not None and (refused := self.forbidden(found, Verb.TEXT, _NOBODY)) is not None:
            return refused
        own = self.caller()
        is_inside = found.host.rpartition("-")[2] in {str(pid) for pid, _ in own.lineage}
        if not is_elsewhere(found.host) and not is_inside:
            own = attrs.evolve(own, who=Who.UNKNOWN)
        verdict = check(self.level(found.host), own, Verb.TEXT)
        return unasked(verdict) if is_elsewhere(found.host) or isinstance(verdict, Refusal) else None

    def _read(self, found: Found, word: str, read: Callable[[Typist], Told]) -> Told:
        is_asked = _is_asked(found)
        if (not is_asked or self.asks_for is not None) and (refused := self.may_read(found)) is not None:
            return refused
        return self._ask(found, word) if is_asked else self._at(found, read)

    def start(self, host: str, agent: str, place: str, name: str, prompt: str) -> Done | Refusal:
        """Have the terminal *host* start an agent in this process's directory; `Done.pane` is its new pane."""
        told = self._request(host, ["start", agent, place, name, prompt], self.ask_timeout_s)
        return told if isinstance(told, Done | Refusal) else _STRANGE

    def _give(self, found: Found, typist: Typist, given: Given) -> Done | Refusal:
        if isinstance(given, Later):
            return Refusal("queue", "only kitty keeps a text for the end of a turn: wait with `tally wait`, then send")
        verb = verb_of(given, self.once.look(typist) if isinstance(given, Answer) else None)
        if (refused := self.forbidden(found, verb, (given.pid, given.start))) is not None:
            return refused
        if isinstance(given, Answer):
            return self.once.answer(typist, given, limit(verb))
        if isinstance(given, Say):
            return self.once.say(typist, given)
        return self.once.interrupt(typist, given)

    def _at(self, found: Found, act: Callable[[Typist], _T]) -> _T | Refusal:
        typist = self.panes.at(found.host, found.pane)
        return typist if isinstance(typist, Refusal) else act(typist)

    def _ask(self, found: Found, verb: str, *words: str) -> Told:
        """Ask the terminal that holds the pane, and wait for its answer."""
        timeout_s = self.ask_timeout_s if words else self.timeout_s
        key = [KEY] if self.is_key and is_elsewhere(found.host) else []
        return self._request(found.host, [*key, verb, found.pane.id, *words], timeout_s)

    def _request(self, host: str, words: Sequence[str], timeout_s: float) -> Told:
        try:
            with sockets.connect(host, timeout_s, self.environ) as connection:
                connection.sendall(encode(words))
                if (line := first_line(connection.recv, MAX_MESSAGE)) is not None:
                    return decode(line)
        except SocketError as error:
            return Refusal("unreachable", str(error))
        except (OSError, TooLongError):
            pass
        return Refusal("unreachable", f"{host} does not answer")


def _is_asked(found: Found) -> bool:
    """Whether only the host itself can look at the pane."""
    return found.host.partition("-")[0] in _LISTENS
