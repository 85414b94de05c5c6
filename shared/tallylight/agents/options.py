"""The options of an agent: which dangerous ones it was given."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tallylight.agents.agent import Agent


def dangerous_flags(words: Sequence[str], agent: Agent) -> tuple[str, ...]:
    """Which of its dangerous options an agent was given: `--mode=yolo` also as two words, `-y` also in `-xy`."""
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
