"""
Help: the keys of the list, and those of them that a person looks for.
"""

from __future__ import annotations

HELP: tuple[str, ...] = (
    "Enter     go there; or click twice",
    "a         answer its question here",
    "e         write to it, or queue a text until its turn ends: Enter sends, Alt+Enter begins a line",
    "E         cancel what is queued for it",
    "Space     preview: its screen as it is now; Tab, shift+Tab: what it asks, last reply, plan, why",
    "[ ] ← →   move the preview",
    "/         filter by words, is:waiting, is:unread, agent:codex, project:…, host:…; Esc: all",
    "o         sort by need, age or name",
    "g         group by project, machine or terminal",
    "n         name its conversation; an empty name takes it away",
    "s         snooze it, or end the snooze",
    "v         mark it seen",
    "u         mark it unread",
    "i         interrupt it, after a page that shows which; i again: all rows",
    "D         close its pane, after a page that shows which; D again: all rows",
    "f         fork it into a new pane",
    "r         resume it after its agent has ended",
    "w         show why it has this light",
    "t         what the agents did this week",
    "up, down  or k, j; page up, page down, home, end",
    "q, Esc    leave",
)


def found(sought: str) -> tuple[str, ...]:
    """The lines of the help in which each word of *sought* stands, in any case."""
    words = sought.casefold().split()
    lines = tuple(line for line in HELP if all(word in line.casefold() for word in words))
    return lines or ("no key does that",)
