"""
What is published of each pane in the user variables of its window, for `kitten @ ls` and `--match var:`.
"""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.model.decision import Decision
from tallylight.pane.pane import Pane

#: What is published on every pane that has something to say.
PUBLISHED = ("tally_status", "tally_kind", "tally_agent", "tally_reason")
_NOTHING: tuple[str | None, ...] = (None,) * len(PUBLISHED)


@attrs.frozen
class _Shown:
    """What was last published of a pane."""

    decision: Decision
    #: What else of the pane stands in the snapshot.
    more: tuple[object, ...]
    variables: tuple[str | None, ...]


@attrs.define
class Published:
    """What was last published of every pane, by the id of its window."""

    _shown: dict[int, _Shown] = attrs.field(init=False, factory=dict)

    def is_stale(self, id_: int, pane: Pane) -> bool:
        """Whether others have yet to be told of what *pane* shows now."""
        shown, decision = self._shown.get(id_), pane.decision
        if shown is None:
            return decision.is_lit
        if shown.more != _more(pane):
            return True
        return shown.decision is not decision and _words(shown.decision) != _words(decision)

    def publish(self, id_: int, pane: Pane, window: Any, now: float) -> None:
        """Put the decision into the user variables of *window*; take them away when there is nothing to say."""
        decision = pane.decision
        pane.attention.shown(decision, now)
        before = self._shown.get(id_)
        variables = _NOTHING
        if decision.is_lit:
            reason = f"{decision.reason.source.word if decision.reason.source else 'none'}: {decision.reason.rule}"
            variables = (decision.status, decision.kind or "", decision.report.agent, reason)
        known = before.variables if before is not None else _NOTHING
        for name, value, old in zip(PUBLISHED, variables, known, strict=True):
            if window is not None and value != old:
                window.set_user_var(name, value)
        self._shown[id_] = _Shown(decision, _more(pane), variables)

    def forget(self, id_: int) -> None:
        """The window is gone."""
        self._shown.pop(id_, None)


def _words(decision: Decision) -> tuple[object, ...]:
    """What of a decision is told to others. When a source last repeated itself is not."""
    return decision.status, decision.kind, decision.reason.source, decision.reason.rule, decision.report


def _more(pane: Pane) -> tuple[object, ...]:
    return pane.attention.facts, pane.tracker.revision, pane.clean_title, pane.pace
