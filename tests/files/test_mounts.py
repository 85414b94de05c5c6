"""Which mount a path lies on: by its words and its links, and without a question to a mount that may hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallylight.files import mounts
from tallylight.files.mounts import TABLE_VALID_S, Mounts


def mounted(monkeypatch: pytest.MonkeyPatch, table: Path, *folders: Path | str) -> None:
    """Have the kernel's table, which is at *table* from now on, name the root and *folders*."""
    names = [str(folder).replace(" ", "\\040") for folder in ("/", *folders)]
    lines = [f"{number} 1 0:{number} / {name} rw shared:1 - fuse x rw" for number, name in enumerate(names, 30)]
    table.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(mounts, "TABLE", str(table))


def made() -> Mounts:
    found = Mounts()
    found.refresh(0.0)
    return found


def test_the_longest_name_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A path lies on the nearest mount above it; one that only begins with the same letters is another."""
    mounted(monkeypatch, tmp_path / "table", "/home", "/home/u/my disk", "/home/u/file")
    found = made()
    for path, mount in {
        "/etc/passwd": "/",
        "/homes/u": "/",
        "/home/u/.claude/sessions/1.json": "/home",
        "/home/u/my disk/x": "/home/u/my disk",
        "/home/u/my disks/x": "/home",
        "/home/u/file": "/home/u/file",
    }.items():
        assert found.of(Path(path)) == mount


def test_links_are_followed_as_far_as_they_are_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The mount behind a link is told, and is itself not asked."""
    here, dead = tmp_path / "here", tmp_path / "dead"
    (here / "real").mkdir(parents=True)
    (here / "one").symlink_to("real/../two")
    (here / "two").symlink_to(dead / "x")
    (here / "round").symlink_to("round")
    mounted(monkeypatch, tmp_path / "table", here, dead)
    found, readlink, asked = made(), os.readlink, list[str]()
    monkeypatch.setattr(os, "readlink", lambda path: (asked.append(path), readlink(path))[1])
    path = here / "one/sessions/1.json"
    assert found.of(path) == str(here)
    assert found.behind(path) == found.behind(path) == str(dead)
    assert found.behind(here / "real/x") == found.behind(here / "round/x") == str(here)
    assert asked and not [path for path in asked if path.startswith(str(dead))]


def test_without_a_table_each_directory_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a system that has none."""
    monkeypatch.setattr(mounts, "TABLE", str(tmp_path / "none"))
    found = made()
    assert found.of(Path("/a/b/c")) == found.behind(Path("/a/b/c")) == "/a/b"
    assert found.of(Path("/a/x/c")) == "/a/x"


def test_a_new_mount(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is known after some seconds."""
    mounted(monkeypatch, tmp_path / "table")
    found = made()
    assert found.of(Path("/new/x")) == "/"
    mounted(monkeypatch, tmp_path / "table", "/new")
    found.refresh(TABLE_VALID_S / 2)
    assert found.of(Path("/new/x")) == "/"
    found.refresh(TABLE_VALID_S)
    assert found.of(Path("/new/x")) == "/new"


def test_this_machine() -> None:
    """What is mounted here is read, if the system tells."""
    found = made()
    assert found.of(Path("/proc/self/stat")) == ("/proc" if Path(mounts.TABLE).exists() else "/proc/self")
