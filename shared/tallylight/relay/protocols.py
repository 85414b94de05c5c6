"""
Protocols: what the events of the wire mean for one program.

Events in, reports out. Some protocols send only what changed, or what happened: what came before is kept here.
"""

from __future__ import annotations

from tallylight import wire
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire import cli_agent, notification, osc26, osc21337
from tallylight.wire.frame import Update


class Protocols:
    """One program's side of every protocol that tells a status."""

    def __init__(self) -> None:
        self._notifications = notification.Notifications()
        self.reset()

    def reset(self) -> None:
        """RIS: what was said of the status is void."""
        self._otty = osc26.Accumulator()
        self._tab = osc21337.TabStatus()

    def attention(self, event: wire.Event | None) -> Report | None:
        """Say what a notification means, once it is whole; None for any other event. It raises attention, no more."""
        if not isinstance(event, notification.Notification | notification.Chunk):
            return None
        whole = self._notifications.merge(event)
        if whole is None:
            return None
        text = f"{whole.title}: {whole.body}" if whole.body else whole.title
        return Report(source=Source.NOTIFICATION, status=Status.WAITING, rule="notification", message=text)

    def read(self, event: wire.Event | None, status: Status | None) -> list[Report] | None:
        """
        Say what an event means for a program whose status is *status*; None if the event is not for us.

        The records decide which child a record without a name belongs to.
        """
        report: Report | None = None
        if isinstance(event, Report):
            report = event
        elif isinstance(event, Update):
            report = (self._otty if event.number == osc26.NUMBER else self._tab).merge(event)
        elif isinstance(event, cli_agent.CliAgentEvent):
            report = cli_agent.to_report(event, status)
        else:
            return None
        return [] if report is None else [report]
