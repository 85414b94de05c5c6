"""The feed: what it notices, and that it reads no file twice."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest

from tallylight.model.status import Status
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.feed import LIVENESS_S, Feed
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tests.living import host as host_of

WORKING = Pane(id="3", status=Status.WORKING, agent="claude", since=50.0)


def writer(folder: Path) -> SnapshotWriter:
    return SnapshotWriter(folder / f"kitty-{os.getpid()}.json", "kitty", lambda: 1000.0, min_interval=0.0)


def statuses(feed: Feed) -> list[Status]:
    return [pane.status for found in feed.snapshots for pane in found.panes]


def test_a_change_is_told_once(folder: Path) -> None:
    """Each write of a host is one change, and nothing new is no change."""
    host, feed = writer(folder), Feed(folder)
    assert not feed.poll(0.0)
    host.publish([WORKING], 0.0)
    assert feed.poll(0.1)
    assert not feed.poll(0.2)
    host.publish([attrs.evolve(WORKING, status=Status.DONE)], 1.0)
    assert feed.poll(0.3)
    assert statuses(feed) == [Status.DONE]
    host.close()
    assert feed.poll(0.4)
    assert feed.snapshots == ()


def test_an_unchanged_file_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two writes a snapshot is read once, however often the feed is polled."""
    read: list[str] = []
    original = snapshot.read_living
    monkeypatch.setattr(snapshot, "read_living", lambda path: read.append(path.name) or original(path))
    writer(folder).publish([WORKING], 0.0)
    feed = Feed(folder)
    for step in range(50):
        feed.poll(step * 0.1)
    assert len(read) == 1


def test_a_host_does_not_parse_its_own_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its readers get the panes as they are, until it ends or its disk fails; other processes' files are read."""
    read: list[str] = []
    original = snapshot.read_living
    monkeypatch.setattr(snapshot, "read_living", lambda path: read.append(path.name) or original(path))
    host, feed = writer(folder), Feed(folder)
    host.is_shared = True
    host.publish([WORKING], 0.0)
    feed.poll(0.1)
    assert feed.snapshots[0].panes[0] is WORKING
    assert feed.snapshots == (original(host.path),)
    with host_of(folder):
        feed.poll(0.2)
        assert len(feed.snapshots) == 2
    assert host.path.name not in read
    monkeypatch.setattr(snapshot, "seal", lambda: (_ for _ in ()).throw(OSError("no memory")))
    host.publish([attrs.evolve(WORKING, status=Status.DONE)], 1.0)
    feed.poll(1.1)
    assert host.path.name in read and feed.stale
    host.close()
    assert feed.poll(1.2) and feed.snapshots == ()


@pytest.mark.slow
def test_a_killed_host_goes_within_a_second(folder: Path) -> None:
    """A writer that died without a goodbye is gone at the next look for the living."""
    with host_of(folder):
        feed = Feed(folder)
        assert feed.poll(0.0)
        assert statuses(feed) == [Status.WORKING]
    assert not feed.poll(LIVENESS_S - 0.1)
    assert feed.poll(LIVENESS_S)
    assert feed.snapshots == ()
    assert not feed.poll(LIVENESS_S + 0.1)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_a_host_that_nobody_has_waited_for(folder: Path) -> None:
    """It has ended, and holds nothing any more: it is gone, and nobody has forged its file."""
    with host_of(folder) as process:
        process.kill()
        # It has ended, and its number is not free yet.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert snapshot.read_snapshots(folder) == ([], [])


def test_a_broken_file_is_a_problem_until_it_is_mended(folder: Path) -> None:
    """What cannot be read is named once, what it held before is shown no longer, and a good write heals it."""
    host, feed = writer(folder), Feed(folder)
    host.publish([WORKING], 0.0)
    feed.poll(0.0)
    host.path.write_bytes(b"{")
    assert feed.poll(0.1)
    assert feed.snapshots == ()
    assert "is not JSON" in str(feed.problems[0])
    assert not feed.poll(5.0)
    assert feed.problems
    host.publish([attrs.evolve(WORKING, since=51.0)], 1.0)
    assert feed.poll(5.1)
    assert feed.problems == ()
    assert statuses(feed) == [Status.WORKING]


def test_a_folder_that_others_may_change_is_not_read(folder: Path) -> None:
    """A directory that is open to others gives a problem, and no state."""
    writer(folder).publish([WORKING], 0.0)
    folder.chmod(0o777)
    feed = Feed(folder)
    assert feed.poll(0.0)
    assert feed.snapshots == ()
    assert "other users" in str(feed.problems[0])
    assert not feed.poll(0.1)
