"""
Free text for an agent, and the key that interrupts it.

`say` types a text where the agent is at its prompt, or its dialog asks for any text. `interrupt` presses the agent's
key to stop where it works. Both look again first, and both name the agent's process: text for an agent never reaches
the shell, or the `cat`, that holds the pane after it. A refusal names its rule: those of `actions.answer`, and

* `text`, `too-long`: characters that are never typed, or too many of them; nothing at all;
* `lines`: a tab or a line end where the program takes no bracketed paste: they would be keys;
* `asking`: it asks something; an answer is a choice, or names the screen that asked for the text;
* `working`: it works; `prompt`: its screen does not show its prompt;
* `no-turn`: there is nothing to interrupt.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.actions.answer import (
    PLAIN,
    Done,
    Occupant,
    Seen,
    Typist,
    holder_of,
    missing_message,
    reading_of,
    refuse_nothing,
    see_again,
)
from tallylight.actions.gate import Refusal, must, refuses
from tallylight.evidence.choices import ends_in_choices
from tallylight.evidence.dialogs import is_left_by_key, read_dialog
from tallylight.evidence.fingerprint import fingerprint
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.status import Kind, Status
from tallylight.wire.text import hidden

#: Characters of one text.
MAX_TYPED = 4096
#: The statuses of an agent at its prompt: its turn is over.
_AT_PROMPT = (Status.IDLE, Status.DONE, Status.BACKGROUND, Status.ERROR)
_LINES = "\t\n"


@attrs.frozen
class Say:
    """
    A text for the agent with the process *pid*, started at *start*; *enter*: whether Enter is pressed after it.

    For a dialog that asks for any text *fingerprint* is that of its `Question`; at a prompt it is not compared.
    """

    pane: str
    pid: int
    start: int
    text: str
    enter: bool
    fingerprint: str = ""


@attrs.frozen
class Busy:
    """The agent *holder* takes no text now, and *why*; it may when its turn has ended (`actions.queue`)."""

    holder: Occupant
    why: str


@attrs.frozen
class Interrupt:
    """Stop the turn of the agent with the process *pid*, started at *start*."""

    pane: str
    pid: int
    start: int


@refuses
def prompt_agent(typist: Typist) -> Occupant | Busy | Refusal:
    """Return the agent that would take text at its prompt now, or is busy; else the rule that refuses text."""
    seen = must(typist.see())
    held = holder_of(seen)
    if isinstance(held, Refusal) or (refused := _check_prompt(seen, "")) is None:
        return held
    return Busy(held, refused.text) if refused.rule in ("working", "asking") else refused


@refuses
def say(typist: Typist, given: Say, unfit: Callable[[Seen], Refusal | None] = refuse_nothing) -> Done | Refusal | None:
    """
    Look again, and type the text if the agent takes text now, and is not *unfit* for it.

    None is as for `actions.answer.answer`.
    """
    must(text_problem(given.text))
    seen = see_again(typist, given.pane, given.pid, given.start)
    must(_check_prompt(seen, given.fingerprint) or lines_problem(seen, given.text) or unfit(seen))
    if not typist.paste(given.text, enter=given.enter, seen=seen):
        return None
    return Done(seen.pane, "sent, and Enter pressed" if given.enter else "typed, and Enter not pressed")


@refuses
def interrupt(
    typist: Typist, given: Interrupt, unfit: Callable[[Seen], Refusal | None] = refuse_nothing
) -> Done | Refusal:
    """
    Look again, and press the agent's key to stop if it works, and is not *unfit* to be stopped.

    The screen of a working agent never holds still, so it is not compared again. A dialog that has come just then is
    left by that key, and the turn with it.
    """
    seen = see_again(typist, given.pane, given.pid, given.start)
    found = reading_of(seen)
    agent = seen.foreground.agent
    assert agent is not None
    if found is not None and found.dialog is not None:
        return Refusal("asking", "it asks something: choose an answer; nothing was typed")
    if not has_turn(seen):
        return Refusal("no-turn", "it is not working, so there is nothing to interrupt; nothing was typed")
    must(unfit(seen))
    typist.press(agent.interrupt)
    return Done(seen.pane, "interrupted")


def has_turn(seen: Seen) -> bool:
    """
    Return whether a turn can be interrupted.

    While an answer streams in, some screens look at rest; then the tracker's status decides.
    """
    found = reading_of(seen)
    if found is not None and found.dialog is not None:
        return False
    return seen.status is Status.WORKING or (found is not None and found.status is Status.WORKING)


def text_problem(text: str) -> Refusal | None:
    """Return why *text* is never typed anywhere; None if it may be."""
    if not text:
        return Refusal("text", "there is nothing to type")
    if len(text) > MAX_TYPED:
        return Refusal("too-long", f"that is longer than {MAX_TYPED} characters; nothing was typed")
    # Controls, C1 too; marks of direction; surrogates; line and paragraph separators; characters that Unicode does not
    # know. And characters that are printable by that rule but cannot be seen.
    bad = next((c for c in text if not c.isprintable() and c not in _LINES and c not in "\u00a0\u202f\u3000"), "")
    if bad := bad or hidden(text):
        return Refusal("text", f"U+{ord(bad):04X} is a character that cannot be typed; nothing was typed")
    return None


def lines_problem(seen: Seen, text: str) -> Refusal | None:
    """
    Return why *text* is not typed into the program that was *seen*, though it takes text: its lines would be keys.
    """
    if not seen.takes_paste and any(c in text for c in _LINES):
        return Refusal("lines", "tabs and line ends would act as keys, because it does not accept bracketed paste")
    return None


def _check_prompt(seen: Seen, shown: str) -> Refusal | None:
    """Return a refusal unless the agent takes text: at its prompt, or in the dialog with the fingerprint *shown*."""
    found = reading_of(seen)
    if seen.status is Status.WORKING or (found is not None and found.status is Status.WORKING):
        return Refusal("working", "it is working, and accepts text when it is done; nothing was typed")
    if found is None:
        return Refusal("prompt", "its screen shows no prompt; nothing was typed")
    if found.dialog is not None:
        return _check_dialog(seen, found.dialog, shown)
    if found.is_menu or is_left_by_key(read_tail(seen.look.lines)):
        return Refusal("prompt", "a menu is open in it; nothing was typed")
    if (seen.status is Status.WAITING and seen.kind is not Kind.INPUT) or _has_choices(seen):
        return Refusal("asking", "it asks something: choose an answer; nothing was typed")
    if found.status not in _AT_PROMPT:
        return Refusal("prompt", "it is not at its prompt; nothing was typed")
    return None


def _has_choices(seen: Seen) -> bool:
    """Return whether the screen ends in choices of any kind: a menu that the person opened is no prompt either."""
    rows = read_tail(seen.look.lines)
    return ends_in_choices(rows) or read_dialog(rows, seen.look.cursor_row) is not None


def _check_dialog(seen: Seen, dialog: Dialog, shown: str) -> Refusal | None:
    """Return a refusal unless *dialog* asks for any text, and has the fingerprint *shown*."""
    if dialog.choices or dialog.kind not in PLAIN or _has_choices(seen):
        return Refusal("asking", "it asks something that takes no text; nothing was typed")
    if not shown:
        return Refusal("asking", "it asks for text: look at the question first; nothing was typed")
    if dialog.missing:
        return Refusal("not-whole", f"{missing_message(dialog)}; nothing was typed")
    if fingerprint(seen.look.lines, seen.look.columns, dialog) != shown:
        return Refusal("changed", "the screen has changed since you saw it; nothing was typed")
    return None
