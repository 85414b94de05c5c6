"""
Compares the changes of all agents in one repository, by git and by the agents' records. It blocks.

git lists the uncommitted files of each work tree, and once for each pair of commits the files that differ. Only if two
agents have changed the same file, git shows the lines. Both work trees are compared with their last common commit, as a
merge would. In one work tree, uncommitted lines belong to the agent with their text in its record.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import posixpath
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from tallylight.actions import git
from tallylight.evidence.records.reading import Edit
from tallylight.files import read_write
from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.parts.work.hunks import Hunk, clashing, line_ranges, parsed, touch, written
from tallylight.snapshot.entries import CollisionEntry

#: Seconds for one look.
COLLISIONS_S = 4.0
#: Files of two agents that are compared, bytes of one that is read, and pairs of commits that are remembered.
MAX_COMPARED_FILES, MAX_COMPARED_BYTES, MAX_COMMIT_PAIRS = 32, 1 << 20, 512
#: The most collisions of one agent.
MAX_ENTRIES = 16

_STATUS = (
    "status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "-z",
)  # fmt: skip
_NAMES = ("diff-tree", "-r", "--name-only", "--no-renames", "--ignore-submodules=all", "-z")
_LITERAL = ("--literal-pathspecs", "-c", "core.quotepath=off")
_LINES = (
    *_LITERAL, "diff-index", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_NEW = (*_LITERAL, "ls-files", "--others", "--exclude-standard", "-z", "--")
#: Fields before the path in a line of the status, by its first two characters. https://git-scm.com/docs/git-status
_FIELDS = {"1 ": 8, "u ": 10}
_HEAD = "# branch.oid "


@attrs.frozen(kw_only=True)
class AgentChanges:
    """
    The changes of the agent at *address*, with the user's *name* for it, in *cwd* in the work tree *top*.

    *edits* are its recent writes, and *asks* the files that it asks to write, by paths from *cwd*. Agents of other
    hosts, which are not *is_own*, are only compared with.
    """

    address: str
    name: str
    top: str
    cwd: str
    edits: tuple[Edit, ...] = ()
    asks: tuple[str, ...] = ()
    #: The names of the files of both.
    names: frozenset[str] = frozenset()
    is_own: bool = True
    is_busy: bool = False
    #: When its status began: git may have changes since then.
    since: float = 0.0


@attrs.frozen
class Overlaps:
    """The collisions of each of our own agents, and the names of the changed files in each work tree."""

    entries: Mapping[str, tuple[CollisionEntry, ...]]
    names: Mapping[str, frozenset[str]]


@attrs.frozen
class _Tree:
    """A work tree: the commit that is checked out, and the files that differ from it."""

    head: str
    changed: frozenset[str]


@attrs.define
class Looks:
    """The state of one repository, which makes one look at a time."""

    _trees: dict[str, _Tree] = attrs.field(factory=dict)
    #: The common commit of two commits, and the files that differ between two.
    _bases: dict[frozenset[str], str] = attrs.field(factory=dict)
    _between: dict[tuple[str, str], frozenset[str]] = attrs.field(factory=dict)
    #: The git repository of each work tree, with a stamp of its settings.
    _repositories: dict[str, tuple[tuple[int, ...], git.Repository | None]] = attrs.field(factory=dict)
    #: Values of one look: its end; the recent edits and requested files of each agent, by file; and hunks of files in a
    #: work tree against a commit.
    _end: float = 0.0
    _edits: dict[str, dict[str, list[Edit]]] = attrs.field(factory=dict)
    _asks: dict[str, frozenset[str]] = attrs.field(factory=dict)
    _hunks: dict[tuple[str, ...], dict[str, tuple[Hunk, ...]]] = attrs.field(factory=dict)

    def look(self, parties: Sequence[AgentChanges], stale: Collection[str], end: float) -> Overlaps:
        """
        Compare *parties*, after asking git again about *stale* work trees. Raise `StuckError` if git is slow, or
        `OSError`.
        """
        self._end, self._hunks = end, {}
        self._edits = {party.address: _edits_of(party) for party in parties}
        self._asks = {party.address: frozenset(_below(party, path) for path in party.asks) for party in parties}
        tops = {party.top for party in parties}
        self._trees = {top: tree for top, tree in self._trees.items() if top in tops and top not in stale}
        self._trees |= {top: self._tree(top) for top in tops - self._trees.keys()}
        entries: dict[str, list[CollisionEntry]] = {party.address: [] for party in parties if party.is_own}
        names: defaultdict[str, set[str]] = defaultdict(set)
        for one, other in itertools.permutations(parties, 2):
            if one.is_own or other.is_own:
                names[one.top].update(map(posixpath.basename, self._files(one, other)))
            if one.is_own:
                entries[one.address] += self._told(one, other, parties)
        _shorten(self._repositories)
        _shorten(self._bases)
        _shorten(self._between)
        return Overlaps(
            {address: _first(found) for address, found in entries.items()},
            {top: frozenset(found) for top, found in names.items()},
        )

    def _told(
        self, mine: AgentChanges, others: AgentChanges, parties: Sequence[AgentChanges]
    ) -> Iterator[CollisionEntry]:
        """Yield the collisions of *mine* with *others*."""
        base = self._base(mine, others)
        shared = {
            file
            for file in self._files(mine, others) & self._files(others, mine)
            if self._is_author(mine, file, parties) and self._is_author(others, file, parties)
        }
        files = sorted(shared)[:MAX_COMPARED_FILES] if base else []
        if not files:
            return
        own, theirs = (self._changes(party.top, base, files) for party in (mine, others))
        for file in files:
            ours, hunks = own.get(file, ()), theirs.get(file, ())
            if mine.top == others.top:
                ours, hunks = (self._parted(file, *both, hunks) for both in ((mine, others), (others, mine)))
            same, is_asked = clashing(ours, hunks), file in self._asks[mine.address]
            if hunks and (ours or is_asked):
                yield CollisionEntry(
                    pane=others.address,
                    name=others.name,
                    file=file,
                    lines=line_ranges(hunk.now for hunk in same or hunks),
                    same=bool(same),
                    asked=is_asked,
                    at=self._at(others, file),
                )

    def _files(self, party: AgentChanges, other: AgentChanges) -> frozenset[str]:
        """
        Return the files that *party* may have changed since its common commit with *other*, and those it asks to write.
        """
        found = self._asks[party.address].union(self._edits[party.address]) - {""}
        base = self._base(party, other)
        if party.top == other.top or not base:
            return found
        tree = self._trees[party.top]
        key = base, tree.head
        if key not in self._between:
            differs = self._ask(party.top, *_NAMES, *key) if base != tree.head else ""
            self._between[key] = frozenset(filter(None, differs.split("\0")))
        return found | tree.changed | self._between[key]

    def _is_author(self, party: AgentChanges, file: str, parties: Sequence[AgentChanges]) -> bool:
        """Return whether *party* has changed *file* or asks to, or no agent of its work tree is known to have."""
        has = [one.address for one in parties if one.top == party.top and file in self._edits[one.address]]
        return not has or party.address in has or file in self._asks[party.address]

    def _parted(self, file: str, mine: AgentChanges, others: AgentChanges, hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
        """Return the parts of *hunks*, of the common work tree, that *mine* has written."""
        own, theirs = (self._edits[party.address].get(file, []) for party in (mine, others))
        spans = [
            (max(span[0], hunk.now[0]), min(span[1], hunk.now[1]))
            for span in written(own, theirs, self._text(mine.top, file))
            for hunk in hunks
            if touch(span, hunk.now)
        ]
        return tuple(Hunk(span, span, mine.address) for span in spans)

    def _changes(self, top: str, base: str, files: Sequence[str]) -> dict[str, tuple[Hunk, ...]]:
        """Return the hunks of *files* in the work tree *top* against the commit *base*."""
        key = top, base, *files
        if key not in self._hunks:
            found = parsed(self._ask(top, *_LINES, base, "--", *files))
            others = [file for file in files if file not in found]
            new = self._ask(top, *_NEW, *others) if others else ""
            for file in filter(None, new.split("\0")):
                text = self._text(top, file)
                found[file] = (Hunk((1, 1), (1, 1 + len(text.splitlines())), text),)
            self._hunks[key] = found
        return self._hunks[key]

    def _base(self, one: AgentChanges, other: AgentChanges) -> str:
        """Return the last common commit of two work trees; empty if there is none."""
        heads = frozenset((self._trees[one.top].head, self._trees[other.top].head))
        if "" in heads or len(heads) == 1:
            return next(iter(heads)) if len(heads) == 1 else ""
        if heads not in self._bases:
            self._bases[heads] = self._ask(one.top, "merge-base", *sorted(heads)).strip()
        return self._bases[heads]

    def _tree(self, top: str) -> _Tree:
        head, changed = "", []
        for entry in self._ask(top, *_STATUS).split("\0"):
            if entry.startswith(_HEAD):
                head = entry.removeprefix(_HEAD)
            elif (fields := _FIELDS.get(entry[:2])) is not None:
                changed.append(entry.split(" ", fields)[-1])
        return _Tree(head if head.isalnum() else "", frozenset(changed))

    def _ask(self, top: str, *words: str) -> str:
        """Return git's output in the work tree *top*; empty if it fails, or is too long."""
        repository, answer = self._repository(top), None
        with contextlib.suppress(StuckError):
            if repository is not None:
                answer = repository.run_bounded(*words, seconds=git.seconds_left(self._end))
        if time.monotonic() >= self._end:
            raise StuckError(top)
        return answer or ""

    def _repository(self, top: str) -> git.Repository | None:
        """Return the repository of *top*; its settings are read again after a change."""
        stamp, found = self._repositories.get(top, ((), None))
        if found is None or stamp != _stamp(found):
            found = git.find(top, git.seconds_left(self._end))
            self._repositories[top] = _stamp(found) if found is not None else (), found
        return found

    def _text(self, top: str, file: str) -> str:
        """Return the text of a file; empty if unreadable."""
        try:
            return read_write.read_limited(Path(top, file), MAX_COMPARED_BYTES).decode("utf-8", "replace")
        except (OSError, TallyError):
            return ""

    def _at(self, party: AgentChanges, file: str) -> float:
        """Return when *party* last changed *file*, in seconds since the epoch; 0 if unknown."""
        if edits := self._edits[party.address].get(file):
            return max(edit.at for edit in edits)
        try:
            return Path(party.top, file).stat().st_mtime
        except OSError:
            return 0.0


def _edits_of(party: AgentChanges) -> dict[str, list[Edit]]:
    """Return the recent edits of *party*, by file."""
    found: dict[str, list[Edit]] = {}
    for edit in party.edits:
        if file := _below(party, edit.path):
            found.setdefault(file, []).append(edit)
    return found


def _first(entries: list[CollisionEntry]) -> tuple[CollisionEntry, ...]:
    """Return the first `MAX_ENTRIES` collisions, those of the same lines first."""
    return tuple(sorted(entries, key=lambda entry: (not entry.same, entry.file))[:MAX_ENTRIES])


def _stamp(repository: git.Repository) -> tuple[int, ...]:
    place, found = repository.place, []
    for path in (f"{place.top}/.git", f"{place.common}/config", f"{place.folder}/config.worktree"):
        try:
            found.append(os.stat(path).st_mtime_ns)  # noqa: PTH116 - of texts
        except OSError:
            found.append(0)
    return tuple(found)


def _shorten(known: dict[Any, Any]) -> None:
    while len(known) > MAX_COMMIT_PAIRS:
        del known[next(iter(known))]


def _below(party: AgentChanges, path: str) -> str:
    """Return *path* from the top of the work tree; empty if it is elsewhere."""
    try:
        found = os.path.relpath(os.path.realpath(posixpath.join(party.cwd, path)), party.top)
    except (OSError, ValueError):
        return ""
    return "" if found == ".." or found.startswith("../") else found
