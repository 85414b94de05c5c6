"""The effect of the files of agents: `python -m benchmarks.rules` reads the screens on which an agent waits.

A row has an agent, and the share of that time in which its screen is not read as waiting. The columns: with its own
file, without one, with the file of another agent in its place, and with one of its rules deleted. The last two show the
worst case.
"""

from __future__ import annotations

import concurrent.futures
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks import accuracy

from tallylight.agents.agent import Agent
from tallylight.agents.agent_files import load_agents
from tallylight.evidence.prompts import read_screen
from tallylight.evidence.unknown import candidate
from tallylight.model import attributes
from tallylight.model.status import Status
from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Output, Resize
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner

_LOOK_S = 0.25


class Screen(NamedTuple):
    """One screen: its rows, the row of its cursor, whether that is visible, and its columns."""

    lines: tuple[str, ...]
    cursor_row: int
    is_visible: bool
    columns: int


def waiting(path: Path) -> tuple[str, dict[Screen, float]]:
    """Whose recording it is, and the screens on which it waits, with the seconds that each is there."""
    recording = accuracy.read(path)
    scanner, grid = Scanner(), Grid(recording.header.columns, recording.header.rows)
    found: dict[Screen, float] = {}
    due, number = _LOOK_S, -1
    for event in recording.events:
        while due <= event.time:
            while number + 1 < len(recording.truth) and recording.truth[number + 1][0] <= due:
                number += 1
            at, word = recording.truth[number] if number >= 0 else (due, "starting")
            if due - at > scoring.GRACE_S and scoring.class_of(word) == "waiting":
                screen = Screen(tuple(grid.lines), grid.cursor_row, grid.cursor_visible, grid.columns)
                found[screen] = found.get(screen, 0.0) + _LOOK_S
            due += _LOOK_S
        if isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
        elif isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
    return recording.agent, found


def missed(agent: Agent, screens: dict[Screen, float]) -> float:
    """The share of the time of *screens* in which they are not read as waiting."""
    lost = 0.0
    for screen, seconds in screens.items():
        read = read_screen(
            agent, screen.lines, screen.cursor_row, columns=screen.columns, cursor_visible=screen.is_visible
        )
        lost += seconds * (read is None or read.status is not Status.WAITING)
    return lost / (sum(screens.values()) or 1.0)


def row(agent: Agent, others: Iterable[Agent], screens: dict[Screen, float]) -> tuple[float, float, float, float]:
    """The four shares of one agent."""
    rules = agent.screen_rules
    less = [attributes.evolve(agent, screen_rules=(*rules[:at], *rules[at + 1 :])) for at in range(len(rules))]
    return (
        missed(agent, screens),
        missed(candidate(agent.name), screens),
        max(missed(other, screens) for other in others),
        max(missed(one, screens) for one in less),
    )


def main() -> int:
    """Print the table."""
    agents, _ = load_agents(os.environ)
    described = [agent for agent in agents if agent.screen_rules]
    screens: dict[str, dict[Screen, float]] = {}
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for name, found in pool.map(waiting, sorted(accuracy.CORPUS.rglob("*.cast.gz")), chunksize=8):
            every = screens.setdefault(name, {})
            every.update({screen: every.get(screen, 0.0) + seconds for screen, seconds in found.items()})
        rows = [agent for agent in described if screens.get(agent.name)]
        others = [[other for other in described if other is not agent] for agent in rows]
        given = [screens[agent.name] for agent in rows]
        print("|  | its own file | no file | another agent's | one rule less |\n| --- | ---: | ---: | ---: | ---: |")
        for agent, shares in zip(rows, pool.map(row, rows, others, given), strict=True):
            print(f"| {agent.display} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
