"""The help: the keys of the list in groups, and a search in them. No line has more than 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tallylight.parts import Key
from tallylight.wire.text import sanitise

#: A line that begins with a letter other than a key is the heading of a group.
HELP: tuple[str, ...] = (
    "Answer",
    "  1-9        answer the question below; a cut question is shown whole first",
    "  a          show the whole question and the rows above it",
    "  A          answer all questions, one page after the other",
    "  e, E       write to it, or queue a text for the end of its turn; cancel that",
    "Go",
    "  Enter      go there; or click twice",
    "  f, r       fork it into a new pane; resume it after its agent has ended",
    "Look",
    "  Space      its screen; Tab: last reply, plan, why; [ ] and arrows move it",
    "  w          show why it has this light",
    "Arrange",
    "  /          filter: words, is:waiting, is:unread, agent:codex, project:shop",
    "  o, O       sort by need, age or name; group by project, machine, …",
    "  z          unfold or fold the idle ones",
    "  n          name its conversation; an empty name removes it",
    "Mark and end",
    "  s          snooze it, or end the snooze",
    "  v, u       mark it seen, or unread",
    "  i, D       interrupt it, close its pane; a page shows it first; again: all",
    "Move",
    "  j, k       down, up; also arrows, page keys and the wheel",
    "  g, G       to the top, to the end",
    "  Esc, q     one step back; quit",
)


def found(sought: str, keys: Mapping[str, Key] = MappingProxyType({})) -> tuple[str, ...]:
    """
    Return the lines of the help with each word of *sought*, in upper or lower case; all of them without a word.

    *keys* are those of parts.
    """
    words = sought.casefold().split()
    more = [f"  {sanitise(key, cells=8):<10} {sanitise(found.about, cells=66)}" for key, found in keys.items()]
    lines = tuple(
        line
        for line in (*HELP, *(["Of parts"] if more else []), *more)
        if all(word in line.casefold() for word in words)
    )
    return lines or ("no key does that",)
