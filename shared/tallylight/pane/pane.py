"""
A pane of any host: it takes in all that the host sees there, and decides its status.

A host passes on the foreground process group, the title, the screen, a user variable, and whether a person can see the
pane. It draws `decision`. Nothing in here knows a terminal program or reads a user's file: `requests` says what to
read, and `take_result` takes the content.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tallylight.evidence.process_table import inner_size
from tallylight.evidence.screen import Look as Look
from tallylight.evidence.titles import clean_title
from tallylight.evidence.unknown import UnknownProgram
from tallylight.model.report import Report
from tallylight.pane.faults import isolates_faults
from tallylight.pane.occupied import Occupied
from tallylight.wire import osc1338
from tallylight.wire.inbox import Call, Key, key_of

_TITLE, _START, _END = Key("title"), Key("start"), Key("end")


class Pane(Occupied):
    """One pane, with methods for all that its host and the programs in it report. *now* is monotonic seconds."""

    def screen(self, read: Callable[[], Look], now: float) -> None:
        """Look at the screen if its content or a change of it would be evidence; only then *read* is called."""
        if self.unknown.wants_look():
            self._look_for_signs(read(), now)
        if self.looks.is_wanted(now):
            self._take_look(read().inside(inner_size(self._identity, self._table)), now)
        elif self.looks.took_back:
            self.looks.took_back = False
            self.tape.note("unlooked", now)

    @isolates_faults("an unknown program")
    def _look_for_signs(self, look: Look, now: float) -> None:
        """Look at the screen of a program that may be an agent."""
        self.unknown.look(look)
        self.processes.look(look, now)
        self._reconsider_program(now)

    @isolates_faults("the screen")
    def _take_look(self, look: Look, now: float) -> None:
        """Take in a look at the screen of the agent."""
        self.tape.look(look, now)
        self.processes.look(look, now)
        self.looks.take(look, self._run, now)

    def title(self, title: str, now: float) -> bool:
        """
        Take in the title that the program set.

        This and the next three methods return whether the input was read at once; otherwise it is read soon.
        """
        return self._receive(_TITLE, functools.partial(self._titled, title), len(title), now)

    def user_variable(self, payload: str | None, now: float) -> bool:
        """Take in that the pane's `tally` user variable was set to *payload*, or deleted. A broken one is ignored."""
        try:
            key = key_of(payload)
        except Exception as error:  # one pane's fault is no reason to lose the others
            self.faults.take("the user variable", error)
            key = None
        if key is None:
            return True
        return self._receive(key, functools.partial(self._carried, payload), len(payload or ""), now)

    def marked(self, is_start: bool, exit_code: int | None, now: float) -> bool:
        """Take in that a command of the shell started, or ended with *exit_code* (OSC 133 C and D)."""
        self._is_marked = True
        return self._receive(_START if is_start else _END, functools.partial(self._marked, is_start, exit_code), 0, now)

    def notified(self, report: Report, now: float) -> bool:
        """Take in *report*, made from a notification of the program."""
        key = Key(("notified", report.source, report.id), bool(report.id))
        return self._receive(key, functools.partial(self._notified, report), len(report.message), now)

    def _receive(self, key: Key, call: Call, size: int, now: float) -> bool:
        """Make *call* now, or keep it for later if too much arrives; return whether it was made."""
        if self._inbox.admits(now):
            call(now)
            return True
        self._inbox.keep(key, call, size)
        return False

    @isolates_faults("a mark of the shell")
    def _marked(self, is_start: bool, exit_code: int | None, now: float) -> None:
        """Take in a mark of the shell, which was admitted."""
        self.tape.note("mark", now, is_start, exit_code)
        if is_start:
            self._unmoved = 0
            self._update_program(UnknownProgram.note_prompt_mark, now)
            self.tracker.command_start(now)
        else:
            self._command_ended(exit_code, now)

    @isolates_faults("a notification")
    def _notified(self, report: Report, now: float) -> None:
        self.tracker.report(report, now)

    @isolates_faults("the title")
    def _titled(self, title: str, now: float) -> None:
        """Take in a title, which was admitted."""
        self.tape.note("title", now, title)
        self._title, self._title_at = title, now
        self.clean_title = clean_title(title)
        self._update_program(lambda program: program.note_title(title), now)
        if self._run is not None:
            self._read_title(now)

    @isolates_faults("the progress bar")
    def progress(self, is_shown: bool, now: float) -> None:
        """
        Take in whether the pane has a progress bar (OSC 9;4) at this moment.

        If an agent shows one while it works, the end of the bar is the end of its turn. A bar that is shown decides
        nothing: it may stay while the agent asks.
        """
        if is_shown != self.has_bar:
            self.tape.note("bar", now, is_shown)
        self.has_bar = is_shown
        self._update_program(lambda program: program.note_progress_bar(is_shown=is_shown), now)
        report = self._run.progress.read(is_shown=is_shown) if self._run is not None else None
        if report is not None:
            if is_shown:
                self.tracker.output(now, has_started=True)
            self.tracker.report(report, now)

    @isolates_faults("the user variable")
    def _carried(self, payload: str | None, now: float) -> None:
        """Take in a value of the `tally` user variable: a command to resume, or a report; None if it was deleted."""
        self.tape.note("carrier", now, payload)
        recipe = osc1338.decode_recipe(payload)
        if recipe is not None:
            self.conversation.set_resume(recipe)
            self.tracker.touch()  # it is published even if the status does not change
            return
        said, before = osc1338.decode_variable(payload), self.tracker.after_exit_claim
        self._said = self._pgid, now
        for report in self._order.admit(payload, said) if said is not None else ():
            if not report.id:
                self._last_report, self._last_report_at = report, now
            self.conversation.take(report)
            self.tracker.report(report, now)
        self._note_end(before, now)

    def look(self, visible: bool, now: float) -> None:
        """Take in whether the pane is visible to a person: their look counts after a moment."""
        if self.former is not None and not self.former.goes_on(now):
            self.former = None
        self.attention.shown(self.decision, now)
        was_seen = self.former is not None and self.former.was_seen(self.decision, self.pid)
        if self.attention.look(visible, now) or was_seen:
            self.tape.note("seen", now)
            self.tracker.seen(now)
            self.attention.shown(self.decision, now)
            self.attention.seen = True

    def tick(self, now: float) -> None:
        """Let time pass: read input that waits, and decide again if a deadline has come."""
        deadline, due = self.tracker.deadline(), self._inbox.due()
        if any(at is not None and now >= at for at in (deadline, due)):
            self.tape.note("tick", now)
        if deadline is not None and now >= deadline:
            self.tracker.tick(now)
        self._inbox.count(now)
        due = self._inbox.due()
        if due is not None and now >= due:
            self.tracker.together(self._inbox.take(now), now)
