"""
The three questions and their answers. Does a turn run? Is a dialog open? Does background work go on?

The trust table decides between the facts of all sources. `light` makes one status of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.tracker.claims import GUESSES, Claim, DatedFact
from tallylight.tracker.table import CONTRADICTION_S, FILE_LAG_S, HOW, LATE, SHOWN_DIALOG_S

_NEVER = float("-inf")


@attrs.frozen
class Circumstances:
    """The circumstances in which claims are judged. *is_explicit*: the agent reports its own status."""

    timing: Timing
    now: float
    last_output: float | None
    is_explicit: bool

    def refusal(self, claim: Claim, claims: Mapping[Source, Claim], deadlines: list[float]) -> str:
        """
        Return why *claim* has no vote among *claims*; an empty text if it has one. *deadlines* gets when that ends.

        Only `working` fades. Visible output is evidence that the agent still works, so it puts the end off.
        """
        source = claim.report.source
        if self.is_explicit and source in GUESSES:
            return "explicit wins: the agent reports its own status"
        if source is Source.PROCESS and any(other.tells_turns for other in claims.values()):
            return "the agent tells its turns itself"
        fades_s = self.timing.fades_s(source)
        if claim.report.status is not Status.WORKING or not fades_s:
            return ""
        end = max(claim.at, self.last_output if self.last_output is not None else claim.at) + fades_s
        if self.now >= end:
            return f"not renewed for {self.now - claim.at:.0f} s"
        deadlines.append(end)
        return ""


@attrs.define
class Answers:
    """
    The facts that won for the turn, the dialog and the background; None where no source has one.

    *ended_by* is the claim that says how the turn ended. *is_awaited*: a better source is about to report that, and
    until then *turn* is the work before.
    """

    claims: Mapping[Source, Claim]
    turn: DatedFact | None = None
    asks: DatedFact | None = None
    rest: DatedFact | None = None
    ended_by: Claim | None = None
    is_awaited: bool = False
    #: Why some claims have no vote, and when the answers may change without a new report.
    refusals: dict[Source, str] = attrs.Factory(dict)
    deadlines: list[float] = attrs.Factory(list)


def answers(claims: Mapping[Source, Claim], view: Circumstances) -> Answers:
    """Return the answers that follow from *claims* by the trust table."""
    found, voters = Answers(claims), []
    words: tuple[list[DatedFact], list[DatedFact], list[DatedFact]] = ([], [], [])
    for source, claim in claims.items():
        if refusal := view.refusal(claim, claims, found.deadlines):
            found.refusals[source] = refusal
            continue
        voters.append(claim)
        for question, word in claim.facts:
            words[question].append(word)
    screen = claims.get(Source.SCREEN)
    shown_until = screen.at + SHOWN_DIALOG_S if screen is not None and screen.status is Status.WAITING else _NEVER
    turns = _believed(words[0], view.now, found.deadlines)
    found.turn = turns[-1]
    found.asks = _believed(words[1], view.now, found.deadlines, shown_until)[-1]
    found.rest = _believed(words[2], view.now, found.deadlines)[-1]
    if found.turn is not None and not found.turn.fact.is_so:
        begin = next((word for word in reversed(turns) if word is not None and word.fact.is_so), None)
        knowers = [claim for claim in voters if claim.tells_how or claim.report.status is Status.WORKING]
        _resolve_ending(found, found.turn, begin, sorted(knowers, key=_knowledge, reverse=True), view.now)
    return found


def _believed(
    words: list[DatedFact], now: float, deadlines: list[float], shown_until: float = _NEVER
) -> list[DatedFact | None]:
    """
    Return the answers one after another: None, then each fact that overruled the one before. The last one counts.

    *deadlines* gets when a fact that is too new will count. A dialog was on the screen until *shown_until*.
    """
    believed: list[DatedFact | None] = [None]
    for word in sorted(words):
        present = believed[-1]
        since = max(word.since, shown_until) if word.keeps_dialog else word.since
        if present is not None:
            is_same = word.fact.is_so is present.fact.is_so
            if word.fact.says < present.fact.holds or (is_same and word.source < present.source):
                continue
            if present.source is Source.PROTOCOL and word.source is not Source.PROTOCOL:
                since = max(since, present.since) + CONTRADICTION_S
        if since <= min(now, word.until):
            believed.append(word)
        elif since <= word.until:
            deadlines.append(since)
    return believed


def _resolve_ending(found: Answers, turn: DatedFact, begin: DatedFact | None, knowers: list[Claim], now: float) -> None:
    """Set in *found* which of *knowers*, the best first, says how the *turn* ended that began with *begin*."""
    # An end is as old as its first report, however often it is repeated.
    first = max(turn.since, begin.time + FILE_LAG_S) if begin is not None else turn.since
    due = min(turn.time, first) + FILE_LAG_S
    for claim in knowers:
        source = claim.report.source
        if claim.tells_how and (begin is None or claim.facts[0][1] > begin):
            found.ended_by = claim
            return
        if source not in LATE or _knowledge(turn.claim) > _knowledge(claim):
            continue
        if now < due:
            found.deadlines.append(due)
            found.turn, found.is_awaited = begin, True
            return
        if claim.tells_how and begin is not None and begin.until - begin.since < FILE_LAG_S:
            found.ended_by = claim  # the work was too short for this source to notice
            return


def _knowledge(claim: Claim) -> tuple[bool, int, Source]:
    """Return how much a claim knows of a turn's end: a usage limit is more than an error."""
    return claim.report.kind is Kind.LIMIT, HOW[claim.report.source], claim.report.source


def light(found: Answers) -> tuple[Status, Claim] | None:
    """
    Return the status to show and the claim it is from; None if no source has a claim.

    An agent that reported its name alone is `idle`, like any other without a known activity.
    """
    if found.asks is not None and found.asks.fact.is_so:
        return Status.WAITING, found.asks.claim
    if found.turn is None:
        named = found.claims.get(Source.PROTOCOL)
        return (Status.IDLE, named) if named is not None and named.is_only_a_name else None
    if found.turn.fact.is_so:
        return Status.WORKING, found.turn.claim
    if found.rest is not None and found.rest.fact.is_so:
        return Status.BACKGROUND, found.rest.claim
    how = found.ended_by or found.turn.claim
    if how.report.kind is Kind.LIMIT:
        return Status.LIMITED, how
    return (Status.IDLE if how.status is Status.BACKGROUND else how.status), how
