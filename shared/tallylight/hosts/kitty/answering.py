"""
Answering agents in kitty's windows, from the list and from notifications, through `actions.once`.

On kitty's main thread nothing may wait for the agent to go on after an answer: a timer looks whether it has.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kitty.fast_data_types import add_timer

from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.brief import Brief, brief
from tallylight.actions.gate import Refusal
from tallylight.actions.once import LOOK_S, SETTLE_S
from tallylight.hosts.kitty.typist import WindowTypist

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost


def brief_of(host: KittyHost, id_: int) -> Brief | None:
    """What window *id_* asks now, if a notification can hold all of it."""
    typist = _typist(host, id_)
    found = host.once.ask(typist) if typist is not None else None
    return brief(found) if isinstance(found, Question) else None


def answer_window(host: KittyHost, id_: int, given: Answer) -> str:
    """Answer what window *id_* asks; why not, or nothing if it was done."""
    typist = _typist(host, id_)
    if typist is None:
        return "that pane is gone; nothing was typed"
    done = answer(typist, given)
    return done.text if isinstance(done, Refusal) else ""


def answer(typist: WindowTypist, given: Answer) -> Done | Refusal:
    """Answer, and watch for the agent to go on: its next question may look the same."""
    done = typist.host.once.answer(typist, given)
    if isinstance(done, Done):
        _watch(typist, given, time.monotonic() + SETTLE_S)
    return done


def _typist(host: KittyHost, id_: int) -> WindowTypist | None:
    window, pane = host.boss.window_id_map.get(id_), host.panes.get(id_)
    return WindowTypist(host, window, pane) if window is not None and pane is not None else None


def _watch(typist: WindowTypist, given: Answer, until: float) -> None:
    host = typist.host

    def look(_timer: int | None) -> None:
        host.once.look(typist)
        if host.once.is_open(given) and time.monotonic() < until:
            _watch(typist, given, until)

    add_timer(host.guarded("answers", look), LOOK_S, False)
