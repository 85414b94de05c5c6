"""
Sends messages, on threads of its own: a push service that does not answer delays no request to this server.

For each browser, only the newest message about each session waits. A failed one is retried, after longer and longer
pauses; a refused one is not. If the service reports a browser as gone, it gets nothing more.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import attrs

from tallylight.parts.web.push.endpoints import ForbiddenError, Reply
from tallylight.parts.web.push.subscriptions import Subscription
from tallylight.parts.web.push.telling import UNSENT_KEPT_S, Message

#: Threads that send, at most.
MAX_SENDING_THREADS = 4
#: Messages that wait for one browser.
MAX_PENDING = 32
#: Seconds to the next try after the first failure, doubled after each up to the second; and the longest pause that a
#: service may request.
FIRST_S, LAST_S, MAX_WAIT_S = 5.0, 600.0, 1800.0
#: Statuses: the browser is gone; the service cannot now.
GONE = (404, 410)
_LATER = (408, 425, 429)
_LOG = logging.getLogger("uvicorn.error")


#: Encrypts, signs and sends a message to one browser, and returns the answer. The service may keep it so many seconds.
#: `OSError` if that fails, `ForbiddenError` if no message may be sent there.
Send = Callable[[Subscription, Message, float], Reply]


@attrs.define(eq=False)
class _Line:
    """The messages that wait for one browser. Times are monotonic."""

    to: Subscription
    pending: dict[str, tuple[Message, float]] = attrs.field(factory=dict)
    not_before: float = 0.0
    failures: int = 0
    is_served: bool = False


class Sender:
    """
    Sends all messages. *gone* is called, on a thread, with the endpoint of a browser to forget.

    `put` and `keep` return at once; *clock* returns monotonic seconds.
    """

    def __init__(self, send: Send, gone: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._send_one, self._gone, self._clock = send, gone, clock
        self._lines: dict[str, _Line] = {}
        self._changed = threading.Condition()
        self._threads = 0
        self._faults: set[tuple[str, str]] = set()

    def keep(self, subscriptions: dict[str, Subscription]) -> None:
        """Send to these browsers from now on, and to no others."""
        with self._changed:
            for endpoint in self._lines.keys() - subscriptions.keys():
                del self._lines[endpoint]
            for endpoint, one in subscriptions.items():
                line = self._lines.setdefault(endpoint, _Line(one))
                line.to = one

    def put(self, message: Message) -> None:
        """Send *message* to every browser, as soon as possible."""
        with self._changed:
            for line in self._lines.values():
                # The newest one is last.
                line.pending.pop(message.address, None)
                if len(line.pending) >= MAX_PENDING:
                    del line.pending[next(iter(line.pending))]
                line.pending[message.address] = (message, self._clock() + UNSENT_KEPT_S)
            while self._threads < min(MAX_SENDING_THREADS, len(self._lines)):
                self._threads += 1
                # A daemon: the end of the server waits for no push service.
                threading.Thread(target=self._run, name="push", daemon=True).start()
            self._changed.notify_all()

    def _run(self) -> None:
        """Send one waiting message after the other, for ever: the work of each thread."""
        while True:
            line, message, until = self._next()
            try:
                self._send(line, message, until)
            except Exception as error:  # the thread goes on with the next one
                self._warn(line.to, f"{type(error).__name__}: {error}")
            with self._changed:
                line.is_served = False
                self._changed.notify_all()

    def _next(self) -> tuple[_Line, Message, float]:
        """Remove and return the next message to send; wait until there is one."""
        with self._changed:
            while True:
                now = self._clock()
                waits = []
                for line in self._lines.values():
                    line.pending = {key: found for key, found in line.pending.items() if found[1] > now}
                    if line.is_served or not line.pending:
                        continue
                    if line.not_before <= now:
                        line.is_served = True
                        message, until = line.pending.pop(next(iter(line.pending)))
                        return line, message, until
                    waits.append(line.not_before - now)
                self._changed.wait(min(waits, default=None))

    def _send(self, line: _Line, message: Message, until: float) -> None:
        """Send *message*; drop it, retry it later, or forget a browser that is gone, by the reply."""
        try:
            reply = self._send_one(line.to, message, until - self._clock())
        except (ForbiddenError, ValueError) as error:
            self._warn(line.to, str(error))
            return
        except OSError as error:
            self._warn(line.to, error.strerror or str(error) or type(error).__name__)
            self._again(line, message, until, 0.0)
            return
        if reply.status in GONE:
            self._gone(line.to.endpoint)
        elif reply.status in _LATER or reply.status >= 500:
            self._warn(line.to, f"it answers {reply.status}")
            self._again(line, message, until, reply.wait_s)
        else:
            line.failures = 0
            if not 200 <= reply.status < 300:
                self._warn(line.to, f"it answers {reply.status}, and the message is lost")

    def _again(self, line: _Line, message: Message, until: float, wait_s: float) -> None:
        """Put *message* back for another attempt after *wait_s* seconds, unless a newer one waits."""
        with self._changed:
            wait_s = max(min(wait_s, MAX_WAIT_S), min(LAST_S, FIRST_S * 2 ** min(line.failures, 10)))
            line.failures += 1
            line.not_before = self._clock() + wait_s
            # Not in place of a newer one about the same session.
            if message.address not in line.pending and len(line.pending) < MAX_PENDING:
                line.pending = {message.address: (message, until), **line.pending}

    def _warn(self, one: Subscription, why: str) -> None:
        """Report a problem of a service once, with its name only: the rest of the address is secret."""
        host = urlsplit(one.endpoint).hostname or ""
        with self._changed:
            if (host, why) in self._faults or len(self._faults) >= 100:
                return
            self._faults.add((host, why))
        _LOG.warning("push service %s: %s", host, why)
