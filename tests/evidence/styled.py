"""
Styled screens of real agents: `styled/AGENT/NAME-COLUMNS.txt`, as a terminal showed them, with their colours.

Above `---` stands what has to be read off it; `selected` counts from 1, 0 is none. Below it each row is text with SGR
sequences, whose escape character is written `␛`.
"""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.screen import Look
from tallylight.wire.styled import StyledScreen, plain, read_screen
from tests.evidence.agents import agent

FOLDER = Path(__file__).with_name("styled")
STYLED = sorted(FOLDER.rglob("*.txt"))


@attrs.frozen
class Styled:
    """One of them: its *look*, the same *styled*, and what it shows."""

    agent: Agent
    look: Look
    #: The rows as they were written, with their sequences.
    rows: tuple[str, ...]
    styled: StyledScreen
    rule: str
    selected: int
    choices: list[list[str]]


def load(path: Path) -> Styled:
    """Read one file."""
    head, _, text = path.read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    columns = int(facts["columns"])
    rows = tuple(text.removesuffix("\n").replace("␛", "\x1b").split("\n"))
    styled = read_screen(rows, columns)
    return Styled(
        agent(path.parent.name),
        Look([plain(line).rstrip() for line in styled.lines], int(facts["cursor"]), 0, columns),
        rows,
        styled,
        facts["rule"],
        int(facts["selected"]),
        json.loads(facts["choices"]),
    )


def named(name: str) -> Styled:
    """The one called *name*, `opencode/permission-80`."""
    return load(FOLDER / f"{name}.txt")
