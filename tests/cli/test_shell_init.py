"""`tally shell-init`: which names it takes and what it prints. tests/shells runs that in the shells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.cli.main import main
from tallylight.cli.shell_init import PLACEHOLDER, TEMPLATES
from tests.tables import each


@each("shell", TEMPLATES)
def test_it_prints_code_for_the_known_agents(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every shell's code names the agents whose name is theirs alone, and none that others share."""
    assert main(["shell-init", shell]) == 0

    said = capsys.readouterr()
    (names,) = [line for line in said.out.splitlines() if line.startswith("for __tally_agent in ")]
    assert {"'claude'", "'codex'", "'gemini'", "'opencode'"} <= set(names.rstrip("; do").split())
    assert not {"'agent'", "'copilot'", "'amp'"} & set(names.rstrip("; do").split())
    assert PLACEHOLDER not in said.out
    assert said.err == ""


def test_a_users_agent_is_one_of_them(fake_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent of the user's own gets a name too; a broken file of theirs is named and costs only itself."""
    folder = fake_home / ".config" / "tallylight" / "agents"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('name = "mine"\nprocesses = ["my-agent", "cd"]\n', "utf-8")
    (folder / "bad.toml").write_text("name = \n", "utf-8")

    assert main(["shell-init", "bash"]) == 0

    said = capsys.readouterr()
    assert "'my-agent'" in said.out
    assert "'cd'" not in said.out
    assert "bad.toml" in said.err


@each("argv", [[], ["tcsh"], ["bash", "zsh"]])
def test_another_shell_is_wrong_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """No shell, or one there is no code for, is exit code 2."""
    assert main(["shell-init", *argv]) == 2
    assert capsys.readouterr().out == ""
