"""
Trees: a work tree as it is at one moment, written as a tree object of git, outside of the repository.

`<state directory>/work/<work tree>/<day>/` has an index of ours and the objects that the repository lacks. git reads
the repository's own objects beside them, and writes nothing into it: not its index, no reference, no object. It runs
by the rules of `actions.git`, so that no program of the repository runs. Submodules and repositories within are left
out, and so is what git ignores. Trees older than `KEPT_TREE_DAYS` days are removed when a day begins.

Everything here blocks. `OSError` and `TallyError`: there is no tree. `StuckError`: leave this repository alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.actions import git
from tallylight.files import directories
from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.snapshot.writer import held

#: Days that a tree is kept.
KEPT_TREE_DAYS = 7
#: Bytes of one file, of all new files of one tree, and of an index; and new files of one tree.
MAX_NEW_FILE_BYTES, MAX_NEW_FILES_BYTES, MAX_GIT_INDEX_BYTES, MAX_NEW_FILES = 8 << 20, 128 << 20, 64 << 20, 10_000
#: Bytes of ours for one work tree; beyond that no more trees are written.
MAX_STORE_BYTES = 512 << 20
#: Seconds that git has for one tree, and that another host of ours has to end with its own.
GIT_TREE_S, OTHERS_S = 5.0, 1.0
#: git splits no index of ours: a part of it would be written beside the repository's.
_WHOLE = ("-c", "core.splitIndex=false", "-c", "core.quotePath=false")
_DAY_S = 86_400


class TreeError(TallyError):
    """There is no such tree."""


@attrs.frozen
class Tree:
    """A tree by its *id*, and how many new or changed files are *left* out of it: too large, or not readable."""

    id: str
    left: int = 0


@attrs.frozen
class Store:
    """The trees of the work tree of *found*, in *folder*."""

    found: git.Repository
    folder: Path

    @classmethod
    def of(cls, directory: str, environ: Mapping[str, str], seconds: float = GIT_TREE_S) -> Store | None:
        """Return the store of the work tree around *directory*; None if that is in none."""
        place = git.place_of(directory, environ.get("HOME", "/"))
        if place is None or (found := git.find(place.top, seconds)) is None:
            return None
        name = hashlib.sha256(os.fsencode(found.top)).hexdigest()[:16]
        return cls(found, directories.state_dir(environ) / "work" / name)

    @property
    def top(self) -> str:
        """The work tree."""
        return self.found.top

    @property
    def _stuck(self) -> StuckError:
        return StuckError(f"{self.top} has too much that is new, or its git is too slow")

    def days(self) -> list[Path]:
        """Return the directories of the days, the latest first."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted((day for day in found if day.name.isdigit()), key=lambda day: -int(day.name))

    def environ(self, index: Path | None = None) -> dict[str, str]:
        """Return the variables that have git read our objects as well, and write there alone."""
        places = [str(day / "objects") for day in self.days()]
        also = [str(Path(self.found.place.common, "objects")), *places[1:]]
        kept = {"GIT_OBJECT_DIRECTORY": places[0]} if places else {}
        if index is not None:
            kept["GIT_INDEX_FILE"] = str(index)
        return kept | {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(map(_quoted, also))}

    def take(self, now: float, seconds: float = GIT_TREE_S) -> Tree:
        """Write the work tree as it is now, in seconds since the epoch."""
        end = time.monotonic() + seconds
        self.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(self.folder, "another host writes a tree", OTHERS_S):
            today = self._begun(int(now // _DAY_S))
            index = today / "index"
            Path(f"{index}.lock").unlink(missing_ok=True)  # of a git that was killed: we hold the folder
            also = self.environ(index)
            paths, left = self._changed(also, end)
            if paths:
                if _size(self.folder) > MAX_STORE_BYTES:
                    raise self._stuck
                words = (*_WHOLE, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
                self._run(*words, also=also, end=end, given="".join(f"{path}\0" for path in paths))
            return Tree(self._run(*_WHOLE, "write-tree", "--missing-ok", also=also, end=end).strip(), left)

    def diff(self, before: str, after: str, options: Sequence[str] = ("-p",), paths: Sequence[str] = (".",)) -> str:
        """Return what git says of the changes from one tree to another."""
        asked = ("diff-tree", "-r", "--ignore-submodules", "--no-ext-diff", "--no-textconv", *options)
        return self._run(*_WHOLE, *asked, before, after, "--", *paths, end=time.monotonic() + git.GIT_QUERY_S)

    def changed(self, before: str, after: str, paths: Sequence[str] = (".",)) -> dict[str, str]:
        """Return the files that differ between two trees, each with `A`, `D`, `M` or `T`."""
        fields = self.diff(before, after, ("-z", "--no-renames", "--name-status"), paths).split("\0")
        return dict(zip(fields[1::2], fields[::2], strict=False))

    def restore(self, tree: str, paths: Sequence[str]) -> None:
        """Write the files *paths* as they are in *tree*."""
        end = time.monotonic() + git.GIT_CHANGE_S
        index = self.folder / "restoring"
        with held(self.folder, "another host writes a tree", git.GIT_QUERY_S):
            for name in (index, Path(f"{index}.lock")):
                name.unlink(missing_ok=True)
            also = self.environ(index)
            try:
                self._run(*_WHOLE, "read-tree", tree, also=also, end=end)
                words = (*_WHOLE, "checkout-index", "--force", "-z", "--stdin")
                self._run(*words, also=also, end=end, given="".join(f"{path}\0" for path in paths))
            finally:
                index.unlink(missing_ok=True)

    def _begun(self, day: int) -> Path:
        """Return the directory of *day*, which begins with the index of the repository: what that knows is not read."""
        today = self.folder / str(day)
        if not (today / "objects").is_dir():
            for store in self.folder.parent.iterdir():
                prune(store, day * _DAY_S)
                if store != self.folder:
                    with contextlib.suppress(OSError):  # it is not empty
                        store.rmdir()
            today.mkdir(mode=0o700, exist_ok=True)
            own = Path(self.found.place.folder, "index")
            if own.is_file():
                if own.stat().st_size > MAX_GIT_INDEX_BYTES:
                    raise self._stuck
                # With its time: git compares what was written later than that.
                shutil.copy2(own, today / "index")
                (today / "index").chmod(0o600)
            (today / "objects").mkdir(mode=0o700)
        return today

    def _changed(self, also: Mapping[str, str], end: float) -> tuple[list[str], int]:
        """Return the paths that differ from the index, or are new, and how many are left out."""
        words = ("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard")
        listed = self.found.run_bounded(*_WHOLE, *words, seconds=git.seconds_left(end), also=also)
        if listed is None:
            raise TreeError(f"git lists no files of {self.top}")
        paths = list(dict.fromkeys(listed.split("\0")[:-1]))
        if len(paths) > MAX_NEW_FILES:
            raise self._stuck
        # A file behind a link has gone: git takes the link in its place.
        whole = {path: Path(self.top, path) for path in paths}
        folders = {
            folder: os.path.realpath(folder) == str(folder) for folder in {path.parent for path in whole.values()}
        }
        sizes = {path: _bytes(file) for path, file in whole.items() if folders[file.parent]}
        kept = {path: size for path, size in sizes.items() if size is not None and size <= MAX_NEW_FILE_BYTES}
        if sum(kept.values()) > MAX_NEW_FILES_BYTES:
            raise self._stuck
        return list(kept), sum(size is not None for size in sizes.values()) - len(kept)

    def _run(self, *words: str, end: float, given: str = "", also: Mapping[str, str] | None = None) -> str:
        also = self.environ() if also is None else also
        try:
            return self.found.run(*words, keeps_own=False, seconds=git.seconds_left(end), given=given, also=also)
        except subprocess.TimeoutExpired:
            raise self._stuck from None


def kept_since(now: float) -> float:
    """Return the beginning of the first day that is kept."""
    return (now // _DAY_S - KEPT_TREE_DAYS) * _DAY_S


def prune(folder: Path, now: float) -> None:
    """Remove from *folder*, of a work tree or of the calls of panes, what is kept no longer."""
    first = kept_since(now)
    for entry in folder.iterdir():
        if entry.name.isdigit() and int(entry.name) * _DAY_S < first:
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.is_file() and entry.lstat().st_mtime < first:
            entry.unlink(missing_ok=True)


def _bytes(path: Path) -> int | None:
    """Return the bytes to be read of a file, more than `MAX_NEW_FILE_BYTES` if it cannot be; None for a directory."""
    try:
        found = path.lstat()
    except OSError:
        return 0  # it has gone
    if stat.S_ISDIR(found.st_mode):
        return None
    is_readable = stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK))
    return found.st_size if is_readable else MAX_NEW_FILE_BYTES + 1


def _size(folder: Path) -> int:
    return sum(entry.stat(follow_symlinks=False).st_size for entry in _files(folder))


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                yield entry


def _quoted(path: str) -> str:
    """Return *path* for a list of them. https://git-scm.com/docs/git#_git_repository"""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if os.pathsep in path or path.startswith('"') else path
