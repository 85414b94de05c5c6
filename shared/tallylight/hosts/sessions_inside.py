"""
The sessions attached in a terminal's panes, as the snapshot of the host of sessions lists them.

That snapshot has the terminals that are attached to each session of tmux.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tallylight.model.status import Status
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.tracker.rollup import precedence

#: How the names of hosts of sessions begin.
HOSTS = "sessions-"


def by_terminal(panes: Iterable[Pane]) -> dict[str, tuple[Pane, ...]]:
    """
    Group the *panes* of sessions by attached terminal: the newest of each status, in the order that tabs show them.
    """
    found: dict[str, dict[Status, Pane]] = {}
    for pane in panes:
        # An idle agent in there is no news for the tab around it, where a person does other things.
        for terminal in pane.place.terminals if rows.is_lit(pane) and pane.status is not Status.IDLE else ():
            newest = found.setdefault(terminal, {})
            if pane.status not in newest or pane.since > newest[pane.status].since:
                newest[pane.status] = pane
    return {
        terminal: tuple(newest[status] for status in sorted(newest, key=precedence, reverse=True))
        for terminal, newest in found.items()
    }


def rule_of(pane: Pane) -> str:
    """Return the rule that a terminal's pane shows for *pane* of an attached session."""
    return f"attached session {pane.place.host_title}: {pane.reason.rule}"


def with_inside(entry: Pane, inside: Pane | None) -> Pane:
    """
    Return *entry* of a terminal's pane with the looks of *inside*, if that is more urgent; its answers are dropped.
    """
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
        evidence=attrs.evolve(entry.evidence, answers=()),
    )
