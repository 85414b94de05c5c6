"""
Tries an agent file on a recording: its lights, the rules behind them, and how far they are from the truth.

The recording is replayed as if the file had existed then. Whether the recorded program is its agent is decided as a
host decides it; a recording without a program counts as one of the agent. Reports of the program itself are ignored,
because the file is to be tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import attrs

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.foreground import Identity, identify
from tallylight.evidence.process import base_name
from tallylight.model.decision import Decision
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Event, Header
from tallylight.parts.lab.events import Exit, ForegroundChange, Program
from tallylight.parts.lab.replay import Replay
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker

#: When a host first sees the foreground program, in seconds.
_SEEN_S = 0.25
_RULE = "screen rule: "


@attrs.frozen
class Change:
    """A change of the light, and its time."""

    time: float
    decision: Decision

    @property
    def words(self) -> tuple[object, ...]:
        """The visible parts of the decision."""
        decision = self.decision
        return decision.status, decision.kind, decision.reason.source, decision.reason.rule


def changes(replay: Replay, events: Iterable[Event]) -> Iterator[Change]:
    """Yield each change of the light while *replay* plays *events*."""
    shown: tuple[object, ...] = ()
    for event in events:
        for decision in replay.play(event):
            change = Change(replay.now, decision)
            if change.words != shown:
                shown = change.words
                yield change


def at(shown: Sequence[Change], time: float) -> Decision | None:
    return next((change.decision for change in reversed(shown) if change.time <= time), None)


@attrs.frozen
class Result:
    """
    The result of one recording: its lights, the *score* if the truth is marked, and the *partings* from the truth.

    *strange* is a program in it that the file does not name.
    """

    changes: tuple[Change, ...]
    end: float
    used: frozenset[str]
    score: scoring.Score | None
    partings: tuple[str, ...]
    strange: str = ""

    def at(self, time: float) -> Decision | None:
        return at(self.changes, time)

    @property
    def seconds(self) -> dict[Status, float]:
        """The seconds that each status was shown."""
        found: dict[Status, float] = {}
        for change, until in zip(self.changes, [*(c.time for c in self.changes[1:]), self.end], strict=True):
            status = change.decision.status
            found[status] = found.get(status, 0.0) + until - change.time
        return found


class _Deaf(Tracker):
    """A tracker that ignores what the program reports itself."""

    def report(self, report: Report, now: float, since: float = math.inf) -> None:
        """Process a report of any other source."""
        if report.source is not Source.PROTOCOL:
            super().report(report, now, since)


def check(header: Header, events: Sequence[Event], agent: Agent) -> Result:
    """Try *agent* on one recording."""
    replay = Replay(header, Agents([agent]), tracker=_Deaf())
    shown = tuple(changes(replay, held_by(events, agent)))
    used = frozenset(rule_of(change.decision) for change in shown if change.decision.reason.source is Source.SCREEN)
    truth = scoring.truth_of(events)
    track = [(change.time, change.decision.status.value) for change in shown]
    end = events[-1].time if events else 0.0
    score = scoring.score(truth, track, end) if truth else None
    partings = tuple(scoring.partings(truth, track, end))
    programs = [event.what for event in events if isinstance(event.what, Program)]
    strange = next((base_name(one.exe) for one in programs if _seen(one, agent).agent is None), "")
    return Result(shown, end, used, score, partings, strange)


def rule_of(decision: Decision) -> str:
    """Return the name of the screen rule behind *decision*; its whole reason if no screen rule made it."""
    return decision.reason.rule.removeprefix(_RULE).removesuffix("; seen")


def _seen(program: Program, agent: Agent) -> Identity:
    return identify([program.process], Agents([agent]))


def held_by(events: Iterable[Event], agent: Agent) -> Iterator[Event]:
    """Return *events* with *agent* in the foreground: as recorded, or else from the start to the exit."""
    events = list(events)
    if any(isinstance(event.what, Program) for event in events):
        return _named(events, agent)
    holders = [event.what.foreground for event in events if isinstance(event.what, ForegroundChange)]
    if any(holder is not None and holder.name == agent.name and not holder.is_candidate for holder in holders):
        return iter(events)
    return _throughout(events, agent)


def _throughout(events: Iterable[Event], agent: Agent) -> Iterator[Event]:
    """Return *events* with *agent* in the foreground from the start to the exit."""
    speaks = bool(agent.title_rules) or any(rule.status is Status.IDLE for rule in agent.screen_rules)
    begin: ForegroundChange | None = ForegroundChange(Foreground(agent.name, 1, speaks=speaks))
    for event in events:
        if isinstance(event.what, ForegroundChange):
            continue
        if begin is not None and event.time >= _SEEN_S:
            yield Event(_SEEN_S, begin)
            begin = None
        yield event
        if isinstance(event.what, Exit) and begin is None:
            yield Event(event.time, ForegroundChange(None))


def _named(events: Iterable[Event], agent: Agent) -> Iterator[Event]:
    """Return *events* with the foreground program as a host with the file of *agent* would see it."""
    for event in events:
        match event.what:
            case Program() as program:
                found = _seen(program, agent)
                holder = Foreground(agent.name, 1, speaks=found.speaks) if found.agent is not None else None
                yield Event(event.time, ForegroundChange(holder))
            case ForegroundChange(Foreground(is_candidate=True)):
                pass  # without the file, its behaviour made it a candidate
            case ForegroundChange(None):
                yield event
            case Exit():
                yield event
                yield Event(event.time, ForegroundChange(None))
            case _:
                yield event
