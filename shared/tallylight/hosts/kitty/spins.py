"""Spinners in titles: a turning one is no news, and its title is read only now and then."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.titles import spinner_glyphs
from tallylight.model.status import Status
from tallylight.pane.pane import Pane

#: How often, in seconds, a fast spinner is read: as often as hosts without events look.
FRAME_S = 0.5


@attrs.frozen
class _Spin:
    """A title with one of *agent*'s *glyphs*, read at *at*; *still* is the same for all of its frames."""

    agent: Agent
    glyphs: Mapping[int, str]
    still: str
    at: float


class Spins:
    """The last spinner read in a title, by window."""

    def __init__(self) -> None:
        self._spins: dict[int, _Spin] = {}

    def forget(self, id_: int) -> None:
        """Forget a window that is gone."""
        self._spins.pop(id_, None)

    def is_frame(self, id_: int, pane: Pane | None, title: str, now: float) -> bool:
        """Return whether *title* differs only by a spinner's frame, in a pane that shows its agent at work."""
        if pane is None or pane.agent is None or pane.decision.status is not Status.WORKING:
            return False
        before = self._spins.get(id_)
        glyphs = before.glyphs if before is not None and before.agent is pane.agent else spinner_glyphs(pane.agent)
        still = title.translate(glyphs)
        if still == title:
            return False
        if before is not None and before.glyphs is glyphs and before.still == still and now - before.at < FRAME_S:
            return True
        self._spins[id_] = _Spin(pane.agent, glyphs, still, now)
        return False
