"""What the server is given to read: a fault costs one look, a header that makes no sense one request."""

from __future__ import annotations

import asyncio
import logging

import pytest
from fastapi import FastAPI
from starlette.types import Message

from tallylight.parts.web import app
from tallylight.snapshot.schema import Snapshot
from tests.parts.web.serving import AUTH, PANES, PORT, Served


def test_a_fault_in_one_look_costs_that_look() -> None:
    """What cannot be read is told once in the log, and what comes after it is shown."""
    served = Served()
    served.shows("sessions", PANES[0])
    state, told = list(served.snapshots or ()), list[str]()
    answers: list[object] = [OSError("gone"), OSError("gone"), None, state]

    def read_all() -> list[Snapshot] | None:
        answer = answers.pop(0) if answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    app._LOG.addHandler(handler)
    server = app.Service(served.guard, read_all, served.client)

    async def follow() -> None:
        async with server.lifespan(FastAPI()):
            while answers or not server._found:
                await asyncio.sleep(0.01)

    try:
        asyncio.run(asyncio.wait_for(follow(), 60))
    finally:
        app._LOG.removeHandler(handler)
    assert told == ["the state of the hosts could not be read: OSError: gone"]


@pytest.mark.slow
def test_a_length_of_any_digits_is_a_refusal() -> None:
    """A length that no number can hold is a body too large, and no fault of the server."""
    answered: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def ask() -> None:
        for length in (b"9" * 5000, b"-1", b"\xb2", b"1e3", b""):
            headers = [
                (b"host", f"127.0.0.1:{PORT}".encode()),
                (b"content-length", length),
                (b"authorization", AUTH["Authorization"].encode()),
            ]
            scope = {"type": "http", "method": "POST", "path": "/api/v1/text", "headers": headers, "query_string": b""}
            await Served().app()(scope, receive, send)

    asyncio.run(ask())
    assert answered == [413] * 5
