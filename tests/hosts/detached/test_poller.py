"""A polling host, with sources, a process table and a clock made by hand; only its threads are real."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallylight.files.program import StuckError, run
from tallylight.hosts.engine import FEW_PANES
from tallylight.hosts.jobs import Jobs
from tallylight.hosts.polling import host as poller_module
from tallylight.hosts.polling.host import RESTS, SourcePane
from tallylight.model.status import Status
from tallylight.pane.pane import Look
from tallylight.parts.conversations import open_conversations
from tallylight.snapshot import labels_file, requests, writer
from tallylight.snapshot.labels import Label
from tallylight.snapshot.requests import Request
from tests.hosts.detached.polling import HandSource, System
from tests.hosts.test_pane import AIDER, CLAUDE, CRUSH, SHELL, HandTable, rows, status_file
from tests.patience import until


def test_an_agent_is_shown_by_its_status_file(system: System, source: HandSource) -> None:
    """The foreground group leads to the agent, the agent to its file, and the file to what is shown."""
    status_file(str(system.home), status="waiting", waitingFor="permission prompt")
    source.source_panes = [
        SourcePane(id="a", group=CLAUDE.pid, tab="0", host_title="build", attach=("screen", "-r", "1.build"))
    ]
    system.steps(2)

    entry = system.entry()
    assert (entry.status, entry.agent, entry.agent_pid) == (Status.WAITING, "claude", CLAUDE.pid)
    assert (entry.place.tab, entry.place.host_title, entry.commands.attach) == (
        "0",
        "build",
        ("screen", "-r", "1.build"),
    )


def test_idle_shells_are_looked_at_more_seldom(system: System, source: HandSource) -> None:
    """Where no agent runs and nothing moves, half of the ticks are left out; as soon as one is seen, none is."""
    source.source_panes = [SourcePane(id="a", group=SHELL.pid)]
    ticks = []
    for group, seconds in ((SHELL.pid, 8), (SHELL.pid, 8), (CLAUDE.pid, 2), (CLAUDE.pid, 8)):
        source.source_panes = [SourcePane(id="a", group=group)]
        before = system.poller._ticks
        system.steps(seconds)
        ticks.append((system.poller._ticks - before) / seconds)

    assert ticks[1] == pytest.approx(ticks[3] / 2, rel=0.1)
    assert ticks[0] > ticks[1]


def test_plain_panes_that_draw_nothing_rest(
    system: System, source: HandSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among many, a shell is looked at each fourth time that it is its turn; one that draws, or an agent, each time."""
    looks: Counter[str] = Counter()
    look_at = system.poller._look_at
    monkeypatch.setattr(
        system.poller, "_look_at", lambda polled, *rest: looks.update([polled.source_pane.id]) or look_at(polled, *rest)
    )
    drew = {"draws": math.inf}
    source.source_panes = [
        *(SourcePane(id=f"{n}", group=SHELL.pid) for n in range(FEW_PANES)),
        *(
            SourcePane(id=id_, group=SHELL.pid, still_since=lambda id_=id_: drew.get(id_, 0.0))
            for id_ in ("rests", "draws")
        ),
        SourcePane(id="agent", group=CLAUDE.pid, still_since=lambda: 0.0),
    ]
    system.steps(16)
    looks.clear()
    system.steps(32)
    assert looks["rests"] == pytest.approx(looks["draws"] / RESTS, abs=1)
    assert looks["draws"] == pytest.approx(looks["0"], abs=1)
    assert looks["agent"] >= looks["0"] - 1

    looks.clear()
    drew["rests"] = math.inf
    system.steps(32)
    assert looks["rests"] == pytest.approx(looks["0"], abs=1)


def test_an_agent_that_draws_nothing_is_seen_at_its_turn(system: System, source: HandSource) -> None:
    """A plain pane rests only while the same process group is in its foreground."""
    plain = [SourcePane(id=f"{n}", group=SHELL.pid) for n in range(FEW_PANES)]
    source.source_panes = [*plain, SourcePane(id="a", group=SHELL.pid, still_since=lambda: 0.0)]
    system.steps(16)
    looked_at = system.poller._held["a"].looked_at
    while system.poller._held["a"].looked_at == looked_at:
        system.steps(0.25)
    source.source_panes = [*plain, SourcePane(id="a", group=CLAUDE.pid, still_since=lambda: 0.0)]
    began = system.now
    while system.entry().agent != "claude":
        system.steps(0.25)
        assert system.now - began < 5


def test_a_name_given_in_the_list(system: System, source: HandSource) -> None:
    """A host whose terminal draws names hears of one within seconds, and of its end, while nothing else changes."""
    status_file(str(system.home), status="waiting", waitingFor="permission prompt")
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid)]
    system.steps(3)
    host, entry = writer.read(system.path).name, system.entry()
    file = labels_file.path(system.environ)

    def told(name: str) -> list[str]:
        labels_file.change(file, lambda labels: labels.with_label(host, entry, Label(name), 1.0))
        system.steps(4)
        return [system.entry().name, source.told[-1]["a"].name]

    assert [told("checkout"), told("")] == [["checkout"] * 2, ["", ""]]


def test_a_level_is_lowered_at_once_and_raised_at_the_next_start(system: System, source: HandSource) -> None:
    """Of `scripting.allow`, as its snapshot tells it; what waits is told, too."""
    config = system.home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)

    def told(allow: str, mark: str = "") -> tuple[str, tuple[str, ...]]:
        config.write_text(f"[scripting]\nallow = '{allow}'\n# {mark}\n")
        system.steps(6)
        found = writer.read(system.path)
        return found.allow, found.withheld

    assert told("all") == ("own", ("scripting.allow",))
    assert "until this host restarts" in system.poller.problems["scripting.allow"]
    assert told("own") == ("own", ())
    assert "scripting.allow" not in system.poller.problems
    system.poller.close()

    config.write_text("[scripting]\nallow = 'all'\n")
    again = System(system.home, source)
    again.steps(1)
    assert writer.read(again.path).allow == "all"
    config.write_text("[scripting]\nallow = 'ask'\n# lower\n")
    again.steps(6)
    assert writer.read(again.path).allow == "ask"
    again.poller.close()


def test_a_spinner_that_turns_is_not_written(system: System, source: HandSource) -> None:
    """A snapshot is written for what a person sees: a frame of a title that they see without it is no news."""
    written = []
    for step, frame in enumerate("⠋⠙⠹⠸⠼⠴" * 4):
        source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, title=f"{frame} Mend the build")]
        system.steps(1)
        if step >= 6:
            written.append(system.path.stat().st_mtime_ns)
    assert system.entry().status is Status.WORKING
    assert len(set(written)) == 1


def test_a_screen_is_read_only_where_it_counts(system: System, source: HandSource) -> None:
    """The screen of an agent that says nothing is read, at its own pace; that of a shell never."""
    reads: list[str] = []

    def read(id_: str) -> Callable[[], Look]:
        def screen() -> Look:
            reads.append(id_)
            return rows(*(f"line {len(reads)} {i}" for i in range(5)))

        return screen

    source.source_panes = [
        SourcePane(id="a", group=AIDER.pid, read=read("a"), read_every=1.0),
        SourcePane(id="b", group=10, read=read("b")),
    ]
    system.steps(4)

    assert set(reads) == {"a"}
    assert 3 <= len(reads) <= 5
    assert system.entry("a").status is Status.WORKING
    assert system.entry("b").status is Status.ACTIVE


def test_a_pane_that_is_gone_is_dropped(system: System, source: HandSource) -> None:
    """What the source no longer sees leaves the snapshot; what it cannot tell of stays."""
    source.source_panes = [SourcePane(id="a", group=10), SourcePane(id="b", group=10)]
    system.steps(1.5)
    assert system.ids() == ["a", "b"]

    source.source_panes = None
    system.steps(3)
    assert system.ids() == ["a", "b"]

    source.source_panes = [SourcePane(id="b", group=10)]
    system.steps(2)
    assert system.ids() == ["b"]


def test_a_source_that_fails_is_left_alone_longer_and_longer(system: System, source: HandSource) -> None:
    """Its panes stay, the problem has a name, it is asked again after 1, 2, 4 s…, and once it works all is well."""
    source.source_panes = [SourcePane(id="a", group=10)]
    system.steps(1)
    before = source.looks
    source.source_panes = StuckError("screen")
    system.steps(16)

    assert 3 <= source.looks - before <= 7
    assert system.ids() == ["a"]
    assert system.poller.problems == {"HandSource": "StuckError: screen"}

    source.source_panes = []
    system.steps(17)
    assert system.poller.problems == {}
    assert system.ids() == []


def test_a_screen_that_hangs_holds_up_nobody(system: System, source: HandSource) -> None:
    """While one reading hangs the others are read and shown, and it is not asked twice."""
    free, hanging = threading.Event(), []

    def hang() -> Look | None:
        hanging.append(1)
        free.wait(10)
        return None

    lines = iter(range(1000))
    good = SourcePane(
        id="b", group=AIDER.pid, read=lambda: rows(*(f"{next(lines)} {i}" for i in range(5))), read_every=0.1
    )
    source.source_panes = [SourcePane(id="a", group=AIDER.pid, read=hang), good]
    try:
        for _ in range(40):
            system.poller.step(system.now)
            until(lambda: system.poller._jobs._busy <= {("screen", "a")} or not system.poller._posted.is_empty())
            system.now += 0.25
        system.poller.step(system.now)
        assert system.entry("b").status is Status.WORKING
        assert len(hanging) == 1
    finally:
        free.set()


def test_titles_and_sources_hear_of_changes(system: System, source: HandSource) -> None:
    """A title that tells of work is believed, and the source is told what its panes show, once a change."""
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, title="✳ Claude Code")]
    system.steps(2)
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, title="◐ Mend the build")]
    system.steps(2)
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, title="◑ Mend the build")]
    system.steps(2)

    shown = [told["a"].status for told in source.told if told]
    assert shown[-1] is Status.WORKING
    assert system.entry().title == "Mend the build"
    count = len(source.told)
    system.steps(2)
    assert len(source.told) == count


def test_requests_reach_the_source(system: System, source: HandSource) -> None:
    """`focus` goes to the source of the pane; a request for a pane that is not there goes nowhere."""
    source.source_panes = [SourcePane(id="a", group=10)]
    system.steps(1)
    name = f"sessions-{os.getpid()}"
    requests.send(name, Request("focus", "a"), system.environ)
    requests.send(name, Request("focus", "z"), system.environ)
    system.steps(1)

    assert source.asked == [Request("focus", "a")]


def test_the_loop_ends_and_leaves_nothing(system: System, source: HandSource) -> None:
    """`run` ends on its condition: the snapshot and the spool are gone, and the source is closed."""
    source.source_panes = [SourcePane(id="a", group=10)]
    system.poller._clock = time.monotonic
    system.poller.run(until=system.path.exists)

    assert not list((system.home / "tallylight").iterdir())
    assert source.is_closed


def test_stop_wakes_the_loop(system: System) -> None:
    """`stop` from another thread ends a loop that sleeps."""
    system.poller._clock = time.monotonic
    timer = threading.Timer(0.1, system.poller.stop)
    timer.start()
    system.poller.run()


def test_refresh_looks_at_once(system: System, source: HandSource) -> None:
    """A source whose world has changed is looked at before its time."""
    source.every = 1000.0
    system.steps(5)
    assert source.looks == 1

    system.poller.refresh(source)
    system.steps(0.25)
    assert source.looks == 2


def test_a_suspended_machine_burns_no_fuse(system: System, source: HandSource) -> None:
    """Silence that was the machine's sleep is no sign of waiting."""
    count = iter(range(1000))
    source.source_panes = [
        SourcePane(
            id="a", group=AIDER.pid, read=lambda: rows(*(f"{next(count)} {i}" for i in range(5))), read_every=0.1
        )
    ]
    system.steps(3)
    assert system.entry().status is Status.WORKING

    system.now += 3600
    system.poller.step(system.now)
    assert system.entry().status is Status.WORKING


def test_programs_are_bounded() -> None:
    """A program that hangs, or that never stops writing, is killed in its time; one that is not there is None."""
    env = {"PATH": os.environ["PATH"]}
    with pytest.raises(StuckError):
        run(["sleep", "900"], env, patience=0.1)
    with pytest.raises(StuckError):
        run(["yes"], env, limit=100_000)
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
    assert jobs.submit("b", lambda: 1 / 0, results.append, results.append)
    free.set()
    until(lambda: len(delivered) == 2)
    for call in delivered:
        call()

    assert jobs.submit("a", lambda: 1, results.append)
    assert {type(result) for result in results} == {bool, ZeroDivisionError}


def test_many_panes_are_bounded(system: System, source: HandSource, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that shows more panes than a snapshot holds does not fill the memory."""
    monkeypatch.setattr(poller_module, "MAX_PANES", 20)
    source.source_panes = [SourcePane(id=str(n), group=10) for n in range(21)]
    system.steps(1)

    assert len(system.poller._held) == 20


def test_a_fault_costs_only_what_it_is_in(system: System, source: HandSource) -> None:
    """A call that raises, and a pane whose screen cannot be understood, are named, and the others go on."""

    def unreadable() -> Look:
        raise OSError("no look")

    source.source_panes = [SourcePane(id="a", group=10), SourcePane(id="b", group=AIDER.pid, read=unreadable)]
    system.poller.post(lambda: 1 // 0)
    system.steps(2)

    assert system.ids() == ["a", "b"]
    assert system.poller.problems == {}, "it is well again"

    system.poller.post(lambda: {}["no such key"])
    system.poller.step(system.now)
    assert system.poller.problems == {"call": "KeyError: 'no such key'"}


def test_what_is_open_is_kept_on_disk_by_a_thread(
    system: System, source: HandSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is killed leaves its agents for `tally restore`; no loop waits for a disk; a good end leaves none."""
    writers: set[bool] = set()
    save = open_conversations._save

    def noted(path: Path, file: Any) -> None:
        writers.add(threading.current_thread() is threading.main_thread())
        save(path, file)

    monkeypatch.setattr(open_conversations, "_save", noted)
    status_file(str(system.home), status="busy")
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid, tab="0")]
    kept = lambda: list(open_conversations.directory(system.environ).glob("sessions-*.json"))  # noqa: E731
    until(lambda: system.steps(0.25) or kept())

    (path,) = kept()
    assert [one.pane.id for one in open_conversations._read(path)] == ["a"]
    assert writers == {False}
    system.poller.close()
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [True, False])
def test_a_host_that_is_started_again(tmp_path: Path, is_killed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed or ended: in the next one what is the same is as old as it was, in the same order; the rest is new."""
    home, began = str(tmp_path), time.time()
    status_file(home, status="waiting", waitingFor="permission prompt")
    asks = rows(" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel", cursor=1)
    source = HandSource(source_panes=[SourcePane(id="a", group=CLAUDE.pid)])
    first = System(tmp_path, source)
    clocks = [first]
    monkeypatch.setattr(time, "time", lambda: began + clocks[-1].now)
    monkeypatch.setattr(HandTable, "start_time", lambda *_: began)
    first.poller._store.epoch.clock = time.time
    first.steps(5)
    source.source_panes = [*source.source_panes, SourcePane(id="b", group=AIDER.pid, read=lambda: asks)]
    first.steps(10)
    before = {id_: first.entry(id_) for id_ in "ab"}
    assert [before[id_].status for id_ in "ab"] == [Status.WAITING, Status.WAITING]
    assert before["a"].since < before["b"].since
    if not is_killed:
        first.poller.close()
        assert not first.path.exists()

    again = System(tmp_path, source)
    again.now = first.now + 1400
    again.poller._store.epoch.clock = time.time
    clocks.append(again)
    source.source_panes = [*source.source_panes, SourcePane(id="c", group=CRUSH.pid)]
    again.steps(10)
    assert {id_: again.entry(id_).since for id_ in "ab"} == {id_: before[id_].since for id_ in "ab"}
    assert again.entry("c").since > before["b"].since + 1400

    status_file(home, status="busy")
    again.steps(5)
    status_file(home, status="waiting", waitingFor="permission prompt")
    again.steps(5)
    assert again.entry("a").status is Status.WAITING
    assert again.entry("a").since > before["a"].since + 1400
    again.poller.close()
    first.poller.close()
