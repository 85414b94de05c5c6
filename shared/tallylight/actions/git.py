"""
git, asked and used so that it runs no program that a repository names. https://git-scm.com/docs/git-config

Every git of ours goes through `run` or `bounded`. A repository may be anybody's: a clone can hold a bare repository
with settings of its own below any directory, and an archive can hold a whole `.git`. What such settings could have git
run, and how each is kept from it while we read (`rev-parse`, `status`, `diff`) and make a worktree:

* a bare repository that was not asked for, whatever is in it: `safe.bareRepository`, for which git must be 2.38; that a
  work tree has its repository as its own `.git` is checked here as well, by `top`;
* `core.fsmonitor`, at every look at the index; hooks in files (`post-checkout`, `reference-transaction`,
  `post-index-change`) by `core.hooksPath`; hooks in settings, since git 2.54, each by its name;
* filters (`filter.*.clean` when files are compared, `smudge` when they are checked out, `process` for both), each by
  its name; `Programs` tells whose they are, and a repository with settings for one branch or place alone is refused;
* a pager (`pager.worktree`) where the output is a terminal: `--no-pager`;
* anything that fetches, as a partial clone does for objects that it lacks (`core.sshCommand`, `remote.*.uploadpack`,
  `credential.helper`, `ext::`): no transport is allowed, and `GIT_NO_LAZY_FETCH`;
* a submodule with settings of its own: it is neither looked into (`--ignore-submodules=dirty`, which the caller of
  `status` gives) nor checked out (`submodule.recurse`);
* the surroundings, with other settings or another repository in `GIT_*`: none of these variables is passed on.

An alias cannot take the name of a command of git's own, and editors, merge drivers and `gpg.program` are not run by
these commands; neither are `diff.external`, `diff.*.command` and textconv: the caller of `diff` gives
`--no-ext-diff --no-textconv`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import attrs

from tallylight.files import program

#: Seconds for a question.
ASK_S = 10.0

_TRANSPORTS = ("ext", "fd", "file", "ftp", "ftps", "git", "http", "https", "ssh")
#: Before every command, ours and one that is printed for others to run.
GUARDS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "submodule.recurse=false"),
    *("-c", "protocol.allow=never"),
    *(word for name in _TRANSPORTS for word in ("-c", f"protocol.{name}.allow=never")),
)
_ENVIRON = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to type a password
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
#: A filter or hook, by what git calls it: its name is between the first dot and the last.
_PROGRAM = re.compile(r"(filter|hook|includeif)\.(.+)\.[^.]+", re.DOTALL)
#: Settings that are the user's, and not of a repository.
_OWN_SCOPES = frozenset({"system", "global"})


@attrs.frozen
class Programs:
    """The filters that settings name, the user's *own* and the *foreign* ones of a repository; and all *hooks*."""

    own: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()

    def off(self, *, keeps_own: bool = False) -> tuple[str, ...]:
        """The options that switch them off; with *keeps_own* the user's own filters run."""
        options = [f"hook.{name}.enabled=false" for name in self.hooks]
        for name in (*self.foreign, *(() if keeps_own else self.own)):
            options += [f"filter.{name}.{key}=" for key in ("clean", "smudge", "process")]
            options.append(f"filter.{name}.required=false")
        return tuple(word for option in options for word in ("-c", option))


def run(
    directory: str, *words: str, options: Sequence[str] = (), seconds: float = ASK_S
) -> subprocess.CompletedProcess[str]:
    """
    Run git in *directory* with *options* behind the `GUARDS`.

    `FileNotFoundError` if there is no git in an absolute directory of `PATH`; `subprocess.TimeoutExpired`.
    """
    return subprocess.run(
        _command(directory, words, options),
        env=_environ(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=seconds,
        check=False,
    )


def bounded(directory: str, *words: str, options: Sequence[str] = (), seconds: float, limit: int) -> str | None:
    """
    What git answers, of which it may write *limit* bytes; None if it fails or is not there.

    `StuckError` after *seconds*, or more than that: it was killed.
    """
    try:
        done = program.run(_command(directory, words, options), _environ(), patience=seconds, limit=limit)
    except FileNotFoundError:
        return None
    return done.output.decode("utf-8", "surrogateescape") if done is not None and done.code == 0 else None


def _command(directory: str, words: Sequence[str], options: Sequence[str]) -> list[str]:
    path = os.pathsep.join(part for part in os.environ.get("PATH", "").split(os.pathsep) if part.startswith("/"))
    git = shutil.which("git", path=path)
    if git is None:
        raise FileNotFoundError("git was not found")
    return [git, *GUARDS, *options, "-C", directory, *words]


def _environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRON


def ask(directory: str, *words: str, options: Sequence[str] = (), seconds: float = ASK_S) -> str | None:
    """What git answers, without the line's end; None if it fails, takes too long or is not there."""
    try:
        done = run(directory, *words, options=options, seconds=seconds)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.removesuffix("\n") if done.returncode == 0 else None


def top(directory: str, seconds: float = ASK_S) -> str | None:
    """The work tree around *directory*, if the repository that git finds there is its own `.git`; else None."""
    found = ask(directory, "rev-parse", "--show-toplevel", seconds=seconds)
    folder = ask(directory, "rev-parse", "--absolute-git-dir", seconds=seconds) if found else None
    if not found or not folder:
        return None
    own = Path(found, ".git")
    try:
        if own.is_file():
            # A file there names the directory: a worktree or a submodule.
            own = Path(found, own.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip())
        return found if own.samefile(folder) else None
    except OSError:
        return None


def programs(directory: str, seconds: float = ASK_S) -> Programs | None:
    """
    The filters and hooks that settings name.

    None if that cannot be told: git does not, one has a name that cannot be given as an option, or the repository has
    settings that count on some branches or in some directories alone, and so in the new worktree.
    """
    try:
        words = ("config", "--null", "--show-scope", "--get-regexp", r"^(filter|hook|includeif)\.")
        done = run(directory, *words, seconds=seconds)
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode not in (0, 1):  # 1: there are none
        return None
    scopes: dict[tuple[str, str], set[str]] = {}
    fields = done.stdout.split("\0")[:-1]
    for scope, field in zip(fields[::2], fields[1::2], strict=True):
        if found := _PROGRAM.fullmatch(field.partition("\n")[0]):
            scopes.setdefault((found[1], found[2]), set()).add(scope)
    is_own = {key: found <= _OWN_SCOPES for key, found in scopes.items()}
    # `-c` would end a name at its equals sign.
    if any(not own if kind == "includeif" else "=" in name for (kind, name), own in is_own.items()):
        return None
    return Programs(
        own=tuple(name for (kind, name), own in is_own.items() if kind == "filter" and own),
        foreign=tuple(name for (kind, name), own in is_own.items() if kind == "filter" and not own),
        hooks=tuple(name for kind, name in is_own if kind == "hook"),
    )
