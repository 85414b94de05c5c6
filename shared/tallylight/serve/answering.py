"""
What a person does to a session by way of the server: see it, answer it, tell it something, interrupt it.

Everything goes through `actions.once`, one at a time in each session: a browser sends a click twice, and two people may
hold two phones. The answer is confirmed once the screen shows something else, so that what comes next is
compared with what is there then. Every call waits for a multiplexer: they are made on threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Holder, Question, Typist
from tallylight.actions.caller import Being, Caller, Who
from tallylight.actions.gate import Refusal
from tallylight.actions.once import SETTLE_S, Once, Still
from tallylight.actions.panes import Panes
from tallylight.actions.permission import PERSON_ONLY, Verb
from tallylight.actions.say import Interrupt, Say
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Found
from tallylight.snapshot.elsewhere import fleet_machine
from tallylight.wire.styled import Run, StyledLine, plain
from tallylight.wire.text import sanitise

#: Sessions that are remembered; beyond that, the ones that are gone are forgotten.
MAX_SESSIONS = 1000
#: Of a screen that is shown, in rows and in cells of a row. What is cut is marked with `…`.
MAX_ROWS, MAX_CELLS = 1000, 4000
#: Pieces of one colour that a screen is shown in; of one that has more, the rest is shown without colours.
MAX_RUNS = 20_000
#: The statuses of an agent at its prompt.
_AT_PROMPT = (Status.IDLE, Status.DONE)
#: Stands for a text, to find out whether one would be typed.
_SAMPLE = "x"


@attrs.frozen(kw_only=True)
class View:
    """
    A session at one moment: the rows of its screen, the agent's process (0 and 0 where there is none), and what may be
    done to it. *why* says why nothing may be, if a rule forbids even to ask. *screen* is the same rows with their
    colours, where those are known.
    """

    rows: tuple[str, ...]
    screen: tuple[StyledLine, ...]
    pid: int = 0
    start: int = 0
    question: Question | None = None
    can_say: bool = False
    can_interrupt: bool = False
    why: str = ""


class Rows(Protocol):
    """A screen as a terminal tells it."""

    @property
    def rows(self) -> tuple[str, ...]: ...


class Terminals(Protocol):
    """
    The terminals that look at their panes and type into them themselves, when they are asked: kitty. Whether they type
    is for them to say, and for `actions.permission`: they are asked for somebody (`by`), who may not do more than
    they could themselves. Each call waits for the terminal, a few seconds at most.
    """

    once: Once

    def by(self, caller: Caller) -> Terminals:
        """The same for *caller*."""

    def may_read(self, found: Found) -> Refusal | None:
        """Why nothing is told of what a pane shows; None if it is."""

    def why_not(self, found: Found) -> Refusal | None:
        """Why a terminal would type nothing into its pane, as far as it can be told without asking it."""

    def forbidden(self, found: Found, verb: Verb, holder: Being) -> Refusal | None:
        """Why *verb* is not done to a pane that is reached from here; None if it is."""

    def is_asked(self, found: Found) -> bool:
        """Whether the pane is in such a terminal."""

    def screen(self, found: Found) -> Rows | Refusal:
        """Its screen, if an agent holds its foreground."""

    def question(self, found: Found) -> Question | Refusal:
        """What it asks."""

    def holder(self, found: Found) -> Holder | Refusal:
        """The agent that holds its foreground."""

    def give(self, found: Found, given: Answer | Say | Interrupt) -> Done | Refusal:
        """Type it, if that is allowed and all is as *given* says; also into a pane that is reached from here."""


class Answering:
    """All sessions of *panes*, and of the *terminals* that are asked, if there are any."""

    def __init__(self, panes: Panes, terminals: Terminals | None = None) -> None:
        self._panes = panes
        self._terminals = terminals
        self._once = Once(SETTLE_S) if terminals is None else terminals.once
        #: Of each session: the one that types into it holds it.
        self._locks: dict[str, threading.Lock] = {}

    def keep(self, panes: Collection[str]) -> None:
        """Forget sessions, if there are too many, but not those with these ids."""
        if len(self._locks) > MAX_SESSIONS:
            for gone in set(self._locks) - set(panes):
                del self._locks[gone]

    def can_see(self, found: Found) -> bool:
        """Whether its screen can be asked for, as far as its host says."""
        return self._asked(found) is not None or self._is_ours(found)

    def can_type(self, found: Found) -> bool:
        """Whether anything can be done to it from here, as far as its host says."""
        terminals = self._asked(found)
        return terminals.why_not(found) is None if terminals is not None else self._is_ours(found)

    def _asked(self, found: Found) -> Terminals | None:
        """Who is to be asked for it, if it is in a terminal of that kind."""
        if self._terminals is None or fleet_machine(found.host) or not self._terminals.is_asked(found):
            return None
        return self._terminals

    def _is_ours(self, found: Found) -> bool:
        """Whether it can be looked at and typed into without asking anybody."""
        return not fleet_machine(found.host) and self._panes.can_type(found.host, found.pane)

    def _why_not(self, found: Found, caller: Caller, verb: Verb, holder: Being = (0, 0)) -> Refusal | None:
        """Why *caller* may not do *verb* to a pane that is reached from here; None if they may."""
        if caller.who is Who.PERSON:
            return None
        terminals = self._terminals.by(caller) if self._terminals is not None else None
        if terminals is None:
            return PERSON_ONLY
        return terminals.may_read(found) if verb is Verb.READ else terminals.forbidden(found, verb, holder)

    def view(self, found: Found, caller: Caller) -> View | Refusal:
        """What *caller* is shown: all of one look; where a terminal is asked, of one for each."""
        if (terminals := self._asked(found)) is not None:
            return _told_view(terminals.by(caller), found)
        if (refused := self._why_not(found, caller, Verb.READ)) is not None:
            return refused
        typist = self._panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        seen = self._once.look(typist)
        if isinstance(seen, Refusal):
            return answers.reached(lambda: self._mere_screen(found, seen.text))
        still = Still(seen)
        asked = answers.ask(still)
        question = asked if isinstance(asked, Question) else None
        process = seen.foreground.process if seen.foreground.agent is not None else None
        pid, start = (process.pid, process.start) if process is not None else (0, 0)
        why = self._why_not(found, caller, Verb.TEXT, (pid, start))
        sample = Say(seen.pane, pid, start, _SAMPLE, enter=False, fingerprint=question.fingerprint if question else "")
        rows = _shown(seen.look.lines)
        return View(
            rows=rows,
            screen=_in_colours(rows, self._colours(found)),
            pid=pid,
            start=start,
            question=_without_keys(question) if question is not None and why is not None else question,
            can_say=why is None and isinstance(says.say(still, sample), Done),
            can_interrupt=why is None and isinstance(says.interrupt(still, Interrupt(seen.pane, pid, start)), Done),
            why=why.text if why is not None else "",
        )

    def _mere_screen(self, found: Found, why: str) -> View:
        """The screen of a session to which nothing can be done now."""
        lines = self._panes.screen(found.host, found.pane).lines
        rows = _shown([plain(line) for line in lines])
        return View(rows=rows, screen=_in_colours(rows, lines), why=why)

    def _colours(self, found: Found) -> tuple[StyledLine, ...]:
        """The screen as it is an instant later, for its colours alone; nothing if its host cannot tell it."""
        try:
            return self._panes.screen(found.host, found.pane).lines
        except (TallyError, OSError):
            return ()

    def question(self, found: Found, caller: Caller) -> Question | Refusal:
        """What it asks."""
        if (terminals := self._asked(found)) is not None:
            return terminals.by(caller).question(found)
        if (refused := self._why_not(found, caller, Verb.READ)) is not None:
            return refused
        typist = self._panes.at(found.host, found.pane)
        return typist if isinstance(typist, Refusal) else self._once.ask(typist)

    def answer(self, found: Found, given: Answer, caller: Caller) -> Done | Refusal:
        """Type the choice, if all is as it was shown."""
        return self._alone(found, given, caller, lambda typist: self._once.answer(typist, given))

    def say(self, found: Found, given: Say, caller: Caller) -> Done | Refusal:
        """Type the text, if the agent takes text now."""
        return self._alone(found, given, caller, lambda typist: self._once.say(typist, given))

    def interrupt(self, found: Found, given: Interrupt, caller: Caller) -> Done | Refusal:
        """Press the agent's key to stop, if it works."""
        return self._alone(found, given, caller, lambda typist: self._once.interrupt(typist, given))

    def _alone(
        self,
        found: Found,
        given: Answer | Say | Interrupt,
        caller: Caller,
        act: Callable[[Typist], Done | Refusal],
    ) -> Done | Refusal:
        if (terminals := self._asked(found)) is not None:
            return terminals.by(caller).give(found, given)
        typist = self._panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        with self._locks.setdefault(found.pane.id, threading.Lock()):
            if caller.who is Who.PERSON:
                return act(typist)
            return PERSON_ONLY if self._terminals is None else self._terminals.by(caller).give(found, given)


def _told_view(terminals: Terminals, found: Found) -> View | Refusal:
    """What a terminal tells of a pane. What may be done goes by its status here: the terminal looks before it types."""
    told = terminals.screen(found)
    if isinstance(told, Refusal):
        return told
    why, status = terminals.why_not(found), found.pane.status
    may_type = why is None
    asked = terminals.question(found) if status is Status.WAITING else None
    question = asked if isinstance(asked, Question) else None
    held = terminals.holder(found) if question is None and may_type else None
    being = question or (held if isinstance(held, Holder) else None)
    takes_text = not question.choices if question is not None else status in _AT_PROMPT
    rows = _shown(told.rows)
    return View(
        rows=rows,
        screen=_in_colours(rows, ()),
        pid=being.pid if being is not None else 0,
        start=being.start if being is not None else 0,
        question=question if question is None or may_type else _without_keys(question),
        can_say=may_type and being is not None and takes_text,
        can_interrupt=may_type and being is not None and status is Status.WORKING,
        why=why.text if why is not None else "",
    )


def _without_keys(question: Question) -> Question:
    """A question to be read, not answered."""
    return attrs.evolve(question, choices=tuple(attrs.evolve(choice, keys="") for choice in question.choices))


def _shown(lines: Sequence[str]) -> tuple[str, ...]:
    """The rows of a screen for display, without the empty ones at its end."""
    rows = [_row(line) for line in lines[:MAX_ROWS]]
    if len(lines) > MAX_ROWS:
        rows.append("…")
    while rows and not rows[-1].strip():
        rows.pop()
    return tuple(rows)


def _in_colours(rows: Sequence[str], lines: Sequence[StyledLine]) -> tuple[StyledLine, ...]:
    """
    These *rows* in the colours of *lines*, row by row where both say the same.

    What a person is shown is what was looked at, whatever has been drawn since: only the colours are of a later look.
    """
    found: list[StyledLine] = []
    left = MAX_RUNS
    for number, row in enumerate(rows):
        line = lines[number] if number < len(lines) else ()
        runs = line if len(line) <= left and plain(line).rstrip() == row.rstrip() else (Run(row),)
        left -= len(runs)
        found.append(runs)
    return tuple(found)


def _row(line: str) -> str:
    row = sanitise(line, cells=MAX_CELLS + 1, graphemes=MAX_CELLS + 1)
    return row if len(row) <= MAX_CELLS else f"{row[: MAX_CELLS - 1]}…"
