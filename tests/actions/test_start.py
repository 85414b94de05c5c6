"""Which argument list starts an agent, and what a prompt may not be."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest

from tallylight.actions import start
from tallylight.actions.gate import Refusal
from tallylight.actions.start import StartPlan
from tallylight.files.program import find_program
from tests.evidence.agents import AGENTS, agent
from tests.tables import each

SENTENCE = "fix the tests"


@each(
    "name, prompt, words",
    [
        ("claude", "", ("claude",)),
        ("claude", SENTENCE, ("claude", SENTENCE)),
        ("claude", "two\nlines", ("claude", "two\nlines")),
        ("codex", "$(touch made) `x` ; rm", ("codex", "$(touch made) `x` ; rm")),
        ("claude", "update", ("claude", "update ")),
        ("codex", " exec ", ("codex", "exec ")),
        ("pi", "fix", ("pi", "fix ")),
        ("gemini", "update", ("gemini", "--prompt-interactive", "update")),
        ("qwen", SENTENCE, ("qwen", "--prompt-interactive", SENTENCE)),
        ("opencode", SENTENCE, ("opencode", "--prompt", SENTENCE)),
        ("aider", "", ("aider",)),
    ],
)
def test_the_prompt_is_one_word_at_the_end(name: str, prompt: str, words: tuple[str, ...]) -> None:
    """Whatever is in it, it is one argument, and there is no other that a script could choose."""
    assert start.words_of(agent(name), prompt) == words


@each(
    "name, prompt, rule",
    [
        ("claude", "-p do it", "prompt"),
        ("claude", "--dangerously-skip-permissions", "prompt"),
        ("claude", "--dangerously-skip-permissions now", "prompt"),
        ("codex", "--yolo do it", "prompt"),
        ("gemini", "--yolo", "prompt"),
        ("opencode", "-h", "prompt"),
        ("claude", "@selection and more", "prompt"),
        ("aider", SENTENCE, "prompt"),
        ("claude", "a\x1b[A b", "text"),
        ("claude", "a\0 b", "text"),
        ("claude", "a\u202e b", "text"),
        ("claude", "a b\ud800", "text"),
        ("claude", "x y" * 2000, "too-long"),
    ],
)
def test_a_prompt_that_could_be_something_else(name: str, prompt: str, rule: str) -> None:
    """An option, a command, something of kitty's, or what no terminal shows."""
    found = start.words_of(agent(name), prompt)
    assert isinstance(found, Refusal) and found.rule == rule


def test_a_file_of_a_program_that_runs_others() -> None:
    """An agent file cannot make a shell an agent, nor give it a dangerous option."""
    for change, rule in (
        ({"processes": ("bash",)}, "deny-list"),
        ({"processes": (), "packages": ("x",)}, "program"),
        ({"start": ("bash", "-c", "{prompt}")}, "deny-list"),
        ({"start": ("/tmp/claude", "{prompt}")}, "program"),
        ({"start": ("other", "{prompt}")}, "program"),
        ({"start": ("claude", "--dangerously-skip-permissions", "{prompt}")}, "dangerous"),
    ):
        found = start.words_of(attrs.evolve(agent("claude"), **change), SENTENCE)  # type: ignore[arg-type]
        assert isinstance(found, Refusal) and found.rule == rule, change


def test_every_agent_can_be_started() -> None:
    """Each file gives a program, and a prompt stands where its list has it."""
    with_prompt = {one.name for one in AGENTS if not isinstance(start.words_of(one, SENTENCE), Refusal)}
    assert with_prompt == {
        "claude", "codex", "copilot", "gemini", "grok", "grok-build", "kilo", "opencode", "pi", "qwen", "vibe",
    }  # fmt: skip
    assert all(not isinstance(start.words_of(one, ""), Refusal) for one in AGENTS)


def test_the_program_is_looked_for_in_absolute_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the host finds it; neither the directory of the script nor a file that cannot run counts."""
    for folder in ("bin", "here", "plain"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "claude").write_text("")
    for folder in ("bin", "here"):
        (tmp_path / folder / "claude").chmod(0o755)
    monkeypatch.chdir(tmp_path / "here")
    path = os.pathsep.join([".", "", "bin", str(tmp_path / "plain"), str(tmp_path / "bin")])

    def find(name: str) -> str:
        return find_program(name, path)

    found = start.plan(agent("claude"), SENTENCE, "a\x1b name", str(tmp_path), find)
    assert found == StartPlan(
        argv=(str(tmp_path / "bin/claude"), SENTENCE), cwd=str(tmp_path), agent="claude", title="a name"
    )
    for cwd, found_by, rule in (
        (str(tmp_path), lambda _: "", "program"), ("here", find, "directory"), ("/nowhere", find, "directory")
    ):  # fmt: skip
        refused = start.plan(agent("claude"), "", "", cwd, found_by)
        assert isinstance(refused, Refusal) and refused.rule == rule
