"""What is heard of the output of tmux's panes, and that each report counts once, whichever way it comes."""

from __future__ import annotations

import attrs
import pytest

from tallylight.hosts.polling.host import SourcePane
from tallylight.hosts.polling.pane_events import MAX_REMEMBERED_REPORTS, TWICE_S, PaneEvent, ReportCopies
from tallylight.hosts.tmux import ear
from tallylight.hosts.tmux.control_protocol import ControlReader, Notice, Output
from tallylight.hosts.tmux.ear import Ear, Ears
from tallylight.model.status import Status
from tallylight.wire import envelope
from tests.hosts.detached.polling import HandSource, System
from tests.tables import each

WAITS = b"\x1b]1338;state=waiting;tool=claude\x07"
WORKS = b"\x1b]7501;state=working:app=claude\x07"
NOTED = envelope.user_var("tally", "state=waiting;tool=claude;message=Go?")


def reports(words: list[PaneEvent]) -> list[str | None]:
    return [word.report for word in words]


@each(
    ("data", "said"),
    [
        (WAITS, ["state=waiting;tool=claude;via=osc-1338"]),
        (WAITS + WORKS, ["state=working;tool=claude;via=osc-7501"]),
        (WORKS + WAITS, ["state=working;tool=claude;via=osc-7501"]),
        (NOTED, ["state=waiting;tool=claude;message=Go?"]),
        (WAITS + NOTED, ["state=waiting;tool=claude;message=Go?"]),
        (envelope.tmux_wrap(WAITS + NOTED), ["state=waiting;tool=claude;message=Go?"]),
        (envelope.tmux_wrap(b"\x1b]2;of the terminal outside\x07"), []),
        (b"\x1b]2;a title\x07\x1b]133;C\x07\x1b]133;D;1\x07\x1b]9;4;3\x07", [None] * 4),
        (b"\x1b]133;A\x07\x1b]1337;SetUserVar=other=MQ==\x07\x1b]52;c;MQ==\x07\x07", []),
        (WAITS[:-1] + b"\x1b]0;t\x07", [None]),
        (b"\x1b]88;arm;cmd=Y2xhdWRl\x07", ["resume=claude"]),
        (b"\x1b]9;Ready\x07\x1b]777;notify;Claude;Ready\x07\x1b]99;i=1:d=0;Rea\x07\x1b]99;i=1;dy\x07", [None] * 3),
        (WAITS + b"\x1bc", []),
    ],
)
def test_what_is_heard(data: bytes, said: list[str | None]) -> None:
    """Each sequence by its codec, in whatever pieces it comes; what is not a program's word is nothing."""
    assert reports(Ear().hear(data, 1.0)) == said
    one, words = Ear(), []
    for at in range(len(data)):
        words += one.hear(data[at : at + 1], 1.0)
    assert reports(words)[-1:] == (said[-1:] if b"\x1bc" not in data else ["state=clear"])


def test_what_is_missing() -> None:
    """With a gap the reports of work and questions end, and half a sequence; what is over or noted stays."""
    one = Ear()
    one.hear(WAITS + b"\x1b]7501;state=done:app=claude:id=sub\x07\x1b]2;a title\x07" + b"\x1b]1338;state=work", 1.0)
    assert one.has_title

    assert reports(one.lost()) == ["state=clear"]
    assert not one.has_title
    assert one.hear(b"ing\x07", 2.0) == []
    assert reports(one.hear(WAITS, 3.0)) == ["state=waiting;tool=claude;via=osc-1338"]
    one.lost()
    one.hear(NOTED, 4.0)
    assert one.lost() == []


def test_a_flood_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than is heard of a pane pauses it, and others go on; with time it may say more."""
    monkeypatch.setattr(ear, "PANE_BURST_BYTES", 1000)
    monkeypatch.setattr(ear, "BYTES_A_SECOND", 100)
    told: list[tuple[str, list[str | None]]] = []
    ears = Ears(lambda pane, words: told.append((pane, reports(words))))

    assert ears.hear("client", "%1", b"x" * 900, 1.0)
    assert not ears.hear("client", "%1", b"x" * 900, 1.0)
    assert ears.hear("client", "%2", WAITS, 1.0)
    assert ears.hear("client", "%1", b"x", 12.0)
    assert told == [("%2", ["state=waiting;tool=claude;via=osc-1338"])]


def test_one_client_hears_a_pane() -> None:
    """Of two clients that get one pane the first is heard, and after it has left the other, which was not paused."""
    told: list[tuple[str, list[str | None]]] = []
    ears = Ears(lambda pane, words: told.append((pane, reports(words))))

    assert ears.hear("a", "%1", WAITS, 1.0)
    assert ears.hear("b", "%1", WAITS, 1.0)
    ears.lost("b", "%1")
    ears.leave("b")
    ears.leave("a")
    assert ears.hear("b", "%1", WORKS, 2.0)
    ears.keep(["%2"])
    ears.leave("b")
    assert [words for _, words in told] == [
        ["state=waiting;tool=claude;via=osc-1338"],
        ["state=clear"],
        ["state=working;tool=claude;via=osc-7501"],
    ]


def test_output_in_control_mode() -> None:
    """Output is told from all else, with or without its age, and never inside of a reply; a moved client has to go."""
    reader = ControlReader("$1")
    lines = [
        "%session-changed $1 one",
        r"%output %3 a\033]2;x\007 \134 ü: b",
        "%extended-output %3 0 : c",
        "%extended-output %3 12 future words : d: e",
        "%pause %3",
        "%begin 1 1 1",
        "%output %3 no",
        "%end 1 1 1",
        "%output %3 \\",
        "%session-changed $2 two",
    ]
    found = [reader.line(line) for line in lines]

    assert found[:5] == [
        Notice.CHANGE,
        Output("%3", "a\x1b]2;x\x07 \\ ü: b".encode()),
        Output("%3", b"c"),
        Output("%3", b"d: e"),
        Output("%3", None),
    ]
    assert found[8:] == [Output("%3", b""), Notice.END]


def test_a_report_by_two_ways_counts_once() -> None:
    """The first counts; the same by the other way does not, unless it comes much later or again."""
    ways = ReportCopies()
    assert ways.admits("a", "stream", "socket", 1.0)
    assert not ways.admits("a", "socket", "stream", 1.1)
    assert ways.admits("a", "socket", "stream", 1.2), "it was said again"
    assert ways.admits("b", "socket", "stream", 1.3)
    assert not ways.admits("b", "stream", "socket", 1.4)
    assert not ways.admits("a", "stream", "socket", 1.5)
    assert ways.admits("c", "stream", "socket", 2.0)
    assert ways.admits("c", "socket", "stream", 2.0 + TWICE_S)
    for number in range(2 * MAX_REMEMBERED_REPORTS):
        assert ways.admits(f"{number}", "stream", "socket", 9.0)
    assert len(attrs.astuple(ways)[0]) <= MAX_REMEMBERED_REPORTS


@pytest.fixture
def pane(source: HandSource) -> SourcePane:
    pane = SourcePane(id="a", leader=50)
    source.source_panes = [pane]
    return pane


@pytest.mark.slow
def test_who_hands_a_report_over(system: System, pane: SourcePane) -> None:
    """It is of the pane whose first process is in the line of its sender, also if that is listed a little later."""
    assert pane.leader == 50
    system.poller.reports.from_socket([70, 60, 50], ["state=waiting;tool=claude;message=Go?"])
    system.poller.reports.from_socket([70, 60, 51], ["state=done"])
    system.steps(2)
    assert (system.entry().status, system.entry().message) == (Status.WAITING, "Go?")
    system.poller.reports.from_output("a", [PaneEvent.of_payload("state=working;tool=claude")])
    system.poller.reports.from_output("b", [PaneEvent.of_payload("state=done")])
    system.steps(2)
    assert system.entry().status is Status.WORKING
