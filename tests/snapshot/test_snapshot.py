"""The snapshot file: when it is written, what readers believe, and what is swept away."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.cli import prompt
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.snapshot import lives
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import (
    MAX_PUBLISHED_CHOICES,
    AnswerEntry,
    CollisionEntry,
    ConversationEntry,
    LosingEntry,
    Pane,
    ReasonEntry,
    RecordEntry,
    Snapshot,
)
from tallylight.snapshot.values import MAX_ARGUMENTS, MAX_PATH, MAX_TEXT_CHARS
from tallylight.snapshot.writer import SnapshotWriter
from tests.entries import FIELDS, field_of, new_pane, pane_with
from tests.living import sealed

WAITING = Pane(id="3", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", since=50.0)


def make_writer(folder: Path, **changes: object) -> SnapshotWriter:
    writer = SnapshotWriter(folder / f"kitty-{os.getpid()}.json", "kitty", lambda: 1000.0, started=900.0)
    return attrs.evolve(writer, **changes) if changes else writer


def panes_in(folder: Path) -> list[Pane]:
    snapshots, problems = snapshot.read_snapshots(folder)
    assert problems == []
    return [pane for found in snapshots for pane in found.panes]


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-IS", "-c", "pass"])
    process.wait()
    return process.pid


def test_what_is_published_is_read(folder: Path) -> None:
    """Every field of a pane comes back from the file as it was published."""
    report = Report(source=Source.PROTOCOL, status=Status.WAITING, id="a/b", agent="claude", message="May I?")
    report = attrs.evolve(report, progress=Progress(1, 4), background=2, rule="osc-1338")
    usual = {"str": "a café", "float": 99.5, "int": 5200, "bool": True, "int | None": 82, "float | None": 0.25}
    usual |= {
        "tuple[str, ...]": ("Add auth", "{session}"),
        "Pairs": (("0", "No"), ("1", "Yes")),
    }
    fields = {name: usual[field.type] for name, field in FIELDS.items() if field.type in usual}
    fields["choices"] = (("\x1b", "No"), ("\r", "Yes"))
    pane = new_pane(
        status=Status.WAITING,
        kind=Kind.PERMISSION,
        confirmed_kind=Kind.PERMISSION,
        reason=ReasonEntry(source="protocol", rule="osc-1338", at=49.5, changes="an answer"),
        records=(RecordEntry.of(report, Status.WAITING, 49.5),),
        collisions=(CollisionEntry(pane="kitty-1:2", name="api", file="a.py", lines="4–6", same=True, at=40.0),),
        losing=(LosingEntry(source="heuristic", rule="silence", status="waiting", at=40.0, why="explicit wins"),),
        answers=(
            AnswerEntry(question="turn", answer="running", source="title", rule="x", at=41.0, changes="its exit"),
        ),
        conversation=ConversationEntry(agent="claude", session="s", cwd="/home/x/p", flags=("--yolo",), relayed=True),
        more={"diffstat": (120, 14), "did": (14, 2, 1, 0)},
        **fields,
    )
    assert [name for name, value in pane.to_json().items() if value in (None, "", [], 0, False)] == []

    make_writer(folder).publish([pane], 0.0)

    assert panes_in(folder) == [pane]
    assert pane.evidence.records[0].fields == {"message": "May I?", "progress": "1/4", "background": "2"}


def test_file_has_the_documented_keys_and_mode(folder: Path) -> None:
    """The JSON has the keys other programs rely on, and only its owner may read it."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)

    found = json.loads(writer.path.read_bytes())

    assert found["version"] == 1
    assert found["host"] == "kitty"
    assert found["pid"] == os.getpid()
    assert found["written"] == 1000.0
    assert set(found["panes"][0]) == {
        "id", "tab", "os_window", "title", "status", "kind", "confirmed_kind", "agent", "project", "session", "message",
        "since",
        "seen", "pid", "reason", "records", "losing", "answers", "cwd", "progress", "background", "question",
        "collisions",
        "what", "choices", "prompt", "resume", "fork", "attach", "agent_pid", "conversation", "snoozed_until",
        "muted_until", "unanswered_since",
        "unread", "answered", "waited_s", "notified", "visible", "host_title", "said_per_s",
        "read_per_s", "tasks", "topic", "mode", "worktree", "detail", "terminals", "terminal", "model", "context",
        "outcome", "diffstat", "did", "vars", "queued_until",
        "last_prompt",
        "children", "reply", "limited_until", "cost", "strange_record", "hangs", "queued", "unsent", "unknown", "signs",
    }  # fmt: skip
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [writer.path.name]


def test_time_line_of_writing(folder: Path) -> None:
    """It writes at once, then at most five times a second, and the last change is never lost."""
    writer = make_writer(folder)
    written = []

    def on_disk() -> str:
        return panes_in(folder)[0].message

    for now, message in ((10.0, "a"), (10.05, "b"), (10.1, "c")):
        writer.publish([attrs.evolve(WAITING, message=message)], now)
        written.append(on_disk())

    assert written == ["a", "a", "a"]
    assert writer.due(10.1) == pytest.approx(10.2)
    assert writer.flush(10.15) is False
    assert writer.flush(10.21) is True
    assert on_disk() == "c"
    assert writer.due(10.21) is None


def test_the_file_says_as_of_when_it_is(folder: Path) -> None:
    """Not when it was written: a host that keeps a state back tells when it was so."""
    writer = make_writer(folder, clock=lambda: 1000.0)
    writer.publish([WAITING], 0.0, as_of=900.0)
    assert snapshot.read(writer.path).written == 900
    writer.publish([], 0.1, as_of=901.0)
    writer.flush(9.0)
    assert snapshot.read(writer.path).written == 901
    writer.publish([WAITING], 10.0)
    assert snapshot.read(writer.path).written == 1000


def test_same_state_is_not_written_again(folder: Path) -> None:
    """Publishing what is on disk already touches nothing, and going back to it cancels what is pending."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)
    before = writer.path.stat()

    writer.publish([attrs.evolve(WAITING, message="x")], 0.1)
    writer.publish([WAITING], 0.15)

    assert writer.due(0.15) is None
    assert writer.flush(9.0) is False
    assert writer.path.stat().st_ino == before.st_ino


def test_what_programs_may_do_is_told(folder: Path) -> None:
    """It is written also where no pane is another; a reader believes no more of it than that it is text."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)
    assert "allow" not in json.loads(writer.path.read_text())
    writer.allow, writer.withheld = "ask", ("scripting.allow",)
    assert writer.flush(9.0) is True
    found = snapshot.read(writer.path)
    assert (found.allow, found.withheld, found.panes[0].id) == ("ask", ("scripting.allow",), "3")
    assert writer.flush(18.0) is False
    strange = json.loads(writer.path.read_text()) | {"allow": ["all"], "withheld": "scripting.allow"}
    writer.path.write_text(json.dumps(strange))
    found = snapshot.read(writer.path)
    assert (found.allow, found.withheld) == ("own", ())


def test_epoch_is_stable_while_the_clock_drifts(folder: Path) -> None:
    """The same monotonic time gives the same epoch time until the clock is set by more than a second."""
    clock = [1000.0]
    writer = make_writer(folder, clock=lambda: clock[0])

    first = writer.epoch(5.0, 10.0)
    clock[0] = 1005.3
    second = writer.epoch(5.0, 15.0)
    clock[0] = 5000.0
    third = writer.epoch(5.0, 16.0)

    assert (first, second, third) == (995.0, 995.0, 4989.0)


def test_no_panes_is_a_state_too(folder: Path) -> None:
    """A host without panes publishes an empty list, rather than its last pane for ever."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)
    writer.publish([], 1.0)

    assert panes_in(folder) == []
    assert writer.path.exists()


def test_close_removes_the_file(folder: Path) -> None:
    """A host that ends takes its file with it, and has nothing more to write."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)

    writer.close()

    assert list(folder.iterdir()) == []
    assert writer.due(9.0) is None


def test_disk_error_is_kept_and_tried_again_later(tmp_path: Path) -> None:
    """A directory that cannot be written raises nothing, is remembered, and is retried after a while."""
    blocked = tmp_path / "blocked"
    blocked.write_text("in the way")
    writer = make_writer(blocked)

    writer.publish([WAITING], 0.0)

    assert "not a directory" in writer.error
    assert writer.due(0.0) == snapshot.RETRY_WRITE_S
    blocked.unlink()
    assert writer.flush(snapshot.RETRY_WRITE_S) is True
    assert writer.error == ""
    assert panes_in(blocked) == [WAITING]


@pytest.mark.slow
def test_full_disk_leaves_the_old_file_and_no_other(folder: Path) -> None:
    """Where there is no room for the new file the old one stays, and no half of the new one."""
    writer = make_writer(folder)
    writer.publish([WAITING], 0.0)
    before = writer.path.read_bytes()
    limited = (
        "import resource,signal,sys;sys.path[:0]=sys.argv[1].split(':');from pathlib import Path\n"
        "from tallylight.snapshot.writer import *;import attrs\n"
        "from tests.snapshot.test_snapshot import WAITING,make_writer\n"
        "signal.signal(signal.SIGXFSZ,signal.SIG_IGN);resource.setrlimit(resource.RLIMIT_FSIZE,(100,100))\n"
        "w=make_writer(Path(sys.argv[2]),path=Path(sys.argv[3]));w.publish([attrs.evolve(WAITING,message='n'*90)],0.0)\n"
        "print(w.error)"
    )
    here = ":".join(path for path in sys.path if path)

    done = subprocess.run(
        [sys.executable, "-c", limited, here, str(folder), str(writer.path)], capture_output=True, text=True, check=True
    )

    assert "too large" in done.stdout
    assert writer.path.read_bytes() == before
    assert [path.name for path in folder.iterdir()] == [writer.path.name]


@pytest.mark.slow
def test_panes_are_capped(folder: Path) -> None:
    """A thousand panes are published and no more; and of a file with more the first thousand are read."""
    writer, many = make_writer(folder), [attrs.evolve(WAITING, id=str(n)) for n in range(snapshot.MAX_PANES + 1)]

    writer.publish(many, 0.0)

    assert len(json.loads(writer.path.read_bytes())["panes"]) == snapshot.MAX_PANES
    put(folder, HERE, document(panes=[pane.to_json() for pane in many]))
    assert len(panes_in(folder)) == snapshot.MAX_PANES


def test_texts_are_capped(folder: Path) -> None:
    """A megabyte of message becomes a short one."""
    make_writer(folder).publish([attrs.evolve(WAITING, message="m" * 1_000_000)], 0.0)

    assert panes_in(folder)[0].message == "m" * 500


@pytest.mark.parametrize(
    ("field", "most", "more", "nothing"),
    [
        ("cwd", "/" * MAX_PATH, "/" * (MAX_PATH + 1), ""),
        ("fork", ("x" * MAX_TEXT_CHARS,), ("x" * (MAX_TEXT_CHARS + 1),), ()),
        ("resume", ("x",) * MAX_ARGUMENTS, ("x",) * (MAX_ARGUMENTS + 1), ()),
        ("choices", (("k" * MAX_TEXT_CHARS, "yes"),), (("k" * (MAX_TEXT_CHARS + 1), "yes"),), ()),
    ],
)
def test_what_would_mean_something_else_is_never_cut(
    folder: Path, field: str, most: object, more: object, nothing: object
) -> None:
    """A directory, an argument list or keys beyond the limit are left out whole, by the writer and by the reader."""

    def as_json(value: object) -> object:
        return [as_json(entry) for entry in value] if isinstance(value, tuple) else value

    fields: list[dict[str, Any]] = [{field: value} for value in (most, more)]
    make_writer(folder).publish([pane_with(WAITING, **each) for each in fields], 0.0)
    written = [field_of(pane, field) for pane in panes_in(folder)]
    raw = [{**WAITING.to_json(), field: as_json(value)} for value in (most, more)]
    put(folder, HERE, document(panes=raw))

    assert written == [most, nothing]
    assert [field_of(pane, field) for pane in panes_in(folder)] == [most, nothing]


def test_choices_are_capped(folder: Path) -> None:
    """Of the answers of a question the first sixteen are written and read."""
    choices = tuple((str(n), "yes") for n in range(MAX_PUBLISHED_CHOICES + 1))
    make_writer(folder).publish([attrs.evolve(WAITING, choices=choices)], 0.0)
    written = panes_in(folder)[0].choices
    put(folder, HERE, document(panes=[{**WAITING.to_json(), "choices": [list(choice) for choice in choices]}]))

    assert written == panes_in(folder)[0].choices == choices[:MAX_PUBLISHED_CHOICES]


def test_lone_surrogates_do_not_break_the_file(folder: Path) -> None:
    """A title that is no valid Unicode is written and read without what is no character."""
    make_writer(folder).publish([attrs.evolve(WAITING, title="a\udcffb")], 0.0)

    assert panes_in(folder)[0].title == "ab"


def document(**changes: object) -> dict[str, object]:
    made = Snapshot(
        host="kitty",
        pid=os.getpid(),
        started=1.0,
        birth=snapshot.birth_of(os.getpid()),
        written=2.0,
        panes=(WAITING,),
    )
    return {**made.to_json(), **changes}


def put(folder: Path, name: str, found: object) -> Path:
    path = folder / name
    is_ours = isinstance(found, dict) and found.get("pid") == os.getpid()
    path.write_text(found if isinstance(found, str) else sealed(found) if is_ours else json.dumps(found), "utf-8")
    return path


HERE = f"kitty-{os.getpid()}.json"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is not JSON"),
        ('{"version": 1', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a JSON object"),
        ("{}", "has version None"),
        (document(version=2), "has version 2"),
        (document(pid=1), "does not match its name"),
        (document(host="wezterm"), "does not match its name"),
        (document(pid="x"), "does not match its name"),
        (" " * (snapshot.MAX_SNAPSHOT_BYTES + 1), "is larger than"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_broken_file_is_a_problem_and_not_a_crash(folder: Path, content: object, problem: str) -> None:
    """A file that cannot be believed is named in the list of problems."""
    path = put(folder, HERE, content)

    snapshots, problems = snapshot.read_snapshots(folder)

    assert snapshots == []
    assert [found.path for found in problems] == [path]
    assert problem in problems[0].problem


def test_not_utf8_is_a_problem(folder: Path) -> None:
    """Bytes that are no UTF-8 are reported like any other broken file."""
    (folder / HERE).write_bytes(b'{"version":1,"host":"\xff"}')

    assert len(snapshot.read_snapshots(folder)[1]) == 1


@pytest.mark.parametrize(
    "pane",
    [
        {"id": "3", "status": "waiting", "kind": ["x"], "title": 5, "pid": -1, "since": "soon", "seen": "yes"},
        {"id": "3", "status": "waiting", "kind": "no-such", "pid": True, "since": True, "reason": [], "records": {}},
        {"id": "3", "status": "waiting", "since": 10**400, "records": [1, {}, {"status": []}], "losing": ["x"]},
        {"id": "3", "status": "waiting", "resume": "ls", "fork": ["ls", 5], "choices": [["y"], "no", ["a", 5], 7]},
        {"id": "3", "status": "waiting", "agent_pid": "7", "cwd": 7, "background": -1, "unread": 1, "waited_s": "no"},
        {"id": "3", "status": "waiting", "conversation": {"agent": [], "session": 5, "cwd": {}, "flags": "--yolo"}},
        {"id": "3", "status": "waiting", "conversation": ["claude"], "choices": {"y": "yes"}, "question": None},
    ],
)
def test_wrong_types_become_defaults(folder: Path, pane: dict[str, object]) -> None:
    """A field of the wrong type is as good as absent."""
    put(folder, HERE, document(panes=[pane]))

    assert panes_in(folder) == [Pane(id="3", status=Status.WAITING)]


@pytest.mark.parametrize("pane", [7, {}, {"id": "1"}, {"id": "", "status": "idle"}, {"id": "1", "status": "sleepy"}])
def test_pane_without_id_or_status_is_dropped(folder: Path, pane: object) -> None:
    """What cannot be a pane is left out, and the others stay."""
    put(folder, HERE, document(panes=[pane, WAITING.to_json()]))

    assert panes_in(folder) == [WAITING]


def test_infinite_numbers_are_refused(folder: Path) -> None:
    """JSON as Python writes it may hold NaN and Infinity; as times they become 0."""
    put(folder, HERE, document(panes=[{"id": "3", "status": "waiting", "since": float("inf")}]))

    assert panes_in(folder)[0].since == 0.0


def test_dead_writer_is_skipped(folder: Path, dead_pid: int) -> None:
    """One that is gone, another process with its number, and one from before the last boot are not shown."""
    put(folder, f"kitty-{dead_pid}.json", document(pid=dead_pid, birth=""))
    birth = snapshot.birth_of(os.getpid())
    for other in (f"{birth.rpartition('/')[0]}/1", f"another-boot/{birth.partition('/')[2]}"):
        put(folder, HERE, document(birth=other))
        assert snapshot.read_snapshots(folder) == ([], [])


def is_reported(folder: Path, path: Path) -> bool:
    """Whether nothing of *path* is shown, and it is said why."""
    found, problems = snapshot.read_snapshots(folder)
    shown = Feed(folder)
    shown.poll(0.0)
    assert [str(one) for one in shown.problems] == [str(one) for one in problems]
    assert list(shown.snapshots) == found and [*prompt.snapshots(str(folder))] == [one.to_json() for one in found]
    said = re.compile("was not written by|has no proof that kitty-")
    return [one.path for one in problems] == [path] and bool(said.search(problems[0].problem)) and found == []


def forged(of: str, folder: Path) -> Path:
    """Put a snapshot into *folder* that no host has written: its words are right, and the process lives."""
    path = folder / HERE
    right = document(panes=[attrs.evolve(WAITING, project="bank").to_json()])
    if of == "a host that has written another one":
        make_writer(folder).publish([WAITING], 0.0)
        path.write_text(json.dumps(right | {"sealed": json.loads(path.read_text())["sealed"]}))
    elif of == "a host, in its own file":
        make_writer(folder).publish([attrs.evolve(WAITING, project="home")], 0.0)
        data = path.read_bytes()
        path.write_bytes(data.replace(b"home", b"bank"))
        assert path.read_bytes() != data
    elif of == "a file that is open":
        path.write_text("{}")
        descriptor = os.open(path, os.O_RDWR)
        path.write_text(json.dumps(right | {"sealed": descriptor}))
    elif of == "memory that is not sealed":
        descriptor = os.memfd_create("tallylight")
        path.write_text(json.dumps(right | {"sealed": descriptor}))
        os.write(descriptor, path.read_bytes())
    elif of == "sealed memory of another name":
        descriptor = os.memfd_create("other", os.MFD_ALLOW_SEALING)
        path.write_text(json.dumps(right | {"sealed": descriptor}))
        lives.fill(descriptor, path.read_bytes())
    elif of == "another process":
        pid = os.getppid()
        path = folder / f"tmux-{pid}.json"
        named = {"host": "tmux", "pid": pid, "birth": snapshot.birth_of(pid), "sealed": 1}
        path.write_text(json.dumps(right | named))
    else:
        path.write_text(json.dumps(right | {"sealed": of}))
    return path


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no sealed memory")
@pytest.mark.parametrize(
    "of",
    [
        None, "3", 1 << 30, -1, "a host that has written another one", "a host, in its own file", "a file that is open",
        "memory that is not sealed", "sealed memory of another name", "another process",
    ],
)  # fmt: skip
def test_what_no_host_has_written_is_reported(of: Any, folder: Path) -> None:
    """Another program of this user can name any process, and write what it wants; the kernel knows who holds it."""
    assert is_reported(folder, forged(of, folder))


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no sealed memory")
def test_a_reader_in_a_sandbox_believes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may not look at other processes of its user; one that hides from them all is not believed."""
    path, readlink = forged("3", folder), os.readlink

    def refused(place: Any) -> str:
        if f"/proc/{os.getpid()}/fd/" in str(place):
            raise PermissionError
        return str(readlink(place))

    path.write_text(path.read_text().replace('"sealed": "3"', '"sealed": 3'))
    monkeypatch.setattr(os, "readlink", refused)
    assert [pane.project for pane in panes_in(folder)] == ["bank"]
    monkeypatch.setattr(lives, "_owner", lambda _pid: os.getuid() + 1)
    assert is_reported(folder, path)


def test_a_file_that_is_being_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that has the old one, which its host no longer holds, reads again."""
    host, read_own = make_writer(folder, min_interval=0.0), snapshot.read_write.read_own
    host.publish([WAITING], 0.0)
    later = [attrs.evolve(WAITING, since=60.0)]

    def slow(path: Path, *more: int) -> bytes:
        data: bytes = read_own(path, *more)
        host.publish(later, 1.0)
        return data

    monkeypatch.setattr(snapshot.read_write, "read_own", slow)
    assert panes_in(folder) == later


def held() -> int:
    """How many descriptors this process has."""
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no sealed memory")
def test_a_host_that_has_ended_holds_nothing(folder: Path) -> None:
    """However often a host writes, it has one descriptor for readers, and none at the end."""
    before = held()
    host = make_writer(folder, min_interval=0.0)
    for at in range(20):
        host.publish([attrs.evolve(WAITING, since=float(at))], float(at))
    assert held() == before + 1
    folder.chmod(0o777)
    host.publish([WAITING], 30.0)
    assert host.error
    assert held() == before + 1
    host.close()
    assert held() == before


def test_writer_in_another_pid_namespace_is_believed(
    folder: Path, dead_pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    From inside a container that shares the directory the host's numbers say nothing, so its file is shown.

    Outside of all containers every host can be seen, and what says otherwise is not.
    """
    birth = snapshot.birth_of(os.getpid()).split("/")
    path = put(folder, f"kitty-{dead_pid}.json", document(pid=dead_pid, birth=f"{birth[0]}/pid:[1]/{birth[2]}"))

    monkeypatch.setattr(lives, "_WHOLE", "pid:[2]")
    assert panes_in(folder) == [WAITING]
    monkeypatch.setattr(lives, "_WHOLE", birth[1])
    assert is_reported(folder, path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's file")
def test_file_of_another_user_is_refused(folder: Path) -> None:
    """A file somebody else wrote is reported and not read."""
    os.chown(put(folder, HERE, document()), 12345, 12345)

    snapshots, problems = snapshot.read_snapshots(folder)

    assert snapshots == []
    assert "belongs to the user 12345" in str(problems[0])


def test_symlink_and_fifo_are_refused(folder: Path) -> None:
    """What is no regular file is not opened: a fifo would hold the reader for ever."""
    elsewhere = put(folder.parent, "elsewhere", document())
    (folder / HERE).symlink_to(elsewhere)
    os.mkfifo(folder / "screen-5.json")

    snapshots, problems = snapshot.read_snapshots(folder)

    assert snapshots == []
    assert len(problems) == 2


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_directory_others_can_change_is_refused(folder: Path, mode: int) -> None:
    """Neither writer nor reader uses a directory in which others could put files."""
    folder.chmod(mode)
    writer = make_writer(folder)

    writer.publish([WAITING], 0.0)

    assert "other users" in writer.error
    assert len(snapshot.read_snapshots(folder)[1]) == 1


def test_missing_directory_is_no_problem(tmp_path: Path) -> None:
    """Where no host ever ran there is nothing to read and nothing to report."""
    assert snapshot.read_snapshots(tmp_path / "none") == ([], [])


def test_directory_follows_the_environment(tmp_path: Path) -> None:
    """XDG_RUNTIME_DIR is used if it exists, else a directory of this user's own below the temporary one."""
    assert snapshot.directory({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "tallylight"
    for runtime in ("", "relative", str(tmp_path / "gone")):
        assert snapshot.directory({"XDG_RUNTIME_DIR": runtime}).name == f"tallylight-{os.getuid()}"


def test_sweep_removes_what_is_dead_and_ours_only(folder: Path, dead_pid: int) -> None:
    """Of all that lies in the directory only what dead writers wrote goes: snapshots with panes are put aside."""
    dead = put(folder, f"kitty-{dead_pid}.json", document(pid=dead_pid, birth=""))
    empty = put(folder, f"sessions-{dead_pid}.json", document(host="sessions", pid=dead_pid, birth="", panes=[]))
    half = put(folder, f".kitty-{dead_pid}.json.abc123_x.new", "{")
    stay = [
        put(folder, HERE, document()),
        put(folder, f".kitty-{os.getpid()}.json.abc123_x.new", "{"),
        put(folder, f"screen-{dead_pid}.json", "not ours to judge"),
        put(folder, "notes.json", document(pid=dead_pid, birth="")),
        put(folder, f"kitty-{dead_pid}.json.bak", "kept"),
    ]

    assert sorted(snapshot.sweep(folder)) == sorted([dead, empty, half])
    assert sorted(folder.iterdir()) == sorted([*stay, dead.with_suffix(".former")])


def test_writer_sweeps_when_it_starts(tmp_path: Path, dead_pid: int) -> None:
    """A new host makes the directory for its user alone and takes away what dead ones left in it."""
    folder = tmp_path / "tallylight"
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    first = SnapshotWriter.for_host("kitty", environ, lambda: 5.0)
    put(folder, f"kitty-{dead_pid}.json", document(pid=dead_pid, birth=""))

    SnapshotWriter.for_host("kitty", environ, lambda: 5.0)

    assert first.error == ""
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == [f"kitty-{dead_pid}.former"]


def test_a_busy_machine_sets_no_clock() -> None:
    """Times stay the same although the clock is read long after the moment that is meant, until it really is set."""
    clock = 1000.0
    epoch = snapshot.Epoch(lambda: clock)
    assert epoch(90.0, 100.0) == 990.0
    clock = 1003.0
    assert epoch(90.0, 100.0) == 990.0, "read three seconds late"
    assert epoch(90.0, 103.0) == 990.0
    clock = 2000.0
    assert epoch(90.0, 104.0) == 1986.0
