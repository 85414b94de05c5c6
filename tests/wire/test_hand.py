"""Reports over a socket: to whom they are handed, and that nobody who hands one over is held up."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.wire import hand

REPORT = b"state=waiting;tool=claude"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The directory of the hosts' sockets."""
    tmp_path.chmod(0o700)
    folder = tmp_path / "tallylight"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def host(folder: Path) -> Iterator[socket.socket]:
    """A host that listens and has yet to take anybody."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "reports-1.sock"))
        made.listen()
        made.settimeout(5)
        yield made


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(folder.parent), "TMUX": "/tmp/t,1,0", "TERM": "tmux-256color", **more}


def test_a_report_is_handed_over(host: socket.socket, folder: Path) -> None:
    """A line each. A relay that lives on waits for nobody."""
    assert hand.send_to_host([REPORT, b"state=done"], environ(folder), waits=False)
    taken, _ = host.accept()
    with taken:
        assert taken.recv(4096) == REPORT + b"\nstate=done\n"


def test_a_host_that_does_not_answer(host: socket.socket, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ends waits, and not for ever."""
    monkeypatch.setattr(hand, "HOST_ANSWER_S", 0.05)
    assert not hand.send_to_host([REPORT], environ(folder))
    host.accept()[0].close()


def test_no_host(folder: Path) -> None:
    """A socket that nobody listens at any more is no host, nor is any other file."""
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(folder / "reports-1.sock"))
    (folder / "reports-2.sock").touch()
    (folder / "sessions-3.sock").touch()
    assert not hand.send_to_host([REPORT], environ(folder))


@pytest.mark.usefixtures("host")
def test_outside_of_a_multiplexer_nothing_is_handed_over(folder: Path) -> None:
    """A kitty that was started in tmux has its variables, and a terminal of its own."""
    assert not hand.send_to_host([REPORT], environ(folder, TERM="xterm-kitty"))
    assert not hand.send_to_host([REPORT], environ(folder, TMUX=""))


@pytest.mark.usefixtures("host")
def test_a_directory_of_others(folder: Path) -> None:
    """A directory in which others can put a socket holds no host."""
    folder.chmod(0o777)
    assert not hand.send_to_host([REPORT], environ(folder))
    folder.chmod(0o700)
    assert hand.send_to_host([REPORT], environ(folder), waits=False)
