"""
Real Claude Code and Codex in one checkout, in a real kitty, with a person who writes there between their turns.

Fifty turns take minutes, so this is run by hand: `pytest -s tests/real_agents/review_kitty.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.parts.work import ledger, review
from tallylight.parts.work.ledger import Stretch
from tallylight.parts.work.trees import Store
from tests.parts.work.test_trees import contents
from tests.parts.work.test_turns import lines_of
from tests.real_agents.collisions_kitty import COMMANDS, PAIRS, _edit
from tests.real_agents.collisions_kitty import shops as shops  # a fixture
from tests.real_agents.desk import Desk, Tab
from tests.real_agents.driver import wait_until

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

IN_ONE_KITTY = {"test_fifty_turns": "0.48"}
TURNS = int(os.environ.get("TALLY_REVIEW_TURNS", "50"))


@pytest.fixture
def tabs(desk: Desk, shops: tuple[Path, Path]) -> Iterator[list[Tab]]:
    """Both agents in one checkout."""
    found = []
    for agent, command in COMMANDS.items():
        desk.launches[agent] = desk.launches[agent]._replace(cwd=shops[0])
        found.append(Tab(desk, agent, command))
    yield found
    for tab in found:
        tab.close()


def test_fifty_turns(desk: Desk, tabs: list[Tab], shops: tuple[Path, Path]) -> None:
    """Each turn has the lines of its agent, and no other; the repository stays as it was."""
    top, home = shops[0], desk.kitty.home
    store = Store.of(str(top), {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / ".local/state")})
    assert store is not None
    before, wrong = contents(top / ".git"), 0

    def known(tab: Tab) -> list[Stretch]:
        return [one for one in ledger.load(store.folder) if one.pane.endswith(f":{tab.window}")]

    for number in range(TURNS):
        tab, file = tabs[number % 2], number // 2 % PAIRS
        old = f"{'' if number < 2 * PAIRS else f'{tab.agent} '}line {10 + number % 2}"
        count = len({one.turn for one in known(tab)})
        (top / f"mine{number % 3}").write_text(f"person {number}\n")
        _edit(tab, file, old, f"{tab.agent} {old}")
        wait_until(lambda: len({one.turn for one in known(tab)}) > count, 60, "the end of the turn", 0.1)  # noqa: B023
        with (top / f"f{file}.py").open("a") as written:
            written.write(f"person {number}\n")
        text = review.shown(store, ledger.last_turn(known(tab)), 0.0, is_coloured=False)
        is_right = lines_of(text) == {f"-{old}", f"+{tab.agent} {old}"}
        wrong += not is_right
        sys.stdout.write(f"{number} {tab.agent} {is_right}\n" + text * (not is_right))
    assert wrong == 0 and contents(top / ".git") == before
