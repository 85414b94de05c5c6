"""Who is at the other end of a connection: of real processes, and in tables by hand."""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.evidence.ports import connected, is_linked, near_end, parse_connection
from tallylight.evidence.process_table import PsutilTable
from tallylight.evidence.procfs import ProcTable


@pytest.mark.parametrize(("bound", "asked"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")])
def test_who_is_at_the_other_end(bound: str, asked: str) -> None:
    """The process that connected, by its own end and ours; not the one that listens, and nobody for another end."""
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    connect = "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2]))); s.recv(1)"
    with socket.socket(family) as listener:
        listener.bind((bound, 0))
        listener.listen()
        with subprocess.Popen([sys.executable, "-c", connect, asked, str(listener.getsockname()[1])]) as process:
            here, client = listener.accept()
            with here:
                server = here.getsockname()
                assert connected(client[:2], server[:2]) == (process.pid,)
                assert connected(server[:2], client[:2]) == (os.getpid(),)
                assert connected((client[0], client[1] + 1), server[:2]) == ()
                assert connected(("203.0.113.9", client[1]), server[:2]) == ()
                assert connected(("testclient", 50000), server[:2]) == ()


def test_a_login_names_its_connection() -> None:
    """As sshd writes it; everything else is none."""
    assert parse_connection("192.0.2.7 50000 10.0.0.1 22") == (("192.0.2.7", 50000), ("10.0.0.1", 22))
    for told in ("", "192.0.2.7 50000 10.0.0.1", "192.0.2.7 x 10.0.0.1 22", "a 1 b 999999", "a 1 b ²", "a 1 b 2 c"):
        assert parse_connection(told) is None, told


_ROW = "   0: {} {} 01 00000000:00000000 00:00000000 00000000 {} 0 {} 1 0\n"


def test_the_near_end_of_a_connection(tmp_path: Path) -> None:
    """Of another machine, of another user, of nobody who is known, and of none that there is."""
    here, far = ("127.0.0.1", 22), ("192.0.2.7", 50000)
    near, others = ("127.0.0.1", 50001), ("127.0.0.1", 50002)
    words = {here: "0100007F:0016", far: "070200C0:C350", near: "0100007F:C351", others: "0100007F:C352"}
    rows = [(here, far, 0), (here, near, 0), (near, here, 1000), (here, others, 0), (others, here, 33)]
    text = "".join(_ROW.format(words[one], words[other], uid, 70 + at) for at, (one, other, uid) in enumerate(rows))
    (tmp_path / "self/net").mkdir(parents=True)
    (tmp_path / "self/net/tcp").write_text(f"head\n{text}")
    found = functools.partial(near_end, server=here, root=str(tmp_path), own=1000)
    assert (found(far), found(others), found(near), found(("127.0.0.1", 9))) == (None, None, (), ())
    (tmp_path / "7/fd").mkdir(parents=True)
    (tmp_path / "7/fd/3").symlink_to("socket:[72]")
    assert found(near) == (7,)


def test_who_is_at_the_other_end_of_a_unix_socket() -> None:
    """By the kernel, whichever end is asked; not one that has only the listener, nor one that has gone."""
    table = ProcTable()
    one, other = socket.socketpair()
    with subprocess.Popen(["sleep", "100"], stdin=other) as linked, subprocess.Popen(["sleep", "100"]) as beside:
        other.close()
        assert is_linked(linked.pid, os.getpid(), table)
        assert is_linked(os.getpid(), linked.pid, table)
        assert not is_linked(beside.pid, os.getpid(), table)
        assert not is_linked(os.getpid(), beside.pid, table)
        for process in (linked, beside):
            process.kill()
    one.close()
    assert not is_linked(linked.pid, os.getpid(), table)


def test_the_ends_of_unix_sockets_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their paths: the client's other end is the server's own."""
    table = PsutilTable()
    known = {1: (("", "/tmp/own"), ("", "")), 2: (("/tmp/own", ""), ("", "")), 3: (("/tmp/other", ""),)}
    monkeypatch.setattr(PsutilTable, "unix_sockets", lambda _, pid: known.get(pid, ()))
    assert is_linked(1, 2, table)
    assert not any(is_linked(*pair, table) for pair in ((2, 1), (1, 3), (3, 2), (1, 4), (4, 2)))
