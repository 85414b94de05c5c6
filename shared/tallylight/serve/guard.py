"""
The guard: who may ask the server, and how often. Pure; the time is an argument.

A page of another origin must not reach the server through a person's browser, not even by a name that it points to
this machine (DNS rebinding): so the `Host` must be one of ours, and the `Origin`, where there is one, must be too.
Reading and typing both need the token: what agents show is no business of other users of this machine.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable

import attrs

#: What precedes the token in the list of WebSocket subprotocols: a browser can send no other header there.
SUBPROTOCOL_PREFIX = "tally.token."
SUBPROTOCOL = "tally.v1"
#: Of http and https.
_OWN_PORTS = ("80", "443")
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@attrs.frozen
class Refused:
    """Why a request is not served: the HTTP status and a sentence."""

    status: int
    why: str


@attrs.define
class Bucket:
    """A rate limit: *burst* at once, then *rate* a second."""

    rate: float
    burst: int
    _left: float = attrs.field(init=False, default=0.0)
    _at: float | None = attrs.field(init=False, default=None)

    def take(self, now: float) -> bool:
        """Whether one more is allowed at monotonic *now*."""
        if self._at is None:
            self._left = float(self.burst)
        else:
            self._left = min(float(self.burst), self._left + max(0.0, now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@attrs.define
class Guard:
    """
    The rules of one server: its *token*, and the *hosts* (`name` or `name:port`) by which it may be called.

    *failures* limits guesses of the token, *writes* what is typed into sessions.
    """

    token: str
    hosts: frozenset[str]
    failures: Bucket = attrs.field(factory=lambda: Bucket(rate=1.0, burst=20))
    writes: Bucket = attrs.field(factory=lambda: Bucket(rate=5.0, burst=20))

    def check_origin(self, host: str | None, origin: str | None) -> Refused | None:
        """Refuse a request for another host, or one that a page of another origin sent."""
        if host is None or host.lower() not in self.hosts:
            return Refused(421, "this server does not accept that host name; use --allow-host to add it")
        if origin is not None:
            scheme, _, rest = origin.lower().partition("://")
            if scheme not in ("http", "https") or rest not in self.hosts:
                return Refused(403, "requests from other origins are not served")
        return None

    def check_token(self, given: str | None, now: float) -> Refused | None:
        """Refuse a request without the token. Compared in constant time; guesses are limited."""
        if given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return None
        if not self.failures.take(now):
            return Refused(429, "too many requests with a wrong token")
        return Refused(401, "the token is missing or wrong; `tally serve` prints it")

    def check_write(self, now: float) -> Refused | None:
        """Refuse to type more than a person would."""
        return None if self.writes.take(now) else Refused(429, "too much text at once; wait and try again")


def allowed_hosts(port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """The names by which a server on *port* may be called: those of this machine, and *more*."""
    names = [*_LOCAL, *(name.lower() for name in more)]
    return frozenset(name for given in names for name in _spelled(given, port))


def offered(protocols: Iterable[str]) -> str | None:
    """The token among the subprotocols that a WebSocket offers."""
    found = [name[len(SUBPROTOCOL_PREFIX) :] for name in protocols if name.startswith(SUBPROTOCOL_PREFIX)]
    return found[0] if found else None


def _spelled(name: str, port: int) -> tuple[str, ...]:
    """How a request may spell *name*: a browser leaves out a port that is the scheme's own."""
    if not _has_port(name):
        return name, f"{name}:{port}"
    host, _, own = name.rpartition(":")
    return (name, host) if own in _OWN_PORTS else (name,)


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")
