"""
Signing in: `POST device` gives a browser a key of its own, `DELETE device` ends it, `/proof` identifies the server.

A browser shows its key only to a server that has proved to know it, under the same name. While this server is down,
another program may listen at its port.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Body, FastAPI, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from tallylight.actions.gate import Refusal
from tallylight.model.errors import TallyError
from tallylight.parts.web.devices import DEVICE_NAME_CELLS, Devices
from tallylight.parts.web.guard import Guard
from tallylight.parts.web.middleware import DEVICE, RefusedError
from tallylight.parts.web.model import Versioned

_T = TypeVar("_T")
_SIGNED_IN = Refusal("device", "this device is signed in already; only the token signs in another one")


class SignIn(BaseModel):
    """A browser that wants a key of its own."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=4 * DEVICE_NAME_CELLS, description="the name that the person gave it")


class Key(Versioned):
    """The key of a device, to be shown in place of the token; the server keeps only a hash of it."""

    key: str


class Signing:
    """The routes of *devices*."""

    def __init__(self, guard: Guard, devices: Devices) -> None:
        self._guard, self._devices = guard, devices

    def add_routes(self, app: FastAPI, write: dict[str, Any], person: dict[str, Any]) -> None:
        """Add the routes to *app*; *write* and *person* are their options, the last for a person only."""
        app.post("/api/v1/device", response_model=Key, **person)(self.sign_in)
        app.delete("/api/v1/device", response_model=Versioned, **write)(self.sign_out)
        app.get("/proof", include_in_schema=False)(self.proof)

    async def sign_in(self, given: Annotated[SignIn, Body()], request: Request) -> Key:
        """Keep the browser that asks signed in, also when the server starts again. Asked for with the token."""
        self._guard.check_write(time.monotonic(), "too many changes")
        if request.scope[DEVICE]:
            raise RefusedError(_SIGNED_IN)
        return Key(key=await _written(self._devices.add, given.name))

    async def sign_out(self, request: Request) -> Versioned:
        """End the key of the device that asks, at once."""
        self._guard.check_write(time.monotonic(), "too many changes")
        await _written(self._devices.end, request.scope[DEVICE])
        return Versioned()

    async def proof(
        self,
        request: Request,
        device: Annotated[str, Query(max_length=16)],
        nonce: Annotated[str, Query(pattern="^[0-9a-f]{32}$")],
    ) -> dict[str, str]:
        """Prove that this server knows a device's key, for one *nonce* and this host name."""
        found = self._devices.proof(device, f"{nonce} {request.headers.get('host', '').lower()}")
        if not found:
            raise HTTPException(404, "there is no such device")
        return {"proof": found}


async def _written(change: Callable[[str], _T], given: str) -> _T:
    try:
        return await asyncio.to_thread(change, given)
    except (OSError, TallyError) as error:
        raise RefusedError(Refusal("disk", f"the devices cannot be kept: {error}")) from None
