"""
git, run so that it starts no program that a repository names. https://git-scm.com/docs/gitrepository-layout

A repository may be anybody's: an archive can hold a whole `.git`, and so can a directory that another program wrote.
Its settings can name programs under more names than anybody can list, so our git never reads them. A `Repository` is
found by its files. Each command gets a directory of ours as the part that worktrees share (`GIT_COMMON_DIR`), where no
other program puts anything:

* its `config` is ours. It has those of the repository's settings that are in `_KEPT`, which name no program, with
  values that can name none: how files are stored and compared, what a branch follows, where remotes are. Files that
  they include are not read;
* it has no hooks; links lead to parts without settings: objects, references, and the rest of `_LINKED`;
* without `extensions.worktreeConfig` git does not read the settings of one worktree, `config.worktree`.

Attributes, in any file, can only name a filter or driver that settings describe. For a question, git has only those of
the user's settings that are in `_KEPT` and `_OWN`. With *keeps_own* it has all of them, so that the user's own filters
run, and nothing else does: hooks and a file monitor are off. None of the variables `GIT_*` is passed on. A submodule
has settings of its own, and git reads from them how it is stored. It looks further into it by another git: callers of
`status` forbid that by `--ignore-submodules=dirty`. `worktree remove` refuses a worktree with submodules before it
looks into them.
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

from tallylight.files import directories, program, read_write
from tallylight.model.errors import TallyError
from tallylight.snapshot import writer

#: Seconds for a question, and for a change: a large repository takes its time to make a worktree.
GIT_QUERY_S, GIT_CHANGE_S = 10.0, 300.0
#: Bytes of git's output where its time is bounded: nobody reads more changes than that.
MAX_CHANGES_BYTES = 1024 * 1024
#: Bytes of a small file of git's own.
MAX_FILE_BYTES = 4096

_ENVIRON = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",  # no person could type a password
    "GIT_OPTIONAL_LOCKS": "0",
}
#: Without the user's settings.
_WITHOUT_OWN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
#: The parts that worktrees share and that hold no settings.
_LINKED = ("HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees")
#: The settings of a repository that are passed on, with patterns for their names and values.
_KEPT = (
    (
        r"core\.(?:filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat|autocrlf|eol|safecrlf"
        r"|logallrefupdates|sharedrepository|sparsecheckout|sparsecheckoutcone)",
        r"[A-Za-z0-9]{1,16}",
    ),
    (r"branch\..+\.remote", r"[^\s:]+"),
    (r"branch\..+\.merge", r"refs/\S+"),
    (r"remote\..+\.fetch", r"\+?refs/[^\s:]+:refs/[^\s:]+"),
    # Our git goes to no remote, but a filter of the user's may: Git LFS gets the files that are not here.
    (r"remote\..+\.url", r"https?://\S+|(?:ssh://)?\w[\w.-]*@\w\S*"),
)
#: The storage format. git stops at an unknown value; a repository with an unknown extension is none.
_FORMAT = r"core\.repositoryformatversion|extensions\.(?:objectformat|refstorage)"
_IGNORED = r"extensions\.(?:noop|preciousobjects|partialclone|worktreeconfig|relativeworktrees)"
#: The user's own settings that count too: files with ignored paths and with attributes.
_OWN = (*_KEPT, (r"core\.(?:excludesfile|attributesfile)", r".+"))
_OWN_SCOPES = frozenset({"system", "global"})
#: Settings that override the user's own.
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
    """git failed; the reason in its own last words."""


@attrs.frozen
class Place:
    """
    The directories of a work tree: *top*; *folder*, its own part of the repository; and *common*, the part that
    worktrees share.
    """

    top: str
    folder: str
    common: str

    @property
    def worktree(self) -> str:
        """git's name for it, if it is a linked worktree."""
        return Path(self.folder).name if self.folder != self.common else ""


def place_of(directory: str, home: str = "/") -> Place | None:
    """
    Return the repository around the absolute *directory*; None if it is in none.

    A repository that holds all of *home* does not count for the directories below. Raises `OSError` and `TallyError`
    for files that cannot be read.
    """
    if not (top := directories.work_tree(directory, home)):
        return None
    own = Path(top, ".git")
    if own.is_file():
        # A linked worktree, or a submodule: the file names the directory.
        own = Path(top, text(own).removeprefix("gitdir:").strip())
    folder = os.path.realpath(own)
    shared = Path(folder, "commondir")
    common = os.path.realpath(Path(folder, text(shared))) if shared.is_file() else folder
    return Place(top, folder, common)


def text(path: Path, errors: str = "surrogateescape") -> str:
    """Return the text of a small file of git's own."""
    return read_write.read_limited(path, MAX_FILE_BYTES).decode("utf-8", errors).strip()


@attrs.frozen
class Repository:
    """The repository at a *place*, the *file_settings* in its own files, and the user's *own* settings."""

    place: Place
    file_settings: Settings = ()
    own: Settings = ()

    @property
    def top(self) -> str:
        """The work tree."""
        return self.place.top

    def filters(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the names of the user's own filters, and of those that are the repository's alone: they never run."""
        own, file_settings = (
            [one[1] for key, _ in settings if (one := re.fullmatch(r"filter\.(.*)\.[^.]+", key, re.DOTALL))]
            for settings in (self.own, self.file_settings)
        )
        return list(dict.fromkeys(own)), [name for name in dict.fromkeys(file_settings) if name not in own]

    @property
    def sparse(self) -> str:
        """The settings of a sparse checkout in `config.worktree`; "" if they are elsewhere."""
        file_settings = self.file_settings if _has_worktree_settings(self.file_settings) else ()
        kept = ((r"core\.sparsecheckout(?:cone)?", r"[A-Za-z0-9]{1,16}"),)
        return "".join(_as_config(*setting) for setting in _kept_settings(file_settings, kept))

    @property
    def is_usable(self) -> bool:
        """Return whether its format is known, and its work tree is the directory that it was found in."""
        extensions = [key for key, _ in self.file_settings if key.startswith("extensions.")]
        if not all(re.fullmatch(f"{_FORMAT}|{_IGNORED}", key) for key in extensions):
            return False
        if self.place.worktree:
            return True
        tree = Path(self.place.folder, self.value("core.worktree") or self.top)
        return self.value("core.bare").lower() not in _YES and os.path.realpath(tree) == self.top

    def value(self, key: str) -> str:
        """Return the last value of a setting of the repository; "" if there is none."""
        return next((value for name, value in reversed(self.file_settings) if name == key), "")

    def change(self, *words: str) -> None:
        """Run a git command that changes files, with the user's own filters. Errors as of `run`."""
        self.run(*words, keeps_own=True, seconds=GIT_CHANGE_S)

    def ask(self, *words: str) -> str | None:
        """Return git's answer without its line's end; None if it fails, takes too long or is missing."""
        try:
            return self.run(*words, keeps_own=False, seconds=GIT_QUERY_S).removesuffix("\n")
        except (OSError, TallyError, subprocess.SubprocessError):
            return None

    def run_bounded(self, *words: str, seconds: float, also: Mapping[str, str] | None = None) -> str | None:
        """
        Return the output of git, at most `MAX_CHANGES_BYTES` bytes; None if it fails or is missing.

        *also* are more variables.

        Raises `StuckError` after *seconds*, or with more output: git was killed. Also `OSError` and `TallyError`.
        """
        with self._shown(keeps_own=False) as environ:
            environ.update(also or {})
            done = program.run((_git(), "-C", self.top, *words), environ, patience=seconds, limit=MAX_CHANGES_BYTES)
        return done.output.decode("utf-8", "surrogateescape") if done is not None and done.code == 0 else None

    def branch(self) -> str:
        """Return the branch that is checked out; "" if none is."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD") or ""

    def commit(self, name: str = "HEAD^{commit}") -> str:
        """Return the commit that is checked out, or that *name* leads to; "" if there is none."""
        return self.ask("rev-parse", "--verify", "--quiet", name) or ""

    def run(
        self, *words: str, keeps_own: bool, seconds: float, given: str = "", also: Mapping[str, str] | None = None
    ) -> str:
        """
        Run git in the work tree, with the user's own filters if *keeps_own*; return its output.

        *given* is its standard input, and *also* are more variables.

        Raises `FailedError` if it fails; `FileNotFoundError` if there is no git in an absolute directory of `PATH`;
        `OSError`; `TallyError`; `subprocess.TimeoutExpired`.
        """
        with self._shown(keeps_own=keeps_own) as environ:
            return _run((_git(), "-C", self.top, *words), {**environ, **(also or {})}, seconds, given)

    def open(self, *words: str, also: Mapping[str, str]) -> int:
        """Run git in this terminal with all of the user's settings, and so with their tools; return its exit code."""
        with self._shown(keeps_own=True) as environ:
            return subprocess.run((_git(), "-C", self.top, *words), env={**environ, **also}, check=False).returncode

    @contextlib.contextmanager
    def _shown(self, *, keeps_own: bool) -> Iterator[dict[str, str]]:
        """Make the environment that leads git to the repository, for as long as it runs."""
        # No directory for temporary files: agents that may write nowhere else may write there.
        parent = writer.checked_directory(writer.directory(os.environ), create=True)
        hooks = dict.fromkeys(key.rpartition(".")[0] for key, _ in self.own if key.startswith("hook."))
        settings = (
            *(() if keeps_own else _kept_settings(self.own, _OWN)),
            *((key, value) for key, value in self.file_settings if re.fullmatch(_FORMAT, key)),
            *_kept_settings(self.file_settings, _KEPT),
            *_OFF.items(),
            *((f"{hook}.enabled", "false") for hook in hooks),
        )
        config = "".join(_as_config(key, value) for key, value in settings if "\n" not in value)
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


def find(directory: str, seconds: float = GIT_QUERY_S) -> Repository | None:
    """Return the repository with *directory* in its work tree; None if there is none, or it cannot be read."""
    here, end = os.path.realpath(directory), time.monotonic() + seconds
    try:
        place = place_of(here)
        if place is None or place.folder in (here, *map(str, PurePosixPath(here).parents)):
            return None
        file_settings = _read(Path(place.common, "config"), end)
        if _has_worktree_settings(file_settings):
            file_settings = (*file_settings, *_read(Path(place.folder, "config.worktree"), end))
        found = Repository(place, file_settings)
        if not found.is_usable:
            return None
        fields = found.run(
            "config", "--null", "--show-scope", "--list", keeps_own=True, seconds=seconds_left(end)
        ).split("\0")
        own = zip(fields[:-1:2], fields[1::2], strict=True)
        return attrs.evolve(found, own=tuple(_setting(field) for scope, field in own if scope in _OWN_SCOPES))
    except (OSError, ValueError, TallyError, subprocess.SubprocessError):
        return None


def seconds_left(end: float) -> float:
    """Return the seconds until the monotonic time *end*, at least 0.01, as a program's time limit."""
    return max(0.01, end - time.monotonic())


def is_installed() -> bool:
    try:
        return bool(_git())
    except FileNotFoundError:
        return False


def _read(path: Path, end: float) -> Settings:
    """Return the settings in one file, as git itself reads them, without other files that it includes."""
    try:
        data = read_write.read_limited(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ()
    words = (_git(), "-C", "/", "config", "--file", "-", "--no-includes", "--null", "--list")
    # There is no repository to look for.
    output = _run(words, {**_environ(), **_WITHOUT_OWN, "GIT_DIR": os.devnull}, seconds_left(end), data)
    return tuple(_setting(field) for field in output.split("\0")[:-1])


def _has_worktree_settings(settings: Settings) -> bool:
    return dict(settings).get("extensions.worktreeconfig", "").lower() in _YES


def _setting(field: str) -> tuple[str, str]:
    """Return a name and its value; a setting without a value is true."""
    key, has_value, value = field.partition("\n")
    return key, value if has_value else "true"


@functools.lru_cache(maxsize=8)  # several commands run in one repository
def _kept_settings(settings: Settings, kept: tuple[tuple[str, str], ...]) -> Settings:
    """Return the *settings* with a name and a value that are *kept*."""
    return tuple(
        (key, value) for key, value in settings if any(re.fullmatch(a, key) and re.fullmatch(b, value) for a, b in kept)
    )


def _as_config(key: str, value: str) -> str:
    """Return one setting as a section of a git configuration; *value* must have no line end."""
    section, _, rest = key.partition(".")
    below, has_below, name = rest.rpartition(".")
    below, value = (re.sub(r'(["\\])', r"\\\1", part) for part in (below, value))
    return f'[{section} "{below}"]\n{name} = "{value}"\n' if has_below else f'[{section}]\n{name} = "{value}"\n'


def _git() -> str:
    """Return the path of git; raise `FileNotFoundError` if it is not in `PATH`."""
    if git := program.find_program("git", os.environ.get("PATH", "")):
        return git
    raise FileNotFoundError("git was not found")


def _environ() -> dict[str, str]:
    """Return our environment without variables of git, and with those for every command."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRON


def _run(words: tuple[str, ...], environ: Mapping[str, str], seconds: float, given: str = "") -> str:
    """Run a git command with *given* as its input; return its output. Raises `FailedError`."""
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
