"""
The three questions, answered: what the facts of all sources come to by the table, and the light that follows.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.tracker.claims import GUESSES, Claim, DatedFact
from tallylight.tracker.table import HOW, LATE, LATE_S, SHOWN_S, STANDS_S

_NEVER = float("-inf")


@attrs.frozen
class View:
    """What claims are judged by: the time, the last visible output, and whether the agent speaks for itself."""

    timing: Timing
    now: float
    last_output: float | None
    is_explicit: bool

    def refusal(self, claim: Claim, claims: Mapping[Source, Claim], deadlines: list[float]) -> str:
        """
        Why *claim* has no vote among *claims*; nothing if it has one: *deadlines* gets until when.

        Only `working` fades. Visible output of the agent is evidence that it still works, so it puts the time off.
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
    What is true of the turn, of what is asked and of the rest; None where nobody says anything.

    *ended_by* tells how the turn ended. *is_awaited*: who knows that best is late, and *turn* is what went on before.
    """

    claims: Mapping[Source, Claim]
    turn: DatedFact | None = None
    asks: DatedFact | None = None
    rest: DatedFact | None = None
    ended_by: Claim | None = None
    is_awaited: bool = False
    #: Why some have no vote. When the answers may be others although nothing new is said.
    refusals: dict[Source, str] = attrs.Factory(dict)
    deadlines: list[float] = attrs.Factory(list)


def answers(claims: Mapping[Source, Claim], view: View) -> Answers:
    """The answers by *claims*, the walk of the table."""
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
    shown_until = screen.at + SHOWN_S if screen is not None and screen.status is Status.WAITING else _NEVER
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
    """The walk: what was the answer after each of *words*; nothing at first, the present one in the end."""
    believed: list[DatedFact | None] = [None]
    for word in sorted(words):
        present = believed[-1]
        since = max(word.since, shown_until) if word.keeps_dialog else word.since
        if present is not None:
            is_same = word.fact.is_so is present.fact.is_so
            if word.fact.says < present.fact.holds or (is_same and word.source < present.source):
                continue
            if present.source is Source.PROTOCOL and word.source is not Source.PROTOCOL:
                since = max(since, present.since) + STANDS_S
        if since <= min(now, word.until):
            believed.append(word)
        elif since <= word.until:
            deadlines.append(since)
    return believed


def _resolve_ending(found: Answers, turn: DatedFact, begin: DatedFact | None, knowers: list[Claim], now: float) -> None:
    """How the *turn* ended that began with *begin*: by the best of *knowers* who has told since."""
    # An end that is seen again and again is no later for that.
    first = max(turn.since, begin.time + LATE_S) if begin is not None else turn.since
    told_by = min(turn.time, first) + LATE_S
    for claim in knowers:
        source = claim.report.source
        if claim.tells_how and (begin is None or claim.facts[0][1] > begin):
            found.ended_by = claim
            return
        if source not in LATE or _knowledge(turn.claim) > _knowledge(claim):
            continue
        if now < told_by:
            found.deadlines.append(told_by)
            found.turn, found.is_awaited = begin, True
            return
        if claim.tells_how and begin is not None and begin.until - begin.since < LATE_S:
            found.ended_by = claim  # it never noticed that work
            return


def _knowledge(claim: Claim) -> tuple[bool, int, Source]:
    """Who tells that it was at a limit knows more than who tells of an error."""
    return claim.report.kind is Kind.LIMIT, HOW[claim.report.source], claim.report.source


def light(found: Answers) -> tuple[Status, Claim] | None:
    """What is shown, and by whose word; None where nobody says anything."""
    if found.asks is not None and found.asks.fact.is_so:
        return Status.WAITING, found.asks.claim
    if found.turn is None:
        return None
    if found.turn.fact.is_so:
        return Status.WORKING, found.turn.claim
    if found.rest is not None and found.rest.fact.is_so:
        return Status.BACKGROUND, found.rest.claim
    how = found.ended_by or found.turn.claim
    if how.report.kind is Kind.LIMIT:
        return Status.LIMITED, how
    return (Status.IDLE if how.status is Status.BACKGROUND else how.status), how
