"""The agent file that the documentation calls the smallest: it does what is said of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallylight.agents.agent import Agent, parse_agent
from tallylight.evidence.prompts import read_screen
from tallylight.model.status import Status

PAGE = Path(__file__).parents[2] / "docs/agents.md"


@pytest.fixture(scope="module")
def agent() -> Agent:
    found = re.search(r"The smallest file.*?```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return parse_agent(found[1], "mine.toml")


@pytest.mark.parametrize("prompt", ["mine>", "mine> "])
def test_the_bare_prompt_is_idle(agent: Agent, prompt: str) -> None:
    """At its prompt the agent is idle, whether the terminal keeps the blank behind it or not."""
    found = read_screen(agent, ["you said 1", prompt], 1)

    assert found is not None and (found.status, found.rule) == (Status.IDLE, "ready")


def test_a_prompt_with_a_command_behind_it_is_not(agent: Agent) -> None:
    """The line in which the person asked is still on the screen while the agent works, and is no prompt."""
    assert read_screen(agent, ["Mine 1.0", "mine> go on", "thinking 1", "thinking 2", ""], 4) is None


def test_its_question_needs_no_rule(agent: Agent) -> None:
    """Numbered choices below a question are understood without a rule."""
    found = read_screen(agent, ["mine> go on", "Run the migration?", "❯ 1. Yes", "  2. No", "", ""], 5)

    assert found is not None and found.dialog is not None and found.dialog.question == "Run the migration?"
