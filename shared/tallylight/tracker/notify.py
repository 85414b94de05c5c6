"""
Notifications: whether and when a person is to be told that an agent needs them, and when that is taken back.

One `Notifier` a host is shown every pane again and again, with the monotonic time and the minute of the local day; it
answers with a `Notice` to show, a `Withdrawal`, or nothing. A need is told once, and only while its pane is not in
front of the person; who has looked at it has been told. It is withdrawn when the agent goes on or the person comes.
Nothing is sent from here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.wire.text import sanitise

#: What may be told.
STATUSES = (Status.WAITING, Status.ERROR, Status.DONE, Status.DOWN)
#: How old a need is, in seconds, before it is told: what flickers is over by then, and the question has been read.
SETTLE_S = 0.7
#: The same for a wait whose question is not known yet: it has to be drawn, seen on the screen and read.
QUESTION_S = 2.0
#: A need that comes back within so many seconds never went: sources disagree for a moment. It is withdrawn after them.
AGAIN_S = 1.5
#: One pane is told of at most once in so many seconds, and of guesses less often; what is held back comes later, if it
#: is still so.
GAP_S = 5.0
GUESS_GAP_S = 60.0
#: A notification of the agent's own tells about what began up to so many seconds after it.
OWN_S = 2.0
TITLE_CELLS = 80
BODY_CELLS = 240

_WAITS: dict[Kind | None, str] = {
    Kind.PERMISSION: "asks for permission",
    Kind.QUESTION: "asks you something",
    Kind.INPUT: "waits for you",
    Kind.AUTH: "wants you to log in",
    Kind.LIMIT: "has used up its limit",
    None: "waits for you",
}
_TELLS = {Status.ERROR: "failed", Status.DONE: "is done", Status.DOWN: "vanished in the middle of its turn"}
_DIGITS = re.compile(r"[0-9]+")
#: What not every source tells of a subject: how much of a file changes, and where its rows end.
_COUNTED, _GAPS = re.compile(r" \(\+\d+ −\d+\)$"), re.compile(r"[\s↵]+")


@attrs.frozen(kw_only=True)
class Settings:
    """
    What a person wants to be told of: the statuses of *when*; a turn's end only if it took *min_turn_s* seconds.

    *quiet* are spans of the day, from and to in minutes after midnight, in which nothing is told, then or later; one
    may go over midnight. *command* is run instead of a notification, if there is one. *snooze_min* is how many minutes
    a snooze lasts that names none. *buttons*: whether a question that a notification shows whole can be answered there.
    *delay_s*: for how many seconds it must have lasted. *mute*: names of projects that are never told of. *sounds*: the
    sound of each status: a name of the desktop's sound theme, a file if there is a `/` in it, or `silent`.
    """

    when: frozenset[Status] = frozenset({Status.WAITING, Status.ERROR, Status.DONE})
    min_turn_s: float = 30.0
    quiet: tuple[tuple[int, int], ...] = ()
    command: tuple[str, ...] = ()
    snooze_min: float = 15.0
    buttons: bool = True
    delay_s: float = 0.0
    mute: frozenset[str] = frozenset()
    sounds: Mapping[Status, str] = attrs.Factory(dict)

    def is_quiet(self, minute: int) -> bool:
        """Whether nothing is told at this minute of the day."""
        return any(a <= minute < b if a <= b else minute >= a or minute < b for a, b in self.quiet)


@attrs.frozen(kw_only=True)
class View:
    """A pane at one moment: what it shows, and what the person has to do with it. *name* is what to call it."""

    decision: Decision
    visible: bool
    seen: bool = False
    snoozed: bool = False
    muted: bool = False
    project: str = ""
    name: str = ""


@attrs.frozen(kw_only=True)
class Notice:
    """What is to be told of a pane. Every text is sanitised and one line."""

    pane: str
    status: Status
    kind: Kind | None
    agent: str
    project: str
    title: str
    body: str


@attrs.frozen
class Withdrawal:
    """The notice of this pane is out of date."""

    pane: str


@attrs.define(eq=False)
class _Need:
    """What a pane's agent needs of the person, and how far that has been told."""

    decision: Decision
    began: float
    question: str
    #: What it is about, as it was last told.
    what: str
    #: Whether there is nothing more to tell of it; and whether that is because the person was notified.
    is_told: bool = False
    was_shown: bool = False
    was_seen: bool = False
    was_snoozed: bool = False


@attrs.define
class _Pane:
    need: _Need | None = None
    #: The need whose notice is with the person.
    out: _Need | None = None
    told_at: float | None = None
    #: The need before, and when it ended.
    last: _Need | None = None
    ended: float = 0.0
    #: When the turn began that is going on, and how long the one took that has ended.
    turn_began: float | None = None
    turn_s: float | None = None
    own_at: float | None = None


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
        was_looked_at = need is not None and view.seen and not need.was_seen
        if need is not None:
            need.is_told, need.was_seen = need.is_told or was_looked_at, view.seen
        if view.visible or view.snoozed:
            if need is not None:
                need.was_snoozed = view.snoozed
            return self._withdraw(id_, pane)
        if pane.out is not None and (now - pane.ended >= AGAIN_S if pane.out is not need else was_looked_at):
            return self._withdraw(id_, pane)
        if need is None:
            return None
        if need.was_snoozed:
            # The rest is over: that is what a snooze is for.
            need.was_snoozed, need.is_told, need.began = False, False, now
        if _restate(need, view, now) and pane.out is need:
            return self._withdraw(id_, pane)
        settle = QUESTION_S if need.decision.status is Status.WAITING and not need.question else SETTLE_S
        settle = max(settle, self.settings.delay_s)
        gap = GUESS_GAP_S if need.decision.reason.source is Source.HEURISTIC else GAP_S
        if need.is_told or now - need.began < settle or (pane.told_at is not None and now - pane.told_at < gap):
            return None
        need.is_told = True
        if self._is_known(pane, need) or self.settings.is_quiet(minute) or not self._is_worth_it(pane, need):
            return None
        if view.muted or (view.project and view.project in self.settings.mute):
            return None
        need.was_shown, pane.out, pane.told_at = True, need, now
        return notice(id_, view)

    def is_resting(self, id_: str) -> bool:
        """Whether the next `look` at the pane does nothing, if it shows what the last one showed."""
        pane = self._panes.get(id_)
        if pane is None or (pane.out is not None and pane.out is not pane.need):
            return False
        return pane.need is None or pane.need.is_told

    def was_notified(self, id_: str) -> bool:
        """Whether the person was notified of what the pane needs now."""
        pane = self._panes.get(id_)
        return pane is not None and pane.need is not None and pane.need.was_shown

    def put_away(self, id_: str) -> None:
        """The person has put the notice away, or come through it."""
        if (pane := self._panes.get(id_)) is not None:
            pane.out = None

    def told_itself(self, id_: str, now: float) -> None:
        """The agent in the pane has notified the person by itself; ours would be a second one for the same."""
        self._panes.setdefault(id_, _Pane()).own_at = now

    def close(self, id_: str) -> Withdrawal | None:
        """The pane is gone."""
        pane = self._panes.pop(id_, None)
        return Withdrawal(id_) if pane is not None and pane.out is not None else None

    def _need(self, pane: _Pane, view: View, now: float) -> _Need | None:
        """The need of the pane at this moment: the one before, if it is still that."""
        decision, need = view.decision, pane.need
        if need is not None and (decision.status, decision.since) == (need.decision.status, need.decision.since):
            need.decision = decision
            return need
        if need is not None:
            pane.last, pane.ended, pane.need = need, now, None
        if decision.status not in self.settings.when:
            return None
        made = _Need(decision, now, _question(decision), decision.report.what)
        last = pane.last
        if last is not None and now - pane.ended < AGAIN_S and _is_same(last, made):
            made.question, made.what = made.question or last.question, made.what or last.what
            made.began, made.is_told, made.was_shown = last.began, last.is_told, last.was_shown
            pane.out = made if pane.out is last else pane.out
        pane.need = made
        return made

    def _is_known(self, pane: _Pane, need: _Need) -> bool:
        """Whether the agent has told the person itself."""
        own, pane.own_at = pane.own_at, None
        return own is not None and own >= need.began - OWN_S

    def _is_worth_it(self, pane: _Pane, need: _Need) -> bool:
        if need.decision.status is not Status.DONE:
            return True
        return pane.turn_s is not None and pane.turn_s >= self.settings.min_turn_s

    def _withdraw(self, id_: str, pane: _Pane) -> Withdrawal | None:
        if pane.out is None:
            return None
        pane.out = None
        return Withdrawal(id_)


def notice(id_: str, view: View) -> Notice:
    """Word what there is to tell of a pane."""
    decision = view.decision
    report = decision.report
    agent = sanitise(report.agent, cells=32) or "an agent"
    project = sanitise(_project(view), cells=40)
    tells = _WAITS[decision.kind] if decision.status is Status.WAITING else _TELLS.get(decision.status, "")
    if decision.status is Status.DONE and decision.kind is Kind.QUESTION:
        tells = "is done, and asks you something"
    title = f"{agent} {tells}" + (f" · {project}" if project not in ("", agent) else "")
    return Notice(
        pane=id_,
        status=decision.status,
        kind=decision.kind,
        agent=agent,
        project=project,
        title=sanitise(title, cells=TITLE_CELLS),
        body=sanitise(_body(decision), cells=BODY_CELLS),
    )


def _project(view: View) -> str:
    report = view.decision.report
    return report.project or view.project or report.cwd.rstrip("/").rpartition("/")[2] or view.name


def _body(decision: Decision) -> str:
    """What is asked, and what about: the one beside the other, unless one says the other."""
    report = decision.report
    said = report.message or report.detail
    if decision.status is not Status.WAITING or not report.what or report.what in said:
        return said
    return report.what if not said or said in report.what else f"{report.what}. {said}"


def _time_turn(pane: _Pane, decision: Decision) -> None:
    if decision.status is Status.WORKING:
        if pane.turn_began is None:
            pane.turn_began, pane.turn_s = decision.since, None
    elif decision.status not in (Status.WAITING, Status.BACKGROUND):
        if pane.turn_began is not None:
            pane.turn_s = decision.since - pane.turn_began
        elif decision.status is not Status.DONE:
            pane.turn_s = None
        pane.turn_began = None


def _question(decision: Decision) -> str:
    """What tells one question from another: its text, except for the numbers that may count in it."""
    return _DIGITS.sub("0", decision.report.message)


def _restate(need: _Need, view: View, now: float) -> bool:
    """Whether an agent asks another question right after the first: it is not answered yet, and asks again."""
    question, what = _question(view.decision), view.decision.report.what
    is_other = bool(question and need.question and question != need.question) or _is_other(need.what, what)
    need.question, need.what = question or need.question, what or need.what
    if not is_other or need.decision.status is not Status.WAITING or view.seen:
        return False
    need.is_told, need.began = False, now
    return True


def _is_same(before: _Need, after: _Need) -> bool:
    if before.decision.status is not after.decision.status or _is_other(before.what, after.what):
        return False
    return before.question == after.question or not before.question or not after.question


def _is_other(before: str, after: str) -> bool:
    """Whether two subjects are of two questions: each source has its name of a tool, and may cut or join rows."""
    if not before or not after:
        return False
    texts = [_GAPS.sub("", _COUNTED.sub("", what).partition(" ")[2] or what) for what in (before, after)]
    heads = [text.partition("…")[0] for text in texts if "…" in text]
    return not all(text.startswith(min(heads, key=len)) for text in texts) if heads else texts[0] != texts[1]
