"""
The hub: sends every change to every listener, and waits for none.

A change is encoded once for all listeners. Each listener has a queue of limited length. If it is full, the listener
gets the whole state instead, once it reads again. So it may miss states in between, never the last one. The hub does no
input or output: the owner of a socket calls `publish` and `take`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import attrs

from tallylight.parts.web.model import Event, Session

#: Changes a listener may be behind.
MAX_BEHIND = 256
MAX_LISTENERS = 1000


@attrs.define(eq=False)
class Listener:
    """A listener. *wake* is called when there is something to `take`, and only once until it is taken."""

    wake: Callable[[], None]
    queue: deque[str] = attrs.field(init=False, factory=deque)
    #: It gets the whole state next.
    is_behind: bool = attrs.field(init=False, default=True)
    is_woken: bool = attrs.field(init=False, default=False)


@attrs.define(eq=False)
class Hub:
    """The present state, by address; why it may be out of date; and the listeners."""

    _state: dict[str, Session] = attrs.field(init=False, factory=dict)
    _stale: str = attrs.field(init=False, default="")
    _listeners: set[Listener] = attrs.field(init=False, factory=set)

    def __len__(self) -> int:
        return len(self._listeners)

    def publish(self, state: Mapping[str, Session], stale: str = "") -> None:
        """Replace the state, and queue its changes for all listeners, with the reason why it may be *stale*."""
        events = [Event(type="change", session=one) for key, one in state.items() if self._state.get(key) != one]
        events += [Event(type="gone", address=key) for key in self._state if key not in state]
        events += [Event(type="stale", stale=stale)] * (stale != self._stale)
        self._state, self._stale = dict(state), stale
        for message in [event.model_dump_json() for event in events]:
            for listener in tuple(self._listeners):
                if not listener.is_behind:
                    listener.queue.append(message)
                    if len(listener.queue) > MAX_BEHIND:
                        listener.queue.clear()
                        listener.is_behind = True
                if not listener.is_woken:
                    listener.is_woken = True
                    listener.wake()

    def join(self, wake: Callable[[], None]) -> Listener | None:
        """
        Return a new listener; its first `take` returns the whole state. None if there are `MAX_LISTENERS` already.
        """
        if len(self._listeners) >= MAX_LISTENERS:
            return None
        listener = Listener(wake)
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def take(self, listener: Listener) -> list[str]:
        """Return the messages for *listener*, in order, and empty its queue."""
        listener.is_woken = False
        found = list(listener.queue)
        listener.queue.clear()
        if listener.is_behind:
            listener.is_behind = False
            state = Event(type="state", sessions=list(self._state.values()), stale=self._stale)
            found = [state.model_dump_json()]
        return found
