"""
The tracker: one pane's records, and what is shown for them by the trust rules.

Reports, prompt marks, changes of the foreground, visible output and looks of a person go in, each with the
time in monotonic seconds; `decision` comes out, with its reason. No clock is read and nothing is written.
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
from tallylight.tracker.questions import Answers, View, answers, light
from tallylight.tracker.records import Records
from tallylight.tracker.startup import Startup, is_starting
from tallylight.wire import osc1338

#: A protocol report this much older than the first sight of its agent, in seconds, is taken to be that agent's:
#: a start hook is quicker than a poll.
ADOPT_S = 2.0
#: The end of the rule by which `done` is `idle`: somebody has looked.
SEEN = "; seen"
#: Who knows nothing of an agent's prompt.
_GUESSES = (None, Source.SHELL, Source.HEURISTIC)
_FOREGROUND_ONLY = (Source.PROGRESS, Source.TITLE, Source.PROCESS, Source.RECORD, Source.REGISTRY, Source.SCREEN)


def says_nothing() -> tuple[str, bool]:
    """Tell of a screen without a prompt what stands before it, and that this is no question."""
    return "", False


class Tracker:
    """One pane. Every method that takes *now* may change `decision`."""

    def __init__(self, timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        #: Who listens in: is told each report, when it came, and since when that is so.
        self.on_report: Callable[[Report, float, float], None] | None = None
        #: All that was said, by record and source.
        self.said = Records()
        self._foreground: Foreground | None = None
        self._explicit = False
        self._at_prompt = False
        self._last_output: float | None = None
        #: When the agent in the foreground came there.
        self._arrived = 0.0
        #: The start of the agent in the foreground, while that matters.
        self._start: Startup | None = None
        #: What is left to say of an agent that is gone.
        self.after_exit_claim: Claim | None = None
        #: Tells what stands before a prompt at the end of the screen, and whether that is a question.
        self.says: Callable[[], tuple[str, bool]] = says_nothing
        #: Until then nothing is shown of an agent that is gone: it is being looked up whether it exited on purpose.
        self.held_until = 0.0
        self._now: float | None = None
        self._deadlines: list[float] = []
        self._changed_at = float("-inf")
        #: A change that the debounce holds back; it takes effect when the window closes.
        self._pending: Decision | None = None
        #: Whether there is more to come before it is decided.
        self._is_receiving = False
        nothing = Reason(None, "nothing known of this pane", 0.0, what_would_change(Status.ACTIVE, None))
        self._shown = Decision(Status.ACTIVE, None, nothing, 0.0, Report(source=Source.SHELL, status=Status.ACTIVE))

    # What is shown -------------------------------------------------------------------------------------------

    @property
    def decision(self) -> Decision:
        """The light of the pane; a finished turn, an agent at its prompt and silence in the words a person wants."""
        shown, timing, word = self._shown, self.timing, self._shown.status
        if word is Status.DONE and self.after_exit_claim is None and not self._at_prompt:
            word = timing.done_is
        elif word is Status.IDLE and self._agent is not None and shown.reason.source not in _GUESSES:
            word = timing.idle_is
        elif word is Status.QUIET:
            word = timing.quiet_is
        return shown if word is shown.status else attrs.evolve(shown, status=word, kind=Kind.INPUT)

    def records(self, most: int | None = None) -> dict[str, Decision]:
        """Every record that has something to say, *most* of them at most, by its id path; the pane's own is `""`."""
        ids = itertools.islice(("", *(id_ for id_, _ in self.said.children)), most)
        return {id_: self._decide(id_, self._now or 0.0, []) for id_ in ids}

    @property
    def answers(self) -> Answers:
        """What is true of the pane itself: of its turn, of what is asked, and of the rest."""
        return answers(self.said.own, self._view(self._now or 0.0, of_child=False))

    def shown_by(self, sources: Collection[Source]) -> tuple[Status, Claim] | None:
        """What would be shown of the pane itself, and by whose word, if only *sources* spoke, and none were muted."""
        claims = {source: claim for source, claim in self.said.own.items() if source in sources}
        return light(answers(claims, self._view(self._now or 0.0, of_child=True)))

    def touch(self) -> None:
        """Count something that is told beside the records, such as the answers that a question takes."""
        self.said.revision += 1

    def deadline(self) -> float | None:
        """The time of the next `tick` that could change something; None if none could."""
        return min(self._deadlines, default=None)

    @property
    def wants_output(self) -> bool:
        """Whether visible output would be evidence here: not of an agent whose status file is read."""
        own = self.said.own
        works = (claim.status is Status.WORKING for claim in own.values())
        return Source.REGISTRY not in own and (self._agent is not None or any(works))

    @property
    def wants_screen(self) -> bool:
        """Whether what the screen says has a vote here, or its question would be shown: that is nowhere else."""
        has_vote = not self._explicit and Source.REGISTRY not in self.said.own
        return self._agent is not None and (has_vote or self._shown.status is Status.WAITING)

    # What goes in --------------------------------------------------------------------------------------------

    def report(self, report: Report, now: float, since: float = math.inf) -> None:
        """
        Take in what a source says, and *since* when that is so, if not from now on.

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
            screen = self.said.own.get(Source.SCREEN) if source is Source.SCREEN else None
            is_again = screen is not None and screen.report is report
            self._take(report, now, since)
            if screen is not None:
                if is_again and self._shown.reason.source is source:
                    return  # what is shown is seen again
                if screen.status is Status.WAITING and report.status is not Status.WAITING:
                    # The agent that took the dialog away goes on; that it stood still before is no silence.
                    self._last_output = now
                    self._guess(Status.WORKING, None, "its dialog is gone", now)
        self._settle(now)

    def _take(self, report: Report, now: float, since: float) -> None:
        source, is_goodbye = report.source, report.status is None
        # A goodbye is explicit too: no guess lights an agent that has just exited.
        self._explicit |= source is Source.PROTOCOL or (source is Source.REGISTRY and is_goodbye)
        if source is Source.PROTOCOL:
            self._at_prompt = False
            # A subagent's end may be told after its agent's.
            self.after_exit_claim = self.after_exit_claim if report.id else None
        if is_goodbye:
            self.said.goodbye(report.id, source, since)
            last = self._pending or self._shown
            if report.rule == osc1338.EXIT and last.status is Status.WAITING:  # it has ended, and has not said this
                self.after_exit_claim = after_exit.summarise_exit(last, now, was_agent=True, is_gone=True)
            return
        if self._start is not None:
            self._start.has_spoken = True
        self.said.claim(report, now, since)

    def together(self, calls: Iterable[Callable[[float], object]], now: float) -> None:
        """Make *calls*, each of which tells this tracker something at *now*, and decide once for all of them."""
        self._is_receiving = True
        try:
            for call in calls:
                call(now)
        finally:
            self._is_receiving = False
            self._settle(self._advance(now))

    def output(self, now: float, *, has_started: bool = False) -> None:
        """
        The agent wrote something visible that was not the echo of typing.

        *has_started*: a sign that is no status, such as a progress bar, shows that it is up and does something.
        """
        now = self._advance(now)
        self._last_output = now
        if has_started:
            self._start = None
        if self._start is not None:
            self._start.output(now)
        if self._agent is not None and not is_starting(self._start, now):
            self._guess(Status.WORKING, None, "output", now)
            # A notification raises attention and knows of no answer; that the agent goes on is one.
            self.said.withdraw("", Source.NOTIFICATION)
        self._settle(now)

    def blank(self, now: float) -> None:
        """The screen of the agent has no text: one that has not drawn any is still starting."""
        if self._start is not None:
            self._start.blank(self._advance(now))
            if is_starting(self._start, now):
                self.said.withdraw("", Source.HEURISTIC)
                self._settle(now)

    def foreground(self, foreground: Foreground | None, now: float, *, is_gone: bool = True) -> None:
        """
        *foreground* holds the pane's foreground now; None for a shell or any plain command.

        *is_gone* tells whether the one that held it before has ended: one that was merely stopped is not down.
        """
        now = self._advance(now)
        before = self._foreground
        if foreground == before:
            return
        is_same = foreground is not None and before is not None and foreground == attrs.evolve(before, speaks=True)
        if before is not None and not is_same:
            # Keep what a person has yet to learn of it, drop the rest.
            last = self._pending or self._shown
            self._start = None
            self._forget()
            if not before.is_candidate or last.reason.source is Source.PROTOCOL:
                self.after_exit_claim = after_exit.summarise_exit(last, now, was_agent=before.is_agent, is_gone=is_gone)
        self._foreground = foreground
        if is_same:
            self._known_to_speak(now)
        elif foreground is not None:
            self.after_exit_claim, self._at_prompt = None, False
            if foreground.is_agent:
                self._agent_started(foreground, now)
        self._settle(now)

    def command_end(self, exit_code: int | None, now: float) -> None:
        """A command of the shell ended (OSC 133 D), or its prompt appeared: whatever ran has ended."""
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
        self._settle(now)

    def command_start(self, now: float) -> None:
        """A command of the shell started (OSC 133 C): a person typed, so everything older is old news."""
        now = self._advance(now)
        if self._foreground is not None:
            return
        self._forget()
        self.after_exit_claim, self._at_prompt = None, False
        self._settle(now)

    def seen(self, now: float, *, is_so: bool = True) -> None:
        """
        A person had a look. `done` is old news then, and an ended agent needs no light; `waiting` stays.

        Not *is_so*: they want to come back to this, and what was `done` before the look is `done` again.
        """
        now = self._advance(now)
        if is_so:
            self.after_exit_claim = None
        if not is_so or self.timing.done_is is Status.DONE:
            self.said.seen(is_so=is_so)
        self._settle(now)

    def tick(self, now: float) -> None:
        """Let time pass: silence, decay, debounce."""
        now = self._advance(now)
        if self._start is not None and not is_starting(self._start, now):
            self._start = None
            if not self.said.own:
                self._guess(Status.WORKING, None, "it came to the foreground", now)
        guess = self.said.own.get(Source.HEURISTIC)
        if guess is not None and guess.status is Status.WORKING:
            since = self._last_output if self._last_output is not None else guess.at
            if now - since >= self.timing.silence_s:
                says, is_question = self.says()
                status, kind = (Status.WAITING, Kind.INPUT) if is_question else (Status.QUIET, None)
                self._guess(status, kind, f"{self.timing.silence_s:g} s of silence", now, says)
        self._settle(now)

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which neither the agents nor we could run (suspend, SIGSTOP): they do not count."""
        self.said.pause(seconds)
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

    # How it is decided ---------------------------------------------------------------------------------------

    def _advance(self, now: float) -> float:
        if self._now is None:
            self._now = now
            self._shown = attrs.evolve(self._shown, since=now)
        self._now = max(self._now, now)
        return self._now

    @property
    def _agent(self) -> Foreground | None:
        """The agent in the foreground."""
        return self._foreground if self._foreground is not None and self._foreground.is_agent else None

    def _guess(self, status: Status, kind: Kind | None, rule: str, now: float, says: str = "") -> None:
        if self._foreground is None or not self._foreground.is_candidate:
            guess = Report(source=Source.HEURISTIC, status=status, kind=kind, rule=rule, message=says)
            self.said.claim(guess, now)

    def _agent_started(self, foreground: Foreground, now: float) -> None:
        """A new agent came to the foreground: what was said before is not about it, except for its own first words."""
        own = self.said.own.get(Source.PROTOCOL)
        self._forget()
        if own is not None and now - own.at <= ADOPT_S:
            self.said.own[Source.PROTOCOL] = own
            self._explicit = True
        self._last_output = self._arrived = now
        self._start = Startup(now, foreground.speaks, has_spoken=Source.PROTOCOL in self.said.own)
        if not is_starting(self._start, now):
            # It drew something, or it would not be there; without this, one that is silent would never wait.
            self._guess(Status.WORKING, None, "it came to the foreground", now)

    def _known_to_speak(self, now: float) -> None:
        """The agent in the foreground speaks for itself, which was not known at its start: that is judged again."""
        has_spoken = any(source is not Source.HEURISTIC for source in self.said.own)
        drew = self._last_output if self._last_output != self._arrived else None
        self._start = Startup(self._arrived, True, has_spoken, drew)
        if is_starting(self._start, now):
            self.said.withdraw("", Source.HEURISTIC)

    def _forget(self) -> None:
        self.said.forget()
        self._last_output = None
        if self.timing.explicit_lasts == "agent":
            self._explicit = False

    def _view(self, now: float, *, of_child: bool) -> View:
        return View(self.timing, now, self._last_output, self._explicit and not of_child)

    def _decide(self, id_: str, now: float, deadlines: list[float]) -> Decision:
        """Decide one record, and note in *deadlines* when that may come out differently."""
        claims = self.said[id_]
        found = answers(claims, self._view(now, of_child=bool(id_)))
        deadlines += found.deadlines
        shown, ended = light(found), self.after_exit_claim
        if shown is None and ended is not None and not id_ and now >= self.held_until:
            shown = ended.status, ended
        claim = shown[1] if shown is not None else None
        report = merged(claims, claim, self._agent.name if self._agent is not None else "", self.said.answered_sequence)
        if shown is None or claim is None:
            holder, at_prompt = (None, False) if id_ else (self._foreground, self._at_prompt)
            source, status, rule = unclaimed(holder, is_starting=is_starting(self._start, now), at_prompt=at_prompt)
            kind, at, since = None, now, now
        else:
            source, status, at, since = claim.report.source, shown[0], claim.at, claim.since
            is_seen = SEEN if status is not claim.report.status else ""
            rule = f"{claim.report.rule or source.word}{is_seen}"
            kind = report.kind if status is Status.WAITING else claim.report.kind if status is Status.DONE else None
        reason = Reason(source, rule, at, what_would_change(status, source, self.timing))
        confirmed = confirmed_kind(claims, self.said.answered_sequence) if status is Status.WAITING else None
        return Decision(status, kind, reason, since, report, confirmed_kind=confirmed)

    def _target(self, now: float) -> Decision:
        self._deadlines = []
        root = self._decide("", now, self._deadlines)
        if len(self.said) == 1:
            return root
        # A flood may keep hundreds of them: only the one that is shown is decided in full.
        view = self._view(now, of_child=True)
        busy, urgent = subagents.survey(root, self.said.children, view, self._deadlines)
        if not urgent:
            return subagents.in_background(root, busy)
        shown = self._decide(urgent, now, self._deadlines)
        return subagents.in_place_of(root, shown, self.said.own.get(Source.SCREEN), self.said.answered_sequence)

    def _settle(self, now: float) -> None:
        if self._is_receiving:
            return
        target = self._target(now)
        self.said.decided(target.status)
        guess = self.said.own.get(Source.HEURISTIC)
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
