"""`tally diff`: what is shown, in whose program, how comments reach the agent, and what is asked before an undo."""

from __future__ import annotations

import os
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli.exit_codes import NOTHING, REFUSED
from tallylight.cli.main import main
from tallylight.parts.work import ledger
from tallylight.parts.work.ledger import Stretch
from tallylight.parts.work.trees import Store
from tallylight.snapshot.entries import ConversationEntry
from tallylight.snapshot.schema import Pane
from tests.actions.desk import PID
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture
from tests.cli.panes import DONE, HOST, NOW, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.parts.work.test_trees import state as state  # a fixture
from tests.ui.agent_list.program import Host, List


def turn(trap: Trap, pane: str, now: float) -> Pane:
    """A turn of the agent of *pane* that changed a line and made a file; the pane."""
    store = Store.of(str(trap.root), os.environ)
    assert store is not None
    before = store.take(now)
    trap.write("src/a", "two\n")
    trap.write("new", "1\n")
    after = store.take(now)
    known = Stretch(
        pane=f"{HOST}:{pane}", pid=PID, agent="claude", turn=now, began=now, ended=now, before=before.id, after=after.id
    )
    ledger.add(store.folder, [known], now)
    return attrs.evolve(DONE, id=pane, agent_pid=PID, conversation=ConversationEntry(cwd=str(trap.root / "src")))


@pytest.fixture
def pane(trap: Trap, runtime: Path) -> Pane:
    found = turn(trap, "3", NOW - 60)
    publish(runtime, [found])
    return found


def program(folder: Path, text: str) -> str:
    path = folder / "own-program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_what_changed(pane: Pane, capfd: pytest.CaptureFixture[str]) -> None:
    """In a pipe as it is, with when it was."""
    for words in (["3"], ["3", "--turn"], ["3", "--since-looked"]):
        assert main(["diff", *words]) == 0
        lines = capfd.readouterr().out.splitlines()
        assert lines[0].startswith("# claude, ")
        assert {"-one", "+two", "+1", "diff --git a/new b/new"} <= set(lines)


def test_a_repository_that_is_too_large(
    pane: Pane, monkeypatch: pytest.MonkeyPatch, trap: Trap, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is said where and why."""
    monkeypatch.setattr("tallylight.parts.work.trees.MAX_NEW_FILES", 0)
    trap.write("more", "x")
    assert main(["diff", "3", "--undo", "--yes"]) == 1
    assert f"{trap.root} has too much that is new" in capsys.readouterr().err


def test_nothing_is_known(trap: Trap, runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a pane without a repository, and of one that had no turn in it."""
    other = attrs.evolve(DONE, id="4", conversation=ConversationEntry(cwd=str(trap.root)))
    publish(runtime, [DONE, other])
    for id_ in ("1", "4"):
        assert main(["diff", id_]) == NOTHING
        assert "only turns in a git repository are kept" in capsys.readouterr().err


@pytest.mark.slow
def test_the_difftool_is_the_persons(
    pane: Pane, trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As their git is set up; what the repository says of tools is not read."""
    own = program(tmp_path, 'echo "$(cat "$1")|$(cat "$2")"')
    config = tmp_path / "gitconfig"
    config.write_text(f'[diff]\n\ttool = mine\n[difftool "mine"]\n\tcmd = {own} \\"$LOCAL\\" \\"$REMOTE\\"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    (tmp_path / ".gitconfig").write_text(config.read_text())
    trap.set("difftool.mine.cmd", str(trap.program))
    trap.set("diff.external", str(trap.program))
    assert main(["diff", "3", "--tool"]) == 0
    assert "one|two" in capfd.readouterr().out.splitlines()
    assert not trap.ran()


@pytest.mark.slow
def test_undo_is_asked(
    pane: Pane, trap: Trap, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is done without a yes; what is done can be undone; in the end there is nothing to undo."""
    assert main(["diff", "3", "--undo"]) == 1
    assert "give --yes" in capsys.readouterr().err and (trap.root / "new").exists()
    assert main(["diff", "3", "--undo", "--yes"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["  restore  src/a", "  remove   new"]
    assert not (trap.root / "new").exists() and (trap.root / "src/a").read_text() == "one\n"
    monkeypatch.setattr("time.time", lambda: NOW + 60)
    assert main(["diff", "3", "--undo", "--yes"]) == 0
    assert (trap.root / "src/a").read_text() == "two\n"
    trap.write("src/a", "mine\n")
    (trap.root / "new").unlink()
    assert main(["diff", "3", "--undo", "--yes"]) == NOTHING
    assert "there is nothing to undo" in capsys.readouterr().err


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", program(tmp_path, "sed -i 's/^+two$/&\\n>> why two?/' \"$1\""))


def test_comments_are_queued(
    pane: Pane,
    editor: None,
    kitty: Kitty,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As one text with its place, by the queue and its rules: never into a dialog. A refusal loses nothing."""
    # The command runs on a thread here.
    monkeypatch.setattr("tallylight.parts.work.programs.signal.signal", lambda *_: None)
    desk = ScriptDesk.of(kitty, "claude/permission-bash-80", allow="all")
    assert desk.run(lambda: main(["diff", "3", "--comment", "--yes"])) == 0
    text = "src/a:1 `two`: why two?"
    assert capsys.readouterr().out.splitlines() == [text, "queued until its turn ends"]
    assert (desk.host.panes[3].queued.text, desk.window.written) == (text, [])

    assert desk.run(lambda: main(["diff", "3", "--comment", "--yes"])) == REFUSED
    (name,) = [word for word in capsys.readouterr().err.split() if word.endswith(".diff")]
    assert ">> why two?" in Path(name).read_text()


def test_no_comment(pane: Pane, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent, and an editor that fails is told of."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    assert main(["diff", "3", "--comment", "--yes"]) == NOTHING
    monkeypatch.setenv("EDITOR", "false")
    assert main(["diff", "3", "--comment", "--yes"]) == 1
    assert "the editor failed; /" in capsys.readouterr().err


@pytest.mark.slow
def test_from_the_list(trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`d` shows it in the pager, `c` opens the editor, and the comments stand in the list, to be sent by Enter."""
    host = Host(tmp_path)
    pane = turn(trap, "3", time.time())
    assert host.name == HOST
    host.publish(attrs.evolve(pane, project="docs"))
    environ = {
        "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
        "HOME": str(tmp_path),
        "PAGER": "cat",
        "VISUAL": program(tmp_path, "sed -i 's/^+two$/&\\n>> why two?/' \"$1\""),
    }
    shown = List(tmp_path, **environ)
    with shown.terminal:
        shown.wait("docs")
        shown.terminal.type(b"d")
        lines = shown.wait("c comment")
        assert "+two" in lines
        shown.terminal.type(b"q")
        shown.wait(lambda lines: "c comment" not in "\n".join(lines) and "docs" in "\n".join(lines))
        shown.terminal.type(b"d")
        shown.wait("c comment")
        shown.terminal.type(b"c")
        shown.wait("docs")
        shown.terminal.type(b"?/")
        shown.terminal.type(b"changed")
        shown.wait("d          show what it changed")
