"""OSC 26 on its whole way: the bytes of a program, what a relay makes of them, and the light of the host's tracker."""

from __future__ import annotations

from base64 import b64encode
from itertools import permutations

import attrs
import pytest

from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.relay.core import RelayCore
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.wire import envelope, osc1338
from tests.relay.told import Line, told
from tests.tables import each

AMBER = "CodeAgent=claude;Status=awaiting-approval"
LIVE = ";Detail=thinking;TaskProgress=1/4"


class Pane:
    """A program behind a relay, in a pane whose foreground it has; each frame comes a second after the one before."""

    def __init__(self) -> None:
        self.line, self.tracker, self.now = Line(), Tracker(Timing()), 1.0
        self.tracker.foreground(Foreground("claude", 1), self.now)

    def says(self, *frames: str) -> Status:
        """The program sends OSC 26; return the light a second later."""
        for frame in frames:
            for report in told(self.line.at(self.now, envelope.osc(26, frame))):
                self.tracker.report(report, self.now)
            self.now += 1.0
            self.tracker.tick(self.now)
        return self.tracker.decision.status

    def hears(self, source: Source, status: Status) -> Status:
        """Another source tells *status*; return the light a second later."""
        self.tracker.report(Report(source=source, status=status), self.now)
        self.now += 1.0
        self.tracker.tick(self.now)
        return self.tracker.decision.status


@each("ends", ["Status=", "CodeAgent=", "Status=;CodeAgent=", "CodeAgent=;Detail=x"])
@each("begins", [AMBER, "CodeAgent=claude;Status=running", "CodeAgent=claude;Status=error" + LIVE])
def test_an_empty_value_ends_the_light(begins: str, ends: str) -> None:
    """With its status or its name cleared an agent says nothing more, and what others say of it decides."""
    pane = Pane()
    assert pane.says(begins) in (Status.WAITING, Status.WORKING, Status.ERROR)
    assert pane.says(ends) is Status.IDLE
    assert [report.status for report in pane.line.core.reports()] == [Status.ACTIVE] * ("CodeAgent=" not in ends)
    assert pane.hears(Source.REGISTRY, Status.BACKGROUND) is Status.BACKGROUND


def test_an_older_file_decides_once_the_status_is_cleared() -> None:
    """What the agent's own file has said all along shows as soon as OSC 26 says nothing."""
    pane = Pane()
    pane.hears(Source.REGISTRY, Status.BACKGROUND)
    assert pane.says(AMBER) is Status.WAITING
    assert pane.says("Status=") is Status.BACKGROUND


def test_the_next_agent_does_not_wait_because_the_last_one_did() -> None:
    """A name that was cleared takes its amber light along; the next name has none before it says so."""
    pane = Pane()
    assert pane.says(AMBER, "CodeAgent=", "CodeAgent=codex") is Status.IDLE
    assert pane.says("Status=running") is Status.WORKING
    assert pane.tracker.decision.report.agent == "codex"


def test_a_cleared_status_can_come_again() -> None:
    """A withdrawal is no end: the next status lights the pane again."""
    assert Pane().says(AMBER, "Status=", "Status=awaiting-input") is Status.WAITING


KEYS = [
    ("Detail", "thinking", "detail", "thinking"), ("TaskProgress", "1/4", "progress", Progress(1, 4)),
    ("TaskList", "QWRk", "tasks", ("Add",)), ("SessionId", "YTE=", "session", "a1"),
    ("SessionTitle", "Rml4", "title", "Fix"), ("ProjectFolder", "L3A=", "cwd", "/p"),
    ("WorkTree", "L3c=", "worktree", "/w"), ("Mode", "cGxhbg==", "mode", "plan"),
    ("MethodResume", "LS1y", "resume", ("claude", "--r")), ("MethodFork", "LS1m", "fork", ("claude", "--f")),
]  # fmt: skip
ALL = ";".join([AMBER, *(f"{key}={value}" for key, value, *_ in KEYS)])


@each(("key", "value", "field", "shown"), KEYS)
def test_an_empty_value_leaves_no_text(key: str, value: str, field: str, shown: object) -> None:
    """Whatever is cleared is gone from the pane, and the light stays as it is."""
    pane = Pane()
    pane.says(f"{AMBER};{key}={value}")
    assert getattr(pane.tracker.decision.report, field) == shown

    assert pane.says(f"{key}=") is Status.WAITING
    assert not getattr(pane.tracker.decision.report, field)


@each("frames", [("CodeAgent=", "CodeAgent=codex;Status=idle"), ("CodeAgent=codex;Status=idle",)])
def test_the_next_agent_inherits_nothing(frames: tuple[str, ...]) -> None:
    """All that an agent has said goes with its name, its session and how to resume that included."""
    pane = Pane()
    pane.says(ALL, *frames)
    (report,) = pane.line.core.reports()
    assert report == Report(source=Source.PROTOCOL, rule="osc-26", status=Status.IDLE, agent="codex")


@pytest.mark.slow
@each("together", [True, False])
def test_keys_are_emptied_in_any_order(*, together: bool) -> None:
    """Of every two keys, emptied in one frame or in two, in either order, nothing is left, and no other is touched."""
    fields = {key: field for key, _, field, _ in KEYS}
    for first, second in permutations([*fields, "Status", "CodeAgent"], 2):
        pane, emptied = Pane(), {first, second}
        pane.says(ALL)
        before = pane.line.core.reports()
        pane.says(*([f"{first}=;{second}="] if together else [f"{first}=", f"{second}="]))
        left = pane.line.core.reports()
        if "CodeAgent" in emptied:
            assert left == [], (first, second)
        if "Status" in emptied:
            # Its name alone remains.
            assert [report.status for report in left] == [Status.ACTIVE] * ("CodeAgent" not in emptied), (first, second)
        if emptied & {"Status", "CodeAgent"}:
            assert pane.tracker.decision.status is Status.IDLE
            continue
        blank = Report(source=Source.PROTOCOL, status=None)
        names = [fields[key] for key in emptied] + ["project"] * ("ProjectFolder" in emptied)
        gone = {name: getattr(blank, name) for name in names}
        assert left == [attrs.evolve(before[0], **gone)], (first, second)


@each(("ends", "left"), [("Status=", [Status.ACTIVE]), ("CodeAgent=", [])])
def test_what_is_emptied_is_not_repeated(ends: str, left: list[Status]) -> None:
    """The heartbeat tells no status that was emptied, and stops once the name is; a name alone is still told."""
    line = Line(RelayCore(heartbeat=8.0))
    line.at(1.0, envelope.osc(26, ALL))
    assert [report.status for report in told(line.tick(9.0))] == [Status.WAITING]
    line.at(10.0, envelope.osc(26, ends))
    assert [report.status for report in told(line.tick(18.0))] == left
    assert (line.core.deadline() is None) is (left == [])


@each(
    ("frame", "shown"),
    [
        ("Status=rate_limited", "rate_limited"),
        ("Status=tool:Bash", "tool:Bash"),
        ("Detail=rate_limited", "rate_limited"),
        ("Detail=tool:Bash", "tool:Bash"),
        ("Detail=Edit", "Edit"),
        ("Status=compacting;Detail=tool:Bash", "compacting: tool:Bash"),
        ("Status=\u202efinished!\u200b", "finished!"),
        ("Status=" + "x" * 300, "x" * 64),
        ("Status=word;Detail=" + b64encode(b"y" * 300).decode(), "word: " + "y" * 250),
    ],
)
@each("before", [AMBER, "CodeAgent=claude;Status=running", "CodeAgent=claude;Status=idle"])
def test_a_word_of_its_own_is_shown_and_decides_nothing(before: str, frame: str, shown: str) -> None:
    """A word that is not in the list stands beside the status that there was, and no light comes or goes by it."""
    pane = Pane()
    light, kind = pane.says(before), pane.tracker.decision.kind
    assert pane.says(frame) is light
    assert pane.tracker.decision.kind is kind
    assert pane.tracker.decision.report.detail == shown

    assert pane.says("Status=error;Detail=") is Status.ERROR
    assert pane.tracker.decision.report.detail == ""


def test_a_word_of_its_own_is_no_status() -> None:
    """An agent that has told no status of the list has none by any other word, limits included."""
    pane = Pane()
    pane.says("CodeAgent=claude;Status=rate_limited", "Status=awaiting-a-miracle", "Status=down")

    assert [report.status for report in pane.line.core.reports()] == [Status.ACTIVE]
    assert pane.tracker.decision.kind is not Kind.LIMIT


def test_variables_are_bounded() -> None:
    """A pane keeps sixteen, however many are said, and each is replaced and removed by its own name alone."""
    pane = Pane()
    pane.says(AMBER, *(f"UserVar:v{number}=WC0x" for number in range(40)), "UserVar:v3=", "UserVar:v50=WC0y")
    (report,) = told(pane.line.core.to_terminal()) or pane.line.core.reports()
    assert len(report.vars) == osc1338.MAX_VARS
    assert ("v50", "X-2") in report.vars and "v3" not in dict(report.vars)
    assert pane.tracker.decision.report.vars == report.vars

    long = b64encode(b"x" * (osc1338.MAX_VAR + 1)).decode()
    pane.says(f"UserVar:v50={long}", "UserVar:" + "n" * 65 + "=WC0x")
    assert pane.tracker.decision.report.vars == report.vars
