"""The options that a fork or a resumption keeps, before the agents' own readers of arguments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tallylight.agents.agent import Agent
from tallylight.parts.conversations.plan import Verb
from tests.actions.known import CLAUDE, CODEX
from tests.actions.test_options import planned, scene

pytestmark = pytest.mark.agents

#: With values that the newest Codex takes.
OF_CODEX = ("--disable", "shell_tool", "-s", "read-only", "-a", "on-request")
OF_CLAUDE = ("--disallowedTools", "Bash", "Edit(*)", "--permission-mode", "plan", "--settings", "{}", "--restricted")
#: What the agent does not take there, and what of it is wrong.
WRONG = {"codex": ("--sandbox", "read-everything"), "claude": ("--permission-mode", "careful")}


def is_taken(agent: Agent, program: Path, home: Path, *words: str) -> bool:
    """Whether the program reads these arguments without a complaint; it is asked for its help or version only."""
    ends = "--help" if agent is CODEX else "--version"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([program, *words, ends], env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode == 0


@pytest.mark.parametrize("verb", [Verb.FORK, Verb.RESUME])
def test_codex_takes_them(verb: Verb, codex_program: Path, tmp_path: Path) -> None:
    """Behind `codex fork ID` and `codex resume ID`, as in front of everything."""
    argv = planned(verb, scene(CODEX, *OF_CODEX)).argv
    assert argv[-len(OF_CODEX) :] == OF_CODEX
    assert is_taken(CODEX, codex_program, tmp_path, *argv[1:])
    assert not is_taken(CODEX, codex_program, tmp_path, *argv[1:], *WRONG["codex"])


@pytest.mark.parametrize("verb", [Verb.FORK, Verb.RESUME])
def test_claude_takes_them(verb: Verb, claude_program: Path, tmp_path: Path) -> None:
    """Behind `claude --resume ID`."""
    argv = planned(verb, scene(CLAUDE, *OF_CLAUDE)).argv
    assert argv[-len(OF_CLAUDE) :] == OF_CLAUDE
    assert is_taken(CLAUDE, claude_program, tmp_path, *argv[1:])
    assert not is_taken(CLAUDE, claude_program, tmp_path, *argv[1:], *WRONG["claude"])
