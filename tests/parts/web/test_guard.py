"""The guard: hosts, origins, tokens and rates, as tables."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import HTTPException

from tallylight.model.bucket import Bucket
from tallylight.parts.web.guard import Guard, allowed_hosts, offered
from tests.tables import each


def guard(*more: str) -> Guard:
    return Guard("secret", allowed_hosts(8787, more))


def status(check: Callable[..., None], *words: object) -> int | None:
    """With which status the *check* refuses; None if it does not."""
    try:
        check(*words)
    except HTTPException as refused:
        return refused.status_code
    return None


LOCAL = ("localhost", "127.0.0.1", "[::1]")


@each("host", ["127.0.0.1:8787", "localhost:8787", "[::1]:8787", "LOCALHOST:8787"])
def test_own_names_are_served(host: str) -> None:
    """Every name of the loopback is ours, with our port."""
    assert status(guard().check_origin, host, None) is None
    assert status(guard().check_origin, host, f"http://{host}") is None


@each(
    "host",
    [
        None, "", "evil.example", "evil.example:8787", "127.0.0.1:80", "localhost.evil.example:8787", "localhost@x",
        *LOCAL, *(f"{name}:{port}" for name in LOCAL for port in (80, 443, 8786, 87870)),
        "::1:8787", "[::1]8787", ":8787",
    ],
)  # fmt: skip
def test_other_hosts_are_refused(host: str | None) -> None:
    """A name that merely points here, as a rebound one does, is refused, and so is one of ours with another port."""
    assert status(guard().check_origin, host, None) == 421


@each("host", [f"{name}:8787" for name in LOCAL])
@each(
    "origin",
    [
        "http://evil.example", "null", "", "file://", "https://evil.example:8787", "http://", "http://:8787", "*",
        *(f"{scheme}://{name}" for scheme in ("http", "https") for name in LOCAL),
        *(f"{scheme}://{name}:{port}" for scheme in ("http", "https") for name in LOCAL for port in (1, 80, 443, 8786)),
        *(f"{scheme}://{name}:8787" for scheme in ("https", "ws", "ftp") for name in LOCAL),
        *(f"{name}:8787" for name in LOCAL), "http://localhost:8787/", "http://localhost:8787.evil.example",
        "http://evil@localhost:8787", "http://localhost:08787", "http://localhost:8787 ", "http://localhost.:8787",
    ],
)  # fmt: skip
def test_other_origins_are_refused(host: str, origin: str) -> None:
    """A page of another origin is refused, whatever it knows: another port of this machine is anybody's server."""
    assert status(guard().check_origin, host, origin) == 403


@each(("host", "page"), [(host, page) for host in LOCAL for page in LOCAL if host != page])
def test_a_page_may_ask_the_name_it_is_from(host: str, page: str) -> None:
    """Two names of this machine are two origins: behind one of them, at our port, another server may listen."""
    assert status(guard().check_origin, f"{host}:8787", f"http://{page}:8787") is not None


#: A name as it is allowed, how a browser calls the server, the page that it has from there, and whether that is so.
ALLOWED = [
    ("box", "box:8787", "http://box:8787", True),
    (
        "box",
        "box:8787",
        "https://box:8787",
        True,
    ),  # something that encrypts listens at the same port of another address
    ("box", "box", "https://box", True),
    ("box", "box:443", "https://box", True),
    ("box", "box", "http://box", False),  # port 80
    ("box", "box:8787", "http://box", False),
    ("box", "box:8787", "https://box", False),
    ("box", "box", "https://box:8787", False),
    ("BOX.example:443", "box.example", "https://box.example", True),
    ("box.example:443", "box.example:443", "https://box.example", True),
    ("box.example:443", "box.example", "http://box.example", False),
    ("box.example:443", "box.example", "https://box.example:8443", False),
    ("box.example:80", "box.example", "http://box.example", True),
    ("box.example:80", "box.example", "https://box.example", False),
    ("box.example:8443", "box.example:8443", "https://box.example:8443", True),
    ("box.example:8443", "box.example:8443", "http://box.example:8443", True),
    ("box.example:8443", "box.example:8443", "https://box.example", False),
    ("box.example:8443", "box.example:8443", "http://localhost:8787", False),
    ("localhost:9000", "localhost:9000", "http://localhost:9000", True),  # a tunnel from another port
    ("localhost:9000", "localhost:8787", "http://localhost:9000", False),
    ("[2001:db8::1]", "[2001:db8::1]:8787", "http://[2001:db8::1]:8787", True),
    ("[2001:db8::1]:443", "[2001:db8::1]", "https://[2001:db8::1]", True),
]


@each(("name", "host", "origin", "is_served"), ALLOWED)
def test_a_name_may_be_allowed(name: str, host: str, origin: str, is_served: bool) -> None:
    """A name given by the person is served, by the port of the server or one of its own, to its own pages alone."""
    assert status(guard(name).check_origin, host, None) is None
    assert (status(guard(name).check_origin, host, origin) is None) is is_served


@each(
    ("name", "host"), [("box.example:443", "box.example:8787"), ("box.example:8443", "box.example"), ("box", "box:80")]
)
def test_a_name_is_allowed_with_its_port(name: str, host: str) -> None:
    """A browser leaves out the port that is the scheme's own; every other one it writes."""
    assert status(guard(name).check_origin, host, None) is not None


def test_a_server_at_the_port_of_the_scheme() -> None:
    """At port 80 a browser writes none."""
    for name in LOCAL:
        assert status(Guard("secret", allowed_hosts(80)).check_origin, name, f"http://{name}") is None
        assert status(Guard("secret", allowed_hosts(80)).check_origin, name, f"https://{name}") is not None


@each("token", [None, "", "secre", "secret ", "Secret", "\udcff", "ü" * 40])
def test_a_wrong_token_is_refused(token: str | None) -> None:
    """Only the whole token opens."""
    assert status(guard().check_token, token, 0.0) == 401


def test_guesses_are_limited_and_the_right_token_is_not() -> None:
    """After too many guesses each is answered 429; who has the token notices nothing."""
    one = guard()
    statuses = [status(one.check_token, f"guess{n}", 0.0) for n in range(30)]
    assert statuses == [401] * 20 + [429] * 10
    assert status(one.check_token, "secret", 0.0) is None
    assert status(one.check_token, "guess", 5.0) == 401


def test_a_bucket_fills_with_time_and_never_over() -> None:
    """A rate limit gives its burst, then its rate; a clock that steps back gives nothing."""
    bucket = Bucket(rate=2.0, burst=3)
    assert [bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(11.0) for _ in range(3)] == [True, True, False]
    assert not bucket.take(5.0)
    assert [bucket.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_where_a_token_may_stand() -> None:
    """The token is read from the subprotocols of a WebSocket, the first one that there is."""
    assert offered(["tally.v1", "tally.token.abc", "tally.token.def"]) == "abc"
    assert offered(["tally.v1"]) is None
