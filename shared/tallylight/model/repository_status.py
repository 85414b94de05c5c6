"""
The state of an agent's git repository: its branch, and how much has changed there.

It is for display only: nothing is decided by it.
"""

from __future__ import annotations

from tallylight.model import attributes


@attributes.frozen(kw_only=True)
class Changes:
    """
    The changes in a work tree since its last commit, and the commits since the branch that it follows.

    *added* and *removed* count lines of tracked files, *new* counts untracked files and directories. *ahead* and
    *behind* count commits; both are 0 for a branch that follows none.
    """

    added: int = 0
    removed: int = 0
    new: int = 0
    ahead: int = 0
    behind: int = 0


@attributes.frozen(kw_only=True)
class RepositoryStatus:
    """
    The state of one agent's repository. *branch* is the short commit if *is_detached*.

    *worktree* is the name of its linked git worktree. *changes* is None if they are not known.
    """

    branch: str = ""
    is_detached: bool = False
    worktree: str = ""
    changes: Changes | None = None

    def to_json(self) -> dict[str, object]:
        """Return all fields; an unknown one is null or empty."""
        import attrs  # slow to load, and seldom needed

        return attrs.asdict(self)


NOTHING = RepositoryStatus()
