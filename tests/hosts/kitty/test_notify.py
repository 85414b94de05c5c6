"""Notifications in kitty, with a manager made by hand: what the real one does only when the desktop is slow or gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Answer, Done, Question
from tallylight.actions.brief import brief
from tallylight.actions.gate import Refusal
from tallylight.actions.request import UNKNOWN, LookRequest, Reply, Request
from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.notifications import CREATED_S, MAX_FADING, Notices
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane
from tallylight.tracker.notify import NEED_SETTLES_S, NOTICE_GAP_S, Settings
from tests.actions.test_brief import QUESTION
from tests.hosts.test_pane import AIDER, HandTable


@attrs.define(eq=False)
class Command:
    """A notification, as kitty's manager has it."""

    title: str = ""
    sound_name: str = "not set"
    body: str = ""
    application_name: str = ""
    close_response_requested: bool = False
    report_requested: bool = False
    buttons: tuple[str, ...] = ()
    created_by_desktop: bool = False
    desktop_notification_id: int = -1
    on_close: Any = None
    on_activation: Any = None
    activation_token: str = "token"
    actions: frozenset[str] = frozenset(("focus",))

    def finalise(self) -> None:
        if not self.title:
            self.title, self.body = self.body, ""


@attrs.define
class Manager:
    """kitty's manager, with a desktop that is as quick as the test wants it."""

    is_quick: bool = True
    lets_through: bool = True
    shown: list[Command] = attrs.Factory(list)
    closed: list[int] = attrs.Factory(list)
    in_progress_notification_commands: dict[int, Command] = attrs.Factory(dict)
    notify_with_command: Any = None
    handle_notification_cmd: Any = None
    focused: list[int] = attrs.Factory(list)

    @property
    def channel(self) -> Manager:
        return self

    def focus(self, id_: int, _token: str) -> None:
        self.focused.append(id_)

    def __attrs_post_init__(self) -> None:
        self.notify_with_command, self.handle_notification_cmd = self._notify, self._handle

    def create_notification_cmd(self) -> Command:
        return Command()

    def _notify(self, command: Command, _channel: int) -> int | None:
        if not self.lets_through or not command.title:
            return None
        command.created_by_desktop = self.is_quick
        self.shown.append(command)
        command.desktop_notification_id = len(self.shown)
        self.in_progress_notification_commands[len(self.shown)] = command
        return len(self.shown)

    def _handle(self, channel: int, _code: int, raw: str) -> None:
        title, _, body = raw.partition(";")
        self.notify_with_command(Command(title, body, report_requested="report" in raw), channel)

    def is_notification_filtered(self, command: Command) -> bool:
        return not self.lets_through or "unwanted" in command.title

    def close_notification(self, number: int) -> None:
        self.closed.append(number)
        del self.in_progress_notification_commands[number]


@attrs.define
class Bench:
    """Two panes, the first with an agent, and their notifications."""

    panes: dict[int, Pane]
    manager: Manager
    notices: Notices
    now: float = 0.0
    heard: list[int] = attrs.Factory(list)
    faults: list[str] = attrs.Factory(list)
    #: What windows ask, the answers given, and what is refused of them.
    questions: dict[int, Question] = attrs.Factory(dict)
    answers: list[Answer] = attrs.Factory(list)
    refused: str = ""
    is_focused: bool = False
    played: list[str] = attrs.Factory(list)
    #: How often an answer is undecided; and what calls again.
    undecided: int = 0
    waiting: list[Callable[..., None]] = attrs.Factory(list)

    def perform(self, asked: Request) -> Reply | None:
        if isinstance(asked, LookRequest):
            return self.questions.get(int(asked.pane), UNKNOWN)
        assert isinstance(asked, Answer)
        self.answers.append(asked)
        if len(self.answers) <= self.undecided:
            return None
        return Refusal("changed", self.refused) if self.refused else Done("", "")

    def say(self, payload: str, id_: int = 1) -> None:
        self.panes[id_].user_variable(payload, self.now)

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += 0.25
            for pane in self.panes.values():
                pane.tick(self.now)
                pane.look(pane.attention.visible, self.now)
            self.notices.look(self.now, self.panes.keys())

    def send(self, raw: str, id_: int = 1, code: int = 9) -> int:
        """A program sends a notification; how many the manager has shown then."""
        self.manager.handle_notification_cmd(id_, code, raw)
        return len(self.manager.shown)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    panes = {id_: Pane(Timing(), ForegroundReader(agents, table), table) for id_ in (1, 2)}
    panes[1].foreground(AIDER.pid, 0)
    manager = Manager()

    windows = {id_: SimpleNamespace(tab_id=10 * id_) for id_ in panes}

    heard: list[int] = []
    faults: list[str] = []
    notices = Notices(
        boss=SimpleNamespace(notification_manager=manager, window_id_map=windows),
        settings=Settings(),
        panes=panes,
        name_of=lambda id_: f"window {id_}",
        perform=lambda asked, _: bench.perform(asked),
        received=heard.append,
        later=lambda call: bench.waiting.append(call),
        features=Features(faults.append),
        host="kitty-7",
        is_focused=lambda: bench.is_focused,
        play=lambda path: bench.played.append(path),
        clock=lambda: bench.now,
    )
    notices.listen()
    bench = Bench(panes, manager, notices, heard=heard, faults=faults)
    return bench


ASK = "state=waiting;tool=aider;message=Go on?"


def test_sounds(bench: Bench) -> None:
    """A name is kitty's to sound, a file is played once the notification is out; nothing sounds at a focused kitty."""
    bench.notices.use(attrs.evolve(bench.notices.settings, sounds={Status.WAITING: "bell", Status.ERROR: "~/a.oga"}))
    failed = "state=error;tool=aider;message=broken"
    for payload, is_focused in ((ASK, False), (failed, False), (ASK, True), (failed, True)):
        bench.is_focused = is_focused
        bench.say(payload)
        bench.wait(6)
    assert [shown.sound_name for shown in bench.manager.shown] == ["bell", "silent", "silent", "silent"]
    assert bench.played == ["~/a.oga"]

    bench.is_focused = bench.manager.lets_through = False
    bench.say(ASK)
    bench.wait(6)
    bench.say(failed)
    bench.wait(6)
    assert bench.played == ["~/a.oga"], "what the user's own rules do not let through makes no sound"


def test_a_muted_tab(bench: Bench) -> None:
    """Of a muted tab nothing is told; the pane says so until the mute ends, and what comes after is told."""
    bench.notices.mutes.mute("tab", "10", 30, bench.now)
    bench.say(ASK)
    bench.wait(20)
    assert bench.manager.shown == [] and bench.panes[1].attention.muted_until == 30
    bench.wait(20)
    assert bench.manager.shown == [] and bench.panes[1].attention.muted_until is None
    bench.say("state=error;tool=aider;message=broken")
    bench.wait(6)
    assert [shown.body for shown in bench.manager.shown] == ["broken"]


def test_a_desktop_that_is_slow(bench: Bench) -> None:
    """Withdrawn before the desktop has shown it, a notification is closed as soon as that can be."""
    bench.manager.is_quick = False
    bench.say(ASK)
    bench.wait(1)
    (shown,) = bench.manager.shown
    bench.say("state=working")
    bench.wait(2)
    assert bench.manager.closed == []
    shown.created_by_desktop = True
    bench.wait(0.25)
    assert bench.manager.closed == [1] and bench.notices._fading == {}


def test_put_away_by_the_person(bench: Bench) -> None:
    """What the person put away is not withdrawn after; an older one that goes does not take the newer along."""
    bench.say(ASK)
    bench.wait(1)
    bench.say("state=working")
    bench.wait(3)
    bench.say(ASK)
    bench.wait(5)
    old, new = bench.manager.shown
    assert bench.manager.closed == [1] and old.on_close is None
    new.on_close(old)
    assert bench.notices._out == {1: 2}
    new.on_close(new)
    bench.say("state=working")
    bench.wait(3)
    assert bench.manager.closed == [1] and bench.notices._out == {}


def test_a_desktop_that_is_not_there(bench: Bench) -> None:
    """What nobody shows is forgotten after a while, and takes no room."""
    bench.manager.is_quick = False
    for _ in range(3):
        bench.say(ASK)
        bench.wait(8)
        bench.say("state=working")
        bench.wait(CREATED_S + 3)

    assert len(bench.manager.shown) == 3 and bench.manager.closed == []
    assert bench.notices._fading == bench.notices._out == {}


def test_what_fades_is_bounded(bench: Bench) -> None:
    """However many are to be withdrawn from a desktop that hangs, no more than so many are kept."""
    bench.manager.is_quick = False
    for number in range(2 * MAX_FADING):
        bench.notices._out[number] = bench.manager._notify(Command("x"), number) or 0
        bench.notices._withdraw(number, 0.0)

    assert len(bench.notices._fading) == MAX_FADING


def test_the_users_rules(bench: Bench) -> None:
    """What the user's own rules do not let through is not shown, and there is nothing to withdraw."""
    bench.manager.lets_through = False
    bench.say(ASK)
    bench.wait(1)
    bench.say("state=working")
    bench.wait(3)

    assert bench.manager.shown == [] and bench.manager.closed == [] and bench.faults == []


def test_an_agents_notification_that_nobody_showed(bench: Bench) -> None:
    """If the user's rules hide the agent's own, ours still tells."""
    bench.manager.lets_through = False
    bench.send("look at me")
    bench.manager.lets_through = True
    bench.say(ASK)
    bench.wait(NEED_SETTLES_S + 1)

    assert [command.body for command in bench.manager.shown] == ["Go on?"]


def test_who_asks_back_is_answered(bench: Bench) -> None:
    """An agent's reminder is left out; one of which the program wants to hear is not."""
    bench.say(ASK)
    bench.wait(1)
    assert bench.send("reminder") == 1
    assert bench.send("report, please") == 2


def test_at_work_it_may_say_what_it_likes(bench: Bench) -> None:
    """A notification of an agent that was not seen to need anything is news, also in front of the person."""
    bench.panes[1].attention.visible = True
    bench.say("state=working;tool=aider")
    bench.wait(1)
    assert bench.send("half of it is done") == 1
    bench.say(ASK)
    bench.wait(1)
    assert bench.send("reminder") == 1, "the question is in front of the person"


def test_an_agents_notification_is_enriched(bench: Bench) -> None:
    """It says where and who, once, and ours for the same is left out; the person's own rules are about what it said."""
    bench.say("state=working;tool=aider;project=shop")
    bench.wait(1)
    bench.send("Here is a short answer.")
    bench.say("state=done;tool=aider;project=shop")
    bench.wait(10)
    assert [(shown.title, shown.body) for shown in bench.manager.shown] == [("shop: aider", "Here is a short answer.")]
    assert bench.send("unwanted") == 2
    assert bench.manager.shown[1].title == "unwanted", "kitty's own filter sees what the agent said"
    bench.send("not of an agent", id_=2)
    assert bench.manager.shown[2].title == "not of an agent"


def test_an_agents_own_notification_is_taken_back(bench: Bench) -> None:
    """It goes when the agent goes on, as one of ours would."""
    bench.say("state=done;tool=aider;project=shop")
    bench.wait(10)
    bench.send("reminder")
    bench.say("state=working;tool=aider;project=shop")
    bench.wait(3)
    assert bench.manager.closed == [1]
    bench.say("state=done;tool=aider;project=shop")
    bench.wait(10)
    bench.send("report, please")
    bench.say("state=working;tool=aider;project=shop")
    bench.wait(3)
    assert bench.manager.closed == [1], "a program that hears of its notification keeps it"


def test_an_advertisement_is_not_shown(bench: Bench) -> None:
    """Nor does it light the tab; one of which the program wants to hear is shown as it is."""
    assert bench.send("Tip: auto mode handles these prompts for you") == 0
    assert bench.panes[1].decision.status is not Status.WAITING and bench.heard == []
    assert bench.send("Tip: report it") == 1 and bench.manager.shown[0].title == "Tip: report it"


def test_a_reminder_in_quiet_hours(bench: Bench) -> None:
    """Where we told nothing, the agent's own notification is no repetition."""
    bench.notices._notifier.settings = Settings(quiet=((0, 720), (720, 1440)))
    bench.say(ASK)
    bench.wait(5)

    assert bench.manager.shown == [] and bench.send("reminder") == 1


def test_kittys_own_notifications_pass(bench: Bench) -> None:
    """What kitty tells of a command's end comes without a sequence and is not looked at."""
    bench.panes[1].attention.visible = True
    bench.say(ASK)
    bench.manager.notify_with_command(Command("Command finished"), 1)

    assert len(bench.manager.shown) == 1 and bench.heard == []


def test_a_fault_in_the_middle(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notification during which we fail is shown, once, and so is every one after it."""
    monkeypatch.setattr("tallylight.evidence.notified.notice_report", lambda *_: 1 / 0)

    assert bench.send("a") == 1 and bench.send("b") == 2
    assert len(bench.faults) == 1 and "ZeroDivisionError" in bench.faults[0]


def test_a_window_we_do_not_know(bench: Bench) -> None:
    """A notification of a window that we have not looked at yet, or of none, passes."""
    assert bench.send("a", id_=99) == 1 and bench.send("b", id_=0) == 2 and bench.faults == []


BRIEF = brief(QUESTION)
assert BRIEF is not None
#: As `actions.answer` makes it: none of its choices can be typed.
UNSEEN = attrs.evolve(
    QUESTION,
    missing="part of this cannot be seen here: it may be cut; answer it in its own pane",
    choices=tuple(attrs.evolve(choice, keys="") for choice in QUESTION.choices),
)


def asked(bench: Bench, question: Question = QUESTION) -> Command:
    """A notification of a *question*; without one, of one that it shows whole."""
    bench.questions[1] = question
    bench.say(ASK)
    bench.wait(4)
    (shown,) = bench.manager.shown
    return shown


def test_a_question_with_buttons(bench: Bench) -> None:
    """It shows the whole dialog, and a button for each choice, which answers just that and does not move the view."""
    shown = asked(bench)
    assert (shown.body, shown.buttons) == (BRIEF.body, BRIEF.labels)
    assert not shown.actions, "kitty would bring the pane to the front"
    shown.on_activation(shown, 2)
    assert bench.answers == [QUESTION.answer(3)], "the second button is the third choice"
    assert bench.manager.focused == [] and len(bench.manager.shown) == 1


def test_a_click_beside_the_buttons(bench: Bench) -> None:
    """It goes there, and answers nothing; no more does a number that is no button's."""
    shown = asked(bench)
    shown.on_activation(shown, 0)
    shown.on_activation(shown, 9)
    assert bench.answers == [] and bench.manager.focused == [1, 1]


def test_a_button_of_something_out_of_date(bench: Bench) -> None:
    """What is refused is told, with the reason, and the question as it is now, with its own buttons."""
    shown = asked(bench)
    bench.refused = "the screen has changed; nothing was typed"
    shown.on_activation(shown, 1)
    assert [(c.title, c.body) for c in bench.manager.shown[1:]] == [("Not answered", bench.refused)]

    bench.questions[1] = now = attrs.evolve(QUESTION, fingerprint="another")
    bench.refused = ""
    bench.wait(NOTICE_GAP_S)
    again = bench.manager.shown[2]
    assert again.buttons == BRIEF.labels
    again.on_activation(again, 2)
    bench.wait(NOTICE_GAP_S)
    assert bench.answers[1:] == [now.answer(3)] and len(bench.manager.shown) == 3


def test_a_button_whose_answer_is_undecided(bench: Bench) -> None:
    """The same answer is given again until it is decided; then what is refused is told."""
    shown = asked(bench)
    bench.undecided, bench.refused = 2, "the screen has changed; nothing was typed"
    shown.on_activation(shown, 1)
    while bench.waiting:
        assert len(bench.manager.shown) == 1
        bench.waiting.pop()()
    assert bench.answers == [QUESTION.answer(1)] * 3
    assert [(c.title, c.body) for c in bench.manager.shown[1:]] == [("Not answered", bench.refused)]


@pytest.mark.parametrize(
    "question, settings, body",
    [
        (QUESTION, Settings(buttons=False), "Go on?"),
        (attrs.evolve(QUESTION, is_plain=False), Settings(), "Go on?"),
        (attrs.evolve(UNSEEN, is_plain=False), Settings(), f"Go on?\n{UNSEEN.missing}"),
        (UNSEEN, Settings(), f"Go on?\n{UNSEEN.missing}"),
        (UNSEEN, Settings(buttons=False), f"Go on?\n{UNSEEN.missing}"),
    ],
)
def test_no_buttons(bench: Bench, question: Question, settings: Settings, body: str) -> None:
    """Not by setting, not for a permission, not where part of it cannot be seen, which is told; a click goes there."""
    bench.notices._notifier.settings = bench.notices.settings = settings
    shown = asked(bench, question)
    assert (shown.body, shown.buttons) == (body, ()) and shown.actions
    for button in range(4):
        shown.on_activation(shown, button)
    assert bench.answers == [] and bench.manager.focused == [], "kitty itself brings the pane to the front"


def test_a_fault_in_asking_costs_the_buttons(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notification itself is shown."""

    def fails(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(bench.notices, "perform", fails)
    assert asked(bench).body == "Go on?"
    assert bench.faults == ["buttons of notifications switched off: RuntimeError: no"]
