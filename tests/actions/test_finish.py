"""Worktrees of ours are finished, with a real git: what is done, what is refused, and that nothing is lost by it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.actions import finish, worktrees
from tallylight.actions.finish import Finish, Way
from tallylight.actions.gate import Refusal
from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tests.actions.test_worktrees import base_of, git
from tests.actions.test_worktrees import nobody as nobody  # a fixture
from tests.actions.test_worktrees import repo as repo  # a fixture
from tests.cli.conftest import runtime as runtime  # a fixture
from tests.cli.panes import publish


@pytest.fixture
def made(repo: Path) -> Path:
    """A worktree of ours on the branch `parser`, with a commit of its own."""
    base = worktrees.named(base_of(repo), "parser")
    assert isinstance(base, worktrees.Base)
    path = Path(str(worktrees.make(base)))
    commit(path, "b")
    return path


def commit(where: Path, name: str) -> str:
    (where / name).write_text(f"{name}\n")
    git(where, "add", ".")
    git(where, "commit", "-qm", name)
    return git(where, "rev-parse", "HEAD")


def found(path: Path, way: Way) -> Finish:
    result = finish.inspect(str(path), way)
    assert isinstance(result, Finish), result
    return result


def branches(repo: Path) -> list[str]:
    return git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


@pytest.mark.slow
@pytest.mark.parametrize("way", Way)
def test_each_way(repo: Path, made: Path, way: Way) -> None:
    """The directory goes; the commits are on the branch they came from, on their own, or on none, with a way back."""
    tip, before = git(made, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD")
    shown = found(made, way)
    assert (shown.commits, shown.ignored, shown.into, shown.branch) == (1, 0, "main", "parser")
    assert made.exists()
    assert finish.carry_out(shown) is None
    assert not made.exists()
    assert branches(repo) == (["main", "parser"] if way is Way.KEEP else ["main"])
    assert git(repo, "rev-parse", "HEAD") == (tip if way is Way.MERGE else before)
    assert (repo / "b").exists() is (way is Way.MERGE)
    assert git(repo, "worktree", "list").count("\n") == 0
    assert [f"git branch parser {tip}" in note for note in shown.notes] == [True] * (way is Way.DROP)


def _changed(_: Path, made: Path) -> None:
    (made / "src/a").write_text("two\n")


def _new_file(_: Path, made: Path) -> None:
    (made / "new").write_text("")


def _staged(repo: Path, made: Path) -> None:
    _new_file(repo, made)
    git(made, "add", "new")


def _half_done(_: Path, made: Path) -> None:
    Path(git(made, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD").write_text(git(made, "rev-parse", "HEAD"))


def _detached(_: Path, made: Path) -> None:
    git(made, "checkout", "-q", "--detach")


def _no_mark(_: Path, made: Path) -> None:
    Path(git(made, "rev-parse", "--absolute-git-dir"), "tallylight.json").unlink()


def _mark(made: Path, root: object, branch: object) -> None:
    mark = Path(git(made, "rev-parse", "--absolute-git-dir"), "tallylight.json")
    mark.write_text(json.dumps({"root": root, "branch": branch}))


def _foreign_mark(repo: Path, made: Path) -> None:
    """It says that another repository is where it came from."""
    other = repo.parent / "other"
    git(repo.parent, "init", "-q", "-b", "main", str(other))
    commit(other, "x")
    _mark(made, str(other), "main")


#: What is refused whatever the way, and the rule.
ALWAYS: dict[Callable[[Path, Path], object], str] = {
    _changed: "uncommitted",
    _new_file: "uncommitted",
    _staged: "uncommitted",
    _half_done: "worktree",
    _detached: "worktree",
    _no_mark: "worktree",
    _foreign_mark: "worktree",
    lambda _, made: _mark(made, "api", "main"): "worktree",
    lambda _, made: _mark(made, "/nowhere", "main"): "worktree",
    lambda _, made: _mark(made, str(made), "parser"): "worktree",
    lambda _, made: _mark(made, 3, None): "worktree",
}
#: What is refused to be merged.
NO_MERGE: dict[Callable[[Path, Path], object], str] = {
    lambda repo, _: commit(repo, "c"): "merge",
    lambda repo, _: git(repo, "checkout", "-q", "-b", "elsewhere"): "merge",
    lambda repo, _: (repo / "src/a").write_text("three\n"): "uncommitted",
    lambda repo, _: (repo / "b").write_text("mine\n"): "uncommitted",
    lambda repo, made: _mark(made, str(repo), ""): "worktree",
    lambda repo, made: _mark(made, str(repo), "-f"): "worktree",
}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(ALWAYS) + len(NO_MERGE)))
def test_nothing_is_lost(repo: Path, made: Path, number: int) -> None:
    """Each of these is refused before anything is done, and when it comes between what was shown and the doing."""
    change, rule = list({**ALWAYS, **NO_MERGE}.items())[number]
    shown = found(made, Way.MERGE)
    change(repo, made)
    before = (branches(repo), git(repo, "rev-parse", "HEAD"), git(made, "rev-parse", "HEAD"))
    for way in Way if change in ALWAYS else (Way.MERGE,):
        refused = finish.inspect(str(made), way)
        assert isinstance(refused, Refusal) and refused.rule == rule, way
    late = finish.carry_out(shown)
    assert late is not None and late.rule == "changed"
    assert made.is_dir()
    assert (branches(repo), git(repo, "rev-parse", "HEAD"), git(made, "rev-parse", "HEAD")) == before


def test_what_is_no_worktree_of_ours(repo: Path, tmp_path: Path) -> None:
    """A plain directory, the repository itself, and a worktree that the person made."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "own"))
    for place in (tmp_path, repo, tmp_path / "own", tmp_path / "nowhere"):
        refused = finish.inspect(str(place), Way.DROP)
        assert isinstance(refused, Refusal) and refused.rule == "worktree"


@pytest.mark.slow
def test_no_program_of_the_repository_runs(repo: Path, made: Path, tmp_path: Path) -> None:
    """Hooks, filters, file monitors, and what checks signatures: none of it, whatever its settings say."""
    program = tmp_path / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/ran\ncat\n')
    program.chmod(0o755)
    for hook in ("post-merge", "post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        (repo / ".git/hooks").mkdir(exist_ok=True)
        (repo / f".git/hooks/{hook}").symlink_to(program)
    for key, value in {
        "core.fsmonitor": str(program), "filter.x.smudge": str(program), "filter.x.clean": str(program),
        "merge.verifySignatures": "true", "gpg.program": str(program), "diff.external": str(program),
        "core.pager": str(program), "merge.x.driver": str(program), "gc.auto": "1",
    }.items():  # fmt: skip
        git(repo, "config", key, value)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/attributes").write_text("* filter=x merge=x diff=x\n")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert finish.carry_out(found(made, Way.MERGE)) is None
    assert not made.exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_the_command(runtime: Path, repo: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It shows each command; it needs a word; an agent that runs in there keeps it; then it is done, as JSON says."""
    (made / ".gitignore").write_text("built\n")
    commit(made, "c")
    (made / "built").write_text("")
    assert main(["finish", str(made), "--merge", "--dry-run"]) == 0
    told = capsys.readouterr().err
    assert "1 file that git ignores" in told
    assert [f" {step} " in told for step in ("merge", "worktree remove", "branch -d")] == [True] * 3
    assert main(["finish", str(made)]) == main(["finish", str(made), "--merge", "--drop"]) == 2
    assert main(["finish", str(made), "--merge", "--json"]) == 2

    publish(runtime, [Pane(id="3", status=Status.IDLE, agent="claude", cwd=str(made / "src"))])
    capsys.readouterr()
    assert main(["finish", str(made), "--merge", "--yes", "--json"]) == REFUSED
    assert json.loads(capsys.readouterr().out)["refused"] == "at-work"
    publish(runtime, [Pane(id="3", status=Status.DOWN, agent="claude", cwd=str(made / "src"))])
    assert made.is_dir()
    assert main(["finish", str(made), "--merge", "--yes", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["done"], done["branch"], done["refused"]) == (True, "parser", None)
    assert not made.exists()
    assert (repo / "c").exists()
