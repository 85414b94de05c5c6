"""
Why a pane shows its light: the answer to each of the three questions, its source, and what would change it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.snapshot.entries import AnswerEntry, LosingEntry
from tallylight.tracker.claims import Claim
from tallylight.tracker.questions import Answers, light
from tallylight.tracker.table import FACTS, FILE_LAG_S, LATE, Fact

#: The words for the end of a turn, by the status in the best claim.
_ENDS = {
    Status.DONE: "over, finished",
    Status.ERROR: "over, failed",
    Status.LIMITED: "over, at a limit",
    Status.QUIET: "over, or silent",
}
_NOTHING = "nothing"
#: So many names of sources are summed up in one phrase.
_MANY_SOURCES = 6


def explained(
    found: Answers, decision: Decision, timing: Timing, epoch: Callable[[float], float]
) -> tuple[AnswerEntry, ...]:
    """Return the three answers; *epoch* converts monotonic seconds into seconds since the epoch."""
    entries = _turn(found, decision, timing), _asks(found, decision), _rest(found, decision)
    return tuple(attrs.evolve(entry, at=epoch(entry.at)) if entry.source else entry for entry in entries)


def _turn(found: Answers, decision: Decision, timing: Timing) -> AnswerEntry:
    """Return the answer to the question `turn`: whether one runs, or how the last one ended."""
    turn = found.turn
    if found.asks is not None and found.asks.fact.is_so:  # some titles report the end of the turn then
        return AnswerEntry(question="turn", answer="waits for an answer")
    if turn is None:
        return AnswerEntry(question="turn", answer=f"none: {decision.reason.rule}", changes=decision.reason.changes)
    if found.is_awaited:
        return AnswerEntry(question="turn", answer="over", changes=f"its file has the outcome within {FILE_LAG_S:g} s")
    if turn.fact.is_so:
        quiet = timing.silence_s if turn.source is Source.HEURISTIC else timing.fades_s(turn.source)
        return _answer_entry(
            "turn", "running", turn.claim, 0, turn.fact, f"{quiet:g} s without output" if quiet else ""
        )
    how = found.ended_by or turn.claim
    is_news = how.status is Status.DONE
    return _answer_entry("turn", _ENDS.get(how.status, "over"), how, 0, turn.fact, "a look" if is_news else "")


def _asks(found: Answers, decision: Decision) -> AnswerEntry:
    """Return the answer to the question `asks`: the dialog that is open, if any."""
    asks, prefix = found.asks, f"{decision.child_name}: " if decision.child_name else ""
    if asks is None or not asks.fact.is_so:
        is_other = prefix and decision.status is Status.WAITING
        return AnswerEntry(question="asks", answer=f"{prefix}{decision.kind or 'something'}" if is_other else _NOTHING)
    return _answer_entry("asks", f"{asks.claim.report.kind or 'something'}", asks.claim, 1, asks.fact)


def _rest(found: Answers, decision: Decision) -> AnswerEntry:
    """Return the answer to the question `rest`: what runs on beside the turn, such as subagents."""
    rest, count = found.rest, decision.report.background
    if rest is None or not rest.fact.is_so:
        return AnswerEntry(question="rest", answer=f"{count} of its subagents still run" if count else _NOTHING)
    return _answer_entry("rest", f"{count} still run" if count else "something still runs", rest.claim, 2, rest.fact)


def _answer_entry(question: str, answer: str, claim: Claim, column: int, fact: Fact, more: str = "") -> AnswerEntry:
    """Return *answer* to *question* for the snapshot, with the source that gave it and those that could overrule it."""
    report = claim.report
    others = (one for one in contradictors(column, fact) if one is not Source.PROCESS or not claim.tells_turns)
    *names, last = (source.word for source in others)
    if len(names) >= _MANY_SOURCES:
        names, last = [], f"any source{'' if last == Source.HEURISTIC.word else ' but silence'}"
    changes = f"{', '.join(names)} or {last} disagrees" if names else f"{last} disagrees"
    return AnswerEntry(
        question=question,
        answer=answer,
        source=report.source.word,
        rule=report.rule or report.source.word,
        at=claim.at,
        changes=", ".join(filter(None, [changes, more, "or its exit"])),
    )


def put_aside(found: Answers, epoch: Callable[[float], float]) -> tuple[LosingEntry, ...]:
    """Return the claims that are not shown, each with the reason; claims without a vote come first."""
    shown, lost = light(found), []
    for source in sorted(found.claims, key=lambda source: (source not in found.refusals, -source)):
        claim = found.claims[source]
        if source in found.refusals:
            why = found.refusals[source]
        elif shown is None or claim is shown[1]:
            continue
        elif found.is_awaited and source in LATE:
            why = "from the previous turn: the outcome of the last one is not known yet"
        else:
            by = shown[1].report.source
            why = f"contradicted since by the agent's own {by.word}" if source > by else f"outranked by {by.word}"
        rule, at = claim.report.rule, epoch(claim.at)
        lost.append(LosingEntry(source=source.word, rule=rule, status=claim.status, at=at, why=why))
    return tuple(lost)


@functools.cache
def contradictors(question: int, fact: Fact) -> tuple[Source, ...]:
    """Return the sources that could overrule *fact* by a newer answer to *question*, best first."""
    found = {
        source
        for (source, _), facts in FACTS.items()
        if (other := facts[question]) is not None and other.is_so is not fact.is_so and other.says >= fact.holds
    }
    return tuple(sorted(found, reverse=True))
