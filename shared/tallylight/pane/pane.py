"""
A pane of any host: its tracker, its ledger of attention, and the evidence gathered for them.

A host reports what it sees (the foreground process group, the title, the screen, a user variable, whether a person can
see the pane) and draws `decision`. Nothing in here knows a terminal program, and nothing reads a file of a user's:
what has to be read is asked for with `requests` and handed back.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.foreground import NOBODY, Identity
from tallylight.evidence.process import Process, base_name
from tallylight.evidence.process_table import Table, inner_size
from tallylight.evidence.progress import ProgressReader
from tallylight.evidence.records import limits
from tallylight.evidence.screen import Look as Look
from tallylight.evidence.titles import TitleReader, clean_title
from tallylight.evidence.traffic import Sample
from tallylight.evidence.unknown import Unknown, UnknownWatch
from tallylight.hooks.order import Order
from tallylight.model.beside import Changes
from tallylight.model.decision import Decision
from tallylight.model.dialog import Dialog
from tallylight.model.prose import last_sentence
from tallylight.model.queued import Queued
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.conversation import Conversation
from tallylight.pane.faults import Faults, isolates_faults
from tallylight.pane.file_request import Request
from tallylight.pane.former import Former
from tallylight.pane.own_files import OwnFiles
from tallylight.pane.package import PackageRequest, package_of
from tallylight.pane.process_watch import ProcessWatch
from tallylight.pane.processes import Foregrounds
from tallylight.pane.run import Run, same_run
from tallylight.pane.screen_looks import ScreenLooks
from tallylight.pane.tape import Tape, plain
from tallylight.pane.transcript import Transcript
from tallylight.snapshot.entries import CollisionEntry
from tallylight.tracker.attention import Attention
from tallylight.tracker.claims import Claim
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import ADOPT_S, Tracker
from tallylight.wire import osc1338
from tallylight.wire.inbox import Call, Inbox, Key, Pace, key_of

#: Whose word a replay has from the tape: the rest it reads from screens and titles again.
_READ_ELSEWHERE = (Source.REGISTRY, Source.RECORD, Source.PROCESS, Source.NOTIFICATION)
_TITLE, _START, _END = Key("title"), Key("start"), Key("end")
#: What keeps its sessions from the terminal around them, by the names of its program.
MULTIPLEXERS = {"tmux": "tmux", "screen": "GNU Screen"}
#: A program that ends so soon after its last word, in seconds, was started to say that.
SPOKEN_S = 1.0
#: A program in the foreground is new for so many looks: a shell may become an agent.
EAGER_LOOKS = 16


class Pane:
    """
    One pane. *now* is monotonic seconds throughout; *tell* gets the faults, see `pane.faults`.

    *tracker*: one that somebody listens in on, such as a recorder; else it is the pane's own.
    """

    def __init__(
        self,
        timing: Timing,
        reader: Foregrounds,
        table: Table,
        tell: Callable[[str], None] = lambda _: None,
        *,
        tracker: Tracker | None = None,
    ) -> None:
        self.faults = Faults(tell)
        self.tracker = tracker if tracker is not None else Tracker(timing)
        self.tracker.heard = self._heard
        #: What its light was made of lately.
        self.tape = Tape(self._was)
        self.attention = Attention()
        #: What its host showed of it before the host was started again; the host's to set.
        self.former: Former | None = None
        self._order = Order()
        self._inbox = Inbox()
        self.conversation = Conversation(table)
        self._reader = reader
        self._table = table
        self._screen = ScreenLooks(self.tracker)
        self._has_begun = False
        self._pgid = 0
        #: The group that was in the foreground when something was said last, and when that was.
        self._said: tuple[int | None, float] = None, -math.inf
        #: Whether a shell in here marks its commands.
        self._is_marked = False
        self._identity = NOBODY
        #: Whether it had a progress bar at the last look.
        self.has_bar = False
        #: In how many looks the same program was in the foreground.
        self._unmoved = 0
        self.own_files = OwnFiles(self.faults, self.tracker, self.conversation)
        #: The program in the foreground, if no agent file names it.
        self.unknown = UnknownWatch()
        #: What the processes of that in the foreground do.
        self.processes = ProcessWatch(self.tracker)
        self._title = ""
        #: The title in words, without glyphs and spinners.
        self.clean_title = ""
        self._title_at: float | None = None
        #: The text that waits for the end of its agent's turn.
        self.queued: Queued | None = None
        #: What is not committed where its agent works, as of the end of its turn, if that is known; and which end that
        #: was, by its time. Its host's to set.
        self.changes: Changes | None = None
        self.counted_at = -math.inf
        #: What others have changed of what its agent has. Its host's to set.
        self.collisions: tuple[CollisionEntry, ...] = ()
        #: The report of a limit by a protocol, a hook or a screen, and its end; and what is shown with the end of one.
        self._limit: tuple[object, float] = None, 0.0
        self._limited: tuple[Decision, Decision] | None = None
        #: The last report about the pane itself.
        self._last_report: Report | None = None

    @property
    def decision(self) -> Decision:
        """What the pane shows."""
        shown = self.tracker.decision
        if self.former is not None:
            shown = self.former.aged(shown, self.pid, self.dialog, self.transcript)
        return self._with_end(shown) if shown.status is Status.LIMITED else shown

    def _with_end(self, shown: Decision) -> Decision:
        """*shown* of a limit with the end of that, as the agent's record says, or else its words."""
        until = self._told_until
        if not until:
            said = shown.since, shown.report.message
            if self._limit[0] != said:
                self._limit = said, limits.ends(said[1], time.time())
            until = self._limit[1]
        if self._limited is None or self._limited[0] is not shown or self._limited[1].limited_until != until:
            self._limited = shown, attrs.evolve(shown, limited_until=until)
        return self._limited[1]

    @property
    def _told_until(self) -> float:
        """When the last limit of its agent ends by its record; 0 for none."""
        return self.transcript.details.limited_until if self.transcript is not None else 0.0

    @property
    def _run(self) -> Run | None:
        return self.own_files.run

    @property
    def agent(self) -> Agent | None:
        """The agent that holds the foreground."""
        return self._run.identity.agent if self._run is not None else None

    @property
    def pid(self) -> int | None:
        """The process in the foreground, as far as it is known."""
        process = self._identity.process
        return process.pid if process is not None else self._pgid or None

    @property
    def agent_process(self) -> Process | None:
        """The process of the agent that holds the foreground, as far as it is known."""
        found = self._run.identity if self._run is not None else NOBODY
        return found.process if not found.is_remote else None

    @property
    def agent_pid(self) -> int | None:
        """The number of that process, or of the one of a program that no agent file names."""
        process = self.agent_process
        return process.pid if process is not None else self.conversation.strangers_pid

    @property
    def shows_sessions(self) -> bool:
        """Whether what holds the foreground shows a session of tmux or GNU Screen."""
        process = self._identity.process
        return process is not None and base_name(process.exe) in MULTIPLEXERS

    @property
    def project(self) -> str:
        """What it works on: as its agent says, else by the directory that its process works in."""
        report = self.decision.report
        known = self.conversation.project if not self._identity.is_remote else ""
        return report.project or known or report.cwd.rstrip("/").rpartition("/")[2]

    def queue(self, queued: Queued | None) -> None:
        """Have *queued* wait in it, in place of what did; None for nothing."""
        self.queued = queued
        self.tracker.touch()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is likely to happen in it soon: it holds no agent, or one with nothing new on its screen."""
        if self._unmoved < EAGER_LOOKS or self.is_undecided:
            return False
        if self._run is None and self.unknown.program is None and not self.decision.is_lit:
            return True
        return self.is_calm or not (self.tracker.wants_output or self.tracker.wants_screen)

    @property
    def is_calm(self) -> bool:
        """Whether the screen has not changed recently: then not every tick looks at it."""
        return self._screen.is_calm

    @property
    def is_known(self) -> bool:
        """Whether its screen shows a question that is known, and the end of which is told without the screen."""
        return self._screen.is_known

    @property
    def is_undecided(self) -> bool:
        """Whether a turn or an agent is over, and a file may still say how."""
        return self.own_files.is_undecided

    @property
    def transcript(self) -> Transcript | None:
        """The transcript of the agent in the foreground, if it keeps one."""
        return self.own_files.transcript

    @property
    def limited_until(self) -> float:
        """When the last limit that its agent reported ends, in seconds since the epoch; 0 if there is none."""
        return self._told_until or self.decision.limited_until

    @property
    def unanswered(self) -> float | None:
        """Since when the model has not answered an agent that works, if that is late."""
        return self.processes.unanswered if self.decision.status is Status.WORKING else None

    @property
    def outcome(self) -> str:
        """What the turn that is over came to: the last sentence of the agent's reply, if the pane shows its end."""
        decision, transcript = self.decision, self.transcript
        if decision.status is not Status.DONE:
            return ""
        return (transcript.details.outcome if transcript is not None else "") or last_sentence(decision.report.message)

    @property
    def diffstat(self) -> tuple[int, int] | None:
        """The lines that are not committed, added and removed, if it shows the end of a turn, and they were counted."""
        changes = self.changes if self.decision.status is Status.DONE else None
        return (changes.added, changes.removed) if changes is not None else None

    @property
    def collides(self) -> bool:
        """Whether another agent has changed the same lines."""
        return any(one.same for one in self.collisions)

    @property
    def is_counted(self) -> bool:
        """Whether all is known of the end of the turn that it shows, if it shows one."""
        decision = self.decision
        return decision.status is not Status.DONE or self.counted_at == decision.since

    @property
    def unnamed(self) -> str:
        """The directory of its agent, if it is to be looked up what the project in it is called."""
        return self.conversation.unnamed if self.tracker.decision.is_lit else ""

    def name_project(self, name: str) -> None:
        """What was looked up."""
        self.conversation.name_project(name)
        self.tracker.touch()

    def requests(self) -> tuple[Request, ...]:
        """All that is to be read for this pane at this tick, by a worker; `answered` takes each result."""
        if (package := package_of(self.unknown.program)) is not None and not self.unknown.is_remote:
            return (package,)
        return self.own_files.requests(self._last_report.session if self._last_report is not None else "", self._title)

    def answered(self, request: Request, found: object, now: float) -> None:
        """What a worker has read for one of `requests`; None if nothing was new."""
        if isinstance(request, PackageRequest):
            self._suspect(lambda program: program.packaged(str(found or ""), request.run), now)
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
                self._judge(now)
        watch.tell(now, is_asked=self.dialog is not None)

    @property
    def pace(self) -> Pace | None:
        """How much arrives and is read, if not everything was read recently."""
        return self._inbox.pace

    @property
    def is_behind(self) -> bool:
        """Whether more arrived than could be read at once: what arrives now is read later."""
        return bool(self._inbox)

    # What the host sees --------------------------------------------------------------------------------------

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
        """Whether the agent's process is there without its words, some milliseconds before it is a zombie."""
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
    def _suspect(self, tell: Callable[[Unknown], None], now: float) -> None:
        """A program that no agent file names shows something, by *tell*: it may be taken for an agent now."""
        if self.unknown.program is not None:
            tell(self.unknown.program)
        self._judge(now)

    def _judge(self, now: float) -> None:
        """Go by what the program in the foreground is taken for by now."""
        found = self.unknown.applied(self._identity)
        if found.is_remote and self.tracker.is_told:
            return  # what an agent of another machine says itself is better than its screen
        is_over = found.is_remote and found.agent is None and self._run is not None
        if is_over or (found.agent is not None and self._run is None):
            self._changed_to(found, now)

    def holder(self) -> Identity:
        """Who holds the foreground, of the group that was last reported; read again, for what a person has typed."""
        found = self._reader.anew(self._pgid).with_title(self._title)
        return attrs.evolve(found, is_candidate=True) if self.unknown.is_candidate(found) else found

    @property
    def dialog(self) -> Dialog | None:
        """The dialog that waits on the screen as of the last look, for display and a person's own answer."""
        return self._screen.dialog

    def screen(self, read: Callable[[], Look], now: float) -> None:
        """Look at the screen, if output or what it says would be evidence: only then is *read* called."""
        if self.unknown.wants_look():
            self._look_for_signs(read(), now)
        if self._screen.is_wanted(now):
            self._take_look(read().inside(inner_size(self._identity, self._table)), now)
        elif self._screen.took_back:
            self._screen.took_back = False
            self.tape.note("unlooked", now)

    @isolates_faults("an unknown program")
    def _look_for_signs(self, look: Look, now: float) -> None:
        self.unknown.look(look)
        self.processes.look(look, now)
        self._judge(now)

    @isolates_faults("the screen")
    def _take_look(self, look: Look, now: float) -> None:
        self.tape.look(look, now)
        self.processes.look(look, now)
        self._screen.take(look, self._run, now)

    def title(self, title: str, now: float) -> bool:
        """The program set the pane's title. Whether that was read at once, as also in the next three; if not, soon."""
        self.tape.note("title", now, title)
        return self._receive(_TITLE, functools.partial(self._titled, title), len(title), now)

    def carrier(self, payload: str | None, now: float) -> bool:
        """The pane's `tally` user variable was set to *payload*, or deleted. What cannot be read is ignored."""
        try:
            key = key_of(payload)
        except Exception as error:  # one pane's fault is no reason to lose the others
            self.faults.take("the user variable", error)
            key = None
        if key is None:
            return True
        self.tape.note("carrier", now, payload)
        return self._receive(key, functools.partial(self._carried, payload), len(payload or ""), now)

    def marked(self, is_start: bool, exit_code: int | None, now: float) -> bool:
        """A command of the shell started, or ended with *exit_code* (OSC 133 C and D)."""
        self._is_marked = True
        self.tape.note("mark", now, is_start, exit_code)
        return self._receive(_START if is_start else _END, functools.partial(self._marked, is_start, exit_code), 0, now)

    def notified(self, report: Report, now: float) -> bool:
        """A notification of the program said what is in *report*."""
        key = Key(("notified", report.source, report.id), bool(report.id))
        return self._receive(key, functools.partial(self._notified, report), len(report.message), now)

    def _receive(self, key: Key, call: Call, size: int, now: float) -> bool:
        if self._inbox.admits(now):
            call(now)
            return True
        self._inbox.keep(key, call, size)
        return False

    @isolates_faults("a mark of the shell")
    def _marked(self, is_start: bool, exit_code: int | None, now: float) -> None:
        if is_start:
            self._unmoved = 0
            self._suspect(Unknown.marked, now)
            self.tracker.command_start(now)
        else:
            self._command_ended(exit_code, now)

    def _command_ended(self, exit_code: int | None, now: float) -> None:
        before = self.tracker.after_exit_claim
        self.tracker.command_end(exit_code, now)
        self._note_end(before, now)

    def _note_end(self, before: Claim | None, now: float) -> None:
        """If there is more to say of an end than *before*, it is news, also for a person who had looked."""
        if self.tracker.after_exit_claim not in (None, before):
            self.attention.shown(self.decision, now)
            self.attention.ended(now)

    @isolates_faults("a notification")
    def _notified(self, report: Report, now: float) -> None:
        self.tracker.report(report, now)

    @isolates_faults("the title")
    def _titled(self, title: str, now: float) -> None:
        self._title, self._title_at = title, now
        self.clean_title = clean_title(title)
        self._suspect(lambda program: program.titled(title), now)
        if self._run is not None:
            self._read_title(now)

    @isolates_faults("the progress bar")
    def progress(self, is_shown: bool, now: float) -> None:
        """
        Whether the pane has a progress bar (OSC 9;4) at this moment.

        Of an agent that shows one while it works, its end is the end of a turn. That it is shown decides nothing: it
        may well stay while the agent asks.
        """
        if is_shown != self.has_bar:
            self.tape.note("bar", now, is_shown)
        self.has_bar = is_shown
        self._suspect(lambda program: program.barred(is_shown=is_shown), now)
        report = self._run.progress.read(is_shown=is_shown) if self._run is not None else None
        if report is not None:
            if is_shown:
                self.tracker.seen_active(now)
            self.tracker.report(report, now)

    @isolates_faults("the user variable")
    def _carried(self, payload: str | None, now: float) -> None:
        recipe = osc1338.decode_recipe(payload)
        if recipe is not None:
            self.conversation.armed(recipe.argv)
            self.tracker.touch()  # others get it, whatever becomes of the status
            return
        said, before = osc1338.decode_variable(payload), self.tracker.after_exit_claim
        self._said = self._pgid, now
        for report in self._order.admit(payload, said) if said is not None else ():
            if not report.id:
                self._last_report = report
            self.conversation.heard(report)
            self.tracker.report(report, now)
        self._note_end(before, now)

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

    def look(self, visible: bool, now: float) -> None:
        """Whether the pane is in front of a person."""
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
        """Let time pass, if anything depends on it."""
        deadline, due = self.tracker.deadline(), self._inbox.due()
        if any(at is not None and now >= at for at in (deadline, due)):
            self.tape.note("tick", now)
        if deadline is not None and now >= deadline:
            self.tracker.tick(now)
        self._inbox.count(now)
        due = self._inbox.due()
        if due is not None and now >= due:
            self.tracker.together(self._inbox.take(now), now)

    def deadline(self) -> float | None:
        """The time of the next `tick` that could change something; None if none could."""
        due, deadline = self._inbox.due(), self.tracker.deadline()
        return deadline if due is None else due if deadline is None else min(due, deadline)

    def close(self) -> None:
        """The pane is gone."""
        self._reader.forget(self._pgid)

    # Who is in the foreground --------------------------------------------------------------------------------

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
        self._screen.begin(self.agent)
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

    # What is remembered of it for a while ----------------------------------------------------------------------

    def _heard(self, report: Report, now: float, since: float) -> None:
        """The tracker got *report*: what a replay cannot find out again is remembered."""
        if report.source in _READ_ELSEWHERE:
            self.tape.note("report", now, plain(report), max(0.0, now - since))

    def _held(self, foreground: Foreground | None) -> tuple[object, object]:
        """Who holds the foreground, and what names its process."""
        process = self._identity.process
        named = [process.exe, *process.argv[:8]] if process is not None else None
        return (attrs.asdict(foreground) if foreground is not None else None), named

    def _was(self, now: float) -> None:
        """Note the present state on the tape as a stretch of it begins."""
        if self._run is None:
            return
        self.tape.note("was", now, "foreground", *self._held(self._run.foreground), True)
        self.tape.note("was", now, "title", self._title)
        if self.has_bar:
            self.tape.note("was", now, "bar", True)
        for claim in sorted(self.tracker.answers.claims.values(), key=lambda claim: claim.at):
            self.tape.note("was", now, "claim", plain(claim.report), claim.at - now, claim.since - now)

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
    """What the tracker gets about who holds the foreground; None for one that is of no interest."""
    process = found.process or found.leader
    if process is None:
        return None
    if found.agent is not None:
        is_candidate = is_candidate or found.is_candidate
        return Foreground(found.agent.name, process.pid, speaks=found.speaks, is_candidate=is_candidate)
    return Foreground(found.suspect, process.pid, is_agent=False) if found.is_remote else None
