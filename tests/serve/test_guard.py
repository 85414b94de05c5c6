"""The guard: hosts, origins, tokens and rates, as tables."""

from __future__ import annotations

from tallylight.serve.guard import Bucket, Guard, allowed_hosts, offered
from tests.tables import each


def guard(*more: str) -> Guard:
    return Guard("secret", allowed_hosts(8787, more))


@each("host", ["127.0.0.1:8787", "localhost:8787", "[::1]:8787", "LOCALHOST:8787", "localhost"])
def test_own_names_are_served(host: str) -> None:
    """Every name of the loopback is ours, with our port and without any."""
    assert guard().check_origin(host, None) is None
    assert guard().check_origin(host, f"http://{host}") is None


@each("host", [None, "", "evil.example", "127.0.0.1:80", "localhost.evil.example:8787", "localhost@x"])
def test_other_hosts_are_refused(host: str | None) -> None:
    """A name that merely points here, as a rebound one does, is refused."""
    refused = guard().check_origin(host, None)
    assert refused is not None and refused.status == 421


@each(
    "origin",
    ["http://evil.example", "null", "", "file://", "http://localhost:1", "https://evil.example:8787", "localhost:8787"],
)
def test_other_origins_are_refused(origin: str) -> None:
    """A page of another origin is refused, whatever it knows."""
    refused = guard().check_origin("localhost:8787", origin)
    assert refused is not None and refused.status == 403


def test_a_name_may_be_allowed() -> None:
    """A name given by the person is served, with the port of the server or one of its own."""
    assert guard("box").check_origin("box:8787", "http://box:8787") is None
    assert guard("box.example:443").check_origin("box.example:443", None) is None
    assert guard("box.example:443").check_origin("box.example:8787", None) is not None


@each(("name", "scheme"), [("box.example:443", "https"), ("box.example:80", "http")])
def test_a_port_that_a_browser_leaves_out(name: str, scheme: str) -> None:
    """A browser does not write the port that is the scheme's own; every other one it does."""
    assert guard(name).check_origin("box.example", f"{scheme}://box.example") is None
    assert guard("box.example:8443").check_origin("box.example", None) is not None


@each("token", [None, "", "secre", "secret ", "Secret", "\udcff", "ü" * 40])
def test_a_wrong_token_is_refused(token: str | None) -> None:
    """Only the whole token opens."""
    refused = guard().check_token(token, 0.0)
    assert refused is not None and refused.status == 401


def test_guesses_are_limited_and_the_right_token_is_not() -> None:
    """After too many guesses each is answered 429; who has the token notices nothing."""
    one = guard()
    statuses = [refused.status for n in range(30) if (refused := one.check_token(f"guess{n}", 0.0))]
    assert statuses == [401] * 20 + [429] * 10
    assert one.check_token("secret", 0.0) is None
    later = one.check_token("guess", 5.0)
    assert later is not None and later.status == 401


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
