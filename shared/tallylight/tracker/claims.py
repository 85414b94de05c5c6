"""
Claims: what each source currently says about one record, and which of them wins.

A record holds at most one claim a source, so nothing here grows. Choosing is a pure function of the claims and
the time: ranks first, then the rules that let a lower source correct a higher one that has gone silent.
"""

from __future__ import annotations

import attrs

from tallylight.model.decision import Losing, what_would_change
from tallylight.model.report import Report, Source
from tallylight.model.status import Status

#: How long, in seconds, an agent's own status file or title has to contradict an older protocol report before it
#: is believed. Hooks are silent when a person presses Esc or answers a dialog; the file and the title are not.
#: Longer than one poll, so that a file read late does not contradict a report that has just overtaken it.
CONTRADICTION_S = 0.4

#: For so long, in seconds, a dialog that the screen has shown is taken to stand there: a little longer than until that
#: is told again, of a calm screen too (`evidence.looks.AGAIN_LOOKS`). That it is gone is told much sooner.
SEEN_S = 2.5

#: How long, in seconds, the end of a turn that a file has told is not believed once work was seen to begin after it,
#: and to end: by then the file tells of that turn, too. It is read every quarter of a second, and may be 0.6 s late.
OVERTAKEN_S = 1.0

_LIVE = frozenset({Status.WORKING, Status.WAITING})


@attrs.define
class Claim:
    """
    One source's present word. *at* is when it last said so, *changed* when it began to; *told* counts the words of all
    sources, for those of one moment have an order, too.
    """

    report: Report
    at: float
    changed: float
    told: int = 0
    #: A person has looked at this `done` since it began.
    seen: bool = False
    #: The work that was believed in its place and has ended, and when it did.
    overtaken: tuple[Claim, float] | None = None

    @property
    def status(self) -> Status:
        """The claimed status; a `done` that was looked at is `idle`."""
        status = self.report.status
        assert status is not None, "a withdrawn report is never kept as a claim"
        return Status.IDLE if status is Status.DONE and self.seen else status


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


#: What an agent says about itself beside a protocol.
_OWN = (Source.REGISTRY, Source.RECORD, Source.TITLE)
#: What was seen of it, and is no guess.
_SEEN = (Source.TITLE, Source.PROGRESS, Source.NOTIFICATION, Source.SCREEN)
#: What an idle or done title or progress bar leaves open: it tells no more than that the agent does not work.
_BEHIND_IDLE = frozenset({Status.WAITING, Status.ERROR, Status.BACKGROUND})


def contradicts(lower: Claim, higher: Claim) -> float | None:
    """From when on *lower* is to be believed, because *higher* cannot be true beside it; None if it is not."""
    pair = (lower.report.source, higher.report.source)
    if lower.status is higher.status:
        return None
    if pair[0] is Source.SCREEN and pair[1] in (Source.TITLE, Source.PROGRESS):
        return lower.changed if _is_behind(lower, higher) else None
    if pair[1] is Source.RECORD:
        # It tells how a turn ended: whatever was seen to go on since is believed, and a dialog that still stands there,
        # which is a subagent's that runs on.
        if pair[0] is Source.SCREEN and lower.status is Status.WAITING and lower.at > higher.changed:
            return lower.at
        is_newer = pair[0] in _SEEN and lower.status in _LIVE and lower.changed > higher.changed
        return lower.changed if is_newer else None
    if pair[1] is Source.REGISTRY and pair[0] is Source.TITLE:
        # Claude's file tells half a second later than its title that a turn has begun.
        begins = lower.status is Status.WORKING and higher.status in (Status.IDLE, Status.DONE)
        return lower.changed if begins and lower.changed > higher.changed else None
    if pair[0] not in _OWN or pair[1] is not Source.PROTOCOL:
        return None
    if pair[0] is Source.REGISTRY and (lower.status, higher.status) == (Status.BACKGROUND, Status.WORKING):
        # Claude's protocol calls it work, too, when only a shell of its own still runs; its file tells the two apart,
        # and calls it busy when a turn begins.
        return max(lower.changed, higher.changed) + CONTRADICTION_S
    if pair[0] is Source.RECORD and (lower.status, higher.status) == (Status.BACKGROUND, Status.DONE):
        return max(lower.changed, higher.changed)  # Codex's protocol tells that the turn is over, and not of subagents
    if lower.changed <= higher.at:
        return None
    if lower.report.source is Source.TITLE and lower.status in (Status.IDLE, Status.DONE):
        # An idle glyph also stands while a dialog is open, so it can only say "not working".
        return lower.changed + CONTRADICTION_S if higher.status is Status.WORKING else None
    return lower.changed + CONTRADICTION_S if higher.status in _LIVE or lower.status in _LIVE else None


def overtake(claims: dict[Source, Claim], work: Claim, now: float) -> None:
    """Mark the ends of turns in *claims* in place of which *work*, which is over *now*, was believed."""
    for source in (Source.RECORD, Source.REGISTRY):
        end = claims.get(source)
        if end is not None and end is not work and contradicts(work, end) is not None:
            end.overtaken = work, now


def _asks_on(record: Claim, higher: Claim, screen: Claim | None) -> bool:
    """Whether the end of a turn by a *record* leaves a question open: its dialog still stands there, a subagent's."""
    is_asked = screen is not None and screen.status is Status.WAITING
    return record.report.source is Source.RECORD and higher.status is Status.WAITING and is_asked


def _stands_until(screen: Claim, record: Claim) -> float | None:
    """Until when the dialog of a *screen* may still stand there, which it did before a *record* told an end."""
    if screen.report.source is not Source.SCREEN or screen.status is not Status.WAITING:
        return None
    if record.status not in (Status.DONE, Status.BACKGROUND):
        return None  # a person broke it off, or it failed: nobody is asked any more
    return screen.at + SEEN_S if screen.at <= record.changed else None


def _is_behind(screen: Claim, title: Claim) -> bool:
    """Whether the screen, which was read twice for that, shows what a title or a progress bar does not tell."""
    if title.status in (Status.IDLE, Status.DONE):
        # Seen since: a dialog that was answered, and a turn that ended with it, may be both news of one look.
        return screen.status in _BEHIND_IDLE and screen.at > title.changed
    # A dialog came to stand there since the title began to say that it works; some are late to take that back.
    return title.status is Status.WORKING and screen.status is Status.WAITING and screen.changed > title.changed


@attrs.frozen
class Choice:
    """The winning claim, None where no source has a vote, and the claims put aside with the rule that did it."""

    winner: Claim | None
    losing: tuple[Losing, ...]
    #: When the choice may come out differently although nothing new is said; None if never.
    deadline: float | None


def choose(
    claims: dict[Source, Claim], *, timing: Timing, now: float, explicit: bool, last_output: float | None
) -> Choice:
    """The claim that is shown at *now*. *explicit* takes the vote from screen rules and guesses."""
    losing: list[Losing] = []
    deadlines: list[float] = []
    voters: list[Claim] = []
    for source in sorted(claims, reverse=True):
        claim = claims[source]
        end = expires(claim, timing, last_output)
        if explicit and source in (Source.SCREEN, Source.HEURISTIC):
            losing.append(_lost(claim, "explicit wins: the agent speaks for itself"))
        elif end is not None and now >= end:
            losing.append(_lost(claim, f"not renewed for {now - claim.at:.0f} s"))
        else:
            voters.append(claim)
            if end is not None:
                deadlines.append(end)
    winner = voters[0] if voters else None
    if winner is not None:
        for claim in voters[1:]:
            since = contradicts(claim, winner)
            stands = _stands_until(claim, winner) if winner.report.source is Source.RECORD else None
            if stands is not None and now < stands:
                since = claim.at
                deadlines.append(stands)
            if since is not None and not _asks_on(claim, winner, claims.get(Source.SCREEN)):
                if now >= since:
                    losing.append(_lost(winner, f"contradicted since by the agent's own {claim.report.source.word}"))
                    winner = claim
                    break
                deadlines.append(since)
        losing.extend(
            _lost(claim, f"outranked by {winner.report.source.word}") for claim in voters[1:] if claim is not winner
        )
        if winner.overtaken is not None and now < (told_by := winner.overtaken[1] + OVERTAKEN_S):
            losing.append(_lost(winner, "of the turn before: how the last one ended is not told yet"))
            deadlines.append(told_by)
            winner = winner.overtaken[0]
    return Choice(winner, tuple(losing), min(deadlines, default=None))


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


def _lost(claim: Claim, why: str) -> Losing:
    return Losing(claim.report.source, claim.report.rule, claim.status, claim.at, why)
