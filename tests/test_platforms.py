"""docs/measurements.md names everything that only Linux has, and what is done elsewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "shared" / "tallylight"
PAGE = (ROOT / "docs" / "measurements.md").read_text("utf-8")
#: Files that only Linux has, or has at that place.
_PATHS = re.compile(r"/proc\b|/dev/ptmx|/dev/pts|/dev/shm|/sys/")
#: What only the standard library of Linux has, or only its C library.
_NAMES = {
    "pipe2", "pidfd_open", "inotify_init1", "inotify_add_watch", "SO_PEERCRED", "TIOCGPTN", "epoll", "eventfd",
    "memfd_create", "O_PATH", "O_TMPFILE", "sched_getaffinity", "signalfd", "unshare", "setns", "prctl", "CDLL",
    "getresuid", "splice", "posix_fadvise", "ProcTable", "freedesktop_os_release",
}  # fmt: skip


def linux_only(source: str) -> set[str]:
    """What of Linux a module uses: paths in its texts, but for its comments and docstrings, and names."""
    if not _PATHS.search(source) and not any(word in source for word in (*_NAMES, "platform")):
        return set()
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            found |= set(_PATHS.findall(node.value))
        found |= {_name(node)} & _NAMES
        if isinstance(node, ast.Compare) and any("platform" in _name(part) for part in ast.walk(node)):
            found.add("platform")
    return found


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None) or ""


def users() -> dict[str, set[str]]:
    """The modules that use something of Linux, as the page names them, and what they use."""
    found = {str(path.relative_to(PACKAGE)): linux_only(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    return {name: names for name, names in found.items() if names}


@pytest.mark.slow
def test_every_use_of_linux_is_on_the_page() -> None:
    """Each module that uses a path or a call of Linux has its row, and no row is left of what is gone."""
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    listed = set(re.findall(r"`([a-z_]+/[a-z_/0-9]+\.py)`", rows))

    assert set(users()) - listed == set(), "say in docs/measurements.md what macOS does instead"
    assert listed - set(users()) == set(), "these use nothing of Linux any more"
    assert "evidence/procfs.py" in listed


def test_a_use_is_found() -> None:
    """Paths, calls and comparisons are found; words about them are not."""
    assert linux_only("open('/proc/1/stat')") == {"/proc"}
    assert linux_only("x = f'/proc/{pid}/cwd'") == {"/proc"}
    assert linux_only("import os\nos.pipe2(0)") == {"pipe2"}
    assert linux_only("import sys\nif sys.platform == 'darwin': pass") == {"platform"}
    assert linux_only("from x import ProcTable") == {"ProcTable"}
    assert linux_only("'''Reads /proc.'''\n# /proc\ndef f():\n    'of /proc'\n") == set()
