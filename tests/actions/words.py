"""Requests in few words, for tables."""

from __future__ import annotations

from tallylight.actions.answer import Answer
from tallylight.actions.close import Close
from tallylight.actions.request import DeferredText, LookRequest, Mark, Request, Unqueue
from tallylight.actions.say import Interrupt, Say


def asked(verb: str, pane: str, *rest: str) -> Request:
    """
    `answer PANE PID START FINGERPRINT NUMBER`, `say PANE PID START FINGERPRINT ENTER TEXT`, `screen PANE`.

    And `queue PANE PID START TEXT`, which may have a time behind it.
    """
    being = [int(word) for word in rest[:2]] if verb in ("answer", "say", "interrupt", "close", "queue") else []
    match verb, rest[len(being) :]:
        case "answer", (fingerprint, number):
            return Answer(pane, *being, fingerprint, int(number))
        case "say", (fingerprint, enter, text):
            return Say(pane, *being, text, enter == "1", fingerprint)
        case "queue", (text, *at):
            return DeferredText(pane, *being, text, *map(int, at))
        case "interrupt", ():
            return Interrupt(pane, *being)
        case "close", ():
            return Close(pane, *being)
        case "unqueue", ():
            return Unqueue(pane)
        case (("focus" | "seen" | "unread" | "snooze"), args):
            return Mark(verb, pane, tuple(args))
    return LookRequest(pane, verb)
