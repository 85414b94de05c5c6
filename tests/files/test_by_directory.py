"""What is read once of each directory. `tests.hosts.test_projects` has the disk that hangs."""

from __future__ import annotations

import pytest

from tallylight.files.by_directory import MAX_CACHED_DIRECTORIES, ByDirectory
from tallylight.files.mounts import Mounts


@pytest.fixture
def found() -> ByDirectory[str]:
    return ByDirectory("names", lambda _: {}, lambda *_: True, Mounts())


def test_what_is_remembered_is_bounded(found: ByDirectory[str]) -> None:
    found._were_read("/", {f"/d/{number}": str(number) for number in range(2 * MAX_CACHED_DIRECTORIES)})

    assert len(found._known) == MAX_CACHED_DIRECTORIES
    assert (found.get("/d/0"), found.get(f"/d/{2 * MAX_CACHED_DIRECTORIES - 1}")) == (
        None,
        f"{2 * MAX_CACHED_DIRECTORIES - 1}",
    )


def test_a_disk_that_fails_tells_nothing(found: ByDirectory[str]) -> None:
    found._asked.add("/")
    found._failed("/", OSError("gone"))

    assert not found._known and not found._asked
