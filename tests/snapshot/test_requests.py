"""Requests: what is put arrives once and in order, and what is no request does nothing."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tallylight.snapshot import requests
from tallylight.snapshot.requests import (
    MAX_AGE_S,
    MAX_ARG_CHARS,
    MAX_ARGS,
    MAX_REQUEST_FILE_BYTES,
    MAX_WAITING_REQUESTS,
    Request,
    RequestError,
    Spool,
    send,
)
from tests.tables import each

ME = f"kitty-{os.getpid()}"


def folder() -> Path:
    return Path(os.environ["XDG_RUNTIME_DIR"], "tallylight", f"{ME}.requests")


def put(text: str, name: str = "1-2-3.json", age: float = 0.0) -> Path:
    """A file in the spool that nobody of ours wrote."""
    path = folder() / name
    path.write_text(text)
    at = time.time() - age
    os.utime(path, (at, at))
    return path


def document(**more: object) -> str:
    return json.dumps({"version": 1, "verb": "seen", "pane": "3", "args": []} | more)


def test_requests_arrive_once_and_in_order() -> None:
    """Requests are taken in the order in which they were put, each once."""
    spool = Spool("kitty")
    assert spool.is_empty() and spool.error == ""
    asked = [Request("focus", "3"), Request("jump", "", ("--previous",)), Request("snooze", "7", ("10",))]
    for request in asked:
        send(ME, request)

    assert not spool.is_empty()
    assert spool.take() == asked
    assert spool.is_empty() and spool.take() == []


def test_the_directory_is_private() -> None:
    """Nobody else can look into the spool, or put anything there."""
    Spool("kitty")

    assert folder().stat().st_mode & 0o777 == 0o700


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
        document(version=2),
        document(verb=["seen"]),
        document(pane=3),
        document(args="3"),
        document(args=[3]),
        document(args=["x" * (MAX_ARG_CHARS + 1)]),
        document(args=["x"] * (MAX_ARGS + 1)),
        document(pane="x" * (MAX_ARG_CHARS + 1)),
        document(more="x" * MAX_REQUEST_FILE_BYTES),
    ],
)
def test_what_is_no_request_is_removed(text: str) -> None:
    """A file that is no request does nothing, and is gone after the look."""
    spool = Spool("kitty")
    path = put(text)

    assert spool.take() == []
    assert not path.exists()


def test_a_request_at_its_limits() -> None:
    """The longest texts and the most arguments there may be arrive whole."""
    spool = Spool("kitty")
    put(document(pane="p" * MAX_ARG_CHARS, args=["x" * MAX_ARG_CHARS] * MAX_ARGS))

    assert spool.take() == [Request("seen", "p" * MAX_ARG_CHARS, ("x" * MAX_ARG_CHARS,) * MAX_ARGS)]


@pytest.mark.parametrize("age", [MAX_AGE_S + 1, -MAX_AGE_S - 2])
def test_an_old_request_is_forgotten(age: float) -> None:
    """A host that was stopped does not do later what was asked before; neither if the clock was set back."""
    spool = Spool("kitty")
    path = put(document(), age=age)

    assert spool.take() == []
    assert not path.exists()


def test_no_more_than_so_many_wait() -> None:
    """Nobody can fill the disk of a host that does not look: the one beyond the limit is refused, with the reason."""
    spool = Spool("kitty")
    for _ in range(MAX_WAITING_REQUESTS):
        send(ME, Request("seen", "3"))
    with pytest.raises(RequestError, match="does not answer"):
        send(ME, Request("seen", "3"))

    assert len(spool.take()) == MAX_WAITING_REQUESTS


def test_half_written_files_are_left_in_peace() -> None:
    """A file that is being written is not touched before it is old."""
    spool = Spool("kitty")
    young, old = put("{", ".1-2-3.json.x.new"), put("{", ".1-2-4.json.x.new", age=MAX_AGE_S + 1)

    assert spool.take() == []
    assert young.exists() and not old.exists()
    assert spool.is_empty()


def test_links_and_other_things_are_removed() -> None:
    """A link in the spool is not followed, and nothing behind it is touched."""
    spool = Spool("kitty")
    secret = folder().parent / "secret"
    secret.write_text(document())
    (folder() / "1-2-3.json").symlink_to(secret)
    os.mkfifo(folder() / "1-2-4.json")

    assert spool.take() == []
    assert list(folder().iterdir()) == [] and secret.exists()


def test_a_spool_starts_empty() -> None:
    """What an earlier process of the same number was asked is not done by this one."""
    Spool("kitty")
    send(ME, Request("seen", "3"))

    assert Spool("kitty").take() == []


def test_the_dead_are_swept() -> None:
    """A new host removes the spools of hosts that are gone, and of none that lives."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, living = Spool("screen", gone.pid), Spool("screen", os.getppid())
    Spool("kitty")

    assert not dead.path.exists() and living.path.exists()


def test_a_closed_spool_takes_no_requests() -> None:
    """After the host has gone away nothing can be asked of it."""
    Spool("kitty").close()
    with pytest.raises(RequestError, match="accepts no requests"):
        send(ME, Request("seen", "3"))


def test_a_directory_that_others_may_write_to_is_refused() -> None:
    """Requests are neither put into nor read from a directory that somebody else could write to."""
    Spool("kitty")
    folder().chmod(0o777)
    with pytest.raises(RequestError, match="other users"):
        send(ME, Request("seen", "3"))


def test_a_disk_that_fails_costs_the_requests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without a place for its spool starts all the same, and says why there are no requests."""

    def fail(*_args: object, **_how: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(requests, "checked_directory", fail)
    spool = Spool("kitty")

    assert "No space" in spool.error
    assert spool.is_empty() and spool.take() == []
