"""The panes that can be looked at and typed into from here: an interface, which `hosts.detached` implements."""

from __future__ import annotations

from typing import Protocol

from tallylight.actions.caller import Being
from tallylight.actions.close import Closer
from tallylight.actions.gate import Refusal
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import StyledScreen


class Panes(Protocol):
    """The panes of all hosts. Each call takes as long as the multiplexer does; `SessionError` says what went wrong."""

    def can_type(self, host: str, pane: Pane) -> bool:
        """Return whether anything can be done to it from here, as far as its host says."""

    def started_by(self, host: str, pane: Pane) -> tuple[Being, Being] | None:
        """Who started *pane* for a script, and its first process; None if no script did, or this host does not know."""

    def at(self, host: str, pane: Pane) -> Closer | Refusal:
        """What looks at *pane*, types into it, and closes it."""

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        """Its screen as it is now, with its colours where its host reports them."""
