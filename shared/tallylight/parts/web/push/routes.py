"""
The server's routes for Web Push: `GET push`, `POST subscribe`, `POST unsubscribe`; and the messages of each look.

The extra and the directory are needed only once a browser asks or is subscribed. Without them the routes report what is
missing, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tallylight.actions.gate import Refusal
from tallylight.config.settings import Push as Settings
from tallylight.files import extras
from tallylight.model.errors import TallyError
from tallylight.parts.web.guard import Guard
from tallylight.parts.web.middleware import DEVICE, RefusedError
from tallylight.parts.web.model import Versioned
from tallylight.parts.web.push import endpoints
from tallylight.parts.web.push.endpoints import ForbiddenError, Reply
from tallylight.parts.web.push.sender import GONE, Sender
from tallylight.parts.web.push.subscriptions import MAX_PART, MAX_SUBSCRIPTIONS, Store, Subscription
from tallylight.parts.web.push.telling import Message, Teller
from tallylight.snapshot.addresses import Row
from tallylight.tracker.notify import Settings as Notify

if TYPE_CHECKING:
    from tallylight.parts.web.push.sealing import Key  # needs the extra

_Part = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PART)]
_Url = Annotated[str, StringConstraints(min_length=1, max_length=endpoints.MAX_URL)]


class Offer(Versioned):
    """Whether this server sends messages to browsers, and to how many."""

    key: str = Field(description="`applicationServerKey`, in base64url; nothing where no messages are sent")
    why: str = Field(description="why none are sent, and the remedy")
    devices: int = Field(description="browsers that get messages")


class Unsubscribe(BaseModel):
    """A browser that wants no more messages."""

    model_config = ConfigDict(extra="forbid", strict=True)

    endpoint: _Url


class Subscribe(Unsubscribe):
    """A browser that wants messages, as its `PushSubscription` describes it."""

    p256dh: _Part
    auth: _Part


def _send(key: Key, settings: Settings, one: Subscription, message: Message, ttl_s: float) -> Reply:
    """Encrypt, sign and send; see `Sender`."""
    from tallylight.parts.web.push import sealing

    to = endpoints.parse(one.endpoint, settings.private_hosts)
    subject = settings.contact or (one.origin if one.origin.startswith("https://") else "")
    body = sealing.seal(message.text, sealing.reader(one.p256dh, one.auth))
    headers = {
        "Authorization": sealing.authorization(key, to.audience, subject, time.time()),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(max(1, int(ttl_s))),
        "Topic": message.topic,
        "Urgency": "high" if message.is_urgent else "normal",
    }
    return endpoints.post(to, headers, body)


class Push:
    """
    The messages of one server. *store* keeps its key and its browsers; *is_in* returns whether a device is signed in.

    `look` is called on the server's own thread and waits for nothing; the routes wait on other threads.
    """

    def __init__(
        self,
        guard: Guard,
        store: Store,
        notify: Notify | None = None,
        settings: Settings | None = None,
        is_in: Callable[[str], bool] = lambda _device: True,
    ) -> None:
        self._guard, self._store, self._is_in = guard, store, is_in
        self._notify, self._settings = notify or Notify(), settings or Settings()
        self._lock = threading.Lock()
        self._known: dict[str, Subscription] = {}
        self._sender: Sender | None = None
        self._public = ""
        self._teller: Teller | None = None

    # Messages --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Continue with stored subscriptions, if there are some. Call it on a thread."""
        if self._store.file.exists():
            self._why_not()  # a person who opens the page sees the error

    def close(self) -> None:
        """Leave the directory to other servers."""
        self._store.close()

    def look(self, panes: Collection[Row]) -> None:
        """Send the messages for these panes."""
        if self._sender is None or not self._known:
            self._teller = None
            return
        wall = time.time()
        if self._teller is None:
            self._teller = Teller(self._notify, with_question=self._settings.question, since=wall)
        local = time.localtime(wall)
        for message in self._teller.look(panes, time.monotonic(), wall, 60 * local.tm_hour + local.tm_min):
            self._sender.put(message)

    # Routes --------------------------------------------------------------------------------------------------

    def add_routes(self, app: FastAPI, read: dict[str, Any], write: dict[str, Any], person: dict[str, Any]) -> None:
        """Add the routes to *app*; *read*, *write* and *person* are their options, the last for a person only."""
        app.get("/api/v1/push", response_model=Offer, **read)(self.offer)
        app.post("/api/v1/subscribe", response_model=Offer, **person)(self.subscribe)
        app.post("/api/v1/unsubscribe", response_model=Offer, **write)(self.unsubscribe)

    async def offer(self) -> Offer:
        """Return whether messages can be sent to browsers, and the key to subscribe with."""
        why = await asyncio.to_thread(self._why_not)
        return Offer(key="" if why else self._public, why=why, devices=len(self._known))

    async def subscribe(self, given: Annotated[Subscribe, Body()], request: Request) -> Offer:
        """Send messages to this browser from now on; one that gets them already may say other keys."""
        self._guard.check_write(time.monotonic(), "too many changes")
        origin = request.headers.get("origin", "")[: 2 * MAX_PART]
        one = Subscription(**given.model_dump(), origin=origin, device=request.scope[DEVICE])
        await asyncio.to_thread(self._add, one)
        return await self.offer()

    async def unsubscribe(self, given: Annotated[Unsubscribe, Body()]) -> Offer:
        """Send nothing more to this browser; also right where it gets nothing."""
        self._guard.check_write(time.monotonic(), "too many changes")
        await asyncio.to_thread(self._drop, given.endpoint)
        return await self.offer()

    def _why_not(self) -> str:
        """Prepare for sending; return the reason if that fails."""
        try:
            with self._lock:
                self._load()
        except RefusedError as error:
            return error.why.text
        return ""

    def _load(self) -> Sender:
        """Prepare for sending; raise `RefusedError` with the reason if that fails. Call it with the lock."""
        if self._sender is not None:
            return self._sender
        try:
            from tallylight.parts.web.push import sealing
        except ImportError:
            text = f"{extras.missing('push')}, then start `tally serve` again"
            raise RefusedError(Refusal("missing", text)) from None
        try:
            self._store.open()
            key = sealing.load_key(self._store.key(sealing.new_key()))
            known = self._store.load()
        except sealing.BadKeyError as error:
            raise RefusedError(Refusal("missing", f"{self._store.path / 'key.pem'} {error}; remove it")) from None
        except (OSError, TallyError) as error:
            raise RefusedError(Refusal("missing", str(error))) from None
        sender = Sender(functools.partial(self._send, key), self._drop)
        sender.keep(known)
        self._known, self._public, self._sender = known, sealing.public(key), sender
        return sender

    def _send(self, key: Key, one: Subscription, message: Message, ttl_s: float) -> Reply:
        """Send to a browser. One that was signed out is forgotten, as if its service called it gone."""
        return _send(key, self._settings, one, message, ttl_s) if self._is_in(one.device) else Reply(GONE[0])

    def _add(self, one: Subscription) -> None:
        """
        Store the subscription, and start to send to it; raise an error for the reply if its address is not allowed.
        """
        with self._lock:
            sender = self._load()
            from tallylight.parts.web.push import sealing

            try:
                endpoints.parse(one.endpoint, self._settings.private_hosts)
                sealing.reader(one.p256dh, one.auth)
            except ForbiddenError as error:
                raise RefusedError(Refusal("endpoint", str(error))) from None
            except sealing.BadKeyError as error:
                raise RefusedError(Refusal("keys", str(error))) from None
            if one.endpoint not in self._known and len(self._known) >= MAX_SUBSCRIPTIONS:
                text = f"{len(self._known)} browsers get messages already, which is the limit: switch one off there"
                raise RefusedError(Refusal("full", text))
            self._keep(sender, {**self._known, one.endpoint: one})

    def _drop(self, endpoint: str) -> None:
        """Remove the subscription at *endpoint*."""
        with self._lock:
            if endpoint in self._known:
                self._keep(self._load(), {key: one for key, one in self._known.items() if key != endpoint})

    def _keep(self, sender: Sender, known: dict[str, Subscription]) -> None:
        """Store *known* in place of the subscriptions before."""
        if known == self._known:
            return
        try:
            self._store.save(known)
        except OSError as error:
            text = f"{self._store.file} cannot be written: {error.strerror or error}"
            raise RefusedError(Refusal("disk", text)) from None
        self._known = known
        sender.keep(known)
