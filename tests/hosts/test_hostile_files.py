"""What is no plain file, in every place that is read: it is ignored or named in a message, soon, and never read on."""

from __future__ import annotations

import os
import socket
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.config import config_file
from tallylight.evidence.records.places import Places, added, ask
from tallylight.files import receipt, user_file
from tallylight.model.errors import TallyError
from tallylight.pane.file_request import FileRequest
from tallylight.snapshot import requests, waiting_time_file
from tallylight.snapshot import writer as snapshot

#: A reader must have answered by then, in seconds, however busy the machine is: a hanging one never would.
LIMIT_S = 20
#: What a reader may hold of a file at once, in bytes: the largest limit there is, for the files of other programs.
LIMIT_BYTES = 3 * (16 << 20)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)


def bound_socket(path: Path) -> None:
    # The path of a socket may be no longer than a hundred bytes.
    folder = os.open(path.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def unreadable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


KINDS: dict[str, Callable[[Path], None]] = {
    "fifo": fifo,
    "directory": Path.mkdir,
    "huge": huge,
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "socket": bound_socket,
    "unreadable": unreadable,
    "loop": lambda path: path.symlink_to(path),
    "nowhere": lambda path: path.symlink_to("/nowhere/at/all"),
}


@attrs.frozen
class Place:
    """A file that is read: where it lies below a folder, and what reads it. `TallyError` is a message to a person."""

    path: str
    read: Callable[[Path], object]


def _env(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "XDG_CONFIG_HOME": str(folder)}


def _open_spool(folder: Path) -> None:
    spool = requests.Spool("kitty", 7, _env(folder))
    assert not spool.error
    assert spool.take() == []


def _take(folder: Path) -> None:
    spool = requests.Spool("kitty", 7, _env(folder))
    (folder / "hostile").rename(spool.path / "1-1-1.json")
    assert spool.take() == []


def _snapshots(folder: Path) -> None:
    found, _ = snapshot.read_snapshots(folder / "tallylight")
    assert found == []


def _writer(folder: Path) -> None:
    writer = snapshot.SnapshotWriter.for_host("kitty", _env(folder), lambda: 0.0)
    assert writer.error == ""


def _waited(folder: Path) -> None:
    assert waiting_time_file.WaitingTimeFile("kitty", _env(folder)).open("2026-01-02").gone_s == 0
    assert waiting_time_file.waited_today(_env(folder), 0.0) == 0


PLACES = {
    "status file": Place("s.json", lambda folder: FileRequest(folder / "s.json", None, None, False).read()),
    "transcript": Place(
        "p/x/s.jsonl", lambda folder: FileRequest(folder / "s", folder / "p/x/s.jsonl", b"", True).read()
    ),
    "moved transcript": Place("p/y/s.jsonl", lambda f: FileRequest(f / "s", f / "p/x/s.jsonl", b"", True).read()),
    "record": Place("r.jsonl", lambda folder: added(str(folder / "r.jsonl"), 0, 1 << 30)),
    "head of a record": Place("r.jsonl", lambda folder: Places().head(str(folder / "r.jsonl"))),
    "records": Place("records", lambda folder: Places().names(str(folder / "records"))),
    "database": Place("r.db", lambda folder: ask(str(folder / "r.db"), ("select 1",), ())),
    "config": Place("tallylight/config.toml", lambda folder: config_file.load_config(_env(folder))),
    "agent file": Place("tallylight/agents/x.toml", lambda folder: agent_files.load_agents(_env(folder))),
    "agents": Place("tallylight/agents", lambda folder: agent_files.load_agents(_env(folder))),
    "snapshot": Place("tallylight/kitty-7.json", _snapshots),
    "snapshot of the dead": Place("tallylight/kitty-7.json", _writer),
    "half a snapshot": Place("tallylight/.kitty-7.json.abc.new", _writer),
    "request": Place("hostile", _take),
    "requests of the dead": Place("tallylight/kitty-9.requests", _open_spool),
    "waited": Place(f"tallylight/kitty-{os.getpid()}.waited", _waited),
    "receipt": Place("receipt.json", receipt.load),
    "hooks": Place("hooks.json", lambda folder: receipt.load(folder, receipt.HOOKS)),
    "settings of an agent": Place("settings.json", lambda folder: user_file.read(folder / "settings.json")),
}


def _fault(place: Place, folder: Path) -> str:
    """What is wrong with how a place is read; nothing if all is well."""
    ended: list[str] = []

    def read() -> None:
        try:
            place.read(folder)
            ended.append("")
        except (TallyError, OSError) as error:
            ended.append("" if str(error) else f"{type(error).__name__} without a word")
        except BaseException as error:
            ended.append(f"{type(error).__name__}: {error}")

    tracemalloc.reset_peak()
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    if not ended:
        return "it hangs"
    peak = tracemalloc.get_traced_memory()[1]
    return ended[0] or (f"it holds {peak} bytes" if peak > LIMIT_BYTES else "")


@pytest.mark.slow
def test_no_place_is_held_up(tmp_path: Path) -> None:
    """Each kind of file in each place: a result or a message, within the time and the memory of a plain one."""
    faults: dict[str, str] = {}
    tracemalloc.start()
    try:
        for where, place in PLACES.items():
            for kind, make in KINDS.items():
                folder = tmp_path / f"{where}-{kind}".replace(" ", "-")
                path = folder / place.path
                for parent in reversed([path, *path.parents]):
                    if folder in (parent, *parent.parents) and parent != path:
                        parent.mkdir(mode=0o700, exist_ok=True)
                make(path)
                if fault := _fault(place, folder):
                    faults[f"{where}, {kind}"] = fault
    finally:
        tracemalloc.stop()

    assert faults == {}


def test_a_pipe_keeps_what_is_in_it(tmp_path: Path) -> None:
    """A FIFO in the place of a status file is not read from: its bytes are another program's."""
    path = tmp_path / "s.json"
    os.mkfifo(path)
    both = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(both, b"theirs")
        assert FileRequest(path, None, None, is_undecided=False).read() == (b"", b"")
        assert os.read(both, 10) == b"theirs"
    finally:
        os.close(both)


@pytest.mark.parametrize("made", [fifo, Path.mkdir, unreadable, lambda path: path.symlink_to(path)])
def test_what_cannot_be_read_is_no_goodbye(tmp_path: Path, made: Callable[[Path], None]) -> None:
    """Only a status file that is not there was removed by its agent."""
    path = tmp_path / "s.json"
    made(path)

    found = FileRequest(path, None, b"{}", is_undecided=False).read()
    assert found is None or found[0] is not None
    assert FileRequest(tmp_path / "none", None, b"{}", is_undecided=False).read() == (None, b"")
