"""
Spoken: what one program says through all of its protocols, as records, and the notifications that are whole.

Sequences go in one by one. Protocols that send only what changed are added up, and chunks are put together. The relay
and the ear of tmux's panes read with it, so that a sequence means the same in both.
"""

from __future__ import annotations

from collections.abc import Callable

from tallylight import wire
from tallylight.model.report import Report
from tallylight.relay.records import Records
from tallylight.wire import cli_agent, envelope, osc26, osc1338, osc21337, user_var
from tallylight.wire.frame import Update
from tallylight.wire.notification import Chunk, Notification, Notifications
from tallylight.wire.registry import Event
from tallylight.wire.scanner import Sequence


class Spoken:
    """One program's. *agent* is asked who the records are of that do not say it."""

    def __init__(self, agent: Callable[[], str] = str) -> None:
        self.records = Records(agent)
        self._notifications = Notifications()
        self._begin()

    def _begin(self) -> None:
        self._otty, self._tab = osc26.Accumulator(), osc21337.TabStatus()

    def take(self, sequence: Sequence, now: float) -> tuple[Event | None, Report | None]:
        """Take in one sequence; return what was read, a notification once it is whole, and the report it made."""
        event = wire.decode(sequence)
        report: Report | None = None
        match event:
            case Report():
                report = event
            case Update():
                report = (self._otty if event.number == osc26.NUMBER else self._tab).merge(event)
            case cli_agent.CliAgentEvent():
                report = cli_agent.to_report(event, self.records.status())
            case osc1338.Recipe():
                self.records.armed(event)
            case user_var.UserVar(envelope.CARRIER, value):
                if (noted := osc1338.decode_variable(value)) is not None:
                    self.records.noted(noted, now)
            case Notification() | Chunk():
                event = self._notifications.merge(event)
        if report is not None:
            self.records.report(report, now)
        return event, report

    def clear(self) -> None:
        """Forget everything; what the host knows is withdrawn."""
        self.records.clear()
        self._begin()
