"""
What a person does to a session by way of the server: see it, answer it, tell it something, interrupt it.

Everything goes through `actions.client`, one at a time in each session: a browser sends a click twice, and two people
may hold two phones. The answer is confirmed once the screen shows something else, so that what comes next is
compared with what is there then. Every call waits for a multiplexer: they are made on threads.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Done, Occupant, Question
from tallylight.actions.caller import Caller
from tallylight.actions.client import PaneClient, is_asked
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Still
from tallylight.actions.permission import Verb
from tallylight.actions.request import HOLDER, QUESTION, SCREEN, SILENT, Look, Reply, Request, Rows
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
UNREACHED = Refusal("unreachable", "nothing can be seen of that pane, or done to it, from here")


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
    """All panes that *client* reaches, for whoever asks. *client* is this server's own."""

    def __init__(self, client: PaneClient) -> None:
        self._client = client
        #: Of each pane that is reached from here: the one that types into it holds it.
        self._locks: dict[str, threading.Lock] = {}

    def keep(self, panes: Collection[str]) -> None:
        """Forget sessions, if there are too many, but not those with these ids."""
        if len(self._locks) > MAX_SESSIONS:
            for gone in set(self._locks) - set(panes):
                del self._locks[gone]

    def can_see(self, found: Found) -> bool:
        """Whether its screen can be asked for, as far as its host says."""
        if fleet_machine(found.host):
            return False
        return is_asked(found) or self._client.panes.can_type(found.host, found.pane)

    def can_type(self, found: Found) -> bool:
        """Whether anything can be done to it from here, as far as its host says."""
        return self.can_see(found) and (not is_asked(found) or self._client.why_not(found) is None)

    def perform(self, found: Found, asked: Request, caller: Caller) -> Reply:
        """Have done what *caller* asks."""
        client = self._client.by(caller)
        if isinstance(asked, Look) or is_asked(found):
            return client.perform(found, asked)
        with self._locks.setdefault(found.pane.id, threading.Lock()):
            return client.perform(found, asked)

    def view(self, found: Found, caller: Caller) -> View | Refusal:
        """What *caller* is shown: all of one look; where a terminal is asked, of one for each."""
        client = self._client.by(caller)
        if is_asked(found):
            return _told_view(client, found)
        if (refused := client.may_read(found)) is not None:
            return refused
        typist = client.panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        seen = client.once.look(typist)
        if isinstance(seen, Refusal):
            return answers.reached(lambda: self._mere_screen(found, seen.text))
        process = seen.foreground.process if seen.foreground.agent is not None else None
        being = (process.pid, process.start) if process is not None else (0, 0)
        still = Still(seen)
        why = client.forbidden(found, Verb.TEXT, being)
        asked = answers.ask(still)
        question = asked if isinstance(asked, Question) else None
        shown = question.fingerprint if question is not None else ""
        sample = Say(seen.pane, *being, _SAMPLE, enter=False, fingerprint=shown)
        rows = _shown(seen.look.lines)
        return View(
            rows=rows,
            screen=_in_colours(rows, self._colours(found)),
            pid=being[0],
            start=being[1],
            question=_without_keys(question) if question is not None and why is not None else question,
            can_say=why is None and isinstance(says.say(still, sample), Done),
            can_interrupt=why is None and isinstance(says.interrupt(still, Interrupt(seen.pane, *being)), Done),
            why=why.text if why is not None else "",
        )

    def _mere_screen(self, found: Found, why: str) -> View:
        """The screen of a session to which nothing can be done now."""
        lines = self._client.panes.screen(found.host, found.pane).lines
        rows = _shown([plain(line) for line in lines])
        return View(rows=rows, screen=_in_colours(rows, lines), why=why)

    def _colours(self, found: Found) -> tuple[StyledLine, ...]:
        """The screen as it is an instant later, for its colours alone; nothing if its host cannot tell it."""
        try:
            return self._client.panes.screen(found.host, found.pane).lines
        except (TallyError, OSError):
            return ()


def _told_view(client: PaneClient, found: Found) -> View | Refusal:
    """What a terminal tells of a pane. What may be done goes by its status here: the terminal looks before it types."""
    told = client.look(found, SCREEN)
    if not isinstance(told, Rows):
        return told if isinstance(told, Refusal) else SILENT
    why, status = client.why_not(found), found.pane.status
    rows = _shown(told.rows)
    shown = View(rows=rows, screen=_in_colours(rows, ()), why=why.text if why is not None else "")
    asked = client.look(found, QUESTION) if status is Status.WAITING else None
    if isinstance(asked, Question):
        question = asked if why is None else _without_keys(asked)
        can_say = why is None and not asked.choices
        return attrs.evolve(shown, pid=asked.pid, start=asked.start, question=question, can_say=can_say)
    held = client.look(found, HOLDER) if why is None else None
    if not isinstance(held, Occupant):
        return shown
    can_say, can_interrupt = status in _AT_PROMPT, status is Status.WORKING
    return attrs.evolve(shown, pid=held.pid, start=held.start, can_say=can_say, can_interrupt=can_interrupt)


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
