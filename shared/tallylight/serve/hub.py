"""
The hub: tells every listener of every change, and waits for none.

A change is encoded once for all listeners. Each listener has a bounded queue; one that falls behind so far that its
queue is full is given the whole state instead, once it reads again: it may miss what was in between, never what is
true at last. No input or output: `publish` and `take` are called by the owner of a socket.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import attrs

#: Changes a listener may be behind.
MAX_BEHIND = 256
MAX_LISTENERS = 1000


@attrs.define(eq=False)
class Listener:
    """One who listens. *wake* is called when there is something to `take`; never twice before it is taken."""

    wake: Callable[[], None]
    _queue: deque[str] = attrs.field(factory=deque)
    _is_behind: bool = True
    _is_woken: bool = False

    def put(self, message: str) -> None:
        if not self._is_behind:
            self._queue.append(message)
            if len(self._queue) > MAX_BEHIND:
                self._queue.clear()
                self._is_behind = True
        if not self._is_woken:
            self._is_woken = True
            self.wake()

    def take(self, state: Callable[[], str]) -> list[str]:
        """What to send now, in order; *state* makes the message that says everything."""
        self._is_woken = False
        if self._is_behind:
            self._is_behind = False
            self._queue.clear()
            return [state()]
        found = list(self._queue)
        self._queue.clear()
        return found


@attrs.define(eq=False)
class Hub:
    """
    The present state, by address, and who listens.

    *encode_state* and *encode_change* make messages: of everything, and of one address whose value is None when it is
    gone.
    """

    _encode_state: Callable[[Mapping[str, object]], str]
    _encode_change: Callable[[str, object | None], str]
    _state: dict[str, object] = attrs.field(init=False, factory=dict)
    _listeners: set[Listener] = attrs.field(init=False, factory=set)

    def __len__(self) -> int:
        return len(self._listeners)

    def publish(self, state: Mapping[str, object]) -> None:
        """Make *state* the present one, and tell all listeners of what is another in it."""
        messages = [self._encode_change(key, value) for key, value in state.items() if self._state.get(key) != value]
        messages += [self._encode_change(key, None) for key in self._state if key not in state]
        self._state = dict(state)
        for message in messages:
            for listener in tuple(self._listeners):
                listener.put(message)

    def join(self, wake: Callable[[], None]) -> Listener | None:
        """A new listener, who is told everything first; None if there are `MAX_LISTENERS` already."""
        if len(self._listeners) >= MAX_LISTENERS:
            return None
        listener = Listener(wake)
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def take(self, listener: Listener) -> list[str]:
        """What to send to *listener* now."""
        return listener.take(lambda: self._encode_state(self._state))
