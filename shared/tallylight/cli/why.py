"""`tally why`: the source and the rule that lit a pane, how old that is, what would change it, and weaker evidence."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence

from tallylight.agents.agent import Agents
from tallylight.cli.output import (
    GAP,
    JSON_VERSION,
    UNBOUNDED_CELLS,
    Output,
    age,
    ago,
    clean,
    complain,
    fit,
    status_words,
)
from tallylight.cli.parser import Parser
from tallylight.evidence import process_table
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import base_name
from tallylight.model import lights
from tallylight.model.report import current
from tallylight.model.status import Status
from tallylight.pane.known import MULTIPLEXERS
from tallylight.snapshot.addresses import Row, add_pane, pick, read_panes
from tallylight.snapshot.schema import AnswerEntry, Pane, status_of
from tallylight.ui import details
from tallylight.ui.layout import left, rule_words, wrap


def make_parser() -> Parser:
    parser = Parser(
        prog="tally why",
        description="Explain a light: which source, which rule, how old, and what would change it.",
        examples={
            "tally why": "of this pane, else the most urgent",
            "tally why 3": "of pane 3",
            "tally why 'tmux 2' --json": "every field, for programs",
        },
        codes={1: "no such pane, or nothing to explain"},
    )
    add_pane(parser, nargs="?")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Explain one pane."""
    options = make_parser().parse_args(argv)
    panes = read_panes(os.environ)
    complain("why", *panes.problems)
    output = Output.chosen(options.color)
    if not panes.panes and options.pane is None:
        output.line(panes.why_none)
        return 1
    found = pick(panes, options.pane, os.environ)
    if options.json:
        document = {"version": JSON_VERSION, "address": found.address, "host": found.host, **found.pane.to_json()}
        output.line(json.dumps(document, indent=2))
    else:
        draw(output, found, time.time(), _advice(found, panes.panes, process_table.table()))
    return 0


_QUESTIONS = ("turn", "asks", "rest")
#: The advice for exact lights of another machine's agents.
EXACT_THERE = (
    "For exact lights, start the agent there with `tally run`, or add that machine to [machines] in config.toml"
)


def _advice(found: Row, panes: Sequence[Row], table: process_table.Table) -> str:
    """Return the advice for a pane where another program hides the agents, so that little is known."""
    pane = found.pane
    is_seen_only = pane.agent in ("", pane.program.name)
    process = table.get(pane.pid) if is_seen_only and pane.pid is not None else None
    if process is None:
        return ""
    if (front := identify((process,), Agents(()))).is_remote:
        return f"{front.suspect} shows another machine. {EXACT_THERE}"
    name = MULTIPLEXERS.get(base_name(process.exe), "")
    if not name:
        return ""
    if any(other.host.startswith("sessions-") for other in panes):
        return f"{name} is in front; the agents in it have rows of their own: see `tally status`"
    return f"{name} is in front; to see the agents in it, run `tally host sessions`, or start them with `tally run`"


def draw(output: Output, found: Row, now: float, advice: str = "") -> None:
    """Print the explanation of one pane, with *advice* if there is any."""
    pane = found.pane
    head = f"{lights.mark(pane.status, pane.kind)} {status_words(pane.status, pane.kind)}"
    since = f" for {age(now - pane.since)}" if pane.since else ""
    marks = ("seen", pane.attention.seen), ("unread", pane.attention.unread)
    ledger = "".join(f", {word}" for word, is_so in marks if is_so)
    output.line(f"{output.lit(pane.status, head)}{since}{ledger}")
    label = 10
    room = max(10, output.columns - label - 2)
    for name, fact in _facts(found, now, advice).items():
        if fact:
            for number, line in enumerate(wrap(clean(fact, UNBOUNDED_CELLS), room)):
                output.line(f"  {'' if number else name:<{label}}{clean(line, room)}")
    _section(output, "its tasks", _task_rows(pane.progress, pane.tasks))
    children = []
    for record in filter(lambda record: record.id, pane.evidence.records):
        name = record.fields.get("title", "") or record.fields.get("message", "")
        words = status_words(record.status, record.kind if record.status is Status.WAITING else None)
        children.append([record.id, words, record.source, ago(record.at, now), name])
    _section(output, "its parts", children)
    _section(
        output,
        "put aside",
        [
            [e.source, e.status if status_of(e.status) else "?", rule_words(e.rule), ago(e.at, now), e.why]
            for e in pane.evidence.losing
        ],
    )


def _facts(found: Row, now: float, advice: str) -> dict[str, str]:
    """Return the facts of a pane by their names; empty where unknown."""
    pane, reason, seen = found.pane, found.pane.reason, found.pane.evidence
    # The answers to the three questions; where the host gives none, the light as a whole.
    answers = {entry.question: _answer(entry, now) for entry in seen.answers if entry.question in _QUESTIONS}
    whole = AnswerEntry(
        answer=pane.status.value, source=reason.source, rule=reason.rule, at=reason.at, changes=reason.changes
    )
    pace = f"{seen.said_per_s} a second, {seen.read_per_s} of them read: the newest of each record"
    return {
        "snoozed": _until(pane.attention.snoozed_until, now, ", or until the status changes"),
        "quiet": _until(pane.attention.muted_until, now),
        "pane": found.name,
        "agent": f"{pane.agent}?" if pane.program.signs and pane.agent == pane.program.name else pane.agent,
        "program": _program(pane),
        "project": pane.project,
        "session": pane.session,
        "about": pane.topic,
        "title": pane.title,
        "mode": pane.about.mode,
        "worktree": pane.about.worktree,
        "variables": details.variables(pane),
        "does": GAP.join(filter(None, (details.unanswered(pane, now), details.doing(pane)))),
        "message": pane.message,
        "record": details.summary(pane, now),
        "children": details.children(pane),
        "reply": pane.reply,
        "queued": details.queued(pane, now),
        "also": GAP.join((details.changed_meanwhile(pane, now), *details.collisions(pane))).strip(),
        "question": pane.question if pane.question != pane.message else "",
        "what": pane.what,
        "answers": _answers(pane.choices),
        **(answers or {"light": _answer(whole, now)}),
        "advice": advice,
        "disk": f"{seen.hangs} does not respond: what the agent keeps there is not read" if seen.hangs else "",
        "reports": pace if seen.said_per_s else "",
    }


def _program(pane: Pane) -> str:
    """Return the message about a program without an agent file; "" if there is none."""
    name, signs = pane.program.name, pane.program.signs
    if not name:
        return ""
    if signs and pane.agent_pid is None:
        return f"{name} shows an agent of another machine, by {signs}"
    taken = f", is taken for an agent by {signs}; to describe it" if signs else "; if it is an agent"
    return f"{name}, without an agent file{taken}: `tally agent new {name}`"


def _answer(entry: AnswerEntry, now: float) -> str:
    """Return an answer with its source, its age, and the event that ends it."""
    rule = rule_words(entry.rule)
    whose = "" if rule.startswith(f"{entry.source} ") else f"{entry.source}: "
    by = f", by {whose}{rule}, {ago(entry.at, now)}" if entry.source else ""
    return f"{entry.answer}{by}" + (f"; until {entry.changes}" if entry.changes else "")


def _until(until: float, now: float, more: str = "") -> str:
    """Return until when a person muted or snoozed it: on the local clock, and for how long from now."""
    if until <= now:
        return ""
    clock = time.strftime("%H:%M", time.localtime(until))
    return f"until {clock}, {left(until - now)} more{more}"


#: Marks of a task that is done, and of the current one.
_DONE, _NOW = "✓", "▸"
#: The names of keys on a keyboard.
_KEYS = {
    "\r": "Enter",
    "\x1b": "Esc",
    "\t": "Tab",
    "\x1b[A": "↑",
    "\x1b[B": "↓",
    "\x1b[C": "→",
    "\x1b[D": "←",
    "\x1b[Z": "Shift+Tab",
}
_KEY = re.compile(r"\x1b\[[A-DZ]|.", re.DOTALL)


def _answers(choices: Sequence[tuple[str, str]]) -> str:
    """Return the answers that the question takes, each with its keys."""
    shown = []
    for keys, label in choices:
        names = [_KEYS.get(key, key) for key in _KEY.findall(keys)]
        shown.append(f"[{' '.join(names)}] {label}" if names else label)
    return " · ".join(shown)


def _task_rows(progress: str, names: Sequence[str]) -> list[list[str]]:
    """Return the tasks, each with a mark if it is done or the current one."""
    now = current(progress, names)
    position = names.index(now) if now else len(names) if progress else 0
    return [[_DONE if i < position else _NOW if i == position and now else " ", name] for i, name in enumerate(names)]


def _section(output: Output, title: str, rows: list[list[str]]) -> None:
    """Print *rows* as a table below *title*; nothing without rows."""
    if not rows:
        return
    output.line(output.strong(title))
    cleaned = [[clean(cell) for cell in row] for row in rows]
    least = {2: 8, 4: 10, 0: 4} if len(cleaned[0]) > 2 else {1: 10}
    for cells in fit(cleaned, output.columns - len(GAP), least):
        output.line((GAP + GAP.join(cell for cell in cells if cell)).rstrip())
