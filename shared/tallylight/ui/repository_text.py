"""The status of a repository as text: `main +12 −3 2 new ↑1 ↓2`, as much of it as fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from tallylight.model.repository_status import Changes, RepositoryStatus
from tallylight.snapshot.schema import Pane
from tallylight.ui.layout import clean
from tallylight.wire.text import width

#: Cells of a branch at least, before it is left out, and at most.
_LEAST_BRANCH_CELLS, _BRANCH_CELLS = 6, 40


class Watch(Protocol):
    """Follows the repositories of panes on threads."""

    @property
    def known(self) -> Mapping[int, RepositoryStatus]:
        """The repositories read so far, by the process of each agent."""

    def due(self) -> float:
        """Return when to call `poll` again, in monotonic seconds."""

    def poll(self, panes: Iterable[Pane], now: float) -> bool:
        """Follow *panes*, at monotonic *now*; return whether anything is new."""


def text(repository: RepositoryStatus, cells: int) -> str:
    """
    Return the branch, the changes, the commits ahead and behind, and the worktree, in *cells*.

    The least important parts go first, whole; the branch is cut last. "" if not even that has room.
    """
    changes = repository.changes or Changes()
    branch, worktree = clean(repository.branch, _BRANCH_CELLS), clean(repository.worktree, _BRANCH_CELLS)
    parts = [
        f"({branch})" if repository.is_detached and branch else branch,
        signed(("+", changes.added), ("−", changes.removed)),
        f"{changes.new} new" if changes.new else "",
        signed(("↑", changes.ahead), ("↓", changes.behind)),
        f"worktree {worktree}" if worktree and worktree != branch else "",
    ]
    # By their places in the line, the least first.
    for least in (4, 2, 3, 1):
        if width(_joined(parts)) <= cells:
            break
        parts[least] = ""
    line = _joined(parts)
    if width(line) <= cells:
        return line
    return clean(line, cells) if cells >= _LEAST_BRANCH_CELLS else ""


def signed(*numbers: tuple[str, int]) -> str:
    """Return each number behind its sign, except those that are 0: `+12 −3`."""
    return " ".join(f"{sign}{number}" for sign, number in numbers if number)


def _joined(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)
