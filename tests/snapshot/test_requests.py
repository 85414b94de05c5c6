"""Requests: what is put arrives once and in order, and what is no request does nothing."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallylight.snapshot import requests, sockets
from tallylight.snapshot.requests import (
    MAX_AGE_S,
    MAX_ARG_CHARS,
    MAX_ARGS,
    MAX_DATAGRAM_BYTES,
    Request,
    RequestError,
    Spool,
    send,
)
from tests.tables import each

ME = f"kitty-{os.getpid()}"


def place() -> Path:
    return Path(os.environ["XDG_RUNTIME_DIR"], "tallylight", f"{ME}.requests")


def put(text: str | bytes) -> None:
    """A datagram to the spool that nobody of ours sent."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made, sockets.address_of(place()) as address:
        made.sendto(text if isinstance(text, bytes) else text.encode(), address)


def document(**more: object) -> str:
    return json.dumps({"version": 1, "verb": "seen", "pane": "3", "args": [], "at": time.time()} | more)


def test_requests_arrive_once_and_in_order() -> None:
    """Requests are taken in the order in which they were put, each once."""
    spool = Spool("kitty")
    assert spool.take() == [] and spool.error == ""
    asked = [Request("focus", "3"), Request("jump", "", ("--previous",)), Request("snooze", "7", ("10",))]
    for request in asked:
        send(ME, request)

    assert spool.take() == asked
    assert spool.take() == []


def test_the_socket_is_private() -> None:
    """Nobody else can put anything into the spool."""
    spool = Spool("kitty")

    assert spool.path == place()
    assert stat.S_ISSOCK(place().stat().st_mode) and place().stat().st_mode & 0o777 == 0o600
    assert place().parent.stat().st_mode & 0o777 == 0o700


@each("name", ["kitty-1", "kitty", "../kitty-1", "kitty-1/../x-2", "", "KITTY-1"])
def test_a_host_that_is_not_there_is_told(name: str) -> None:
    """Nothing is written anywhere for a host that is gone, and no name leads out of the directory."""
    with pytest.raises(RequestError):
        send(name, Request("seen", "3"))


@each("verb", ["answer", "fork", "resume", "Focus", "focus ", ""])
def test_nothing_else_can_be_asked(verb: str) -> None:
    """There is no request that types or starts anything: it is neither sent nor taken."""
    spool = Spool("kitty")
    with pytest.raises(RequestError):
        send(ME, Request(verb, "3"))
    put(document(verb=verb))

    assert spool.take() == []


@each(
    "text",
    [
        "",
        "{",
        "[]",
        "1e999",
        "[" * 4000,
        "\ufffd",
        b"\xff",
        document(version=2),
        document(verb=["seen"]),
        document(pane=3),
        document(args="3"),
        document(args=[3]),
        document(args=["x" * (MAX_ARG_CHARS + 1)]),
        document(args=["x"] * (MAX_ARGS + 1)),
        document(pane="x" * (MAX_ARG_CHARS + 1)),
        document(more="x" * MAX_DATAGRAM_BYTES),
    ],
)
def test_what_is_no_request_is_dropped(text: str | bytes) -> None:
    """A datagram that is no request does nothing, and hides no other."""
    spool = Spool("kitty")
    put(text)
    put(document())

    assert spool.take() == [Request("seen", "3")]
    assert spool.take() == []


def test_a_request_at_its_limits() -> None:
    """The longest texts and the most arguments there may be arrive whole."""
    spool = Spool("kitty")
    put(document(pane="p" * MAX_ARG_CHARS, args=["x" * MAX_ARG_CHARS] * MAX_ARGS))

    assert spool.take() == [Request("seen", "p" * MAX_ARG_CHARS, ("x" * MAX_ARG_CHARS,) * MAX_ARGS)]


@each("at", [-MAX_AGE_S - 1, MAX_AGE_S + 600, 1e300, "now", None, True])
def test_an_old_request_is_forgotten(at: object) -> None:
    """A host that was stopped does not do later what was asked before; neither if the clock was set back."""
    spool = Spool("kitty")
    put(document(at=time.time() + at if isinstance(at, float) else at))

    assert spool.take() == []


def test_no_more_than_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can fill the memory of a host that does not look: the one beyond the limit is refused, with the reason."""
    monkeypatch.setattr(requests, "SEND_REQUEST_S", 0.01)
    spool, sent = Spool("kitty"), 0
    with pytest.raises(RequestError, match="does not answer"):
        for sent in range(100_000):
            send(ME, Request("seen", str(sent)))

    assert spool.take()[0] == Request("seen", "0") and sent > 1


def test_a_flood_is_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look takes no more than so many requests, whatever waits."""
    monkeypatch.setattr(requests, "MAX_TAKEN_REQUESTS", 2)
    spool = Spool("kitty")
    for pane in "123":
        send(ME, Request("seen", pane))

    assert [[one.pane for one in spool.take()] for _ in range(3)] == [["1", "2"], ["3"], []]


def test_a_long_path() -> None:
    """The runtime directory may have a longer path than an address of a socket."""
    environ = {"XDG_RUNTIME_DIR": str(Path(os.environ["XDG_RUNTIME_DIR"], *["x" * 60] * 3))}
    Path(environ["XDG_RUNTIME_DIR"]).mkdir(parents=True)
    spool = Spool("kitty", environ=environ)
    send(ME, Request("seen", "3"), environ)

    assert spool.take() == [Request("seen", "3")]


def test_a_spool_starts_empty() -> None:
    """What an earlier process of the same number was asked is not done by this one."""
    before = Spool("kitty")
    send(ME, Request("seen", "3"))

    assert Spool("kitty").take() == []
    assert before.take() == [Request("seen", "3")]


def test_the_dead_are_swept() -> None:
    """A new host removes the sockets of hosts that are gone, of none that lives, and nothing else."""
    living, other = Spool("screen", os.getppid()), place().with_name("screen-8.requests")
    other.mkdir()
    code = "import os; from tallylight.snapshot.requests import Spool; Spool('screen', 7); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert place().with_name("screen-7.requests").exists()
    Spool("kitty")

    assert not place().with_name("screen-7.requests").exists() and living.path.exists() and other.exists()


def test_a_closed_spool_takes_no_requests() -> None:
    """After the host has gone away nothing can be asked of it."""
    Spool("kitty").close()
    with pytest.raises(RequestError, match="accepts no requests"):
        send(ME, Request("seen", "3"))


def test_a_directory_that_others_may_write_to_is_refused() -> None:
    """Requests are neither put into nor read from a directory that somebody else could write to."""
    spool = Spool("kitty")
    place().parent.chmod(0o777)
    with pytest.raises(RequestError, match="other users"):
        send(ME, Request("seen", "3"))
    assert spool.take() == [] and "other users" in Spool("kitty").error


def test_a_disk_that_fails_costs_the_requests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without a place for its spool starts all the same, and says why there are no requests."""

    def fail(*_args: object, **_how: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sockets, "checked_directory", fail)
    spool = Spool("kitty")

    assert "No space" in spool.error
    assert spool.take() == []
