"""
The protocols of one program: the reports and notifications in its sequences.

Sequences go in one by one. Partial updates are merged, and chunks are joined. The relay and the reader of tmux's panes
both use it, so that a sequence means the same in both.
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


class ProtocolReader:
    """Reads the sequences of one program. *agent* returns the agent's name for records without one."""

    def __init__(self, agent: Callable[[], str] = str) -> None:
        self.records = Records(agent)
        self._notifications = Notifications()
        self._begin()

    def _begin(self) -> None:
        self._otty, self._tab = osc26.Accumulator(), osc21337.TabStatus()

    def take(self, sequence: Sequence, now: float) -> tuple[Event | None, Report | None]:
        """Take in one sequence; return its event (a notification only once it is whole) and its report."""
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
                self.records.set_recipe(event)
            case user_var.UserVar(envelope.CARRIER, value):
                if (noted := osc1338.decode_variable(value)) is not None:
                    self.records.note_sent(noted, now)
            case Notification() | Chunk():
                event = self._notifications.merge(event)
        if report is not None:
            self.records.report(report, now)
        return event, report

    def clear(self) -> None:
        """Drop all records, so that the host's are withdrawn."""
        self.records.clear()
        self._begin()
