"""
A lesson: rules that correct a wrong light, drafted from the screens where it was wrong.

It takes a stretch and a person's labels of a few of its screens. Rules are drafted only for wrong screens, and added to
those of the agent. A replay tries them at their usual priority, then above each wrong rule, then above all others.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

import attrs

from tallylight.agents.agent import Agent, parse_agent, together
from tallylight.agents.screens import MAX_PRIORITY
from tallylight.evidence import choices, dialogs, offers, prompts, structure
from tallylight.model.decision import Decision
from tallylight.parts.lab import draft
from tallylight.parts.lab.check import Result, check, rule_of
from tallylight.parts.lab.draft import Draft
from tallylight.parts.lab.sightings import ASKING, Seen, Sighting
from tallylight.parts.lab.stretch import Stretch

#: The priority above all rules that an agent has.
_ABOVE = 60.0
#: The most names of a rule that are tried until one is free.
_MANY = 100


@attrs.frozen
class Lesson:
    """
    *text* is the file that adds the rules, `""` without any. *wrong* are the wrong screens, *left* those that still
    are.
    """

    text: str
    agent: Agent
    wrong: tuple[Sighting, ...]
    left: tuple[Sighting, ...]


def learnt(base: Agent, stretch: Stretch, seen: Seen, before: str = "") -> Lesson:
    """Return the rules to add to *base* so that *stretch* is right; *before* is the file of earlier additions."""
    given = [(stretch.header, stretch.events)]
    shown = check(stretch.header, stretch.events, base)
    wrongs = list(draft.wrongs(shown, seen))
    wrong = [look for look, _ in wrongs]
    labels = {look.label for look in wrong}
    found = draft.draft([_read(seen, shown)])
    best = Lesson("", base, tuple(wrong), tuple(wrong))
    for least in (-math.inf, *_above(base, [decision for _, decision in wrongs]), _ABOVE):
        rules = [attrs.evolve(rule, least=least) for rule in found.rules if draft.is_for(rule, labels)]
        tried = attrs.evolve(found, rules=tuple(_named(rules, base)))
        kept, left = draft.proved(tried, lambda one: _added(base, one), given, [seen])
        if kept.rules and len(left) < len(best.left):
            text = _text(base.name, kept, before)
            best = Lesson(text, _added(base, kept), tuple(wrong), tuple(look for _, look, _ in left))
    return best


def _read(seen: Seen, shown: Result) -> Seen:
    """Return *seen* with only those dialogs marked as read that are *shown* right: all others need a rule."""
    looks = (
        attrs.evolve(look, is_read=draft.parting(shown, look) is None) if look.label == ASKING else look
        for look in seen.sightings
    )
    return attrs.evolve(seen, sightings=tuple(looks))


def _above(base: Agent, wrong: Sequence[Decision]) -> list[float]:
    """Return the priorities just above those rules of *base* that caused the *wrong* lights."""
    names = {rule_of(decision) for decision in wrong}
    return sorted({min(rule.priority + 1, MAX_PRIORITY) for rule in base.screen_rules if rule.name in names})


def _named(rules: Sequence[draft.Rule], base: Agent) -> list[draft.Rule]:
    """Return *rules* with names that *base* does not have."""
    taken = {rule.name for rule in base.screen_rules}
    found = []
    for rule in rules:
        names = (f"taught {rule.name}", *(f"taught {rule.name} {number}" for number in range(2, _MANY)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        found.append(attrs.evolve(rule, name=name))
    return found


def _text(name: str, found: Draft, before: str) -> str:
    """Return the text of the file with the rules of *found*, after those in *before*."""
    start = before.rstrip("\n") or f'# What `tally wrong` was taught of {name}.\nname = "{name}"\nadds = true'
    return "\n".join([start, *draft.rules_of(found)]) + "\n"


def _added(base: Agent, found: Draft) -> Agent:
    return together(base, parse_agent(_text(base.name, found, ""), "taught"))


def changed(stretch: Stretch, before: Agent, after: Agent) -> float:
    """Return for how many seconds *stretch* has another light with *after* than with *before*."""
    was, now = (check(stretch.header, stretch.events, agent) for agent in (before, after))
    times = sorted({change.time for change in (*was.changes, *now.changes)} | {stretch.end})
    seconds = 0.0
    for at, until in itertools.pairwise(times):
        shown = [result.at(at) for result in (was, now)]
        words = {decision.status if decision is not None else None for decision in shown}
        seconds += (until - at) * (len(words) > 1)
    return seconds


def patterns(agent: Agent | None) -> Iterator[str]:
    """Yield the patterns that read the screens of any program, and the titles and screens of *agent*."""
    for module in (choices, dialogs, offers, prompts, structure):
        yield from (value.pattern for value in vars(module).values() if isinstance(value, re.Pattern))
    if agent is None:
        return
    yield from (item for title in agent.title_rules for item in title.items)
    for rule in agent.screen_rules:
        for pattern in (*rule.lines, *rule.without, *rule.not_below, rule.question, rule.top):
            if pattern is not None:
                yield pattern.pattern
