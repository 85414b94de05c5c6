"""
A pane as an entry of the snapshot: its decision, its records and its other state in the fields of the schema.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.evidence.unknown import UnknownProgramWatch
from tallylight.model.details import NO_DETAILS
from tallylight.model.dialog import Dialog
from tallylight.model.status import Status
from tallylight.pane.explained import explained, put_aside
from tallylight.pane.former import asked
from tallylight.pane.pane import Pane
from tallylight.snapshot.entries import (
    AboutEntry,
    AttentionEntry,
    CommandsEntry,
    EvidenceEntry,
    PlaceEntry,
    ProgramEntry,
    QueueEntry,
    ReasonEntry,
    RecordEntry,
)
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.values import MAX_LIST
from tallylight.wire.inbox import Pace

_NO_DIALOG = Dialog(None, "")


def pane_entry(
    pane: Pane, epoch: Callable[[float], float], *, id_: str, tab: str, os_window: str, title: str, terminal: str = ""
) -> PaneEntry:
    """Return the entry of *pane*; *epoch* converts monotonic seconds into seconds since the epoch."""
    decision = pane.decision
    report, reason, answers = decision.report, decision.reason, pane.tracker.answers
    attention, pace, transcript = pane.attention, pane.pace or Pace(), pane.transcript
    details, is_strange = (transcript.details, transcript.is_strange) if transcript is not None else (NO_DETAILS, False)
    progress = report.progress or details.progress
    queued = pane.queued
    dialog, what = (pane.dialog or _NO_DIALOG, report.what) if decision.status is Status.WAITING else (_NO_DIALOG, "")
    return PaneEntry(
        id=id_,
        place=PlaceEntry(tab=tab, os_window=os_window, terminal=terminal),
        title=title,
        status=decision.status,
        kind=decision.kind,
        confirmed_kind=decision.confirmed_kind,
        agent=report.agent,
        project=pane.project,
        session=report.session,
        message=report.message,
        since=epoch(decision.since),
        pid=pane.pid,
        cwd=_cwd(pane),
        queue=QueueEntry(text=queued.text, problem=queued.problem, until=float(queued.at)) if queued else QueueEntry(),
        progress=f"{progress.done}/{progress.total}" if progress is not None else "",
        tasks=report.tasks or (details.tasks if report.progress is None else ()),
        topic=report.title if report.title != title else "",
        detail=report.detail,
        about=AboutEntry(
            model=details.model,
            mode=report.mode,
            worktree=report.worktree,
            last_prompt=details.prompt,
            context=details.context,
            cost=details.cost,
            children=tuple((child.name, child.status.value) for child in details.children),
            vars=report.vars,
        ),
        collisions=pane.collisions,
        reply=details.reply,
        outcome=pane.outcome,
        more=dict(pane.more),
        limited_until=pane.limited_until,
        unanswered_since=_until(pane.unanswered, epoch),
        background=report.background,
        question=asked(decision, dialog),
        what=what,
        choices=_choices(pane, dialog),
        prompt=dialog.fingerprint,
        commands=CommandsEntry(resume=pane.conversation.resume, fork=pane.conversation.fork),
        agent_pid=pane.agent_pid,
        conversation=pane.conversation.entry,
        attention=AttentionEntry(
            snoozed_until=_until(attention.snoozed_until, epoch),
            muted_until=_until(attention.muted_until, epoch),
            waited_s=round(attention.waited_s + attention.earlier_s, 1),
            seen=attention.seen,
            unread=attention.unread,
            answered=attention.answered,
            notified=attention.notified,
            visible=attention.visible,
        ),
        program=_program(pane.unknown),
        reason=ReasonEntry(
            source=reason.source.word if reason.source is not None else "",
            rule=reason.rule,
            at=epoch(reason.at),
            changes=reason.changes,
        ),
        evidence=EvidenceEntry(
            said_per_s=pace.arrived,
            read_per_s=pace.read,
            strange_record=is_strange,
            records=tuple(
                RecordEntry.of(attrs.evolve(record.report, id=key), record.status, epoch(record.reason.at))
                for key, record in pane.tracker.records(MAX_LIST).items()
            ),
            answers=explained(answers, decision, pane.tracker.timing, epoch),
            losing=put_aside(answers, epoch),
        ),
    )


def _cwd(pane: Pane) -> str:
    """Return the directory that its agent reports, or asked to be resumed in."""
    return pane.decision.report.cwd or pane.conversation.resume_cwd


def _choices(pane: Pane, dialog: Dialog) -> tuple[tuple[str, str], ...]:
    """Return the choices that a person can take from here; none for an agent of another machine, in ssh."""
    offered = dialog.choices if not pane.unknown.is_remote else ()
    return tuple((choice.keys, choice.label) for choice in offered)


def _program(watch: UnknownProgramWatch) -> ProgramEntry:
    """Return the unknown program in the foreground, and the signs that it is an agent."""
    program = watch.program
    if program is None or (watch.is_remote and not watch.is_agent):
        return ProgramEntry()
    return ProgramEntry(name=program.name, signs=", ".join(program.signs) if watch.is_agent else "")


def _until(at: float | None, epoch: Callable[[float], float]) -> float:
    return epoch(at) if at is not None else 0.0
