"""
The build of this program: its version, its commit if that is known, and the Python that runs it.

A published package has the commit in a file, `COMMIT`. A checkout has it in its `.git`, which is read without git. An
installation by `tally setup` is named after its contents.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import tallylight
from tallylight.files.read_write import text_or_nothing

_COMMIT = re.compile(r"[0-9a-f]{40}")


def name() -> str:
    """Return the build in one line: `0.2.0 (commit 0123456789ab, Python 3.13.1)`."""
    package = Path(tallylight.__file__).resolve().parent
    found = commit(package)
    release = package.parent.parent if package.parent.parent.parent.name == "releases" else None
    which = f"commit {found[:12]}, " if found else f"build {release.name}, " if release is not None else ""
    return f"{tallylight.__version__} ({which}Python {sys.version.split()[0]})"


def commit(package: Path) -> str:
    """Return the commit of *package*, 40 hexadecimal digits; empty if unknown."""
    recorded = text_or_nothing(package / "COMMIT").strip()
    if _COMMIT.fullmatch(recorded):
        return recorded
    git = package.parent.parent / ".git"
    if git.is_file():  # a worktree
        git = (git.parent / text_or_nothing(git).removeprefix("gitdir: ").strip()).resolve()
    head = text_or_nothing(git / "HEAD").strip()
    if head.startswith("ref: "):
        ref = head.removeprefix("ref: ")
        shared = (git / (text_or_nothing(git / "commondir").strip() or ".")).resolve()
        packed = re.search(
            rf"^([0-9a-f]{{40}}) {re.escape(ref)}$", text_or_nothing(shared / "packed-refs"), re.MULTILINE
        )
        head = (
            text_or_nothing(git / ref).strip() or text_or_nothing(shared / ref).strip() or (packed[1] if packed else "")
        )
    return head if _COMMIT.fullmatch(head) else ""
