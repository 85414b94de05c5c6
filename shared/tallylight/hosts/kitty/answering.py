"""
What is asked of kitty's windows, by the list, by scripts and by notifications: each comes through `perform`.

On kitty's main thread nothing may wait for the agent to go on after an answer: a timer looks whether it has.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kitty.fast_data_types import add_timer

from tallylight.actions import perform as actions
from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.caller import PERSON, Being, Caller, Who
from tallylight.actions.gate import Refusal
from tallylight.actions.once import LATE_LOOK_S, LOOK_S, SETTLE_S
from tallylight.actions.perform import Access
from tallylight.actions.permission import Verb, Verdict, check
from tallylight.actions.request import QUESTION, Look, Reply, Request
from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.typist import WindowTypist

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

GONE = Refusal("gone", "that pane is gone; nothing was done")


def serve(host: KittyHost) -> None:
    """Let notifications of *host* say what a window asks, and answer it."""
    host.ask, host.answer = functools.partial(question_of, host), functools.partial(answer_window, host)


def question_of(host: KittyHost, id_: int) -> Question | None:
    """What window *id_* asks now."""
    told = perform(host, Look(str(id_), QUESTION), PERSON)
    return told if isinstance(told, Question) else None


def answer_window(host: KittyHost, given: Answer) -> str:
    """Answer what a window asks, by a button of a notification; why not, or nothing if it was done."""
    told = perform(host, given, Caller(Who.NOTICE, (0, 0)))
    return told.text if isinstance(told, Refusal) else ""


#: A `Permit` that is told which window it is about.
WindowPermit = Callable[[WindowTypist, Caller, Verb, Being], Verdict | Refusal | None]


def _by_the_table(_pane: WindowTypist, caller: Caller, verb: Verb, _holder: Being) -> Verdict | Refusal:
    """What a caller may do whom nobody has allowed anything."""
    return check("none", caller, verb)


def perform(host: KittyHost, asked: Request, caller: Caller, permit: WindowPermit = _by_the_table) -> Reply | None:
    """
    Do what was *asked* of a window by *caller*; None while a person is asked whether they may.

    What was answered is watched until the agent goes on, or its window is closed: its next question may look the same.
    """
    id_ = windows.id_of(getattr(asked, "pane", ""))
    window, pane = host.boss.window_id_map.get(id_), host.panes.get(id_)
    if window is None or pane is None:
        return GONE
    typist = WindowTypist(host, window, pane)
    access = Access(typist, host.once, functools.partial(permit, typist), pane.queue, pane.queued)
    told = actions.perform(access, asked, caller)
    if isinstance(asked, Answer) and isinstance(told, Done):
        _watch(typist, asked, time.monotonic() + SETTLE_S)
    return told


def _watch(typist: WindowTypist, given: Answer, until: float) -> None:
    host = typist.host

    def look(_timer: int | None) -> None:
        if host.once.still_stands(typist, given):
            _watch(typist, given, until)

    wait_s = LOOK_S if time.monotonic() < until else LATE_LOOK_S
    add_timer(host.guarded("answers", look), wait_s, False)
