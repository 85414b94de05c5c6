"""
Connections that have not shown the token: so many, for so long, and never at the expense of those that have.

Anybody who can reach the port can open connections; without a limit they would take the places of the server's
owner. A connection that comes when there are too many takes the place of the oldest one: a person's shows
the token with its first bytes, and is served however many idle ones there are. https://uvicorn.dev/settings/
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

#: Connections without the token at a time, as many as one person's programs may open at once; and the seconds that each
#: has for all of its request.
MAX_UNKNOWN = 1024
KNOWN_WITHIN_S = 5.0
#: Connections with the token at a time.
MAX_KNOWN = 1200
#: Taken from the kernel in one go, far fewer than `MAX_UNKNOWN`: each is heard before it can be the oldest.
ACCEPTED_AT_ONCE = 16
#: Where a request's scope has its `Connection`, in `scope["state"]`.
STATE = "tallylight.connection"


@attrs.define(eq=False)
class Unknown:
    """The connections without the token, the oldest first: *most* at a time, each for so many *seconds*."""

    most: int = MAX_UNKNOWN
    seconds: float = KNOWN_WITHIN_S
    timers: dict[Connection, asyncio.TimerHandle] = attrs.field(init=False, factory=dict)

    def add(self, close: Callable[[], None]) -> Connection:
        """A new connection, which *close* ends at once. It may cost the oldest one its place."""
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
    #: Who is at its other end, once that was asked; see `asking`.
    caller: Caller | None = None

    def know(self) -> None:
        """It has shown the token: it may stay."""
        self.is_known = True
        self.leave()

    def leave(self) -> None:
        """It is over, or none of ours to end any more."""
        if (timer := self._unknown.timers.pop(self, None)) is not None:
            timer.cancel()

    def end(self) -> None:
        """Its time is over, or its place is needed."""
        self.leave()
        self._close()


class Server(uvicorn.Server):
    """Takes connections a few at a time, while many wait in the kernel."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio lets no more wait in the kernel than it takes at once, and would turn a crowd away.
            listener.listen(socket.SOMAXCONN)


class Http(H11Protocol):
    """HTTP on a connection that is one of the *unknown* at first; `WebSockets` takes it over if it becomes one."""

    def __init__(self, *, unknown: Unknown, **more: Any) -> None:
        super().__init__(**more)
        self._unknown = unknown

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
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
    """How `Server` serves *app*: no more than a person's browsers and programs need, with *most_files* open."""
    unknown = Unknown(min(MAX_UNKNOWN, most_files // 4))
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=cast(type[asyncio.Protocol], functools.partial(Http, unknown=unknown)),
        ws=WebSockets,
        # What anybody may send without the token is no news for a log.
        log_level="error",
        access_log=False,
        server_header=False,
        # Who asks is who is connected, whatever a header says.
        proxy_headers=False,
        backlog=ACCEPTED_AT_ONCE,
        # More are answered 503.
        limit_concurrency=min(MAX_UNKNOWN + MAX_KNOWN, most_files // 2),
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        ws_max_size=1024,
        ws_ping_interval=15.0,
        ws_ping_timeout=15.0,
        ws_per_message_deflate=False,
    )


def connection_of(scope: Scope) -> Connection | None:
    """The connection of a request; None where there is no server, as in tests."""
    found = scope.get("state", {}).get(STATE)
    return found if isinstance(found, Connection) else None
