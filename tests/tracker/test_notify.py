"""Notifications on a time-line: each need told once, where the person is not, and taken back when it is over."""

from __future__ import annotations

import itertools
import math

import attrs
import pytest

from tallylight.model.decision import Decision, Reason
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.notify import (
    NEED_SETTLES_S,
    NOTICE_BODY_CELLS,
    NOTICE_GAP_S,
    NOTICE_TITLE_CELLS,
    OWN_S,
    QUESTION_S,
    SAME_NEED_S,
    STATUSES,
    Notice,
    Notifier,
    Settings,
    View,
    Withdrawal,
    enriched,
    notice,
)
from tests.tables import each

NOON = 720
STEP = 0.25


@attrs.define
class Line:
    """One pane on a time-line, looked at four times a second; what was told is noted with its time."""

    settings: Settings = attrs.Factory(Settings)
    minute: int = NOON
    now: float = 100.0
    status: Status = Status.IDLE
    kind: Kind | None = None
    since: float = 0.0
    message: str = ""
    what: str = ""
    source: Source = Source.PROTOCOL
    visible: bool = False
    seen: bool = False
    snoozed: bool = False
    muted: bool = False
    project: str = ""
    unanswered: float | None = None
    told: list[tuple[float, Notice | Withdrawal]] = attrs.Factory(list)
    state: object = None
    notifier: Notifier = attrs.Factory(lambda self: Notifier(self.settings), takes_self=True)

    def be(self, status: Status, seconds: float, message: str = "", kind: Kind | None = None, what: str = "") -> Line:
        """Show *status* from now on, and let *seconds* pass."""
        if (status, kind) != (self.status, self.kind):
            self.status, self.kind, self.since, self.seen = status, kind, self.now, False
        self.message, self.what = message, what
        return self.wait(seconds)

    def wait(self, seconds: float) -> Line:
        end = self.now + seconds
        while self.now < end:
            report = Report(
                source=self.source,
                status=self.status,
                kind=self.kind,
                agent="claude",
                cwd="/w/api",
                message=self.message,
                what=self.what,
            )
            reason = Reason(self.source, "test", self.since, "")
            decision = Decision(self.status, self.kind, reason, self.since, report)
            view = View(
                decision=decision,
                visible=self.visible,
                seen=self.seen,
                snoozed=self.snoozed,
                muted=self.muted,
                project=self.project,
                unanswered=self.unanswered,
            )
            state = decision, view
            was_resting = state == self.state and self.notifier.is_resting("7")
            self.state = state
            found = self.notifier.look("7", view, self.now, self.minute)
            assert not (was_resting and found), "a host that does not look at what rests would have missed this"
            if found is not None:
                self.told.append((self.now, found))
            self.now += STEP
        return self

    @property
    def shown(self) -> list[Notice]:
        return [what for _, what in self.told if isinstance(what, Notice)]

    @property
    def words(self) -> list[str]:
        """What was told, in short."""
        return ["taken back" if isinstance(what, Withdrawal) else what.body for _, what in self.told]


def test_a_question_from_before_the_first_look() -> None:
    """It counts from that look, or from its begin, if the host was awake then."""
    for awake, expected in ((math.inf, [100.8]), (99.0, [100.0]), (99.8, [100.6])):
        notifier = Notifier(Settings(), awake)
        line = Line(status=Status.WAITING, kind=Kind.PERMISSION, since=98.0, message="Run it?", notifier=notifier)
        assert [at for at, _ in line.wait(3).told] == pytest.approx(expected, abs=STEP), awake


@pytest.mark.slow
def test_a_question_in_a_hidden_pane_is_told_once() -> None:
    """One notification with the question, soon, and no other however long it stays."""
    line = Line().be(Status.WORKING, 60).be(Status.WAITING, 3600, "Run the migration?", Kind.PERMISSION)

    assert [(what.title, what.body) for what in line.shown] == [
        ("api: claude asks for permission", "Run the migration?")
    ]
    assert len(line.told) == 1 and NEED_SETTLES_S <= line.told[0][0] - 160 < NEED_SETTLES_S + 2 * STEP


def test_nothing_is_told_of_what_is_in_front() -> None:
    """A question in the pane one is looking at is no news, nor when one leaves it unanswered after a look."""
    line = Line(visible=True).be(Status.WORKING, 60).be(Status.WAITING, 5, "Go on?")
    line.seen = True
    line.wait(1)
    line.visible = False
    line.wait(600)

    assert line.told == []


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_model_that_does_not_answer(is_wanted: bool) -> None:
    """It is told once to those who want to know, and taken back when the model answers; the next time it is new."""
    line = Line(settings=Settings(no_answer=is_wanted)).be(Status.WORKING, 60)
    line.unanswered = line.now - 60
    line.wait(600)
    line.unanswered = None
    line.wait(10)
    line.unanswered = line.now - 60
    line.wait(60)

    shown = ["api: claude gets no answer from its model"] * 2
    assert [what.title for what in line.shown] == (shown if is_wanted else [])
    assert len(line.told) == (3 if is_wanted else 0)


def test_a_glance_does_not_count() -> None:
    """Who leaves before having looked is told."""
    line = Line(visible=True).be(Status.WORKING, 60).be(Status.WAITING, 0.5, "Go on?")
    line.visible = False
    line.wait(600)

    assert line.words == ["Go on?"]


def test_it_is_taken_back_when_answered() -> None:
    """The agent goes on, and within two seconds the notification is gone."""
    line = Line().be(Status.WORKING, 60).be(Status.WAITING, 60, "Go on?")
    answered = line.now
    line.be(Status.WORKING, 60)

    assert line.words == ["Go on?", "taken back"]
    assert line.told[1][0] - answered <= SAME_NEED_S + STEP


def test_it_is_taken_back_when_the_person_comes() -> None:
    """At the moment the pane is in front, the notification is gone, and does not come back after."""
    line = Line().be(Status.WAITING, 60, "Go on?")
    line.visible, came = True, line.now
    line.wait(3)
    line.seen = True
    line.visible = False
    line.wait(60)

    assert line.words == ["Go on?", "taken back"] and line.told[1][0] == came


def test_it_is_taken_back_when_said_to_be_seen() -> None:
    """`tally seen` from elsewhere is a look."""
    line = Line().be(Status.WAITING, 60, "Go on?")
    line.seen = True
    line.wait(60)

    assert line.words == ["Go on?", "taken back"]


def test_the_next_question_is_told_again() -> None:
    """Another question after an answer is another need, even in the same words."""
    line = Line()
    for _ in range(2):
        line.be(Status.WAITING, 20, "Go on?").be(Status.WORKING, 20)

    assert line.words == ["Go on?", "taken back"] * 2


def test_a_flicker_is_neither_told_nor_taken_back() -> None:
    """Sources that disagree for a moment do not make a second notification of one question."""
    line = (
        Line().be(Status.WAITING, 20, "Go on?").be(Status.WORKING, SAME_NEED_S - STEP).be(Status.WAITING, 600, "Go on?")
    )
    assert line.words == ["Go on?"]

    short = Line().be(Status.WORKING, 20).be(Status.WAITING, NEED_SETTLES_S - STEP, "Go on?").be(Status.WORKING, 600)
    assert short.told == []


def sleep(line: Line, seconds: float = 3600.0) -> Line:
    """The machine is suspended, and wakes."""
    line.notifier.pause(seconds)
    line.now += seconds
    line.since += seconds
    return line


def test_a_flicker_across_a_suspend_is_none_either() -> None:
    """What went a moment before the machine was suspended, and is there when it wakes, never went."""
    line = Line().be(Status.WAITING, 20, "Go on?").be(Status.WORKING, SAME_NEED_S / 2)
    sleep(line).be(Status.WAITING, 600, "Go on?")
    assert line.words == ["Go on?"]


def test_a_turn_is_not_long_for_a_suspend() -> None:
    """The hour in which nobody ran is none of the turn."""
    line = Line().be(Status.WORKING, 5, "")
    sleep(line).be(Status.WORKING, 5, "").be(Status.DONE, 600, "Done.")
    assert line.told == []


def test_its_kind_may_become_clear_later() -> None:
    """A wait whose kind or question is known a moment later is one need, told with what is known by then."""
    line = Line().be(Status.WAITING, 0.5).be(Status.WAITING, 0.25, "", Kind.QUESTION)
    line.be(Status.WAITING, 600, "Which one?", Kind.QUESTION)

    assert [what.title for what in line.shown] == ["api: claude asks you something"]
    assert line.words == ["Which one?"]


@pytest.mark.parametrize(("late", "body"), [(1.5, "Which one?"), (600, "")])
def test_a_question_is_waited_for(late: float, body: str) -> None:
    """A question that is read a moment after the wait began is told with it; one that never comes holds nothing up."""
    line = Line().be(Status.WORKING, 20).be(Status.WAITING, late).be(Status.WAITING, 60, "Which one?")

    assert line.words == [body]
    assert line.told[0][0] - 120 < QUESTION_S + 2 * STEP


def test_a_question_after_the_question_is_told() -> None:
    """A different question in one wait is told when the first has had its time; a number that counts is no question."""
    line = Line().be(Status.WAITING, 20, "Run a?")
    line.be(Status.WAITING, 20, "Run b? (1 s)").be(Status.WAITING, 20, "Run b? (2 s)")

    assert line.words == ["Run a?", "taken back", "Run b? (1 s)"]


def test_one_pane_does_not_chatter() -> None:
    """However fast an agent asks and goes on, its notifications keep their distance."""
    line = Line()
    for n in range(100):
        line.be(Status.WAITING, 2, f"{'abcdefghij'[n % 10]}?").be(Status.WORKING, 2)
    times = [at for at, what in line.told if isinstance(what, Notice)]

    assert len(times) > 10
    assert all(b - a >= NOTICE_GAP_S for a, b in itertools.pairwise(times))


def test_quiet_is_never_told() -> None:
    """An agent that falls silent needs nobody, whatever a person wants to be told of."""
    line = Line(source=Source.HEURISTIC, settings=Settings(when=frozenset(STATUSES)))
    for _ in range(9):
        line.be(Status.QUIET, 60, "All is done.").be(Status.WORKING, 3)

    assert line.told == []


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "told"), [(29, False), (30, True), (3600, True)])
def test_the_end_of_a_long_turn_is_told(turn: float, told: bool) -> None:
    """A turn's end is told from the minimum length on; waits in the middle of it belong to it."""
    line = Line(settings=Settings(when=frozenset({Status.DONE}))).be(Status.WORKING, turn / 2)
    line.be(Status.WAITING, 1).be(Status.WORKING, turn / 2 - 1).be(Status.DONE, 60, "Fixed it")

    assert line.words == (["Fixed it"] if told else [])


def test_the_end_of_a_turn_nobody_saw_is_not_told() -> None:
    """How long it took is not known: of a pane that was `done` when we came, or was marked unread."""
    line = Line().be(Status.DONE, 60).be(Status.IDLE, 60).be(Status.DONE, 60)

    assert line.told == []


def test_turns_are_timed_one_by_one() -> None:
    """A long turn does not lend its length to the short one after it."""
    line = Line().be(Status.WORKING, 60).be(Status.DONE, 10, "long").be(Status.WORKING, 5).be(Status.DONE, 10, "short")

    assert line.words == ["long", "taken back"]


@each("status", STATUSES)
def test_each_status_is_a_choice(status: Status) -> None:
    """What is not chosen is not told; what is, is."""
    for when in (frozenset({status}), frozenset(STATUSES) - {status}, frozenset[Status]()):
        line = Line(settings=Settings(when=when, min_turn_s=0)).be(Status.WORKING, 10).be(status, 60)
        assert len(line.shown) == (status in when)


def test_what_is_told_by_default() -> None:
    """Waiting, errors, limits and the end of a long turn; not that an agent vanished."""
    assert Settings().when == {Status.WAITING, Status.ERROR, Status.DONE, Status.LIMITED}
    assert Settings().min_turn_s == 30


QUIET = ((22 * 60, 7 * 60), (720, 780))


@each(
    ("minute", "quiet"),
    [(1319, False), (1320, True), (1439, True), (0, True), (419, True), (420, False), (719, False), (720, True)],
)
def test_quiet_hours(minute: int, quiet: bool) -> None:
    """From the first minute to before the last, over midnight too, nothing is told; nor after, of what began in it."""
    settings = Settings(quiet=QUIET)
    assert settings.is_quiet(minute) is quiet
    line = Line(settings=settings, minute=minute).be(Status.WAITING, 60, "Go on?")
    line.minute = 600
    line.wait(60)

    assert line.words == ([] if quiet else ["Go on?"])


def test_quiet_hours_take_back_too() -> None:
    """What was told before them is withdrawn in them when it is answered."""
    line = Line(settings=Settings(quiet=QUIET)).be(Status.WAITING, 60, "Go on?")
    assert line.words == []
    line = Line(settings=Settings(quiet=QUIET), minute=600).be(Status.WAITING, 60, "Go on?")
    line.minute = 720
    line.be(Status.WORKING, 60)

    assert line.words == ["Go on?", "taken back"]


def test_an_empty_span_is_never() -> None:
    """A span from a minute to itself is no day of silence."""
    assert not any(Settings(quiet=((600, 600),)).is_quiet(minute) for minute in range(1440))


def test_snoozed_is_silent_and_then_told_once_more() -> None:
    """A snooze takes the notification away, and its end brings it back once, if it is still so."""
    line = Line().be(Status.WAITING, 20, "Go on?")
    line.seen = line.snoozed = True
    line.wait(600)
    line.snoozed, over = False, line.now
    line.wait(600)

    assert line.words == ["Go on?", "taken back", "Go on?"]
    assert line.told[2][0] - over <= NEED_SETTLES_S + STEP


def test_a_snooze_that_ends_in_front_is_not_told() -> None:
    """Who is there when the snooze ends sees it."""
    line = Line(snoozed=True).be(Status.WAITING, 20, "Go on?")
    line.visible = True
    line.wait(20)
    line.snoozed = False
    line.wait(5)
    line.seen, line.visible = True, False
    line.wait(600)

    assert line.told == []


@pytest.mark.parametrize(("before", "told"), [(OWN_S - STEP, False), (OWN_S + 2 * STEP, True)])
def test_the_agents_own_notification_is_enough(before: float, told: bool) -> None:
    """What an agent has just told the person itself is not told again; an older word of it is about something else."""
    line = Line().be(Status.WORKING, 60)
    line.notifier.agent_notified("7", line.now)
    line.wait(before).be(Status.WAITING, 60, "Go on?")

    assert line.words == (["Go on?"] if told else [])


def test_the_agents_own_notification_covers_one_need() -> None:
    """It is taken back with its question; the next question is told by us again."""
    line = Line().be(Status.WORKING, 60)
    line.notifier.agent_notified("7", line.now)
    line.be(Status.WAITING, 20, "a?")
    assert line.words == []
    line.be(Status.WORKING, 20).be(Status.WAITING, 20, "b?")

    assert line.words == ["taken back", "b?"]


def test_the_agents_reminder_goes_with_what_it_reminds_of() -> None:
    """A turn too short to tell of is over; the agent reminds of it, and is taken back when the person looks."""
    line = Line().be(Status.WORKING, 5).be(Status.DONE, 60)
    line.notifier.agent_notified("7", line.now)
    line.be(Status.WORKING, 5)

    assert line.words == ["taken back"]


@pytest.mark.parametrize(("status", "head"), [(Status.DONE, "api: claude is done"), (Status.WORKING, "api: claude")])
def test_a_reminder_says_that_the_turn_is_over(status: Status, head: str) -> None:
    """Beside a green light the agent's own words do not stand alone."""
    said = "Claude is waiting for your input"
    assert enriched(_view(status), "Claude Code", said) == (head, said)


def test_whether_the_person_was_notified_is_known() -> None:
    """Of what is needed now: not before the notification, then yes, also when it was put away; not of what was."""
    line = Line().be(Status.WAITING, NEED_SETTLES_S, "Go on?")
    assert not line.notifier.was_notified("7")
    line.wait(1)
    assert line.notifier.was_notified("7")
    line.notifier.put_away("7")
    assert line.notifier.was_notified("7")
    line.be(Status.WORKING, 60)
    assert not line.notifier.was_notified("7") and line.words == ["Go on?"], "nothing to take back"


def test_a_closed_pane_takes_its_notification_along() -> None:
    """A pane that goes has its notification withdrawn, and leaves nothing behind."""
    line = Line().be(Status.WAITING, 20, "Go on?")

    assert line.notifier.close("7") == Withdrawal("7")
    assert line.notifier.close("7") is None and not line.notifier.was_notified("7")


@each("between", [0, 1.0])
def test_another_command_is_another_question(between: float) -> None:
    """In the same words, right after the first one: that is taken back, and the other told, once it is known."""
    line = Line().be(Status.WAITING, 20, "Do it?", what="Bash: touch zz0")
    if between:
        line.be(Status.WORKING, between).be(Status.WAITING, 0.5, "Do it?")
    line.be(Status.WAITING, 20, "Do it?", what="Bash: touch zz1")
    assert line.words == ["claude waits for you: Do it?", "taken back", "claude waits for you: Do it?"]
    assert [what.title for what in line.shown] == ["api: touch zz0", "api: touch zz1"]


@pytest.mark.slow
@each("between", [0, 1.0])
@each("words", ["", "Do it?"])
def test_another_kind_of_wait_is_told_in_its_words(between: float, words: str) -> None:
    """Right after the first one, in the same words or in none that are known: what stands there says what waits now."""
    line = Line().be(Status.WAITING, 20, words, Kind.PERMISSION)
    if between:
        line.be(Status.WORKING, between)
    line.be(Status.WAITING, 600, words, Kind.QUESTION)

    assert [what.title for what in line.shown] == [
        "api: claude asks for permission",
        "api: claude asks you something",
    ]


@each(
    "first, second, is_other",
    [
        ("Bash: ls", "Shell: ls", False),
        ("Bash: ls", "Bash: ls -l", True),
        ("Bash: ls -l", "Shell: ls …", False),
        ("Bash: rm -l", "Shell: ls …", True),
        ("Bash: make it…all", "Shell: make it now and all", False),
        ("Bash: make it…all", "Shell: make i …", False),
        ("Bash: make ↵ check", "Shell: make check", False),
        ("Edit src/a.py (+12 −3)", "Edit src/a.py", False),
        ("Edit src/a.py", "Edit src/b.py", True),
        ("Bash: ls", "", False),
        ("", "Bash: ls", False),
    ],
)
def test_two_names_of_one_command(first: str, second: str, is_other: bool) -> None:
    """What sources call it, and where they cut it, makes no other question of it."""
    line = Line().be(Status.WAITING, 20, "Do it?", what=first).be(Status.WAITING, 20, "Do it?", what=second)
    assert len(line.shown) == 1 + is_other


@each(
    ("what", "message", "title", "body"),
    [
        ("Bash: ls", "Do you want to proceed?", "api: ls", "claude waits for you: Do you want to proceed?"),
        ("Bash: ls", "approve Bash: ls", "api: ls", "claude waits for you: approve Bash: ls"),
        ("Bash: ls -l", "Bash: ls", "api: ls -l", "claude waits for you"),
        ("Bash: ls", "", "api: ls", "claude waits for you"),
        ("", "Which?", "api: claude waits for you", "Which?"),
        ("Edit a.py (+1 −2)", "Do it?", "api: Edit a.py (+1 −2)", "claude waits for you: Do it?"),
        ("mcp__web: tui", "Do it?", "api: tui", "claude waits for you: Do it?"),
        ("Bash: ls", "Tip: auto mode handles these prompts for you", "api: ls", "claude waits for you"),
        ("", "May I? Tip: auto mode asks less. Say so.", "api: claude waits for you", "May I? Say so."),
    ],
)
def test_what_it_is_about_is_told(what: str, message: str, title: str, body: str) -> None:
    """First where and what, without the name of a shell; then who asks, and the question. Adverts are left out."""
    told = notice("1", _view(Status.WAITING, message, what))
    assert (told.title, told.body) == (title, body)
    # On a screen that others see nothing is told of what is asked.
    assert told.discreet == "api: claude waits for you"


def test_a_command_that_the_title_cuts_is_in_the_body() -> None:
    """All of it, as far as there is room."""
    what = "Bash: " + " && ".join(f"make target{number}" for number in range(9))
    told = notice("1", _view(Status.WAITING, "Do it?", what))
    assert told.title.startswith("api: make target0") and "…" in told.title
    assert told.body == f"claude waits for you: {what}. Do it?"


def test_what_a_turn_came_to() -> None:
    """Its last sentence and the lines that are not committed; what the agent says of its end, if no more is known."""
    view = attrs.evolve(_view(Status.DONE, "Finished"), outcome="All 12 tests pass.", behind="+120 −14")
    told = notice("1", view)
    assert (told.title, told.body) == ("api: claude is done", "All 12 tests pass. (+120 −14)")
    assert notice("1", attrs.evolve(view, outcome="", behind="")).body == "Finished"
    assert notice("1", attrs.evolve(_view(Status.DONE), behind="−3")).body == "(−3)"


@pytest.mark.parametrize(("is_whole", "least"), [(True, NEED_SETTLES_S), (False, QUESTION_S)])
def test_what_a_turn_came_to_is_waited_for(is_whole: bool, least: float) -> None:
    """For a moment, and no longer."""
    notifier = Notifier(Settings(min_turn_s=0))
    notifier.look("1", _view(Status.WORKING), 0.0, 0)
    view = attrs.evolve(_view(Status.DONE), is_whole=is_whole)
    told = [at for at in range(50) if isinstance(notifier.look("1", view, at / 10, 0), Notice)]
    assert len(told) == 1 and 0 <= told[0] / 10 - least < 0.2


@each(
    ("title", "body", "expected"),
    [
        ("Here is a short answer.", "", ("api: claude", "Here is a short answer.")),
        ("Claude Code", "Claude needs your permission", ("api: claude", "Claude needs your permission")),
        ("Build", "is green", ("api: claude", "Build: is green")),
        ("Claude Code", "Ready. Tip: use auto mode!", ("api: claude", "Ready.")),
        ("Tip: use auto mode", "", ("", "")),
        ("Claude Code", "💡 Tip: use auto mode.", ("", "")),
    ],
)
def test_a_notification_of_the_agents_own(title: str, body: str, expected: tuple[str, str]) -> None:
    """With the project and the agent in front of what it says."""
    assert enriched(_view(Status.WORKING), title, body) == expected


def _view(status: Status, message: str = "", what: str = "") -> View:
    report = Report(source=Source.SCREEN, status=status, agent="claude", project="api", message=message, what=what)
    return View(decision=Decision(status, None, Reason(None, "", 0, ""), 0, report), visible=False)


def test_one_question_in_the_words_of_two_sources() -> None:
    """It is told once; the next question of either source is another one."""
    line = Line(source=Source.NOTIFICATION).be(Status.WAITING, 20, "Claude needs your permission")
    line.source = Source.SCREEN
    line.be(Status.WAITING, 20, "Do you want to proceed?")
    line.source = Source.NOTIFICATION
    line.be(Status.WAITING, 20, "Claude needs your permission")
    assert line.words == ["Claude needs your permission"]

    line.source = Source.SCREEN
    line.be(Status.WAITING, 20, "Which colour?")
    assert line.words == ["Claude needs your permission", "taken back", "Which colour?"]


def test_a_turn_that_ended_with_a_question() -> None:
    """The notification says so."""
    report = Report(source=Source.PROTOCOL, status=Status.DONE, agent="claude", message="Shall I commit?")
    decision = Decision(Status.DONE, Kind.QUESTION, Reason(None, "", 0, ""), 0, report)
    told = notice("1", View(decision=decision, visible=False))
    assert (told.title, told.body) == ("claude is done, and asks you something", "Shall I commit?")


def test_the_words_are_harmless() -> None:
    """What a program says comes out as one short line each without anything in it that acts."""
    message = "a\n\x1b]0;x\x07\u202eb<b>" + "x" * 5000
    (told,) = Line().be(Status.WAITING, 20, message).shown

    assert (
        told.body.startswith("a ]0;xb<b>")
        and len(told.body) <= NOTICE_BODY_CELLS
        and len(told.title) <= NOTICE_TITLE_CELLS
    )


def test_every_kind_has_its_words() -> None:
    """A person reads from the title alone what is wanted."""
    titles = {}
    for kind in (None, *Kind):
        (told,) = Line().be(Status.WAITING, 20, "", kind).shown
        titles[kind] = told.title
    (told,) = Line().be(Status.LIMITED, 20, "").shown
    titles[Kind.LIMIT] = told.title
    assert titles[Kind.AUTH] == "api: claude wants you to log in"
    assert titles[None] == titles[Kind.INPUT] == "api: claude waits for you"
    assert titles[Kind.LIMIT] == "api: claude has used up its limit"
    assert len(set(titles.values())) == 5


def test_a_delay_waits_for_what_is_still_so() -> None:
    """With a delay of 20 s a question of 15 s is never told, and one that stays is told after 20 s."""
    line = Line(Settings(delay_s=20)).be(Status.WORKING, 60).be(Status.WAITING, 15, "Go on?").be(Status.WORKING, 60)
    assert line.told == []

    began = line.now
    line.be(Status.WAITING, 60, "Go on?")
    assert [round(at - began, 1) for at, _ in line.told] == [20.0]


def test_what_is_muted_is_not_told_then_or_later() -> None:
    """A mute swallows what it meets: after it, only what is new is told. Projects can be muted for good."""
    line = Line(muted=True).be(Status.WORKING, 60).be(Status.WAITING, 60, "Go on?")
    line.muted = False
    line.wait(600)
    assert line.told == []
    assert line.be(Status.WORKING, 60).be(Status.WAITING, 60, "And now?").words[0] == "And now?"

    settings = Settings(mute=frozenset({"notes"}))
    assert Line(settings, project="notes").be(Status.WAITING, 60, "Go on?").told == []
    assert Line(settings, project="notes2").be(Status.WAITING, 60, "Go on?").words == ["Go on?"]
