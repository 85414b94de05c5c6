"""
The history of a few days: the turns of all hosts, and their sums for each day, agent and project.

A day is a local date, `2026-11-21`. A turn belongs to the day on which it began. One that continues after midnight has
two entries, and counts as one turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import attrs

from tallylight.parts.diary.turns import Turn
from tallylight.snapshot.values import Json

#: The version of the JSON. A removed key or a changed meaning makes it 2; a new key does not.
VERSION = 1


@attrs.frozen(kw_only=True)
class Sum:
    """The sum of turns. *day*, *agent* and *project* are common to all of them; "" where they differ."""

    day: str = ""
    agent: str = ""
    project: str = ""
    turns: int = 0
    worked_s: float = 0.0
    waited_s: float = 0.0
    questions: int = 0
    #: Turns that failed, and turns of agents that vanished.
    errors: int = 0

    def to_json(self) -> Json:
        found: Json = attrs.asdict(self)
        return found | {"worked_s": round(self.worked_s, 1), "waited_s": round(self.waited_s, 1)}


#: The fields to add up.
_NUMBERS = ("turns", "worked_s", "waited_s", "questions", "errors")


@attrs.frozen
class History:
    """The *days*, oldest first, and the *turns* that began in them, in this order."""

    days: tuple[str, ...]
    turns: tuple[Turn, ...]
    day_of: Callable[[float], str]

    @property
    def sums(self) -> list[Sum]:
        """The sum for each day, agent and project, in the order of their names."""

        def key(turn: Turn) -> tuple[str, str, str]:
            return self.day_of(turn.began), turn.agent, turn.project

        return [
            attrs.evolve(total(group), day=day, agent=agent, project=project)
            for (day, agent, project), group in groupby(sorted(self.turns, key=key), key)
        ]

    def to_json(self) -> Json:
        return {
            "version": VERSION,
            "days": list(self.days),
            "sums": [found.to_json() for found in self.sums],
        }


def total(turns: Iterable[Turn]) -> Sum:
    return added(
        Sum(
            turns=int(not turn.goes_on),
            worked_s=turn.worked_s,
            waited_s=turn.waited_s,
            questions=turn.questions,
            errors=int(turn.is_error),
        )
        for turn in turns
    )


def merged(sums: Iterable[Sum]) -> list[Sum]:
    """Return *sums* of several days as one for each agent and project; the longest first."""
    found: dict[tuple[str, str], Sum] = {}
    for one in sums:
        key = one.agent, one.project
        found[key] = added((found.get(key, Sum()), one), agent=one.agent, project=one.project)
    return sorted(found.values(), key=lambda one: (-one.worked_s - one.waited_s, one.agent, one.project))


def added(sums: Iterable[Sum], *, agent: str = "", project: str = "") -> Sum:
    every = list(sums)
    numbers = {name: sum(getattr(one, name) for one in every) for name in _NUMBERS}
    return Sum(agent=agent, project=project, **numbers)


def without_repeated(turns: Sequence[Turn]) -> list[Turn]:
    """
    Return *turns* without duplicates that another host knows better.

    A terminal reports an agent in a tmux that it shows, and the host of sessions sees its process. Two turns of one
    agent at the same time, with the same session if both know it, are the same. The one with a process counts.
    """
    local: dict[str, list[Turn]] = {}
    for turn in turns:
        if not turn.is_remote:
            local.setdefault(turn.agent, []).append(turn)

    def is_same(turn: Turn, other: Turn) -> bool:
        """Return whether two hosts saw the same turn."""
        return (
            other.began <= turn.ended
            and turn.began <= other.ended
            and other.id.partition(":")[0] != turn.id.partition(":")[0]
            and (other.session == turn.session or not other.session or not turn.session)
        )

    return [
        turn
        for turn in turns
        if not (turn.is_remote and any(is_same(turn, other) for other in local.get(turn.agent, ())))
    ]
