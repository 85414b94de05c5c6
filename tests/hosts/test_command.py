"""A user's own command: started with a list of words, bounded in number and time, and always reaped."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tallylight.hosts import notify_command
from tallylight.hosts.notify_command import COMMAND_S, MAX_RUNNING, Command
from tallylight.model.status import Kind, Status
from tallylight.tracker.notify import Notice
from tests import patience

NOTICE = Notice(
    pane="3", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", project="a pi", title="T; $(x)", body="b 'c'"
)


def wait(it: Command, until: Callable[[], object], now: float = 0.0) -> None:
    """Let the host tick until something is so."""
    patience.until(lambda: until() or it.tick(now))


def test_its_data_is_in_the_environment(tmp_path: Path) -> None:
    """The program gets its words as they are, what there is to tell in its environment, and no standard stream."""
    out = tmp_path / "o u t"
    script = 'env > "$1.new"; ls -l /proc/self/fd >> "$1.new"; printf "%s\\n" "$2" >> "$1.new"; mv "$1.new" "$1"'
    it = Command(("/bin/sh", "-c", script, "sh", str(out), "$HOME; `x`"), "kitty-7", pytest.fail)
    assert it.run(NOTICE, 0)
    wait(it, lambda: out.exists() and not it._running)
    lines = out.read_text().splitlines()

    assert {line for line in lines if line.startswith("TALLY_")} == {
        "TALLY_TITLE=T; $(x)",
        "TALLY_MESSAGE=b 'c'",
        "TALLY_STATUS=waiting",
        "TALLY_KIND=question",
        "TALLY_AGENT=claude",
        "TALLY_PROJECT=a pi",
        "TALLY_PANE=kitty-7:3",
    }
    assert lines[-1] == "$HOME; `x`"
    assert sum("/dev/null" in line for line in lines) >= 2


def test_too_many_are_not_started() -> None:
    """What would be one too many is dropped; when one has ended there is room again."""
    it = Command(("sleep", "1000"), "kitty-7", pytest.fail)
    assert [it.run(NOTICE, 0) for _ in range(MAX_RUNNING + 1)] == [True] * MAX_RUNNING + [False]
    wait(it, lambda: len(it._running) == MAX_RUNNING)
    assert not it.run(NOTICE, 1)
    pids = [process.pid for process, _ in it._running]
    it.tick(COMMAND_S + 1)
    wait(it, lambda: not it._running, COMMAND_S + 1)

    assert it.run(NOTICE, 20)
    wait(it, lambda: it._running, 20)
    it.tick(20 + COMMAND_S)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_its_children_end_with_it(tmp_path: Path) -> None:
    """Past the limit the whole session is ended, not just the program itself."""
    pid = tmp_path / "pid"
    it = Command(
        ("/bin/sh", "-c", f"sleep 1000 & echo $! > {pid}.new; mv {pid}.new {pid}; wait"), "kitty-7", pytest.fail
    )
    it.run(NOTICE, 0)
    wait(it, pid.exists)
    child = int(pid.read_text())
    wait(it, lambda: not it._running, COMMAND_S)

    def is_gone() -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().split()[2] == "Z"
        except FileNotFoundError:
            return True

    wait(it, is_gone, COMMAND_S)


def test_one_that_cannot_start_is_told() -> None:
    """A program that is not there is a reason, not a crash, and takes no place."""
    told: list[Exception] = []
    it = Command(("/no/such/program",), "kitty-7", told.append)
    for _ in range(MAX_RUNNING + 1):
        assert it.run(NOTICE, 0)
        wait(it, lambda: not it._starting)

    assert {type(error) for error in told} == {FileNotFoundError} and it._running == []


@attrs.define(eq=False)
class Stuck:
    """A process that is killed, and hangs in the kernel on a disk that does not answer."""

    pid: int = 4711
    returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, _seconds: float | None = None) -> int:
        pytest.fail("the terminal waits for it")


def test_one_that_does_not_die_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its time it is killed and keeps its place, without a wait, until it has ended and left no zombie."""
    killed: list[int] = []
    monkeypatch.setattr(notify_command.os, "killpg", lambda pid, _: killed.append(pid))
    it, stuck = Command(("x",), "kitty-7", pytest.fail), Stuck()
    it._running.append((stuck, 0.0))  # type: ignore[arg-type]
    it.tick(COMMAND_S)
    it.tick(COMMAND_S + 60)

    assert set(killed) == {stuck.pid} and len(it._running) == 1
    stuck.returncode = -9
    it.tick(COMMAND_S + 61)

    assert it._running == []


def test_the_main_thread_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that takes long, on a network that hangs for instance, costs the terminal a moment."""
    starting, go_on = threading.Event(), threading.Event()

    class Hanging:
        def __init__(self, *_args: object, **_how: object) -> None:
            starting.set()
            go_on.wait(60)
            raise OSError

    monkeypatch.setattr(notify_command.subprocess, "Popen", Hanging)
    it = Command(("sh",), "kitty-7", lambda _problem: None)
    it.run(NOTICE, 0)
    it.tick(0)

    assert starting.wait(30) and it._starting
    go_on.set()
    wait(it, lambda: not it._starting)
