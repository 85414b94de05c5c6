"""
Once: a question is answered once, however often keys are pressed before the agent has drawn anything else.

A turn is interrupted once too, until it has ended or `RETRY_INTERRUPT_S` have passed: a second Escape would open a
menu. Two dialogs that look the same have the same fingerprint, so a second answer to the first would be taken for one
to the second. An answer is noted before it is typed (`actions.answered`). Any surface or process that answers it again
is refused by the rule `answered`, until the screen was seen to show something else.

It waits for that for a moment, with `settle_s`; where nothing may wait, as on kitty's main thread, the host calls
`look`. An answer that came together with something new on the screen is not decided. It is compared again until it is,
for `HOLD_STILL_S` at most. Meanwhile the question is taken: another answer to it is refused. Where nothing may wait,
the caller gets None, and asks again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Occupant, Question, Seen, Typist, dialog_of, holder
from tallylight.actions.answered import Agent, InProcess, Note, OnDisk
from tallylight.actions.gate import Refusal, refuses
from tallylight.actions.say import Busy, Interrupt, Say
from tallylight.evidence.fingerprint import fingerprint
from tallylight.model.errors import TallyError
from tallylight.wire.styled import StyledScreen
from tallylight.wire.styled import read_screen as read_styled

#: Seconds that a program has to draw something else after keys, and seconds between two looks at that.
KEYS_SETTLE_S, WATCH_KEYS_S = 1.0, 0.05
#: Seconds between two later looks at a program that was slower than that.
LATE_LOOK_S = 0.5
#: Seconds in which the screen has to hold still for an answer.
HOLD_STILL_S = 1.0
#: Seconds until an undecided answer is compared again, where nothing may wait.
DECIDE_S = 0.03
#: Seconds after which an agent that still works may be interrupted again: it has missed the key.
RETRY_INTERRUPT_S = 5.0
_ANSWERED = Refusal("answered", "it was already answered and has not continued since; nothing was typed")
_RESTLESS = Refusal("changed", f"the screen kept changing for {HOLD_STILL_S:g} s; nothing was typed")
_INTERRUPTED = Refusal("answered", "it was interrupted a moment ago and has not stopped yet; nothing was typed")
#: The fingerprint of an interruption; no dialog's fingerprint has this form.
_TURN = "turn"


@attrs.frozen
class FrozenTypist:
    """A pane that always shows *seen* and types nothing: it finds out what would be refused."""

    seen: Seen

    def see(self) -> Seen:
        return self.seen

    def screen(self) -> StyledScreen:
        """Return its colours as far as they were seen."""
        return self.seen.styled or read_styled(self.seen.look.lines, self.seen.look.columns)

    def press(self, keys: str, seen: Seen | None = None) -> bool:  # noqa: ARG002 - nothing is typed
        """Type nothing, and report that it was typed."""
        return True

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:  # noqa: ARG002 - nothing is typed
        """Type nothing, and report that it was typed."""
        return True


class Once:
    """
    Lets each question be answered, and each turn be interrupted, once, by *notes*.

    *settle_s*: seconds to wait after typing until the screen shows something else. Several threads may use it, each
    pane one at a time.
    """

    def __init__(self, settle_s: float, notes: InProcess | OnDisk) -> None:
        self._settle_s, self._notes = settle_s, notes
        #: Undecided answers and texts, each since when in monotonic seconds.
        self._undecided: dict[Answer | Say, float] = {}

    def look(self, typist: Typist) -> Seen | Refusal:
        """Look at a pane, and forget its last answer if the agent is seen to continue."""
        began = time.monotonic_ns()
        seen = refuses(answers.see_styled)(typist)
        if isinstance(seen, Seen) and isinstance(held := holder(FrozenTypist(seen)), Occupant):
            agent = (held.pane, held.pid, held.start)
            note = self._notes.read(agent)
            # The look does not show the effect of an answer that was noted during it.
            if note is not None and note.at < began and _is_over(note, seen, began):
                self._notes.forget(agent, note)
        return seen

    def is_pending(self, given: Answer) -> bool:
        """Return whether *given* was typed, and its screen has not been seen to show anything else since."""
        note = self._notes.read(_agent_of(given))
        return note is not None and note.fingerprint == given.fingerprint

    def is_still_shown(self, typist: Typist, given: Answer) -> bool:
        """Look again; return whether *given* was typed, and its agent is still there and has drawn nothing else."""
        now = self.look(typist)
        return self.is_pending(given) and not _has_left(now, given)

    def ask(self, typist: Typist) -> Question | Refusal:
        """Look, and return the question of the pane now."""
        seen = self.look(typist)
        return answers.ask(FrozenTypist(seen)) if isinstance(seen, Seen) else seen

    def answer(
        self, typist: Typist, given: Answer, unfit: Callable[[Seen], Refusal | None] = answers.refuse_nothing
    ) -> Done | Refusal | None:
        """Type the choice, if everything is as it was shown, not *unfit*, and not yet answered; None: ask again."""

        def act() -> Done | Refusal | None:
            return answers.answer(typist, given, lambda seen: unfit(seen) or self._note(given))

        return self._decide(given, lambda: self._act_once(typist, given, act))

    def prompt_agent(self, typist: Typist) -> Occupant | Busy | Refusal:
        """Return the agent that would take text at its prompt now, or is busy."""
        seen = self.look(typist)
        return says.prompt_agent(FrozenTypist(seen)) if isinstance(seen, Seen) else seen

    def say(
        self, typist: Typist, given: Say, unfit: Callable[[Seen], Refusal | None] = answers.refuse_nothing
    ) -> Done | Refusal | None:
        """
        Type the text if the agent takes text now; into a dialog that asks for text once, and if not *unfit*.

        None: ask again.
        """
        if not given.fingerprint:
            return self._decide(given, lambda: self._act_once(typist, None, lambda: says.say(typist, given)))
        asked = Answer(given.pane, given.pid, given.start, given.fingerprint, 0)

        def act() -> Done | Refusal | None:
            return says.say(typist, given, lambda seen: unfit(seen) or self._note(asked))

        return self._decide(given, lambda: self._act_once(typist, asked, act))

    def interrupt(self, typist: Typist, given: Interrupt) -> Done | Refusal:
        """Press the agent's key to stop, if it works."""
        turn = Answer(given.pane, given.pid, given.start, _TURN, 0)
        done = self._act_once(typist, turn, lambda: says.interrupt(typist, given, lambda _: self._note(turn)))
        assert done is not None
        return done

    def _decide(self, asked: Answer | Say, act: Callable[[], Done | Refusal | None]) -> Done | Refusal | None:
        """
        Return the result of *act*; wait until it has decided if this may wait, and refuse one that takes too long.
        """
        while True:
            now = time.monotonic()
            for one, since in list(self._undecided.items()):
                if now - since >= 2 * HOLD_STILL_S:  # whoever asked for it has gone
                    self._undecided.pop(one, None)
                elif one != asked and asked.fingerprint and _question_of(one) == _question_of(asked):
                    return _ANSWERED
            since = self._undecided.setdefault(asked, now)
            done = act()
            if done is None and now - since >= HOLD_STILL_S:
                done = _RESTLESS
            if done is not None:
                self._undecided.pop(asked, None)
                return done
            if not self._settle_s:
                return None
            time.sleep(WATCH_KEYS_S)

    def _act_once(
        self, typist: Typist, given: Answer | None, act: Callable[[], Done | Refusal | None]
    ) -> Done | Refusal | None:
        """Call *act* unless *given* was answered already, and wait for its effect."""
        before = self.look(typist)
        if isinstance(before, Refusal):
            return before
        if given is not None and self.is_pending(given):
            return _refusal_of_repeat(given)
        done = act()
        if isinstance(done, Done):
            self._wait_for_effect(typist, before, given)
        elif done is None and given is not None:
            self._forget_note(given)
        return done

    def _note(self, given: Answer) -> Refusal | None:
        """Note that *given* is typed now; return why it may not be, if so."""
        try:
            return None if self._notes.add(_agent_of(given), given.fingerprint) else _refusal_of_repeat(given)
        except TallyError as error:
            return Refusal("answered", f"the answer cannot be recorded, so nothing was typed: {error}")

    def _forget_note(self, given: Answer) -> None:
        """Forget the note of keys that were not typed."""
        note = self._notes.read(_agent_of(given))
        if note is not None and note.fingerprint == given.fingerprint:
            self._notes.forget(_agent_of(given), note)

    def _wait_for_effect(self, typist: Typist, before: Seen, given: Answer | None) -> None:
        """Wait, but not long, until the screen differs from the answered one, or from *before*."""
        end = time.monotonic() + self._settle_s
        while time.monotonic() < end:
            if given is not None:
                if not self.is_still_shown(typist, given):
                    return
            elif isinstance(now := self.look(typist), Refusal) or now.look.lines != before.look.lines:
                return
            time.sleep(WATCH_KEYS_S)


def until_decided(
    act: Callable[[], Any], then: Callable[[Any], None], later: Callable[[Callable[..., None]], object]
) -> None:
    """Call *act* now, and by *later* again while it returns None; call *then* with its result."""

    def again(*_: object) -> None:
        if (said := act()) is not None:
            then(said)
        else:
            later(again)

    again()


def _has_left(now: Seen | Refusal, given: Answer) -> bool:
    """Return whether the agent that was answered is not in the foreground of its pane any more."""
    if isinstance(now, Refusal):
        return now.rule == "gone"
    return answers.check_process(now, *_agent_of(given)) is not None


def _agent_of(given: Answer) -> Agent:
    """Return the pane and the process that *given* is for: the key of its note."""
    return given.pane, given.pid, given.start


def _question_of(given: Answer | Say) -> tuple[str, int, int, str]:
    return given.pane, given.pid, given.start, given.fingerprint


def _refusal_of_repeat(given: Answer) -> Refusal:
    """Return the refusal of a second answer: the first one interrupted the turn, or answered the question."""
    return _INTERRUPTED if given.fingerprint == _TURN else _ANSWERED


def _is_over(note: Note, seen: Seen, now: int) -> bool:
    """Return whether the noted question is no longer on the screen, or is a turn that has missed its key."""
    if note.fingerprint == _TURN:
        return now - note.at >= RETRY_INTERRUPT_S * 1e9 or not says.has_turn(seen)
    dialog = dialog_of(seen)
    return dialog is None or fingerprint(seen.look.lines, seen.look.columns, dialog) != note.fingerprint
