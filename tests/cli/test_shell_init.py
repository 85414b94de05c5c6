"""`tally shell-init`: which names it takes and what it prints. tests/shells runs that in the shells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.cli import shell_init
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


def test_the_names_that_are_made_beforehand(
    fake_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are those of the agent files; and no agent file is read for them, for every new shell waits."""
    told = shell_init.render("bash", shell_init.names(agent_files.load_agents({})[0]))
    monkeypatch.setattr(agent_files, "load_agents", lambda _: 1 // 0)
    assert main(["shell-init", "bash"]) == 0
    assert capsys.readouterr().out == told
    code = (
        "import sys; from tallylight.cli.main import main; main(['shell-init', 'bash']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    loaded = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True).stderr.split()
    assert not {"argparse", "attr", "tallylight.agents.agent", "tallylight.cli.output", "tomllib"} & set(loaded)


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
