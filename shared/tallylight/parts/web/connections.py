"""
Connections that have not shown the token: limited in number and time, and never at the expense of others.

Every program that reaches the port can open connections; without a limit they would take the places of the server's
owner. When there are too many, a new one replaces the oldest. A person's connection shows the token with its first
bytes, and is served however many idle ones there are. https://uvicorn.dev/settings/
"""

from __future__ import annotations

import asyncio
import functools
import socket
from collections.abc import Callable
from typing import Any, cast

import attrs
import uvicorn
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tallylight.actions.caller import Caller

#: Connections without the token at a time, as many as one person's programs may open at once. Each has so many seconds
#: for its whole request.
MAX_UNKNOWN = 1024
KNOWN_WITHIN_S = 5.0
#: Connections with the token at a time.
MAX_SIGNED_IN = 1200
#: Accepted from the kernel in one go, far fewer than `MAX_UNKNOWN`: each is read before it can be the oldest.
ACCEPTED_AT_ONCE = 16
#: The key of a request's `Connection` in `scope["state"]`.
STATE = "tallylight.connection"


@attrs.define(eq=False)
class Unknown:
    """The connections without the token, the oldest first: *most* at a time, each for so many *seconds*."""

    most: int = MAX_UNKNOWN
    seconds: float = KNOWN_WITHIN_S
    timers: dict[Connection, asyncio.TimerHandle] = attrs.field(init=False, factory=dict)

    def add(self, close: Callable[[], None]) -> Connection:
        """Return a new connection, which *close* ends at once. It may replace the oldest one."""
        if len(self.timers) >= self.most:
            next(iter(self.timers)).end()
        made = Connection(self, close)
        self.timers[made] = asyncio.get_running_loop().call_later(self.seconds, made.end)
        return made


@attrs.define(eq=False)
class Connection:
    """One connection, from its beginning; over a WebSocket, too."""

    _unknown: Unknown
    _close: Callable[[], None]
    is_known: bool = False
    #: The caller at its other end, once looked up; see `asking`.
    caller: Caller | None = None

    def know(self) -> None:
        """Let the connection stay: it has shown the token."""
        self.is_known = True
        self.leave()

    def leave(self) -> None:
        """Forget the connection: it has ended, or may stay."""
        if (timer := self._unknown.timers.pop(self, None)) is not None:
            timer.cancel()

    def end(self) -> None:
        """Close the connection: its time is over, or its place is needed."""
        self.leave()
        self._close()


class Server(uvicorn.Server):
    """Accepts connections a few at a time, while many wait in the kernel."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio lets no more wait in the kernel than it accepts at once, and would refuse a crowd.
            listener.listen(socket.SOMAXCONN)


class Http(H11Protocol):
    """HTTP on a connection that is *unknown* at first; `WebSockets` takes it over if it becomes one."""

    def __init__(self, *, unknown: Unknown, **more: Any) -> None:
        super().__init__(**more)
        self._unknown = unknown

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection as unknown, so that it may be closed for a newer one."""
        self.app_state = {**self.app_state, STATE: self._unknown.add(transport.abort)}
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.app_state[STATE].leave()
        super().connection_lost(exc)


class WebSockets(WebSocketsSansIOProtocol):
    """A WebSocket on a connection that `Http` has begun."""

    def connection_lost(self, exc: Exception | None) -> None:
        self.app_state[STATE].leave()
        super().connection_lost(exc)


def config(app: ASGIApp, most_files: int) -> uvicorn.Config:
    """Return the configuration of `Server` for *app*: limits for one person's browsers and programs."""
    unknown = Unknown(min(MAX_UNKNOWN, most_files // 4))
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=cast(type[asyncio.Protocol], functools.partial(Http, unknown=unknown)),
        ws=WebSockets,
        # Messages without the token are no news for a log.
        log_level="error",
        access_log=False,
        server_header=False,
        # The sender is the connected program, whatever a header claims.
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        # More are answered 503.
        limit_concurrency=min(MAX_UNKNOWN + MAX_SIGNED_IN, most_files // 2),
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        ws_max_size=1024,
        ws_ping_interval=15.0,
        ws_ping_timeout=15.0,
        ws_per_message_deflate=False,
    )


def connection_of(scope: Scope) -> Connection | None:
    """Return the connection of a request; None without a server, as in tests."""
    found = scope.get("state", {}).get(STATE)
    return found if isinstance(found, Connection) else None
