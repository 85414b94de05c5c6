"""
The project that an agent works on: the name of the git repository around its directory, else of the directory.

A worker reads it, for a disk may not answer. The directory is from the system or from the agent's own file.
"""

from __future__ import annotations

import os
from pathlib import Path

from tallylight.files.directories import work_tree


def project_of(cwd: str, home: str) -> str:
    """
    Return the name of the project of the absolute directory *cwd*; empty if it has none.

    A repository at *home* or above it does not count: it is no project of the directories below.
    """
    here = os.path.normpath(cwd)
    if not here.startswith("/"):
        return ""
    is_home = here == os.path.normpath(home if home.startswith("/") else "/")
    return "~" if is_home else Path(work_tree(here, home) or here).name
