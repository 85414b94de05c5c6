"""The panes that this process can look at and type into: an interface, which `hosts.detached` implements."""

from __future__ import annotations

from typing import Protocol

from tallylight.actions.caller import Being
from tallylight.actions.close import Closer
from tallylight.actions.gate import Refusal
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import StyledScreen


class Panes(Protocol):
    """The panes of all hosts. Each call takes as long as the multiplexer does, and may raise `SessionError`."""

    def can_type(self, host: str, pane: Pane) -> bool:
        """Return whether anything can be typed into *pane* from here, as far as its host knows."""

    def started_by(self, host: str, pane: Pane) -> tuple[Being, Being] | None:
        """
        Return the script that started *pane*, and its first process; None if no script did, or the host does not know.
        """

    def at(self, host: str, pane: Pane) -> Closer | Refusal:
        """Return the typist of *pane*, which looks, types and closes."""

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        """Return the screen of *pane* now, with its colours where its host reports them."""
