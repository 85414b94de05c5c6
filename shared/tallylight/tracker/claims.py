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
    #: Whether one of the two is shown as another word.
    has_own_words: bool = attrs.field(init=False)

    @has_own_words.default
    def _default_has_own_words(self) -> bool:
        return (self.done_is, self.idle_is) != (Status.DONE, Status.IDLE)

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


def with_gaps_filled(report: Report, other: Report) -> Report:
    """*report*, with the display fields it leaves empty from *other*."""
    gaps = {name: getattr(other, name) for name in _SHARED if not getattr(report, name)}
    return attrs.evolve(report, **gaps)


def merged(claims: dict[Source, Claim], claim: Claim | None, agent: str, answered: int) -> Report:
    """
    The display fields of all *claims*, best source first, so that a session id outlives the next report.

    *claim* is the one that is shown, None for none, and *agent* the name of the agent in the foreground. What was
    *told* of a question up to *answered* is of one that was answered, and left out.
    """
    best = claim.report if claim is not None else Report(source=Source.HEURISTIC, status=Status.ACTIVE)
    if claim is not None and claim is claims.get(best.source) and claim.told <= answered:
        best = _without_words(best)
    gaps: dict[str, object] = {}
    for source in sorted(claims, reverse=True):
        for name in _SHARED:
            if not getattr(best, name) and name not in gaps and getattr(claims[source].report, name):
                gaps[name] = getattr(claims[source].report, name)
    if not best.agent and "agent" not in gaps and agent:
        gaps["agent"] = agent
    if best.status is Status.WAITING:
        if not best.what:
            gaps["what"] = _what(claims, answered)
        asked = claims.get(Source.SCREEN)
        if asked is not None and asked.status is Status.WAITING:
            names = ("message", "kind") if asked.told > answered else ("kind",)
            gaps |= {name: getattr(asked.report, name) for name in names if not getattr(best, name)}
            if best.source is Source.TITLE and asked.report.kind is not None:
                gaps["kind"] = asked.report.kind  # one glyph stands for every dialog
    return attrs.evolve(best, **gaps) if gaps else best  # type: ignore[arg-type]


def _what(claims: dict[Source, Claim], answered: int) -> str:
    """What the best source that waits and knows says it is about; it decides nothing."""
    told = (claims[source] for source in sorted(claims, reverse=True) if claims[source].told > answered)
    return next((claim.report.what for claim in told if claim.status is Status.WAITING and claim.report.what), "")


def _without_words(report: Report) -> Report:
    is_asked = report.status is Status.WAITING and (report.message or report.what)
    return attrs.evolve(report, message="", what="") if is_asked else report
