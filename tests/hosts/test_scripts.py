"""The socket of a kitty for scripts: who is heard, what floods and strangers cost, who is taken for the terminal."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tallylight.actions.answer import Answer, Done
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import (
    MAX_REPLY_ROW_CHARS,
    MAX_REPLY_ROWS,
    SILENT,
    LookRequest,
    Request,
    Rows,
    decode_reply,
    encode,
    encode_reply,
)
from tallylight.model.status import Status
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.sockets import Peer, SocketError
from tests.actions.callers import as_caller, at
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.patience import until
from tests.tables import each

DIALOG = "claude/permission-bash-80"
NAME = f"kitty-{os.getpid()}"
PANE = Row(NAME, Pane(id="3", status=Status.WAITING))


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "tallylight"


def reach() -> PaneClient:
    return PaneClient(None, as_caller(Who.SCRIPT), at("own"))  # type: ignore[arg-type] # it is not asked


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 200])
def test_both_sides_know_each_other_by_the_kernel(tmp_path: Path, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host learns which process connects, and that process which one listens; only this user gets there."""
    folder = tmp_path / ("x" * depth)
    folder.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    runtime = folder / "tallylight"
    listener = sockets.listen("kitty")
    assert (runtime / f"{NAME}.sock").stat().st_mode & 0o777 == 0o600
    code = (
        "from tallylight.snapshot import sockets; import sys\n"
        f"sys.stdin.read() if sockets.connect({NAME!r}, 30.0) else 0"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        listener.setblocking(True)
        listener.settimeout(30)
        connection, _ = listener.accept()
        assert sockets.peer(connection) == Peer(process.pid, os.getuid())
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
    connection.close()
    listener.close()


def test_a_process_that_has_ended_is_noticed(runtime: Path) -> None:
    """What connected and is gone is told from one that lives, whoever has its number by now."""
    listener = sockets.listen("kitty")
    listener.setblocking(True)
    listener.settimeout(30)
    here = sockets.connect(NAME, 30.0)
    living, _ = listener.accept()
    assert not sockets.has_ended(living)
    if (pid := os.fork()) == 0:
        sockets.connect(NAME, 30.0)
        os._exit(0)
    gone, _ = listener.accept()
    os.waitpid(pid, 0)
    assert sockets.has_ended(gone) or not _knows_processes(living)
    for one in (here, living, gone, listener):
        one.close()


@pytest.mark.parametrize(
    ("asked", "words"), [(LookRequest("3", "question"), ""), (Answer("3", 1, 1, "f", 1), "check whether")]
)
def test_a_host_that_ends_before_it_has_replied(runtime: Path, asked: Request, words: str) -> None:
    """Nobody knows whether it has done what it was asked; of a mere look there is nothing to know."""
    listener = sockets.listen("kitty")
    listener.setblocking(True)
    listener.settimeout(30)

    def hang_up() -> None:
        connection, _ = listener.accept()
        connection.recv(100_000)
        connection.close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    told = reach().ask_host(NAME, asked, 30.0)
    thread.join()
    listener.close()
    assert isinstance(told, Refusal) and told.rule == "unreachable"
    assert words in told.text and ("check whether" in told.text) is bool(words)


def _knows_processes(connection: socket.socket) -> bool:
    """Whether the kernel names the process at the other end by more than its number: Linux since 6.5."""
    try:
        os.close(connection.getsockopt(socket.SOL_SOCKET, 77))
    except OSError:
        return False
    return True


def _another(path: Path) -> subprocess.Popen[bytes]:
    """A process that listens where the terminal should, and is another one."""
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True)\n"
        'while True:\n    c, _ = s.accept(); c.sendall(b\'{"rows": ["forged"]}\\n\')'
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_another_process_is_not_taken_for_the_terminal(runtime: Path) -> None:
    """It has put its own socket where that of the kitty should be: it learns nothing, and is not believed."""
    runtime.mkdir(mode=0o700)
    process = _another(runtime / f"{NAME}.sock")
    try:
        told = reach().look(PANE, "screen")
        assert isinstance(told, Refusal) and "another process" in told.text
    finally:
        process.kill()
        process.wait()


def _file(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text("")


def _link(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.symlink_to("/dev/null")


def _linked_directory(path: Path) -> None:
    real = path.parents[1] / "real"
    real.mkdir(mode=0o700)
    path.parent.symlink_to(real)
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(real / path.name))
    made.listen()


def _open_directory(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o777)
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.listen()


def _nobody_listens(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def test_nothing_is_asked_at_a_strange_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no socket, what somebody else could have put there, and what nobody listens at."""
    strange = (_file, _link, _linked_directory, _open_directory, _nobody_listens, lambda _: None)
    for number, make in enumerate(strange):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        make(folder / "tallylight" / f"{NAME}.sock")
        with pytest.raises(SocketError):
            sockets.connect(NAME, 1.0)
        told = reach().look(PANE, "question")
        assert isinstance(told, Refusal) and told.rule == "unreachable"


def test_nothing_listens_in_a_strange_directory(runtime: Path, tmp_path: Path) -> None:
    """A kitty does not listen where others could take its place; nor does it remove what is no socket."""
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    runtime.symlink_to(real)
    with pytest.raises(Exception, match="is not a directory"):
        sockets.listen("kitty")
    assert list(real.iterdir()) == []


def test_sockets_of_the_dead_go(runtime: Path) -> None:
    """What a kitty that is gone left is removed; what is alive, and what is no socket of ours, stays."""
    runtime.mkdir(mode=0o700)
    alive = socket.socket(socket.AF_UNIX)
    alive.bind(str(runtime / "kitty-2.sock"))
    alive.listen()
    for name in ("kitty-1.sock", "other.sock"):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(runtime / name))
    (runtime / "kitty-3.sock").write_text("")
    sockets.listen("kitty").close()
    assert sorted(path.name for path in runtime.iterdir()) == sorted(
        ["kitty-2.sock", "kitty-3.sock", "other.sock", f"{NAME}.sock"]
    )
    alive.close()


def test_another_user_is_not_heard(runtime: Path, kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one whose process the kernel does not name: their connections are closed unread."""
    desk = ScriptDesk.of(kitty, DIALOG)
    for who in (Peer(os.getpid(), os.getuid() + 1), None):
        with monkeypatch.context() as patch:
            connection = sockets.connect(NAME, 30.0)
            patch.setattr(sockets, "peer", lambda _, who=who: who)
            for call in desk.host.each_tick:
                call()
            assert connection.recv(1) == b""
            connection.close()
    assert kitty.timers == {}


@each(
    "data, rule",
    [
        (b"\n", "unknown"),
        (b"nonsense\n", "unknown"),
        (b'["screen", "3"]\n', "unknown"),
        (b'{"type": "look", "pane": "3"}\n', "unknown"),
        (b'{"type": "look", "pane": 3, "what": "screen"}\n', "unknown"),
        (b'{"type": "look", "pane": " ", "what": "screen"}\n', "unknown"),
        (b'{"type": "look", "pane": "4", "what": "screen"}\n', "gone"),
        (b'{"type": "look", "pane": "-3", "what": "screen"}\n', "gone"),
        (b'{"type": "look", "pane": "\xc2\xb3", "what": "screen"}\n', "gone"),
        (b'{"type": "look", "pane": "3", "what": "more"}\n', "unknown"),
        (b'{"type": "mark", "verb": "focus", "pane": "3", "args": []}\n', "unknown"),
        (b'{"type": "open", "verb": "go", "pane": "3"}\n', "unknown"),
        (b'{"type": "press", "pane": "3", "keys": "1"}\n', "unknown"),
        (b'{"type": "rows", "pane": "3", "rows": ["rm -rf"]}\n', "unknown"),
        (b"[" * 5000 + b"\n", "unknown"),
    ],
)
def test_what_makes_no_sense_is_refused(runtime: Path, kitty: Kitty, data: bytes, rule: str) -> None:
    """And the next question is answered; nothing is typed."""
    desk = ScriptDesk.of(kitty, DIALOG)

    def ask() -> list[bytes]:
        with sockets.connect(NAME, 30.0) as connection, connection.makefile("rb") as answers:
            connection.sendall(data + encode(LookRequest("3", "screen")))
            return [answers.readline(), answers.readline()]

    refused, rows = map(decode_reply, desk.run(ask))
    assert isinstance(refused, Refusal) and refused.rule == rule
    assert isinstance(rows, Rows)
    assert desk.window.written == []


def test_a_flood_and_a_crowd_cost_themselves(runtime: Path, kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without an end closes its connection; those who say nothing have to leave; then the next is heard."""
    desk = ScriptDesk.of(kitty, DIALOG)
    flood = sockets.connect(NAME, 0.05)
    with pytest.raises(OSError, match=r"timed out|reset|Broken"):
        for _ in range(100):
            flood.sendall(b"x" * 65536)
            for call in desk.host.each_tick:
                call()
    flood.close()
    silent = [sockets.connect(NAME, 30.0) for _ in range(desk.module.MAX_CALLERS)]
    for call in desk.host.each_tick:
        call()
    monkeypatch.setattr(desk.module, "SILENT_CLIENT_S", 0.0)
    for call in desk.host.each_tick:
        call()
    monkeypatch.undo()
    assert all(one.recv(1) == b"" for one in silent)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime.parent))
    assert isinstance(desk.run(lambda: reach().look(PANE, "screen")), Rows)
    until(lambda: not kitty.timers or kitty.run_repeats())


@each(
    "line",
    [
        b"", b"nonsense", b"[]", b"{}", b'{"rows": ["a"]}', b'{"type": "rows", "rows": 3}', b'{"type": "rows"}',
        b'{"type": "rows", "rows": [3]}', b'{"type": "question"}', b'{"type": "question", "question": null}',
        b'{"type": "said", "text": "done"}', b'{"type": ["rows"], "rows": ["a"]}', b'{"type": "look", "pane": "3"}',
    ],
)  # fmt: skip
def test_a_strange_answer_is_none(line: bytes) -> None:
    """Whatever the other side sends, it is a refusal."""
    assert isinstance(decode_reply(line), Refusal)


def test_what_is_shown_is_bounded() -> None:
    """More rows than a screen has are none; a row, and words, are cut, so that what was done is told."""
    rows = decode_reply(json.dumps({"type": "rows", "rows": ["x" * 5000, "a\0b"]}).encode())
    assert rows == Rows(("x" * MAX_REPLY_ROW_CHARS, "a\ufffdb"))
    for strange in (
        {"type": "rows", "rows": ["a"] * (MAX_REPLY_ROWS + 1)},
        {"type": "occupant", "pane": "3", "agent": "claude", "pid": 0, "start": 1},
        {"type": "refusal", "rule": "x" * 65, "text": ""},
    ):
        assert decode_reply(json.dumps(strange).encode()) == SILENT
    done = decode_reply(encode_reply(Done("3", "x" * 30_000)))
    assert isinstance(done, Done) and len(done.text) == 2000


@pytest.mark.slow
def test_what_is_too_large_is_refused_in_words() -> None:
    """A screen that no message holds."""
    told = decode_reply(encode_reply(Rows(tuple("\U0001f600" * 4000 for _ in range(1000)))).rstrip(b"\n"))
    assert isinstance(told, Refusal) and told.rule == "too-long"
