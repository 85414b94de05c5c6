"""
The options of an agent: its dangerous ones, and those that are kept when it is continued.

The options of an agent are never all known, and an option with a value takes any word that follows it. So words are
read in runs, an option with all words up to the next option. The data file decides where a run of the running agent
ends: `takes` and `many` have values, and an option that is `dangerous` or `restricts`, and not in `takes`, has none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import attrs

from tallylight.agents.agent import Agent
from tallylight.wire import values
from tallylight.wire.text import is_visible

#: Characters of one word that is kept, and of all of them.
MAX_OPTION_CHARS, MAX_KEPT_OPTIONS = 4096, 64
#: Characters of a word that is kept for after the agent's end: a snapshot can hold so many.
MAX_REMEMBERED_CHARS = 500
#: Words that some parsers take for the value of an option without one.
_TRUTHS = ("true", "false")


@attrs.frozen(kw_only=True)
class OwnOption:
    """
    An option of a running agent: its *name*; *words*, which surely belong to it; and the *rest* of its run.

    The rest may be values or a prompt; *after* is the option that follows. *value* is its one value, if it has one.
    *is_known*: its end is certain. *is_odd*: its value is missing, or it may itself be the value of the one before.
    """

    name: str
    words: tuple[str, ...]
    rest: tuple[str, ...]
    after: str
    value: str | None
    is_known: bool
    is_odd: bool

    def is_among(self, named: Sequence[str]) -> bool:
        """Return whether a list of a data file has it: by its name, or with this value, as in `--mode=plan`."""
        return self.name in named or (self.value is not None and f"{self.name}={self.value}" in named)


@attrs.frozen
class KeptOptions:
    """The options that are kept when an agent is continued, whole and in order; and the names of those *lost*."""

    kept: tuple[tuple[str, ...], ...] = ()
    lost: tuple[str, ...] = ()


def is_option(word: str) -> bool:
    """Return whether *word* looks like an option: a dash and more."""
    return len(word) > 1 and word[0] == "-"


def runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return *words* in runs: each begins at an option, except for the first, which begins with the words."""
    found: list[list[str]] = []
    for word in words:
        if is_option(word) or not found:
            found.append([])
        found[-1].append(word)
    return [tuple(run) for run in found]


def own_options(words: Sequence[str], agent: Agent) -> Iterator[OwnOption]:
    """Yield the options of a running *agent* among its arguments *words*, except those of the data file's own lists."""
    takes, many = agent.not_args.takes, agent.not_args.many
    listed = _listed(agent)
    # The options that the data file knows to have a value, or none.
    known = takes.union(option for option in (*agent.dangerous, *agent.restricts) if "=" not in option)
    lacks = False
    for run, after in itertools.pairwise([*runs(list(itertools.takewhile(lambda word: word != "--", words))), ("",)]):
        option = run[0]
        name, equals, value = option.partition("=")
        short = option[:2]
        # `-sVALUE`, where the whole is no option of its own, as pi's `-nt` is.
        if not equals and option not in known and short in takes:
            name, equals, value = short, "=", option[2:]
        was_value, lacks = lacks, len(run) == 1 and option in takes
        # `-rID` may be `-r ID`.
        if not is_option(option) or listed & {name, short}:
            continue
        certain = run[: len(run) if option in many else 1 + (option in takes)]
        yield OwnOption(
            name=name,
            words=certain,
            rest=run[len(certain) :],
            after=after[0],
            value=value if equals else certain[1] if len(certain) == 2 else None,
            is_known=option in known or (bool(equals) and name not in many),
            is_odd=was_value or lacks,
        )


def _listed(agent: Agent) -> frozenset[str]:
    """Return the options of the data file's lists, in every spelling."""
    options = {word.partition("=")[0] for words in agent.lists for word in words if is_option(word)}
    return frozenset(options | {alias for alias, _ in agent.aliases}) - {"--"}


def kept_options(words: Sequence[str], agent: Agent) -> KeptOptions:
    """
    Return which options of a running *agent*, by its arguments *words*, are kept when it is continued.

    Options that restrict it, by its data file, are kept with their values; a dangerous one never. Every other one is
    named, unless the data file knows that its loss is harmless.
    """
    kept: list[tuple[str, ...]] = []
    lost: list[str] = []
    for own in own_options(words, agent):
        if own.is_among(agent.dangerous):
            continue
        if own.is_among(agent.restricts) and _is_whole(own, agent) and sum(map(len, kept)) < MAX_KEPT_OPTIONS:
            kept.append(own.words)
        elif own.is_among(agent.restricts) or not own.is_among(agent.harmless):
            lost.append(own.name)
    return KeptOptions(tuple(kept), tuple(dict.fromkeys(lost)))


def remembered(found: KeptOptions) -> KeptOptions:
    """
    Return the part of *found* that is kept after the agent's end.

    Long values are left out, settings, which may hold a key, and words that could not be shown exactly.
    """
    kept = tuple(run for run in found.kept if all(map(_can_be_kept, run)))
    gone = (run[0].partition("=")[0] for run in found.kept if run not in kept)
    return KeptOptions(kept, tuple(dict.fromkeys((*found.lost, *gone))))


def _can_be_kept(word: str) -> bool:
    return len(word) <= MAX_REMEMBERED_CHARS and "{" not in word and "[" not in word and is_visible(word)


def _is_whole(own: OwnOption, agent: Agent) -> bool:
    """Return whether the end of *own* is certain, and its words can be passed on unchanged."""
    if own.is_odd or not own.is_known or any(word in _TRUTHS for word in own.rest[:1]):
        return False
    if dangerous_flags(own.words, agent):
        return False
    # kitty would replace a word that begins with @, and a word that is no text could not be shown.
    return all(word[:1] != "@" and values.exact(word, MAX_OPTION_CHARS) is not None for word in own.words)


def dangerous_flags(words: Sequence[str], agent: Agent) -> tuple[str, ...]:
    """Return which of its dangerous options an agent was given: `--mode=yolo` also as two words, `-y` also in `-xy`."""
    found: list[str] = []
    for word, after in itertools.pairwise((*words, "")):
        for flag in agent.dangerous:
            name, equals, value = flag.partition("=")
            is_short = len(flag) == 2 and flag[0] == "-" and word[:1] == "-" and word[1:2] != "-"
            if (
                word == flag
                or (not equals and word.startswith(f"{flag}="))
                or (equals and word == name and after == value)
                or (is_short and flag[1] in word[1:])
            ):
                found.append(flag)
    return tuple(dict.fromkeys(found))
