"""`tally start`: what is asked of kitty, what is printed, and what a worktree for it is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Done
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.start import StartPlan
from tallylight.cli.exit_codes import REFUSED, TIMED_OUT, WAITS
from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tests.cli.panes import HOST, NOW, WAITING, publish


@pytest.fixture
def asked(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What kitty is asked, and from which directory; it opens the pane that is published."""
    found: list[tuple[str, ...]] = []
    publish(runtime, [WAITING])
    monkeypatch.setenv("KITTY_PID", HOST.removeprefix("kitty-"))

    def start(_client: PaneClient, host: str, what: StartPlan) -> Done | Refusal:
        found.append((str(Path.cwd()), host, *attrs.astuple(what)))
        return Done("3", "/usr/bin/claude") if what.agent == "claude" else Refusal("agent", "no agent is called that")

    monkeypatch.setattr(PaneClient, "start", start)
    monkeypatch.chdir(runtime)
    return found


def test_the_address_is_printed(asked: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    """In a tab, if nothing else is said; alone, so that a script takes it as it is, or as JSON."""
    assert main(["start", "claude", "--prompt", "fix it now", "--name", "helper"]) == 0
    assert capsys.readouterr().out == f"{HOST}:3\n"
    assert main(["start", "claude", "--in", "split", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["address"], told["program"], told["worktree"], told["refused"]) == (
        f"{HOST}:3", "/usr/bin/claude", None, None
    )  # fmt: skip
    here = str(Path.cwd())
    assert asked == [(here, HOST, "claude", "tab", "helper", "fix it now"), (here, HOST, "claude", "split", "", "")]


def test_it_waits_for_the_turn_of_its_prompt(
    asked: list[tuple[str, ...]], runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address is all that is printed, and the exit code says what the turn came to."""
    for pane, more, code in (
        (attrs.evolve(WAITING, since=NOW + 1), [], WAITS),
        (attrs.evolve(WAITING, status=Status.IDLE, since=NOW + 1), ["--timeout", "0"], TIMED_OUT),
    ):
        publish(runtime, [pane])
        assert main(["start", "claude", "--wait", "--prompt", "fix it now", *more]) == code
        assert capsys.readouterr().out == f"{HOST}:3\n"
    publish(runtime, [attrs.evolve(WAITING, since=NOW + 1)])
    assert main(["start", "claude", "--wait", "--prompt", "fix it now", "--json"]) == WAITS
    assert json.loads(capsys.readouterr().out)["state"] == "waiting"
    assert main(["start", "claude", "--wait"]) == 2


def test_what_is_refused(
    asked: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By kitty; by the prompt, before kitty is asked; and where there is no kitty."""
    assert main(["start", "other", "--json"]) == REFUSED
    told = capsys.readouterr()
    assert (json.loads(told.out)["refused"], json.loads(told.out)["address"]) == ("agent", None)
    assert told.err.startswith("tally start: agent: ")
    assert main(["start", "claude", "--prompt", "@x y", "--worktree", "x"]) == REFUSED
    assert main(["start", "claude", "--prompt=--yolo now"]) == REFUSED
    monkeypatch.delenv("KITTY_PID")
    assert main(["start", "claude"]) == REFUSED
    assert "place" in capsys.readouterr().err
    assert [words[2] for words in asked] == ["other"]
    assert main(["start"]) == main(["start", "claude", "--in", "overlay"]) == 2


@pytest.mark.slow
def test_a_worktree_of_its_own(
    asked: list[tuple[str, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the repository, on a new branch; a name that is taken, or would be another one, makes none."""
    repository = tmp_path / "app"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "below").mkdir()
    (repository / "below/file").write_text("")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    monkeypatch.chdir(repository / "below")

    assert main(["start", "claude", "--worktree", "parser", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["worktree"] == {"path": str(tmp_path / "app-parser"), "branch": "parser"}
    assert "--branch parser" in told.err
    assert asked == [(str(tmp_path / "app-parser/below"), HOST, "claude", "tab", "", "")]
    for name in ("parser", "../x", "a b", "-x", "", "x.lock", "x" * 61):
        monkeypatch.chdir(repository)
        assert main(["start", "claude", f"--worktree={name}"]) == REFUSED, name
    assert len(asked) == 1
    assert sorted(path.name for path in tmp_path.glob("app*")) == ["app", "app-parser"]


def test_in_tmux_it_is_started_from_here(
    asked: list[tuple[str, ...]], runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the same rules and by the PATH of tmux, where `tally host sessions` shows its panes; nobody can be asked."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(runtime))
    monkeypatch.delenv("TMUX", raising=False)
    (runtime / "claude").write_text("")
    (runtime / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", "/forged")
    started: list[tuple[str, ...]] = []

    def start(plan: StartPlan, path: str, *_: object) -> Done:
        started.append((*plan.argv, plan.cwd, plan.title, path))
        return Done("tmux/1/%3", plan.argv[0])

    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.starts.start", start)
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.starts.search_path", lambda _: str(runtime))
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.confinement.is_confined", lambda *_: False)
    assert main(["start", "claude", "--in", "tmux"]) == REFUSED
    assert "tally host sessions" in capsys.readouterr().err
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    assert main(["start", "claude"]) == REFUSED
    assert "tally host sessions" in capsys.readouterr().err

    publish(runtime, [Pane(id="tmux/1/%3", status=Status.IDLE)], host="sessions")
    address = f"{HOST.replace('kitty', 'sessions')}:tmux/1/%3"
    assert main(["start", "claude", "--in", "tmux", "--prompt", "fix it now", "--name", "helper"]) == 0
    assert capsys.readouterr().out == f"{address}\n"
    assert started == [(str(runtime / "claude"), "fix it now", str(runtime), "helper", str(runtime))]
    # Within tmux it is the place where one is asked for no other.
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    monkeypatch.setenv("TMUX_PANE", "%1")
    assert main(["start", "claude"]) == 0
    assert started.pop()[1:] == (str(runtime), "Claude Code", str(runtime))
    for argv, rule in ((["other"], "agent"), (["claude", "--prompt", "@x y"], "prompt"), (["codex"], "program")):
        assert main(["start", *argv, "--in", "tmux"]) == REFUSED
        assert f"tally start: {rule}: " in capsys.readouterr().err
    # Its own configuration is that of the host, not one that the caller names.
    (runtime / "tallylight/config.toml").write_text('[scripting]\nallow = "all"\n')
    publish(runtime, [Pane(id="tmux/1/%3", status=Status.IDLE)], host="sessions", allow="ask")
    assert main(["start", "claude", "--in", "tmux"]) == REFUSED
    assert "tally start: permission: " in capsys.readouterr().err
    assert len(started) == 1
    assert asked == []
