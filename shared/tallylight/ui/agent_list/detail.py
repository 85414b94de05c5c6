"""
The detail of the selected row: everything that a person needs to decide. Its whole question, its answers, and then the
facts.

Where there is little room, blank lines are left out first, then facts. The question and its answers never are: without
room for them they are shown over the whole list.
"""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.model import lights, tool_call
from tallylight.model.repository_status import NOTHING
from tallylight.model.status import Kind, Status
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui import details, repository_text
from tallylight.ui.agent_list import flow, question
from tallylight.ui.agent_list.question import INDENT_CELLS, NUMBER_CELLS, Part
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.layout import GAP, UNBOUNDED_CELLS, age, clean, folded, left
from tallylight.ui.spans import Line, Span, filled
from tallylight.wire.styled import Style
from tallylight.wire.text import width

#: The separator of two facts.
_DOT = " · "
_VERBS = {
    Status.WAITING: "asks",
    Status.ERROR: "failed",
    Status.DOWN: "has ended",
    Status.DONE: "is done",
    Status.LIMITED: "has reached a limit",
    Status.QUIET: "is quiet",
    Status.WORKING: "works",
    Status.BACKGROUND: "works in the background",
    Status.IDLE: "is idle",
    Status.ACTIVE: "runs",
}
_WAITS = {
    Kind.PERMISSION: "asks for permission",
    Kind.INPUT: "waits for text",
    Kind.AUTH: "waits for you to sign in",
}
_BAR = Span("▌", style=Style(foreground=lights.COLOURS[Status.WAITING]))


def draw(state: State, columns: int, height: int) -> list[Line]:
    """Return *height* lines about the selected row."""
    row = state.row
    if row is None or height < 1:
        return filled([], height)
    room = height - 1
    is_page = state.mode is Mode.ANSWER
    if state.asking is not None and state.asking.address == row.address and (is_page or not _missing_message(state)):
        found = state.asking.window
        parts = [state.asking.lines[index] for index in found]
        if not is_page and not state.asking.is_whole:
            hint = f"… {len(state.asking.lines) - len(parts) + 1} more lines; a shows all of it"
            parts = [*parts[: max(0, room - 1)], Part(hint, is_before=True)]
    else:
        parts = _known_lines(row, state, columns, room)[:room]
    lines = [line_of(part, columns) for part in parts]
    facts = _facts(row, state, columns) if state.mode is Mode.LIST else []
    if lines and len(lines) + 1 + len(facts) <= room:
        lines.append(())
    return filled([_heading(row, state, columns), *lines, *facts], height)


def line_of(part: Part, columns: int) -> Line:
    """
    Return one line of a question: a choice behind its bold number, the command on a raised ground, earlier text dim.
    All choices look alike.
    """
    if part.is_choice:
        if not part.number:
            return (Span(" " * NUMBER_CELLS + part.text),)
        return (Span(" "), Span(f" {part.number} ", is_bold=True, is_raised=True), Span(f" {part.text}"))
    if part.is_command:
        text = f" {part.text}"
        return (Span(" "), _BAR, Span(text + " " * max(0, columns - 3 - width(text)), is_raised=True))
    return (Span(" "), Span(part.text, is_dim=part.is_before))


def _heading(row: Row, state: State, columns: int) -> Line:
    """Return the heading: the agent, its status, and the place of its question among all."""
    pane = row.pane
    verb = _WAITS.get(pane.kind, "asks") if pane.status is Status.WAITING and pane.kind else _VERBS[pane.status]
    if pane.status is Status.DONE and pane.kind is Kind.QUESTION:
        verb = "ended its turn with a question"
    addresses = [one.address for one in state.waiting]
    place = (
        f" {addresses.index(row.address) + 1} of {len(addresses)} "
        if row.address in addresses and not state.run
        else ""
    )
    more = f"{GAP}{_DOT.join(part for part in (pane.agent, age(state.now - pane.since) if pane.since else '') if part)}"
    title = clean(f"{clean(row.called, 40)} {verb}", max(1, columns - 6 - width(place)))
    more = clean(more, 40) if state.mode is Mode.ANSWER and width(title) + width(more) + 12 < columns else ""
    rule = "─" * max(0, columns - 4 - width(title) - width(more) - width(place))
    return (
        Span("─ ", is_dim=True),
        Span(title, is_bold=True),
        Span(f"{more} {rule}{place}─", is_dim=True),
    )


def _known_lines(row: Row, state: State, columns: int, height: int) -> list[Part]:
    """Return the lines known about *row* without a look at its screen."""
    pane = row.pane
    if pane.status is Status.WAITING:
        told = question.sized(
            question.opened(_reported_question(row, _missing_message(state)), row), columns, height, is_page=False
        )
        return list(told.lines)
    seen: list[str] = []
    says = pane.outcome or pane.message
    known = (
        details.queued(pane, state.now),
        details.limit(pane, state.now),
        details.unanswered(pane, state.now),
        says,
        pane.reply,
        details.doing(pane),
        details.children(pane),
    )
    for text in known:
        if text and not any(text in other for other in seen):
            seen.append(text)
    return [
        Part(part) for text in seen for part in folded(clean(text, UNBOUNDED_CELLS), max(1, columns - INDENT_CELLS))
    ]


def _missing_message(state: State) -> str:
    """Return the message about the part of the question that is not on its screen."""
    return state.asking.question.missing if state.asking is not None else ""


def _reported_question(row: Row, missing: str) -> Question:
    """Return the question as its host reports it, only for drawing: nobody has seen all of it on its screen."""
    pane = row.pane
    command = tool_call.request(pane.what)
    tool = pane.what.removesuffix(command).rstrip(": ")
    asked = pane.question or ("" if pane.what else pane.message)
    choices = tuple(Choice(number, label, keys) for number, (keys, label) in enumerate(pane.choices, 1))
    goes = missing or ("" if choices and flow.can_ask(row) else "Enter goes there to answer.")
    return Question(
        pane=pane.id, agent=pane.agent, pid=0, start=0, fingerprint="", prompt="", question=asked, missing=goes,
        context=tuple(text for text in (tool, command, asked) if text), choices=choices,
    )  # fmt: skip


def _fact_texts(row: Row, state: State, columns: int) -> list[str]:
    """Return the facts about *row*, each in a few words; some are empty."""
    pane = row.pane
    found = state.repositories.get(pane.agent_pid or 0, NOTHING)
    found = attrs.evolve(found, worktree="") if pane.about.worktree else found
    facts = [
        details.changed_meanwhile(pane, state.now),
        *_collisions(row, state),
        row.label.name and pane.project,
        pane.agent,
        pane.about.model,
        details.context(pane),
        details.cost(pane),
        repository_text.text(found, columns),
        *state.facts,
        f"mode {pane.about.mode}" if pane.about.mode else "",
        f"worktree {pane.about.worktree}" if pane.about.worktree else "",
        details.variables(pane),
        pane.detail if pane.status is Status.WAITING else "",
        pane.topic,
        pane.title if pane.title not in (pane.agent, pane.project, pane.topic) else "",
        pane.cwd,
        f"pane {row.name}",
        f"also in pane {', '.join(row.same)}" if row.same else "",
        # tmux numbers the sessions that nobody has named.
        "" if pane.place.host_title.isdigit() else pane.place.host_title,
    ]
    if is_snoozed(pane, state.now):
        facts.append(f"snoozed for {left(pane.attention.snoozed_until - state.now)}")
    # The host adds a wait when it is over.
    if pane.attention.waited_s >= 1:
        waits_now = max(0.0, state.now - pane.since) if pane.status is Status.WAITING and pane.since else 0.0
        facts.append(f"waited {age(pane.attention.waited_s + waits_now)} today")
    return facts


def _collisions(row: Row, state: State) -> dict[str, bool]:
    return details.collisions(row.pane, {row.address: row.name for row in state.rows})


def _facts(row: Row, state: State, columns: int) -> list[Line]:
    """Return the other facts, dim, as many in a line as fit; important ones are not dim."""
    lines: list[Line] = []
    used = columns
    loud = {
        details.changed_meanwhile(row.pane, state.now),
        *(fact for fact, same in _collisions(row, state).items() if same),
    }
    loud |= {details.context(row.pane)} if details.is_nearly_full(row.pane) else set()
    for known in filter(None, _fact_texts(row, state, columns)):
        fact = clean(known, max(1, columns - 1))
        if used + width(fact) + len(_DOT) > columns:
            lines.append((Span(" "),))
            used = 1
        else:
            lines[-1] += (Span(_DOT, is_dim=True),)
            used += len(_DOT)
        chip = Status.WAITING if known in loud else None
        lines[-1] += (Span(fact, chip=chip, is_dim=chip is None),)
        used += width(fact)
    return lines
