"""
Ears: find reports in the output of tmux's panes, which tmux passes to its control clients.

tmux drops sequences that it does not know, but a control client gets them. An ear takes the bytes of one pane and
returns `PaneEvent`s for its pane. They are protocols (by the codecs of the relay), titles, bars, marks of the shell and
notifications. Nothing is sent to a program.

Reading is limited: a pane that writes too much is paused for a while. Then, and when the person detaches, its reports
of work and of questions are withdrawn. Its screen decides until it reports again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import attrs

from tallylight.evidence import notified
from tallylight.hosts.polling.pane_events import PaneEvent
from tallylight.model import attributes
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.view import view_of
from tallylight.relay.passthrough import Unwrapper
from tallylight.relay.protocol_reader import ProtocolReader
from tallylight.relay.records import NOTED
from tallylight.relay.splitter import Splitter
from tallylight.tracker.notify import enriched
from tallylight.wire import envelope, osc9_4, osc133, osc1338
from tallylight.wire.notification import Notification
from tallylight.wire.scanner import Sequence
from tallylight.wire.title import Title
from tallylight.wire.user_var import UserVar

#: Bytes that may be read from one pane: at once, and in each second.
PANE_BURST_BYTES, BYTES_A_SECOND = 1 << 19, 1 << 17
#: The pause of a pane that wrote more, in seconds, and the longest one if it does so again and again.
LISTENING_PAUSE_S, LISTENING_PAUSE_MAX_S = 2.0, 32.0
_CLEAR = Report(source=Source.PROTOCOL, status=None, rule="")
#: Records that are passed on at once: more than there can be.
_ALL_RECORDS = 1024


class Ear:
    """Reads the output of one pane."""

    def __init__(self) -> None:
        self._events: list[PaneEvent] = []
        self._now = 0.0
        self._begin()

    def _begin(self) -> None:
        self._protocols, self._unwrapper = ProtocolReader(), Unwrapper()
        self._splitter = Splitter(self._take, self._protocols.clear, self._open, hears_all=True)
        #: Whether the program's last title was read.
        self.has_title = False

    def hear(self, data: bytes, now: float) -> list[PaneEvent]:
        """Read the next bytes of the pane; return their events."""
        self._now = now
        self._splitter.feed(data, [])
        return self._taken()

    def lost(self) -> list[PaneEvent]:
        """
        Return events that withdraw reports which may be out of date, because some output is missing.

        Reports of an ended turn stay. The `tally` variable arrives over the socket, too, and is withdrawn there.
        """
        stays = (Status.DONE, Status.ERROR)
        reports = [one for one in self._protocols.records.current() if one.rule != NOTED and one.status not in stays]
        self._begin()
        gone = [attributes.evolve(_CLEAR, id=report.id) for report in reports]
        return [PaneEvent.of_payload(osc1338.encode_payload(one)) for one in gone]

    def _taken(self) -> list[PaneEvent]:
        self._take_reports()
        events, self._events = self._events, []
        return events

    def _take_reports(self) -> None:
        records = self._protocols.records
        if records.is_changed:
            self._events += map(PaneEvent.of_payload, records.take(_ALL_RECORDS, self._now))

    def _open(self, sequence: Sequence) -> None:
        """Take an envelope for the terminal around tmux: its content belongs to the pane, except titles and bars."""
        for inner in self._unwrapper.feed(sequence):
            self._take(inner, is_own=False)

    def _take(self, sequence: Sequence, *, is_own: bool = True) -> bool:
        event, _ = self._protocols.take(sequence, self._now)
        if isinstance(event, UserVar):
            if event.name == envelope.CARRIER:
                self._events.append(PaneEvent.of_payload(event.value))
            return True
        call = _call(event, is_own=is_own)
        if call is not None:
            self._take_reports()
            self.has_title = self.has_title or isinstance(event, Title)
            self._events.append(PaneEvent(call))
        return True


def _call(event: object, *, is_own: bool) -> Callable[[Pane, float], object] | None:
    """Return the call for an event that a terminal handles itself; None for all others."""
    match event:
        case Notification():
            return functools.partial(_notified, event)
        case Title(text) if is_own:
            return lambda pane, now: pane.title(text, now)
        case osc133.Mark(osc133.COMMAND_START | osc133.COMMAND_END as kind, code) if is_own:
            return lambda pane, now: pane.marked(kind == osc133.COMMAND_START, code, now)
        case osc9_4.ProgressReport(state) if is_own:
            return lambda pane, now: pane.progress(state != osc9_4.CLEAR, now)
    return None


def _notified(event: Notification, pane: Pane, now: float) -> None:
    """Pass on an agent's notification, unless it is an advertisement; those of plain commands are dropped."""
    if pane.agent is not None and enriched(view_of(pane, ""), event.title, event.body)[0]:
        pane.notified(notified.shown(event), now)


@attrs.define
class _HeardPane:
    """One pane: its ear, how many bytes may still be read, and the client that reads it."""

    client: object
    at: float
    ear: Ear = attrs.Factory(Ear)
    left: float = PANE_BURST_BYTES


@attrs.define
class Ears:
    """
    The panes of one server, read by several clients. A window may belong to several sessions: each pane is read once.

    *tell* gets the id of a pane and its events. Each client calls on a thread of its own.
    """

    tell: Callable[[str, list[PaneEvent]], None]
    _heard_panes: dict[str, _HeardPane] = attrs.Factory(dict)

    def hear(self, client: object, pane: str, data: bytes, now: float) -> bool:
        """
        Read *data* of *pane*; return whether *client* is to get more of it now.

        Output that another client reads is ignored, not paused: so nothing is missed when that one leaves.
        """
        heard_pane = self._heard_panes.setdefault(pane, _HeardPane(client, now))
        if heard_pane.client is not client:
            return heard_pane.left > 0
        heard_pane.left = min(PANE_BURST_BYTES, heard_pane.left + (now - heard_pane.at) * BYTES_A_SECOND) - len(data)
        heard_pane.at = now
        if events := heard_pane.ear.hear(data, now):
            self.tell(pane, events)
        return heard_pane.left > 0

    def lost(self, client: object, pane: str) -> None:
        """Withdraw reports of *pane*: its output has a gap."""
        heard_pane = self._heard_panes.get(pane)
        if heard_pane is not None and heard_pane.client is client and (events := heard_pane.ear.lost()):
            self.tell(pane, events)

    def leave(self, client: object) -> None:
        """Stop reading for *client*; another one may take over."""
        for pane, heard_pane in list(self._heard_panes.items()):
            if heard_pane.client is client:
                self.lost(client, pane)
                del self._heard_panes[pane]

    def has_title(self, pane: str) -> bool:
        """Return whether the title of *pane* was read, and no newer one can have been missed."""
        heard_pane = self._heard_panes.get(pane)
        return heard_pane is not None and heard_pane.ear.has_title

    def keep(self, panes: Iterable[str]) -> None:
        """Forget all panes except *panes*."""
        for gone in self._heard_panes.keys() - set(panes):
            self._heard_panes.pop(gone, None)
