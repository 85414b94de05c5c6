"""
Answering agents in kitty's windows, from the list and from notifications, through `actions.once`.

On kitty's main thread nothing may wait for the agent to go on after an answer: a timer looks whether it has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kitty.fast_data_types import add_timer

from tallylight.actions.answer import Answer, Done, Question, Seen, anything, is_question
from tallylight.actions.gate import Refusal
from tallylight.actions.once import LOOK_S, SETTLE_S
from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.notifications import Notices
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.pane.pane import Pane
from tallylight.tracker.mutes import Mutes

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

_NO_PERMISSION = Refusal("permission", "a notification answers no permission; nothing was typed")


def question_of(host: KittyHost, id_: int) -> Question | None:
    """What window *id_* asks now."""
    typist = _typist(host, id_)
    found = host.once.ask(typist) if typist is not None else None
    return found if isinstance(found, Question) else None


def answer_window(host: KittyHost, id_: int, given: Answer) -> str:
    """Answer what window *id_* asks, by a button of a notification; why not, or nothing if it was done."""
    typist = _typist(host, id_)
    if typist is None:
        return "that pane is gone; nothing was typed"
    done = answer(typist, given, lambda seen: None if is_question(seen) else _NO_PERMISSION)
    return done.text if isinstance(done, Refusal) else ""


def answer(typist: WindowTypist, given: Answer, unfit: Callable[[Seen], Refusal | None] = anything) -> Done | Refusal:
    """Answer what is not *unfit*, and watch for the agent to go on: its next question may look the same."""
    done = typist.host.once.answer(typist, given, unfit)
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


def notices(host: KittyHost, panes: dict[int, Pane], mutes: Mutes, heard: Callable[[int], None]) -> Notices:
    """The notifications of *host*, about *panes* and by *mutes*; *heard* is told what a program said in one."""
    found = Notices(
        boss=host.boss,
        settings=host.config.notify,
        panes=panes,
        name_of=lambda id_: windows.name(host.boss.window_id_map.get(id_)),
        ask=lambda id_: question_of(host, id_),
        answer=lambda id_, given: answer_window(host, id_, given),
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
