"""
Notifications: whether and when a person is to be told that an agent needs them, and when that is taken back.

A host has one `Notifier` and shows it every pane again and again, with the monotonic time and the minute of the local
day. It answers with a `Notice` to show, a `Withdrawal`, or nothing. A need is told once, and only while its pane is not
in front of the person; who has looked at it has been told. A notice is withdrawn when the agent goes on or the person
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

#: What may be told.
STATUSES = (Status.WAITING, Status.ERROR, Status.DONE, Status.LIMITED, Status.DOWN)
#: How old a need is, in seconds, before it is told: what flickers is over by then, and the question has been read.
SETTLE_S = 0.7
#: The same for a wait whose question is not known yet, which has to be drawn, seen on the screen and read; and for a
#: turn of which it is still being read what it came to.
QUESTION_S = 2.0
#: A need that comes back within so many seconds never went: sources disagree for a moment. It is withdrawn after them.
AGAIN_S = 1.5
#: One pane is told of at most once in so many seconds; what is held back comes later, if it is still so.
GAP_S = 5.0
#: A notification of the agent's own tells about what began up to so many seconds after it.
OWN_S = 2.0
TITLE_CELLS = 80
BODY_CELLS = 240

#: What an agent does, by its status and what it waits for; a kind without words of its own has those of its status.
_TELLS: dict[tuple[Status, Kind | None], str] = {
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
#: What not every source tells of a subject: how much of a file changes, and where its rows end.


@attrs.frozen(kw_only=True)
class Settings:
    """
    What a person wants to be told of: the statuses of *when*; a turn's end only if it took *min_turn_s* seconds.

    *quiet* are spans of the day, from and to in minutes after midnight, in which nothing is told, then or later; one
    may go over midnight. *command* is run instead of a notification, if there is one. *snooze_min* is how many minutes
    a snooze lasts that names none. *buttons*: whether a question that a notification shows whole can be answered there.
    *delay_s*: for how many seconds it must have lasted. *no_answer*: also of a model that does not answer. *mute*:
    names of projects that are never told of. *sounds*: the sound of each status: a name of the desktop's sound theme, a
    file if there is a `/` in it, or `silent`.
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
        """Whether nothing is told at this minute of the day."""
        return any(a <= minute < b if a <= b else minute >= a or minute < b for a, b in self.quiet)


@attrs.frozen(kw_only=True)
class View:
    """
    A pane at one moment: what it shows, and what the person has to do with it. *name* is what to call it.

    *outcome* and *behind*, what parts say of it, are of a turn that is over; not *is_whole*: there may be more to tell
    of it in a moment.
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
    What is to be told of a pane. Every text is sanitised and one line.

    *discreet* is a title that says nothing of what is asked, for a screen that others see.
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
    """The notice of this pane is out of date."""

    pane: str


@attrs.define(eq=False)
class _Need:
    """What a pane's agent needs of the person, and how far that has been told."""

    status: Status
    since: float
    began: float
    #: The question in the words of each source that ever knew it, what about, and of which kind that is.
    questions: dict[Source, str] = attrs.field(factory=dict)
    what: str = ""
    kind: Kind | None = None
    #: Whether there is nothing more to tell of it; and whether that is because the person was notified.
    is_told: bool = False
    was_shown: bool = False
    #: How it was in the look before.
    was_seen: bool = False
    was_snoozed: bool = False

    def changes_to(self, decision: Decision) -> bool:
        """
        Take in what is asked now; return whether that is something else than before. What is not known is no other.

        Two sources word one question in two ways, so each is compared with its own words.
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
        """Take note of how the pane is; whether what was told before is out of date."""
        was_looked_at, is_rested = view.seen and not self.was_seen, self.was_snoozed
        self.was_seen, self.was_snoozed = view.seen, view.snoozed
        self.is_told = self.is_told or was_looked_at
        if view.visible or view.snoozed:
            return True
        # It may ask another question right after the first, or its rest is over: that is what a snooze is for.
        is_anew = (self.changes_to(view.decision) and self.status is Status.WAITING and not view.seen) or is_rested
        if is_anew:
            self.is_told, self.began = False, now
        return was_looked_at or is_anew


@attrs.define
class _Pane:
    need: _Need | None = None
    #: The need whose notice is with the person, and when a notice was last made.
    out: _Need | None = None
    notified_at: float = -math.inf
    #: The need before, and when it ended.
    last: _Need | None = None
    ended: float = 0.0
    #: When the turn began that is going on, infinite if none is; and how long the last one took, below 0 if not known.
    turn_began: float = math.inf
    turn_s: float = -math.inf
    #: When the agent last told the person by itself, until that has stood for a notice of ours.
    own_at: float = -math.inf


class Notifier:
    """Decides for all panes of a host."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._panes: dict[str, _Pane] = {}

    def look(self, id_: str, view: View, now: float, minute: int) -> Notice | Withdrawal | None:
        """Look at one pane; say what is to be done about it."""
        pane = self._panes.setdefault(id_, _Pane())
        _time_turn(pane, view.decision)
        need = self._need(pane, view, now)
        is_over = need is not None and need.look(view, now)
        is_stale = is_over if pane.out is need else pane.out is not None and now - pane.ended >= AGAIN_S
        if view.visible or view.snoozed or is_stale:
            return _withdraw(id_, pane)
        if need is None or need.is_told or not self._is_due(pane, need, view, now):
            return None
        need.is_told = True
        own, pane.own_at = pane.own_at, -math.inf
        if own >= need.began - OWN_S:
            pane.out = need
        elif not self._is_unwanted(pane, need, view, minute):
            need.was_shown, pane.out, pane.notified_at = True, need, now
            return notice(id_, view)
        return None

    def _is_due(self, pane: _Pane, need: _Need, view: View, now: float) -> bool:
        """Whether *need* has lasted, and the last notice is long enough ago."""
        is_unread = (need.status is Status.WAITING and not need.questions) or not view.is_whole
        settle = QUESTION_S if is_unread else SETTLE_S
        return now >= max(need.began + max(settle, self.settings.delay_s), pane.notified_at + GAP_S)

    def is_resting(self, id_: str) -> bool:
        """Whether the next `look` at the pane does nothing, if it shows what the last one showed. There was one."""
        pane = self._panes.get(id_, _Pane())
        return pane.out in (None, pane.need) and (pane.need is None or pane.need.is_told)

    def was_notified(self, id_: str) -> bool:
        """Whether the person was notified of what the pane needs now."""
        need = self._panes.get(id_, _Pane()).need
        return need is not None and need.was_shown

    def told(self, id_: str) -> Status | None:
        """The status of what the pane needs now, if the person knows of it."""
        need = self._panes.get(id_, _Pane()).need
        return need.status if need is not None and need.is_told else None

    def put_away(self, id_: str) -> None:
        """The person has put the notice away, or come through it."""
        self._panes.get(id_, _Pane()).out = None

    def told_itself(self, id_: str, now: float) -> None:
        """
        The agent in the pane has notified the person by itself; ours would be a second one for the same.

        It counts as the notice of the pane, and is withdrawn as one of ours would be; so is a reminder.
        """
        pane = self._panes.setdefault(id_, _Pane())
        pane.own_at = now
        if pane.need is not None and pane.need.is_told and pane.out is None:
            pane.out = pane.need

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which nobody could run: in no turn, and between no need and its return."""
        for pane in self._panes.values():
            pane.ended += seconds
            pane.turn_began += seconds

    def close(self, id_: str) -> Withdrawal | None:
        """The pane is gone."""
        return _withdraw(id_, self._panes.pop(id_, _Pane()))

    def _need(self, pane: _Pane, view: View, now: float) -> _Need | None:
        """The need of the pane at this moment: the one before, if it is still that, or is again right after its end."""
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
                and now - pane.ended < AGAIN_S
                and last.status is status
                and not last.changes_to(decision)
            ):
                last.since, last.was_seen, last.was_snoozed = since, False, False
                need = last
        pane.need = need
        return need

    def _is_unwanted(self, pane: _Pane, need: _Need, view: View, minute: int) -> bool:
        """Return True if the person does not want to be told of *need*."""
        is_short = need.status is Status.DONE and pane.turn_s < self.settings.min_turn_s
        is_muted = view.muted or view.project in self.settings.mute or self.settings.is_quiet(minute)
        return is_short or is_muted


def notice(id_: str, view: View) -> Notice:
    """Word what there is to tell of a pane: first where and what, then the question, or what it came to."""
    decision = view.decision
    status, kind, report = decision.status, decision.kind, decision.report
    agent, project = sanitise(report.agent, cells=32) or "an agent", _project(view)
    tells = f"{agent} {_TELLS.get((status, kind), _TELLS[status, None])}"
    title = discreet = f"{project}: {tells}" if project not in ("", agent) else tells
    body = ". ".join(filter(None, (without_adverts(report.message), report.detail)))
    if status is Status.DONE:
        body = view.outcome or body
    elif status is Status.WAITING and report.what:
        head, asked = f"{project or agent}: ", request(report.what)
        title = head + middle(asked, TITLE_CELLS - width(head))
        # All of it where the title cuts it, and the question beside it, unless one says the other.
        body = "" if body in report.what else body
        whole = "" if asked in title or report.what in body else report.what
        body = ": ".join(filter(None, (tells, ". ".join(filter(None, (whole, body))))))
    if view.behind:
        body = f"{body} ({view.behind})".strip()
    title, discreet = (sanitise(text, cells=TITLE_CELLS) for text in (title, discreet))
    return Notice(id_, status, kind, agent, project, title, sanitise(body, cells=BODY_CELLS), discreet)


def enriched(view: View, title: str, body: str) -> tuple[str, str]:
    """
    Return the title and the body of an agent's own notification, with its project and its name, without adverts.

    Once its turn is over the title says so: what agents send then is a reminder in words of their own.
    """
    agent, project = sanitise(view.decision.report.agent, cells=32) or "an agent", _project(view)
    # Most of them call themselves by their names first.
    title = "" if body and title.lower().startswith(agent.lower()) else without_adverts(title)
    text = ": ".join(filter(None, (title, without_adverts(body))))
    says = f"{agent} {_TELLS[Status.DONE, None]}" if view.decision.status is Status.DONE else agent
    head = f"{project}: {says}" if project not in ("", agent) else says
    return (sanitise(head, cells=TITLE_CELLS), sanitise(text, cells=BODY_CELLS)) if text else ("", "")


def without_adverts(text: str) -> str:
    """*text* without what an agent says to advertise itself."""
    return _ADVERT.sub("", text).strip(" ·—") if "Tip: " in text else text


def _project(view: View) -> str:
    """What the agent works on, as far as anybody knows."""
    report = view.decision.report
    project = report.project or view.project or report.cwd.rstrip("/").rpartition("/")[2] or view.name
    return sanitise(project, cells=40)


def _withdraw(id_: str, pane: _Pane) -> Withdrawal | None:
    out, pane.out = pane.out, None
    return Withdrawal(id_) if out is not None else None


def _time_turn(pane: _Pane, decision: Decision) -> None:
    """Take the time of turns. A wait is in the middle of one; a `done` that stays or comes back is still its end."""
    if decision.status is Status.WORKING:
        pane.turn_began = min(pane.turn_began, decision.since)
    elif decision.status not in (Status.WAITING, Status.LIMITED, Status.BACKGROUND):
        if pane.turn_began < math.inf or decision.status is not Status.DONE:
            pane.turn_s = decision.since - pane.turn_began
        pane.turn_began = math.inf
