"""
The tracker: one pane's records, and what is shown for them by the trust rules.

Reports, prompt marks, changes of the foreground, visible output and looks of a person go in, each with the
time in monotonic seconds; `decision` comes out, with its reason. No clock is read and nothing is written. At
most `MAX_RECORDS` records are kept, the least recently heard of is dropped first.
"""

from __future__ import annotations

from collections import OrderedDict

import attrs

from tallylight.claims import Claim, Timing, choose, expires
from tallylight.decision import Decision, Reason, what_would_change
from tallylight.report import Report, Source
from tallylight.rollup import urgency
from tallylight.status import Kind, Status

#: What the OSC 7501 specification names as typical; it asks for 64 at least.
MAX_RECORDS = 256
#: A protocol report this much older than the first sight of its agent, in seconds, is taken to be that agent's:
#: a start hook is quicker than a poll.
ADOPT_S = 2.0
#: A command's end this long after its agent vanished, in seconds, is taken to be that agent's end.
LAST_WORDS_S = 2.0
#: How long, in seconds, an agent that speaks for itself may take to start. Claude Code takes 0.4 to 2.
START_S = 3.0
#: Until it has drawn anything it is starting, but no longer than this, in seconds. On a busy machine, or where it asks
#: a network that is not there, that was seen to take 30.
SLOW_START_S = 60.0
#: And so long from its first output, in seconds, if it has said nothing yet: some draw a line and go on to load.
LOADING_S = 20.0
#: Exit codes by which a shell says that a signal killed the command: ABRT, BUS, FPE, KILL, SEGV.
_KILLED = frozenset({134, 135, 136, 137, 139})

_OWN_WORDS = (Source.PROGRESS, Source.TITLE, Source.REGISTRY, Source.PROTOCOL)
_FOREGROUND_ONLY = (Source.PROGRESS, Source.TITLE, Source.REGISTRY, Source.SCREEN)

_POORER = (Source.TITLE, Source.PROGRESS, Source.NOTIFICATION, Source.SCREEN, Source.HEURISTIC)


@attrs.frozen
class Foreground:
    """
    Who holds the pane's foreground: an agent, or a carrier such as ssh through which an unseen agent may speak.

    *instance* tells two runs of the same program apart (a process id will do). Guesses from output and silence
    are made only where *is_agent*. One that *speaks* is known to tell its status itself once it is up: it is given
    some time before what it draws is taken for work.
    """

    name: str
    instance: int
    is_agent: bool = True
    speaks: bool = False


@attrs.define
class _Record:
    claims: dict[Source, Claim] = attrs.Factory(dict)
    #: A screen reading that differs from the present one and was read once.
    doubt: tuple[Status | None, Kind | None] | None = None


class Tracker:
    """One pane. Every method that takes *now* may change `decision`."""

    def __init__(self, timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        #: Counts what was newly said, also of records that the pane's light does not show.
        self.revision = 0
        self._records: OrderedDict[str, _Record] = OrderedDict({"": _Record()})
        self._foreground: Foreground | None = None
        self._explicit = False
        self._at_prompt = False
        self._last_output: float | None = None
        #: When the agent in the foreground came there, while that matters.
        self._arrived: float | None = None
        #: When it first drew something, and whether it has said anything since.
        self._drew: float | None = None
        self._has_spoken = False
        #: What is left to say of an agent that is gone.
        self._epitaph: Claim | None = None
        self._now: float | None = None
        self._deadlines: list[float] = []
        self._changed_at: float | None = None
        #: A change that the debounce holds back; it takes effect when the window closes.
        self._pending: Decision | None = None
        nothing = Reason(None, "nothing known of this pane", 0.0, what_would_change(Status.ACTIVE, None))
        self._shown = Decision(Status.ACTIVE, None, nothing, 0.0, Report(source=Source.SHELL, status=Status.ACTIVE))

    # What is shown -------------------------------------------------------------------------------------------

    @property
    def decision(self) -> Decision:
        """What the pane shows."""
        return self._shown

    def records(self) -> dict[str, Decision]:
        """Every record that has something to say, by its id path; the pane's own is `""`."""
        now = self._now if self._now is not None else 0.0
        return {id_: self._decide(id_, now) for id_, record in self._records.items() if id_ == "" or record.claims}

    def deadline(self) -> float | None:
        """The time of the next `tick` that could change something; None if none could."""
        return min(self._deadlines, default=None)

    @property
    def wants_output(self) -> bool:
        """
        Whether visible output would be evidence here: only then need a host look for it.

        An agent whose status file is read has no need of guesses.
        """
        claims = self._records[""].claims
        if Source.REGISTRY in claims:
            return False
        if self._foreground is not None and self._foreground.is_agent:
            return True
        return any(c.status is Status.WORKING for c in claims.values())

    @property
    def wants_screen(self) -> bool:
        """
        Whether what the screen says would be evidence here, or its question would be shown.

        It has no vote beside an agent's own words; but what it asks stands nowhere else.
        """
        if self._foreground is None or not self._foreground.is_agent:
            return False
        if self._shown.status is Status.WAITING:
            return True
        return not self._explicit and Source.REGISTRY not in self._records[""].claims

    # What goes in --------------------------------------------------------------------------------------------

    def report(self, report: Report, now: float) -> None:
        """Take in what a source says. Titles, screens and status files count only for the agent in the foreground."""
        now = self._advance(now)
        source = report.source
        if source in _FOREGROUND_ONLY and (self._foreground is None or not self._foreground.is_agent):
            return
        if source is Source.PROTOCOL or (source is Source.REGISTRY and report.status is None):
            # A goodbye is explicit too: a guess must not light what has just taken its leave.
            self._explicit = True
        if source is Source.PROTOCOL:
            self._epitaph = None
            self._at_prompt = False
        if source is Source.SCREEN:
            self._screen(report, now)
        elif report.status is None:
            self._withdraw(report.id, source)
            if not report.id and source in (Source.REGISTRY, Source.PROTOCOL):
                # What poorer sources said before is older than the goodbye.
                for poorer in _POORER:
                    self._withdraw("", poorer)
        else:
            self._claim(report, now)
        self._settle(now)

    def output(self, now: float) -> None:
        """The agent wrote something visible that was not the echo of typing."""
        now = self._advance(now)
        self._last_output = now
        if self._drew is None:
            self._drew = now
        if self._foreground is not None and self._foreground.is_agent and not self._is_starting(now):
            self._guess(Status.WORKING, None, "output", now)
            # A notification raises attention and knows of no answer; that the agent goes on is one.
            self._withdraw("", Source.NOTIFICATION)
        self._settle(now)

    def stirs(self, now: float) -> None:
        """The agent showed by a sign that is no status, such as a progress bar, that it is up and does something."""
        self._arrived = None
        self.output(now)

    def foreground(self, foreground: Foreground | None, now: float, *, is_gone: bool = True) -> None:
        """
        *foreground* holds the pane's foreground now; None for a shell or any plain command.

        *is_gone* tells whether the one that held it before has ended: one that was merely stopped is not down.
        """
        now = self._advance(now)
        if foreground == self._foreground:
            return
        if self._foreground is not None:
            self._bury(now, is_gone=is_gone)
        self._foreground = foreground
        self._arrived = None
        if foreground is not None:
            self._epitaph = None
            self._at_prompt = False
            if foreground.is_agent:
                self._welcome(now)
        self._settle(now)

    def prompt(self, now: float) -> None:
        """The shell showed its prompt (OSC 133 A): whatever ran has ended."""
        self._end_of_command(now)

    def command_end(self, exit_code: int | None, now: float) -> None:
        """A command of the shell ended (OSC 133 D)."""
        epitaph = self._epitaph
        if epitaph is not None and self._advance(now) - epitaph.at <= LAST_WORDS_S:
            if epitaph.status is Status.DOWN and exit_code == 0:
                self._epitaph = _restated(epitaph, Status.DONE, "its command ended well")
            elif epitaph.status is Status.DONE and exit_code in _KILLED:
                self._epitaph = _restated(epitaph, Status.DOWN, f"its command was killed (exit code {exit_code})")
        self._end_of_command(now)

    def command_start(self, now: float) -> None:
        """A command of the shell started (OSC 133 C): a person typed, so everything older is old news."""
        now = self._advance(now)
        if self._foreground is not None:
            return
        self._forget()
        self._at_prompt = False
        self._epitaph = None
        self._settle(now)

    def seen(self, now: float) -> None:
        """A person had a look. `done` is old news then, and an ended agent needs no light; `waiting` stays."""
        now = self._advance(now)
        self._epitaph = None
        for record in self._records.values():
            for claim in record.claims.values():
                if claim.report.status is Status.DONE:
                    claim.seen = True
        self._settle(now)

    def unseen(self, now: float) -> None:
        """A person wants to come back to this: what was `done` before a look is `done` again."""
        now = self._advance(now)
        for record in self._records.values():
            for claim in record.claims.values():
                claim.seen = False
        self._settle(now)

    def tick(self, now: float) -> None:
        """Let time pass: silence, decay, debounce."""
        now = self._advance(now)
        if self._arrived is not None and not self._is_starting(now):
            self._arrived = None
            if not self._records[""].claims:
                self._guess(Status.WORKING, None, "it came to the foreground", now)
        guess = self._records[""].claims.get(Source.HEURISTIC)
        if guess is not None and guess.status is Status.WORKING:
            since = self._last_output if self._last_output is not None else guess.at
            if now - since >= self.timing.silence_s:
                self._guess(Status.WAITING, Kind.INPUT, f"{self.timing.silence_s:g} s of silence", now)
        self._settle(now)

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which neither the agents nor we could run (suspend, SIGSTOP): they do not count."""
        for record in self._records.values():
            for claim in record.claims.values():
                claim.at += seconds
                claim.changed += seconds
        if self._last_output is not None:
            self._last_output += seconds
        if self._arrived is not None:
            self._arrived += seconds
        if self._drew is not None:
            self._drew += seconds

    # How it is decided ---------------------------------------------------------------------------------------

    def _advance(self, now: float) -> float:
        if self._now is None:
            self._now = now
            self._shown = attrs.evolve(self._shown, since=now)
        self._now = max(self._now, now)
        return self._now

    def _claim(self, report: Report, now: float) -> None:
        record = self._records.get(report.id)
        if record is None:
            while len(self._records) >= MAX_RECORDS:
                oldest = next(id_ for id_ in self._records if id_)
                del self._records[oldest]
            record = self._records[report.id] = _Record()
        self._records.move_to_end(report.id)
        if report.source is not Source.HEURISTIC:
            self._has_spoken = True
        before = record.claims.get(report.source)
        if before is None or before.report != report:
            self.revision += 1
        same = before is not None and (before.report.status, before.report.kind) == (report.status, report.kind)
        if before is not None and same:
            before.report, before.at = report, now
        else:
            record.claims[report.source] = Claim(report, at=now, changed=now)

    def _guess(self, status: Status, kind: Kind | None, rule: str, now: float) -> None:
        self._claim(Report(source=Source.HEURISTIC, status=status, kind=kind, rule=rule), now)

    def _screen(self, report: Report, now: float) -> None:
        """A reading of the screen: the first one counts at once, a different one when it was read twice."""
        record = self._records[""]
        present = record.claims.get(Source.SCREEN)
        reading = (report.status, report.kind)
        is_new = present is not None and (present.report.status, present.report.kind) != reading
        if is_new and record.doubt != reading:
            record.doubt = reading
            return
        record.doubt = None
        if report.status is not None:
            self._claim(report, now)
        else:
            self._withdraw("", Source.SCREEN)
        if present is not None and is_new and present.status is Status.WAITING:
            # Whoever took the dialog away goes on; that it stood still before is no silence.
            self._last_output = now
            self._guess(Status.WORKING, None, "its dialog is gone", now)

    def _withdraw(self, id_: str, source: Source) -> None:
        for key in list(self._records):
            if key == id_ or key.startswith(f"{id_}/") or not id_:
                self.revision += self._records[key].claims.pop(source, None) is not None
                if key and not self._records[key].claims:
                    del self._records[key]

    def _welcome(self, now: float) -> None:
        """A new agent came to the foreground: what was said before is not about it, but for its own first words."""
        own = self._records[""].claims.get(Source.PROTOCOL)
        self._forget()
        if own is not None and now - own.at <= ADOPT_S:
            self._records[""].claims[Source.PROTOCOL] = own
            self._explicit = True
        self._last_output = now
        self._arrived, self._drew, self._has_spoken = now, None, Source.PROTOCOL in self._records[""].claims
        if not self._is_starting(now):
            # It drew something, or it would not be there; without this, one that is silent would never wait.
            self._guess(Status.WORKING, None, "it came to the foreground", now)

    def _is_starting(self, now: float) -> bool:
        """Whether the agent in the foreground may yet speak for itself."""
        return now < self._start_ends

    @property
    def _start_ends(self) -> float:
        if self._foreground is None or not self._foreground.speaks or self._arrived is None:
            return 0.0
        if self._drew is None:
            return self._arrived + SLOW_START_S
        return self._drew + (START_S if self._has_spoken else LOADING_S)

    def _bury(self, now: float, *, is_gone: bool) -> None:
        """The agent left the foreground: keep what a person has yet to learn of it, drop the rest."""
        last = self._shown if self._pending is None else self._pending
        source = last.reason.source
        was_agent = self._foreground is not None and self._foreground.is_agent
        self._forget()
        if last.status is Status.WAITING and source is Source.HEURISTIC:
            return  # it was silent, no more than that: a program that has left is owed no answer
        if not was_agent or not is_gone:
            keep: Status | None = last.status if last.status in (Status.WAITING, Status.DONE) else None
            rule = "it left the foreground" if is_gone else "it was stopped"
        elif last.status is Status.WORKING:
            keep = Status.DOWN if source in _OWN_WORDS else Status.DONE
            rule = "it vanished in mid-turn" if keep is Status.DOWN else "it ended after its last output"
        else:
            keep = last.status if last.needs_person else None
            rule = f"it ended while {last.status}"
        if keep is not None:
            report = attrs.evolve(last.report, source=source or Source.HEURISTIC, status=keep, rule=rule)
            self._epitaph = Claim(report, at=now, changed=now)

    def _forget(self) -> None:
        self._records = OrderedDict({"": _Record()})
        self._last_output = None
        if self.timing.explicit_lasts == "agent":
            self._explicit = False

    def _end_of_command(self, now: float) -> None:
        now = self._advance(now)
        if self._foreground is not None:
            return  # some agents draw prompt marks around their own messages
        kept = {s: c for s, c in self._records[""].claims.items() if c.status in (Status.DONE, Status.ERROR)}
        self._forget()
        self._records[""].claims.update(kept)
        self._at_prompt = True
        self._settle(now)

    def _decide(self, id_: str, now: float) -> Decision:
        record = self._records[id_]
        explicit = self._explicit and not id_
        choice = choose(record.claims, timing=self.timing, now=now, explicit=explicit, last_output=self._last_output)
        if choice.deadline is not None:
            self._deadlines.append(choice.deadline)
        claim = choice.winner or (None if id_ else self._epitaph)
        if claim is not None:
            source: Source | None = claim.report.source
            status, kind, at = claim.status, claim.report.kind, claim.at
            rule = claim.report.rule or claim.report.source.word
            if status is not claim.report.status:
                rule = f"{rule}; seen"
        elif not id_ and self._foreground is not None:
            source, status, kind, at = Source.HEURISTIC, Status.IDLE, None, now
            rule = "it is starting" if self._is_starting(now) else "nothing said or shown lately"
            if not self._foreground.is_agent:
                source, status, rule = None, Status.ACTIVE, f"{self._foreground.name} is in the foreground"
        elif not id_ and self._at_prompt:
            source, status, kind, rule, at = Source.SHELL, Status.IDLE, None, "shell at its prompt", now
        else:
            source, status, kind, rule, at = None, Status.ACTIVE, None, "nothing known of this pane", now
        reason = Reason(source, rule, at, self._would_change(status, source))
        changed = claim.changed if claim is not None else now
        report = self._merged(record, claim)
        if status is Status.WAITING:
            kind = report.kind
        return Decision(status, kind, reason, changed, report, choice.losing)

    def _would_change(self, status: Status, source: Source | None) -> str:
        t = self.timing
        return what_would_change(status, source, silence_s=t.silence_s, stale_s=t.stale_s, fuse_s=t.fuse_s)

    def _merged(self, record: _Record, claim: Claim | None) -> Report:
        """The display fields of every claim, best source first, so that a session id outlives the next report."""
        best = claim.report if claim is not None else Report(source=Source.HEURISTIC, status=Status.ACTIVE)
        gaps: dict[str, object] = {}
        for source in sorted(record.claims, reverse=True):
            for name in ("agent", "session", "title", "project", "cwd", "worktree", "mode", "resume", "fork"):
                if not getattr(best, name) and name not in gaps and getattr(record.claims[source].report, name):
                    gaps[name] = getattr(record.claims[source].report, name)
        if not best.agent and "agent" not in gaps and self._foreground is not None and self._foreground.is_agent:
            gaps["agent"] = self._foreground.name
        if best.status is Status.WAITING:
            asked = record.claims.get(Source.SCREEN)
            if asked is not None and asked.status is Status.WAITING:
                gaps |= {name: getattr(asked.report, name) for name in ("message", "kind") if not getattr(best, name)}
                if best.source is Source.TITLE and asked.report.kind is not None:
                    gaps["kind"] = asked.report.kind  # one glyph stands for every dialog
        return attrs.evolve(best, **gaps) if gaps else best  # type: ignore[arg-type]

    def _target(self, now: float) -> Decision:
        self._deadlines = []
        root = self._decide("", now)
        if len(self._records) == 1:
            return root
        # A flood may keep hundreds of them: only the one that is shown is decided in full.
        children = [(*self._below(record, now), id_) for id_, record in self._records.items() if id_ and record.claims]
        busy = sum(status in (Status.WORKING, Status.BACKGROUND) for status, _, _ in children)
        if busy and root.status in (Status.DONE, Status.IDLE):
            reason = attrs.evolve(
                root.reason,
                rule=f"{busy} of its subagents still run",
                changes=what_would_change(Status.BACKGROUND, None),
            )
            report = attrs.evolve(root.report, status=Status.BACKGROUND, background=busy)
            root = attrs.evolve(root, status=Status.BACKGROUND, kind=None, reason=reason, report=report)
        asking = [child for child in children if child[0] in (Status.WAITING, Status.ERROR)]
        urgent = max(asking, key=lambda child: (urgency(child[0]), child[1]), default=None)
        if urgent is not None and urgency(urgent[0]) > urgency(root.status):
            return attrs.evolve(self._decide(urgent[2], now), losing=root.losing)
        return root

    def _below(self, record: _Record, now: float) -> tuple[Status, float]:
        """The status of a child, by its best source, and since when."""
        claim = record.claims[max(record.claims)]
        end = expires(claim, self.timing, self._last_output)
        if end is None:
            return claim.status, claim.changed
        if now >= end:
            return Status.IDLE, claim.changed
        self._deadlines.append(end)
        return claim.status, claim.changed

    def _settle(self, now: float) -> None:
        target = self._target(now)
        guess = self._records[""].claims.get(Source.HEURISTIC)
        if guess is not None and guess.status is Status.WORKING and self._last_output is not None:
            self._deadlines.append(self._last_output + self.timing.silence_s)
        if self._arrived is not None and self._is_starting(now):
            self._deadlines.append(self._start_ends)
        shown = self._shown
        self._pending = None
        if (target.status, target.kind) == (shown.status, shown.kind):
            self._shown = attrs.evolve(target, since=shown.since)
            return
        closes = None if self._changed_at is None else self._changed_at + self.timing.debounce_s
        if closes is not None and now < closes:
            self._pending = target
            self._deadlines.append(closes)
            return
        self._changed_at = now
        self._shown = attrs.evolve(target, since=now)


def _restated(claim: Claim, status: Status, rule: str) -> Claim:
    return attrs.evolve(claim, report=attrs.evolve(claim.report, status=status, rule=rule))
