"""
What the panes of a terminal show of the sessions that are attached in them, as the host of sessions knows it.

That host's snapshot has the terminals that are attached to each session of tmux.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tallylight.model.status import Status
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.tracker.rollup import precedence

#: What the names of the hosts begin with that know what runs in sessions.
HOSTS = "sessions-"


def by_terminal(panes: Iterable[Pane]) -> dict[str, tuple[Pane, ...]]:
    """Of the *panes* of sessions on each attached terminal, the newest of each status, in the order of tabs."""
    found: dict[str, dict[Status, Pane]] = {}
    for pane in panes:
        # An idle agent in there is no news for the tab around it, where a person does other things.
        for terminal in pane.terminals if rows.is_lit(pane) and pane.status is not Status.IDLE else ():
            newest = found.setdefault(terminal, {})
            if pane.status not in newest or pane.since > newest[pane.status].since:
                newest[pane.status] = pane
    return {
        terminal: tuple(newest[status] for status in sorted(newest, key=precedence, reverse=True))
        for terminal, newest in found.items()
    }


def rule_of(pane: Pane) -> str:
    """By which rule a terminal shows what *pane* does, which is in a session."""
    return f"attached session {pane.host_title}: {pane.reason.rule}"


def with_inside(entry: Pane, inside: Pane | None) -> Pane:
    """*entry* of a terminal's pane, as *inside* is if that is more urgent: without answers, which are given to that."""
    if inside is None or precedence(inside.status) <= precedence(entry.status):
        return entry
    return attrs.evolve(
        entry,
        status=inside.status,
        kind=inside.kind,
        agent=inside.agent,
        project=inside.project,
        message=inside.message,
        question=inside.question,
        what=inside.what,
        since=inside.since,
        limited_until=inside.limited_until,
        unanswered_since=inside.unanswered_since,
        reason=attrs.evolve(inside.reason, rule=rule_of(inside)),
        answers=(),
    )
