"""
What is asked of kitty's windows, by the list, by scripts and by notifications: each comes through `perform`.

On kitty's main thread nothing may wait for the agent to go on after an answer: a timer looks whether it has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kitty.fast_data_types import add_timer

from tallylight.actions import perform as actions
from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.caller import PERSON, Being, Caller, Who
from tallylight.actions.gate import Refusal
from tallylight.actions.once import LOOK_S, SETTLE_S
from tallylight.actions.perform import Access, Permit
from tallylight.actions.permission import Verb, Verdict, check
from tallylight.actions.request import QUESTION, Look, Reply, Request
from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.notifications import Notices
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.pane.pane import Pane
from tallylight.tracker.mutes import Mutes

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

GONE = Refusal("gone", "that pane is gone; nothing was done")


def question_of(host: KittyHost, id_: int) -> Question | None:
    """What window *id_* asks now."""
    told = perform(host, Look(str(id_), QUESTION), PERSON)
    return told if isinstance(told, Question) else None


def answer_window(host: KittyHost, given: Answer) -> str:
    """Answer what a window asks, by a button of a notification; why not, or nothing if it was done."""
    told = perform(host, given, Caller(Who.NOTICE, (0, 0)))
    return told.text if isinstance(told, Refusal) else ""


def _by_the_table(caller: Caller, verb: Verb, _holder: Being) -> Verdict | Refusal:
    """What a caller may do whom nobody has allowed anything."""
    return check("none", caller, verb)


def perform(host: KittyHost, asked: Request, caller: Caller, permit: Permit = _by_the_table) -> Reply | None:
    """
    Do what was *asked* of a window by *caller*; None while a person is asked whether they may.

    What was answered is watched until the agent goes on: its next question may look the same.
    """
    id_ = windows.id_of(getattr(asked, "pane", ""))
    window, pane = host.boss.window_id_map.get(id_), host.panes.get(id_)
    if window is None or pane is None:
        return GONE
    typist = WindowTypist(host, window, pane)
    told = actions.perform(Access(typist, host.once, permit, pane.queue, pane.queued), asked, caller)
    if isinstance(asked, Answer) and isinstance(told, Done):
        _watch(typist, asked, time.monotonic() + SETTLE_S)
    return told


def _watch(typist: WindowTypist, given: Answer, until: float) -> None:
    host = typist.host

    def look(_timer: int | None) -> None:
        host.once.look(typist)
        if host.once.is_open(given) and time.monotonic() < until:
            _watch(typist, given, until)

    add_timer(host.guarded("answers", look), LOOK_S, False)


def notices(host: KittyHost, panes: dict[int, Pane], mutes: Mutes, heard: Callable[[int], None]) -> Notices:
    """The notifications of *host*, about *panes* and by *mutes*; *heard* is told what a program said in one."""
    found = Notices(
        boss=host.boss,
        settings=host.config.notify,
        panes=panes,
        name_of=lambda id_: windows.name(host.boss.window_id_map.get(id_)),
        ask=lambda id_: question_of(host, id_),
        answer=lambda _, given: answer_window(host, given),
        heard=heard,
        features=host.features,
        host=f"kitty-{os.getpid()}",
        mutes=mutes,
        worker=host.worker,
    )
    found.listen()
    return found


def resumable(host: KittyHost, number: int) -> None:
    """Tell that conversations of an earlier kitty can be resumed."""
    what = "1 conversation" if number == 1 else f"{number} conversations"
    host.say(f"{what} can be resumed", "kitty ended while they were open. Run `tally restore`.")
