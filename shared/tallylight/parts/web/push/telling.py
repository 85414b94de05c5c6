"""
The messages to browsers, by the rules of notifications (`tracker.notify`), for the panes of all hosts.

A status from before the first subscription is no news. A message names the agent and the project; the question only if
the user wants it on the screen of a locked phone.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable

import attrs

from tallylight.model.decision import Decision, Reason
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.parts.web.push.endpoints import MAX_PLAIN
from tallylight.snapshot import fields
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tallylight.tracker.notify import Notice, Notifier, Settings, View

#: A pane that returns within so many seconds was never gone: a restarted host shows the same panes.
PANE_RETURNS_S = 60.0
#: A message that could not be sent for so many seconds is dropped.
UNSENT_KEPT_S = 3600.0


@attrs.frozen
class Message:
    """A message about the session *address*; *topic* lets a push service keep only the last one about it."""

    address: str
    text: bytes
    is_urgent: bool

    @property
    def topic(self) -> str:
        return urlsafe_b64encode(hashlib.sha256(self.address.encode("utf-8", "replace")).digest()[:24]).decode()


class Teller:
    """Decides on messages. *since* is the start, in seconds since the epoch; *with_question*: include the question."""

    def __init__(self, settings: Settings, *, with_question: bool, since: float) -> None:
        self._notifier = Notifier(settings)
        self._with_question, self._since = with_question, since
        #: The last look at each pane, and when the pane was last there.
        self._known: dict[str, tuple[tuple[object, ...], float]] = {}

    def look(self, panes: Iterable[Row], now: float, wall: float, minute: int) -> list[Message]:
        """Look at all panes, at monotonic *now* and *wall*, which is *minute* of the local day; return the messages."""
        messages = []
        for found in panes:
            pane, address = found.pane, found.address
            before, _ = self._known.get(address, ((), 0.0))
            away = (pane.attention.snoozed_until > wall, pane.attention.muted_until > wall)
            self._known[address] = (pane, *away), now
            # The same pane, not an equal one: a host with a change makes all of its panes again.
            if before and before[0] is pane and before[1:] == away and self._notifier.is_resting(address):
                continue
            view = View(
                decision=_decision(pane),
                visible=pane.attention.visible,
                seen=pane.attention.seen or pane.since < self._since,
                snoozed=away[0],
                muted=away[1],
                project=pane.project,
                name=pane.place.host_title or pane.project or found.name,
                outcome=pane.outcome,
                behind=fields.words(pane.more),
            )
            notice = self._notifier.look(address, view, now, minute)
            if isinstance(notice, Notice):
                messages.append(self._message(address, notice))
        for address in [address for address, (_, seen_at) in self._known.items() if now - seen_at > PANE_RETURNS_S]:
            del self._known[address]
            self._notifier.close(address)
        return messages

    def _message(self, address: str, notice: Notice) -> Message:
        """Return the message about the session at *address*."""
        fields = {
            "address": address,
            "status": notice.status.value,
            "title": notice.title if self._with_question else notice.discreet,
        }
        if self._with_question:
            fields["body"] = notice.body
        text = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) > MAX_PLAIN:
            # Invisible characters can make a line long.
            text = json.dumps({"address": address, "status": notice.status.value, "title": notice.agent}).encode()
        return Message(address, text, notice.status is Status.WAITING)


def _decision(pane: Pane) -> Decision:
    """Return the state of a snapshot's pane as a tracker's decision."""
    source = _SOURCES.get(pane.reason.source, Source.SCREEN)
    report = Report(
        source=source,
        status=pane.status,
        kind=pane.kind,
        agent=pane.agent,
        project=pane.project,
        cwd=pane.cwd,
        message=pane.message or pane.question,
        what=pane.what,
        detail=pane.detail,
    )
    return Decision(pane.status, pane.kind, Reason(source, pane.reason.rule, 0.0, ""), pane.since, report)


_SOURCES = {source.word: source for source in Source}
