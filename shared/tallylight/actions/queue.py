"""
The queue: a text for an agent that works or asks, typed when its turn has ended.

One text waits in a pane, for one process. `put` checks it. Then `step` looks at the pane again and again. It types the
text, by `actions.say` and its rules, once the agent has been at its prompt for `READY_S`. A dialog is no prompt, and
neither is a menu: nothing is typed there, the text waits. It is dropped, and the pane shows why, when

* the agent's process has ended, or another one runs in its place;
* a person has typed something at its prompt, which the text would follow;
* it can never be typed: it has several lines, and the program takes no bracketed paste.

A text may also wait for the end of a limit that stops its agent. It is typed `MARGIN_S` after that, by the same rules.
The wall clock decides, which continues while the machine sleeps. `parts.shift` adds more rules for that.

It does no input or output: a host's `Typist` looks and types. Times are monotonic seconds.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import attrs

from tallylight.actions.answer import Done, Occupant, Typist, holder_of
from tallylight.actions.gate import Refusal, RefusedError, must, refuses
from tallylight.actions.once import FrozenTypist, Once
from tallylight.actions.request import DeferredText
from tallylight.actions.say import Say, lines_problem, prompt_agent, text_problem
from tallylight.evidence.screen import Look
from tallylight.model.queued import Queued
from tallylight.model.status import Status
from tallylight.wire.text import sanitise

#: Seconds that an agent must have been at its prompt: between two parts of a turn it may seem to be.
READY_S = 1.0
#: Refusals of `say` that pass: the text waits. Every other one is for good.
_PASSING = ("working", "asking", "prompt", "changed", "mode", "synchronized", "remote", "unreachable", "process")
#: The part of a row before typed text: the side of a box, a prompt. `diff> ` of aider has a word in it.
_PROMPT = re.compile(r"[\s│┃║▌▎|]*(?:[\w-]{0,16}[❯›>»▸▶])?\s*")

#: Seconds between the end of a limit and the text.
MARGIN_S = 5

ENDED = "its agent has ended"
TYPED = "something else was typed at its prompt"


@refuses
def put(typist: Typist, given: DeferredText) -> Queued:
    """Return the text of *given* as queued, if the agent that it is for still holds the pane."""
    must(text_problem(given.text))
    seen = must(typist.see())
    held = must(holder_of(seen))
    if (held.pane, held.pid, held.start) != (given.pane, given.pid, given.start):
        text = "another process is in the foreground of that pane now; nothing is queued"
        raise RefusedError(Refusal("process", text))
    must(lines_problem(seen, given.text))
    return Queued(pid=held.pid, start=held.start, text=given.text, at=given.at)


def typing_time(limited_until: float) -> int:
    """Return when to type a text that waits for the end of a limit, both in seconds since the epoch."""
    return math.ceil(limited_until) + MARGIN_S


class Moment(NamedTuple):
    """
    The time of a look at a pane, and its state then.

    *now* is monotonic seconds, *wall* seconds since the epoch, *boot* seconds since the boot with those asleep.
    *is_alive*: whether the process that the text is for still runs; an editor or pager in the foreground ends again.
    *status* is the pane's, and *limited_until* is the end of its agent's last limit.
    """

    now: float
    is_alive: bool
    wall: float = 0.0
    status: Status = Status.IDLE
    limited_until: float = 0.0
    boot: float = 0.0


def step(typist: Typist, once: Once, queued: Queued, moment: Moment) -> Queued | None:
    """Look at the pane, and type the text if it is time; return it with its new state, None once it was typed."""
    if queued.problem:
        return queued
    if not moment.is_alive:
        return attrs.evolve(queued, problem=ENDED)
    if queued.at and moment.wall < max(queued.at, typing_time(moment.limited_until)):
        return queued
    now = moment.now
    seen = once.look(typist)
    waits = attrs.evolve(queued, ready_at=None) if queued.ready_at is not None else queued
    if isinstance(seen, Refusal):
        return waits
    held = prompt_agent(FrozenTypist(seen))
    if not isinstance(held, Occupant) or (held.pid, held.start) != (queued.pid, queued.start):
        return waits
    if typed_text(seen.look):
        return attrs.evolve(waits, problem=TYPED)
    if queued.ready_at is None:
        return attrs.evolve(queued, ready_at=now)
    if now - queued.ready_at < READY_S:
        return queued
    done = once.say(typist, Say(seen.pane, queued.pid, queued.start, queued.text, enter=True))
    if isinstance(done, Done):
        return None
    if done is None:
        return queued
    return waits if done.rule in _PASSING else attrs.evolve(waits, problem=done.text)


def typed_text(look: Look) -> str:
    """
    Return the text between an agent's prompt and the cursor, which a person has typed there.

    A placeholder in an empty box is behind the cursor.
    """
    if not 0 <= look.cursor_row < len(look.lines):
        return ""
    column = look.cursor_column
    before = sanitise(look.lines[look.cursor_row], cells=column) if column > 0 else ""
    return _PROMPT.sub("", before, count=1).strip()
