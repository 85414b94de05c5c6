"""`tally quiet`, `unread`, `seen`: what is asked reaches the pane's host, and is waited for."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.cli import main
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.waiting_time import Waited
from tallylight.snapshot.waiting_time_file import WaitingTimeFile, today
from tallylight.snapshot.writer import SnapshotWriter
from tallylight.ui.layout import duration
from tests.cli.panes import DONE, HOST, NOW, SHELL, WAITING, WORKING, publish
from tests.entries import pane_with
from tests.patience import until
from tests.tables import each


@attrs.define
class Host:
    """A host in a thread: it notes what it is asked and shows what it was told to show then."""

    runtime: Path
    answer: Callable[[Request], list[Pane]]
    asked: list[Request] = attrs.Factory(list)
    _is_open: bool = True

    def run(self) -> None:
        spool = Spool("kitty")
        publish(self.runtime, [WAITING, DONE, WORKING, SHELL])
        self.ready.set()
        while self._is_open:
            for request in spool.take():
                self.asked.append(request)
                publish(self.runtime, self.answer(request))
            time.sleep(0.01)

    ready: threading.Event = attrs.Factory(threading.Event)


def done(request: Request) -> list[Pane]:
    """What a host shows that did what it was asked."""
    told = {
        "unread": {"unread": True},
        "seen": {"seen": True},
        "mute": {"muted_until": 0.0 if request.args[2:] == ("0",) else NOW + 60},
    }
    panes = [WAITING, DONE, WORKING, SHELL]
    return [pane_with(pane, **told[request.verb]) if pane.id == request.pane else pane for pane in panes]


@pytest.fixture
def host(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    # Requests are as old as their files, which the real clock dates.
    monkeypatch.undo()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for name in ("KITTY_PID", "KITTY_WINDOW_ID", "TMUX", "STY", "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    host = Host(runtime, done)
    thread = threading.Thread(target=host.run)
    thread.start()
    assert host.ready.wait(30)
    yield host
    host._is_open = False
    thread.join()


def asked_of(host: Host, count: int = 1) -> list[Request]:
    """What the host was asked, as soon as it is *count* requests: what is so already is not waited for."""
    until(lambda: len(host.asked) >= count, lambda: host.asked)
    return host.asked


#: What the panes are called.
_3 = r"pane 3 \(tallylight\)"
_OFF = "notifications are off"
_AT = r"until \d\d:\d\d"


@pytest.mark.parametrize(
    ("argv", "request_", "told"),
    [
        (["unread", "1"], Request("unread", "1"), "pane 1 is marked as not looked at"),
        (["unread"], Request("unread", "3"), f"{_3} is marked as not looked at"),
        (["seen", "4"], Request("seen", "4"), "pane 4 is marked as looked at"),
        (["seen", "3"], Request("seen", "3"), f"{_3} is marked as looked at, and still waits for you"),
        (["quiet", "2"], Request("mute", "2", ("tab", "", "3600")), rf"pane 2 and its tab: {_OFF} for \d+[mh], {_AT}"),
        (
            ["quiet", "2", "20m"],
            Request("mute", "2", ("tab", "", "1200")),
            rf"pane 2 and its tab: {_OFF} for \d+m, {_AT}",
        ),
        (
            ["quiet", "20m", "2"],
            Request("mute", "2", ("tab", "", "1200")),
            rf"pane 2 and its tab: {_OFF} for \d+m, {_AT}",
        ),
        (["quiet", "2", "off"], Request("mute", "2", ("tab", "", "0")), "pane 2 and its tab: notifications are on"),
        (
            ["quiet", "TALLYlight", "2h"],
            Request("mute", "", ("project", "tallylight", "7200")),
            rf"project tallylight: {_OFF} for 2h, {_AT}",
        ),
        (["quiet", "all", "1d"], Request("mute", "", ("all", "", "86400")), rf"everything: {_OFF} for 1d, {_AT}"),
        (["quiet", "all", "off"], Request("mute", "", ("all", "", "0")), "everything: notifications are on"),
    ],
)
def test_what_is_asked(
    host: Host, argv: list[str], request_: Request, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command asks the host of its pane for one thing, waits until the host shows that it is so, and says so."""
    assert main.main(argv) == 0
    assert asked_of(host) == [request_]
    said = capsys.readouterr()
    assert re.fullmatch(f"{told}\n", said.out) and said.err == ""


def test_in_a_pane_it_is_that_pane(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name it is the pane in which the command runs, however urgent others are."""
    monkeypatch.setenv("KITTY_PID", str(os.getpid()))
    monkeypatch.setenv("KITTY_WINDOW_ID", "1")

    assert main.main(["seen"]) == 0 and host.asked == [Request("seen", "1")]


@each("argv", [["quiet"], ["quiet", "off"], ["quiet", "2h"]])
def test_without_a_name_it_is_never_another_pane(
    host: Host, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Outside of every pane it is wrong usage: the neediest may be another one when it is to be taken back."""
    assert main.main(argv) == 2
    assert "name one, as in `tally quiet 3`" in capsys.readouterr().err and host.asked == []


@each(("argv", "seconds"), [(["quiet", "10m"], "600"), (["quiet", "off"], "0")])
def test_without_a_name_it_is_the_pane_around(
    host: Host, argv: list[str], seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pane it is that one, with a time or without, however urgent others are."""
    monkeypatch.setenv("KITTY_PID", str(os.getpid()))
    monkeypatch.setenv("KITTY_WINDOW_ID", "2")

    assert main.main(argv) == 0
    assert asked_of(host) == [Request("mute", "2", ("tab", "", seconds))]
    host.asked.clear()


@each("name", ["TMUX", "STY"])
def test_within_a_multiplexer_a_window_may_be_another(host: Host, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of kitty are those of the window that the multiplexer was started in: they name none for sure."""
    monkeypatch.setenv("KITTY_PID", str(os.getpid()))
    monkeypatch.setenv("KITTY_WINDOW_ID", "2")
    with monkeypatch.context() as patch:
        patch.setenv(name, "/tmp/tmux-0/default,1867,0")
        assert main.main(["quiet"]) == 2 and host.asked == []


def test_what_waits_rests_as_well(host: Host) -> None:
    """A pane that needs somebody is snoozed for the same time, at most a day; `off` ends both."""
    host.answer = lambda request: [pane_with(WAITING, muted_until=0.0 if request.args[-1] == "0" else NOW + 60)]
    for time_, minutes, seconds in (("2h", "120", "7200"), ("2d", "1440", "172800"), ("off", "0", "0")):
        assert main.main(["quiet", "3", time_]) == 0
        asked = [Request("snooze", "3", (minutes,)), Request("mute", "3", ("tab", "", seconds))]
        assert asked_of(host, 2) == asked
        host.asked.clear()


def test_the_name_of_a_pane_goes_before_a_project(host: Host) -> None:
    """A project may be called as a pane is; then it is the pane."""
    publish(host.runtime, [attrs.evolve(WORKING, project="4"), SHELL])
    assert main.main(["quiet", "4"]) == 0
    assert asked_of(host) == [Request("mute", "4", ("tab", "", "3600"))]


def test_a_tab_that_stays_quiet_says_why(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What its project or everything keeps quiet is not told of after `off`; the message names the way out."""
    monkeypatch.setattr("tallylight.cli.reaching.EFFECT_S", 0.3)
    host.answer = lambda _: [pane_with(WORKING, muted_until=NOW + 60)]
    publish(host.runtime, host.answer(Request("mute", "2")))

    assert main.main(["quiet", "2", "off"]) == 1
    assert "run `tally quiet PROJECT off` or `tally quiet all off`" in capsys.readouterr().err


def test_a_pane_that_is_not_there(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    """The name is repeated, with where to find the right one."""
    assert main.main(["seen", "77"]) == 1
    assert "there is no pane '77'" in capsys.readouterr().err and host.asked == []


def test_a_host_that_does_nothing_is_told(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that had no effect says so and fails."""
    monkeypatch.setattr("tallylight.cli.reaching.EFFECT_S", 0.3)
    host.answer = lambda _: [WAITING]

    assert main.main(["unread", "3"]) == 1
    assert f"{HOST} did not respond" in capsys.readouterr().err


def test_a_host_that_takes_no_requests(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A host of an older version has no spool of this kind: that is told at once."""
    publish(runtime, [WAITING])
    (runtime / "tallylight" / f"{HOST}.requests").mkdir()

    assert main.main(["seen", "3"]) == 1
    assert "accepts no requests" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["quiet", "unread", "seen"])
def test_nothing_runs(runtime: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without any terminal there is nothing to do, and it is said what is missing."""
    assert main.main([verb]) == 1
    assert "tally doctor" in "".join(capsys.readouterr())


@each(
    ("seconds", "words"),
    [(1, "1 s"), (59.4, "59 s"), (60, "1 min"), (119, "1 min"), (3599, "59 min"), (3600, "1 h"), (7500, "2 h 5 min")],
)
def test_durations(seconds: float, words: str) -> None:
    """A person reads minutes, and hours where there are."""
    assert duration(seconds) == words


def waited(runtime: Path, host: str, seconds: float, **more: object) -> None:
    WaitingTimeFile(host, {"XDG_RUNTIME_DIR": str(runtime)}).save(
        attrs.evolve(Waited(day=today(NOW), waited_s=seconds, written=NOW), **more)
    )


def test_status_tells_how_long_agents_waited(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line adds up all hosts of today, those that have ended too; a wait that goes on counts up to now."""
    publish(runtime, [WAITING])
    waited(runtime, "kitty", 600, waiting=2, written=NOW - 30)
    waited(runtime, "screen", 120, waiting=5, written=NOW - 3600)

    assert main.main(["status"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "agents waited 12 min for you today"
    assert main.main(["status", "--json"]) == 0
    assert '"waited_s": 750.0' in capsys.readouterr().out
    assert main.main(["status", "--waiting"]) == 3
    assert "today" not in capsys.readouterr().out


@pytest.mark.parametrize("day", ["1970-01-01", "1970-01-03", ""])
def test_other_days_do_not_count(runtime: Path, day: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What agents waited yesterday is forgotten."""
    assert day != today(NOW)
    publish(runtime, [WAITING])
    waited(runtime, "kitty", 600, day=day)

    assert main.main(["status"]) == 0
    assert "today" not in capsys.readouterr().out


def test_a_new_host_sweeps_other_days(runtime: Path) -> None:
    """Files of yesterday go, those of today stay, and one's own is gone on with."""
    environ = {"XDG_RUNTIME_DIR": str(runtime)}
    publish(runtime, [])
    waited(runtime, "kitty", 600)
    waited(runtime, "screen", 60)
    waited(runtime, "tmux", 60, day="1970-01-01")
    (runtime / "tallylight" / f"wezterm-{os.getpid()}.waited").write_text("{")

    ledger = WaitingTimeFile("kitty", environ).open(today(NOW))

    assert (ledger.day, ledger.waited_s) == (today(NOW), 600)
    names = {path.name.partition("-")[0] for path in (runtime / "tallylight").glob("*.waited")}
    assert names == {"kitty", "screen"}


def test_a_file_that_cannot_be_removed_costs_nothing(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new host whose disk keeps yesterday's files begins with a sum all the same."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    publish(runtime, [])
    waited(runtime, "kitty", 600)
    waited(runtime, "tmux", 60, day="1970-01-01")
    monkeypatch.setattr(Path, "unlink", refuse)

    assert WaitingTimeFile("kitty", {"XDG_RUNTIME_DIR": str(runtime)}).open(today(NOW)).waited_s == 600


def test_what_others_may_write_is_not_read(runtime: Path) -> None:
    """A sum in a directory that others can change is nobody's, and nothing is swept from there."""
    publish(runtime, [])
    waited(runtime, "kitty", 600)
    waited(runtime, "tmux", 60, day="1970-01-01")
    (runtime / "tallylight").chmod(0o777)

    assert WaitingTimeFile("kitty", {"XDG_RUNTIME_DIR": str(runtime)}).open(today(NOW)).waited_s == 0
    assert len(list((runtime / "tallylight").glob("*.waited"))) == 2


def test_a_wait_is_written_when_it_begins_and_ends(runtime: Path) -> None:
    """While it lasts, nothing needs to be written; nor before anything ever waited."""
    file = WaitingTimeFile("kitty", {"XDG_RUNTIME_DIR": str(runtime)})
    begun = Waited(day="d", waited_s=10, waiting=1, written=1000)
    assert not file.is_due(Waited(day="d", written=999))
    assert file.is_due(begun)
    file.save(begun)
    assert not file.is_due(Waited(day="d", waited_s=110.3, waiting=1, written=1100))
    assert file.is_due(Waited(day="d", waited_s=110, waiting=0, written=1100))
    assert file.is_due(Waited(day="e", waited_s=0, waiting=1, written=1100))


def test_a_snoozed_pane_says_so(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its status stands, and beside it that it rests."""
    publish(runtime, [pane_with(WAITING, snoozed_until=NOW + 5), pane_with(DONE, snoozed_until=NOW - 5)])
    assert main.main(["status"]) == 0
    lines = capsys.readouterr().out.splitlines()

    # What was put off stands below what was not.
    assert "waiting (permission), snoozed" in lines[1] and "snoozed" not in lines[0]


def test_a_quiet_pane_says_so(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside its status, and with how long it lasts."""
    publish(runtime, [pane_with(WAITING, muted_until=NOW + 60)])
    assert main.main(["status"]) == 0 and "waiting (permission), quiet" in capsys.readouterr().out
    assert main.main(["why", "3"]) == 0 and re.search(r"  quiet +until \d\d:\d\d, 1m more", capsys.readouterr().out)


def test_a_pane_of_another_machine_is_not_muted(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its notifications are those of that machine: that is said at once, and nobody is asked."""
    writer = SnapshotWriter.for_host("machines", {"XDG_RUNTIME_DIR": str(runtime)}, lambda: NOW)
    writer.publish([attrs.evolve(WORKING, id="devbox/kitty-9:4")], 1.0)
    assert main.main(["quiet", f"machines-{os.getpid()}:devbox/kitty-9:4"]) == 1
    assert "the notifications of devbox are its own: run `tally quiet` there" in capsys.readouterr().err


def test_a_question_of_another_machine_rests(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its notifications are that machine's, but its question can be snoozed from here, and woken again."""
    writer = SnapshotWriter.for_host("machines", {"XDG_RUNTIME_DIR": str(runtime)}, lambda: NOW)
    pane = attrs.evolve(WAITING, id="devbox/kitty-9:4")

    def answer(_host: str, request: Request, _environ: object) -> None:
        minutes = float(request.args[0])
        writer.publish([pane_with(pane, snoozed_until=NOW + 60 * minutes if minutes else 0.0)], 99.0 - minutes)

    monkeypatch.setattr("tallylight.snapshot.requests.send", answer)
    writer.publish([pane], 1.0)
    for when, told in (("20m", r"is snoozed for 20m, until \d\d:\d\d or until"), ("off", "is no longer snoozed")):
        assert main.main(["quiet", f"machines-{os.getpid()}:devbox/kitty-9:4", when]) == 0
        assert re.search(told, capsys.readouterr().out)


def test_a_mute_until_a_time_of_day(host: Host) -> None:
    """It is the next time that the clock shows it: whole minutes away from this second."""
    soon = time.localtime(time.time() + 3600)
    assert main.main(["quiet", "all", time.strftime("%H:%M", soon)]) == 0
    assert 3600 - 61 <= float(asked_of(host)[0].args[2]) <= 3600


@each(
    "argv",
    [
        ["quiet", "3", "2"],
        ["quiet", "8d"],
        ["quiet", "3", "0m"],
        ["quiet", "25:00", "2h", "3"],
    ],
)
def test_mutes_that_make_no_sense(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """They are refused as a mistake of the command line, and nobody is asked."""
    assert main.main(argv) == 2
    assert argv[0] in capsys.readouterr().err
