"""
Push services: checks the addresses for messages, and sends one.

A browser names the address of its push service, and any program with the token may name another one. So only https to
public addresses is allowed. A name is looked up once, and the connection goes to the addresses that were checked.
Redirections are not followed. A person may name services of their own network.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

import attrs

#: The longest address, in characters. Real push services use less than 800.
MAX_URL = 1024
#: The largest message in bytes, before padding and encryption; push services take 4096 afterwards.
MAX_PLAIN = 3500
#: Seconds for one step of a sending, and for all of it.
SEND_STEP_S, SEND_IN_ALL_S = 10.0, 25.0
HTTPS = 443
#: The characters of an address: all printable ones except `#` and a backslash.
_URL = re.compile(rf"[!\"$-\[\]-~]{{1,{MAX_URL}}}")
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z][a-z0-9-]{0,62}")
#: Names that lead nowhere in the public internet.
_INNER = ("localhost", "local", "internal", "lan", "home", "test", "invalid", "example")
#: Global unicast addresses of version 6. Some others embed an address of version 4 by a known prefix, such as mapped
#: ones, NAT64 and Teredo. They are outside of this range, or among `_SPECIAL`.
_GLOBAL = ipaddress.ip_network("2000::/3")
#: No hosts of the public internet, by https://www.iana.org/assignments/iana-ipv6-special-registry and that of version
#: 4, whatever this Python thinks of them: protocols, 6to4, documentation, AS112, AMT and the old 6bone.
_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20",
    )
)  # fmt: skip
#: With this lower half, an address of version 6 ends in one of version 4 (ISATAP, RFC 5214).
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


class ForbiddenError(Exception):
    """No message may be sent there; the text is the reason."""


@attrs.frozen
class Endpoint:
    """The address of one browser: its push service's host and port, the path, and whether the service is private."""

    host: str
    port: int
    target: str
    is_private: bool = False

    @property
    def audience(self) -> str:
        """The service, as an origin."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}" if self.port == HTTPS else f"https://{host}:{self.port}"


@attrs.frozen
class Reply:
    """A push service's answer: the status, and how many seconds to wait, 0 if it has none."""

    status: int
    wait_s: float = 0.0


def parse(url: str, private: Collection[str] = ()) -> Endpoint:
    """
    Return the address of a browser; raise `ForbiddenError` if no message may be sent there.

    *private* are the hosts of a person's own network, `host` or `host:port`, that may have any address.
    """
    if not _URL.fullmatch(url):
        raise ForbiddenError("that is not the address of a push service")
    try:
        parts = urlsplit(url)
        port = HTTPS if parts.port is None else parts.port
        host = parts.hostname or ""
    except ValueError:
        raise ForbiddenError("that is not the address of a push service") from None
    if parts.scheme != "https":
        raise ForbiddenError("push services need https")
    # Only an address of version 6 has brackets, whatever else this Python accepts.
    if not host or "@" in parts.netloc or ("[" in parts.netloc) != (":" in host):
        raise ForbiddenError("that is not the address of a push service")
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    own = f"[{host}]" if ":" in host else host
    if {own, f"{own}:{port}"} & set(private):
        return Endpoint(host, port, target, is_private=True)
    if port != HTTPS:
        raise ForbiddenError(f"push services need port {HTTPS}")
    if not _is_outside(host):
        raise ForbiddenError(f"{own:.80} is not in the public internet; `[push] private_hosts` can name it")
    return Endpoint(host, port, target)


def _is_outside(host: str) -> bool:
    """Return whether a name or an address can be one of the public internet."""
    try:
        return is_public(host)
    except ValueError:  # it is a name
        return "." in host and _NAME.fullmatch(host) is not None and host.rpartition(".")[2] not in _INNER


def is_public(address: str) -> bool:
    """Return whether an IP address is global unicast, embeds no other one, and names no interface here."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if "%" in address or not found.is_global or found.is_multicast or any(found in network for network in _SPECIAL):
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return not found.is_reserved
    return found in _GLOBAL and int(found) >> 32 & 0xFFFF_FFFF not in _ISATAP


def post(endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> Reply:
    """Send *body*, and return the answer. Raise `OSError` if that fails, `ForbiddenError` if it is not allowed."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    plain = _connect(endpoint)
    # A service that answers a byte at a time holds the thread no longer than this.
    end = threading.Timer(SEND_IN_ALL_S, _shut, (plain,))
    end.daemon = True
    end.start()
    try:
        with plain, context.wrap_socket(plain, server_hostname=endpoint.host) as safe:
            connection = http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=SEND_STEP_S)
            connection.sock = safe
            connection.request("POST", endpoint.target, body, dict(headers))
            answer = connection.getresponse()
            wait = answer.getheader("Retry-After", "")
            return Reply(answer.status, float(wait) if re.fullmatch("[0-9]{1,6}", wait) else 0.0)
    except (http.client.HTTPException, ValueError) as error:
        raise OSError(f"it does not answer in HTTP: {type(error).__name__}") from None
    finally:
        end.cancel()


def _connect(endpoint: Endpoint) -> socket.socket:
    """Return a connection to one of the service's addresses; raise `ForbiddenError` if any of them is not public."""
    rows = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    found = [(family, str(where[0])) for family, _, _, _, where in rows]
    for _, address in found:
        if not endpoint.is_private and not is_public(address):
            raise ForbiddenError(f"{endpoint.host} has the address {address}, which is not public")
    failed: OSError | None = None
    for family, address in found:
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(SEND_STEP_S)
            plain.connect((address, endpoint.port))
        except OSError as error:
            plain.close()
            failed = error
            continue
        return plain
    raise failed or OSError("it has no address")


def _shut(plain: socket.socket) -> None:
    with contextlib.suppress(OSError):
        plain.shutdown(socket.SHUT_RDWR)
