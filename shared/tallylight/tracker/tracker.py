"""
The tracker: it keeps one pane's records and decides by the trust rules which status the pane shows.

Its inputs are reports, prompt marks, changes of the foreground, visible output and looks of a person. Each comes with
the time in monotonic seconds. Its output is `decision`, with a reason. It reads no clock and writes nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable

import attrs

from tallylight.model.decision import Decision, Reason, what_would_change
from tallylight.model.report import Report, Source
from tallylight.model.status import NEEDS_PERSON, Kind, Status
from tallylight.model.timing import Timing
from tallylight.tracker import after_exit, subagents
from tallylight.tracker.claims import Claim, confirmed_kind, merged
from tallylight.tracker.foreground import Foreground, unclaimed
from tallylight.tracker.questions import Answers, Circumstances, answers, light
from tallylight.tracker.records import Records
from tallylight.tracker.startup import Startup, is_starting
from tallylight.wire import osc1338

#: A protocol report may be older than the first sight of its agent by so many seconds: a start hook beats a poll.
ADOPT_S = 2.0
#: The end of the rule of a `done` that shows as `idle` because a person has looked.
SEEN = "; seen"
#: Sources that know nothing of an agent's prompt.
_NO_PROMPT_KNOWN = (None, Source.SHELL, Source.HEURISTIC)
#: Sources that count only for the agent in the foreground.
_FOREGROUND_ONLY = (Source.PROGRESS, Source.TITLE, Source.PROCESS, Source.RECORD, Source.REGISTRY, Source.SCREEN)


def no_prompt() -> tuple[str, bool]:
    """Return no text and no question: the reading of a screen without a prompt."""
    return "", False


class Tracker:
    """Decides the status of one pane. Every method that takes *now* may change `decision`."""

    def __init__(self, timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        #: Called with each report, the time at which it came, and the time since when it is true.
        self.on_report: Callable[[Report, float, float], None] | None = None
        #: All current claims, by record and source.
        self.claims = Records()
        self._foreground: Foreground | None = None
        self._explicit = False
        self._at_prompt = False
        self._last_output: float | None = None
        #: When the agent came to the foreground.
        self._arrived = 0.0
        #: The start of the agent in the foreground, while it may still be starting.
        self._start: Startup | None = None
        #: The claim that the pane still shows of an agent that has left.
        self.after_exit_claim: Claim | None = None
        #: Reads the screen: the text before a prompt at its end, and whether that is a question.
        self.read_prompt: Callable[[], tuple[str, bool]] = no_prompt
        #: Until then `after_exit_claim` is not shown: a host is looking up whether the agent exited on purpose.
        self.held_until = 0.0
        self._now: float | None = None
        self._deadlines: list[float] = []
        self._changed_at = float("-inf")
        #: A change that the debounce holds back until its window closes.
        self._pending: Decision | None = None
        #: While True nothing is decided: `together` has more calls to make.
        self._is_receiving = False
        nothing = Reason(None, "nothing known of this pane", 0.0, what_would_change(Status.ACTIVE, None))
        self._shown = Decision(Status.ACTIVE, None, nothing, 0.0, Report(source=Source.SHELL, status=Status.ACTIVE))

    # Output --------------------------------------------------------------------------------------------------

    @property
    def decision(self) -> Decision:
        """
        The light of the pane, with the person's settings applied.

        Settings say which status a finished turn, an agent at its prompt and silence have.
        """
        shown, timing, word = self._shown, self.timing, self._shown.status
        if word is Status.DONE and self.after_exit_claim is None and not self._at_prompt:
            word = timing.done_is
        elif word is Status.IDLE and self._agent is not None and shown.reason.source not in _NO_PROMPT_KNOWN:
            word = timing.idle_is
        elif word is Status.QUIET:
            word = timing.quiet_is
        return shown if word is shown.status else attrs.evolve(shown, status=word, kind=Kind.INPUT)

    def records(self, most: int | None = None) -> dict[str, Decision]:
        """Return a decision for each record, at most *most* of them, by id path. The pane's own path is `""`."""
        ids = itertools.islice(("", *(id_ for id_, _ in self.claims.children)), most)
        return {id_: self._decide(id_, self._now or 0.0, []) for id_ in ids}

    @property
    def answers(self) -> Answers:
        """The answers about the pane itself: its turn, its question, and its background work."""
        return answers(self.claims.own, self._view(self._now or 0.0, of_child=False))

    def shown_by(self, sources: Collection[Source]) -> tuple[Status, Claim] | None:
        """
        Return the status and the claim that the pane would show if only *sources* had reported; None if none has.

        Guesses count here even where the agent reports for itself.
        """
        claims = {source: claim for source, claim in self.claims.own.items() if source in sources}
        return light(answers(claims, self._view(self._now or 0.0, of_child=True)))

    def touch(self) -> None:
        """Count a change outside the records, such as new choices of a question, so that a host publishes it."""
        self.claims.revision += 1

    def deadline(self) -> float | None:
        """Return when the next `tick` could change something; None if none could."""
        return min(self._deadlines, default=None)

    @property
    def wants_output(self) -> bool:
        """Return whether visible output would be evidence here. It is none for an agent with a status file."""
        own = self.claims.own
        works = (claim.status is Status.WORKING for claim in own.values())
        return Source.REGISTRY not in own and (self._agent is not None or any(works))

    @property
    def wants_screen(self) -> bool:
        """Return whether the screen is worth reading: it has a vote here, or the text of the question is only there."""
        has_vote = not self._explicit and Source.REGISTRY not in self.claims.own
        return self._agent is not None and (has_vote or self._shown.status is Status.WAITING)

    # Input ---------------------------------------------------------------------------------------------------

    def report(self, report: Report, now: float, since: float = math.inf) -> None:
        """
        Take in a report. *since* is when it became true, if that was before *now*.

        Titles, screens, status files and records count only for the agent in the foreground.
        """
        now = self._advance(now)
        if self.on_report is not None:
            self.on_report(report, now, since)
        source, since = report.source, min(since, now)
        if source in _FOREGROUND_ONLY and self._agent is None:
            if source is not Source.REGISTRY or report.status is not None:
                return
            self.after_exit_claim = after_exit.taken_back(self.after_exit_claim)
        else:
            screen = self.claims.own.get(Source.SCREEN) if source is Source.SCREEN else None
            is_again = screen is not None and screen.report is report
            self._take(report, now, since)
            if screen is not None:
                if is_again and self._shown.reason.source is source:
                    return  # the screen confirms the status that is already shown
                if screen.status is Status.WAITING and report.status is not Status.WAITING:
                    # The agent closed its dialog, so it works. The time it waited does not count as silence.
                    self._last_output = now
                    self._report_guess(Status.WORKING, None, "its dialog is gone", now)
        self._update_decision(now)

    def _take(self, report: Report, now: float, since: float) -> None:
        """Take in *report*, or the exit that it reports, in place of the earlier claim of its source."""
        source, is_goodbye = report.source, report.status is None
        # A goodbye is explicit too: no guess lights an agent that has just exited.
        is_told = source is Source.PROTOCOL and report.status is not Status.ACTIVE
        self._explicit |= is_told or (source is Source.REGISTRY and is_goodbye)
        if source is Source.PROTOCOL:
            self._at_prompt = False
            # A subagent may report its end after its agent has.
            self.after_exit_claim = self.after_exit_claim if report.id else None
        if is_goodbye:
            self.claims.goodbye(report.id, source, since)
            last = self._pending or self._shown
            if report.rule == osc1338.EXIT and last.status is Status.WAITING:  # it ended with an open question
                self.after_exit_claim = after_exit.summarise_exit(last, now, was_agent=True, is_gone=True)
            return
        if self._start is not None:
            self._start.has_spoken = True
        self.claims.claim(report, now, since)

    def together(self, calls: Iterable[Callable[[float], object]], now: float) -> None:
        """Make *calls*, which may change this tracker at *now*, and decide once after the last of them."""
        self._is_receiving = True
        try:
            for call in calls:
                call(now)
        finally:
            self._is_receiving = False
            self._update_decision(self._advance(now))

    def output(self, now: float, *, has_started: bool = False) -> None:
        """
        Take in that the agent wrote something visible which was not the echo of typing.

        *has_started* ends its start-up: a sign such as a progress bar shows that it is up.
        """
        now = self._advance(now)
        self._last_output = now
        if has_started:
            self._start = None
        if self._start is not None:
            self._start.output(now)
        if self._agent is not None and not is_starting(self._start, now):
            self._report_guess(Status.WORKING, None, "output", now)
            # A notification is never taken back by its sender. Output shows that the question was answered.
            self.claims.withdraw("", Source.NOTIFICATION)
        self._update_decision(now)

    def blank(self, now: float) -> None:
        """Take in that the agent's screen has no text: an agent that has drawn none is still starting."""
        if self._start is not None:
            self._start.blank(self._advance(now))
            if is_starting(self._start, now):
                self.claims.withdraw("", Source.HEURISTIC)
                self._update_decision(now)

    def foreground(self, foreground: Foreground | None, now: float, *, is_gone: bool = True) -> None:
        """
        Take in that *foreground* holds the pane's foreground now; None for a shell or a plain command.

        *is_gone*: the holder before has ended. A holder that was only stopped is not `down`.
        """
        now = self._advance(now)
        before = self._foreground
        if foreground == before:
            return
        is_same = foreground is not None and before is not None and foreground == attrs.evolve(before, speaks=True)
        if before is not None and not is_same:
            # Keep the end of its turn for a person who has not seen it, drop the rest.
            last = self._pending or self._shown
            self._start = None
            self._forget()
            if not before.is_candidate or last.reason.source is Source.PROTOCOL:
                self.after_exit_claim = after_exit.summarise_exit(last, now, was_agent=before.is_agent, is_gone=is_gone)
        self._foreground = foreground
        if is_same:
            self._note_that_agent_speaks(now)
        elif foreground is not None:
            self.after_exit_claim, self._at_prompt = None, False
            if foreground.is_agent:
                self._agent_started(foreground, now)
        self._update_decision(now)

    def command_end(self, exit_code: int | None, now: float) -> None:
        """Take in that a command of the shell ended (OSC 133 D), or that its prompt appeared."""
        now = self._advance(now)
        if self.after_exit_claim is not None:
            self.after_exit_claim = after_exit.corrected(self.after_exit_claim, exit_code, now)
        if self._foreground is not None:
            return  # some agents draw prompt marks around their own messages
        last = self._pending or self._shown
        if self.after_exit_claim is None and last.status in NEEDS_PERSON:
            self.after_exit_claim = after_exit.summarise_exit(last, now, was_agent=True, is_gone=True)
        self._forget()
        self._at_prompt = True
        self._update_decision(now)

    def command_start(self, now: float) -> None:
        """Take in that a command of the shell started (OSC 133 C): a person typed, so older claims are dropped."""
        now = self._advance(now)
        if self._foreground is not None:
            return
        self._forget()
        self.after_exit_claim, self._at_prompt = None, False
        self._update_decision(now)

    def seen(self, now: float, *, is_so: bool = True) -> None:
        """
        Take in that a person has looked: `done` becomes `idle`, the light of an ended agent goes, `waiting` stays.

        With *is_so* False the person marked the pane to come back to it: `done` before the look is `done` again.
        """
        now = self._advance(now)
        if is_so:
            self.after_exit_claim = None
        if not is_so or self.timing.done_is is Status.DONE:
            self.claims.seen(is_so=is_so)
        self._update_decision(now)

    def tick(self, now: float) -> None:
        """Let time pass: silence, decay, debounce."""
        now = self._advance(now)
        if self._start is not None and not is_starting(self._start, now):
            self._start = None
            if all(claim.status is Status.ACTIVE for claim in self.claims.own.values()):
                self._report_guess(Status.WORKING, None, "it came to the foreground", now)
        guess = self.claims.own.get(Source.HEURISTIC)
        if guess is not None and guess.status is Status.WORKING:
            since = self._last_output if self._last_output is not None else guess.at
            if now - since >= self.timing.silence_s:
                says, is_question = self.read_prompt()
                status, kind = (Status.WAITING, Kind.INPUT) if is_question else (Status.QUIET, None)
                self._report_guess(status, kind, f"{self.timing.silence_s:g} s of silence", now, says)
        self._update_decision(now)

    def pause(self, seconds: float) -> None:
        """Shift all times by *seconds* in which neither the agent nor the host ran (suspend, SIGSTOP)."""
        self.claims.pause(seconds)
        self._arrived += seconds
        self._changed_at += seconds
        self._deadlines = [at + seconds for at in self._deadlines]
        if self.after_exit_claim is not None:
            self.after_exit_claim.shift(seconds)
        if self.held_until > (self._now or 0.0):
            self.held_until += seconds
        if self._last_output is not None:
            self._last_output += seconds
        if self._start is not None:
            self._start.pause(seconds)

    # Deciding ------------------------------------------------------------------------------------------------

    def _advance(self, now: float) -> float:
        """Return *now*, or the latest time so far if that is later: time never goes back."""
        if self._now is None:
            self._now = now
            self._shown = attrs.evolve(self._shown, since=now)
        self._now = max(self._now, now)
        return self._now

    @property
    def _agent(self) -> Foreground | None:
        """The agent in the foreground; None if the foreground is no agent's."""
        return self._foreground if self._foreground is not None and self._foreground.is_agent else None

    def _report_guess(self, status: Status, kind: Kind | None, rule: str, now: float, says: str = "") -> None:
        """Take in a guess of ours about the agent in the foreground; none about a candidate."""
        if self._foreground is None or not self._foreground.is_candidate:
            guess = Report(source=Source.HEURISTIC, status=status, kind=kind, rule=rule, message=says)
            self.claims.claim(guess, now)

    def _agent_started(self, foreground: Foreground, now: float) -> None:
        """Forget all claims but a protocol report of the last `ADOPT_S` seconds: that is the new agent's own."""
        own = self.claims.own.get(Source.PROTOCOL)
        self._forget()
        if own is not None and now - own.at <= ADOPT_S:
            self.claims.own[Source.PROTOCOL] = own
            self._explicit = own.status is not Status.ACTIVE
        self._last_output = self._arrived = now
        self._start = Startup(now, foreground.speaks, has_spoken=Source.PROTOCOL in self.claims.own)
        if not is_starting(self._start, now):
            # Without a guess here an agent that stays silent would never become `quiet`.
            self._report_guess(Status.WORKING, None, "it came to the foreground", now)

    def _note_that_agent_speaks(self, now: float) -> None:
        """Judge the start of the agent in the foreground again: it is known only now that it reports its status."""
        has_spoken = any(source is not Source.HEURISTIC for source in self.claims.own)
        drew = self._last_output if self._last_output != self._arrived else None
        self._start = Startup(self._arrived, True, has_spoken, drew)
        if is_starting(self._start, now):
            self.claims.withdraw("", Source.HEURISTIC)

    def _forget(self) -> None:
        """Drop all claims: another program holds the foreground, or its user has begun something else."""
        self.claims.forget()
        self._last_output = None
        if self.timing.explicit_lasts == "agent":
            self._explicit = False

    def _view(self, now: float, *, of_child: bool) -> Circumstances:
        return Circumstances(self.timing, now, self._last_output, self._explicit and not of_child)

    def _decide(self, id_: str, now: float, deadlines: list[float]) -> Decision:
        """Decide one record, and add to *deadlines* the times at which the result may change by itself."""
        claims = self.claims[id_]
        found = answers(claims, self._view(now, of_child=bool(id_)))
        deadlines += found.deadlines
        shown, ended = light(found), self.after_exit_claim
        if shown is None and ended is not None and not id_ and now >= self.held_until:
            shown = ended.status, ended
        claim = shown[1] if shown is not None else None
        report = merged(
            claims, claim, self._agent.name if self._agent is not None else "", self.claims.answered_sequence
        )
        if shown is None or claim is None:
            holder, at_prompt = (None, False) if id_ else (self._foreground, self._at_prompt)
            source, status, rule = unclaimed(holder, is_starting=is_starting(self._start, now), at_prompt=at_prompt)
            kind, at, since = None, now, now
        else:
            source, status, at, since = claim.report.source, shown[0], claim.at, claim.since
            is_seen = SEEN if claim.report.status not in (status, Status.ACTIVE) else ""
            rule = f"{claim.report.rule or source.word}{is_seen}"
            kind = report.kind if status is Status.WAITING else claim.report.kind if status is Status.DONE else None
        reason = Reason(source, rule, at, what_would_change(status, source, self.timing))
        confirmed = confirmed_kind(claims, self.claims.answered_sequence) if status is Status.WAITING else None
        return Decision(status, kind, reason, since, report, confirmed_kind=confirmed)

    def _new_decision(self, now: float) -> Decision:
        """
        Return the decision that the records give now: that of the pane, or that of the child that shows in its place.
        """
        self._deadlines = []
        root = self._decide("", now, self._deadlines)
        if len(self.claims) == 1:
            return root
        # A flood may leave hundreds of children: only the child that is shown is decided in full.
        view = self._view(now, of_child=True)
        busy, urgent = subagents.survey(root, self.claims.children, view, self._deadlines)
        if not urgent:
            return subagents.in_background(root, busy)
        shown = self._decide(urgent, now, self._deadlines)
        return subagents.in_place_of(root, shown, self.claims.own.get(Source.SCREEN), self.claims.answered_sequence)

    def _update_decision(self, now: float) -> None:
        """Decide again. Show the result, or hold it back until the debounce is over."""
        if self._is_receiving:
            return
        target = self._new_decision(now)
        self.claims.decided(target.status)
        guess = self.claims.own.get(Source.HEURISTIC)
        if guess is not None and guess.status is Status.WORKING and self._last_output is not None:
            self._deadlines.append(self._last_output + self.timing.silence_s)
        if self._start is not None and is_starting(self._start, now):
            self._deadlines.append(self._start.ends)
        if self.after_exit_claim is not None and now < self.held_until:
            self._deadlines.append(self.held_until)
        shown = self._shown
        self._pending = None
        if (target.status, target.kind) == (shown.status, shown.kind):
            self._shown = attrs.evolve(target, since=shown.since)
            return
        if now < (closes := self._changed_at + self.timing.debounce_s):
            self._pending = target
            self._deadlines.append(closes)
        else:
            self._changed_at, self._shown = now, attrs.evolve(target, since=now)
