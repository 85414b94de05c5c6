"""
The shape of an argument list: one list of a data file, and beside it whole options of the running agent.

The options of an agent are never all known, and an option with a value takes any word that follows it. So words are
compared in runs, an option with all words up to the next option, and a run counts only as a whole:

* The commands at the front of the data file's list (`threads continue {session}`) are the first words.
* Every option of that list is there once, in any order, as the data file spells it, by one of its `aliases`, or as
  `--option=value`. A run that begins with one of them is never taken for something else.
* Every other run is one of the running agent's own, with the same words, and no more often than it has it.

The data file decides which of the running agent's arguments are a run with a certain end: its `takes` and `many` have
values. An option with words behind it that is in neither may be a flag in front of a prompt: it is no run. One with
nothing behind it may still take the next word: only the same option may follow it again, or nothing.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.options import is_option, own_options, runs

_PLACEHOLDER = re.compile(r"(\{(?:session|cwd)\})")


@attrs.frozen
class Mismatch:
    """The first *words* that do not fit, a run; none if words are missing. *position* counts those that do fit."""

    position: int
    words: tuple[str, ...] = ()


def match(
    words: Sequence[str], template: Sequence[str], agent: Agent, running: Sequence[str], cwd: str
) -> str | Mismatch:
    """
    Return the session id in *words* if they have the shape of *template*, "" if that has none; else the mismatch.

    All three lists are without the program. *cwd* is the value of `{cwd}`; the id is not compared.
    """
    head = tuple(itertools.takewhile(lambda word: not is_option(word), template))
    matcher = _Matcher(cwd)
    for position, pattern in enumerate(head):
        if not matcher.fits(pattern, words[position] if position < len(words) else ""):
            return Mismatch(position, tuple(words[position : position + 1]))
    left = runs(template[len(head) :])
    own, bound = _own_runs(running, agent)
    position = len(head)
    #: Words that are accepted here, behind an option that may take one as its value; None for any.
    next_: Collection[str] | None = None
    for run in runs(words[len(head) :]):
        part = next((part for part in left if matcher.has(part, run, agent)), None) if next_ is None else None
        is_last = position + len(run) == len(words)
        if part is not None and (run[0] != "--" or is_last):
            left.remove(part)
        elif own[run] and (next_ is None or run[0] in next_):
            own[run] -= 1
            next_ = bound.get(run)
        else:
            return Mismatch(position, run)
        position += len(run)
    return Mismatch(position) if left else matcher.session


def _own_runs(running: Sequence[str], agent: Agent) -> tuple[Counter[tuple[str, ...]], dict[tuple[str, ...], set[str]]]:
    """
    Return the runs of the *running* agent with a certain end, and how often it has each.

    Also the runs that may take the next word for their value, each with its next words there.
    """
    counted: Counter[tuple[str, ...]] = Counter()
    bound: dict[tuple[str, ...], set[str]] = {}
    for own in own_options(running, agent):
        if own.is_odd:
            continue
        # A run that may be values or a prompt has no certain end.
        if own.is_known or not own.rest:
            counted[own.words] += 1
        if not own.is_known and "=" not in own.words[0] and own.after:
            bound.setdefault(own.words, set()).add(own.after)
    return counted, bound


@attrs.define
class _Matcher:
    """Compares words with the words of a data file; *session* is the id in the place of `{session}`."""

    cwd: str
    session: str = ""

    def has(self, part: tuple[str, ...], run: tuple[str, ...], agent: Agent) -> bool:
        """Return whether *run* is *part*, an option of a data file's list with its values, in any spelling."""
        option, equals, value = run[0].partition("=")
        if (run[0], part[0]) in agent.aliases:
            run = (part[0], *run[1:])
        elif equals and option.startswith("--") and option == part[0]:
            run = (option, value, *run[1:])
        return len(run) == len(part) and all(map(self.fits, part, run))

    def fits(self, pattern: str, word: str) -> bool:
        """Return whether *word* is *pattern* with its placeholders filled, everywhere with the same session id."""
        known = {"{session}": _SESSION, "{cwd}": re.escape(self.cwd)}
        parts = [known[part] if part in known else re.escape(part) for part in _PLACEHOLDER.split(pattern)]
        # A group name can occur once; every further place must have the same text.
        places = [number for number, part in enumerate(parts) if part == _SESSION]
        for place in places[1:]:
            parts[place] = "(?P=session)"
        found = re.fullmatch("".join(parts), word, re.DOTALL)
        if found is None:
            return False
        if places:
            if self.session not in ("", found["session"]):
                return False
            self.session = found["session"]
        return True


_SESSION = "(?P<session>.+)"
