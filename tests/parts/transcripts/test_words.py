"""What the records of real agents tell, word by word: on every surface, and as docs/agents.md says."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.cli import status, why
from tallylight.cli.output import UNBOUNDED_CELLS, Output
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records.reading import Reading
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.pane.transcript import TranscriptState
from tallylight.parts.web.model import session_of
from tallylight.snapshot import addresses, rows
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.ui import details
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.record import State
from tests.cli.panes import HOST
from tests.hosts.test_pane import CODEX
from tests.hosts.test_records import Table
from tests.parts.transcripts.kept import AGENTS, kept
from tests.tables import each
from tests.ui.agent_list.panes import snapshot

DOCS = Path(__file__).parents[3] / "docs/agents.md"
#: The words of the table, each with what a record has told when it tells it.
WORDS = ("model", "context", "tasks", "children", "reply", "limited_until", "cost")
#: How agents are called in the head of the table.
NAMES = {
    "Claude Code": ("claude",),
    "Codex": ("codex",),
    "Copilot": ("copilot",),
    "OpenCode, Kilo": ("opencode", "kilo"),
    "Gemini": ("gemini",),
    "Qwen": ("qwen",),
    "aider": ("aider",),
    "Kimi Code": ("kimi",),
    "pi": ("pi",),
    "Cline": ("cline",),
}


@cache
def told(agent: str) -> dict[str, Reading]:
    """Of each word that any record of *agent* tells, the last reading with it; of the context, with the fullest."""
    found: dict[str, Reading] = {}
    for name in AGENTS:
        if name.partition("-")[0] != agent:
            continue
        for reading in kept(name).steps():
            for word in WORDS:
                value = getattr(reading.details, word)
                if word == "context" and value and word in found and value <= (found[word].details.context or 0):
                    continue
                if value not in ("", None, (), 0):
                    found[word] = reading
    return found


def table() -> dict[str, dict[str, str]]:
    """The table of docs/agents.md: by agent and word what stands in the cell."""
    rows = [line.strip("|").split("|") for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| ")]
    start = next(number for number, row in enumerate(rows) if "Claude Code" in row[1] and len(row) > 6)
    head, found = [cell.strip() for cell in rows[start]], dict[str, dict[str, str]]()
    for row in rows[start + 1 :]:
        word = re.match(r" *`([a-z_]+)`", row[0])
        if word is not None:
            for name, cell in zip(head[1:], row[1:], strict=True):
                found.setdefault(name, {})[word[1]] = cell.strip()
    return found


def test_the_table_of_the_documentation() -> None:
    """A cell of docs/agents.md says something if, and only if, a record of a real agent tells that word."""
    said = table()

    assert list(said) == list(NAMES)
    assert {
        name: {word: any(word in told(agent) for agent in agents) for word in WORDS} for name, agents in NAMES.items()
    } == {name: {word: bool(cells[word]) for word in WORDS} for name, cells in said.items()}


CASES = [(agent, word) for agents in NAMES.values() for agent in agents for word in told(agent)]


def shown(home: Path, reading: Reading) -> PaneEntry:
    """The pane of an agent whose record has said that, as a host publishes it."""
    table = Table(str(home))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CODEX.pid, 0.0)
    pane.requests()
    assert pane.transcript is not None
    pane.transcript.take(TranscriptState(reading=reading), 1.0)
    return pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")


def expected(entry: PaneEntry, word: str, now: float) -> str:
    """What a person is to read of a word."""
    number = int(entry.progress.partition("/")[0] or 0)
    return {
        "model": entry.about.model,
        "context": f"{entry.about.context}%",
        "tasks": entry.tasks[number] if number < len(entry.tasks) else entry.progress,
        "children": ", ".join(f"{name} {state}" for name, state in entry.about.children),
        "reply": entry.reply[:20],
        "limited_until": details.limit(entry, now),
        "cost": f"${entry.about.cost or 0:.2f}",
    }[word]


def drawn(draw: Callable[[Output], None]) -> str:
    """What a verb prints."""
    stream = io.StringIO()
    draw(Output(stream, UNBOUNDED_CELLS))
    return stream.getvalue()


@pytest.mark.slow
@each("agent, word", CASES)
def test_every_surface_shows_it(agent: str, word: str, tmp_path: Path) -> None:
    """The list, `status -o wide`, `--json`, `why` and what the page is sent show each word that a record tells."""
    reading = told(agent)[word]
    entry = shown(tmp_path, reading)
    now = reading.details.limited_until - 60 if word == "limited_until" else entry.since + 60
    found = addresses.Row(HOST, entry)
    text = expected(entry, word, now)

    assert text
    assert text in drawn(lambda output: status.draw(output, [found], now, {}))
    assert text in drawn(lambda output: why.draw(output, found, now))
    listed = state.refreshed(state.resized(State(), 160, 40), rows.build([snapshot(entry)], "kitty-7", now), now)
    lines = ["".join(span.text for span in line) for line in draw(listed)]
    assert any(text in line for line in lines), lines
    value = getattr(reading.details, word)
    whole = json.loads(json.dumps(entry.to_json()))
    sent = session_of(found, can_see=True, can_type=True).model_dump()
    for place in (whole, sent):
        assert len(place[word]) == len(value) if isinstance(value, tuple) else place[word] == value


@pytest.mark.parametrize("agent", sorted({agent for agent, word in CASES if word == "context"}))
def test_a_context_is_amber_from_eighty(agent: str, tmp_path: Path) -> None:
    """In `status -o wide` and in the list, as full as a record of the agent has told, and no sooner."""
    entry = shown(tmp_path, told(agent)["context"])
    used = entry.about.context or 0
    stream = io.StringIO()
    status.draw(Output(stream, UNBOUNDED_CELLS, colour=True), [addresses.Row(HOST, entry)], entry.since, {})
    listed = state.refreshed(state.resized(State(), 160, 40), rows.build([snapshot(entry)], "kitty-7", 60), 60)
    chips = [span.text for line in draw(listed)[2:] for span in line if span.text and span.chip is Status.WAITING]

    assert ("\x1b[" in stream.getvalue().splitlines()[1]) is (used >= 80)
    assert chips == ([f"context {used}%"] if used >= 80 else [])
