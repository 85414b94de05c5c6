"""
The project that an agent works on: the name of the git repository that its directory belongs to, else of the directory.

Read on a worker: a disk may not answer. Only a directory that the system or the agent's own file told is looked at.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath

#: How many directories up a repository is looked for.
MAX_LEVELS = 64


def project_of(cwd: str, home: str) -> str:
    """
    Name the project of the absolute directory *cwd*; nothing if there is no name for it.

    A repository that holds all of *home*, or that *home* lies in, is no project of what is below.
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
