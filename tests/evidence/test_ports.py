"""Who is at the other end of a connection, of real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from tallylight.evidence.ports import connected


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
