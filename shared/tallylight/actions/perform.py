"""
Perform: the one way in. Requests of a list, a page, a notification, a script or another machine are carried out here.

The process that reaches the pane calls `perform` with the request and its caller. `actions.permission` decides whether
they may. Then `actions.once` ensures that a question is answered once, and `actions.answer`, `actions.say` and
`actions.close` look again, compare, and type. No surface holds a rule of its own, and none types in another way.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import close as closing
from tallylight.actions import queue, request
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Occupant, Typist
from tallylight.actions.caller import Being, Caller, Who
from tallylight.actions.close import Close, Closer
from tallylight.actions.gate import Refusal, must, refuses
from tallylight.actions.once import FrozenTypist, Once
from tallylight.actions.permission import Verb, Verdict, check_before_typing, verb_of
from tallylight.actions.request import DeferredText, LookRequest, Reply, Request, Rows, Stretch, Unqueue
from tallylight.actions.say import Interrupt, Say
from tallylight.model.queued import Queued

_NO_QUEUE = Refusal("queue", "no text can wait for the end of a turn there: wait with `tally wait`, then send")
_NO_TAPE = Refusal("tape", "only the machine itself has the last two minutes: run `tally wrong` in a terminal there")
_WAITS = Refusal("queued", "a text waits in that pane already; nothing is queued")

#: Returns whether a caller may do something to the pane with a process in its foreground; None while a person is asked.
Permit = Callable[[Caller, Verb, Being], Verdict | Refusal | None]


@attrs.frozen
class Access:
    """
    A pane, as the process reaches it that carries out requests. A person needs no *permit*.

    *keep* stores a text that waits for the pane, or None for none; *queued* is the present one. Without *keep*, no text
    can wait.
    """

    typist: Closer
    once: Once
    permit: Permit
    keep: Callable[[Queued | None], object] | None = None
    queued: Queued | None = None
    #: Returns the recording of its last minutes (`pane.tape`); None where this process is not its host.
    tape: Callable[[], bytes] | None = None


def perform(pane: Access, asked: Request, caller: Caller) -> Reply | None:
    """
    Carry out the request *asked* for *caller*, or return the rule that refuses it.

    None while a person is asked for consent, or while an answer is undecided (`actions.once`): then ask again.
    """
    is_person = caller.who is Who.PERSON
    seen = pane.once.look(pane.typist) if _is_answer(asked) and not is_person else None
    verb = verb_of(asked, seen)
    if verb is None:
        return request.UNKNOWN
    if not is_person:
        being = (0, 0) if isinstance(asked, LookRequest | Unqueue) else (asked.pid, asked.start)  # type: ignore[union-attr]
        verdict = pane.permit(caller, verb, being)
        if verdict is not Verdict.ALLOWED:
            return verdict  # type: ignore[return-value] # a `Permit` asks by itself
    unfit = check_before_typing(verb, caller)
    match asked:
        case LookRequest(what=what):
            return _reply_to_look(pane, what)
        case Answer():
            return pane.once.answer(pane.typist, asked, unfit)
        case Say():
            return pane.once.say(pane.typist, asked, unfit)
        case Interrupt():
            return pane.once.interrupt(pane.typist, asked)
        case Close():
            return closing.close(pane.typist, asked)
        case DeferredText() | Unqueue():
            return _queue(pane, asked, replaces=is_person)
    return request.UNKNOWN


def _is_answer(asked: Request) -> bool:
    """Return whether *asked* answers a dialog, by a choice or by a text."""
    return isinstance(asked, Answer) or (isinstance(asked, Say) and asked.fingerprint != "")


def _reply_to_look(pane: Access, what: str) -> Reply:
    """Return the reply to a `LookRequest` for *what*."""
    match what:
        case request.SCREEN:
            return _screen(pane.typist)
        case request.STRETCH:
            shown = _screen(pane.typist)
            return shown if isinstance(shown, Refusal) else _stretch(pane)
        case request.QUESTION:
            return pane.once.ask(pane.typist)
        case request.HOLDER:
            return answers.holder(pane.typist)
        case request.PROMPT_AGENT:
            return pane.once.prompt_agent(pane.typist)
        case request.OCCUPANT:
            return closing.occupant(pane.typist)
        case request.STOPPABLE:
            return _stoppable(pane)
    return request.UNKNOWN


def _screen(typist: Typist) -> Rows | Refusal:
    """Return the screen, if an agent or a candidate holds the foreground: shells are not read."""
    seen = refuses(typist.see)()
    if isinstance(seen, Refusal):
        return Refusal(seen.rule, seen.text.removesuffix("; nothing was typed"))
    holder = seen.foreground
    if holder.is_remote:
        return Refusal("remote", f"{holder.suspect} shows another machine; only agents of this one can be read")
    if not (holder.agent is not None or holder.is_candidate):
        return Refusal("process", "no agent is in the foreground of that pane; only agents can be read")
    return Rows.of(seen.look.lines)


def _stretch(pane: Access) -> Stretch | Refusal:
    """Return the recording of the pane's last minutes."""
    return Stretch.of(pane.tape()) if pane.tape is not None else _NO_TAPE


@refuses
def _stoppable(pane: Access) -> Occupant:
    """Return the agent in the foreground, if its key to stop would be pressed now."""
    still = FrozenTypist(must(pane.once.look(pane.typist)))
    held = must(answers.holder(still))
    must(says.interrupt(still, Interrupt(held.pane, held.pid, held.start)))
    return held


@refuses
def _queue(pane: Access, asked: DeferredText | Unqueue, *, replaces: bool) -> Done | Refusal:
    """Store a text that waits for the end of the turn, or forget it; a program does not replace a waiting one."""
    if pane.keep is None:
        return _NO_QUEUE
    if isinstance(asked, Unqueue):
        pane.keep(None)
        return Done(asked.pane, "nothing is queued for it any more")
    if pane.queued is not None and not pane.queued.problem and not replaces:
        return _WAITS
    pane.keep(must(queue.put(pane.typist, asked)))
    return Done(asked.pane, f"queued until its {'limit' if asked.at else 'turn'} ends")
