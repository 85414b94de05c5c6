"""
What a person does to a session by way of the server: see it, answer it, tell it something, interrupt it.

Everything goes through `actions.once`, one at a time in each session: a browser sends a click twice, and two people may
hold two phones. The answer is confirmed once the screen shows something else, so that what comes next is
compared with what is there then. Every call waits for a multiplexer: they are made on threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Question, Typist
from tallylight.actions.gate import Refusal
from tallylight.actions.once import SETTLE_S, Once, Still
from tallylight.actions.panes import Panes
from tallylight.actions.say import Interrupt, Say
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Found
from tallylight.wire.styled import Run, StyledLine, plain
from tallylight.wire.text import sanitise

#: Sessions that are remembered; beyond that, the ones that are gone are forgotten.
MAX_SESSIONS = 1000
#: Of a screen that is shown, in rows and in cells of a row. What is cut is marked with `…`.
MAX_ROWS, MAX_CELLS = 1000, 4000
#: Pieces of one colour that a screen is shown in; of one that has more, the rest is shown without colours.
MAX_RUNS = 20_000
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


class Answering:
    """All sessions of *panes*."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._once = Once(SETTLE_S)
        #: Of each session: the one that types into it holds it.
        self._locks: dict[str, threading.Lock] = {}

    def keep(self, panes: Collection[str]) -> None:
        """Forget sessions, if there are too many, but not those with these ids."""
        if len(self._locks) > MAX_SESSIONS:
            for gone in set(self._locks) - set(panes):
                del self._locks[gone]

    def view(self, found: Found) -> View | Refusal:
        """The screen and all that may be done to it, from one look."""
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
        sample = Say(seen.pane, pid, start, _SAMPLE, enter=False, fingerprint=question.fingerprint if question else "")
        rows = _shown(seen.look.lines)
        return View(
            rows=rows,
            screen=_in_colours(rows, self._colours(found)),
            pid=pid,
            start=start,
            question=question,
            can_say=isinstance(says.say(still, sample), Done),
            can_interrupt=isinstance(says.interrupt(still, Interrupt(seen.pane, pid, start)), Done),
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

    def question(self, found: Found) -> Question | Refusal:
        """What it asks."""
        typist = self._panes.at(found.host, found.pane)
        return typist if isinstance(typist, Refusal) else self._once.ask(typist)

    def answer(self, found: Found, given: Answer) -> Done | Refusal:
        """Type the choice, if all is as it was shown."""
        return self._alone(found, lambda typist: self._once.answer(typist, given))

    def say(self, found: Found, given: Say) -> Done | Refusal:
        """Type the text, if the agent takes text now."""
        return self._alone(found, lambda typist: self._once.say(typist, given))

    def interrupt(self, found: Found, given: Interrupt) -> Done | Refusal:
        """Press the agent's key to stop, if it works."""
        return self._alone(found, lambda typist: self._once.interrupt(typist, given))

    def _alone(self, found: Found, act: Callable[[Typist], Done | Refusal]) -> Done | Refusal:
        typist = self._panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        with self._locks.setdefault(found.pane.id, threading.Lock()):
            return act(typist)


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
