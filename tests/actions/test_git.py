"""
git of ours runs nothing that a repository names: with a real git, and with programs that leave a mark when they run.

Every repository here is armed so that git as people type it runs the program; that is shown first.
"""

from __future__ import annotations

import ast
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tallylight.actions import git, worktrees
from tallylight.actions.gate import Refusal
from tallylight.actions.worktrees import Base

ROOT = Path(__file__).parents[2]


@attrs.frozen
class Trap:
    """A repository `root` whose settings name `program`, which leaves `mark`."""

    root: Path
    program: Path
    mark: Path

    def plain(self, *words: str, where: Path | None = None, **env: str) -> None:
        """git as people type it."""
        command = ["git", "-C", str(where or self.root), *words]
        subprocess.run(command, check=False, capture_output=True, env={**os.environ, **env})

    def set(self, key: str, value: str, where: Path | None = None) -> None:
        self.plain("config", key, value, where=where)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, where: Path | None = None) -> None:
        self.plain("add", "-A", where=where)
        self.plain("commit", "-qm", "x", where=where)

    def ran(self) -> bool:
        """Whether the program ran since the last time this was asked."""
        ran = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return ran


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A repository with a file in one commit, and a program that does nothing but leave its mark."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "n")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "n@example.org")
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\ncat\n")
    program.chmod(0o755)
    made = Trap(tmp_path / "api", program, tmp_path / "mark")
    made.root.mkdir()
    made.plain("init", "-q", "-b", "main")
    made.write("src/a", "one\n")
    made.commit()
    return made


def embedded(trap: Trap) -> Path:
    """A clone with a bare repository in it, which is its own work tree and names a program."""
    origin = trap.root / "vendor/lib"
    trap.plain("init", "-q", "--bare", str(origin))
    trap.set("core.bare", "false", origin)
    trap.set("core.worktree", ".", origin)
    trap.set("core.fsmonitor", str(trap.program), origin)
    for folder in ("refs/heads", "objects/pack"):
        trap.write(f"vendor/lib/{folder}/keep", "")
    trap.plain("add", "config", where=origin)
    trap.plain("commit", "-qm", "x", where=origin)
    # An index asks the program only once it has been told of one; this one comes with the clone.
    trap.plain("update-index", "--fsmonitor", where=origin)
    trap.commit()
    trap.plain("clone", "-q", str(trap.root), str(trap.root.with_name("clone")))
    return trap.root.with_name("clone") / "vendor/lib"


def fsmonitor(trap: Trap) -> Path:
    trap.set("core.fsmonitor", str(trap.program))
    return trap.root


def clean(trap: Trap) -> Path:
    trap.set("filter.evil.clean", str(trap.program))
    trap.set("filter.evil.required", "true")
    trap.write(".gitattributes", "* filter=evil\n")
    trap.commit()
    # As long and as old as it was, and another file: git has to compare what is in it.
    trap.write("src/a", "two\n")
    return trap.root


def process(trap: Trap) -> Path:
    trap.set("filter.evil.process", str(trap.program))
    trap.write(".gitattributes", "* filter=evil\n")
    trap.commit()
    trap.write("src/a", "two\n")
    return trap.root


def submodule(trap: Trap) -> Path:
    """A submodule has settings of its own."""
    inner = trap.root.with_name("inner")
    trap.plain("clone", "-q", str(trap.root), str(inner))
    trap.plain("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "inner")
    trap.commit()
    trap.set("core.fsmonitor", str(trap.program), trap.root / "inner")
    trap.set("filter.other.clean", str(trap.program), trap.root / "inner")
    trap.write("inner/.gitattributes", "* filter=other\n")
    trap.write("inner/src/a", "two\n")
    return trap.root


def smudge(trap: Trap) -> Path:
    trap.set("filter.evil.smudge", str(trap.program))
    trap.write(".gitattributes", "* filter=evil\n")
    trap.commit()
    return trap.root


def hook(name: str) -> Callable[[Trap], Path]:
    def arm(trap: Trap) -> Path:
        file = trap.write(f".git/hooks/{name}", trap.program.read_text())
        file.chmod(0o755)
        return trap.root

    return arm


def hooks_path(trap: Trap) -> Path:
    """Hooks in a directory of the work tree."""
    trap.write("hooks/post-checkout", trap.program.read_text()).chmod(0o755)
    trap.set("core.hooksPath", str(trap.root / "hooks"))
    return trap.root


def partial(trap: Trap) -> Path:
    """A partial clone that lacks what is to be checked out, and names what is to fetch it."""
    trap.set("uploadpack.allowFilter", "true")
    place = trap.root.with_name("partial")
    trap.plain("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{trap.root}", str(place))
    quick = trap.program.with_name("quick")
    quick.write_text(f"#!/bin/sh\ntouch {trap.mark}\n")
    quick.chmod(0o755)
    trap.set("remote.origin.uploadpack", str(quick), place)
    trap.set("protocol.file.allow", "always", place)
    return place


READ = [embedded, fsmonitor, clean, process, submodule, hook("post-index-change")]
MADE = [fsmonitor, smudge, process, hook("post-checkout"), hook("reference-transaction"), hooks_path, partial]


@pytest.mark.slow
@pytest.mark.parametrize("arm", READ, ids=lambda arm: arm.__qualname__.partition(".")[0])
def test_asking_runs_nothing(trap: Trap, arm: Callable[[Trap], Path]) -> None:
    """Before anybody agreed to anything: git runs it by itself, and our questions do not."""
    place = arm(trap)

    def by_itself() -> bool:
        trap.write("src/b", "changed")
        for words in (["add", "-N", str(trap.root / "src/b")], ["update-index", "--refresh"], ["status"]):
            trap.plain(*words, where=place)
        return trap.ran()

    for _ in range(2):
        assert by_itself()
        worktrees.inspect(str(place))
        assert not trap.ran()


@pytest.mark.parametrize("arm", MADE, ids=lambda arm: arm.__qualname__.partition(".")[0])
def test_making_a_worktree_runs_nothing(trap: Trap, arm: Callable[[Trap], Path]) -> None:
    """After Enter: what is checked out, and the hooks behind that. The same list, printed for others, runs nothing."""
    place = arm(trap)
    trap.ran()
    base = worktrees.inspect(str(place))
    assert isinstance(base, Base)
    worktrees.make(base)
    assert not trap.ran()

    printed = attrs.evolve(base, path=base.path.with_name("printed"), branch="printed")
    subprocess.run(worktrees.command(printed), check=False, capture_output=True)
    assert not trap.ran()
    trap.plain("worktree", "add", "-q", "-b", "plain", str(place.with_name("plain")), where=place)
    assert trap.ran()


def test_a_bare_repository_is_none(trap: Trap) -> None:
    """The clone of it is refused in words, by git itself and, where that is too old, by us."""
    found = worktrees.inspect(str(embedded(trap)))

    assert isinstance(found, Refusal) and "is not in a git repository" in found.text


def test_a_git_that_does_not_know_bare_repositories(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git takes the embedded one, whose work tree is not its own, it is none of ours."""
    place = embedded(trap)
    monkeypatch.setattr(git, "GUARDS", tuple(w.replace("=explicit", "=all") for w in git.GUARDS))

    assert git.ask(str(place), "rev-parse", "--show-toplevel") == str(place)
    assert git.top(str(place)) is None
    assert git.top(str(trap.root / "src")) == str(trap.root)


def test_a_pager_on_a_terminal(trap: Trap) -> None:
    """`pager.worktree` runs where the output is a terminal, as it is where somebody runs the printed list."""
    trap.set("pager.worktree", str(trap.program))
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)

    def on_a_terminal(command: list[str]) -> bool:
        ours, theirs = pty.openpty()
        subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.close(ours)
        return trap.ran()

    assert not on_a_terminal(worktrees.command(base))
    assert on_a_terminal(["git", "-C", str(trap.root), "worktree", "list"])


def test_surroundings_are_not_passed_on(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings in `GIT_*` variables are nobody's to give."""
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": str(trap.program)}
    trap.plain("status", **given)
    assert trap.ran()
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    worktrees.inspect(str(trap.root))

    assert not trap.ran()


def test_own_filters_run_after_enter_and_are_said(trap: Trap, tmp_path: Path) -> None:
    """A filter of the user's own settings runs on what is checked out, not before; the page has a sentence on it."""
    (tmp_path / ".gitconfig").write_text(f'[filter "own"]\nsmudge = {trap.program}\nclean = {trap.program}\n')
    trap.write(".gitattributes", "a filter=own\n")
    trap.commit()
    trap.write("src/a", "two\n")
    trap.ran()
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    assert not trap.ran()
    assert base.notes == ("git runs your own filter own on files of the new worktree.",)
    assert isinstance(worktrees.make(base), str)
    assert trap.ran()


def test_a_repositorys_filter_is_off_and_that_is_said(trap: Trap, tmp_path: Path) -> None:
    """One that the repository sets, be it only in addition to the user's own, does not run; files are as stored."""
    (tmp_path / ".gitconfig").write_text('[filter "evil"]\nclean = cat\n[filter "unused"]\nclean = cat\n')
    base = worktrees.inspect(str(smudge(trap)))
    trap.ran()
    assert isinstance(base, Base)
    made = worktrees.make(base)

    assert base.notes == (
        "The repository's own filter evil is off: its files are in the new worktree as they are stored.",
    )
    assert isinstance(made, str) and (Path(made) / "src/a").read_text() == "one\n"
    assert not trap.ran()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("includeIf.onbranch:*-fork-*.path", "more"),
        ("filter.a=b.smudge", "evil"),
    ],
)
def test_settings_that_cannot_be_told(trap: Trap, key: str, value: str) -> None:
    """Settings for the new branch alone, and a name that no option can have: there is no worktree."""
    trap.set(key, value)
    found = worktrees.inspect(str(trap.root))

    assert isinstance(found, Refusal) and "cannot find out" in found.text


def test_settings_that_change_meanwhile(trap: Trap) -> None:
    """What is switched off was read before; if it is not the same any more, nothing is made."""
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    smudge(trap)
    trap.ran()
    found = worktrees.make(base)

    assert isinstance(found, Refusal) and "changed" in found.text
    assert not trap.ran() and not base.path.exists()


def test_hooks_in_settings_are_off() -> None:
    """git 2.54 and newer have hooks in settings, which `core.hooksPath` does not reach: each is off by its name."""
    off = git.Programs(own=("o",), foreign=("f",), hooks=("h",)).off(keeps_own=True)

    assert "hook.h.enabled=false" in off
    assert {"filter.f.clean=", "filter.f.smudge=", "filter.f.process=", "filter.f.required=false"} < set(off)
    assert not [word for word in off if word.startswith("filter.o.")]
    assert set(off[::2]) == {"-c"}


def test_hooks_in_settings_are_found(trap: Trap) -> None:
    """Whoever sets them."""
    trap.set("hook.linter.command", str(trap.program))
    found = git.programs(str(trap.root))

    assert found is not None and found.hooks == ("linter",)


def test_git_of_an_absolute_directory(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `git` that lies where we are called is none, whatever PATH says."""
    (trap.root / "git").write_text(trap.program.read_text())
    (trap.root / "git").chmod(0o755)
    monkeypatch.chdir(trap.root)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    worktrees.inspect(str(trap.root))

    assert not trap.ran()


@pytest.mark.slow
def test_no_other_module_runs_git() -> None:
    """Every git of ours is run in one place: no other module has the word in a list of arguments of its own."""
    found = []
    for path in sorted((*(ROOT / "shared").rglob("*.py"), *(ROOT / "kittens").rglob("*.py"))):
        if path.name == "git.py" or "git" not in (source := path.read_text("utf-8")):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        rules = {
            id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "Refusal"
        }
        words = [node for node in nodes if isinstance(node, ast.Constant) and node.value == "git"]
        found += [path.name for word in words if id(word) not in rules]
    # What `finish` and `worktrees` print for others to run has all of the guards.
    assert found == ["finish.py", "worktrees.py"]
