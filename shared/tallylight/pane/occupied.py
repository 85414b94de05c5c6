"""
Who is in the foreground of a pane, and what is read for that: its processes, and the files of an agent's own.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.evidence.foreground import Identity
from tallylight.evidence.progress import ProgressReader
from tallylight.evidence.titles import TitleReader
from tallylight.evidence.traffic import Sample
from tallylight.evidence.unknown import Unknown
from tallylight.pane.faults import isolates_faults
from tallylight.pane.file_request import Request
from tallylight.pane.known import Known
from tallylight.pane.package import PackageRequest, package_of
from tallylight.pane.run import Run, same_run
from tallylight.tracker.claims import Claim
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import ADOPT_S

#: A program that ends so soon after its last word, in seconds, was started to say that.
SPOKEN_S = 1.0


class Occupied(Known):
    """One pane, and who holds its foreground. *now* is monotonic seconds."""

    def requests(self) -> tuple[Request, ...]:
        """All that is to be read for this pane at this tick, by a worker; `answered` takes each result."""
        if (package := package_of(self.unknown.program)) is not None and not self.unknown.is_remote:
            return (package,)
        return self.own_files.requests(self._last_report.session if self._last_report is not None else "", self._title)

    def answered(self, request: Request, found: object, now: float) -> None:
        """Take the result of one of `requests`; None if nothing was new."""
        if isinstance(request, PackageRequest):
            self._update_program(lambda program: program.packaged(str(found or ""), request.run), now)
        else:
            self.own_files.answered(request, found, now)

    @isolates_faults("its processes")
    def sampled(self, run: tuple[int, int], sample: Sample, now: float) -> None:
        """Take in what a worker has read of the process of *run* and those below it."""
        watch, program = self.processes, self.unknown.program
        if watch.process is None or watch.process.run != run:
            return  # another program has come to the foreground since
        watch.take(sample, now)
        if program is not None and program.agent is None:
            program.talks = watch.traffic.is_known
            if watch.traffic.has_asked:
                program.asked()
                self._reconsider_program(now)
        watch.tell(now, is_asked=self.dialog is not None)

    @isolates_faults("the foreground")
    def foreground(self, pgid: int, now: float) -> None:
        """The process group *pgid* holds the foreground of the pane's terminal; 0 for none."""
        if not self._has_begun:
            # From now on it is known how long what it shows has been so.
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
            self._changed_to(self.unknown.seen(found.with_title(self._title), is_wanted=is_wanted), now)
            self._watch(found)
        if pgid != before == self._said[0] and found.is_shell and self._has_left(before, now):
            self._command_ended(None, now)

    def _watch(self, found: Identity) -> None:
        """Have the processes watched of an agent of this machine, and of what may be one."""
        is_wanted = not found.is_remote and (self._run is not None or self.unknown.program is not None)
        self.processes.begin((found.leader or found.process) if is_wanted else None)

    def _is_dying(self) -> bool:
        """Return whether the agent's process is there without its words, some milliseconds before it is a zombie."""
        process = self._run.identity.process if self._run is not None else None
        now = self._table.get(process.pid) if process is not None else None
        return process is not None and now is not None and now.start == process.start and not now.argv

    def _has_left(self, before: int, now: float) -> bool:
        """
        Whether the program of the group *before*, which has said something, has left the foreground to a shell.

        That counts where the shell does not mark its prompt. What ends right after its word, such as `tally emit`, has
        spoken for a script that goes on. A shell that is younger is about to become a command.
        """
        began = self._table.start(before)
        is_younger = began is not None and (self._table.start(self._pgid) or began) >= began
        return not (self._is_marked or is_younger or now - self._said[1] < SPOKEN_S)

    @isolates_faults("an unknown program")
    def _update_program(self, tell: Callable[[Unknown], None], now: float) -> None:
        """A program that no agent file names shows something, by *tell*: it may be taken for an agent now."""
        if self.unknown.program is not None:
            tell(self.unknown.program)
        self._reconsider_program(now)

    def _reconsider_program(self, now: float) -> None:
        """Go by what the program in the foreground is taken for by now."""
        found = self.unknown.applied(self._identity)
        if found.is_remote and self.tracker.said.is_told:
            return  # what an agent of another machine says itself is better than its screen
        is_over = found.is_remote and found.agent is None and self._run is not None
        if is_over or (found.agent is not None and self._run is None):
            self._changed_to(found, now)

    def holder(self) -> Identity:
        """Return who holds the foreground, of the group last reported: read again, for what a person has typed."""
        found = self._reader.anew(self._pgid).with_title(self._title)
        return attrs.evolve(found, is_candidate=True) if self.unknown.is_candidate(found) else found

    def _command_ended(self, exit_code: int | None, now: float) -> None:
        before = self.tracker.after_exit_claim
        self.tracker.command_end(exit_code, now)
        self._note_end(before, now)

    def _note_end(self, before: Claim | None, now: float) -> None:
        """If there is more to say of an end than *before*, it is news, also for a person who had looked."""
        if self.tracker.after_exit_claim not in (None, before):
            self.attention.shown(self.decision, now)
            self.attention.ended(now)

    def recall(self, now: float) -> None:
        """New agents are known: earlier reports and screens belong to the one in here."""
        if self._reader.look(self._pgid).with_title(self._title).agent is None:
            return
        if self._last_report is not None:
            self.tracker.report(self._last_report, now)
        self.foreground(self._pgid, now)
        if self._last_report is not None:
            self.conversation.heard(self._last_report)
        self._read_title(now)

    def close(self) -> None:
        """The pane is gone."""
        self._reader.forget(self._pgid)

    def _changed_to(self, found: Identity, now: float) -> None:
        before = self._run
        if before is not None and found.agent is not None and same_run(before.identity, found):
            self._goes_on(before, found, now)
            return
        if self._inbox and (before is not None or found.agent is not None or found.is_remote):
            # It was reported before.
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
        self.tape.note("foreground", now, *self._held(foreground), is_gone)
        self.tracker.foreground(foreground, now, is_gone=is_gone)
        self._note_end(None, now)
        if self._title_at is not None and now - self._title_at <= ADOPT_S:
            self._read_title(now)

    def _goes_on(self, run: Run, found: Identity, now: float) -> None:
        """More is known of the *run* that holds the foreground."""
        run.identity = found
        self._remember(found)
        run.find_files(self._table, now)
        if found.speaks and not run.foreground.speaks:
            # It was looked at when it still was `env`, or a launcher.
            run.foreground = attrs.evolve(run.foreground, speaks=True)
            self.tape.note("foreground", now, *self._held(run.foreground), False)
            self.tracker.foreground(run.foreground, now)

    def _remember(self, found: Identity) -> None:
        if found.is_remote:
            return  # what is there is not this machine's to continue
        process = found.process or found.leader
        self.conversation.began(found, self._table.cwd(process.pid) if process is not None else "")

    def _read_title(self, now: float) -> None:
        if self._run is not None:
            report = self._run.titles.read(self._title, now)
            if report is not None:
                self.tracker.report(report, now)


def _foreground(found: Identity, *, is_candidate: bool) -> Foreground | None:
    """Return what the tracker gets about who holds the foreground; None for one that is of no interest."""
    process = found.process or found.leader
    if process is None:
        return None
    if found.agent is not None:
        is_candidate = is_candidate or found.is_candidate
        return Foreground(found.agent.name, process.pid, speaks=found.speaks, is_candidate=is_candidate)
    return Foreground(found.suspect, process.pid, is_agent=False) if found.is_remote else None
