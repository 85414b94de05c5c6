"""
A person's actions on a session through the server: see it, answer it, send it text, interrupt it.

Everything goes through `actions.client`, one at a time in each session: a browser sends a click twice, and two people
may hold two phones. An answer is confirmed once the screen shows something else. The next request is then compared with
the new screen. Every call waits for a multiplexer, so call it on a thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Sequence
from typing import TypeVar

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Done, Occupant, Question
from tallylight.actions.caller import Caller, Who
from tallylight.actions.client import PaneClient, is_asked
from tallylight.actions.gate import Refusal, refuses
from tallylight.actions.once import FrozenTypist
from tallylight.actions.permission import Verb
from tallylight.actions.request import HOLDER, QUESTION, SCREEN, SILENT, LookRequest, Reply, Request, Rows
from tallylight.actions.say import Interrupt, Say
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.parts.web import model
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.elsewhere import fleet_machine
from tallylight.wire.styled import Run, StyledLine, plain
from tallylight.wire.text import sanitise

_R = TypeVar("_R")
#: Sessions that are remembered; beyond that, closed ones are forgotten.
MAX_PAGE_SESSIONS = 1000
#: The largest screen that is shown, in rows and in cells of a row. A cut is marked with `…`.
MAX_PAGE_ROWS, MAX_PAGE_CELLS = 1000, 4000
#: The most runs of one colour in a screen; the rest is shown without colours.
MAX_PAGE_RUNS = 20_000
#: The statuses of an agent at its prompt.
_AT_PROMPT = (Status.IDLE, Status.DONE, Status.QUIET)
#: Takes the place of a text, to find out whether one would be typed.
_SAMPLE = "x"
#: The message to a person at the page, by the rule that refuses; other callers get the rule's own words.
_ONLY_SHOWN = {
    "permission": "this page only shows that agent: answer at its pane or in the list; to answer here, set "
    '`[scripting] allow = "ask"` or "all" and run `tally serve` in a window of that terminal',
    "caller": "this page only shows that agent: answer at its pane or in the list; to answer here, run `tally serve` "
    "in a window of that terminal",
}
UNREACHED = Refusal("unreachable", "that pane cannot be seen or used from here")


@attrs.define
class Answering:
    """Access to all panes of *client*, this server's own, for every caller."""

    _client: PaneClient
    #: One lock for each pane, held while something is typed into it.
    _locks: dict[str, threading.Lock] = attrs.field(init=False, factory=dict)

    def keep(self, panes: Collection[str]) -> None:
        """Forget the locks of closed sessions if there are too many; *panes* are the open ones."""
        if len(self._locks) > MAX_PAGE_SESSIONS:
            for gone in set(self._locks) - set(panes):
                del self._locks[gone]

    def can_see(self, found: Row) -> bool:
        """Return whether its screen can be read, according to its host."""
        if fleet_machine(found.host):
            return False
        return is_asked(found) or self._client.panes.can_type(found.host, found.pane)

    def can_type(self, found: Row) -> bool:
        """Return whether it can be typed into from here, according to its host."""
        return self.can_see(found) and (not is_asked(found) or self._client.why_not(found) is None)

    def perform(self, found: Row, asked: Request, caller: Caller) -> Reply:
        """Carry out *asked* for *caller*."""
        client = self._client.for_caller(caller)
        if isinstance(asked, LookRequest) or is_asked(found):
            return _worded(client.perform(found, asked), caller)
        with self._locks.setdefault(found.pane.id, threading.Lock()):
            return client.perform(found, asked)

    def view(self, found: Row, caller: Caller) -> model.Buffer | Refusal:
        """
        Return the view of a session for *caller*: all of one look, or, for a terminal's pane, of several requests.
        """
        client = self._client.for_caller(caller)
        if is_asked(found):
            return _view_from_host(client, found, caller)
        if (refused := client.may_read(found)) is not None:
            return refused
        typist = client.panes.at(found.host, found.pane)
        if isinstance(typist, Refusal):
            return typist
        seen = client.once.look(typist)
        if isinstance(seen, Refusal):
            return refuses(self._mere_screen)(found, seen)
        process = seen.foreground.process if seen.foreground.agent is not None else None
        being = (process.pid, process.start) if process is not None else (0, 0)
        still = FrozenTypist(seen)
        why = client.forbidden(found, Verb.TEXT, being)
        asked = answers.ask(still)
        question = asked if isinstance(asked, Question) else None
        shown = question.fingerprint if question is not None else ""
        sample = Say(seen.pane, *being, _SAMPLE, enter=False, fingerprint=shown)
        colours: tuple[StyledLine, ...] = ()
        with contextlib.suppress(TallyError, OSError):
            # The screen an instant later, for its colours alone, if its host reports them.
            colours = client.panes.screen(found.host, found.pane).lines
        return _buffer(
            *(found.address, seen.look.lines, colours, why, question, being),
            can_say=isinstance(says.say(still, sample), Done),
            can_interrupt=isinstance(says.interrupt(still, Interrupt(seen.pane, *being)), Done),
        )

    def _mere_screen(self, found: Row, why: Refusal) -> model.Buffer:
        """Return the screen of a session that cannot be used now."""
        lines = self._client.panes.screen(found.host, found.pane).lines
        return _buffer(found.address, [plain(line) for line in lines], lines, why)


def _worded(reply: _R, caller: Caller) -> _R | Refusal:
    """Return *reply*; for a person at the page, a refusal explains what they can do instead."""
    if isinstance(reply, Refusal) and caller.who is Who.PERSON and reply.rule in _ONLY_SHOWN:
        return Refusal(reply.rule, _ONLY_SHOWN[reply.rule])
    return reply


def _view_from_host(client: PaneClient, found: Row, caller: Caller) -> model.Buffer | Refusal:
    """Return a terminal's view of a pane. Its status decides the actions: the terminal looks again before it types."""
    screen = client.look(found, SCREEN)
    if not isinstance(screen, Rows):
        return _worded(screen, caller) if isinstance(screen, Refusal) else SILENT
    why, status, address = _worded(client.why_not(found), caller), found.pane.status, found.address
    asked = client.look(found, QUESTION) if status is Status.WAITING else None
    if isinstance(asked, Question):
        being = asked.pid, asked.start
        return _buffer(address, screen.rows, (), why, asked, being, can_say=not asked.choices)
    held = client.look(found, HOLDER) if why is None else None
    if not isinstance(held, Occupant):
        return _buffer(address, screen.rows, (), why)
    can_say, can_interrupt = status in _AT_PROMPT, status is Status.WORKING
    being = held.pid, held.start
    return _buffer(address, screen.rows, (), why, None, being, can_say=can_say, can_interrupt=can_interrupt)


def _buffer(
    address: str,
    lines: Sequence[str],
    colours: Sequence[StyledLine],
    why: Refusal | None,
    question: Question | None = None,
    being: tuple[int, int] = (0, 0),
    *,
    can_say: bool = False,
    can_interrupt: bool = False,
) -> model.Buffer:
    """
    Return a session at one moment: the *lines* of its screen, with *colours* where known, and the agent's process.

    *why* is the rule that forbids all actions, if there is one: the question can then be read, but not answered.
    """
    if question is not None and why is not None:
        choices = tuple(attrs.evolve(choice, keys="") for choice in question.choices)
        question = attrs.evolve(question, choices=choices)
    rows = _shown(lines)
    return model.Buffer(
        address=address,
        lines=rows,
        screen=[[model.run_of(run) for run in line] for line in _in_colours(rows, colours)],
        question=model.question_of(address, question) if question is not None else None,
        pid=being[0],
        start=being[1],
        can_say=why is None and can_say,
        can_interrupt=why is None and can_interrupt,
        why=why.text if why is not None else "",
    )


def _shown(lines: Sequence[str]) -> list[str]:
    """Return the rows of a screen for display, without the empty ones at its end."""
    rows = []
    for line in lines[:MAX_PAGE_ROWS]:
        row = sanitise(line, cells=MAX_PAGE_CELLS + 1)
        rows.append(row if len(row) <= MAX_PAGE_CELLS else f"{row[: MAX_PAGE_CELLS - 1]}…")
    if len(lines) > MAX_PAGE_ROWS:
        rows.append("…")
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def _in_colours(rows: Sequence[str], lines: Sequence[StyledLine]) -> list[StyledLine]:
    """
    Return *rows* in the colours of *lines*, for each row where both have the same text.

    The person sees the screen that was looked at, whatever has been drawn since: only the colours are newer.
    """
    found: list[StyledLine] = []
    left = MAX_PAGE_RUNS
    for number, row in enumerate(rows):
        line = lines[number] if number < len(lines) else ()
        runs = line if len(line) <= left and plain(line).rstrip() == row.rstrip() else (Run(row),)
        left -= len(runs)
        found.append(runs)
    return found
