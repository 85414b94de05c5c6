"""
What a person does to a session by way of the server: see it, answer it, tell it something, interrupt it.

Everything goes through `actions.answer` and `actions.say`, one at a time in each session. Two things are added, because
a browser sends a click twice and two people may hold two phones: a question that was answered is not answered again
before its screen was seen to change, and whoever has answered hears of it once it has, so that what comes next is
compared with what is there then. Every call waits for a multiplexer: they are made on threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Question, Seen, Typist
from tallylight.actions.gate import Refusal
from tallylight.actions.panes import Panes
from tallylight.actions.say import Interrupt, Say
from tallylight.evidence.fingerprint import fingerprint
from tallylight.evidence.question import Prompt
from tallylight.snapshot.addresses import Found
from tallylight.wire.text import sanitise

#: Seconds in which a program that was typed to should draw something else, and between two looks whether it has.
SETTLE_S, LOOK_S = 1.0, 0.05
#: Sessions that are remembered; beyond that, the ones that are gone are forgotten.
MAX_SESSIONS = 1000
#: Of a screen that is shown, in rows and in cells of a row. What is cut is marked with `…`.
MAX_ROWS, MAX_CELLS = 1000, 4000
#: Stands for a text, to find out whether one would be typed.
_SAMPLE = "x"


@attrs.frozen(kw_only=True)
class View:
    """
    A session at one moment: the rows of its screen, the agent's process (0 and 0 where there is none), and what may be
    done to it. *why* says why nothing may be, if a rule forbids even to ask.
    """

    rows: tuple[str, ...]
    pid: int = 0
    start: int = 0
    question: Question | None = None
    can_say: bool = False
    can_interrupt: bool = False
    why: str = ""


@attrs.define(eq=False)
class _Session:
    """One session: *lock* is held by whoever types, *answered* is what was typed last and may not be typed again."""

    lock: threading.Lock = attrs.field(factory=threading.Lock)
    answered: Answer | None = None


class Answering:
    """All sessions of *panes*."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._sessions: dict[str, _Session] = {}

    def keep(self, panes: Collection[str]) -> None:
        """Forget sessions, if there are too many, but not those with these ids."""
        if len(self._sessions) > MAX_SESSIONS:
            for gone in set(self._sessions) - set(panes):
                del self._sessions[gone]

    def view(self, found: Found) -> View | Refusal:
        """The screen and all that may be done to it, from one look."""
        typist = self._panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        session = self._session(found)
        before = session.answered
        seen = answers.reached(typist.see)
        if isinstance(seen, Refusal):
            return answers.reached(lambda: View(rows=_shown(self._panes.read(found.host, found.pane)), why=seen.text))
        still = _Still(seen)
        asked = answers.ask(still)
        question = asked if isinstance(asked, Question) else None
        if before is not None and session.answered is before and not _is_shown(seen, before):
            session.answered = None
        process = seen.foreground.process if seen.foreground.agent is not None else None
        pid, start = (process.pid, process.start) if process is not None else (0, 0)
        sample = Say(seen.pane, pid, start, _SAMPLE, enter=False, fingerprint=question.fingerprint if question else "")
        return View(
            rows=_shown(seen.look.lines),
            pid=pid,
            start=start,
            question=question,
            can_say=isinstance(says.say(still, sample), Done),
            can_interrupt=isinstance(says.interrupt(still, Interrupt(seen.pane, pid, start)), Done),
        )

    def question(self, found: Found) -> Question | Refusal:
        """What it asks."""
        typist = self._panes.at(found.host, found.pane)
        return typist if isinstance(typist, Refusal) else answers.ask(typist)

    def answer(self, found: Found, given: Answer) -> Done | Refusal:
        """Type the choice, if all is as it was shown."""
        return self._once(found, given, lambda typist: answers.answer(typist, given))

    def say(self, found: Found, given: Say) -> Done | Refusal:
        """Type the text, if the agent takes text now."""
        asked = Answer(given.pane, given.pid, given.start, given.fingerprint, 0)
        return self._once(found, asked, lambda typist: says.say(typist, given))

    def interrupt(self, found: Found, given: Interrupt) -> Done | Refusal:
        """Press the agent's key to stop, if it works."""
        return self._once(found, None, lambda typist: says.interrupt(typist, given))

    def _once(self, found: Found, given: Answer | None, act: Callable[[Typist], Done | Refusal]) -> Done | Refusal:
        typist = self._panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        session = self._session(found)
        with session.lock:
            before = answers.reached(typist.see)
            if session.answered is not None and not _is_shown(before, session.answered):
                session.answered = None
            if session.answered is not None and given is not None and given.fingerprint == session.answered.fingerprint:
                return Refusal("answered", "it was already answered and has not continued since; nothing was typed")
            done = act(typist)
            if isinstance(done, Done):
                session.answered = given if given is not None and given.fingerprint else session.answered
                self._settle(typist, before, session)
            return done

    def _settle(self, typist: Typist, before: Seen | Refusal, session: _Session) -> None:
        """Wait until the screen shows something else than what was answered, or than before, but not for long."""
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end:
            now = answers.reached(typist.see)
            if session.answered is not None:
                if not _is_shown(now, session.answered):
                    session.answered = None
                    return
            elif isinstance(now, Refusal) or isinstance(before, Refusal) or now.look.lines != before.look.lines:
                return
            time.sleep(LOOK_S)

    def _session(self, found: Found) -> _Session:
        return self._sessions.setdefault(found.pane.id, _Session())


@attrs.frozen
class _Still:
    """A pane that goes on showing *seen*, and types nothing: it is for finding out what would be refused."""

    seen: Seen

    def see(self) -> Seen:
        return self.seen

    def press(self, keys: str) -> None:
        """Nothing."""

    def paste(self, text: str, *, enter: bool) -> None:
        """Nothing."""


def _is_shown(seen: Seen | Refusal, answered: Answer) -> bool:
    """Whether what was *answered* still stands there, or may: it has not gone on where nobody could look."""
    if isinstance(seen, Refusal):
        return seen.rule == "unreachable"
    prompt = answers.prompt_of(seen)
    if answers.check_process(seen, answered.pane, answered.pid, answered.start) or not isinstance(prompt, Prompt):
        return False
    return fingerprint(seen.look.lines, seen.look.columns, prompt) == answered.fingerprint


def _shown(lines: Sequence[str]) -> tuple[str, ...]:
    """The rows of a screen for display, without the empty ones at its end."""
    rows = [_row(line) for line in lines[:MAX_ROWS]]
    if len(lines) > MAX_ROWS:
        rows.append("…")
    while rows and not rows[-1].strip():
        rows.pop()
    return tuple(rows)


def _row(line: str) -> str:
    row = sanitise(line, cells=MAX_CELLS + 1, graphemes=MAX_CELLS + 1)
    return row if len(row) <= MAX_CELLS else f"{row[: MAX_CELLS - 1]}…"
