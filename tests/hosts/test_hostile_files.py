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

from tallylight.actions import git
from tallylight.agents import agent_files
from tallylight.cli import prompt
from tallylight.config import config_file
from tallylight.evidence.records.places import Place as Record
from tallylight.evidence.records.places import Places, added, ask, whole
from tallylight.files import read_write, receipt, user_file
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.pane.file_request import FileRequest
from tallylight.pane.project import project_of
from tallylight.parts.conversations import open_conversations
from tallylight.parts.diary import history_file
from tallylight.parts.lab.verbs import replay
from tallylight.parts.web.push.subscriptions import Store as Subscriptions
from tallylight.snapshot import labels_file, requests, waiting_time_file
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.former import read_former
from tallylight.snapshot.schema import Pane as PaneEntry

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


def _snapshots(folder: Path) -> None:
    found, _ = snapshot.read_snapshots(folder / "tallylight")
    assert found == []


def _writer(folder: Path) -> None:
    writer = snapshot.SnapshotWriter.for_host("kitty", _env(folder), lambda: 0.0)
    assert writer.error == ""


def _prompt(folder: Path) -> None:
    """A good snapshot beside it is counted all the same."""
    writer = snapshot.SnapshotWriter.for_host("screen", _env(folder), lambda: 0.0)
    writer.publish([PaneEntry(id="1", status=Status.WAITING)], 0.0)
    assert prompt.statuses(prompt.snapshots(prompt.directory(_env(folder)))) == {"waiting": 1}


def _labels(folder: Path) -> None:
    reader = labels_file.LabelsFile(folder / "labels/labels.json")
    reader.poll()
    if reader.problem:
        raise TallyError(reader.problem)


def _conversations(folder: Path) -> None:
    _, problems = open_conversations.read_kept(_env(folder))
    if problems:
        raise problems[0]


def _recording(folder: Path) -> None:
    with replay.opened("replay", str(folder / "x.cast")) as (_, events, _):
        list(events)


def _beside(folder: Path) -> bytes:
    (folder / "m.json").write_text("{}")
    return whole(Record(str(folder / "m.json"), beside=str(folder / "s.json")))


def _waited(folder: Path) -> None:
    assert waiting_time_file.WaitingTimeFile("kitty", _env(folder)).open("2026-01-02").waited_s == 0
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
    "requests of the dead": Place("tallylight/kitty-9.requests", _open_spool),
    "waited": Place(f"tallylight/kitty-{os.getpid()}.waited", _waited),
    "receipt": Place("receipt.json", receipt.load),
    "hooks": Place("hooks.json", lambda folder: receipt.load(folder, receipt.HOOKS)),
    "settings of an agent": Place("settings.json", lambda folder: user_file.read(folder / "settings.json")),
    "document of a record": Place("m.json", lambda folder: whole(Record(str(folder / "m.json")))),
    "beside a record": Place("s.json", _beside),
    "snapshot for the prompt": Place("tallylight/kitty-7.json", _prompt),
    "what was shown before": Place("tallylight/kitty-7.json", lambda f: read_former("kitty", _env(f), 0.0)),
    "labels": Place("labels/labels.json", _labels),
    "history": Place("history/turns.jsonl", lambda folder: history_file.read(folder / "history/turns.jsonl")),
    "open conversations": Place(".local/state/tallylight/open/kitty-7-7.json", _conversations),
    "offered": Place(".local/state/tallylight/open/offered", lambda f: open_conversations.offer(_env(f), 0.0)),
    "subscriptions": Place("push/subscriptions.json", lambda folder: Subscriptions(folder / "push").load()),
    "key of the page": Place("push/key.pem", lambda folder: Subscriptions(folder / "push").key(b"new")),
    "file of git": Place("HEAD", lambda folder: git.text(folder / "HEAD")),
    "recording": Place("x.cast", _recording),
    "commit": Place("COMMIT", lambda folder: read_write.text_or_nothing(folder / "COMMIT")),
    "directory of a project": Place("w", lambda folder: project_of(str(folder / "w"), "/home/x")),
    # A token, a password, the lock of a sidecar, the copy of a screen.
    "any file": Place("file", lambda folder: read_write.read_limited(folder / "file", 4096)),
    "any file of ours": Place("file", lambda folder: read_write.read_own(folder / "file", 4096)),
}


def _fault(place: Place, folder: Path) -> str:
    """What is wrong with how a place is read; nothing if all is well."""
    ended: list[str] = []

    def read() -> None:
        try:
            place.read(folder)
            ended.append("")
        except TallyError as error:
            is_plain = str(folder) in str(error) and "[Errno" not in str(error)
            ended.append("" if is_plain else f"a message that is not plain: {error}")
        except OSError as error:  # its reader words it
            is_whole = bool(error.strerror) and error.filename is not None and Path(str(error.filename)).is_absolute()
            ended.append("" if is_whole else f"an error that does not name its file: {error!r}")
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
@pytest.mark.parametrize("kind", KINDS)
def test_no_place_is_held_up(tmp_path: Path, kind: str) -> None:
    """In each place: a result, or a message that says what is wrong where, within the time and the memory there is."""
    faults: dict[str, str] = {}
    tracemalloc.start()
    try:
        for where, place in PLACES.items():
            if (where, kind) == ("recording", "fifo"):
                continue  # a person named it, and somebody may yet write into it
            folder = tmp_path / where.replace(" ", "-")
            path = folder / place.path
            for parent in reversed([path, *path.parents]):
                if folder in (parent, *parent.parents) and parent != path:
                    parent.mkdir(mode=0o700, exist_ok=True)
            KINDS[kind](path)
            if fault := _fault(place, folder):
                faults[where] = fault
    finally:
        tracemalloc.stop()

    assert faults == {}


@pytest.mark.parametrize("read", [read_write.read_limited, read_write.read_own])
def test_a_directory_is_told_plainly(tmp_path: Path, read: Callable[[Path, int], bytes]) -> None:
    """In the place of a file: the message names it, and no descriptor stays open."""
    path = tmp_path / "labels.json"
    path.mkdir()
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208
    for _ in range(8):
        with pytest.raises(TallyError) as caught:
            read(path, 4096)
        assert str(caught.value) == f"{path}: is a directory, not a file"

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


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
