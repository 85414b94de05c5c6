"""The access middleware: passes on to the application only the requests that may reach it."""

from __future__ import annotations

import re
import time
from typing import Any

import attrs
from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tallylight.actions.gate import Refusal
from tallylight.parts.web import model
from tallylight.parts.web.connections import Connection, connection_of
from tallylight.parts.web.guard import Guard, offered
from tallylight.wire.text import sanitise

#: The largest body of a request, in bytes.
MAX_BODY = 64 * 1024
_TOO_LARGE = f"the body is larger than {MAX_BODY} bytes, the limit"
#: The prefix of paths that need the token: all but the page and the document.
GUARDED = "/api/"
#: The key of a request's device in its scope; empty if it showed the token.
DEVICE = "tallylight.device"
#: Limits of the answer to a malformed request: problems, and cells of text.
_MAX_QUOTED_PROBLEMS, _MAX_PROBLEM_CELLS = 5, 500
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
#: The document's descriptions of errors.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": model.Problem, "description": why}
    for code, why in (
        (400, "the request cannot be read"),
        (401, "the token is missing or wrong"),
        (403, "the request comes from another origin"),
        (413, "the body is too large"),
        (421, "the host name is not accepted"),
        (422, "the request has a wrong or missing field"),
        (429, "too many requests or too much text"),
        (503, "too many listeners or requests"),
    )
}
NO_SESSION: dict[int | str, dict[str, Any]] = {
    404: {"model": model.Problem, "description": "there is no such session"},
    409: {"model": model.Problem, "description": "a rule refused it, and nothing was done"},
}


@attrs.define(eq=False)
class AccessMiddleware:
    """
    Refuses requests before anything of them is read.

    It refuses other hosts and origins, bodies that are too large, and requests for more than the page without the
    token.
    """

    _app: ASGIApp
    _guard: Guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = connection_of(scope)
        try:
            self._check(scope, connection)
        except HTTPException as refused:
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": refused.detail})
                return
            # The rest of a body that is too large is not read: the connection ends with the answer.
            response = JSONResponse({"detail": refused.detail}, refused.status_code, headers={"Connection": "close"})
            await response(scope, receive, send)
            return
        taken = 0

        async def bounded() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > MAX_BODY:
                    raise HTTPException(413, _TOO_LARGE)
            return message

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A connection without the token is not kept open.
                more = {"Connection": "close"} if connection is not None and not connection.is_known else {}
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in (_HEADERS | more).items()),
                ]
            await send(message)

        await self._app(scope, bounded, dressed)

    def _check(self, scope: Scope, connection: Connection | None) -> None:
        """Raise an error for a request that may not pass. Its *connection* is known once it shows the token."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self._guard.check_origin(headers.get("host"), headers.get("origin"))
        if scope["path"].startswith(GUARDED):
            if scope["type"] == "websocket":
                token = offered(name.strip() for name in headers.get("sec-websocket-protocol", "").split(","))
            else:
                scheme, _, given = headers.get("authorization", "").partition(" ")
                token = given if scheme.lower() == "bearer" else None
            scope[DEVICE] = self._guard.check_token(token, time.monotonic())
            if connection is not None:
                connection.know()
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_BODY:
            raise HTTPException(413, _TOO_LARGE)


class RefusedError(Exception):
    """A rule refuses the request."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.text)
        self.why = why


async def refused(_request: Request, error: Exception) -> JSONResponse:
    """Return the answer to a request that a rule refuses."""
    assert isinstance(error, RefusedError)
    detail = sanitise(error.why.text, cells=_MAX_PROBLEM_CELLS)
    return JSONResponse({"detail": detail, "rule": error.why.rule}, 409)


async def unfit(_request: Request, error: Exception) -> JSONResponse:
    """Return the answer to a malformed request. Nothing of the request is repeated."""
    assert isinstance(error, RequestValidationError)
    found = [
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:_MAX_QUOTED_PROBLEMS]
    ]
    return JSONResponse({"detail": sanitise("; ".join(found), cells=_MAX_PROBLEM_CELLS)}, 422)
