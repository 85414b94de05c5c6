"""The trust rules, each as a time-line: (seconds, what happens) and then what is shown."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.explained import put_aside
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.records import MAX_RECORDS
from tallylight.tracker.tracker import Tracker
from tests.tables import each

Step = Callable[[Tracker, float], None]


def say(source: Source, status: Status | None, kind: Kind | None = None, **fields: object) -> Step:
    report = Report(source=source, status=status, kind=kind, **fields)  # type: ignore[arg-type]
    return lambda tracker, now: tracker.report(report, now)


def explicit(word: str, kind: Kind | None = None, **fields: object) -> Step:
    return say(Source.PROTOCOL, Status(word), kind, **fields)


def registry(word: str) -> Step:
    return say(Source.REGISTRY, Status(word))


def title(word: str) -> Step:
    return say(Source.TITLE, Status(word))


def notified(tracker: Tracker, now: float) -> None:
    tracker.report(Report(source=Source.NOTIFICATION, status=Status.WAITING, message="Approve?"), now)


def screen(word: str) -> Step:
    return say(Source.SCREEN, Status(word))


def unread(tracker: Tracker, now: float) -> None:
    tracker.report(Report(source=Source.SCREEN, status=None), now)


def agent(name: str = "claude", instance: int = 1) -> Step:
    return lambda tracker, now: tracker.foreground(Foreground(name, instance), now)


def speaker(tracker: Tracker, now: float) -> None:
    tracker.foreground(Foreground("claude", 1, speaks=True), now)


def carrier(tracker: Tracker, now: float) -> None:
    tracker.foreground(Foreground("ssh", 7, is_agent=False), now)


def shell(tracker: Tracker, now: float) -> None:
    tracker.foreground(None, now)


def stopped(tracker: Tracker, now: float) -> None:
    tracker.foreground(None, now, is_gone=False)


def output(tracker: Tracker, now: float) -> None:
    tracker.output(now)


def tick(tracker: Tracker, now: float) -> None:
    tracker.tick(now)


def look(tracker: Tracker, now: float) -> None:
    tracker.seen(now)


def prompt(tracker: Tracker, now: float) -> None:
    tracker.command_end(None, now)


def starts(tracker: Tracker, now: float) -> None:
    tracker.command_start(now)


def ends(code: int | None) -> Step:
    return lambda tracker, now: tracker.command_end(code, now)


TIMELINES: dict[str, tuple[list[tuple[float, Step]], str]] = {
    # Nothing known
    "a pane nobody speaks of has no light": ([(60, tick)], "active"),
    "a shell at its prompt is idle": ([(0, prompt)], "idle"),
    "a command that is no agent is active": ([(0, prompt), (1, starts)], "active"),
    "output of a plain command is nothing": ([(0, starts), (1, output), (2, tick)], "active"),
    "an agent that only named itself is idle": ([(0, explicit("active", agent="qed")), (60, tick)], "idle"),
    "until it has left": ([(0, explicit("active", agent="qed")), (1, prompt), (2, starts)], "active"),
    "what is only active is no agent": ([(0, explicit("active"))], "active"),
    "a name silences no guess": ([(0, agent()), (1, explicit("active", agent="claude")), (40, output)], "working"),
    "nor does one from before the start": (
        [(0, explicit("active", agent="claude")), (1, agent()), (40, screen("waiting"))],
        "waiting",
    ),
    "silence is told of one that only named itself": (
        [(0, agent()), (0.5, explicit("active", agent="claude")), (31, tick), (36, tick)],
        "quiet",
    ),
    "a status that is taken back leaves the name": (
        [(0, explicit("working", agent="qed")), (1, explicit("active", agent="qed"))],
        "idle",
    ),
    # 1: explicit wins
    "output does not undo an explicit idle": ([(0, agent()), (1, explicit("idle")), (2, output)], "idle"),
    "silence does not undo an explicit working": ([(0, agent()), (1, explicit("working")), (31, tick)], "working"),
    "a screen rule has no vote after a report": (
        [(0, agent()), (1, explicit("working")), (2, screen("waiting"))],
        "working",
    ),
    "an explicit report outlives its agent's start": ([(0, explicit("working")), (1, agent())], "working"),
    "a report long before the agent is not its own": ([(0, explicit("done")), (9, agent())], "working"),
    "a new agent starts with a clean slate": (
        [(0, agent()), (1, explicit("idle")), (5, agent(instance=2)), (6, output), (11, tick)],
        "quiet",
    ),
    # 2: waiting persists
    "no timer clears waiting": ([(0, agent()), (1, explicit("waiting")), (36000, tick)], "waiting"),
    "quiet persists": ([(0, agent()), (0, output), (4, tick), (600, tick)], "quiet"),
    "looking does not answer": ([(0, agent()), (1, explicit("waiting")), (2, look), (3, tick)], "waiting"),
    "output ends it": ([(0, agent()), (0, output), (4, tick), (5, output)], "working"),
    "a lesser source does not end waiting": (
        [(0, agent()), (0, screen("waiting")), (1, output), (2, output)],
        "waiting",
    ),
    "what a program asks stays after its end": ([(0, explicit("waiting")), (1, prompt)], "waiting"),
    "until a look": ([(0, explicit("waiting")), (1, prompt), (2, look)], "idle"),
    "or the next command": ([(0, explicit("waiting")), (1, prompt), (2, starts)], "active"),
    "a turn that was over is no crash": (
        [(0, agent()), (1, explicit("done")), (2, shell), (2.1, ends(137)), (2.2, tick)],
        "done",
    ),
    "nor is one of which tasks ran on": ([(0, agent()), (1, explicit("background")), (2, shell)], "done"),
    "but what it works on ends": ([(0, explicit("working")), (1, prompt)], "idle"),
    "the status file ends a waiting that hooks forgot": (
        [(0, agent()), (0, registry("waiting")), (0, explicit("waiting")), (9, registry("working")), (9.5, tick)],
        "working",
    ),
    "a status file read late contradicts nothing": (
        [(0, agent()), (1.0, explicit("waiting")), (1.1, registry("working")), (1.4, registry("waiting")), (9, tick)],
        "waiting",
    ),
    "the file knows that only a shell of Claude's still runs": (
        [
            (0, agent()),
            (0, explicit("working")),
            (1, explicit("working", id="a")),
            (2, registry("background")),
            (2.2, explicit("working")),
            (2.7, tick),
        ],
        "background",
    ),
    "not at once: a turn may have begun that the file is late to tell": (
        [(0, agent()), (0, registry("background")), (1, explicit("working")), (1.1, registry("working")), (9, tick)],
        "working",
    ),
    "a dialog on the screen stands behind an idle glyph": (
        [
            (0, agent()),
            (0, title("working")),
            (1, screen("waiting")),
            (1.1, title("done")),
            (1.2, screen("waiting")),
            (1.5, tick),
        ],
        "waiting",
    ),
    "but one that was last seen before it may have been answered": (
        [(0, agent()), (0, title("working")), (1, screen("waiting")), (1.1, title("done")), (9, tick)],
        "done",
    ),
    "a dialog that came after the spinner": (
        [(0, agent()), (0, title("working")), (1, screen("waiting")), (1.5, tick)],
        "waiting",
    ),
    "but not before it": (
        [(0, agent()), (0, title("idle")), (1, screen("waiting")), (2, title("working")), (9, tick)],
        "working",
    ),
    "a screen does not call work what a title calls idle": (
        [(0, agent()), (0, title("idle")), (1, screen("working")), (9, tick)],
        "idle",
    ),
    "an idle screen is not quiet": (
        [(0, agent()), (0, output), (1, screen("idle")), (9, tick)],
        "idle",
    ),
    "a dialog that is gone was answered": (
        [(0, agent()), (0, output), (1, screen("waiting")), (2, unread), (2.2, unread), (2.3, tick)],
        "working",
    ),
    "an idle glyph does not end waiting": (
        [(0, agent()), (0, title("working")), (1, explicit("waiting")), (2, title("idle")), (9, tick)],
        "waiting",
    ),
    "nor does one that ends a turn": (
        [(0, agent()), (0, title("working")), (1, explicit("waiting")), (2, title("done")), (9, tick)],
        "waiting",
    ),
    "an idle glyph ends a working that hooks forgot": (
        [(0, agent()), (0, title("working")), (1, explicit("working")), (5, title("idle")), (6, tick)],
        "idle",
    ),
    # 3: everything else decays
    "explicit working burns its fuse": ([(0, agent()), (1, explicit("working")), (301, tick)], "idle"),
    "explicit working holds until its fuse": ([(0, agent()), (1, explicit("working")), (300.9, tick)], "working"),
    "output keeps an explicit working alive": (
        [(0, agent()), (1, explicit("working")), (200, output), (400, tick)],
        "working",
    ),
    "the fuse leaves waiting alone": ([(0, agent()), (1, explicit("waiting")), (999, tick)], "waiting"),
    "a title that stopped spinning fades": ([(0, agent()), (0, title("working")), (1, look), (31, tick)], "quiet"),
    "a status file does not decay while it is read": (
        [(0, agent()), (0, registry("working")), (3600, tick)],
        "working",
    ),
    # 4: silence is quiet, for guesses alone
    "less than four seconds of silence are none": ([(0, agent()), (1, output), (4.9, tick)], "working"),
    "four seconds are": ([(0, agent()), (1, output), (5, tick)], "quiet"),
    "an agent found silent is quiet": ([(0, agent()), (4, tick)], "quiet"),
    "a screen that is idle is no silence": ([(0, agent()), (1, output), (5, tick), (6, screen("idle"))], "idle"),
    "nor is a turn that ended by its title": ([(0, agent()), (1, title("done")), (2, output), (6.5, tick)], "done"),
    "quiet with a task that runs is background": (
        [(0, agent()), (0, title("background")), (1, output), (6, tick)],
        "background",
    ),
    "silence ends no question": ([(0, agent()), (1, output), (2, notified), (7, tick)], "waiting"),
    "what an agent draws while it starts is no work": ([(0, speaker), (0.5, output), (1, output)], "idle"),
    "one that should speak and does not is watched": (
        [(0, speaker), (0.5, output), (20.5, tick), (21, output)],
        "working",
    ),
    "and is quiet when it is silent": ([(0, speaker), (0.5, output), (20.5, tick), (24.5, tick)], "quiet"),
    "one that speaks in time is believed": ([(0, speaker), (0.5, output), (1, registry("idle")), (9, tick)], "idle"),
    "a status file that is idle keeps silence quiet": ([(0, agent()), (1, registry("idle")), (60, tick)], "idle"),
    # 5: debounce defers
    "a change within 100 ms is held": ([(0, explicit("working")), (0.05, explicit("waiting"))], "working"),
    "and takes effect when the window closes": (
        [(0, explicit("working")), (0.05, explicit("waiting")), (0.1, tick)],
        "waiting",
    ),
    "the last of a burst wins": (
        [(0, explicit("working")), (0.02, explicit("waiting")), (0.04, explicit("done")), (0.2, tick)],
        "done",
    ),
    # 6: hysteresis of the screen
    "a first reading applies at once": ([(0, agent()), (1, screen("waiting"))], "waiting"),
    "two in a row are": ([(0, agent()), (1, screen("waiting")), (2, screen("idle")), (3, screen("idle"))], "idle"),
    # A notification raises attention, never clears
    "a notification of an agent that says nothing else": ([(0, agent()), (1, output), (2, notified)], "waiting"),
    "goes when the agent goes on": ([(0, agent()), (1, output), (2, notified), (3, output)], "working"),
    "no look takes it back": ([(0, agent()), (1, output), (2, notified), (3, look)], "waiting"),
    "it does not contradict the agent's own words": (
        [(0, agent()), (1, registry("working")), (2, notified)],
        "working",
    ),
    # 7: the foreground decides who may speak
    "a title in a shell says nothing": ([(0, prompt), (1, title("working"))], "idle"),
    "a title under ssh says nothing": ([(0, carrier), (1, title("working"))], "active"),
    "a report through ssh counts": ([(0, carrier), (1, explicit("working"))], "working"),
    "ssh that ends takes a working with it": ([(0, carrier), (1, explicit("working")), (2, shell)], "active"),
    # 9: what is gone
    "vanished in mid-turn is down": ([(0, agent()), (1, registry("working")), (2, shell)], "down"),
    "down goes when seen": ([(0, agent()), (1, registry("working")), (2, shell), (3, look)], "active"),
    "a guess never concludes down": ([(0, agent()), (1, output), (2, shell)], "done"),
    "but a signal's exit code does": ([(0, agent()), (1, output), (2, shell), (2.1, ends(137)), (2.2, tick)], "down"),
    "a good exit code is no crash": (
        [(0, agent()), (1, title("working")), (2, shell), (2.1, ends(0)), (2.2, tick)],
        "done",
    ),
    "a goodbye is not down": (
        [(0, agent()), (1, explicit("working")), (2, say(Source.PROTOCOL, None)), (2.2, shell)],
        "active",
    ),
    "nor is a status file that was removed": (
        [(0, agent()), (1, registry("working")), (9, say(Source.REGISTRY, None)), (9.2, shell)],
        "active",
    ),
    "nor is a title believed that is older than the goodbye": (
        [(0, agent()), (1, title("done")), (2, registry("idle")), (9, say(Source.REGISTRY, None)), (9.2, shell)],
        "active",
    ),
    "and no guess lights between the two": (
        [(0, agent()), (1, registry("idle")), (9, say(Source.REGISTRY, None))],
        "idle",
    ),
    "waiting stays until seen when its agent goes": (
        [(0, agent()), (1, explicit("waiting")), (2, shell), (9, prompt)],
        "waiting",
    ),
    "and goes when seen": ([(0, agent()), (1, explicit("waiting")), (2, shell), (9, look)], "active"),
    "a silent one that ends leaves no question behind": ([(0, agent()), (1, output), (9, tick), (20, shell)], "active"),
    "nor does one that is stopped": ([(0, agent()), (1, output), (9, tick), (20, stopped)], "active"),
    "a stopped agent is not down": ([(0, agent()), (1, registry("working")), (2, stopped)], "active"),
    "an idle agent leaves nothing behind": ([(0, agent()), (1, registry("idle")), (2, shell)], "active"),
    "a typed command is the end of old news": (
        [(0, agent()), (1, explicit("waiting")), (2, shell), (3, starts)],
        "active",
    ),
    # done and seen
    "done stays": ([(0, agent()), (1, explicit("done")), (999, tick)], "done"),
    "done goes when seen": ([(0, agent()), (1, explicit("done")), (2, look)], "idle"),
    "a repeated done stays seen": ([(0, agent()), (1, explicit("done")), (2, look), (3, explicit("done"))], "idle"),
    "the next done is news again": (
        [(0, agent()), (1, explicit("done")), (2, look), (3, explicit("working")), (4, explicit("done"))],
        "done",
    ),
    "done survives the prompt": ([(0, explicit("done")), (1, prompt)], "done"),
    "an error is not cleared by a look": ([(0, agent()), (1, explicit("error")), (2, look)], "error"),
    "prompt marks drawn by an agent are its own affair": (
        [(0, agent()), (1, explicit("waiting")), (2, prompt)],
        "waiting",
    ),
    # children
    "a waiting child lights the pane": ([(0, explicit("working")), (1, explicit("waiting", id="a"))], "waiting"),
    "a working child is background to a turn that is over": (
        [(0, explicit("working", id="a")), (1, explicit("done"))],
        "background",
    ),
    "clearing a child takes its own children": (
        [(0, explicit("waiting", id="a/b")), (1, say(Source.PROTOCOL, None, id="a"))],
        "active",
    ),
    "clearing by prefix spares a namesake": (
        [(0, explicit("waiting", id="ab")), (1, say(Source.PROTOCOL, None, id="a"))],
        "waiting",
    ),
    "clearing the root clears all": (
        [(0, explicit("waiting", id="a")), (1, say(Source.PROTOCOL, None))],
        "active",
    ),
}


def run(steps: list[tuple[float, Step]], timing: Timing | None = None) -> Tracker:
    tracker = Tracker(timing)
    for now, step in steps:
        step(tracker, now)
    return tracker


@each("name", TIMELINES)
@each("boot", [0.0, 0.001, 86400.0], ids=["zero", "near-zero", "a-day"])
def test_timeline(name: str, boot: float) -> None:
    """The trust rules hold, whatever the monotonic clock started from."""
    steps, expected = TIMELINES[name]

    tracker = run([(boot + now, step) for now, step in steps])

    assert str(tracker.decision.status) == expected, (name, tracker.decision)


def test_a_fuse_of_zero_never_burns() -> None:
    """With the fuse switched off an explicit working stays for as long as its agent lives."""
    tracker = run([(0, agent()), (1, explicit("working")), (10**6, tick)], Timing(fuse_s=0))

    assert tracker.decision.status is Status.WORKING


def test_explicit_may_last_for_the_tab() -> None:
    """With `explicit_lasts = "tab"` guesses stay silent after the agent that spoke has gone."""
    steps = [(0, agent()), (1, explicit("idle")), (2, shell), (9, agent(instance=2)), (10, output), (20, tick)]

    assert run(steps).decision.status is Status.QUIET
    assert run(steps, Timing(explicit_lasts="tab")).decision.status is Status.IDLE


def test_a_decision_says_why() -> None:
    """The reason names source, rule and time; the losing claims name the rule that put them aside."""
    tracker = run([(0, agent()), (1, output), (2, explicit("waiting", Kind.PERMISSION, rule="osc-1338"))])
    decision = tracker.decision

    assert (decision.status, decision.kind) == (Status.WAITING, Kind.PERMISSION)
    assert (decision.reason.source, decision.reason.rule, decision.reason.at) == (Source.PROTOCOL, "osc-1338", 2)
    assert [(lost.source, lost.why) for lost in put_aside(tracker.answers, float)] == [
        ("heuristic", "explicit wins: the agent reports its own status")
    ]


def test_fields_outlive_the_report_that_brought_them() -> None:
    """A session id told by one source is kept when a better one speaks without it."""
    tracker = run([(0, agent()), (1, say(Source.REGISTRY, Status.IDLE, session="s1", cwd="/w"))])
    tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING, agent="claude"), 2)

    assert (tracker.decision.report.session, tracker.decision.report.cwd) == ("s1", "/w")
    assert tracker.decision.report.agent == "claude"


def test_since_is_kept_while_the_status_is() -> None:
    """A repeated report does not make a question younger."""
    tracker = run([(0, agent()), (1, explicit("waiting")), (60, explicit("waiting"))])

    assert tracker.decision.since == 1
    assert tracker.decision.reason.at == 60


@pytest.mark.slow
def test_records_are_bounded() -> None:
    """A flood of record ids is dropped oldest first, and the pane's own record is never among them."""
    tracker = run([(0, explicit("working"))])
    for i in range(3 * MAX_RECORDS):
        tracker.report(Report(source=Source.PROTOCOL, status=Status.DONE, id=f"r{i}"), 1 + i / 1000)

    assert len(tracker.records()) == MAX_RECORDS
    assert "" in tracker.records()


def test_a_question_changes_nothing() -> None:
    """Asking for the records, which every writing of a snapshot does, leaves nothing behind, however often."""
    tracker = run([(0, agent()), (1, explicit("working")), (2, explicit("working", id="a")), (3, title("working"))])
    before = tracker.decision, tracker.deadline(), tracker.claims.revision
    for _ in range(100):
        tracker.records()

    assert (tracker.decision, tracker.deadline(), tracker.claims.revision) == before


def test_a_pause_does_not_count_as_silence() -> None:
    """A suspended machine makes no agent quiet."""
    tracker = run([(0, agent()), (1, output)])
    tracker.pause(3600)
    tracker.tick(3602)
    assert tracker.decision.status is Status.WORKING

    tracker.tick(3605)
    assert tracker.decision.status is Status.QUIET


def test_a_clock_that_steps_back_is_ignored() -> None:
    """Events out of order are taken at the latest time seen, and none is lost."""
    tracker = run([(100, agent()), (100, explicit("working")), (50, explicit("waiting")), (100.1, tick)])

    assert tracker.decision.status is Status.WAITING
    assert tracker.decision.since == 100.1


def test_deadline_tells_when_to_look_again() -> None:
    """A host that sleeps until the deadline misses nothing: silence, fuse and debounce each have one."""
    tracker = run([(0, agent()), (1, output)])
    assert tracker.deadline() == 5

    tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), 2)
    assert tracker.deadline() == 5

    tracker.tick(5)
    assert tracker.deadline() == 302

    tracker.report(Report(source=Source.PROTOCOL, status=Status.WAITING), 6)
    assert tracker.deadline() is None

    tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), 6.05)
    assert tracker.deadline() == pytest.approx(6.1)


def test_a_child_that_is_silent_is_looked_at_in_time() -> None:
    """A subagent that never ends burns its fuse too: the tracker asks for the tick at which it does."""
    tracker = run([(1, explicit("working", id="a")), (2, explicit("done"))])
    assert tracker.decision.status is Status.BACKGROUND

    deadline = tracker.deadline()
    assert deadline == 301
    tracker.tick(deadline)
    assert tracker.decision.status is Status.DONE


def test_of_equal_children_the_newest_question_is_shown() -> None:
    """A question that is only asked again is not newer than the one that came after it."""
    tracker = run(
        [(0, explicit("waiting", id="a")), (1, explicit("waiting", id="b")), (2, explicit("waiting", id="a"))]
    )

    assert tracker.decision.report.id == "b"


def test_a_subagent_that_asks_says_whose_question_it_is() -> None:
    """Its name stands before what it asks; agent, project and session are those of the pane."""
    tracker = Tracker()
    root = Report(source=Source.PROTOCOL, status=Status.WORKING, agent="claude", project="api", title="Fix login")
    child = Report(source=Source.PROTOCOL, status=Status.WAITING, id="a/eu", title="EU West", message="Approve?")
    tracker.report(root, 0)
    tracker.report(child, 1)
    report = tracker.decision.report

    assert (report.message, tracker.decision.child_name) == ("EU West: Approve?", "EU West")
    assert (report.agent, report.project, report.title) == ("claude", "api", "Fix login")
    assert tracker.records()["a/eu"].report.message == "Approve?"
    tracker.report(attrs.evolve(child, title="", message=""), 2)
    assert tracker.decision.report.message == "eu"
    tracker.report(attrs.evolve(root, status=Status.DONE), 3)
    tracker.report(attrs.evolve(child, status=None), 4)
    assert (tracker.decision.report.message, tracker.decision.child_name) == ("", "")


def test_what_stands_on_the_screen_is_what_a_subagent_asks() -> None:
    tracker = run([(0, agent()), (1, explicit("working")), (2, explicit("waiting", id="a"))])
    asked = Report(source=Source.SCREEN, status=Status.WAITING, message="Run make?")
    tracker.report(asked, 3)

    assert tracker.decision.report.message == "a: Run make?"


EVENTS: list[Step] = [
    *(explicit(s) for s in ("working", "waiting", "done", "error", "idle", "background")),
    *(registry(s) for s in ("working", "waiting", "done", "idle")),
    *(title(s) for s in ("working", "idle", "waiting")),
    *(screen(s) for s in ("waiting", "idle")),
    *(explicit(s, id="a/b") for s in ("working", "waiting", "done")),
    say(Source.PROTOCOL, None),
    say(Source.REGISTRY, None),
    *(agent(), agent(instance=2), speaker, carrier, shell, stopped),
    *(output, tick, look, prompt, starts, ends(0), ends(137), ends(None)),
]


@given(st.lists(st.tuples(st.floats(0, 400, allow_nan=False), st.sampled_from(EVENTS)), max_size=60))
def test_any_history_ends_in_a_reasoned_decision(history: list[tuple[float, Step]]) -> None:
    """Whatever happens in whatever order, the pane has one status, a reason, and few records."""
    tracker = Tracker()
    now = 0.0
    for wait, step in history:
        now += wait
        before = tracker.decision.status
        step(tracker, now)
        if step is tick and before is Status.WAITING:
            assert tracker.decision.status is Status.WAITING or tracker._pending is None

    assert tracker.decision.reason.rule
    assert tracker.decision.reason.changes
    assert len(tracker.records()) <= MAX_RECORDS


@given(st.lists(st.sampled_from(EVENTS), max_size=12), st.floats(0.2, 10**6))
def test_time_alone_never_ends_waiting(history: list[Step], wait: float) -> None:
    """Once a pane has settled in waiting, no amount of time changes it."""
    tracker = Tracker()
    now = 0.0
    for step in history:
        step(tracker, now)
        now += 0.3
    tracker.report(Report(source=Source.PROTOCOL, status=Status.WAITING), now + 1)
    tracker.tick(now + 2)
    assert tracker.decision.status is Status.WAITING

    tracker.tick(now + 2 + wait)
    assert tracker.decision.status is Status.WAITING


def test_a_waiting_without_words_takes_the_question_from_the_screen() -> None:
    """Whoever says that it waits, what is asked stands on the screen; a source with words of its own keeps them."""
    tracker = Tracker()
    agent()(tracker, 0)
    tracker.report(Report(source=Source.SCREEN, status=Status.WAITING, kind=Kind.PERMISSION, message="Run ls?"), 1)
    registry("waiting")(tracker, 2)

    assert (tracker.decision.kind, tracker.decision.report.message) == (Kind.PERMISSION, "Run ls?")
    assert tracker.decision.reason.source is Source.REGISTRY

    explicit("waiting", Kind.QUESTION, message="Which one?")(tracker, 3)

    assert (tracker.decision.kind, tracker.decision.report.message) == (Kind.QUESTION, "Which one?")


def test_what_is_asked_for_comes_from_the_best_that_knows() -> None:
    """Of the sources that say waiting the best one that says what about; nothing while it does not wait."""
    tracker = Tracker()
    agent()(tracker, 0)
    screen = Report(source=Source.SCREEN, status=Status.WAITING, kind=Kind.PERMISSION, what="Shell: ls")
    tracker.report(screen, 1)
    assert tracker.decision.report.what == "Shell: ls"
    tracker.report(Report(source=Source.REGISTRY, status=Status.WAITING, kind=Kind.PERMISSION), 2)
    assert tracker.decision.report.what == "Shell: ls"
    tracker.report(Report(source=Source.REGISTRY, status=Status.WAITING, kind=Kind.PERMISSION, what="Bash: ls -l"), 3)
    assert tracker.decision.report.what == "Bash: ls -l"
    tracker.report(Report(source=Source.REGISTRY, status=Status.WORKING), 4)
    assert (tracker.decision.status, tracker.decision.report.what) == ("working", "")


def test_a_screen_is_wanted_where_it_has_a_vote_or_a_question() -> None:
    """Not of a shell; of an agent while no better word is known, and always while it waits."""
    tracker = Tracker()
    assert not tracker.wants_screen
    agent()(tracker, 0)
    assert tracker.wants_screen
    registry("working")(tracker, 1)
    assert not tracker.wants_screen
    registry("waiting")(tracker, 2)
    assert tracker.wants_screen
    explicit("working")(tracker, 3)
    assert not tracker.wants_screen


def test_the_reason_says_what_would_change_it_by_who_said_it() -> None:
    """A guess ends otherwise than a report does, after the times that are configured; no fuse is no time."""
    tracker = Tracker(Timing(silence_s=2, fuse_s=60))
    agent()(tracker, 0)
    assert "2 s without visible output" in tracker.decision.reason.changes
    tick(tracker, 2.5)
    assert tracker.decision.reason.changes.startswith("visible output")
    say(Source.SCREEN, Status.WAITING, Kind.QUESTION, message="Which?")(tracker, 3)
    assert tracker.decision.reason.changes.startswith("its dialog leaves the screen")
    explicit("working")(tracker, 4)
    assert "or 60 s without report" in tracker.decision.reason.changes
    tracker.timing = Timing(fuse_s=0)
    explicit("working")(tracker, 5)
    assert tracker.decision.reason.changes == "its next report, or its exit"


def test_nobody_is_asked_on_a_screen_without_text() -> None:
    """While its screen is blank an agent that draws nothing goes on starting, for as long as that is so."""
    tracker = Tracker()
    speaker(tracker, 0)
    for second in range(60):
        tracker.blank(second)
        tick(tracker, second)
        assert (tracker.decision.status, tracker.decision.reason.rule) == ("idle", "it is starting")
    tick(tracker, 88.9)
    assert tracker.decision.status == "idle"
    tick(tracker, 89)
    tick(tracker, 89.2)
    assert tracker.decision.status == "quiet"


def test_a_blank_screen_is_a_start_of_any_agent() -> None:
    """One that never speaks is starting while its screen is blank, and at work from the first that it draws."""
    tracker = Tracker()
    tracker.foreground(Foreground("aider", 1), 0.0)
    for second in range(1, 20):
        tracker.blank(second)
        tick(tracker, second)
        assert (tracker.decision.status, tracker.decision.reason.rule) == ("idle", "it is starting")
    output(tracker, 20)
    assert tracker.decision.status == "working"
    tick(tracker, 24.2)
    assert tracker.decision.status == "quiet"


@each(("says", "is_question", "status"), [("Which of the two?", True, "waiting"), ("All is done.", False, "quiet")])
def test_silence_at_a_prompt(says: str, is_question: bool, status: str) -> None:
    """What stood before the prompt when the agent fell silent is shown; it waits only if that asks something."""
    tracker = Tracker()
    tracker.foreground(Foreground("aider", 1), 0.0)
    output(tracker, 1)
    tracker.read_prompt = lambda: (says, is_question)
    tick(tracker, 5.1)
    assert (tracker.decision.status, tracker.decision.report.message) == (status, says)
    output(tracker, 6)
    assert (tracker.decision.status, tracker.decision.report.message) == ("working", "")


def test_an_agent_that_is_slow_to_start_waits_for_nobody() -> None:
    """Until it has drawn anything, for half a minute, it is starting, and then for twenty seconds until it speaks."""
    tracker = Tracker()
    speaker(tracker, 0)
    for second in range(29):
        tick(tracker, second)
        assert (tracker.decision.status, tracker.decision.reason.rule) == ("idle", "it is starting")
    output(tracker, 29)
    tick(tracker, 48.9)
    assert tracker.decision.reason.rule == "it is starting"
    tick(tracker, 49)
    tick(tracker, 49.2)
    assert tracker.decision.status == "quiet"


def test_an_agent_that_has_spoken_has_started() -> None:
    """Once it has said anything its output counts, three seconds after the first of it."""
    tracker = Tracker()
    speaker(tracker, 0)
    output(tracker, 1)
    screen("idle")(tracker, 2)
    output(tracker, 3)
    unread(tracker, 3.2)
    unread(tracker, 3.4)
    assert tracker.decision.reason.rule == "it is starting"
    output(tracker, 4.1)
    assert (tracker.decision.status, tracker.decision.reason.rule) == ("working", "output")


def test_an_agent_that_says_nothing_and_works_is_at_work_within_two_seconds() -> None:
    """One whose version nobody knows is no reason for a dark tab: what draws all the time does not load."""
    tracker = Tracker()
    speaker(tracker, 0)
    for look in range(8):
        output(tracker, 1 + look / 4)
        assert tracker.decision.reason.rule == "it is starting"
    output(tracker, 3)
    assert (tracker.decision.status, tracker.decision.reason.rule) == ("working", "output")


def test_what_is_drawn_now_and_then_while_an_agent_loads_is_no_work() -> None:
    tracker = Tracker()
    speaker(tracker, 0)
    for second in range(1, 8):
        output(tracker, 2 * second)
        assert tracker.decision.reason.rule == "it is starting"


def test_an_agent_that_draws_nothing_is_given_up_after_half_a_minute() -> None:
    """What it drew before it was looked at may be a question that nobody knows."""
    tracker = Tracker()
    speaker(tracker, 0)
    tick(tracker, 29.9)
    assert tracker.decision.status == "idle"
    tick(tracker, 30)
    tick(tracker, 30.2)
    assert tracker.decision.status == "quiet"


def test_a_turn_that_ended_with_a_question() -> None:
    """It is done with that question until somebody looks, and idle without one after that."""
    tracker = Tracker()
    agent()(tracker, 0)
    explicit("done", Kind.QUESTION, message="Shall I commit?")(tracker, 1)
    assert (tracker.decision.status, tracker.decision.kind) == ("done", "question")
    assert tracker.decision.report.message == "Shall I commit?"
    tracker.seen(2)
    assert (tracker.decision.status, tracker.decision.kind) == ("idle", None)


def test_done_may_count_as_waiting() -> None:
    """For who wants it so, until they act: a look does not end it; a new turn, and the agent's end, do."""
    tracker = Tracker(Timing(done_is=Status.WAITING))
    agent()(tracker, 0)
    explicit("done", Kind.QUESTION)(tracker, 1)
    assert (tracker.decision.status, tracker.decision.kind) == ("waiting", "input")
    tracker.seen(2)
    assert tracker.decision.status == "waiting"
    explicit("idle")(tracker, 3)
    assert tracker.decision.status == "idle"
    explicit("working")(tracker, 4)
    explicit("done")(tracker, 5)
    assert tracker.decision.status == "waiting"
    tracker.foreground(None, 6)
    assert tracker.decision.status == "done"


def test_idle_may_count_as_waiting() -> None:
    """That of an agent which said so itself; not one that is starting, nor a shell at its prompt."""
    tracker = Tracker(Timing(idle_is=Status.WAITING))
    agent()(tracker, 0)
    assert tracker.decision.status != "waiting"
    explicit("idle")(tracker, 1)
    assert (tracker.decision.status, tracker.decision.kind) == ("waiting", "input")
    explicit("done")(tracker, 2)
    assert tracker.decision.status == "done"
    tracker.seen(3)
    assert tracker.decision.status == "waiting"
    tracker.foreground(None, 4)
    tracker.command_end(None, 5)
    assert tracker.decision.status in ("idle", "done")


def test_quiet_may_count_as_waiting() -> None:
    """Four seconds without anything new on the screen, for whoever wants that amber."""
    tracker = Tracker(Timing(quiet_is=Status.WAITING))
    for at, do in ((0, agent()), (1, output)):
        do(tracker, at)
    assert tracker.decision.status == "working"
    tracker.tick(5)
    assert (tracker.decision.status, tracker.decision.kind) == ("waiting", "input")
    output(tracker, 6)
    assert tracker.decision.status == "working"


LIMIT = ("limited", None)


@each(
    ("reports", "shown"),
    [("registry limit, title done", LIMIT), ("record limit, title idle", LIMIT),
     ("protocol limit, registry idle", LIMIT), ("protocol error, registry limit", LIMIT),
     ("registry limit, protocol error", LIMIT),
     ("registry limit, title working", ("working", None)), ("protocol limit, protocol working", ("working", None)),
     ("screen waiting, record limit", LIMIT), ("registry limit, screen waiting", LIMIT)],
)  # fmt: skip
def test_a_limit_is_how_a_turn_ended(reports: str, shown: tuple[str, str | None]) -> None:
    """It asks nothing; an end that tells less does not take it away, and work does."""
    tracker = run([(0, agent())])
    for now, told in enumerate(reports.split(", "), 1):
        source, word = told.split()
        status, kind = (Status.WAITING, Kind.LIMIT) if word == "limit" else (Status(word), None)
        tracker.report(Report(source=Source[source.upper()], status=status, kind=kind), now)
    tracker.tick(9)
    decision = tracker.decision
    assert (str(decision.status), decision.kind and str(decision.kind)) == shown
    tracker.foreground(None, 10)
    assert tracker.decision.status is not Status.LIMITED


def test_another_question_in_a_dialog_of_the_same_kind() -> None:
    """What the screen asks next is told at once, and is no dialog that is seen again."""
    tracker = run([(0, agent()), (1, say(Source.SCREEN, Status.WAITING, Kind.QUESTION, message="This?"))])
    say(Source.SCREEN, Status.WAITING, Kind.QUESTION, message="Or that?")(tracker, 2)

    assert tracker.decision.report.message == "Or that?"
