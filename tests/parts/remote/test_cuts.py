"""
An answer over a bridge whose connection ends, at each step of it: the pane is typed into at most once, and the person
is told what is known. The near end is as it is, the far end runs; between them the test hands on what it will.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest

from tallylight.actions import request
from tallylight.actions.answer import Answer, Done, Question, Seen
from tallylight.actions.gate import Refusal
from tallylight.model.status import Status
from tallylight.parts.remote.host import MachinesHost
from tallylight.parts.remote.machine import HELLO_S, Machine
from tallylight.parts.remote.messages import SILENT_S, PaneState, Reply, encode
from tallylight.parts.remote.panes import Panes
from tallylight.snapshot import sockets
from tallylight.snapshot.elsewhere import HOST as MACHINES
from tallylight.snapshot.elsewhere import local_id
from tallylight.snapshot.schema import Pane
from tests.actions.desk import Desk, seen
from tests.parts.remote.far import Far, far, shown
from tests.parts.remote.test_machine import HELLO, PANE, QUESTION, SSH
from tests.tables import each

HOST, WAITING = "sessions-7", Pane(id="3", status=Status.WAITING, agent="claude", agent_pid=4711)
NOTHING, PERHAPS, DONE = "nothing was done", "check whether it was done", "answered 1."


AT_REST = seen("claude/idle-after-tool-80", Status.IDLE)


class Agent(Desk):
    """An agent that is asked for a permission, and goes to work once it is answered."""

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        is_typed = super().press(keys, seen)
        self.now = AT_REST
        return is_typed


#: The line in which the connection ends; how much of it still arrives; how often the pane was typed into by then; and
#: what the person is told.
CUTS = [
    ("hello", "nothing", 0, NOTHING),
    ("hello", "half", 0, NOTHING),
    ("hello", "all but its end", 0, NOTHING),
    ("pane", "nothing", 0, NOTHING),
    ("pane", "half", 0, NOTHING),
    ("pane", "all but its end", 0, NOTHING),
    ("request", "nothing", 0, NOTHING),
    ("request", "half", 0, NOTHING),
    ("request", "all but its end", 0, NOTHING),
    ("request", "all, to one that has ended", 0, PERHAPS),
    ("reply", "nothing", 1, PERHAPS),
    ("reply", "half", 1, PERHAPS),
    ("reply", "all but its end", 1, PERHAPS),
    ("reply", "all", 1, DONE),
]


def part(line: bytes, much: str) -> bytes:
    """So much of *line*."""
    return {"nothing": b"", "half": line[: len(line) // 2], "all but its end": line[:-1]}.get(much, line)


def connect(near: Machine, end: Far, at: float, cut: tuple[str, str] = ("", "")) -> None:
    """Have the far end say who it is and what there is, up to the *cut*."""
    near.began(at)
    for step, line in zip(("hello", "pane"), end.lines(2), strict=True):
        near.received(part(line + b"\n", cut[1]) if step == cut[0] else line + b"\n", at, 1000.0)
        if step == cut[0]:
            return
    end.lines(1)  # that this was all


def answer(near: Machine, end: Far, asked: Answer, at: float, cut: tuple[str, str] = ("", "")) -> list[request.Reply]:
    """Answer the question, up to the *cut*; what the person is told by then."""
    told: list[request.Reply] = []
    near.ask(HOST, asked, at + 75.0, told.append)
    unsent = near.output(at)
    line = part(bytes(unsent), cut[1]) if cut[0] == "request" else bytes(unsent)
    del unsent[: len(line)]
    if line and "ended" not in cut[1]:
        end.send(line)
    if line and cut[0] != "request":
        (reply,) = end.lines(1)
        near.received(part(reply + b"\n", cut[1]) if cut[0] == "reply" else reply + b"\n", at, 1000.0)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("is_silent", [False, True])
@each(("step", "much", "typed", "says"), CUTS)
def test_an_answer_that_is_cut(step: str, much: str, typed: int, says: str, is_silent: bool) -> None:
    """Whether the connection ends there or only falls silent. Nothing is asked twice of itself, or done twice."""
    desk = Agent(seen("claude/permission-bash-120"))
    question = desk.shown()
    asked = Answer(question.pane, question.pid, question.start, question.fingerprint, 1)
    near = Machine(SSH, Panes(100, 1 << 20))

    with far([shown(WAITING)], {"3": desk}) as end:
        connect(near, end, 1.0, (step, much))
        told = answer(near, end, asked, 2.0, (step, much))
    if is_silent:
        assert near.overdue(2.1 + max(HELLO_S, SILENT_S))
    near.ended(-15 if is_silent else 255, "", 40.0)
    assert len(desk.typed) == typed
    (reply,) = told
    assert isinstance(reply, Done if says == DONE else Refusal) and says in reply.text, reply

    # It is connected again, and the person looks and presses once more.
    with far([shown(WAITING)], {"3": desk}) as end:
        connect(near, end, 50.0)
        assert not near.output(50.0) and len(desk.typed) == typed
        (again,) = answer(near, end, asked, 51.0)
    assert len(desk.typed) == 1
    assert isinstance(again, Refusal if typed else Done), again


#: Says what is in a file, and to what it is asked what is in another one; then it ends.
_BRIDGE = """
import sys
folder = sys.argv[1]
print(open(folder + "/said").read(), end="", flush=True)
while '"ask"' not in sys.stdin.readline():
    pass
print(open(folder + "/told").read(), end="", flush=True)
"""


def test_a_reply_before_the_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection has ended by the time at which the near end looks, and the reply is still to be read."""
    (tmp_path / "bridge").write_text(_BRIDGE)
    (tmp_path / "said").write_bytes(encode(HELLO) + encode(PaneState(HOST, PANE)))
    (tmp_path / "told").write_bytes(encode(Reply(1, QUESTION)))
    config = tmp_path / "config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[machines]\ndevbox = "{sys.executable} -IS {tmp_path}/bridge {tmp_path}"\n')
    (tmp_path / "run").mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": f"{tmp_path}/run", "XDG_CONFIG_HOME": f"{tmp_path}/config", "HOME": str(tmp_path)}
    monkeypatch.setattr("tallylight.parts.remote.host.forbidden", lambda *_, **_more: None)
    host, name = MachinesHost({**env, "PATH": os.environ["PATH"]}), f"{MACHINES}-{os.getpid()}"
    snapshot, id_ = tmp_path / f"run/tallylight/{name}.json", local_id("devbox", HOST, PANE.id)
    end = time.monotonic() + 60
    try:
        while not (snapshot.exists() and id_ in snapshot.read_text()):
            assert time.monotonic() < end, "its pane is not shown"
            host.step()
        with sockets.connect(name, 60, env) as connection:
            connection.sendall(request.encode(request.LookRequest(id_, request.QUESTION)))
            connection.setblocking(False)
            told = b""
            while not told.endswith(b"\n"):
                assert time.monotonic() < end, "nothing is told"
                host.step()
                # It has time to answer and to end before the near end looks again.
                time.sleep(0.1)
                with contextlib.suppress(BlockingIOError):
                    told += connection.recv(request.MESSAGE_CHUNK_BYTES)
    finally:
        host.stop()
        host.run()  # leaves nothing behind
    assert isinstance(request.decode_reply(told), Question)
