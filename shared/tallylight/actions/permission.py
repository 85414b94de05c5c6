"""
The rights to a pane: caller x verb x level of `[scripting] allow`, in one table, for every way in.

The level is that of the pane's host. At any level, no program types into the pane that it runs in. An unknown caller
may at most read and start: it might be the very agent that asks. A person's consent at the level `ask` counts for one
caller and one pane, as long as both run. Permissions need it even where the caller started the pane. A refusal names
its rule, `caller`, `self` or `permission`, in words that every surface passes on as they are.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping

import attrs

from tallylight.actions.answer import Answer, Seen, dialog_of, is_question, refuse_nothing
from tallylight.actions.caller import Being, Caller, Who
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.actions.request import OCCUPANT, DeferredText, LookRequest, Request, Unqueue
from tallylight.actions.say import Interrupt, Say
from tallylight.config.settings import SCRIPTING
from tallylight.evidence.fingerprint import fingerprint

#: Pairs of a caller and a pane that are remembered; beyond that, the oldest is forgotten.
MAX_PAIRS = 1000


class Verb(enum.StrEnum):
    """The actions on a pane. A question that may be more than a plain one counts as a permission."""

    READ = "read"
    START = "start"
    TEXT = "type text"
    QUESTION = "answer a question"
    PERMISSION = "answer a permission"
    INTERRUPT = "interrupt"
    #: Only the list does these: naming the program that would be closed, closing it, and forgetting a text that waits.
    CLOSE = "close"


class Right(enum.StrEnum):
    """The rights in the cells of the table."""

    NO = "no"
    #: In panes that the caller started itself.
    OWN = "own panes"
    #: In its own panes, and in others once a person has agreed.
    ASK_OTHERS = "own panes, others once you agree"
    ASK = "once you agree"
    YES = "yes"


_PROGRAM = {
    Verb.READ: (Right.NO, Right.YES, Right.YES, Right.YES),
    Verb.START: (Right.NO, Right.YES, Right.ASK, Right.YES),
    Verb.TEXT: (Right.NO, Right.OWN, Right.ASK_OTHERS, Right.YES),
    Verb.QUESTION: (Right.NO, Right.OWN, Right.ASK_OTHERS, Right.YES),
    Verb.PERMISSION: (Right.NO, Right.NO, Right.ASK, Right.YES),
    Verb.INTERRUPT: (Right.NO, Right.OWN, Right.ASK_OTHERS, Right.YES),
    Verb.CLOSE: (Right.NO,) * 4,
}
_STRAYS = (Right.NO, Right.OWN, Right.OWN, Right.OWN)
_NOTHING = (Right.NO,) * 4
#: The rights of each caller, at the levels none, own, ask and all.
TABLE: Mapping[Who, Mapping[Verb, tuple[Right, Right, Right, Right]]] = {
    Who.PERSON: dict.fromkeys(Verb, (Right.YES, Right.YES, Right.YES, Right.YES)),
    Who.SCRIPT: _PROGRAM,
    Who.AGENT: _PROGRAM,
    Who.STRAY: _PROGRAM
    | {Verb.TEXT: _STRAYS, Verb.QUESTION: _STRAYS, Verb.PERMISSION: _NOTHING, Verb.INTERRUPT: _STRAYS},
    Who.UNKNOWN: {
        verb: (Right.NO, Right.NO, Right.NO, Right.YES) if verb in (Verb.READ, Verb.START) else _NOTHING
        for verb in Verb
    },
    Who.NOTICE: dict.fromkeys(Verb, _NOTHING) | {Verb.QUESTION: (Right.YES,) * 4},
}
_UNKNOWN = Refusal(
    "caller",
    "nothing was done: the caller is unknown, since this command does not run in a pane of that terminal; run it in a "
    "shell there",
)
_SELF = Refusal("self", "a program cannot type into its own pane; nothing was done")
_OTHERS = Refusal(
    "permission",
    "a program may do that only in panes that it started; do it yourself, at the pane, the list or the page, or set "
    '`[scripting] allow = "ask"` or "all"; nothing was done',
)
_PERMISSION = Refusal(
    "permission",
    "only a person answers a permission; do it yourself, at the pane, the list or the page, or set "
    '`[scripting] allow = "ask"` or "all"; nothing was done',
)
_STRAY = Refusal(
    "permission",
    "an agent outside the panes of this terminal types only into panes that it started, and answers no permission; "
    "nothing was done",
)
_NONE = Refusal(
    "permission",
    '`[scripting] allow = "none"` lets programs do and read nothing here; do it yourself, at the pane, the list or the '
    "page; nothing was done",
)
_DISAGREED = Refusal("permission", "you did not agree to it; nothing was done")
#: The refusal where a person would have to agree, and nobody can be asked.
UNASKED = Refusal(
    "permission",
    "you must agree to that first, and only kitty can ask you, for its own windows; do it yourself, or set "
    '`[scripting] allow = "all"`; nothing was done',
)
#: The same for a caller in a sandbox: no level agrees to that.
CONFINED = Refusal(
    "sandbox",
    "this runs in a sandbox, and the agent would run outside of it; you must agree to that, and only kitty can ask "
    "you; start it yourself, in a shell outside; nothing was started",
)
#: The refusal where only a person's own key counts.
PERSON_ONLY = Refusal(
    "permission", "only you can do that, at the page or at a list in a terminal of your own; nothing was done"
)
#: The message for callers with rights that no configuration changes.
_BY_NATURE = {
    Who.UNKNOWN: _UNKNOWN,
    Who.NOTICE: Refusal("permission", "a notification answers no permission; nothing was typed"),
}


class Verdict(enum.Enum):
    """The result of a check without a refusal."""

    ALLOWED = enum.auto()
    #: A person must be asked.
    ASK = enum.auto()


@attrs.define
class Pairs:
    """Pairs of a caller and the first process of a pane. Another process is another pair."""

    _known: dict[tuple[Being, Being], None] = attrs.Factory(dict)

    def put(self, caller: Being, pane: Being) -> None:
        """Remember a pair."""
        self._known.pop((caller, pane), None)
        while len(self._known) >= MAX_PAIRS:
            del self._known[next(iter(self._known))]
        self._known[caller, pane] = None

    def panes(self) -> tuple[tuple[Being, Being], ...]:
        """Return the remembered pairs, the oldest first."""
        return tuple(self._known)

    def __contains__(self, pair: tuple[Being, Being]) -> bool:
        return pair in self._known


def check(
    allow: str,
    caller: Caller,
    verb: Verb,
    pane: Collection[Being] = (),
    *,
    is_own: bool = False,
    is_confined: bool = False,
    agreed: bool | None = None,
) -> Verdict | Refusal:
    """
    Return whether *caller* may do *verb* to a pane; *pane* are its first process and the one in its foreground.

    *is_own*: the caller started that pane. *is_confined*: it is in a sandbox, and would start something outside.
    *agreed*: a person's answer to that, None if they were not asked.
    """
    is_typing = verb not in (Verb.READ, Verb.START)
    if is_typing and caller.who is not Who.PERSON and not caller.lineage.isdisjoint(pane):
        return _SELF
    right = TABLE[caller.who][verb][SCRIPTING.index(allow) if allow in SCRIPTING else 0]
    if is_confined and verb is Verb.START and right is Right.YES and caller.who is not Who.PERSON:
        right = Right.ASK
    if right is Right.YES or (is_own and right in (Right.OWN, Right.ASK_OTHERS)):
        return Verdict.ALLOWED
    if right in (Right.ASK, Right.ASK_OTHERS):
        return Verdict.ASK if agreed is None else Verdict.ALLOWED if agreed else _DISAGREED
    return _refusal(allow, caller, verb)


def _refusal(allow: str, caller: Caller, verb: Verb) -> Refusal:
    """Return why *caller* may not, whatever anybody agrees to."""
    if verb is Verb.CLOSE:
        return PERSON_ONLY
    if caller.who in _BY_NATURE:
        return _BY_NATURE[caller.who]
    if allow == "none":
        return _NONE
    if caller.who is Who.STRAY:
        return _STRAY
    return _PERMISSION if verb is Verb.PERMISSION else _OTHERS


def refusal_of(verdict: Verdict | Refusal) -> Refusal | None:
    """Return why nothing is done where nobody can be asked; None if it is allowed."""
    return UNASKED if verdict is Verdict.ASK else verdict if isinstance(verdict, Refusal) else None


def verb_of(asked: Request, seen: Seen | Refusal | None) -> Verb | None:
    """
    Return the verb of the request *asked*; None if it is for no pane.

    The pane was *seen*, None if only its terminal can see it. An answer to another question than the one on the screen
    counts as one to a plain question: `check_before_typing` ensures that it is typed into nothing else.
    """
    match asked:
        case LookRequest(what=what):
            return Verb.CLOSE if what == OCCUPANT else Verb.READ
        case Interrupt():
            return Verb.INTERRUPT
        case Say(fingerprint=shown):
            return _answer_verb(asked, seen) if shown else Verb.TEXT
        case DeferredText():
            return Verb.TEXT
        case Close() | Unqueue():
            return Verb.CLOSE
        case Answer():
            return _answer_verb(asked, seen)
    return None


def _answer_verb(asked: Answer | Say, seen: Seen | Refusal | None) -> Verb:
    """
    Return PERMISSION if the dialog *seen* is the answered one and no plain question, or only its terminal can see it;
    else QUESTION.
    """
    if seen is None:
        return Verb.PERMISSION
    dialog = dialog_of(seen) if isinstance(seen, Seen) else None
    if not isinstance(seen, Seen) or dialog is None:
        return Verb.QUESTION
    is_shown = fingerprint(seen.look.lines, seen.look.columns, dialog) == asked.fingerprint
    return Verb.PERMISSION if is_shown and not is_question(seen) else Verb.QUESTION


def check_before_typing(verb: Verb, caller: Caller) -> Callable[[Seen], Refusal | None]:
    """
    Return the check before typing: a caller that may answer questions only is refused at a permission; a person never
    is.
    """
    if caller.who is Who.PERSON or verb is not Verb.QUESTION:
        return refuse_nothing
    return lambda seen: None if is_question(seen) else _PERMISSION
