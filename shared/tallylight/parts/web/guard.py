"""
The guard: which requests the server serves, and how many. Pure; the time is an argument.

A page of another origin must not reach the server through a person's browser, even by DNS rebinding. So the `Host` must
be one of ours. The `Origin`, if there is one, must be that of a page from this server under that very name: the same
scheme, host and port. Another port of this machine may belong to any server.

Reading and typing both need the token, or the key of a device that was signed in with it: other users of this machine
must not see agents' screens. A cookie would not do: a browser sends it to every port of a host, and an agent's own
server may listen at the next one.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping

import attrs
from fastapi import HTTPException

from tallylight.model.bucket import Bucket

#: The prefix of the token in the list of WebSocket subprotocols: a browser can send no other header there.
SUBPROTOCOL_PREFIX = "tally.token."
SUBPROTOCOL = "tally.v1"
#: The schemes for a port: a browser leaves out a scheme's own port. At any other port of a name that the person has
#: allowed is one server, with one of the two schemes.
_SCHEMES = {80: ("http",), 443: ("https",)}
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@attrs.define
class Guard:
    """
    The rules of one server: its *token*, and its allowed *hosts*, each with the origins of its pages.

    A refused request raises `HTTPException`. *holder* returns the signed-in device with a key; empty without one.
    *failures* limits guesses, *writes* limits typing into sessions.
    """

    token: str
    hosts: Mapping[str, frozenset[str]]
    holder: Callable[[str], str] = lambda _given: ""
    failures: Bucket = attrs.field(factory=lambda: Bucket(rate=1.0, burst=20))
    writes: Bucket = attrs.field(factory=lambda: Bucket(rate=5.0, burst=20))

    def check_origin(self, host: str | None, origin: str | None) -> None:
        """Refuse a request for another host, or one that a page of another origin sent."""
        origins = self.hosts.get((host or "").lower())
        if origins is None:
            raise HTTPException(421, "this server does not accept that host name; use --allow-host to add it")
        if origin is not None and origin.lower() not in origins:
            raise HTTPException(403, "requests from other origins are not served")

    def check_token(self, given: str | None, now: float) -> str:
        """
        Return the device with the key *given*; empty for the token. Refuse a request with neither.

        Both are compared in constant time, and guesses are limited.
        """
        if given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return ""
        if given is not None and (device := self.holder(given)):
            return device
        if not self.failures.take(now):
            raise HTTPException(429, "too many requests with a wrong token")
        raise HTTPException(401, "the token is missing or wrong; `tally serve` prints it")

    def check_write(self, now: float, too_much: str = "too much text") -> None:
        """Refuse to type, or to change, more than a person would."""
        if not self.writes.take(now):
            raise HTTPException(429, f"{too_much} at once; wait and try again")


def allowed_hosts(port: int, more: Iterable[str] = ()) -> dict[str, frozenset[str]]:
    """
    Return the allowed names of a server on *port*, with the origins of a page under each.

    They are this machine's and *more* (`name` or `name:port`). A name without a port is reached at ours, and by https.
    """
    found: dict[str, set[str]] = {}
    for name in _LOCAL:
        _add(found, name, port, _SCHEMES.get(port, ("http",)))
    for given in more:
        host, _, own = given.lower().rpartition(":")
        has_own = bool(host) and own.isdecimal()
        name = host if has_own else given.lower()
        for number in (int(own),) if has_own else (port, 443):
            _add(found, name, number, _SCHEMES.get(number, ("http", "https")))
    return {host: frozenset(origins) for host, origins in found.items()}


def _add(found: dict[str, set[str]], name: str, port: int, schemes: Iterable[str]) -> None:
    for scheme in schemes:
        spelled = name if _SCHEMES.get(port) == (scheme,) else f"{name}:{port}"
        for host in (spelled, f"{name}:{port}"):
            found.setdefault(host, set()).add(f"{scheme}://{spelled}")


def offered(protocols: Iterable[str]) -> str | None:
    """Return the token among the subprotocols that a WebSocket offers; None without one."""
    found = (name.removeprefix(SUBPROTOCOL_PREFIX) for name in protocols if name.startswith(SUBPROTOCOL_PREFIX))
    return next(found, None)
