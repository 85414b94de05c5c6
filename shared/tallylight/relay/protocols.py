"""
Protocols: what the events of the wire mean for one program.

Events in, reports out. Some protocols send only what changed, or what happened, so that what came before is kept here;
and so is the arm of OSC 88, which is no report: it is told on, and nothing is run before a person asks for it.
"""

from __future__ import annotations

from tallylight import wire
from tallylight.model.dialog import WHAT_CELLS
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.wire import cli_agent, notification, osc26, osc88, osc7501, osc21337
from tallylight.wire.agent_name import agent_name
from tallylight.wire.text import middle

#: In front of what a permission is asked for.
_APPROVE = "approve "


class Protocols:
    """One program's side of every protocol that tells a status."""

    def __init__(self) -> None:
        self._otty = osc26.Accumulator()
        self._tab = osc21337.TabStatus()
        self._notifications = notification.Notifications()
        #: What OSC 88 asked for last.
        self.arm: osc88.Arm | None = None

    def reset(self) -> None:
        """RIS: what was said of the status is void. How to start again is not a matter of the screen."""
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
        elif isinstance(event, osc7501.Status7501):
            report = _report_7501(event)
        elif isinstance(event, osc26.Update):
            report = self._otty.merge(event)
        elif isinstance(event, osc21337.TabUpdate):
            report = self._tab.merge(event)
        elif isinstance(event, cli_agent.CliAgentEvent):
            report = cli_agent.to_report(event, status)
        elif isinstance(event, osc88.Arm):
            self.arm = event
        elif isinstance(event, osc88.Clear):
            self.arm = None
        else:
            return None
        return [] if report is None else [report]


def _report_7501(status: osc7501.Status7501) -> Report:
    return Report(
        source=Source.PROTOCOL,
        rule=osc7501.RULE,
        status=osc7501.STATUSES[status.state],
        id=status.id,
        kind=status.kind,
        agent=agent_name(status.app),
        title=status.title,
        message=status.message,
        what=_what(status),
        progress=None if status.progress is None else Progress(status.progress, 100),
    )


def _what(status: osc7501.Status7501) -> str:
    """Claude Code says `approve Bash: npm test`; a message that names no tool says what it is about by itself."""
    tool, colon, rest = status.message.removeprefix(_APPROVE).partition(": ")
    if status.kind is not Kind.PERMISSION or not colon or not rest or not tool.replace("_", "").isalnum():
        return ""
    return middle(f"{tool}: {rest}", WHAT_CELLS)
