"""
Notifications in kitty, both ways: ours, through kitty's own manager, and those that programs send.

A click on ours focuses the pane, and a button answers a plain question that is shown whole. The user's
`filter_notification` and `notifications.py` apply. Any program on the session bus can fake a button press, so
permissions have no buttons.

Of programs' notifications (OSC 9, 99, 777, https://sw.kovidgoyal.net/kitty/desktop-notifications/) only agents' are
looked at. They raise attention. One that repeats what the person has seen is not shown again. Messages between programs
and advertisements are not shown at all. The others are shown with the project and the agent, which they leave out. All
else passes unchanged.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Set
from typing import Any

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.brief import brief
from tallylight.actions.caller import PERSON, Caller, Who
from tallylight.actions.gate import Refusal
from tallylight.actions.once import until_decided
from tallylight.actions.request import QUESTION, LookRequest, Reply, Request
from tallylight.evidence import notified
from tallylight.files import directories
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.notice import APPLICATION, show
from tallylight.hosts.notify_command import Command
from tallylight.hosts.worker import Worker
from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.view import view_of
from tallylight.tracker.mutes import Mutes
from tallylight.tracker.notify import Notice, Notifier, Settings, Withdrawal, enriched

#: The daemon has so many seconds to confirm a notification; it cannot be withdrawn before that.
CREATED_S = 5.0
#: Notifications that wait to be withdrawn.
MAX_FADING = 64
#: kitty's name for a notification without a sound.
SILENT = "silent"


def _is_focused() -> bool:
    """Return whether one of kitty's OS windows has the focus."""
    from kitty.fast_data_types import current_focused_os_window_id

    return bool(current_focused_os_window_id())


def _asks_back(command: Any) -> bool:
    """Return True if the program that sent it wants to hear what becomes of its notification."""
    return bool(command.close_response_requested or command.report_requested or command.buttons)


def _play(path: str) -> None:
    """Play a sound file, on a thread of kitty's own; silent where kitty cannot, for example on macOS."""
    from kitty import fast_data_types

    if (play := getattr(fast_data_types, "play_desktop_sound_async", None)) is not None:
        play(str(directories.home() / path.removeprefix("~/")), event_id="desktop notification", is_path=True)


@attrs.define
class Notices:
    """
    All notifications of one kitty.

    *panes* are the host's, by window id; *perform* is `answering.perform`. *received* is called after a program's
    notification changed a pane. *features* are switched off by their faults, with a line in the log. *later* repeats a
    call in a moment. *is_focused* returns whether the person is at this kitty, *play* plays a sound file, and *also*
    passes each notice on to parts. Needs count from *since* on, when the host was woken.
    """

    boss: Any
    settings: Settings
    panes: Mapping[int, Pane]
    name_of: Callable[[int], str]
    perform: Callable[[Request, Caller], Reply | None]
    received: Callable[[int], None]
    later: Callable[[Callable[..., None]], object]
    features: Features
    host: str
    mutes: Mutes = attrs.field(factory=Mutes)
    worker: Worker = attrs.field(factory=Worker)
    is_focused: Callable[[], bool] = _is_focused
    play: Callable[[str], None] = _play
    also: Callable[[Notice, float], None] = lambda _notice, _now: None
    since: float = math.inf
    clock: Callable[[], float] = time.monotonic
    _notifier: Notifier = attrs.field(init=False)
    _command: Command | None = attrs.field(init=False, default=None)
    #: Our notifications on the screen, by window id: the manager's own numbers.
    _out: dict[int, int] = attrs.field(factory=dict)
    #: Notifications to withdraw once the daemon shows them, each with the time since when.
    _fading: dict[int, float] = attrs.field(factory=dict)
    #: The state of panes at the last look, where looking again at the same would change nothing.
    _looked: dict[int, tuple[object, ...]] = attrs.field(factory=dict)
    _show: Callable[..., int | None] = attrs.field(init=False)
    #: The sequence that is being read: its number and the rest of it.
    _reading: tuple[int, str] | None = None

    def __attrs_post_init__(self) -> None:
        self._notifier = Notifier(self.settings, self.since)
        self._show = self.boss.notification_manager.notify_with_command
        self._use_command(self.settings.command)

    # Ours ----------------------------------------------------------------------------------------------------

    def use(self, settings: Settings) -> None:
        """Apply *settings* from now on. Notifications on the screen stay."""
        if settings == self.settings:
            return
        self.settings = self._notifier.settings = settings
        self._looked.clear()
        self._use_command(settings.command)

    def _use_command(self, argv: tuple[str, ...]) -> None:
        """Run the command *argv* from now on, if there is one. Running commands are still ended in time."""
        if self._command is not None:
            self._command.argv = argv
        elif argv:
            failed = functools.partial(self.features.failed, "notify.command")
            self._command = Command(argv, self.host, failed, worker=self.worker)

    def look(self, now: float, ids: Set[int]) -> None:
        """
        Send notifications that are due now, and withdraw those that are out of date.

        *ids* may have news; panes that wait for their time are looked at in any case.
        """
        local = time.localtime()
        minute = 60 * local.tm_hour + local.tm_min
        for id_ in ids | (self.panes.keys() - self._looked.keys()):
            if (pane := self.panes.get(id_)) is None:
                continue
            attention, decision = pane.attention, pane.decision
            window = self.boss.window_id_map.get(id_) if self.mutes.ends else None
            tab = str(window.tab_id) if window is not None else ""
            attention.muted_until = self.mutes.until(tab, pane.project, now) if self.mutes.ends else None
            is_muted = attention.muted_until is not None
            state = decision, attention.visible, attention.seen, attention.snoozed, is_muted
            before = self._looked.get(id_)
            # The same decision, not an equal one: comparing them costs as much as looking.
            if before is not None and before[0] is decision and before[1:] == state[1:]:
                continue
            self._carry_out(self._notifier.look(str(id_), view_of(pane, self.name_of(id_)), now, minute), now)
            attention.notified = self._notifier.was_notified(str(id_))
            if self._notifier.is_resting(str(id_)):
                self._looked[id_] = state
            else:
                self._looked.pop(id_, None)
        if self._command is not None:
            self._command.tick(now)
        self._fade(now)

    def pause(self, seconds: float) -> None:
        """Leave out *seconds* in which nothing could run."""
        self._notifier.pause(seconds)

    def close(self, id_: int, now: float) -> None:
        """Forget the window, which is gone."""
        self._looked.pop(id_, None)
        self._carry_out(self._notifier.close(str(id_)), now)

    def _carry_out(self, found: Notice | Withdrawal | None, now: float) -> None:
        """Withdraw the old notification of the pane, and send *found* if it is a new one."""
        if found is not None:
            self._withdraw(int(found.pane), now)
        if isinstance(found, Notice):
            self.also(found, now)
            if self._command is not None and self._command.argv:
                self._command.run(found, now)
            else:
                self._send(found)

    def _send(self, notice: Notice) -> None:
        """Show *notice* with its sound and with buttons for the answers, if the question allows them."""
        id_ = int(notice.pane)
        manager = self.boss.notification_manager
        command = manager.create_notification_cmd()
        command.title, command.body, command.application_name = notice.title, notice.body, APPLICATION
        # A person at the terminal sees the tab.
        sound = SILENT if self.is_focused() else self.settings.sounds.get(notice.status, "")
        is_file = "/" in sound  # which kitty does not play by itself
        command.sound_name = SILENT if is_file else sound
        question = self._question(id_, notice)
        short = brief(question) if question is not None and self.settings.buttons else None
        if short is not None:
            command.body, command.buttons = short.body, short.labels
            # A button must not bring the pane to the front. A click anywhere else still does, by `pressed`.
            command.actions = frozenset()
        elif question is not None and question.missing:
            command.body = "\n".join(filter(None, (notice.body, question.missing)))

        def put_away(gone: Any) -> None:
            # Not if another notification of this pane has replaced it since.
            if self._out.get(id_) == gone.desktop_notification_id:
                del self._out[id_]
                self._notifier.put_away(notice.pane)

        def pressed(gone: Any, button: int = 0) -> None:
            put_away(gone)
            if short is None:
                return
            if not 1 <= button <= len(short.choices):
                manager.channel.focus(id_, gone.activation_token)
                return
            given = short.question.answer(short.choices[button - 1].number)

            def tell(reply: Reply) -> None:
                if isinstance(reply, Refusal):
                    show(self.boss, "Not answered", reply.text)
                    if reply.rule == "changed":
                        self._notifier.repeat(notice.pane)
                        self._looked.pop(id_, None)

            until_decided(lambda: self.perform(given, Caller(Who.NOTICE, (0, 0))), tell, self.later)

        command.on_activation, command.on_close = pressed, put_away
        number = self._show(command, id_)
        # None: the user's own rules suppressed it.
        if number is not None:
            self._out[id_] = number
            if is_file:
                self.play(sound)

    def _withdraw(self, id_: int, now: float) -> None:
        """Withdraw the notification of window *id_* once the daemon has shown it."""
        number = self._out.pop(id_, None)
        if number is not None and len(self._fading) < MAX_FADING:
            self._fading[number] = now
            self._fade(now)

    def _fade(self, now: float) -> None:
        """Withdraw the waiting notifications that the daemon shows by now; forget those that it never showed."""
        manager = self.boss.notification_manager
        for number, since in list(self._fading.items()):
            command = manager.in_progress_notification_commands.get(number)
            if command is not None and command.created_by_desktop:
                command.on_close = command.on_activation = None
                manager.close_notification(number)
            elif command is not None and now - since < CREATED_S:
                continue
            del self._fading[number]

    def _question(self, id_: int, notice: Notice) -> Question | None:
        """Return the question on the screen; None if there is none."""
        try:
            reply = self.perform(LookRequest(str(id_), QUESTION), PERSON) if notice.status is Status.WAITING else None
        except Exception as error:  # the notification itself must come
            self.features.failed("buttons of notifications", error)
            return None
        return reply if isinstance(reply, Question) else None

    # Programs' own ------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Intercept notifications between programs and kitty's manager, once a process."""
        manager = self.boss.notification_manager
        read, show = manager.handle_notification_cmd, manager.notify_with_command
        # A fault lets everything pass from then on.
        take_message, take_notification, was_shown = (
            self.features.guarded("notifications of programs", call)
            for call in (self._take_message, self._take_notification, self._was_shown)
        )

        def handle_notification_cmd(channel_id: int, osc_code: int, raw: str) -> Any:
            self._reading = osc_code, raw
            try:
                if take_message(channel_id, osc_code, raw):
                    return None
                return read(channel_id, osc_code, raw)
            finally:
                self._reading = None

        def notify_with_command(command: Any, channel_id: int) -> Any:
            # kitty's own notifications (of an ended command, for example) arrive here without a sequence.
            if self._reading is not None and take_notification(command, channel_id):
                return None
            number = show(command, channel_id)
            if self._reading is not None and number is not None:
                was_shown(command, channel_id, number)
            return number

        manager.handle_notification_cmd = handle_notification_cmd
        manager.notify_with_command = notify_with_command

    def _take_message(self, id_: int, number: int, raw: str) -> bool:
        """Take a message between programs out of the stream; return True if it was one."""
        pane = self._agent_in(id_)
        # kitty has removed the first word, and passes on nothing else of this kind.
        payload = f"notify;{raw}"
        if pane is None or number != 777 or not notified.is_machine_talk(number, payload):
            return False
        report = notified.message_report(number, payload, pane.decision.status)
        if report is not None:
            self._receive(id_, pane, report)
        return True

    def _take_notification(self, command: Any, id_: int) -> bool:
        """Use an agent's notification as evidence, and add the project; return True if it can stay hidden."""
        pane = self._agent_in(id_)
        if pane is None or self._reading is None:
            return False
        # Complete the command; kitty does the same again, to no effect.
        command.finalise()
        if not command.title:
            return False
        status = pane.decision.status
        title, body = enriched(view_of(pane, self.name_of(id_)), command.title, command.body)
        # An advertisement raises nothing.
        report = notified.notice_report(self._reading[0], command.title, command.body) if title else None
        if report is not None:
            self._receive(id_, pane, report)
        # A program that wants events of its notification must get them, so there must be one.
        if not _asks_back(command) and (not title or self._is_known(id_, pane, status)):
            return True
        # The user's rules are about the agent's own words; kitty applies them once more.
        if title and not self.boss.notification_manager.is_notification_filtered(command):
            command.title, command.body = title, body
        return False

    def _is_known(self, id_: int, pane: Pane, status: Status) -> bool:
        """Return whether the person knows of *status* already, which the light showed."""
        if status not in (Status.WAITING, Status.DONE, Status.ERROR):
            return False
        return pane.attention.visible or (not self.settings.command and self._notifier.was_notified(str(id_)))

    def _receive(self, id_: int, pane: Pane, report: Report) -> None:
        """Pass *report* to the pane, and notify the host if it was read now; else it is read later."""
        if pane.notified(report, self.clock()):
            self.received(id_)

    def _was_shown(self, command: Any, id_: int, number: int) -> None:
        """Note that a program's own notification of window *id_* was shown."""
        # A command of the user's may report it somewhere else, so it is run all the same.
        if not self.settings.command and self._agent_in(id_) is not None:
            self._notifier.agent_notified(str(id_), self.clock())
            if not _asks_back(command):
                self._out.setdefault(id_, number)
            self._looked.pop(id_, None)

    def _agent_in(self, id_: int) -> Pane | None:
        pane = self.panes.get(id_)
        return pane if pane is not None and pane.agent is not None else None
