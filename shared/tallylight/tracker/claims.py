"""
Claims: what each source currently says about one record, and the words that are shown of them.

A record holds at most one claim a source, so nothing here grows. Which of them is shown, `tracker.questions` decides.
"""

from __future__ import annotations

import attrs

from tallylight.model.decision import what_would_change
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.table import LATE, Fact, facts_of, time_of


@attrs.define(eq=False)
class Claim:
    """
    One source's present word. *at* is when it last said so, *since* when it began to; *told* counts the words of all
    sources, for those of one moment have an order, too.
    """

    report: Report
    at: float
    since: float
    told: int = 0
    #: A person has looked at this `done` since it began.
    seen: bool = False
    #: The last work of this source, and when it said that this was over.
    begin: Claim | None = None
    begin_ended: float = 0.0
    #: Where in time it stands among the others, and what it says of the turn, of what is asked and of the rest.
    time: float = attrs.field(init=False)
    facts: tuple[Fact | None, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.time, self.facts = time_of(self.report, self.at, self.since), facts_of(self.report)

    @property
    def status(self) -> Status:
        """The claimed status; a `done` that was looked at is `idle`."""
        status = self.report.status
        assert status is not None, "a withdrawn report is never kept as a claim"
        return Status.IDLE if status is Status.DONE and self.seen else status

    @property
    def lets_stand(self) -> bool:
        """Whether it tells an end that a dialog may outlive: a record's, of a turn that nobody broke off."""
        return self.report.source is Source.RECORD and self.report.status in (Status.DONE, Status.BACKGROUND)

    @property
    def tells_how(self) -> bool:
        """Whether it tells how a turn ended. An idle screen shows no more than that it is over."""
        turn, said = self.facts[0], (self.report.source, self.report.status)
        is_open = said == (Source.SCREEN, Status.IDLE) or said[1] is Status.BACKGROUND
        return turn is not None and not turn.is_so and not is_open

    @property
    def may_know_how(self) -> bool:
        """Whether it tells how a turn ended, or is of one that tells so late."""
        turn = self.facts[0]
        return self.tells_how or (turn is not None and turn.is_so and self.report.source in LATE)

    def again(self, report: Report, now: float, told: int) -> None:
        """The source says the same at *now*, in the words of *report*."""
        self.report, self.at, self.told = report, now, told
        self.time = time_of(report, now, self.since)

    def shift(self, seconds: float) -> None:
        """*seconds* passed that do not count."""
        self.at, self.since, self.time = self.at + seconds, self.since + seconds, self.time + seconds
        self.begin_ended += seconds
        if self.begin is not None:
            self.begin.shift(seconds)


@attrs.frozen
class Timing:
    """
    The tracker's times in seconds, how long one explicit report silences guesses (`agent` or `tab`), and whether an
    agent that no file names may have a light.
    """

    silence_s: float = 4.0
    stale_s: float = 30.0
    #: 0 means never.
    fuse_s: float = 300.0
    debounce_s: float = 0.1
    explicit_lasts: str = "agent"
    unknown_agents: bool = True
    #: As what a finished turn, and an agent at its prompt, are shown: as they are, or as `waiting`.
    done_is: Status = Status.DONE
    idle_is: Status = Status.IDLE

    @property
    def has_own_words(self) -> bool:
        """Whether one of the two is shown as another word."""
        return self.done_is is not Status.DONE or self.idle_is is not Status.IDLE

    def would_change(self, status: Status, source: Source | None) -> str:
        """In words, what would end *status* that *source* says."""
        return what_would_change(status, source, silence_s=self.silence_s, stale_s=self.stale_s, fuse_s=self.fuse_s)


def expires(claim: Claim, timing: Timing, last_output: float | None) -> float | None:
    """
    When *claim* loses its vote for lack of evidence; None if never.

    Only `working` decays. Visible output of the agent is evidence that it still works, so it puts the time off.
    A status file is read all the time and says the same until it says otherwise: it does not decay while read.
    """
    if claim.report.status is not Status.WORKING or claim.report.source is Source.REGISTRY:
        return None
    allowance = timing.fuse_s if claim.report.source is Source.PROTOCOL else timing.stale_s
    if not allowance:
        return None
    return max(claim.at, last_output if last_output is not None else claim.at) + allowance


#: The display fields that every source may fill in where a better one says nothing.
_SHARED = ("agent", "session", "title", "project", "cwd", "worktree", "mode", "resume", "fork")


def with_gaps_filled(report: Report, *others: Report, **gaps: object) -> Report:
    """*report*, with the display fields it leaves empty from the first of *others* that has them, and with *gaps*."""
    for other in others:
        for name in _SHARED:
            if not getattr(report, name) and not gaps.get(name) and (value := getattr(other, name)):
                gaps[name] = value
    return attrs.evolve(report, **gaps) if gaps else report  # type: ignore[arg-type]


def merged(claims: dict[Source, Claim], claim: Claim | None, agent: str, answered: int) -> Report:
    """
    The display fields of all *claims*, best source first, so that a session id outlives the next report.

    *claim* is the one that is shown, None for none, and *agent* the name of the agent in the foreground. What was
    *told* of a question up to *answered* is of one that was answered, and left out.
    """
    best = claim.report if claim is not None else Report(source=Source.HEURISTIC, status=Status.ACTIVE)
    order = sorted(claims, reverse=True)
    is_asked = best.status is Status.WAITING
    gaps = _question(claims, claim, order, answered) if claim is not None and is_asked else {}
    best = with_gaps_filled(best, *(claims[source].report for source in order), **gaps)
    return best if best.agent or not agent else attrs.evolve(best, agent=agent)


def _question(claims: dict[Source, Claim], claim: Claim, order: list[Source], answered: int) -> dict[str, object]:
    """The words of the question that *claim* tells of: what was told of it, and what stands on the screen."""
    told = [one for source in order if (one := claims[source]).status is Status.WAITING and one.told > answered]
    best, screen = claim.report, claims.get(Source.SCREEN)
    is_told = claim in told or claim is not claims.get(best.source)
    words: dict[str, object] = {
        "message": best.message if is_told else "",
        "what": (is_told and best.what) or next((one.report.what for one in told if one.report.what), ""),
    }
    if screen is not None and screen.status is Status.WAITING:
        words["message"] = words["message"] or (screen.report.message if screen in told else "")
        # One glyph of a title stands for every dialog.
        is_better = best.kind is None or best.source is Source.TITLE
        words["kind"] = screen.report.kind if is_better and screen.report.kind is not None else best.kind
    return words
