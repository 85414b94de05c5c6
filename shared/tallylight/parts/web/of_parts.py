"""
Routes of other parts: `GET /api/parts/NAME/ROUTE`, guarded like all others.

A route is a function of a part, which knows nothing of the server. A fault in it costs that answer only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from tallylight.parts import index

_LOG = logging.getLogger("uvicorn.error")


def add_routes(app: FastAPI, guarded: dict[str, Any]) -> None:
    for path, name in index.routes():
        app.get(f"/api/parts/{path}", include_in_schema=False, **guarded)(_route(path, name))


def _route(path: str, name: str) -> Callable[[Request], Awaitable[JSONResponse]]:
    """Return the handler of the route *path*, which calls the function *name* of its part on a thread."""

    async def answer(request: Request) -> JSONResponse:
        try:
            found = await asyncio.to_thread(lambda: index.load(name)(dict(request.query_params)))
            return JSONResponse(jsonable_encoder(found))
        except Exception as error:  # a part must not cost the server
            _LOG.error("the part of %s failed: %s: %s", path, type(error).__name__, error)
            raise HTTPException(500, "the part failed; the log of the server says why") from None

    return answer
