"""
The three questions, answered: what the facts of all sources come to by the table, and the light that follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import attrs

from tallylight.model.decision import Losing
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim, Timing, expires
from tallylight.tracker.table import HOW, LATE, LATE_S, OF_NOW, SHOWN_S, STANDS_S, STILL, Fact

_FOREVER = float("inf")
_MUTED = (Source.SCREEN, Source.HEURISTIC)


class Word(NamedTuple):
    """A fact in the walk: in the order of its time, of its source, and of when it was told; and from when it counts."""

    time: float
    source: Source
    told: int
    claim: Claim
    fact: Fact
    since: float
    until: float = _FOREVER


@attrs.frozen
class View:
    """What claims are judged by: the time, the last visible output, and whether the agent speaks for itself."""

    timing: Timing
    now: float
    last_output: float | None
    is_explicit: bool

    def refusal(self, claim: Claim, deadlines: list[float]) -> str:
        """Why *claim* has no vote; nothing if it has one: *deadlines* gets until when."""
        if self.is_explicit and claim.report.source in _MUTED:
            return "explicit wins: the agent speaks for itself"
        end = expires(claim, self.timing, self.last_output)
        if end is not None and self.now >= end:
            return f"not renewed for {self.now - claim.at:.0f} s"
        if end is not None:
            deadlines.append(end)
        return ""


@attrs.define
class Answers:
    """
    What is true of the turn, of what is asked and of the rest; None where nobody says anything.

    *how* tells how the turn ended. *is_awaited*: who knows that best is late, and *turn* is what went on before.
    """

    turn: Word | None = None
    asks: Word | None = None
    rest: Word | None = None
    how: Claim | None = None
    is_awaited: bool = False
    #: Why some have no vote. When the answers may be others although nothing new is said.
    refusals: dict[Source, str] = attrs.Factory(dict)
    deadlines: list[float] = attrs.Factory(list)


def answers(claims: Mapping[Source, Claim], view: View) -> Answers:
    """The answers by *claims*, the walk of the table."""
    found, now = Answers(), view.now
    screen = claims.get(Source.SCREEN)
    shown_until = screen.at + SHOWN_S if screen is not None and screen.status is Status.WAITING else 0.0
    voters: list[Claim] = []
    turn: list[Word] = []
    asks: list[Word] = []
    rest: list[Word] = []
    for source, claim in claims.items():
        if refusal := view.refusal(claim, found.deadlines):
            found.refusals[source] = refusal
            continue
        voters.append(claim)
        runs, is_asked, rests = claim.facts
        time = _FOREVER if (source, claim.report.status) == OF_NOW else claim.time
        if runs is not None:
            turn.append(Word(time, source, claim.told, claim, runs, claim.since))
        if (begin := claim.begin) is not None and runs is not None and not runs.is_so and begin.facts[0] is not None:
            runs = begin.facts[0]._replace(holds=0)
            turn.append(Word(begin.since, source, begin.told, begin, runs, begin.since, claim.begin_ended))
        if is_asked is not None:
            asks += _of_question(claim, is_asked, shown_until)
        if rests is not None:
            rest.append(Word(time, source, claim.told, claim, rests, claim.since))
    begins: list[Word] = []
    found.turn = _walk(turn, now, found.deadlines, begins)
    found.asks = _walk(asks, now, found.deadlines, [])
    found.rest = _walk(rest, now, found.deadlines, [])
    if found.turn is not None and not found.turn.fact.is_so:
        _end(found, found.turn, begins[-1] if begins else None, voters, now)
    return found


def _of_question(claim: Claim, fact: Fact, shown_until: float) -> list[Word]:
    """A dialog that is seen again still stands there; until then a record does not end it."""
    since = max(claim.since, shown_until) if claim.lets_stand else claim.since
    word = Word(claim.time, claim.report.source, claim.told, claim, fact, since)
    still = STILL[word.source] if fact.is_so and claim.at > claim.time else None
    return [word, word._replace(time=claim.at, fact=still)] if still is not None else [word]


def _walk(words: list[Word], now: float, deadlines: list[float], begins: list[Word]) -> Word | None:
    """The answer that *words* come to; *begins* gets what was believed to be so on the way."""
    present: Word | None = None
    for word in sorted(words):
        since = word.since
        if present is not None:
            is_same = word.fact.is_so is present.fact.is_so
            if word.fact.says < present.fact.holds or (is_same and word.source < present.source):
                continue
            if present.source is Source.PROTOCOL and not is_same and word.source is not Source.PROTOCOL:
                since = max(since, present.since) + STANDS_S
        if since <= now and since <= word.until:
            present = word
            if word.fact.is_so:
                begins.append(word)
        elif since <= word.until:
            deadlines.append(since)
    return present


def _end(found: Answers, turn: Word, begin: Word | None, voters: list[Claim], now: float) -> None:
    """How the *turn* ended that began with *begin*: by who knows that best, if it has told since."""
    found.how = turn.claim
    for claim in sorted((claim for claim in voters if claim.may_know_how), key=_knowledge, reverse=True):
        source, is_over = claim.report.source, claim.tells_how
        if is_over and (begin is None or (claim.time, source) > (begin.time, begin.source)):
            found.how = claim
            return
        if source not in LATE or _knowledge(turn.claim) > _knowledge(claim):
            continue
        if now < (told_by := turn.since + LATE_S):
            found.deadlines.append(told_by)
            found.turn, found.is_awaited = begin, True
            return
        if is_over and begin is not None and begin.until - begin.since < LATE_S:  # it never noticed that work
            found.how = claim
            return


def _knowledge(claim: Claim) -> tuple[bool, int, Source]:
    """Who tells that it was at a limit knows more than who tells of an error."""
    is_limit = claim.tells_how and claim.report.status is Status.WAITING
    return is_limit, HOW[claim.report.source], claim.report.source


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
    how = found.how or found.turn.claim
    return (Status.IDLE if how.status is Status.BACKGROUND else how.status), how


def losing(claims: Mapping[Source, Claim], found: Answers, shown: Claim | None) -> tuple[Losing, ...]:
    """The claims that are not *shown*, each with why; those without a vote first."""
    lost: list[Losing] = []
    for source in sorted(claims, key=lambda source: (source not in found.refusals, -source)):
        claim = claims[source]
        if source in found.refusals:
            why = found.refusals[source]
        elif shown is None or claim is shown:
            continue
        elif found.is_awaited and source in LATE:
            why = "of the turn before: how the last one ended is not told yet"
        else:
            by = shown.report.source
            why = f"contradicted since by the agent's own {by.word}" if source > by else f"outranked by {by.word}"
        lost.append(Losing(source, claim.report.rule, claim.status, claim.at, why))
    return tuple(lost)
