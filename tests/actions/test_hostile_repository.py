"""
A repository that names a program at every key of git's documentation, in every place where settings stand.

The keys are those of `git help --config` and, where they are installed, of git's manual pages; a `<placeholder>` in one
stands for several names, odd ones too. Programs stand in the settings of the repository, of its worktrees and of its
submodule, in files that these include, and in the place of every hook; every file has attributes that ask for them.
"""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import attrs
import pytest

from tallylight.actions import git
from tallylight.cli.main import main
from tallylight.parts.conversations import worktrees
from tallylight.parts.conversations.worktrees import Base
from tallylight.parts.work.repository import changes_of
from tallylight.parts.work.repository_watch import read_one
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture

pytestmark = pytest.mark.slow

MANUALS = Path("/usr/share/man")
#: What a placeholder stands for: a file has a filter, a driver and so on of each that an attribute can name.
NAMES = ("", "x", "origin", "main", "inner", "status", "a=b", 'é"\\.#;', "a b")
FILES = {name: f"{number}" for number, name in enumerate(NAMES) if " " not in name}
CONDITIONS = ("gitdir:**", "gitdir/i:**", "onbranch:**", "hasconfig:remote.*.url:**")
URL = "https://github.com/example/api.git"
#: Where there is no manual.
HOOKS = ("post-checkout", "post-merge", "reference-transaction", "post-index-change", "pre-auto-gc")
#: How a setting can name a program.
FORMS = ("{}", "!{}", "ext::{}")
#: With another value of these it is no repository, or not one with a work tree, and nobody looks at it any further.
FORMAT = re.compile(r"core\.(bare|worktree|repositoryformatversion)|extensions\..*|include(if\..*)?\.path", re.I)
#: Some of those at which git runs what it is given, whatever that is.
PROGRAMS = re.compile(r"filter\..*\.(clean|smudge)|diff\..*\.textconv|core\.fsmonitor|diff\.external")

_KEY = re.compile(r"(?<![\w./<-])[a-z][a-z0-9-]*(?:\.(?:<[^<>\n]{1,40}>|[\w-]+))*\.(?:\*|[a-zA-Z][a-zA-Z0-9-]*)")
_HOOK = re.compile(r'^\.SS "([a-z0-9-]+)"$', re.MULTILINE)


def manual(*pages: str) -> str:
    """The text of git's manual pages, of those that are installed."""
    paths = (path for page in pages for path in MANUALS.glob(f"man?/{page}.?.gz"))
    return re.sub(r"\\f.|\\&", "", "\n".join(gzip.decompress(path.read_bytes()).decode() for path in paths)).replace(
        "\\-", "-"
    )


def documented() -> list[str]:
    """What git's documentation calls a key, each with its placeholders."""
    told = subprocess.check_output(["git", "help", "--config"], text=True)
    return sorted({*filter(None, told.split("\n")), *_KEY.findall(manual("git*"))})


def expanded(keys: Iterable[str]) -> list[str]:
    """Each key for every name that its placeholder stands for; `*` is some key."""
    found: dict[str, None] = {}
    for key in keys:
        for name in NAMES:
            some = name if key == "alias.*" and name.isalpha() else "program"
            one = re.sub(r"<[^>]*>", lambda _, name=name: name, key).replace("*", some)
            if re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*\.(?:.*\.)?[A-Za-z][A-Za-z0-9-]*", one):
                found[one] = None
    return list(found)


def written(keys: Iterable[str], value: str) -> str:
    """Settings with *value* at each of *keys*."""
    return "".join(git._as_config(key, value) for key in keys)


@attrs.frozen
class Scene:
    """
    A repository *api* and a worktree of ours, *made*, that can be finished; and *outer*, with a submodule *inner*.

    In each, files have changed that attributes ask to be compared by a filter.
    """

    trap: Trap
    api: Path
    made: Path
    outer: Path
    inner: Path

    def change(self, text: str) -> None:
        """Write *text* into every file, as long as what was there: git must look at what is in it."""
        for place in (self.api, self.outer, self.inner):
            for file in FILES.values():
                (place / file).write_text(text)

    def arm(self, settings: str) -> None:
        """Put *settings* wherever git reads any, before those that were there; and the program in place of hooks."""
        more = self.trap.write("../more", settings)
        included = "".join(git._as_config(f"includeIf.{one}.path", str(more)) for one in CONDITIONS)
        included += git._as_config("include.path", str(more))
        before = settings + included
        last = git._as_config("remote.origin.url", URL) + git._as_config("branch.main.remote", "origin")
        for folder in (
            self.api / ".git",
            self.outer / ".git",
            self.outer / ".git/modules/inner",
            self.api / "new/.git",
        ):
            config = folder / "config"
            config.write_text(before + config.read_text() + git._as_config("extensions.worktreeConfig", "true"))
            (folder / "config.worktree").write_text(settings + last)
            (folder / "hooks").mkdir(exist_ok=True)
            for hook in (*HOOKS, *_HOOK.findall(manual("githooks"))):
                (folder / "hooks" / hook).unlink(missing_ok=True)
                (folder / "hooks" / hook).symlink_to(self.trap.program)
        (self.api / ".git/worktrees" / self.made.name / "config.worktree").write_text(settings + last)

    def read(self) -> dict[Path, list[object]]:
        """What the list and the page say of each place."""
        return {
            place: [changes_of(str(place)), read_one(str(place), "/")]
            for place in (self.api, self.made, self.outer, self.inner)
        }


@pytest.fixture(scope="module")
def keys() -> list[str]:
    """Every key that a repository can have and still be one."""
    found = expanded(documented())
    assert len(found) > 1000
    assert {"filter..clean", "filter.a=b.smudge", "core.fsmonitor", "core.sshCommand", "diff.external"} <= set(found)
    return [key for key in found if not FORMAT.fullmatch(key)]


@pytest.fixture
def scene(trap: Trap) -> Scene:
    """All of it, harmless so far."""
    drivers = "".join(f"{file} filter={name} diff={name} merge={name}\n" for name, file in FILES.items())
    for file in FILES.values():
        trap.write(file, "one\n")
    trap.write(".gitattributes", drivers)
    trap.commit()
    outer = trap.root.with_name("outer")
    trap.plain("clone", "-q", str(trap.root), str(outer))
    trap.plain("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(trap.root), "inner", where=outer)
    trap.commit(where=outer)
    trap.plain("clone", "-q", str(trap.root), str(trap.root / "new"))
    trap.write(".git/info/exclude", "new\n")
    base = worktrees.inspect(str(trap.root))
    assert isinstance(base, Base)
    made = Path(str(worktrees.make(base)))
    (made / "b").write_text("")
    trap.commit(where=made)
    for place in (trap.root, outer, outer / "inner"):
        trap.set("remote.origin.url", URL, where=place)
    for folder in (trap.root / ".git", outer / ".git", outer / ".git/modules/inner"):
        (folder / "info/attributes").write_text(drivers)
    return Scene(trap, trap.root, made, outer, outer / "inner")


@pytest.mark.parametrize("form", FORMS)
def test_no_program_runs(scene: Scene, keys: list[str], form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever we do with it: each thing is done as if the repository were harmless, and nothing that it names runs."""
    trap = scene.trap
    scene.change("two\n")
    harmless = scene.read()
    assert all(None not in told for told in harmless.values())
    scene.arm(written(keys, form.format(trap.program)))

    now = scene.read()
    for place in now:
        # What surrounds a submodule is not known where git cannot read how that is stored.
        assert now[place] == harmless[place] or place == scene.outer
    assert not trap.ran()
    if isinstance(base := worktrees.inspect(str(scene.outer)), Base):
        worktrees.make(base)
    for number, place in enumerate((scene.api, scene.made, scene.inner)):
        base = worktrees.inspect(str(place))
        assert isinstance(base, Base)
        assert Path(str(worktrees.make(base))).is_dir()
        assert main(["worktree", str(trap.root.with_name(f"w{number}")), f"--branch=w{number}", f"--of={place}"]) == 0
    assert not trap.ran()


def test_git_by_itself_runs_them(scene: Scene, keys: list[str]) -> None:
    """The repository is armed: with programs where git can bear one, it runs some at all that is done here."""
    scene.change("two\n")
    scene.arm(written(filter(PROGRAMS.fullmatch, keys), str(scene.trap.program)))
    for place in (scene.api, scene.made, scene.outer, scene.inner):
        add = ("worktree", "add", "-q", "--detach", str(scene.api.with_name(f"plain-{place.name}")))
        for words in (("status",), ("diff", "HEAD"), add):
            scene.trap.plain(*words, where=place)
            assert scene.trap.ran(), (place, words)


def test_formats_that_are_none(scene: Scene) -> None:
    """A key that says how a repository is stored, or where more is said, is no way to name a program either."""
    formats = {key.lower(): key for key in expanded(documented()) if FORMAT.fullmatch(key)}
    config = scene.api / ".git/config"
    before = config.read_text()
    assert "core.worktree" in formats
    for key in formats.values():
        config.write_text(before + git._as_config(key, str(scene.trap.program)))
        changes_of(str(scene.api))
        worktrees.inspect(str(scene.api))
    assert not scene.trap.ran()
