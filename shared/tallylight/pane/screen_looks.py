"""
Looks at the screen of a pane: when to look, and the reports of each look to the pane's tracker.
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
from tallylight.tracker.tracker import Tracker, no_prompt

#: After so many looks without a change a screen is calm; then it is looked at once in so many ticks.
CALM_LOOKS, CALM_EVERY = 16, 2
#: After so many looks without news the question on the screen is known, if a status file reports it, too.
KNOWN_LOOKS = 4
#: A letter or digit. A line across is no text: some agents draw one and go on to load.
_WORD = re.compile(r"\w")


class ScreenLooks:
    """Takes the looks at one pane and reports to its *tracker*. *now* is monotonic seconds."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._reader = ScreenReader()
        self._unchanged = 0
        #: The number of last looks without news about the question, and the tracker's revision at the last one.
        self._same, self._revision = 0, -1
        #: Whether the last unwanted look took an earlier report back.
        self.took_back = False

    def begin(self, agent: Agent | None) -> None:
        """Forget the looks so far: another program holds the foreground, a run of *agent* or None."""
        self._reader = ScreenReader(agent)
        self._tracker.read_prompt = no_prompt

    @property
    def dialog(self) -> Dialog | None:
        """The dialog on the screen at the last look; None for none."""
        return self._reader.dialog

    @property
    def is_calm(self) -> bool:
        """Return whether the screen has not changed recently."""
        return self._unchanged > CALM_LOOKS

    @property
    def is_known(self) -> bool:
        """Return whether the question on the screen is known, so that the status file will report its end."""
        return self._same >= KNOWN_LOOKS and self._is_unchanged

    @property
    def _is_unchanged(self) -> bool:
        """Return whether the status file reports the question too, and no claim has changed since the last look."""
        return (
            self.dialog is not None
            and self._tracker.claims.has_file_ask
            and self._tracker.claims.revision == self._revision
        )

    def is_wanted(self, now: float) -> bool:
        """Return whether a look would be evidence. If the text is none any more, its report is taken back."""
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
        """Take in one wanted look at the screen of *run*."""
        tracker = self._tracker
        wants_output, wants_screen = tracker.wants_output, tracker.wants_screen
        change = self._reader.look(look)
        self._unchanged = self._unchanged + 1 if change is Change.NONE else 0
        tracker.read_prompt = functools.partial(before_prompt, look.lines)
        if not any(map(_WORD.search, look.lines)):
            tracker.blank(now)
        elif change.is_output and wants_output:
            tracker.output(now)
        if not wants_screen:
            return
        before = self.dialog
        report = self._reader.read(look, now)
        if self.dialog != before:
            tracker.touch()  # it is published even if the status does not change
        if report is not None:
            tracker.report(report, now, self._reader.since)
        if run is not None:
            found = [run.progress.note_look()]
            if report is not None and report.status is Status.WORKING:
                found.append(run.titles.note_work_on_screen())
            found += [run.titles.note_stop(), run.progress.note_stop()] if self._reader.is_stopped else []
            for one in filter(None, found):
                tracker.report(one, now)
        self._same = self._same + 1 if self._is_unchanged else 0
        self._revision = tracker.claims.revision
