"""
The repository beside an agent's status: the branch it works on, and what has changed there.

Only for display: nothing is decided by it.
"""

from __future__ import annotations

from tallylight.model import attributes


@attributes.frozen(kw_only=True)
class Changes:
    """
    A work tree against its last commit, and that against the branch it follows.

    *added* and *removed* are lines of files that git knows, *new* the files and directories that it does not; *ahead*
    and *behind* are commits, 0 where it follows no branch.
    """

    added: int = 0
    removed: int = 0
    new: int = 0
    ahead: int = 0
    behind: int = 0


@attributes.frozen(kw_only=True)
class RepositoryStatus:
    """
    Of one agent. *branch* is the short commit where *is_detached*; *worktree* the name of its linked git worktree.

    *changes* None: not known.
    """

    branch: str = ""
    is_detached: bool = False
    worktree: str = ""
    changes: Changes | None = None

    def to_json(self) -> dict[str, object]:
        """All of it; what is not known is null or empty."""
        import attrs  # as much to load as all else, and few ask for this

        return attrs.asdict(self)


NOTHING = RepositoryStatus()
