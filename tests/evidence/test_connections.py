"""What a tree of real processes has open: over IPv4 and IPv6, and where the kernel tells nothing."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.evidence import connections, sock_diag
from tallylight.evidence.connections import MAX_WAIT, Tree
from tallylight.evidence.procfs import ProcTable
from tallylight.evidence.traffic import Sample
from tests.patience import patient
from tests.tables import each

#: Connects as often as it is told, and sends so many bytes on each; then it starts a child, if it is told to.
CLIENT = """
import socket, subprocess, sys
sockets = []
for line in sys.stdin:
    word, *rest = line.split()
    if word == "connect":
        sockets.append(socket.create_connection((rest[0], int(rest[1]))))
    elif word == "send":
        sockets[-1].sendall(b"x" * int(rest[0]))
    elif word == "child":
        subprocess.Popen(["sleep", "100"])
    print(word, flush=True)
"""


class Client:
    """A program in a tree of its own."""

    def __init__(self, *before: str) -> None:
        command = [*before, sys.executable, "-c", CLIENT]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.tree = Tree(ProcTable(), self.process.pid)

    def do(self, *words: object) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{' '.join(map(str, words))}\n".encode())
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip()

    def sample(self) -> Sample:
        (found,) = connections.samples_of([self.tree])
        return found

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.communicate()


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.close()


@contextlib.contextmanager
def model(bound: str = "127.0.0.1") -> Iterator[tuple[socket.socket, int]]:
    """Somebody to connect to, in no tree of ours, and the port."""
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((bound, 0))
        listener.listen()
        yield listener, listener.getsockname()[1]


@each(("bound", "asked"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")])
def test_what_is_sent_and_comes_in(bound: str, asked: str) -> None:
    client = Client()
    with contextlib.closing(client), model(bound) as (listener, port):
        assert client.sample().connections == ()
        client.do("connect", asked, port)
        here, _ = listener.accept()
        with here:
            (found,) = client.sample().connections
            assert (found.sent, found.received, found.port) == (0, 0, port)
            client.do("send", 4000)
            before = time.monotonic()
            here.sendall(b"y" * 70)
            now = sampled(client, received=70)
            assert (now.id, now.sent, now.is_over) == (found.id, 4000, False)
            assert abs(now.received_at - before) < patient(0.5) and now.sent_at <= now.received_at + 0.01
            here.shutdown(socket.SHUT_WR)
            assert sampled(client, is_over=True)


def sampled(client: Client, **wanted: object) -> connections.Connection:
    """The one connection, as soon as it is as is wanted."""
    end = time.monotonic() + patient(5)
    while time.monotonic() < end:
        (found,) = client.sample().connections
        if all(getattr(found, name) == value for name, value in wanted.items()):
            return found
    raise AssertionError(found)


@pytest.mark.slow
def test_a_tree(client: Client) -> None:
    """The connection of a child counts, and when that was started; it is gone with the child."""
    with model() as (listener, port):
        outer = Client("sh", "-c", '"$@" & wait', "sh")
        with contextlib.closing(outer), contextlib.suppress(BrokenPipeError):
            assert outer.sample().connections == ()
        client.do("connect", "127.0.0.1", port)
        here, _ = listener.accept()
        with here:
            assert len(client.sample().connections) == 1
            before = time.monotonic()
            client.do("child")
            end = time.monotonic() + patient(5)
            while not (children := client.sample().children) and time.monotonic() < end:
                pass
            assert len(children) == 1 and abs(children[0] - before) < patient(1.0)
            client.tree._read_at = float("inf")  # the next tree is a long time away
            (child,) = ProcTable().children(client.process.pid)
            os.kill(child, 9)
            while client.sample().children and time.monotonic() < end:
                pass
            assert client.sample().children == ()


#: A program and a child of it, which talk over TCP.
BOTH = """
import os, socket, time
s = socket.create_server(("127.0.0.1", 0))
if os.fork():
    c, _ = s.accept()
    c.sendall(b"x" * 9000)
else:
    c = socket.create_connection(s.getsockname())
    c.recv(9)
os.write(1, b"up\\n")
time.sleep(100)
"""


def test_both_ends_in_the_tree() -> None:
    """A program and its own server talk to each other: that is no model."""
    with subprocess.Popen([sys.executable, "-c", BOTH], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline(), process.stdout.readline()] == [b"up\n", b"up\n"]
        tree = Tree(ProcTable(), process.pid)
        (found,) = connections.samples_of([tree])
        os.killpg(process.pid, 9)
    assert len(tree.connected) == 2
    assert found.connections == ()


def test_a_dump_is_rare(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sockets are asked for only when a tree has a new one; one that listens is known, too."""
    dumps: list[int] = []
    ask = sock_diag.tcp_sockets
    monkeypatch.setattr(sock_diag, "tcp_sockets", lambda: dumps.append(1) or ask())
    with model() as (listener, port):
        client.do("connect", "127.0.0.1", port)
        with listener.accept()[0]:
            for _ in range(20):
                client.sample()
            assert len(dumps) == 1
            client.do("connect", "127.0.0.1", port)
            for _ in range(20):
                client.sample()
            assert len(dumps) == 2


def test_what_the_kernel_does_not_know_is_asked_for_less_and_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket of another network, or one that nobody has connected."""
    dumps: list[int] = []
    monkeypatch.setattr(sock_diag, "tcp_sockets", lambda: dumps.append(1) or {})
    with socket.socket():
        tree = Tree(ProcTable(), os.getpid())
        for _ in range(4 * MAX_WAIT):
            connections.samples_of([tree])
    assert 4 <= len(dumps) <= 12


@each("why", ["no netlink", "refused", "nothing said"])
def test_where_the_kernel_tells_nothing(why: str) -> None:
    """The evidence is absent, and nothing is raised."""
    client = Client()
    with (
        contextlib.closing(client),
        pytest.MonkeyPatch.context() as monkeypatch,
        model() as (listener, port),
    ):
        client.do("connect", "127.0.0.1", port)
        here, _ = listener.accept()
        with here:
            if why == "no netlink":
                monkeypatch.delattr(socket, "AF_NETLINK")
            else:
                monkeypatch.setattr(sock_diag, "_Kernel", _Refusing if why == "refused" else _Silent)
            assert client.sample().connections == ()


class _Refusing:
    def __enter__(self) -> _Refusing:
        raise PermissionError

    def __exit__(self, *_: object) -> None: ...


class _Silent:
    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None: ...

    def ask(self, *_: object) -> bytes:
        return b"\x10\0\0\0\x03\0\0\0" + bytes(8)

    more = ask


def test_of_somebody_elses_and_of_nobody(tmp_path: Path) -> None:
    """Their descriptors cannot be read, as with `hidepid`: there is nothing to see."""
    for pid in (1 << 22, 0):
        (found,) = connections.samples_of([Tree(ProcTable(str(tmp_path)), pid)])
        assert (found.connections, found.children) == ((), ())


#: Looks at the tree of somebody else and at its own, which has a connection.
AS_NOBODY = """
import encodings.idna, os, sys, socket
from tallylight.evidence import connections
from tallylight.evidence.connections import Tree
from tallylight.evidence.procfs import ProcTable
os.setgid(65534)
os.setuid(65534)
c = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
c.sendall(b"x" * 5000)
found = connections.samples_of([Tree(ProcTable(), pid) for pid in (int(sys.argv[1]), os.getpid())])
print(*[[(one.sent, one.received) for one in sample.connections] for sample in found])
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_as_somebody_else_sees_it(client: Client) -> None:
    """An unprivileged user sees its own processes, and nothing of root's."""
    with model() as (listener, port):
        client.do("connect", "127.0.0.1", port)
        with listener.accept()[0]:
            argv = [sys.executable, "-c", AS_NOBODY, str(client.process.pid), str(port)]
            path = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(argv, capture_output=True, text=True, env=path, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[] [(5000, 0)]", "")


@each(
    "data",
    [b"", b"x", bytes(16), b"\xff" * 400, b"\x20\0\0\0\x14\0\0\0" + bytes(24), b"\x10\0\0\0\x14\0\0\0" + bytes(8)],
)
def test_an_answer_that_is_broken(data: bytes) -> None:
    assert [one for kind, body in sock_diag._messages(data) if (one := sock_diag._tcp_in(kind, body))] == []
