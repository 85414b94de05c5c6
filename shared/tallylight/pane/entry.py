"""
A pane as an entry of the snapshot: the tracker's decision and records in the words of its schema.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.model.details import NO_DETAILS
from tallylight.model.status import Status
from tallylight.pane.explained import explained, put_aside
from tallylight.pane.former import asked
from tallylight.pane.pane import Pane
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import ReasonEntry, RecordEntry
from tallylight.snapshot.values import MAX_LIST, MAX_NUMBER


def pane_entry(
    pane: Pane, epoch: Callable[[float], float], *, id_: str, tab: str, os_window: str, title: str, terminal: str = ""
) -> PaneEntry:
    """The entry of *pane*; *epoch* turns monotonic seconds into seconds since the epoch."""
    decision = pane.decision
    report, reason, answers = decision.report, decision.reason, pane.tracker.answers
    attention = pane.attention
    record = pane.record
    details = record.details if record is not None else NO_DETAILS
    progress = report.progress or details.progress
    unknown = pane.unknown.program
    dialog = pane.dialog if decision.status is Status.WAITING else None
    return PaneEntry(
        id=id_,
        tab=tab,
        os_window=os_window,
        title=title,
        terminal=terminal,
        status=decision.status,
        kind=decision.kind,
        agent=report.agent,
        project=pane.project,
        session=report.session,
        message=report.message,
        since=epoch(decision.since),
        seen=attention.seen,
        pid=pane.pid,
        cwd=report.cwd,
        queued=pane.queued.text if pane.queued is not None else "",
        unsent=pane.queued.problem if pane.queued is not None else "",
        progress=f"{progress.done}/{progress.total}" if progress is not None else "",
        tasks=report.tasks or (details.tasks if report.progress is None else ()),
        topic=report.title if report.title != title else "",
        mode=report.mode,
        worktree=report.worktree,
        detail=report.detail,
        model=details.model,
        context=details.context,
        children=tuple((child.name, child.status.value) for child in details.children),
        reply=details.reply,
        limited_until=details.limited_until,
        cost=details.cost,
        strange_record=record is not None and record.is_strange,
        background=report.background,
        question=asked(decision, dialog),
        what=report.what if decision.status is Status.WAITING else "",
        choices=tuple((choice.keys, choice.label) for choice in dialog.choices) if dialog is not None else (),
        prompt=dialog.fingerprint if dialog is not None else "",
        resume=pane.conversation.resume,
        fork=pane.conversation.fork,
        agent_pid=pane.agent_pid,
        conversation=pane.conversation.entry,
        snoozed_until=epoch(attention.snoozed_until) if attention.snoozed_until is not None else 0.0,
        muted_until=min(epoch(attention.muted_until), MAX_NUMBER) if attention.muted_until is not None else 0.0,
        unread=attention.unread,
        answered=attention.answered,
        waited_s=round(attention.waited_s + attention.earlier_s, 1),
        notified=attention.notified,
        visible=attention.visible,
        unknown=unknown.name if unknown is not None else "",
        signs=", ".join(unknown.signs) if unknown is not None and pane.unknown.is_agent else "",
        said_per_s=pane.pace.said if pane.pace is not None else 0,
        read_per_s=pane.pace.read if pane.pace is not None else 0,
        reason=ReasonEntry(
            source=reason.source.word if reason.source is not None else "",
            rule=reason.rule,
            at=epoch(reason.at),
            changes=reason.changes,
        ),
        records=tuple(
            RecordEntry.of(attrs.evolve(record.report, id=key), record.status, epoch(record.reason.at))
            for key, record in pane.tracker.records(MAX_LIST).items()
        ),
        answers=explained(answers, decision, pane.tracker.timing, epoch),
        losing=put_aside(answers, epoch),
    )
