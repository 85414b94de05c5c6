"""What a person or a script gives to an agent, and the words by which one process asks another to type it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.actions.answer import Answer
from tallylight.actions.say import Interrupt, Say
from tallylight.wire import values


@attrs.frozen
class Later:
    """*text* for the agent whose process is *pid*, begun at *start*: to be typed when its turn has ended."""

    pane: str
    pid: int
    start: int
    text: str


#: What types.
Given = Answer | Say | Interrupt | Later


def words_of(given: Given) -> tuple[str, ...]:
    """How *given* is asked: a verb, the pane, the process and its start, and what the verb needs."""
    being = (given.pane, str(given.pid), str(given.start))
    if isinstance(given, Answer):
        return ("answer", *being, given.fingerprint, str(given.number))
    if isinstance(given, Say):
        return ("say", *being, given.fingerprint, str(int(given.enter)), given.text)
    if isinstance(given, Later):
        return ("queue", *being, given.text)
    return ("interrupt", *being)


def given_of(words: Sequence[str]) -> Given | None:
    """What *words*, those of `words_of`, ask to be typed; None if they are something else, or name no pane."""
    if not "".join(words[1:2]).strip():
        return None
    match words:
        case ["answer", pane, pid, start, fingerprint, number] if _are_numbers(pid, start, number):
            return Answer(pane, int(pid), int(start), fingerprint, int(number))
        case ["say", pane, pid, start, fingerprint, "0" | "1" as enter, text] if _are_numbers(pid, start):
            return Say(pane, int(pid), int(start), text, enter == "1", fingerprint)
        case ["queue", pane, pid, start, text] if _are_numbers(pid, start):
            return Later(pane, int(pid), int(start), text)
        case ["interrupt", pane, pid, start] if _are_numbers(pid, start):
            return Interrupt(pane, int(pid), int(start))
    return None


def _are_numbers(*words: str) -> bool:
    return all(values.is_number(word, 19) for word in words)
