"""
Notifications as evidence: messages of a program to the person through its terminal, OSC 9, 99 and 777, as reports.

A notification raises attention and never clears any: better sources report that an agent continues or starts. Only the
root record counts, and only one of an agent: the host knows the program in the foreground.
"""

from __future__ import annotations

import attrs

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire import cli_agent, notification, terax
from tallylight.wire.scanner import Sequence, SequenceKind

RULE = "notification"
#: The statuses that a notification may raise; not the end of a turn, while the agent is known to wait.
_RAISED = (Status.WAITING, Status.ERROR, Status.DONE)


def is_machine_talk(number: int, payload: str) -> bool:
    """Return whether a notification is one program's message to another, which no person wants to read."""
    return _spoken(_sequence(number, payload), None) is not None


def message_report(number: int, payload: str, present: Status) -> Report | None:
    """
    Return the report in a message between programs, `warp://cli-agent` or Terax's; None without one, or without news.

    *payload* is the text behind `OSC number ;`; *present* is the status of the pane's agent.
    """
    found = _spoken(_sequence(number, payload), present)
    if not isinstance(found, Report) or found.status not in _RAISED:
        return None
    if found.status is Status.DONE and present is Status.WAITING:
        return None
    return attrs.evolve(found, source=Source.NOTIFICATION)


def notice_report(number: int, title: str, body: str) -> Report | None:
    """
    Return the report of a notification for a person; None for one without text, and for other uses of these numbers.
    """
    if title.startswith("warp://"):
        return None
    try:
        if number == 9:
            notification.decode(_sequence(number, title))
        return shown(notification.from_texts(title, body))
    except DecodeError:
        return None


def shown(event: notification.Notification) -> Report:
    """Return the report of a notification that a person is shown."""
    text = f"{event.title}: {event.body}" if event.body else event.title
    return Report(source=Source.NOTIFICATION, status=Status.WAITING, rule=RULE, message=text)


def _spoken(sequence: Sequence, present: Status | None) -> Report | cli_agent.CliAgentEvent | None:
    """Return the report or event in a message between programs; None if *sequence* is none."""
    try:
        return terax.decode(sequence)
    except DecodeError:
        pass
    try:
        event = cli_agent.decode(sequence)
    except DecodeError:
        return None
    return cli_agent.to_report(event, present) or event


def _sequence(number: int, payload: str) -> Sequence:
    body = b"%d;%b" % (number, payload.encode("utf-8", "replace"))
    return Sequence(SequenceKind.OSC, body, b"\x1b\\", b"\x1b]%b\x1b\\" % body, number)
