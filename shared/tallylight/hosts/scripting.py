"""
How a script reaches a pane, whichever host holds it: the agents of kitty and of other machines by the socket at which
their host listens, those of tmux, GNU Screen and WezTerm from this process.

Only a pane with an agent in its foreground, or a program that is taken for one, is read: a script has no business with
what stands in a shell. Whether it may type is decided where that is done, by `actions.permission`: in kitty, or here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import attrs

from tallylight.actions import answer as answers
from tallylight.actions.answer import Answer, Done, Holder, Question, Typist
from tallylight.actions.caller import Being, caller_of
from tallylight.actions.gate import Refusal
from tallylight.actions.given import Given, Later, words_of
from tallylight.actions.once import SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.permission import Verdict, check
from tallylight.actions.say import Interrupt, Say
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.hosts.script_messages import Rows, Told, decode
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


@attrs.define
class Reach:
    """
    Everything that scripts may ask of panes. *panes* are those that are reached from this process, into which *allow*
    lets it type, a word of `[scripting]`. A terminal has *timeout_s* to tell something, and *ask_timeout_s* to type.

    *is_person*: a person asks by way of this process, and not a script; panes of *panes* are typed into as by a list.
    """

    panes: Panes
    allow: str = "own"
    #: Who started a pane of *panes*, and its first process; None if nobody did.
    started_by: Callable[[str, Pane], tuple[Being, Being] | None] = lambda _host, _pane: None
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    timeout_s: float = TIMEOUT_S
    ask_timeout_s: float = ASK_TIMEOUT_S
    is_person: bool = False
    _once: Once = attrs.field(factory=lambda: Once(SETTLE_S))

    def is_asked(self, found: Found) -> bool:
        """Whether only the terminal itself can look at the pane, and is asked."""
        return _is_asked(found)

    def screen(self, found: Found) -> Rows | Refusal:
        """What stands on its screen now."""
        told = self._ask(found, "screen") if _is_asked(found) else self._at(found, screen)
        return told if isinstance(told, Rows | Refusal) else _STRANGE

    def question(self, found: Found) -> Question | Refusal:
        """What it asks now."""
        told = self._ask(found, "question") if _is_asked(found) else self._at(found, self._once.ask)
        return told if isinstance(told, Question | Refusal) else _STRANGE

    def holder(self, found: Found) -> Holder | Refusal:
        """The agent that holds its foreground now."""
        told = self._ask(found, "holder") if _is_asked(found) else self._at(found, answers.holder)
        return told if isinstance(told, Holder | Refusal) else _STRANGE

    def give(self, found: Found, given: Given) -> Done | Refusal:
        """Answer it, type into it or interrupt it, if that is allowed and all is as *given* says."""
        refused = self._forbidden_there(found, given)
        if refused is not None:
            told: Told = refused
        elif _is_asked(found):
            verb, _, *rest = words_of(given)
            told = self._ask(found, verb, *rest)
        else:
            told = self._at(found, lambda typist: self._give(found, typist, given))
        return told if isinstance(told, Done | Refusal) else _STRANGE

    def start(self, host: str, agent: str, place: str, name: str, prompt: str) -> Done | Refusal:
        """Have the terminal *host* start an agent in this process's directory; `Done.pane` is its new pane."""
        told = self._request(host, ["start", agent, place, name, prompt], self.ask_timeout_s)
        return told if isinstance(told, Done | Refusal) else _STRANGE

    def _give(self, found: Found, typist: Typist, given: Given) -> Done | Refusal:
        if isinstance(given, Later):
            return Refusal("queue", "only kitty keeps a text for the end of a turn: wait with `tally wait`, then send")
        refused = None if self.is_person else self._forbidden(found, given)
        if refused is not None:
            return refused
        if isinstance(given, Answer):
            return self._once.answer(typist, given)
        if isinstance(given, Say):
            return self._once.say(typist, given)
        return self._once.interrupt(typist, given)

    def _forbidden(self, found: Found, given: Answer | Say | Interrupt) -> Refusal | None:
        """Why the script that this process is may not type into the pane; None if it may."""
        agents, table = agent_files.load_agents(self.environ)[0], process_table.table()
        caller = caller_of(os.getpid(), agents, table)
        holder = (given.pid, given.start)
        started = self.started_by(found.host, found.pane)
        is_own = started is not None and caller is not None and started[0] == caller.being
        pane = (holder, started[1]) if started is not None else (holder,)
        verdict = check(self.allow, caller, pane, is_own=is_own, agreed=None)
        if isinstance(verdict, Refusal):
            return verdict
        if verdict is Verdict.ASK:
            text = 'nobody can be asked outside of kitty: only `[scripting] allow = "all"` allows it; nothing was typed'
            return Refusal("permission", text)
        return None

    def _forbidden_there(self, found: Found, given: Given) -> Refusal | None:
        """Why nothing is asked of another machine; None if it may be, or *found* is of this one. It checks the rest."""
        if not is_elsewhere(found.host):
            return None
        if isinstance(given, Later):
            return Refusal("queue", "no text is queued on another machine: wait with `tally wait`, then send")
        if self.is_person or self.allow == "all":
            return None
        return Refusal(
            "permission", 'into other machines scripts type only with `[scripting] allow = "all"`; nothing was typed'
        )

    def _at(self, found: Found, act: Callable[[Typist], _T]) -> _T | Refusal:
        typist = self.panes.at(found.host, found.pane)
        return typist if isinstance(typist, Refusal) else act(typist)

    def _ask(self, found: Found, verb: str, *words: str) -> Told:
        """Ask the terminal that holds the pane, and wait for its answer."""
        return self._request(found.host, [verb, found.pane.id, *words], self.ask_timeout_s if words else self.timeout_s)

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
