"""The far end of a bridge: what it tells, what it does, and what it costs when nobody reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from tallylight.actions import request
from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Rows
from tallylight.model.status import Status
from tallylight.parts.remote.bridge import StateSender
from tallylight.parts.remote.messages import (
    CAN,
    PROTOCOL,
    Ask,
    Hello,
    InitialStateSent,
    PaneGone,
    PaneState,
    Reply,
    decode,
    encode,
)
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Pane
from tests.actions.desk import Desk, seen
from tests.actions.real_panes import real_panes
from tests.actions.words import asked
from tests.cli.panes import publish
from tests.parts.remote.far import Far, far, shown
from tests.patience import until
from tests.tables import each

WAITING = Pane(id="3", status=Status.WAITING, agent="claude", agent_pid=4711)
DIALOG = "claude/permission-bash-120"


def ask(end: Far, verb: str, host: str, *words: str, number: int = 1) -> request.Reply:
    """What it replies."""
    end.send(encode(Ask(number, host, asked(verb, *words))))  # type: ignore[arg-type]
    reply = decode(end.lines(1)[0])
    assert isinstance(reply, Reply) and reply.number == number
    return reply.told


def test_it_says_who_it_is_and_then_everything() -> None:
    """First the protocol, the version and the verbs; then every pane; then that this was all."""
    with far([shown(WAITING), shown(Pane(id="1", status=Status.DONE), host="kitty-9")]) as end:
        hello, first, second, whole = map(decode, end.lines(4))
        assert hello == Hello(PROTOCOL, "1.2.3", CAN, 1000.0)
        assert isinstance(first, PaneState) and (first.host, first.pane.id) == ("sessions-7", "3")
        assert isinstance(second, PaneState) and (second.host, second.pane.id) == ("kitty-9", "1")
        assert whole == InitialStateSent()
        end.feed.snapshots = (shown(Pane(id="3", status=Status.WORKING)),)
        assert decode(end.lines(1)[0]) == PaneGone("kitty-9", "1")
        changed = decode(end.lines(1)[0])
        assert isinstance(changed, PaneState) and changed.pane.status is Status.WORKING


def test_what_other_machines_show_is_not_passed_on() -> None:
    """A machine tells of its own panes: of two that tell of each other, each has a row once."""
    with far([shown(Pane(id="a/kitty-1:3", status=Status.DONE), host="machines-7")]) as end:
        assert decode(end.lines(2)[1]) == InitialStateSent()


def test_a_machine_without_hosts_says_so() -> None:
    """That there is nothing is told, too."""
    with far() as end:
        assert decode(end.lines(2)[1]) == InitialStateSent()


def test_only_the_last_state_is_told() -> None:
    """However often a pane changes before it is told, one line is made of it; one that went again is never told."""
    sender = StateSender()
    for number in range(50):
        panes = [Pane(id=f"{number}.{other}", status=Status.WORKING) for other in range(3)]
        sender.show([shown(WAITING, *panes), shown(Pane(id="1", status=Status.DONE), host="kitty-9")])
        next(iter(sender.news()))
    rest = list(map(decode, sender.news()))
    said = [found.pane.id for found in rest if isinstance(found, PaneState)]
    gone = [found.id for found in rest if isinstance(found, PaneGone)]
    assert len(said) == len(set(said)) <= 5 and len(gone) <= 1 and rest[-1] == InitialStateSent()
    assert list(sender.news()) == []


@pytest.mark.slow
def test_a_question_is_read_and_answered_once() -> None:
    """What it asks, then the answer to just that; the same answer again is refused."""
    desk = Desk(seen(DIALOG))
    with far([shown(WAITING)], {"3": desk}) as end:
        end.lines(3)
        question = ask(end, "question", "sessions-7", "3")
        assert isinstance(question, Question) and question == desk.shown()
        given = ("answer", "sessions-7", "3", str(question.pid), str(question.start), question.fingerprint, "1")
        assert isinstance(ask(end, *given, number=2), Done) and len(desk.typed) == 1
        again = ask(end, *given, number=3)
        assert isinstance(again, Refusal) and again.rule == "answered" and len(desk.typed) == 1
        rows = ask(end, "screen", "sessions-7", "3", number=4)
        assert isinstance(rows, Rows) and any("touch made1" in row for row in rows.rows)


def test_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list reads a question by itself while a person presses a key for it: the second waits for the first."""
    both = b"".join(encode(Ask(number, "sessions-7", asked("question", "3"))) for number in (1, 2))
    with far([shown(WAITING)], {"3": Desk(seen(DIALOG))}) as end:
        end.lines(3)
        end.send(both)
        told = [decode(line) for line in end.lines(2)]
        assert [(one.number, type(one.told)) for one in told] == [(1, Question), (2, Question)]  # type: ignore[union-attr]
        monkeypatch.setattr("tallylight.parts.remote.bridge.BUSY_S", 0.0)
        end.send(both)
        assert {type(decode(line).told) for line in end.lines(2)} == {Question, Refusal}  # type: ignore[union-attr]


@each(
    "words, rule",
    [
        (("question", "sessions-7", "4"), "gone"),
        (("question", "sessions-8", "3"), "gone"),
        (("answer", "sessions-7", "4", "4711", "88001", "f" * 32, "1"), "gone"),
        (("answer", "sessions-7", "3", "4711", "88001", "0" * 32, "1"), "changed"),
        (("answer", "sessions-7", "3", "4711", "1", "f" * 32, "1"), "process"),
        (("say", "sessions-7", "3", "1", "1", "", "1", "x"), "process"),
        (("interrupt", "sessions-7", "3", "1", "1"), "process"),
        (("interrupt", "sessions-7", "9", "1", "1"), "gone"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], rule: str) -> None:
    """A wrong pane, a wrong process, an old screen, half a question: refused by its rule, and nothing is typed."""
    desk = Desk(seen(DIALOG))
    with far([shown(WAITING)], {"3": desk}) as end:
        end.lines(3)
        told = ask(end, *words)
        assert isinstance(told, Refusal) and told.rule == rule, told
        assert desk.typed == []


def test_marks_reach_the_host_of_the_pane(tmp_path: Path) -> None:
    """What a person marks goes the way of every request of that machine."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    spool = Spool("kitty", 4711, environ)
    with far([shown(WAITING, host="kitty-4711")], environ=environ) as end:
        end.lines(3)
        assert isinstance(ask(end, "snooze", "kitty-4711", "3", "20"), Done)
        assert isinstance(ask(end, "seen", "kitty-4711", "3", number=2), Done)
        assert spool.take() == [Request("snooze", "3", ("20",)), Request("seen", "3")]
        spool.close()
        refused = ask(end, "seen", "kitty-4711", "3", number=3)
        assert isinstance(refused, Refusal) and refused.rule == "unreachable"


def test_nonsense_costs_itself() -> None:
    """What is no question is passed over, and the next one is answered."""
    with far([shown(WAITING)], {"3": Desk(seen(DIALOG))}) as end:
        end.lines(3)
        end.send(b'\n{}\n[1]\n\xff\xfe\n{"ask":1}\n{"reply":1,"told":{}}\n' + b"[" * 5000 + b"\n")
        assert isinstance(ask(end, "question", "sessions-7", "3"), Question)


def test_a_line_without_an_end_ends_it() -> None:
    """Nothing is kept of an endless line: the bridge ends, and the other end starts a new one."""
    with far() as end:
        end.lines(2)
        with pytest.raises(BrokenPipeError):
            while True:
                end.send(b"x" * 4096)
        assert os.read(end.out, 1) == b""


@pytest.mark.slow
def test_who_does_not_read_is_not_waited_for() -> None:
    """A flood of changes that nobody reads is not kept, and when it is read it ends with the last state."""
    with far([shown(WAITING)]) as end:
        end.lines(3)
        for number in range(300):
            end.feed.snapshots = (shown(*(Pane(id=str(n), status=Status.DONE, title=f"{number}") for n in range(400))),)
        last = None
        while last != "299":
            found = decode(end.lines(1)[0])
            last = found.pane.title if isinstance(found, PaneState) else last


@pytest.mark.slow
@pytest.mark.parametrize("is_terminal", [False, True])
def test_the_verb(tmp_path: Path, is_terminal: bool) -> None:
    """`tally bridge` speaks JSON lines until its input ends; at a terminal it says what it is for."""
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/nonexistent"}
    argv = [sys.executable, "-c", "from tallylight.cli.main import run; run()", "bridge"]
    if is_terminal:
        master, slave = os.openpty()
        done = subprocess.run(argv, stdin=slave, capture_output=True, env=environ, check=False, timeout=60)
        os.close(master)
        os.close(slave)
        assert done.returncode == 1 and b"[machines]" in done.stderr
        return
    done = subprocess.run(argv, input=b"", capture_output=True, env=environ, check=False, timeout=60)
    assert done.returncode == 0 and done.stderr == b""
    assert json.loads(done.stdout.splitlines()[0])["bridge"] == PROTOCOL


@pytest.mark.slow
def test_the_verb_run_by_an_agent(tmp_path: Path) -> None:
    """It is no way around the table: what an agent of this machine runs may do no more than that agent."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    publish(runtime, [attrs.evolve(WAITING, id="3")])
    (tmp_path / "panes").mkdir()
    with real_panes(tmp_path / "panes") as panes:
        folder = panes.folder
        run = f"{sys.executable} -c 'from tallylight.cli.main import run; run()' bridge"
        os.mkfifo(folder / "in")
        panes.run(
            f"env -u PYTHONHOME XDG_RUNTIME_DIR={runtime} PYTHONPATH={Path('shared').resolve()} {run}"
            " >$FOLDER/out 2>$FOLDER/err <$FOLDER/in"
        )
        with (folder / "in").open("wb", buffering=0) as to:
            until(lambda: b'"whole"' in (folder / "out").read_bytes(), "it says nothing")
            to.write(encode(Ask(1, f"kitty-{os.getpid()}", Answer("3", 1, 1, "f" * 32, 1))))
            until(lambda: b'{"reply"' in (folder / "out").read_bytes(), "it does not answer")
    said = [decode(line) for line in (folder / "out").read_bytes().splitlines()]
    (reply,) = [one for one in said if isinstance(one, Reply)]
    assert isinstance(reply.told, Refusal) and reply.told.rule == "permission", reply.told
