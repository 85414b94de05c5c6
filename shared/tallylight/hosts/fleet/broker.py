"""
A link to the MQTT broker of a fleet, on Eclipse Paho.

One thread, no loop of its own: `step` does what there is to do and waits for at most as long as it is told. A link that
breaks is made again, after 1 s at first and 30 s at last; `state` says in words how it stands.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import ssl
import uuid
from collections.abc import Callable
from pathlib import Path

import attrs
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from tallylight.config.fleet import Fleet
from tallylight.files import read_write
from tallylight.hosts.fleet.messages import MAX_BYTES, Message
from tallylight.hosts.fleet.mirror import Mirror
from tallylight.model.errors import TallyError

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
#: How often, in seconds, mosquitto looks for clients that have fallen silent.
LOOK_S = 5.0
#: A level no machine has: the mark by which a subscriber knows that it has been told everything.
SYNC = ".sync"
#: Seconds without a message after which it takes everything for told.
QUIET_S = 1.0
#: How long, in seconds, one attempt to reach the broker may take.
CONNECT_S = 5.0
MAX_PASSWORD_BYTES = 4096


class BrokerError(TallyError):
    """A setting of the fleet with which no link can be made."""


def machine_name(fleet: Fleet) -> str:
    """The name of this machine in its fleet."""
    return fleet.machine or socket.gethostname() or "unnamed"


@attrs.define
class Link:
    """
    One link. *subscribe* is a topic filter; *take* gets topic, payload and whether the broker had it in store.

    *will* is what the broker says for us when we have vanished.
    """

    fleet: Fleet
    subscribe: str
    take: Callable[[str, bytes, bool], None]
    will: Message | None = None
    #: Called with the topic that the broker has taken.
    acknowledged: Callable[[str], None] = lambda _topic: None
    #: Called when the link is up (True) and when it is lost (False).
    changed: Callable[[bool], None] = lambda _up: None
    is_up: bool = attrs.field(init=False, default=False)
    #: In words: `connected`, or why it is not.
    state: str = attrs.field(init=False, default="not connected yet")
    _client: mqtt.Client | None = attrs.field(init=False, default=None)
    _topics: dict[int, str] = attrs.field(init=False, factory=dict)
    _refused: str = attrs.field(init=False, default="")
    _retry_at: float = attrs.field(init=False, default=0.0)
    _retry_s: float = attrs.field(init=False, default=FIRST_RETRY_S)

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt has failed and the next is still to come."""
        return self._client is None and self._retry_at > 0

    def step(self, now: float, timeout: float) -> None:
        """Take and send what there is; return after *timeout* seconds at most, except for an attempt to connect."""
        if self._client is None:
            if now < self._retry_at:
                return
            self._connect(now)
        if self._client is not None and self._client.loop(timeout) != mqtt.MQTT_ERR_SUCCESS:
            self._lost(now, "the connection was lost")

    def send(self, message: Message) -> None:
        """Send a retained message; `acknowledged` follows, or the link is lost."""
        if self._client is not None:
            info = self._client.publish(message.topic, message.payload, qos=1, retain=True)
            self._topics[info.mid] = message.topic

    def nudge(self, topic: str, payload: bytes) -> None:
        """Send a message that nobody is to keep."""
        if self._client is not None:
            self._client.publish(topic, payload, qos=1)

    def close(self, goodbye: Message | None = None) -> None:
        """Say *goodbye*, if the link is up, and leave. The last will is not said then."""
        client, self._client = self._client, None
        if client is None:
            return
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if goodbye is not None and self.is_up:
                info = client.publish(goodbye.topic, goodbye.payload, qos=1, retain=True)
                for _ in range(20):
                    if info.is_published() or client.loop(0.1) != mqtt.MQTT_ERR_SUCCESS:
                        break
            client.disconnect()
            client.loop(0.1)
        self.is_up = False

    def _connect(self, now: float) -> None:
        client = self._make()
        fleet = self.fleet
        try:
            # A broker takes a client for dead after one and a half times what the client promises, as soon as it looks.
            promise = math.floor((fleet.keepalive_s - LOOK_S) / 1.5)
            client.connect(fleet.broker, fleet.port, keepalive=promise)
        except (OSError, ValueError, ssl.SSLError) as error:
            self._lost(now, (error.strerror if isinstance(error, OSError) else None) or str(error) or "no answer")
            return
        self._client = client

    def _make(self) -> mqtt.Client:
        fleet = self.fleet
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"tally-{uuid.uuid4().hex[:16]}", reconnect_on_failure=False
        )
        client.connect_timeout = CONNECT_S
        if fleet.username:
            client.username_pw_set(fleet.username, _password(fleet))
        if fleet.tls:
            try:
                client.tls_set(
                    ca_certs=_path(fleet.ca_file), certfile=_path(fleet.cert_file), keyfile=_path(fleet.key_file)
                )
            except (OSError, ValueError, ssl.SSLError) as error:
                raise BrokerError(f"the certificates of [fleet] cannot be used: {error}") from None
        if self.will is not None:
            client.will_set(self.will.topic, self.will.payload, qos=1, retain=True)
        client.on_connect = self._on_connect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        return client

    def _lost(self, now: float, why: str) -> None:
        was_up, self.is_up, self._client = self.is_up, False, None
        self.state, self._refused = self._refused or why, ""
        self._topics.clear()
        if was_up:
            self._retry_s = FIRST_RETRY_S
        self._retry_at = now + self._retry_s
        self._retry_s = min(LAST_RETRY_S, self._retry_s * 2)
        if was_up:
            self.changed(False)

    def _on_connect(self, client: mqtt.Client, _data: object, _flags: object, code: object, _more: object) -> None:
        if getattr(code, "is_failure", True):
            self._refused = f"the broker refused the connection: {code}"
            return
        self.is_up, self.state, self._retry_s = True, "connected", FIRST_RETRY_S
        client.subscribe(self.subscribe, qos=1)
        self.changed(True)

    def _on_message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        if len(message.payload) <= MAX_BYTES:
            with contextlib.suppress(UnicodeDecodeError):
                self.take(message.topic, bytes(message.payload), message.retain)

    def _on_publish(self, _client: mqtt.Client, _data: object, mid: int, _code: object, _more: object) -> None:
        topic = self._topics.pop(mid, None)
        if topic is not None:
            self.acknowledged(topic)


class Subscriber:
    """What all machines of *fleet* show, as the broker tells it."""

    def __init__(self, fleet: Fleet) -> None:
        self.mirror = Mirror(fleet.prefix)
        self.link = Link(fleet, subscribe=f"{fleet.prefix}/#", take=self._take, changed=self._changed)
        #: Whether all that the broker had in store has arrived.
        self.is_complete = False
        self._mark = f"{fleet.prefix}/{SYNC}/{uuid.uuid4().hex}"
        self._is_changed = False
        self._heard_at: float | None = None

    def step(self, now: float, timeout: float) -> bool:
        """Take what there is, for at most *timeout* seconds; tell whether what is shown may have changed."""
        self._is_changed = False
        self.link.step(now, timeout)
        if self._is_changed or self._heard_at is None:
            self._heard_at = now
        # A reader that may not write never sees its mark.
        if self.link.is_up and not self.is_complete and now - self._heard_at > QUIET_S:
            self.is_complete = self._is_changed = True
        return self._is_changed

    def _take(self, topic: str, payload: bytes, _is_stored: bool) -> None:
        if topic == self._mark:
            self.is_complete = self._is_changed = True
        elif self.mirror.take(topic, payload):
            self._is_changed = True

    def _changed(self, is_up: bool) -> None:
        self._is_changed = True
        self.is_complete = False
        if is_up:
            # A broker that forgot what it had must not leave us with what it said before.
            self.mirror.clear()
            self._heard_at = None
            # The broker answers in order: after the subscription with all it has in store, then with this.
            self.link.nudge(self._mark, b"")


def _path(name: str) -> str | None:
    return str(Path(name).expanduser()) if name else None


def _password(fleet: Fleet) -> str | None:
    if not fleet.password_file:
        return None
    path = Path(fleet.password_file).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise BrokerError(f"{path}: can be read by other users; run `chmod 600` on it")
        return os.fsdecode(read_write.read_limited(path, MAX_PASSWORD_BYTES)).rstrip("\r\n")
    except OSError as error:
        raise BrokerError(f"password_file of [fleet]: {path}: {error.strerror}") from None
