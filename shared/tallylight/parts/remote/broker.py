"""
A link to the MQTT broker of a fleet, on Eclipse Paho.

It needs no thread or loop of its own: `step` sends and receives, and waits for at most the given time. A broken link is
made again, after 1 s at first and 30 s at last; `state` describes it in words.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import socket
import ssl
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import attrs
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from tallylight.config.fleet import Fleet
from tallylight.files import read_write
from tallylight.files.read_write import explained
from tallylight.model.errors import TallyError
from tallylight.parts.remote.topics import MAX_PAYLOAD_BYTES

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
#: How often, in seconds, mosquitto looks for clients that have fallen silent.
KEEPALIVE_CHECK_S = 5.0
#: Seconds that a link may read without a pause.
DRAIN_S = 0.1
#: The longest attempt to reach the broker, in seconds.
CONNECT_S = 5.0
MAX_PASSWORD_BYTES = 4096


def machine_name(fleet: Fleet) -> str:
    return fleet.machine or socket.gethostname() or "unnamed"


@attrs.define
class Link:
    """
    One link. *subscribe* is a topic filter; *take* gets topic, payload and whether the broker had it in store.

    *will* is the broker's message for us after we have vanished. *jitter*, from 0 to 1, spreads the reconnections of a
    fleet.
    """

    fleet: Fleet
    subscribe: str
    take: Callable[[str, bytes, bool], None]
    will: tuple[str, bytes] | None = None
    #: Called with the topic of each message that the broker has accepted.
    acknowledged: Callable[[str], None] = lambda _topic: None
    #: Called when the link is up (True) and when it is lost (False).
    changed: Callable[[bool], None] = lambda _up: None
    qos: int = 1
    jitter: Callable[[], float] = random.random
    is_up: bool = attrs.field(init=False, default=False)
    #: In words: `connected`, or why it is not.
    state: str = attrs.field(init=False, default="not connected yet")
    _client: mqtt.Client | None = attrs.field(init=False, default=None)
    _topics: dict[int, str] = attrs.field(init=False, factory=dict)
    #: The filters that the broker refuses to us.
    denied: set[str] = attrs.field(init=False, factory=set)
    _filters: dict[int, str] = attrs.field(init=False, factory=dict)
    _taken: int = attrs.field(init=False, default=0)
    _refused: str = attrs.field(init=False, default="")
    _retry_at: float = attrs.field(init=False, default=0.0)
    _retry_s: float = attrs.field(init=False, default=FIRST_RETRY_S)

    @property
    def has_failed(self) -> bool:
        """Return whether the last attempt failed and the next one is still to come."""
        return self._client is None and self._retry_at > 0

    @property
    def standing(self) -> str:
        """The broker and the state of the connection, in words."""
        return f"{self.fleet.broker}:{self.fleet.port}: {self.state}"

    def step(self, now: float, timeout: float) -> None:
        """Send and receive; return after *timeout* seconds at most, except for an attempt to connect."""
        if self._client is None:
            if now < self._retry_at:
                return
            self._connect(now)
        client = self._client
        if client is None:
            return
        code = client.loop(timeout)
        # Paho takes one message at a time.
        end, before = time.monotonic() + DRAIN_S, -1
        while code == mqtt.MQTT_ERR_SUCCESS and before != self._taken and time.monotonic() < end:
            before = self._taken
            code = client.loop(0.0)
        if code != mqtt.MQTT_ERR_SUCCESS:
            self._lost(now, "the connection was lost" if self.is_up or self._refused else self._why_at_once())

    def _why_at_once(self) -> str:
        """
        Return why the broker ended a connection before its first message.

        Since TLS 1.3, a client learns only after the handshake that its certificate was refused. Data that it has sent
        by then may hide the reason: so this connects once more, and sends nothing.
        """
        fleet = self.fleet
        if fleet.tls:
            try:
                with (
                    socket.create_connection((fleet.broker, fleet.port), CONNECT_S) as plain,
                    _context(fleet).wrap_socket(plain, server_hostname=fleet.broker) as connection,
                ):
                    connection.settimeout(CONNECT_S)
                    connection.recv(1)
            except OSError as error:
                return _fault(error)
        return "the broker ended the connection at once"

    def hurry(self) -> None:
        """Acknowledge the next packet at once: a broker may delay its next small packet by 40 ms until then."""
        connection = self._client.socket() if self._client is not None else None
        if isinstance(connection, socket.socket) and hasattr(socket, "TCP_QUICKACK"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def listen(self, filter_: str) -> None:
        """Subscribe to *filter_*, too."""
        if self._client is not None:
            _, mid = self._client.subscribe(filter_, qos=self.qos)
            if mid is not None:
                self._filters[mid] = filter_

    def send(self, topic: str, payload: bytes, *, is_kept: bool = True) -> None:
        """Send a message, which the broker stores if *is_kept*; later `acknowledged` is called, or the link is lost."""
        if self._client is not None:
            info = self._client.publish(topic, payload, qos=1, retain=is_kept)
            if is_kept:
                self._topics[info.mid] = topic

    def close(self, goodbye: tuple[str, bytes] | None = None) -> None:
        """Store *goodbye* at the broker, if the link is up, and disconnect. The last will is not sent then."""
        client, self._client = self._client, None
        if client is None:
            return
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if goodbye is not None and self.is_up:
                info = client.publish(*goodbye, qos=1, retain=True)
                for _ in range(20):
                    if info.is_published() or client.loop(0.1) != mqtt.MQTT_ERR_SUCCESS:
                        break
            client.disconnect()
            client.loop(0.1)
        self.is_up = False

    def _connect(self, now: float) -> None:
        """Connect to the broker; the will and the first subscription go with it."""
        fleet = self.fleet
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"tally-{uuid.uuid4().hex[:16]}", reconnect_on_failure=False
        )
        client.connect_timeout = CONNECT_S
        if fleet.username:
            client.username_pw_set(fleet.username, _password(fleet))
        if fleet.tls:
            client.tls_set_context(_context(fleet))
        if self.will is not None:
            client.will_set(*self.will, qos=1, retain=True)
        client.on_connect = self._on_connect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        client.on_subscribe = self._on_subscribe
        try:
            # A broker drops a client after one and a half times the promised interval, as soon as it looks.
            promise = math.floor((fleet.keepalive_s - KEEPALIVE_CHECK_S) / 1.5)
            client.connect(fleet.broker, fleet.port, keepalive=promise)
        except (OSError, ValueError, ssl.SSLError) as error:
            self._lost(now, _fault(error))
            return
        if isinstance(connection := client.socket(), socket.socket):
            # A subscription and its successor are two small packets; the second must not wait for the first.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = client

    def _lost(self, now: float, why: str) -> None:
        """Note that the link is lost, and schedule the next attempt."""
        was_up, self.is_up, self._client = self.is_up, False, None
        self.state, self._refused = self._refused or why, ""
        self._topics.clear()
        self._filters.clear()
        if was_up:
            self._retry_s = FIRST_RETRY_S
        self._retry_at = now + self._retry_s * (1 - self.jitter() / 4)
        self._retry_s = min(LAST_RETRY_S, self._retry_s * 2)
        if was_up:
            self.changed(False)

    def _on_connect(self, _client: mqtt.Client, _data: object, _flags: object, code: object, _more: object) -> None:
        if getattr(code, "is_failure", True):
            self._refused = f"the broker refused the connection: {code}"
            return
        self.is_up, self.state, self._retry_s = True, "connected", FIRST_RETRY_S
        self.denied.clear()
        self.listen(self.subscribe)
        self.changed(True)

    def _on_message(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        self._taken += 1
        if len(message.payload) <= MAX_PAYLOAD_BYTES:
            with contextlib.suppress(UnicodeDecodeError):
                self.take(message.topic, bytes(message.payload), message.retain)

    def _on_publish(self, _client: mqtt.Client, _data: object, mid: int, _code: object, _more: object) -> None:
        topic = self._topics.pop(mid, None)
        if topic is not None:
            self.acknowledged(topic)

    def _on_subscribe(
        self, _client: mqtt.Client, _data: object, mid: int, codes: list[ReasonCode], _more: object
    ) -> None:
        filter_ = self._filters.pop(mid, None)
        if filter_ is not None and any(code.is_failure for code in codes):
            self.denied.add(filter_)


_CERTIFICATE = "this machine's certificate (`cert_file` in [fleet])"


def _context(fleet: Fleet) -> ssl.SSLContext:
    """Return the TLS context of *fleet*; raise `TallyError` if one of its files cannot be used."""
    for key in ("ca_file", "cert_file", "key_file"):
        if (path := _path(getattr(fleet, key))) and not os.access(path, os.R_OK):
            raise TallyError(f"{key} of [fleet]: {path} cannot be read")
    try:
        # Not Python's default context: since 3.13 it refuses the certificates of many small authorities.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if authority := _path(fleet.ca_file):
            context.load_verify_locations(authority)
        else:
            context.load_default_certs()
        if certificate := _path(fleet.cert_file):
            context.load_cert_chain(certificate, _path(fleet.key_file))
    except (OSError, ValueError) as error:
        raise TallyError(f"the certificates of [fleet] cannot be used: {error}") from None
    return context


def _fault(error: Exception) -> str:
    """Return why the connection failed, for a person."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the broker's certificate is not good: {error.verify_message} (`ca_file` in [fleet] names its authority)"
        )
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or "no answer"
    reason = text.partition(" alert ")[2].partition(" (")[0]
    return f"the broker refused {_CERTIFICATE}: {reason}" if reason else text


def _path(name: str) -> str | None:
    return str(Path(name).expanduser()) if name else None


def _password(fleet: Fleet) -> str | None:
    """
    Return the password in its file, None if there is no such file in the settings; raise `TallyError` for an unsafe
    one.
    """
    if not fleet.password_file:
        return None
    path = Path(fleet.password_file).expanduser()
    with explained(f"password_file of [fleet]: {path}"):
        if path.stat().st_mode & 0o077:
            raise TallyError(f"{path}: can be read by other users; run `chmod 600` on it")
        return os.fsdecode(read_write.read_limited(path, MAX_PASSWORD_BYTES)).rstrip("\r\n")
