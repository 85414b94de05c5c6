"""
git, asked and used so that it runs no program that a repository names. https://git-scm.com/docs/gitrepository-layout

A repository may be anybody's: an archive can hold a whole `.git`, and so can a directory that another program wrote.
Its settings can name programs under more names than anybody can list, so git of ours is not shown them. A `Repository`
is found by its files. What worktrees share of it (`GIT_COMMON_DIR`) is for each command a directory of ours, where no
other program puts anything:

* its `config` is ours. Of the repository's settings it has those of `_KEPT`, which name no program, with values that
  can name none: how files are stored and compared, what a branch follows, where remotes are. Files that they include
  are not read;
* it has no hooks; links lead to what has no settings: objects, references, and the rest of `_LINKED`;
* without `extensions.worktreeConfig` git does not read the settings of one worktree, `config.worktree`.

Attributes, in whatever file, can only name a filter or driver that settings describe. While we ask, git has none of the
user's settings either but those of `_KEPT` and `_OWN`; with *keeps_own* it has all of them, so that the user's own
filters run, and nothing else does: hooks and a file monitor are off. None of the variables `GIT_*` is passed on.

A submodule has settings of its own, and git reads from them how it is stored. It looks further into it by another git:
whoever asks for a `status` forbids that by `--ignore-submodules=dirty`. `worktree remove` refuses a worktree with
submodules before it looks into them.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import attrs

from tallylight.files import program, read_write
from tallylight.model.errors import TallyError
from tallylight.snapshot import writer

#: Seconds for a question, and for a change: a large repository takes its time to make a worktree.
ASK_S, CHANGE_S = 10.0, 300.0
#: Of what git writes where its time is bounded, in bytes: a work tree with more changes than that is one that nobody
#: looks at by their number.
MAX_OUTPUT = 1024 * 1024
#: How many directories up a repository is looked for; of a small file of git's own, in bytes.
MAX_LEVELS, MAX_FILE = 64, 4096

_ENVIRON = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to type a password
    "GIT_OPTIONAL_LOCKS": "0",
}
#: The user's settings, not read.
_WITHOUT_OWN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
#: What holds no settings, of what worktrees share.
_LINKED = ("HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees")
#: What of a repository's settings is passed on, and what values.
_KEPT = (
    (
        r"core\.(?:filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat|autocrlf|eol|safecrlf"
        r"|logallrefupdates|sharedrepository|sparsecheckout|sparsecheckoutcone)",
        r"[A-Za-z0-9]{1,16}",
    ),
    (r"branch\..+\.remote", r"[^\s:]+"),
    (r"branch\..+\.merge", r"refs/\S+"),
    (r"remote\..+\.fetch", r"\+?refs/[^\s:]+:refs/[^\s:]+"),
    # git of ours goes to no remote, but a filter of the user's may: Git LFS gets the files that are not here.
    (r"remote\..+\.url", r"https?://\S+|(?:ssh://)?\w[\w.-]*@\w\S*"),
)
#: How it is stored. git stops where one has another value; a repository with an extension that is not known is none.
_FORMAT = r"core\.repositoryformatversion|extensions\.(?:objectformat|refstorage)"
_IGNORED = r"extensions\.(?:noop|preciousobjects|partialclone|worktreeconfig|relativeworktrees)"
#: Besides, of the user's own: files with what git ignores and with attributes.
_OWN = (*_KEPT, (r"core\.(?:excludesfile|attributesfile)", r".+"))
_OWN_SCOPES = frozenset({"system", "global"})
#: Over the user's own settings.
_OFF = {
    "core.fsmonitor": "false",
    "core.hookspath": os.devnull,
    "submodule.recurse": "false",
    "worktree.userelativepaths": "false",
    # git tidies up by itself after some commands.
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_YES = frozenset({"true", "yes", "on", "1"})

Settings = tuple[tuple[str, str], ...]


class FailedError(TallyError):
    """git did not do what it was asked to; why, in its own last words."""


@attrs.frozen
class Place:
    """The work tree *top*, its own part of the repository, *folder*, and the part that worktrees share, *common*."""

    top: str
    folder: str
    common: str

    @property
    def worktree(self) -> str:
        """What git calls it, if it is a linked worktree."""
        return Path(self.folder).name if self.folder != self.common else ""


def place_of(directory: str, home: str = "/") -> Place | None:
    """
    The repository around the absolute *directory*; None if that is in none.

    One that holds all of *home* says nothing of what is below. `OSError` and `TallyError`: files that cannot be read.
    """
    here = PurePosixPath(os.path.normpath(directory))
    above = PurePosixPath(os.path.normpath(home)) if home.startswith("/") else PurePosixPath("/")
    if not here.is_absolute():
        return None
    for top in (here, *here.parents)[:MAX_LEVELS]:
        if top == above or top in above.parents:
            return None
        if os.path.lexists(own := Path(top, ".git")):
            if own.is_file():
                # A linked worktree, or a submodule: the file names the directory.
                own = Path(top, text(own).removeprefix("gitdir:").strip())
            folder = os.path.realpath(own)
            shared = Path(folder, "commondir")
            common = os.path.realpath(Path(folder, text(shared))) if shared.is_file() else folder
            return Place(str(top), folder, common)
    return None


def text(path: Path, errors: str = "surrogateescape") -> str:
    """The text of a small file of git's own."""
    return read_write.read_limited(path, MAX_FILE).decode("utf-8", errors).strip()


@attrs.frozen
class Repository:
    """The repository at a *place*, all that its settings *said*, and the user's *own* ones."""

    place: Place
    said: Settings = ()
    own: Settings = ()

    @property
    def top(self) -> str:
        """The work tree."""
        return self.place.top

    def filters(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of the user's own filters, and of those that are the repository's alone: they never run."""
        own, said = (
            [one[1] for key, _ in settings if (one := re.fullmatch(r"filter\.(.*)\.[^.]+", key, re.DOTALL))]
            for settings in (self.own, self.said)
        )
        return list(dict.fromkeys(own)), [name for name in dict.fromkeys(said) if name not in own]

    @property
    def sparse(self) -> str:
        """The settings of a sparse checkout in `config.worktree`; nothing if they are elsewhere."""
        said = self.said if _has_worktree_settings(self.said) else ()
        kept = ((r"core\.sparsecheckout(?:cone)?", r"[A-Za-z0-9]{1,16}"),)
        return "".join(_line(*setting) for setting in _passing(said, kept))

    @property
    def is_usable(self) -> bool:
        """Whether it is stored in a way that is known, and its work tree is the directory that it was found in."""
        extensions = [key for key, _ in self.said if key.startswith("extensions.")]
        if not all(re.fullmatch(f"{_FORMAT}|{_IGNORED}", key) for key in extensions):
            return False
        if self.place.worktree:
            return True
        tree = Path(self.place.folder, self.value("core.worktree") or self.top)
        return self.value("core.bare").lower() not in _YES and os.path.realpath(tree) == self.top

    def value(self, key: str) -> str:
        """The last value of a setting of the repository; nothing if there is none."""
        return next((value for name, value in reversed(self.said) if name == key), "")

    def change(self, *words: str) -> None:
        """Change something, with the user's own filters. Errors as of `run`."""
        self.run(*words, keeps_own=True, seconds=CHANGE_S)

    def ask(self, *words: str) -> str | None:
        """What git answers, without the line's end; None if it fails, takes too long or is not there."""
        try:
            return self.run(*words, keeps_own=False, seconds=ASK_S).removesuffix("\n")
        except (OSError, TallyError, subprocess.SubprocessError):
            return None

    def bounded(self, *words: str, seconds: float, also: Mapping[str, str] | None = None) -> str | None:
        """
        The output of git, at most `MAX_OUTPUT` bytes; None if it fails or is missing. *also* are more variables.

        `StuckError` after *seconds*, or more than that: it was killed. `OSError`; `TallyError`.
        """
        with self._shown(keeps_own=False) as environ:
            done = program.run(
                (_git(), "-C", self.top, *words), {**environ, **(also or {})}, patience=seconds, limit=MAX_OUTPUT
            )
        return done.output.decode("utf-8", "surrogateescape") if done is not None and done.code == 0 else None

    def branch(self) -> str:
        """The branch that is checked out; nothing if none is."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD") or ""

    def commit(self, name: str = "HEAD^{commit}") -> str:
        """The commit that is checked out, or that *name* leads to; nothing if there is none."""
        return self.ask("rev-parse", "--verify", "--quiet", name) or ""

    def run(
        self, *words: str, keeps_own: bool, seconds: float, given: str = "", also: Mapping[str, str] | None = None
    ) -> str:
        """
        Run git in the work tree, with the user's own filters if *keeps_own*; what it answers.

        *given* is its standard input, and *also* are more variables.

        `FailedError` if it fails; `FileNotFoundError` if there is no git in an absolute directory of `PATH`; `OSError`;
        `TallyError`; `subprocess.TimeoutExpired`.
        """
        with self._shown(keeps_own=keeps_own) as environ:
            return _run((_git(), "-C", self.top, *words), {**environ, **(also or {})}, seconds, given)

    def open(self, *words: str, also: Mapping[str, str]) -> int:
        """Run git in this terminal with all of the user's settings, and so with their tools; return its exit code."""
        with self._shown(keeps_own=True) as environ:
            return subprocess.run((_git(), "-C", self.top, *words), env={**environ, **also}, check=False).returncode

    @contextlib.contextmanager
    def _shown(self, *, keeps_own: bool) -> Iterator[dict[str, str]]:
        """The environment that shows git the repository, for as long as it runs."""
        # No directory for temporary files: agents that may write nowhere else may write there.
        parent = writer.checked_directory(writer.directory(os.environ), create=True)
        hooks = dict.fromkeys(key.rpartition(".")[0] for key, _ in self.own if key.startswith("hook."))
        settings = (
            *(() if keeps_own else _passing(self.own, _OWN)),
            *((key, value) for key, value in self.said if re.fullmatch(_FORMAT, key)),
            *_passing(self.said, _KEPT),
            *_OFF.items(),
            *((f"{hook}.enabled", "false") for hook in hooks),
        )
        config = "".join(_line(key, value) for key, value in settings if "\n" not in value)
        with tempfile.TemporaryDirectory(prefix="git-", dir=parent) as common:
            Path(common, "config").write_text(config, "utf-8", "surrogateescape")
            for name in _LINKED:
                Path(common, name).symlink_to(Path(self.place.common, name))
            yield {
                **_environ(),
                **({} if keeps_own else _WITHOUT_OWN),
                "GIT_DIR": self.place.folder,
                "GIT_COMMON_DIR": common,
                "GIT_WORK_TREE": self.top,
            }


def find(directory: str, seconds: float = ASK_S) -> Repository | None:
    """The repository with *directory* in its work tree; None if there is none, or it cannot be read."""
    here, end = os.path.realpath(directory), time.monotonic() + seconds
    try:
        place = place_of(here)
        if place is None or place.folder in (here, *map(str, PurePosixPath(here).parents)):
            return None
        said = _read(Path(place.common, "config"), end)
        if _has_worktree_settings(said):
            said = (*said, *_read(Path(place.folder, "config.worktree"), end))
        found = Repository(place, said)
        if not found.is_usable:
            return None
        fields = found.run("config", "--null", "--show-scope", "--list", keeps_own=True, seconds=left(end)).split("\0")
        own = zip(fields[:-1:2], fields[1::2], strict=True)
        return attrs.evolve(found, own=tuple(_setting(field) for scope, field in own if scope in _OWN_SCOPES))
    except (OSError, ValueError, TallyError, subprocess.SubprocessError):
        return None


def left(end: float) -> float:
    """Seconds until the monotonic time *end*, for a program that is given some."""
    return max(0.01, end - time.monotonic())


def is_there() -> bool:
    """Whether there is a git."""
    try:
        return bool(_git())
    except FileNotFoundError:
        return False


def _read(path: Path, end: float) -> Settings:
    """What the settings in one file say, by git's own reading of it; nothing of other files that it includes."""
    try:
        data = read_write.read_limited(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ()
    words = (_git(), "-C", "/", "config", "--file", "-", "--no-includes", "--null", "--list")
    # There is no repository to look for.
    output = _run(words, {**_environ(), **_WITHOUT_OWN, "GIT_DIR": os.devnull}, left(end), data)
    return tuple(_setting(field) for field in output.split("\0")[:-1])


def _has_worktree_settings(settings: Settings) -> bool:
    return dict(settings).get("extensions.worktreeconfig", "").lower() in _YES


def _setting(field: str) -> tuple[str, str]:
    """A name, and a value if it has one: without one it says yes."""
    key, has_value, value = field.partition("\n")
    return key, value if has_value else "true"


@functools.lru_cache(maxsize=8)  # git is asked several things of one repository
def _passing(settings: Settings, kept: tuple[tuple[str, str], ...]) -> Settings:
    """The *settings* with a name and a value that are *kept*."""
    return tuple(
        (key, value) for key, value in settings if any(re.fullmatch(a, key) and re.fullmatch(b, value) for a, b in kept)
    )


def _line(key: str, value: str) -> str:
    """One setting in git's syntax; no line ends in it. https://git-scm.com/docs/git-config#_syntax"""
    section, _, rest = key.partition(".")
    below, has_below, name = rest.rpartition(".")
    below, value = (re.sub(r'(["\\])', r"\\\1", part) for part in (below, value))
    return f'[{section} "{below}"]\n{name} = "{value}"\n' if has_below else f'[{section}]\n{name} = "{value}"\n'


def _git() -> str:
    if git := program.find_program("git", os.environ.get("PATH", "")):
        return git
    raise FileNotFoundError("git was not found")


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRON


def _run(words: tuple[str, ...], environ: Mapping[str, str], seconds: float, given: str = "") -> str:
    done = subprocess.run(
        words,
        env=environ,
        input=given,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise FailedError(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout
