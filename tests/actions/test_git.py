"""
git of ours runs nothing that a repository names: with a real git, and with programs that leave a mark when they run.

Every repository here is armed so that git as people type it runs the program; that is shown first.
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions import git
from tallylight.actions.gate import Refusal
from tallylight.cli.main import main
from tallylight.model.repository_status import Changes
from tallylight.parts.conversations import worktrees
from tallylight.parts.conversations.worktrees import Base
from tallylight.parts.work.repository import changes_of
from tests.strategies import at_most

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


def nameless(trap: Trap) -> Path:
    """The empty name is one, too."""
    trap.set("filter..clean", str(trap.program))
    trap.write(".git/info/attributes", "* filter=\n")
    trap.write("src/a", "two\n")
    return trap.root


def of_a_worktree(trap: Trap) -> Path:
    """A worktree may have settings for itself."""
    other = trap.root.with_name("other")
    trap.plain("worktree", "add", "-q", "-b", "other", str(other))
    trap.set("extensions.worktreeConfig", "true")
    trap.plain("config", "--worktree", "filter.evil.clean", str(trap.program), where=other)
    (other / ".gitattributes").write_text("* filter=evil\n")
    (other / "src/a").write_text("two\n")
    return other


def process(trap: Trap) -> Path:
    trap.set("filter.evil.process", str(trap.program))
    trap.write(".gitattributes", "* filter=evil\n")
    trap.commit()
    trap.write("src/a", "two\n")
    return trap.root


def difference(setting: str, attribute: str = "") -> Callable[[Trap], Path]:
    """What shows a difference, to people."""

    def arm(trap: Trap) -> Path:
        trap.set(setting, str(trap.program))
        trap.write(".gitattributes", attribute)
        trap.write("src/a", "two\n")
        return trap.root

    return arm


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


SHOWN = [("diff.external", ""), ("diff.d.command", "* diff=d\n"), ("diff.t.textconv", "* diff=t\n")]
READ = [embedded, fsmonitor, clean, nameless, of_a_worktree, process, submodule, hook("post-index-change")]
READ += [difference(*one) for one in SHOWN]
MADE = [fsmonitor, smudge, process, hook("post-checkout"), hook("reference-transaction"), hooks_path, partial]


@pytest.mark.slow
@pytest.mark.parametrize("arm", READ, ids=lambda arm: arm.__qualname__.partition(".")[0])
def test_asking_runs_nothing(trap: Trap, arm: Callable[[Trap], Path]) -> None:
    """Before anybody agreed to anything: git runs it by itself, and our questions do not."""
    place = arm(trap)

    def by_itself() -> bool:
        trap.write("src/b", "changed")
        for words in (
            ["add", "-N", str(trap.root / "src/b")],
            ["update-index", "--refresh"],
            ["status"],
            ["diff", "HEAD"],
        ):
            trap.plain(*words, where=place)
        return trap.ran()

    for _ in range(2):
        assert by_itself()
        changes_of(str(place))
        worktrees.inspect(str(place))
        assert not trap.ran()


@pytest.mark.slow
@pytest.mark.parametrize("arm", MADE, ids=lambda arm: arm.__qualname__.partition(".")[0])
def test_making_a_worktree_runs_nothing(trap: Trap, arm: Callable[[Trap], Path]) -> None:
    """After Enter: what is checked out, and the hooks behind that. The same list, printed for others, runs nothing."""
    place = arm(trap)
    trap.ran()
    base = worktrees.inspect(str(place))
    assert isinstance(base, Base)
    worktrees.make(base)
    assert not trap.ran()

    printed = worktrees.command(attrs.evolve(base, path=base.path.with_name("printed"), branch="printed"))
    assert printed[0] == "tally"
    main(printed[1:])
    assert not trap.ran()
    trap.plain("worktree", "add", "-q", "-b", "plain", str(place.with_name("plain")), where=place)
    assert trap.ran()


@pytest.mark.slow
def test_the_settings_of_a_worktree(trap: Trap) -> None:
    """A worktree with changes is looked into, and no filter that it names runs."""
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    made = Path(str(worktrees.make(base)))
    trap.set("extensions.worktreeConfig", "true")
    trap.plain("config", "--worktree", "filter.evil.clean", str(trap.program), where=made)
    trap.write(".git/info/attributes", "* filter=evil\n")
    (made / "src/a").write_text("two\n")
    trap.plain("status", where=made)
    assert trap.ran()
    assert isinstance(worktrees.inspect(str(made)), Base)
    assert main(["worktree", str(made.with_name("more")), "--branch=more", f"--of={made}"]) == 0
    assert not trap.ran()


def test_a_bare_repository_is_none(trap: Trap) -> None:
    """What lies in one belongs to the repository around it, which has a `.git`; elsewhere to none."""
    inner = embedded(trap)
    found = git.find(str(inner))
    assert found is not None and found.top == str(inner.parents[1])
    (inner.parents[1] / ".git").rename(trap.root.with_name("gone"))

    assert git.find(str(inner)) is None
    refused = worktrees.inspect(str(inner))
    assert isinstance(refused, Refusal) and "is not in a git repository" in refused.text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.bare", "true"),
        ("core.worktree", "/tmp"),
        ("core.repositoryFormatVersion", "7"),
        ("extensions.unheardOf", "x"),
        ("extensions.objectFormat", "md5"),
    ],
)
def test_a_repository_that_is_none(trap: Trap, key: str, value: str) -> None:
    """One without a work tree, with another, or stored in a way that nobody here knows, tells nothing."""
    trap.set("core.repositoryFormatVersion", "1")
    assert changes_of(str(trap.root)) is not None
    trap.set(key, value)

    assert changes_of(str(trap.root)) is None


def test_settings_that_name_no_program_count(trap: Trap, tmp_path: Path) -> None:
    """How files are compared, of the repository and of the user, and what the user ignores."""
    trap.write("src/a", "one\r\n")
    (trap.root / "src/a").chmod(0o755)
    assert changes_of(str(trap.root)) == ("main", Changes(added=1, removed=1))
    trap.set("core.fileMode", "false")
    trap.set("core.autocrlf", "input")
    trap.write("src/b", "")
    assert changes_of(str(trap.root)) == ("main", Changes(new=1))
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    (tmp_path / "mine").write_text("b\n")
    assert changes_of(str(trap.root)) == ("main", Changes())


def test_a_worktree_with_a_part_of_the_files(trap: Trap) -> None:
    """It is made with the same part, and git knows that."""
    trap.write("docs/b", "")
    trap.commit()
    trap.plain("sparse-checkout", "set", "docs")
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    made = Path(str(worktrees.make(base)))
    if not (trap.root / ".git/worktrees/api-fork-1/info/sparse-checkout").exists():
        pytest.skip("this git makes a worktree with all files")
    listed = subprocess.check_output(["git", "-C", str(made), "sparse-checkout", "list"], text=True)

    assert [path.name for path in made.iterdir() if path.name != ".git"] == ["docs"]
    assert listed == "docs\n"


_NAMES = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=20)


@pytest.mark.slow
@settings(max_examples=at_most(50))
@given(st.lists(st.tuples(_NAMES, _NAMES), max_size=20))
def test_git_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    """Whatever stands in a name or a value: one setting is one setting."""
    said = [(f"branch.{name}.remote", value) for name, value in pairs]
    file = tmp_path_factory.mktemp("said") / "config"
    file.write_text("".join(git._as_config(key, value) for key, value in said), newline="")
    words = ["git", "config", "--file", str(file), "--null", "--list"]
    read = subprocess.check_output(words).decode().split("\0")[:-1]

    assert [tuple(field.split("\n", 1)) for field in read] == said


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


@pytest.mark.parametrize(
    "own, note, text",
    [
        (
            '[filter "unused"]\nclean = cat\n',
            "The repository's own filter evil is off: its files are in the new worktree as they are stored.",
            "one\n",
        ),
        (
            '[filter "evil"]\nsmudge = sed s/one/own/\n',
            "git runs your own filter evil on files of the new worktree.",
            "own\n",
        ),
    ],
)
def test_a_repositorys_filter_is_off(trap: Trap, tmp_path: Path, own: str, note: str, text: str) -> None:
    """That is said, and files are as stored. Where the user has one of that name, theirs runs, as they have set it."""
    (tmp_path / ".gitconfig").write_text(own)
    base = worktrees.inspect(str(smudge(trap)))
    trap.ran()
    assert isinstance(base, Base)
    made = worktrees.make(base)

    assert base.notes == (note,)
    assert isinstance(made, str) and (Path(made) / "src/a").read_text() == text
    assert not trap.ran()


def test_settings_that_change_meanwhile(trap: Trap) -> None:
    """git has those that were read before, and none that name a program."""
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    smudge(trap)
    trap.ran()

    assert worktrees.make(attrs.evolve(base, commit="main")) == str(base.path)
    assert not trap.ran()


def test_a_filter_sees_where_files_come_from(trap: Trap, tmp_path: Path) -> None:
    """Git LFS gets files that are not here from the remote; of the repository's settings it has no more than git."""
    seen = tmp_path / "seen"
    trap.program.write_text(f"#!/bin/sh\ngit config --list >> {seen}\ncat\n")
    (tmp_path / ".gitconfig").write_text(f'[filter "own"]\nsmudge = {trap.program}\n[credential]\nhelper = mine\n')
    trap.write(".gitattributes", "a filter=own\n")
    trap.commit()
    trap.set("remote.origin.url", "https://example.org/api.git")
    trap.set("remote.other.url", "ext::evil")
    trap.set("credential.helper", "evil")
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    worktrees.make(base)
    told = seen.read_text()

    assert "remote.origin.url=https://example.org/api.git" in told
    assert "credential.helper=mine" in told
    assert "evil" not in told.replace(str(trap.program), "")


def test_the_users_own_hooks_stay_off(trap: Trap, tmp_path: Path) -> None:
    """In files and, since git 2.54, in settings: after Enter filters run, and nothing else."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").symlink_to(trap.program)
    named = "".join(f'[hook "{name}"]\ncommand = {trap.program}\nevent = post-checkout\n' for name in ("", "a=b", "c"))
    (tmp_path / ".gitconfig").write_text(f"[core]\nhooksPath = {hooks}\nfsmonitor = {trap.program}\n{named}")
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)

    assert isinstance(worktrees.make(base), str)
    assert not trap.ran()
    trap.plain("worktree", "add", "-q", str(tmp_path / "plain"))
    assert trap.ran()


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
    # An agent may have a command of that name, and one that an agent ran may ask the network.
    assert found == ["names.py", "did.py"]
