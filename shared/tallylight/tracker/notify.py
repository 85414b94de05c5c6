"""
Notifications: when a person is notified that an agent needs them, and when the notification is taken back.

A host has one `Notifier` and passes every pane to it regularly, with the monotonic time and the minute of the local
day. The result is a `Notice` to show, a `Withdrawal`, or None. A need is notified once, and only while its pane is
hidden; a person who has looked at it is not notified. A notice is withdrawn when the agent continues or the person
comes. Nothing is sent from here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.model.tool_call import request
from tallylight.tracker.claims import is_other
from tallylight.wire.text import middle, sanitise, width

#: The statuses that can be notified.
STATUSES = (Status.WAITING, Status.ERROR, Status.DONE, Status.LIMITED, Status.DOWN)
#: A need must have lasted so many seconds before it is notified: until then a flicker ends, and a question is read.
NEED_SETTLES_S = 0.7
#: The same while the question of a wait, or the outcome of a turn, has not been read yet.
QUESTION_S = 2.0
#: A need that comes back within so many seconds is the same one: sources disagreed. After them its notice goes.
SAME_NEED_S = 1.5
#: The least seconds between two notices of one pane. A notice that is held back comes later, if it is still true.
NOTICE_GAP_S = 5.0
#: An agent's own notification covers a need that begins up to so many seconds after it.
OWN_S = 2.0
NOTICE_TITLE_CELLS = 80
NOTICE_BODY_CELLS = 240

#: The words for what an agent does, by status and kind. A kind that is missing has the words of its status.
_DOES: dict[tuple[Status, Kind | None], str] = {
    (Status.WAITING, Kind.PERMISSION): "asks for permission",
    (Status.WAITING, Kind.QUESTION): "asks you something",
    (Status.WAITING, Kind.AUTH): "wants you to log in",
    (Status.WAITING, None): "waits for you",
    (Status.ERROR, None): "failed",
    (Status.DONE, Kind.QUESTION): "is done, and asks you something",
    (Status.DONE, None): "is done",
    (Status.LIMITED, None): "has used up its limit",
    (Status.DOWN, None): "vanished during its turn",
    (Status.WORKING, None): "gets no answer from its model",
}
_DIGITS = re.compile(r"[0-9]+")
#: How an agent advertises itself, up to the end of the sentence: `Tip: auto mode handles these prompts for you`.
_ADVERT = re.compile(r"(?:^|(?<=[.!?:·—]) )(?:\W )?Tip: [^.!?]*[.!?]*")


@attrs.frozen(kw_only=True)
class Settings:
    """
    A person's settings for notifications.

    *when*: the statuses to notify; the end of a turn only if it took *min_turn_s* seconds. *quiet*: spans of the day
    without notifications, as minutes after midnight; a span may cross midnight. *command* is run instead of a
    notification, if it is set. *snooze_min*: the minutes of a snooze that names none. *buttons*: a question that a
    notification shows whole can be answered there. *delay_s*: the seconds that a need must have lasted. *no_answer*:
    also notify of a model that does not answer. *mute*: names of projects without notifications. *sounds*: the sound
    of each status, as a name of the desktop's sound theme, a path with a `/`, or `silent`.
    """

    when: frozenset[Status] = frozenset({Status.WAITING, Status.ERROR, Status.DONE, Status.LIMITED})
    min_turn_s: float = 30.0
    quiet: tuple[tuple[int, int], ...] = ()
    command: tuple[str, ...] = ()
    snooze_min: float = 15.0
    buttons: bool = True
    delay_s: float = 0.0
    no_answer: bool = False
    mute: frozenset[str] = frozenset()
    sounds: Mapping[Status, str] = attrs.Factory(dict)

    def is_quiet(self, minute: int) -> bool:
        """Return whether this minute of the day is in a quiet span."""
        return any(a <= minute < b if a <= b else minute >= a or minute < b for a, b in self.quiet)


@attrs.frozen(kw_only=True)
class View:
    """
    A pane at one moment: its decision, and what the person has done about it. *name* is its display name.

    *outcome* is the result of a turn that is over, and *behind* what parts add to it. With *is_whole* False the
    outcome is still being read.
    """

    decision: Decision
    visible: bool
    seen: bool = False
    snoozed: bool = False
    muted: bool = False
    project: str = ""
    name: str = ""
    outcome: str = ""
    behind: str = ""
    is_whole: bool = True
    #: Since when the model of an agent that works has not answered, if that is late.
    unanswered: float | None = None


@attrs.frozen
class Notice:
    """
    One notification to show. Every text is sanitised and one line.

    *discreet* is a title without the subject of the question, for a screen that others see.
    """

    pane: str
    status: Status
    kind: Kind | None
    agent: str
    project: str
    title: str
    body: str
    discreet: str = ""


@attrs.frozen
class Withdrawal:
    """The notice of this pane is out of date and has to go."""

    pane: str


@attrs.define(eq=False)
class _Need:
    """One need of a pane's agent, and whether the person knows of it."""

    status: Status
    since: float
    began: float
    #: The question in the words of each source, its subject, and its kind.
    questions: dict[Source, str] = attrs.field(factory=dict)
    what: str = ""
    kind: Kind | None = None
    #: Whether the person knows of it; and whether a notice of ours is the reason.
    is_known: bool = False
    was_shown: bool = False
    #: Whether the pane was seen, and snoozed, at the last look.
    was_seen: bool = False
    was_snoozed: bool = False

    def changes_to(self, decision: Decision) -> bool:
        """
        Take in the present question; return whether it is another one than before. A missing text is no difference.

        Two sources word one question in two ways, so each is compared with its own earlier words.
        """
        report = decision.report
        # The numbers in a question may count.
        question, what = _DIGITS.sub("0", report.message), report.what
        before = self.questions.get(report.source, "")
        is_new = is_other(self.what, what) or ("" not in (question, before) and question != before)
        is_new = is_new or (None not in (decision.kind, self.kind) and decision.kind is not self.kind)
        self.what = what or self.what
        if question:
            self.questions[report.source] = question
        self.kind = decision.kind or self.kind
        return is_new

    def look(self, view: View, now: float) -> bool:
        """Note the state of the pane at *now*; return whether an earlier notice is out of date."""
        was_looked_at, is_rested = view.seen and not self.was_seen, self.was_snoozed
        self.was_seen, self.was_snoozed = view.seen, view.snoozed
        self.is_known = self.is_known or was_looked_at
        if view.visible or view.snoozed:
            return True
        # The agent may ask another question right after the first; the end of a snooze asks again, too.
        is_again = (self.changes_to(view.decision) and self.status is Status.WAITING and not view.seen) or is_rested
        if is_again:
            self.is_known, self.began = False, now
        return was_looked_at or is_again


@attrs.define
class _Pane:
    """The needs and the notices of one pane."""

    need: _Need | None = None
    #: The need with a notice on the person's desktop, and when a notice was last made.
    out: _Need | None = None
    notified_at: float = -math.inf
    #: The need before, and when it ended.
    last: _Need | None = None
    ended: float = 0.0
    #: When the present turn began, infinite if there is none; and the seconds of the last one, below 0 if unknown.
    turn_began: float = math.inf
    turn_s: float = -math.inf
    #: When the agent last sent a notification of its own, until one of ours was left out for it.
    own_at: float = -math.inf


class Notifier:
    """
    Decides for all panes of a host which notices to show and to withdraw.

    A need that a pane has at its first look counts from when it began, if that was after *since*.
    """

    def __init__(self, settings: Settings, since: float = math.inf) -> None:
        self.settings = settings
        self._since = since
        self._panes: dict[str, _Pane] = {}

    def look(self, id_: str, view: View, now: float, minute: int) -> Notice | Withdrawal | None:
        """Take in one pane; return the notice to show, or that its notice has to go, or None."""
        is_first = id_ not in self._panes
        pane = self._panes.setdefault(id_, _Pane())
        _time_turn(pane, view.decision)
        need = self._need(pane, view, now)
        if is_first and need is not None:
            need.began = min(now, max(need.since, self._since))
        is_over = need is not None and need.look(view, now)
        is_stale = is_over if pane.out is need else pane.out is not None and now - pane.ended >= SAME_NEED_S
        if view.visible or view.snoozed or is_stale:
            return _withdraw(id_, pane)
        if need is None or need.is_known or not self._is_due(pane, need, view, now):
            return None
        need.is_known = True
        own, pane.own_at = pane.own_at, -math.inf
        if own >= need.began - OWN_S:
            pane.out = need
        elif not self._is_unwanted(pane, need, view, minute):
            need.was_shown, pane.out, pane.notified_at = True, need, now
            return notice(id_, view)
        return None

    def _is_due(self, pane: _Pane, need: _Need, view: View, now: float) -> bool:
        """Return whether *need* has lasted long enough, and the last notice is long enough ago."""
        is_unread = (need.status is Status.WAITING and not need.questions) or not view.is_whole
        settle = QUESTION_S if is_unread else NEED_SETTLES_S
        return now >= max(need.began + max(settle, self.settings.delay_s), pane.notified_at + NOTICE_GAP_S)

    def is_resting(self, id_: str) -> bool:
        """Return whether the next `look` would return None as long as the pane does not change."""
        pane = self._panes.get(id_, _Pane())
        return pane.out in (None, pane.need) and (pane.need is None or pane.need.is_known)

    def was_notified(self, id_: str) -> bool:
        """Return whether the person was notified of the pane's present need."""
        need = self._panes.get(id_, _Pane()).need
        return need is not None and need.was_shown

    def known_status(self, id_: str) -> Status | None:
        """Return the status of the pane's present need if the person knows of it, else None."""
        need = self._panes.get(id_, _Pane()).need
        return need.status if need is not None and need.is_known else None

    def put_away(self, id_: str) -> None:
        """Take in that the person has closed the notice, or opened the pane through it."""
        self._panes.get(id_, _Pane()).out = None

    def repeat(self, id_: str) -> None:
        """Notify of the pane's present need once more: the answer to its notice came too late."""
        if (need := self._panes.get(id_, _Pane()).need) is not None:
            need.is_known = False

    def agent_notified(self, id_: str, now: float) -> None:
        """
        Take in that the agent in the pane has sent a notification of its own.

        It counts as the notice of the pane: there is no second one, and it is withdrawn like one of ours.
        """
        pane = self._panes.setdefault(id_, _Pane())
        pane.own_at = now
        if pane.need is not None and pane.need.is_known and pane.out is None:
            pane.out = pane.need

    def pause(self, seconds: float) -> None:
        """Shift all times by *seconds* in which neither agent nor host ran."""
        for pane in self._panes.values():
            pane.ended += seconds
            pane.turn_began += seconds

    def close(self, id_: str) -> Withdrawal | None:
        """Forget a pane that is gone; return the withdrawal of its notice, if there is one."""
        return _withdraw(id_, self._panes.pop(id_, _Pane()))

    def _need(self, pane: _Pane, view: View, now: float) -> _Need | None:
        """
        Return the pane's present need: the last one if it goes on or came back within `SAME_NEED_S`, else a new one.
        """
        decision, need = view.decision, pane.need
        status, since = decision.status, decision.since
        is_wanted = status in self.settings.when
        if status is Status.WORKING and view.unanswered is not None:
            is_wanted, since = self.settings.no_answer, view.unanswered
        if need is not None and (status, since, is_wanted) != (need.status, need.since, True):
            pane.last, pane.ended, need = need, now, None
        if need is None and is_wanted:
            need, last = _Need(status, since, now), pane.last
            need.changes_to(decision)
            if (
                last is not None
                and now - pane.ended < SAME_NEED_S
                and last.status is status
                and not last.changes_to(decision)
            ):
                last.since, last.was_seen, last.was_snoozed = since, False, False
                need = last
        pane.need = need
        return need

    def _is_unwanted(self, pane: _Pane, need: _Need, view: View, minute: int) -> bool:
        """Return whether the person's settings rule out a notice of *need*."""
        is_short = need.status is Status.DONE and pane.turn_s < self.settings.min_turn_s
        is_muted = view.muted or view.project in self.settings.mute or self.settings.is_quiet(minute)
        return is_short or is_muted


def notice(id_: str, view: View) -> Notice:
    """Return the notice of a pane: a title with place and status, a body with the question or the outcome."""
    decision = view.decision
    status, kind, report = decision.status, decision.kind, decision.report
    agent, project = sanitise(report.agent, cells=32) or "an agent", _project(view)
    tells = f"{agent} {_DOES.get((status, kind), _DOES[status, None])}"
    title = discreet = f"{project}: {tells}" if project not in ("", agent) else tells
    body = ". ".join(filter(None, (without_adverts(report.message), report.detail)))
    if status is Status.DONE:
        body = view.outcome or body
    elif status is Status.WAITING and report.what:
        head, asked = f"{project or agent}: ", request(report.what)
        title = head + middle(asked, NOTICE_TITLE_CELLS - width(head))
        # The whole subject where the title cuts it, and the question, unless one contains the other.
        body = "" if body in report.what else body
        whole = "" if asked in title or report.what in body else report.what
        body = ": ".join(filter(None, (tells, ". ".join(filter(None, (whole, body))))))
    if view.behind:
        body = f"{body} ({view.behind})".strip()
    title, discreet = (sanitise(text, cells=NOTICE_TITLE_CELLS) for text in (title, discreet))
    return Notice(id_, status, kind, agent, project, title, sanitise(body, cells=NOTICE_BODY_CELLS), discreet)


def enriched(view: View, title: str, body: str) -> tuple[str, str]:
    """
    Return title and body for an agent's own notification: with its project and name, without adverts.

    Once its turn is over the title says so, for what agents send then is a reminder.
    """
    agent, project = sanitise(view.decision.report.agent, cells=32) or "an agent", _project(view)
    # Most of them call themselves by their names first.
    title = "" if body and title.lower().startswith(agent.lower()) else without_adverts(title)
    text = ": ".join(filter(None, (title, without_adverts(body))))
    says = f"{agent} {_DOES[Status.DONE, None]}" if view.decision.status is Status.DONE else agent
    head = f"{project}: {says}" if project not in ("", agent) else says
    return (sanitise(head, cells=NOTICE_TITLE_CELLS), sanitise(text, cells=NOTICE_BODY_CELLS)) if text else ("", "")


def without_adverts(text: str) -> str:
    """Return *text* without tips with which an agent advertises itself."""
    return _ADVERT.sub("", text).strip(" ·—") if "Tip: " in text else text


def _project(view: View) -> str:
    """Return the project's name, or the best name for the pane if no source reports a project."""
    report = view.decision.report
    project = report.project or view.project or report.cwd.rstrip("/").rpartition("/")[2] or view.name
    return sanitise(project, cells=40)


def _withdraw(id_: str, pane: _Pane) -> Withdrawal | None:
    """Return the withdrawal of the notice of *pane*, which is then forgotten; None if it has none."""
    out, pane.out = pane.out, None
    return Withdrawal(id_) if out is not None else None


def _time_turn(pane: _Pane, decision: Decision) -> None:
    """Note when a turn begins, and its seconds when it ends. A wait is in the middle of a turn."""
    if decision.status is Status.WORKING:
        pane.turn_began = min(pane.turn_began, decision.since)
    elif decision.status not in (Status.WAITING, Status.LIMITED, Status.BACKGROUND):
        if pane.turn_began < math.inf or decision.status is not Status.DONE:
            pane.turn_s = decision.since - pane.turn_began
        pane.turn_began = math.inf
