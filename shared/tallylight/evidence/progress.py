"""
Progress bars (OSC 9;4) as evidence, for an agent that shows one while it works and removes it when its turn ends.

A bar decides nothing: it may stay while the agent asks. Its end is the end of a turn. An undescribed agent may remove
it for a dialog: its end is reported once the screen was looked at `MOTION_LOOKS` times.
"""

from __future__ import annotations

from tallylight.agents.agent import Agent
from tallylight.model.report import Report, Source
from tallylight.model.status import Status

#: Looks after which a dialog that was drawn as the bar was removed must have been read.
MOTION_LOOKS = 2


class ProgressReader:
    """Reports the progress bar of one run of one *agent*."""

    def __init__(self, agent: Agent | None = None, *, is_described: bool = True) -> None:
        self._agent = agent if agent is not None and agent.progress == "busy" else None
        self._is_shown = False
        self._is_done = False
        #: Looks until its end is reported; 0 if it was, or need not be.
        self._to_look, self._doubt = 0, 0 if is_described else MOTION_LOOKS

    def read(self, *, is_shown: bool) -> Report | None:
        """Return the report of the bar; None without a change. A report without status means that the bar appeared."""
        if self._agent is None or is_shown == self._is_shown:
            return None
        self._is_shown = is_shown
        self._to_look = 0 if is_shown else self._doubt
        return None if self._to_look else self._report(is_shown=is_shown)

    def note_look(self) -> Report | None:
        """Note a look at the screen; return the report of the end of the bar, if it has waited for that look."""
        if not self._to_look:
            return None
        self._to_look -= 1
        return None if self._to_look else self._report(is_shown=False)

    def _report(self, *, is_shown: bool) -> Report:
        assert self._agent is not None
        self._is_done = not is_shown
        return Report(
            source=Source.PROGRESS,
            status=None if is_shown else Status.DONE,
            agent=self._agent.name,
            rule="progress bar shown" if is_shown else "progress bar removed",
        )

    def note_stop(self) -> Report | None:
        """Note that a person stopped the turn, by the screen; return the report that takes `done` back, if any."""
        if self._agent is None or not self._is_done:
            return None
        self._is_done = False
        rule = "progress bar removed; its screen shows that you stopped it"
        return Report(source=Source.PROGRESS, status=Status.IDLE, agent=self._agent.name, rule=rule)
