"""
Once: one question is answered once, however often keys are pressed before the agent has drawn anything else.

Two dialogs that look the same have the same fingerprint, so a second answer to the first would be taken for one to the
second. A process that types into panes has one `Once` and answers through it: what was answered is refused by the rule
`answered`, by every surface of that process, until the screen was seen to show something else.

It waits for that for a moment, with `settle_s`; where nothing may wait, as on kitty's main thread, `look` is called.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import attrs

from tallylight.actions import answer as answers
from tallylight.actions import say as says
from tallylight.actions.answer import Answer, Done, Occupant, Question, Seen, Typist, dialog_of, holder, reached
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Busy, Interrupt, Say
from tallylight.evidence.fingerprint import fingerprint
from tallylight.wire.styled import StyledScreen
from tallylight.wire.styled import read_screen as read_styled

#: Seconds in which a program that was typed to should draw something else, and between two looks whether it has.
SETTLE_S, LOOK_S = 1.0, 0.05
#: Agents whose last answer is remembered; beyond that, the one that was answered longest ago is forgotten.
MAX_ANSWERED = 1000


@attrs.frozen
class Still:
    """A pane that goes on showing *seen*, and types nothing: it is for finding out what would be refused."""

    seen: Seen

    def see(self) -> Seen:
        return self.seen

    def screen(self) -> StyledScreen:
        """What was seen of its colours."""
        return self.seen.styled or read_styled(self.seen.look.lines, self.seen.look.columns)

    def press(self, keys: str) -> None:
        """Nothing."""

    def paste(self, text: str, *, enter: bool) -> None:
        """Nothing."""


@attrs.frozen
class _Given:
    """The fingerprint that was answered, and which answer of this process that was."""

    fingerprint: str
    number: int


class Once:
    """
    What was answered by this process, by pane and agent's process, and has not been seen to go on since.

    *settle_s*: how long, in seconds, to wait after typing until the screen shows something else. Several threads may
    use it, each pane one at a time.
    """

    def __init__(self, settle_s: float) -> None:
        self._settle_s = settle_s
        self._given: dict[tuple[str, int, int], _Given] = {}
        #: The number of the last answer.
        self._last = 0
        self._lock = threading.Lock()

    def look(self, typist: Typist) -> Seen | Refusal:
        """Look at a pane, and forget what was answered in it if that is seen to have gone on."""
        last = self._last
        seen = reached(lambda: answers.look(typist))
        if isinstance(seen, Seen) and isinstance(held := holder(Still(seen)), Occupant):
            key = (held.pane, held.pid, held.start)
            given = self._given.get(key)
            # An answer that was given during the look is not what the look shows.
            if given is not None and given.number <= last and _shown(seen) != given.fingerprint:
                with self._lock:
                    if self._given.get(key) is given:
                        del self._given[key]
        return seen

    def is_open(self, given: Answer) -> bool:
        """Whether *given* was typed, and its screen has not been seen to show anything else since."""
        found = self._given.get(_key(given))
        return found is not None and found.fingerprint == given.fingerprint

    def ask(self, typist: Typist) -> Question | Refusal:
        """What the pane asks now."""
        seen = self.look(typist)
        return answers.ask(Still(seen)) if isinstance(seen, Seen) else seen

    def answer(
        self, typist: Typist, given: Answer, unfit: Callable[[Seen], Refusal | None] = answers.anything
    ) -> Done | Refusal:
        """Type the choice, if all is as it was shown and not *unfit*, and it was not answered yet."""
        return self._act(typist, given, lambda: answers.answer(typist, given, unfit))

    def prompt_agent(self, typist: Typist) -> Occupant | Busy | Refusal:
        """Who would take text at its prompt now, or is busy."""
        seen = self.look(typist)
        return says.prompt_agent(Still(seen)) if isinstance(seen, Seen) else seen

    def say(self, typist: Typist, given: Say) -> Done | Refusal:
        """Type the text, if the agent takes text now; into a dialog that asks for it once."""
        asked = Answer(given.pane, given.pid, given.start, given.fingerprint, 0)
        return self._act(typist, asked if given.fingerprint else None, lambda: says.say(typist, given))

    def interrupt(self, typist: Typist, given: Interrupt) -> Done | Refusal:
        """Press the agent's key to stop, if it works."""
        return self._act(typist, None, lambda: says.interrupt(typist, given))

    def _act(self, typist: Typist, given: Answer | None, act: Callable[[], Done | Refusal]) -> Done | Refusal:
        before = self.look(typist)
        if given is not None and self.is_open(given):
            return Refusal("answered", "it was already answered and has not continued since; nothing was typed")
        done = act()
        if isinstance(done, Done):
            if given is not None:
                self._remember(given)
            self._settle(typist, before, given)
        return done

    def _remember(self, given: Answer) -> None:
        key = _key(given)
        with self._lock:
            self._given.pop(key, None)
            while len(self._given) >= MAX_ANSWERED:
                del self._given[next(iter(self._given))]
            self._last += 1
            self._given[key] = _Given(given.fingerprint, self._last)

    def _settle(self, typist: Typist, before: Seen | Refusal, given: Answer | None) -> None:
        """Wait until the screen shows something else than what was answered, or than before, but not for long."""
        end = time.monotonic() + self._settle_s
        while time.monotonic() < end:
            now = self.look(typist)
            if given is not None:
                if not self.is_open(given) or _has_left(now, given):
                    return
            elif isinstance(now, Refusal) or isinstance(before, Refusal) or now.look.lines != before.look.lines:
                return
            time.sleep(LOOK_S)


def _has_left(now: Seen | Refusal, given: Answer) -> bool:
    """Whether the agent that was answered is not in the foreground of its pane any more."""
    if isinstance(now, Refusal):
        return now.rule == "gone"
    return answers.check_process(now, *_key(given)) is not None


def _key(given: Answer) -> tuple[str, int, int]:
    return given.pane, given.pid, given.start


def _shown(seen: Seen) -> str:
    """The fingerprint of what stands on a screen; nothing if that is no dialog."""
    dialog = dialog_of(seen)
    return fingerprint(seen.look.lines, seen.look.columns, dialog) if dialog is not None else ""
