"""
Looks at the screen of a pane: what they report to its tracker, and whether it is worth looking at in every tick.
"""

from __future__ import annotations

import functools
import re

from tallylight.agents.agent import Agent
from tallylight.evidence.looks import ScreenReader
from tallylight.evidence.prompts import before_prompt
from tallylight.evidence.screen import Change, Look
from tallylight.model.dialog import Dialog
from tallylight.model.status import Status
from tallylight.pane.run import Run
from tallylight.tracker.tracker import Tracker, says_nothing

#: After so many looks at an unchanged screen it is taken to be calm, and looked at in every so many ticks.
CALM_LOOKS, CALM_EVERY = 16, 2
#: After so many looks that told nothing new, a question that a status file tells of is known.
KNOWN_LOOKS = 4
#: A line across is no text: some draw one and go on to load.
_WORD = re.compile(r"\w")


class ScreenLooks:
    """The looks at one pane, for its *tracker*. *now* is monotonic seconds."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._reader = ScreenReader()
        self._unchanged = 0
        #: Looks at a question that told nothing new, as of the last one; and what had been told by then.
        self._same, self._revision = 0, -1
        #: Whether the last time that nobody wanted to know, something was taken back.
        self.took_back = False

    def begin(self, agent: Agent | None) -> None:
        """Another program holds the foreground: a run of *agent*, or None."""
        self._reader = ScreenReader(agent)
        self._tracker.says = says_nothing

    @property
    def dialog(self) -> Dialog | None:
        """The dialog that waits on the screen as of the last look."""
        return self._reader.dialog

    @property
    def is_calm(self) -> bool:
        """Whether the screen has not changed recently."""
        return self._unchanged > CALM_LOOKS

    @property
    def is_known(self) -> bool:
        """Whether the question on the screen is known, and its end is told by a status file, which is read anyhow."""
        return self._same >= KNOWN_LOOKS and self._is_told

    @property
    def _is_told(self) -> bool:
        return (
            self.dialog is not None
            and self._tracker.said.has_file_ask
            and self._tracker.said.revision == self._revision
        )

    def is_wanted(self, now: float) -> bool:
        """Whether output, or what the screen says, would be evidence. If what it says is not, it is taken back."""
        tracker = self._tracker
        if tracker.wants_screen:
            return True
        if self.dialog is not None:
            tracker.touch()
        self.took_back = (taken_back := self._reader.forget()) is not None
        if taken_back is not None:
            tracker.report(taken_back, now)
        return tracker.wants_output

    def take(self, look: Look, run: Run | None, now: float) -> None:
        """Take in one look, that is wanted, at the screen of *run*."""
        tracker = self._tracker
        wants_output, wants_screen = tracker.wants_output, tracker.wants_screen
        change = self._reader.look(look)
        self._unchanged = self._unchanged + 1 if change is Change.NONE else 0
        tracker.says = functools.partial(before_prompt, look.lines)
        if not any(map(_WORD.search, look.lines)):
            tracker.blank(now)
        elif change.is_output and wants_output:
            tracker.output(now)
        if not wants_screen:
            return
        before = self.dialog
        report = self._reader.read(look, now)
        if self.dialog != before:
            tracker.touch()  # others get it, whatever becomes of the status
        if report is not None:
            tracker.report(report, now, self._reader.since)
        if run is not None:
            told = [run.progress.looked()]
            if report is not None and report.status is Status.WORKING:
                told.append(run.titles.note_work_on_screen())
            told += [run.titles.stopped(), run.progress.stopped()] if self._reader.is_stopped else []
            for one in filter(None, told):
                tracker.report(one, now)
        self._same = self._same + 1 if self._is_told else 0
        self._revision = tracker.said.revision
