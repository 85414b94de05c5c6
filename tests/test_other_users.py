"""
Other people on the machine: nothing that another user can have written is read, wherever we read.

Where `XDG_RUNTIME_DIR` is not set our directory lies in one that everybody may write to, and somebody else can have
made it first. As root the tests give files to a user who is really another one; others can only open the mode.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.files import read_write
from tallylight.hosts.wezterm import sidecar
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.model.status import Status
from tallylight.snapshot import waiting_time_file
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.addresses import own_place
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request, RequestError, Spool, send
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.waiting_time import Waited
from tallylight.snapshot.writer import SnapshotWriter

STRANGER = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
PID = os.getpid()


@attrs.frozen
class Place:
    """One of the files that we read: how it is written, and what reading it gives; nothing if it was refused."""

    path: Callable[[Path], Path]
    text: Callable[[], str]
    read: Callable[[Path], object]


def _feed_poll(folder: Path) -> object:
    feed = Feed(folder)
    feed.poll(0.0)
    return feed.snapshots


def _fed(folder: Path) -> object:
    source = WezTermSource({}, 1, "wezterm", folder / "wezterm-1.feed.json")

    class Panes:
        """Has no panes, and is told that others are in front."""

        told = False

        def pane(self, _id: str) -> None:
            return None

        peek = pane

        def heard(self, _number: int) -> None:
            pass

        def later(self, _name: str, _call: object) -> None:
            pass

        def refresh(self, _source: object) -> None:
            self.told = True

    panes = Panes()
    source.listen(panes, 0.0)  # type: ignore[arg-type]
    return panes.told


def _place(folder: Path) -> sidecar.Place:
    return sidecar.Place(folder, 1)


def _snapshot_text() -> str:
    writer = SnapshotWriter(Path(os.environ["XDG_RUNTIME_DIR"], f"kitty-{PID}.json"), "kitty", time.time, 0.0)
    writer.publish([Pane(id="3", status=Status.WAITING, agent="claude")], 0.0)
    text = writer.path.read_text()
    writer.path.unlink()
    return text


def _waited_text() -> str:
    return json.dumps(Waited(day=waiting_time_file.today(time.time()), waited_s=60.0, written=time.time()).to_json())


SNAPSHOT = Place(lambda folder: folder / f"kitty-{PID}.json", _snapshot_text, _feed_poll)
PLACES = {
    "feed of snapshots": SNAPSHOT,
    "snapshots": attrs.evolve(SNAPSHOT, read=lambda folder: snapshot.read_snapshots(folder)[0]),
    "waited": Place(
        lambda folder: folder / f"kitty-{PID}.waited",
        _waited_text,
        lambda folder: waiting_time_file.waited_today({"XDG_RUNTIME_DIR": str(folder.parent)}, time.time()),
    ),
    "ledger": Place(
        lambda folder: folder / f"kitty-{PID}.waited",
        _waited_text,
        lambda folder: (
            waiting_time_file.WaitingTimeFile("kitty", {"XDG_RUNTIME_DIR": str(folder.parent)})
            .open(waiting_time_file.today(time.time()))
            .waited_s
        ),
    ),
    "feed of WezTerm": Place(
        lambda folder: folder / "wezterm-1.feed.json",
        lambda: json.dumps({"version": 1, "life": "a", "front": "3", "panes": {"3": {"title": "x"}}}),
        _fed,
    ),
    "lock of a sidecar": Place(
        lambda folder: folder / "wezterm-1.lock", lambda: "4711", lambda folder: sidecar.holder(_place(folder))
    ),
    "place of a command": Place(
        lambda folder: folder / "wezterm-1.lock",
        lambda: "4711",
        lambda folder: own_place(
            {"XDG_RUNTIME_DIR": str(folder.parent), "WEZTERM_UNIX_SOCKET": "/gui-sock-1", "WEZTERM_PANE": "3"}
        )[0],
    ),
}


def _is_read(found: object) -> bool:
    return bool(found)


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(sidecar, "HOLDER_S", 0.05)
    yield PLACES[request.param]


@pytest.fixture
def folder() -> Path:
    made = Path(os.environ["XDG_RUNTIME_DIR"], "tallylight")
    made.mkdir(mode=0o700)
    return made


def write(place: Place, folder: Path) -> Path:
    path = place.path(folder)
    if path.parent != folder:
        path.parent.mkdir(mode=0o700)
    path.write_text(place.text())
    path.chmod(0o600)
    return path


def test_what_is_ours_is_read(place: Place, folder: Path) -> None:
    """Each place reads its file as long as everything is this user's alone: the tests below can tell."""
    write(place, folder)

    assert _is_read(place.read(folder))


def test_a_loose_mode_in_a_closed_directory_is_no_matter(place: Place, folder: Path) -> None:
    """What WezTerm's Lua writes has the mode that the person's umask gives; nobody else gets to it."""
    write(place, folder).chmod(0o666)

    assert _is_read(place.read(folder))


@needs_root
def test_a_directory_of_another_user(place: Place, folder: Path) -> None:
    """A directory that somebody else made is not read, whoever owns the file in it."""
    path = write(place, folder)
    os.chown(path.parent, STRANGER, STRANGER)

    assert not _is_read(place.read(folder))


@needs_root
def test_a_file_of_another_user(place: Place, folder: Path) -> None:
    """In our own directory a file of somebody else's is not read."""
    os.chown(write(place, folder), STRANGER, STRANGER)

    assert not _is_read(place.read(folder))


def test_a_directory_that_others_may_write_to(place: Place, folder: Path) -> None:
    """A directory that others may write to is not read."""
    write(place, folder).parent.chmod(0o777)

    assert not _is_read(place.read(folder))


def test_a_file_that_others_may_write_to(place: Place, folder: Path) -> None:
    """Where others can enter, a file that they can write to is not read."""
    path = write(place, folder)
    path.parent.chmod(0o755)
    path.chmod(0o602)

    assert not _is_read(place.read(folder))


def test_links_and_pipes(place: Place, folder: Path) -> None:
    """A link to a file, a link to the directory, and a pipe are not read; nobody waits for a pipe."""
    path = write(place, folder)
    elsewhere = path.rename(folder.parent / "elsewhere")
    path.symlink_to(elsewhere)
    assert not _is_read(place.read(folder))
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert not _is_read(place.read(folder))
    path.unlink(missing_ok=True)
    elsewhere.rename(path)
    os.utime(path)
    real = path.parent.rename(path.parent.parent / "real")
    path.parent.symlink_to(real)
    assert not _is_read(place.read(folder))


@needs_root
def test_no_request_of_a_stranger_is_ever_done(folder: Path) -> None:
    """A spool that could not be made takes nothing, leaves what is there as it is, and says why; nothing is sent."""
    path = folder / f"kitty-{PID}.requests"
    path.write_text("")
    os.chown(folder, STRANGER, STRANGER)
    spool = Spool("kitty")

    assert f"belongs to the user {STRANGER}" in spool.error and spool.take() == []
    with pytest.raises(RequestError, match="belongs to the user"):
        send(f"kitty-{PID}", Request("focus", "3"))
    spool.close()
    assert path.exists()


def test_nothing_can_be_exchanged_after_the_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is what was looked at, and not what somebody put into its place in between."""
    path, look = folder / "x", read_write.foreign
    path.write_text("looked at")

    def exchange(found: os.stat_result, *, is_closed: bool = False) -> str:
        if stat.S_ISREG(found.st_mode):
            (folder / "other").write_text("put there")
            (folder / "other").replace(path)
        return look(found, is_closed=is_closed)

    monkeypatch.setattr(read_write, "foreign", exchange)

    assert read_write.read_own(path, 100) == b"looked at"
    assert path.read_text() == "put there"
