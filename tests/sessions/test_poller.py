"""A polling host, with sources, a process table and a clock made by hand; only its threads are real."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from tallylight.hosts.jobs import Jobs, StuckError, run
from tallylight.hosts.polling import host as poller_module
from tallylight.hosts.polling.host import Sight
from tallylight.model.status import Status
from tallylight.pane.pane import Look
from tallylight.snapshot import requests
from tallylight.snapshot.requests import Request
from tests.host.test_pane import AIDER, CLAUDE, rows, status_file
from tests.sessions.polling import HandSource, World, until


def test_an_agent_is_shown_by_its_status_file(world: World, source: HandSource) -> None:
    """The foreground group leads to the agent, the agent to its file, and the file to what is shown."""
    status_file(str(world.home), status="waiting", waitingFor="permission prompt")
    source.sights = [Sight(id="a", group=CLAUDE.pid, tab="0", host_title="build", attach=("screen", "-r", "1.build"))]
    world.steps(2)

    entry = world.entry()
    assert (entry.status, entry.agent, entry.agent_pid) == (Status.WAITING, "claude", CLAUDE.pid)
    assert (entry.tab, entry.host_title, entry.attach) == ("0", "build", ("screen", "-r", "1.build"))


def test_a_screen_is_read_only_where_it_counts(world: World, source: HandSource) -> None:
    """The screen of an agent that says nothing is read, at its own pace; that of a shell never."""
    reads: list[str] = []

    def read(id_: str) -> Callable[[], Look]:
        def screen() -> Look:
            reads.append(id_)
            return rows(*(f"line {len(reads)} {i}" for i in range(5)))

        return screen

    source.sights = [
        Sight(id="a", group=AIDER.pid, read=read("a"), read_every=1.0),
        Sight(id="b", group=10, read=read("b")),
    ]
    world.steps(4)

    assert set(reads) == {"a"}
    assert 3 <= len(reads) <= 5
    assert world.entry("a").status is Status.WORKING
    assert world.entry("b").status is Status.ACTIVE


def test_a_pane_that_is_gone_is_dropped(world: World, source: HandSource) -> None:
    """What the source no longer sees leaves the snapshot; what it cannot tell of stays."""
    source.sights = [Sight(id="a", group=10), Sight(id="b", group=10)]
    world.steps(1.5)
    assert world.ids() == ["a", "b"]

    source.sights = None
    world.steps(3)
    assert world.ids() == ["a", "b"]

    source.sights = [Sight(id="b", group=10)]
    world.steps(2)
    assert world.ids() == ["b"]


def test_a_source_that_fails_is_left_alone_longer_and_longer(world: World, source: HandSource) -> None:
    """Its panes stay, the problem has a name, it is asked again after 1, 2, 4 s…, and once it works all is well."""
    source.sights = [Sight(id="a", group=10)]
    world.steps(1)
    before = source.looks
    source.sights = StuckError("screen")
    world.steps(16)

    assert 3 <= source.looks - before <= 7
    assert world.ids() == ["a"]
    assert world.poller.problems == {"HandSource": "StuckError: screen"}

    source.sights = []
    world.steps(17)
    assert world.poller.problems == {}
    assert world.ids() == []


def test_a_screen_that_hangs_holds_up_nobody(world: World, source: HandSource) -> None:
    """While one reading hangs the others are read and shown, and it is not asked twice."""
    free, hanging = threading.Event(), []

    def hang() -> Look | None:
        hanging.append(1)
        free.wait(10)
        return None

    lines = iter(range(1000))
    good = Sight(id="b", group=AIDER.pid, read=lambda: rows(*(f"{next(lines)} {i}" for i in range(5))), read_every=0.1)
    source.sights = [Sight(id="a", group=AIDER.pid, read=hang), good]
    try:
        for _ in range(40):
            world.poller.step(world.now)
            until(lambda: world.poller._jobs._busy <= {("screen", "a")} or not world.poller._posted.empty())
            world.now += 0.25
        world.poller.step(world.now)
        assert world.entry("b").status is Status.WORKING
        assert len(hanging) == 1
    finally:
        free.set()


def test_titles_and_sources_hear_of_changes(world: World, source: HandSource) -> None:
    """A title that tells of work is believed, and the source is told what its panes show, once a change."""
    source.sights = [Sight(id="a", group=CLAUDE.pid, title="✳ Claude Code")]
    world.steps(2)
    source.sights = [Sight(id="a", group=CLAUDE.pid, title="◐ Mend the build")]
    world.steps(2)
    source.sights = [Sight(id="a", group=CLAUDE.pid, title="◑ Mend the build")]
    world.steps(2)

    shown = [told["a"].status for told in source.told if told]
    assert shown[-1] is Status.WORKING
    assert world.entry().title == "Mend the build"
    count = len(source.told)
    world.steps(2)
    assert len(source.told) == count


def test_requests_reach_the_source(world: World, source: HandSource) -> None:
    """`focus` goes to the source of the pane; a request for a pane that is not there goes nowhere."""
    source.sights = [Sight(id="a", group=10)]
    world.steps(1)
    name = f"sessions-{os.getpid()}"
    requests.send(name, Request("focus", "a"), world.environ)
    requests.send(name, Request("focus", "z"), world.environ)
    world.steps(1)

    assert source.asked == [Request("focus", "a")]


def test_the_loop_ends_and_leaves_nothing(world: World, source: HandSource) -> None:
    """`run` ends on its condition: the snapshot and the spool are gone, and the source is closed."""
    source.sights = [Sight(id="a", group=10)]
    world.poller._clock = time.monotonic
    world.poller.run(until=world.path.exists)

    assert not list((world.home / "tallylight").iterdir())
    assert source.is_closed


def test_stop_wakes_the_loop(world: World) -> None:
    """`stop` from another thread ends a loop that sleeps."""
    world.poller._clock = time.monotonic
    timer = threading.Timer(0.1, world.poller.stop)
    timer.start()
    before = time.monotonic()
    world.poller.run()

    assert time.monotonic() - before < 5


def test_refresh_looks_at_once(world: World, source: HandSource) -> None:
    """A source whose world has changed is looked at before its time."""
    source.every = 1000.0
    world.steps(5)
    assert source.looks == 1

    world.poller.refresh(source)
    world.steps(0.25)
    assert source.looks == 2


def test_a_suspended_machine_burns_no_fuse(world: World, source: HandSource) -> None:
    """Silence that was the machine's sleep is no sign of waiting."""
    count = iter(range(1000))
    source.sights = [
        Sight(id="a", group=AIDER.pid, read=lambda: rows(*(f"{next(count)} {i}" for i in range(5))), read_every=0.1)
    ]
    world.steps(3)
    assert world.entry().status is Status.WORKING

    world.now += 3600
    world.poller.step(world.now)
    assert world.entry().status is Status.WORKING


def test_programs_are_bounded() -> None:
    """A program that hangs, or that never stops writing, is killed in its time; one that is not there is None."""
    env = {"PATH": os.environ["PATH"]}
    before = time.monotonic()
    with pytest.raises(StuckError):
        run(["sleep", "30"], env, patience=0.1)
    with pytest.raises(StuckError):
        run(["yes"], env, limit=100_000)
    assert time.monotonic() - before < 5
    assert run(["no-such-program-here"], env) is None
    ran = run(["sh", "-c", "echo out; echo err >&2; exit 3"], env)
    assert ran is not None
    assert (ran.code, ran.output) == (3, b"out\n")


def test_jobs_of_one_key_do_not_pile_up() -> None:
    """While a job runs, another of its key is refused; one that raises gives its exception."""
    delivered: list[Callable[[], None]] = []
    results: list[object] = []
    jobs = Jobs(delivered.append)
    free = threading.Event()

    assert jobs.submit("a", lambda: free.wait(10), results.append)
    assert not jobs.submit("a", lambda: 1, results.append)
    assert jobs.submit("b", lambda: 1 / 0, results.append)
    free.set()
    until(lambda: len(delivered) == 2)
    for call in delivered:
        call()

    assert jobs.submit("a", lambda: 1, results.append)
    assert {type(result) for result in results} == {bool, ZeroDivisionError}


def test_many_panes_are_bounded(world: World, source: HandSource, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that shows more panes than a snapshot holds does not fill the memory."""
    monkeypatch.setattr(poller_module, "MAX_PANES", 20)
    source.sights = [Sight(id=str(n), group=10) for n in range(21)]
    world.steps(1)

    assert len(world.poller._held) == 20


def test_a_fault_costs_only_what_it_is_in(world: World, source: HandSource) -> None:
    """A call that raises, and a pane whose screen cannot be understood, are named, and the others go on."""
    source.sights = [Sight(id="a", group=10), Sight(id="b", group=AIDER.pid, read=lambda: "no look")]  # type: ignore[arg-type, return-value]
    world.poller.post(lambda: 1 // 0)
    world.steps(2)

    assert world.ids() == ["a", "b"]
    assert world.poller.problems == {}, "it is well again"

    world.poller.post(lambda: 1 // 0)
    world.poller.step(world.now)
    assert world.poller.problems == {"call": "ZeroDivisionError: integer division or modulo by zero"}
