"""
The project that an agent works on: the name of the git repository around its directory, else of the directory.

A worker reads it, for a disk may not answer. The directory is from the system or from the agent's own file.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath

#: The most directories above that are searched for a repository.
MAX_LEVELS = 64


def project_of(cwd: str, home: str) -> str:
    """
    Return the name of the project of the absolute directory *cwd*; empty if it has none.

    A repository at *home* or above it does not count: it is no project of the directories below.
    """
    here = PurePosixPath(os.path.normpath(cwd))
    above = PurePosixPath(os.path.normpath(home)) if home.startswith("/") else PurePosixPath("/")
    if not here.is_absolute():
        return ""
    if here == above:
        return "~"
    for folder in (here, *here.parents)[:MAX_LEVELS]:
        if folder == above or folder in above.parents:
            break
        try:
            os.lstat(f"{folder}/.git")
        except (OSError, ValueError):
            continue
        return folder.name
    return here.name
