"""The ports of a pane's programs: of real processes, and of a `/proc` made by hand."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.evidence.ports import connected, listening

_SERVE = """
import socket, sys, time
made = socket.socket(socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET)
made.bind(("::1" if sys.argv[1] == "6" else "127.0.0.1", 0))
made.listen()
print(made.getsockname()[1], flush=True)
time.sleep(600)
"""
_BELOW = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], '4'])"


@contextlib.contextmanager
def server(*argv: str, session: bool = True) -> Iterator[tuple[int, int]]:
    """A program with a session of its own that listens: its process and the port."""
    child = subprocess.Popen([sys.executable, "-c", *argv], stdout=subprocess.PIPE, start_new_session=session)
    try:
        assert child.stdout is not None
        yield child.pid, int(child.stdout.readline())
    finally:
        if session:
            os.killpg(child.pid, 9)
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


@pytest.mark.parametrize("family", ["4", "6"])
def test_a_program_that_listens(family: str) -> None:
    """Its port is found by its process; another program's is not."""
    with server(_SERVE, family) as (pid, port), server(_SERVE, "4") as (other, elsewhere):
        assert listening([pid]) == {pid: (port,)}
        assert listening([pid, other]) == {pid: (port,), other: (elsewhere,)}


def test_a_program_below() -> None:
    """The agent listens on nothing itself; what it has started does."""
    with server(_BELOW, _SERVE) as (pid, port):
        assert listening([pid]) == {pid: (port,)}


def test_a_program_of_the_same_shell() -> None:
    """One beside the agent in its session belongs to the pane."""
    agent = subprocess.Popen(["sleep", "600"])
    try:
        with server(_SERVE, "4", session=False) as (_, port):
            assert port in listening([agent.pid])[agent.pid]
    finally:
        agent.kill()
        agent.wait()


def test_nobody() -> None:
    """No process, one that is gone, and no table at all."""
    assert listening([]) == listening([2**22 + 1]) == listening([os.getpid()], "/nonexistent") == {}


def _made(root: Path, pid: int, tcp: str, *, ppid: int = 1, session: int = 9, inode: str = "77") -> None:
    folder = root / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "net").mkdir()
    (folder / "stat").write_text(f"{pid} (a b) S {ppid} {pid} {session} 0 -1 {' '.join('0' * 13)} 5 0\n")
    (folder / "fd/3").symlink_to(f"socket:[{inode}]")
    (folder / "net/tcp").write_text(tcp)


_HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
_ROW = "   0: 0100007F:{port} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1\n"


def test_a_table_made_by_hand(tmp_path: Path) -> None:
    """Sockets that do not listen, those of others, ports that are none and broken lines are left out."""
    rows = [("1435", "0A", "77"), ("1436", "01", "77"), ("1437", "0A", "78"), ("0000", "0A", "77"), ("zz", "0A", "77")]
    table = _HEAD + "".join(_ROW.format(port=p, state=s, inode=i) for p, s, i in rows) + "x\n: : 0A\n\xff\n"
    _made(tmp_path, 20, table)
    assert listening([20], str(tmp_path)) == {20: (0x1435,)}


def test_a_circle_of_parents(tmp_path: Path) -> None:
    """A table that changes while it is read may say anything."""
    row = _HEAD + _ROW.format(port="1435", state="0A", inode="77")
    _made(tmp_path, 20, row, ppid=21)
    _made(tmp_path, 21, row, ppid=20, session=8)
    assert listening([20, 21], str(tmp_path)) == {20: (0x1435,), 21: (0x1435,)}


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
