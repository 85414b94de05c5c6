"""
Carries out requests on kitty's windows, of the list, scripts and notifications: all of them call `perform`.

kitty's main thread may wait neither for an agent to continue after an answer, nor for a decision. Timers look again
instead.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kitty.fast_data_types import add_timer
from kitty.utils import log_error

from tallylight.actions import perform as actions
from tallylight.actions.answer import Answer, Done
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import Being, Caller
from tallylight.actions.gate import Refusal
from tallylight.actions.once import KEYS_SETTLE_S, LATE_LOOK_S, WATCH_KEYS_S, Once
from tallylight.actions.perform import Access
from tallylight.actions.permission import Verb, Verdict, check
from tallylight.actions.request import UNKNOWN, LookRequest, Reply, Request, encode_reply
from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.typist import WindowTypist

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

GONE = Refusal("gone", "that pane is gone; nothing was done")


def reply(surface: str, act: Callable[[Request], Reply | None], asked: Request | None) -> bytes | None:
    """Return the encoded reply of *act* to *asked*, or its failure; None while *act* is undecided."""
    try:
        replied = act(asked) if asked is not None else UNKNOWN
        return encode_reply(replied) if replied is not None else None
    except Exception as error:  # the next one can succeed
        log_error(f"tallylight: {surface}: {type(error).__name__}: {error}")
        return encode_reply(Refusal("failed", f"it failed: {type(error).__name__}; see kitty's log"))


#: A `Permit` that also gets the window.
WindowPermit = Callable[[WindowTypist, Caller, Verb, Being], Verdict | Refusal | None]


def _by_the_table(_pane: WindowTypist, caller: Caller, verb: Verb, _holder: Being) -> Verdict | Refusal:
    """Return the permission of a caller without any consent."""
    return check("none", caller, verb)


def perform(host: KittyHost, asked: Request, caller: Caller, permit: WindowPermit = _by_the_table) -> Reply | None:
    """
    Carry out *asked* on a window for *caller*; return None while it is undecided, or a person is asked.

    kitty's parser is called here, so unless *asked* is a `LookRequest`, it must not be the caller.

    After an answer, the window is watched until the agent continues or it closes: the next question may look the same.
    """
    id_ = windows.id_of(getattr(asked, "pane", ""))
    window, pane = host.boss.window_id_map.get(id_), host.panes.get(id_)
    if window is None or pane is None:
        return GONE
    if not isinstance(asked, LookRequest):
        host.parse(window)
    typist = WindowTypist(host, window, pane)
    access = Access(
        typist, once_of(host), functools.partial(permit, typist), pane.queue, pane.queued, lambda: pane.tape.data
    )
    result = actions.perform(access, asked, caller)
    if isinstance(asked, Answer) and isinstance(result, Done):
        _watch(typist, asked, time.monotonic() + KEYS_SETTLE_S)
    return result


def once_of(host: KittyHost) -> Once:
    """Return the answers given in the panes of *host*; nobody here waits for the program to continue."""
    if host.once is None:
        host.once = Once(0.0, InProcess())
    found: Once = host.once
    return found


def _watch(typist: WindowTypist, given: Answer, until: float) -> None:
    host = typist.host

    def look(_timer: int | None) -> None:
        if once_of(host).is_still_shown(typist, given):
            _watch(typist, given, until)

    wait_s = WATCH_KEYS_S if time.monotonic() < until else LATE_LOOK_S
    add_timer(host.guarded("answers", look), wait_s, False)
