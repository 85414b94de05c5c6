"""
The foreground of a pane: which program holds it, its processes, and the files that an agent keeps.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.evidence.foreground import Identity
from tallylight.evidence.progress import ProgressReader
from tallylight.evidence.titles import TitleReader
from tallylight.evidence.traffic import Sample
from tallylight.evidence.unknown import UnknownProgram
from tallylight.pane.faults import isolates_faults
from tallylight.pane.file_request import Request
from tallylight.pane.known import BasePane
from tallylight.pane.package import PackageRequest, package_of
from tallylight.pane.run import Run, same_run
from tallylight.tracker.claims import Claim
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import ADOPT_S

#: A program that ends within so many seconds after its report was started to send it.
SPOKEN_S = 1.0


class Occupied(BasePane):
    """Follows the program in the foreground of one pane. *now* is monotonic seconds."""

    def requests(self) -> tuple[Request, ...]:
        """Return what a worker has to read for this pane at this tick; `take_result` takes each result."""
        if (package := package_of(self.unknown.program)) is not None and not self.unknown.is_remote:
            return (package,)
        said = self._last_report.session if self._last_report is not None else ""
        return self.own_files.requests(self.session_listed or said, self._title)

    def take_result(self, request: Request, found: object, now: float) -> None:
        """Take *found*, a worker's result for one of `requests`; None if nothing was new."""
        if isinstance(request, PackageRequest):
            self._update_program(lambda program: program.note_package(str(found or ""), request.run), now)
        else:
            self.own_files.take_result(request, found, now)

    @isolates_faults("its processes")
    def sampled(self, run: tuple[int, int], sample: Sample, now: float) -> None:
        """Take in a worker's sample of the process of *run* and those below it."""
        watch, program = self.processes, self.unknown.program
        if watch.process is None or watch.process.run != run:
            return  # another program has come to the foreground since
        watch.take(sample, now)
        if program is not None and program.agent is None:
            program.talks = watch.traffic.is_known
            if watch.traffic.has_asked:
                program.note_request()
                self._reconsider_program(now)
        watch.report_fact(now, is_asked=self.dialog is not None)

    @isolates_faults("the foreground")
    def foreground(self, pgid: int, now: float) -> None:
        """Take in that process group *pgid* holds the foreground of the pane's terminal; 0 for none."""
        if not self._has_begun:
            # The status that the pane shows now begins here.
            self._has_begun = True
            self.tracker.tick(now)
        before = self._pgid
        if pgid != before:
            self._reader.forget(before)
            self._pgid = pgid
        found = self._reader.look(pgid)
        if found is not self._identity and pgid == before and self._is_dying():
            return
        self._unmoved = self._unmoved + 1 if found is self._identity else 0
        if found is not self._identity or found.doubtful is not None:
            self._identity = found
            is_wanted = self.tracker.timing.unknown_agents
            self._changed_to(self.unknown.note_foreground(found.with_title(self._title), is_wanted=is_wanted), now)
            self._watch(found)
        if pgid != before == self._said[0] and found.is_shell and self._has_left(before, now):
            self._command_ended(None, now)

    def _watch(self, found: Identity) -> None:
        """Watch the processes of an agent of this machine, or of a program that may be one."""
        is_wanted = not found.is_remote and (self._run is not None or self.unknown.program is not None)
        self.processes.begin((found.leader or found.process) if is_wanted else None)

    def _is_dying(self) -> bool:
        """Return whether the agent's process has lost its arguments: in milliseconds it will be a zombie."""
        process = self._run.identity.process if self._run is not None else None
        now = self._table.get(process.pid) if process is not None else None
        return process is not None and now is not None and now.start == process.start and not now.argv

    def _has_left(self, before: int, now: float) -> bool:
        """
        Return whether the program of the group *before*, which had reported, has left the foreground to a shell.

        Never for a shell that marks its prompt. A program that ends right after its report, such as `tally emit`,
        reported for a script that goes on. A shell that is younger is about to become a command.
        """
        began = self._table.start(before)
        is_younger = began is not None and (self._table.start(self._pgid) or began) >= began
        return not (self._is_marked or is_younger or now - self._said[1] < SPOKEN_S)

    @isolates_faults("an unknown program")
    def _update_program(self, tell: Callable[[UnknownProgram], None], now: float) -> None:
        """Pass news to the unknown program in the foreground by *tell*; it may be taken for an agent then."""
        if self.unknown.program is not None:
            tell(self.unknown.program)
        self._reconsider_program(now)

    def _reconsider_program(self, now: float) -> None:
        """Change the foreground if the unknown program there is now taken for an agent, or no more."""
        found = self.unknown.with_candidate(self._identity)
        if found.is_remote and self.tracker.claims.has_protocol_claim:
            return  # an agent of another machine reports for itself, which is better than its screen
        is_over = found.is_remote and found.agent is None and self._run is not None
        if is_over or (found.agent is not None and self._run is None):
            self._changed_to(found, now)

    def holder(self) -> Identity:
        """Return who holds the foreground, read again from the processes: a person is about to type there."""
        found = self._reader.look_uncached(self._pgid).with_title(self._title)
        return attrs.evolve(found, is_candidate=True) if self.unknown.is_candidate(found) else found

    def _command_ended(self, exit_code: int | None, now: float) -> None:
        """Note that a command of the shell ended with *exit_code*; its agent may have ended with it."""
        before = self.tracker.after_exit_claim
        self.tracker.command_end(exit_code, now)
        self._note_end(before, now)

    def _note_end(self, before: Claim | None, now: float) -> None:
        """Count the end of an agent as news for a person who had looked, if it left another claim than *before*."""
        if self.tracker.after_exit_claim not in (None, before):
            self.attention.shown(self.decision, now)
            self.attention.ended(now)

    def reconsider_foreground(self, now: float) -> None:
        """Judge the foreground again after new agent files were loaded: earlier reports may be this agent's."""
        if self._reader.look(self._pgid).with_title(self._title).agent is None:
            return
        if self._last_report is not None:
            # It is as old as before, so its fuse burns on.
            self.tracker.report(self._last_report, now, self._last_report_at)
        self.foreground(self._pgid, now)
        if self._last_report is not None:
            self.conversation.take(self._last_report)
        self._read_title(now)

    def close(self) -> None:
        """Release what is kept for the pane, which is gone."""
        self._reader.forget(self._pgid)

    def _changed_to(self, found: Identity, now: float) -> None:
        """
        Take in that *found* holds the foreground: go on with the same run, else begin another, or none without an
        agent.
        """
        before = self._run
        if before is not None and found.agent is not None and same_run(before.identity, found):
            self._continue_run(before, found, now)
            return
        if self._inbox and (before is not None or found.agent is not None or found.is_remote):
            # These inputs came before the change.
            self.tracker.together(self._inbox.take(now, is_last=True), now)
        process = before.identity.process if before is not None else None
        is_gone = process is None or self._table.start(process.pid) != process.start
        foreground = _foreground(found, is_candidate=self.unknown.is_agent)
        run = None
        if found.agent is not None and foreground is not None:
            bar = ProgressReader(found.agent, is_described=not self.unknown.is_agent)
            run = Run(found, TitleReader(found.agent), foreground, progress=bar)
            run.find_files(self._table, now)
        self.own_files.replace(run, now, is_gone=is_gone)
        self.conversation.ended()
        self._remember(found)
        self.looks.begin(self.agent)
        self.tape.note("foreground", now, *self._foreground_facts(foreground), is_gone)
        self.tracker.foreground(foreground, now, is_gone=is_gone)
        self._note_end(None, now)
        if self._title_at is not None and now - self._title_at <= ADOPT_S:
            self._read_title(now)

    def _continue_run(self, run: Run, found: Identity, now: float) -> None:
        """Take in *found*, which says more about the *run* in the foreground."""
        run.identity = found
        self._remember(found)
        run.find_files(self._table, now)
        if found.speaks and not run.foreground.speaks:
            # At the first look it was still `env`, or a launcher.
            run.foreground = attrs.evolve(run.foreground, speaks=True)
            self.tape.note("foreground", now, *self._foreground_facts(run.foreground), False)
            self.tracker.foreground(run.foreground, now)

    def _remember(self, found: Identity) -> None:
        """Note the program *found* for the conversation of the pane, unless it runs on another machine."""
        if found.is_remote:
            return  # an agent of another machine cannot be continued here
        process = found.process or found.leader
        self.conversation.began(found, self._table.cwd(process.pid) if process is not None else "")

    def _read_title(self, now: float) -> None:
        """Report the status that the title of the agent shows."""
        if self._run is not None:
            report = self._run.titles.read(self._title, now)
            if report is not None:
                self.tracker.report(report, now)


def _foreground(found: Identity, *, is_candidate: bool) -> Foreground | None:
    """Return the foreground for the tracker; None for a program that is of no interest."""
    process = found.process or found.leader
    if process is None:
        return None
    if found.agent is not None:
        is_candidate = is_candidate or found.is_candidate
        return Foreground(found.agent.name, process.pid, speaks=found.speaks, is_candidate=is_candidate)
    return Foreground(found.suspect, process.pid, is_agent=False) if found.is_remote else None
