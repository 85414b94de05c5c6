"""
What is published of each pane in the user variables of its window, for `kitten @ ls` and `--match var:`.
"""

from __future__ import annotations

from typing import Any

from tallylight.pane.pane import Pane

#: What is published on every pane that has something to say.
PUBLISHED = ("tally_status", "tally_kind", "tally_agent", "tally_reason")


def publish(window: Any, pane: Pane) -> None:
    """Put what *pane* shows into the user variables of *window*; take them away when there is nothing to say."""
    decision = pane.decision
    source = decision.reason.source
    reason = f"{source.word if source else 'none'}: {decision.reason.rule}"
    said = decision.status, decision.kind or "", decision.report.agent, reason
    for name, value in zip(PUBLISHED, said, strict=True):
        wanted = value if decision.is_lit else None
        if window.user_vars.get(name) != wanted:
            window.set_user_var(name, wanted)
