"""A light that grades itself: what titles and screens show, against what records, files and protocols tell."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from benchmarks import accuracy

from tallylight.agents import agent_files
from tallylight.cli.main import main
from tallylight.config.settings import Config, History
from tallylight.evidence.process import Process
from tallylight.files import read_write
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab import grades
from tallylight.parts.lab.asciicast import Output
from tallylight.parts.lab.grades import SAVE_GRADES_S, Grade, Grades
from tallylight.parts.lab.grading import GRACE_S, GRADED_REST_S, Grader, Seconds
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.verbs.accuracy import checks
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.waiting_time_file import today
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tests.hosts.test_engine import HandEngine
from tests.hosts.test_pane import CLAUDE as CLAUDE_PROCESS
from tests.hosts.test_pane import status_file
from tests.tables import each

AGENTS, _ = agent_files.load_agents({})
CORPUS = Path(__file__).parents[2] / "corpus"
OLD = Process(20, argv=("claude",), exe="/h/claude/versions/2.1.329", start=200)
NEW = Process(21, argv=("claude",), exe="/h/claude/versions/2.1.330", start=210)
NOW = 1_763_690_000.0


def graded(*said: tuple[float, Source, Status | None] | tuple[float, Source, Status, float]) -> list[Seconds]:
    """The turns of an agent of which sources *said* this: when, who, what, and since when if it was told late."""
    tracker, grader = Tracker(), Grader()
    tracker.foreground(Foreground("claude", 20), 0.0)
    turns = []
    for at, source, status, *since in said:
        kind = Kind.PERMISSION if status is Status.WAITING else None
        tracker.report(Report(source=source, status=status, kind=kind), at, *since)
        turns += [turn] if (turn := grader.see(tracker, at)) is not None else []
    return turns


WORKING, WAITING, DONE, IDLE = Status.WORKING, Status.WAITING, Status.DONE, Status.IDLE
SCREEN, TITLE, PROCESS, RECORD, REGISTRY, PROTOCOL = (
    Source.SCREEN, Source.TITLE, Source.PROCESS, Source.RECORD, Source.REGISTRY, Source.PROTOCOL,
)  # fmt: skip


@each(
    ("said", "missed", "false", "other"),
    {
        "a dialog that is read": (
            [(1, REGISTRY, WORKING), (5, REGISTRY, WAITING), (5.3, SCREEN, WAITING), (15, REGISTRY, WORKING),
             (15.2, SCREEN, None), (20, REGISTRY, DONE)], 0, 0, 0,
        ),
        "one that nothing reads": (
            [(1, REGISTRY, WORKING), (5, REGISTRY, WAITING), (15, REGISTRY, WORKING), (20, REGISTRY, DONE)],
            10 - GRACE_S, 0, 0,
        ),
        "the same, by a hook": (
            [(1, PROTOCOL, WORKING), (5, PROTOCOL, WAITING), (15, PROTOCOL, WORKING), (20, PROTOCOL, DONE)],
            10 - GRACE_S, 0, 0,
        ),
        "a text that is taken for one": (
            [(1, RECORD, WORKING), (1, SCREEN, WORKING), (5, SCREEN, WAITING), (9, SCREEN, WORKING),
             (20, RECORD, DONE), (20, SCREEN, DONE)], 0, 4, 0,
        ),
        "a title, beside a record that never told of a question": (
            [(1, RECORD, DONE), (3, SCREEN, WORKING), (5, SCREEN, WAITING), (9, SCREEN, WORKING), (20, RECORD, DONE)],
            0, 0, 0,
        ),
        "work in a rest": (
            [(1, RECORD, WORKING), (1, SCREEN, WORKING), (5, RECORD, DONE), (9, SCREEN, IDLE), (12, RECORD, WORKING),
             (12, SCREEN, WORKING), (15, RECORD, DONE), (15, SCREEN, DONE)], 0, 0, 4 - GRACE_S,
        ),
        "an end that a file tells late": (
            [(1, RECORD, WORKING), (1, SCREEN, WORKING), (5, SCREEN, DONE), (5.9, RECORD, DONE, 5.0),
             (9, RECORD, WORKING), (9, SCREEN, WORKING), (15, RECORD, DONE)], 0, 0, 0,
        ),
        "work that only its connections show": (
            [(1, PROCESS, WORKING), (1, SCREEN, IDLE), (9, PROCESS, None), (9, SCREEN, None)], 0, 0, 8 - GRACE_S,
        ),
        "work that the screen shows as well": (
            [(1, PROCESS, WORKING), (1, SCREEN, WORKING), (9, PROCESS, None), (9, SCREEN, IDLE)], 0, 0, 0,
        ),
        "a title alone, where nobody looks at the screen": (
            [(1, REGISTRY, WORKING), (2, TITLE, IDLE), (9, REGISTRY, DONE)], 0, 0, 0,
        ),
    }.values(),
)  # fmt: skip
def test_what_is_graded(said: list[tuple[float, Source, Status]], missed: float, false: float, other: float) -> None:
    """Only where a source tells what is so; soon after it has changed nothing counts."""
    turns = graded(*said)
    assert sum(turn.missed_s for turn in turns) == pytest.approx(missed)
    assert sum(turn.false_s for turn in turns) == pytest.approx(false)
    assert sum(turn.work_s for turn in turns) == pytest.approx(other)


def test_the_turns_of_an_agent_without_records() -> None:
    """Its connections tell of no end: a turn is over with them, but a dialog on the screen is part of it."""
    said = [
        (1, PROCESS, WORKING), (1, SCREEN, WORKING), (5, PROCESS, None), (5, SCREEN, WAITING), (9, PROCESS, WORKING),
        (9, SCREEN, WORKING), (15, PROCESS, None), (15, SCREEN, IDLE), (20, PROCESS, WORKING), (20, SCREEN, WORKING),
        (25, PROCESS, None), (25, SCREEN, IDLE),
    ]  # fmt: skip
    turns = graded(*said)

    assert len(turns) == 2
    assert sum(turn.graded_s for turn in turns) == pytest.approx(15 - 3 * GRACE_S)


def test_a_night_is_no_proof() -> None:
    """Of one rest no more than a minute counts, however long it is."""
    said = (1, RECORD, WORKING), (2, RECORD, DONE), (40_000, RECORD, WORKING), (40_001, RECORD, DONE)
    assert graded(*said)[-1].graded_s == pytest.approx(GRADED_REST_S - GRACE_S + 0.5)


@attrs.define
class Desk:
    """A host whose jobs are done when `work` says so."""

    environ: dict[str, str]
    now: float = 100.0
    jobs: list[Callable[[], object]] = attrs.Factory(list)
    kept: Grades[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.kept = Grades("kitty", self.environ, self._submit, lambda: NOW + self.now)
        self.kept.use(keep=True)

    def _submit(self, _name: object, job: Callable[[], object], *_: object) -> bool:
        self.jobs.append(job)
        return len(self.jobs) == 1

    def work(self) -> None:
        """Let a while pass, and do what is submitted then, as a worker does."""
        self.now += SAVE_GRADES_S
        self.kept.tick(self.now)
        for job in self.jobs:
            with contextlib.suppress(OSError):
                job()
        self.jobs.clear()

    def play(self, file: Path, process: Process, redraw: Callable[[bytes], bytes] = bytes) -> None:
        """A pane in which *process* does what was recorded, and writes what *redraw* makes of what it wrote."""
        recording = accuracy.read(file)
        replay = Replay(recording.header, AGENTS)
        for event in recording.events:
            if isinstance(event.what, Output):
                event = attrs.evolve(event, what=Output(redraw(event.what.data)))
            for _ in replay.play(event):
                agent = replay._pane.agent
                self.see(replay._pane.tracker, process if agent else None, replay.now, agent.name if agent else "")

    def see(self, tracker: Tracker, process: Process | None, now: float, agent: str = "claude") -> None:
        pane = SimpleNamespace(agent=AGENTS.get(agent), agent_process=process, tracker=tracker)
        self.kept.see(3, pane, now)  # type: ignore[arg-type]

    def turn(self, process: Process, *, missed_s: float = 0.0) -> None:
        """A turn in which it waits a minute, of which the first seconds are missed."""
        tracker = Tracker()
        tracker.foreground(Foreground("claude", 20), self.now)
        for seconds, source, status in (
            (1, REGISTRY, WORKING), (5, REGISTRY, WAITING), (5 + missed_s, SCREEN, WAITING), (65, REGISTRY, DONE),
            (65, SCREEN, None),
        ):  # fmt: skip
            tracker.report(Report(source=source, status=status), self.now + seconds)
            self.see(tracker, process, self.now + seconds)
        self.now += 65

    @property
    def file(self) -> Path:
        return grades.path(self.environ)

    @property
    def written(self) -> list[Grade]:
        return grades.read(self.file)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Desk({"XDG_STATE_HOME": str(tmp_path)})


def redrawn(data: bytes) -> bytes:
    """Another version draws its dialogs in another way: neither rules nor the structure of the rows read this."""
    text = data.decode("utf-8", "replace")
    for old, new in (
        ("1.", "Go"),
        ("2.", "Or"),
        ("3.", "Or"),
        ("4.", "Or"),
        ("Esc to cancel", "Freely"),
        ("choose", ""),
        ("confirm", ""),
        ("select", ""),
    ):
        text = text.replace(old, new)
    return text.translate(str.maketrans("?❯→▶↑↓↵", ".      ")).encode()


@pytest.mark.slow
@each("scene", ["claude-permission", "records/copilot-permission", "records/kimi-permission"])
def test_a_changed_dialog_is_found_within_ten_turns(desk: Desk, scene: str) -> None:
    """Twenty turns of a version are read; the next one draws its dialog in a way that no rule reads."""
    desk.file.unlink(missing_ok=True)
    file = CORPUS / f"{scene}.cast.gz"
    desk.play(file, OLD)
    desk.play(file, NEW, redrawn)
    desk.work()
    old, new = desk.written
    name = file.name.partition("-")[0]
    assert (old.agent, old.version, old.turns, old.misread, old.waiting_s > 4) == (name, "2.1.329", 1, 0, True)
    assert (new.version, new.turns, new.misread) == ("2.1.330", 1, 1) and new.missed_s == pytest.approx(new.waiting_s)

    grades.add(desk.file, [old] * 19, "")
    panes = tuple(Pane(id=id_, status=IDLE, agent=name) for id_ in ("2", "3"))
    hosts = [Snapshot(host="kitty", pid=os.getpid(), started=0.0, written=0.0, panes=panes)]
    turns = 1
    while not (found := [*checks(desk.environ, hosts)]) and turns < 10:
        grades.add(desk.file, [new], "")
        turns += 1
    assert found and turns <= 10
    (finding,) = found
    assert finding.text.startswith(
        f"the screen of {name} was misread in {turns} of {turns} turns of 2.1.330, and in 0 of 20 turns of 2.1.329; the"
    )
    assert finding.remedy.startswith(f"run `tally wrong kitty-{os.getpid()}:3` within two minutes")


@each(
    ("new", "old", "is_worse"),
    {
        "too few turns": ((2, 2), (0, 20), False),
        "three of three": ((3, 3), (0, 20), True),
        "three of ten": ((3, 10), (0, 40), True),
        "no more than before": ((3, 10), (6, 20), False),
        "by chance": ((3, 10), (2, 20), False),
        "hardly": ((80, 1000), (0, 1000), False),
        "the first version": ((9, 10), (0, 2), False),
    }.values(),
)
def test_when_a_version_is_worse(desk: Desk, new: tuple[int, int], old: tuple[int, int], is_worse: bool) -> None:
    """Only where the turns are enough to say so."""
    desk.file.unlink(missing_ok=True)
    rows = [
        Grade(day="2026-11-20", agent="codex", version=version, misread=misread, turns=turns)
        for version, (misread, turns) in (("0.9.1", old), ("0.10.0", new))
    ]
    grades.add(desk.file, rows, "")
    found = [*checks(desk.environ, ())]
    assert bool(found) is is_worse
    assert all("`tally wrong PANE`" in finding.remedy for finding in found)


def test_days_and_versions(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry a day and version; what is older than sixty days goes, and the table adds up the rest."""
    old = Grade(day="2020-01-01", agent="claude", version="2.1.329", turns=5)
    grades.add(desk.file, [old], "")
    desk.turn(OLD)
    desk.turn(OLD, missed_s=21)
    desk.turn(NEW)
    desk.work()
    day = today(NOW + desk.now)

    assert [(one.day, one.version, one.turns, one.misread) for one in desk.written] == [
        (day, "2.1.329", 2, 1), (day, "2.1.330", 1, 0),
    ]  # fmt: skip
    assert main(["accuracy"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "agent   version  last day    turns  misread      missed     false  wrong work",
        f"claude  2.1.330  {day}      1        0    0 s, 0 %  0 s, 0 %    0 s, 0 %",
        f"claude  2.1.329  {day}      2        1  20 s, 17 %  0 s, 0 %    0 s, 0 %",
    ]
    assert main(["accuracy", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["version"] == 1
    assert told["grades"][0] == {
        "day": day, "agent": "claude", "version": "2.1.329", "turns": 2, "misread": 1, "graded_s": 126.5,
        "waiting_s": 119.0, "missed_s": 20.5, "false_s": 0.0, "work_s": 0.0,
        "pane": f"kitty-{os.getpid()}:3", "at": NOW + 165,
    }  # fmt: skip


def test_nothing_is_kept_where_a_person_wants_no_history(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """What waits is not written either; and the command says why it has nothing."""
    desk.turn(OLD)
    desk.kept.use(keep=False)
    desk.turn(OLD)
    desk.work()
    assert desk.written == []
    assert main(["accuracy"]) == 0
    assert capsys.readouterr().out.startswith("no turn was graded yet")


def test_a_disk_that_refuses(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The turns go with the next ones that it takes; a file that is broken is begun again."""
    desk.turn(OLD)
    with monkeypatch.context() as patch:
        patch.setattr(read_write, "atomic_write", lambda *_args: (_ for _ in ()).throw(OSError(28, "no space")))
        desk.work()
    assert desk.written == []
    desk.file.write_text("{")
    desk.turn(NEW)
    desk.work()

    assert [grade.version for grade in desk.written] == ["2.1.329", "2.1.330"]


@pytest.mark.slow
def test_all_is_bounded(desk: Desk) -> None:
    """Turns that wait for the disk, the versions of runs, and the file."""
    for number in range(grades.MAX_UNSAVED_TURNS + 10):
        desk.turn(attrs.evolve(OLD, pid=1000 + number))
    assert len(desk.kept._waiting) == grades.MAX_UNSAVED_TURNS
    desk.work()
    assert desk.kept._version.cache_info().maxsize == grades.MAX_VERSIONED_RUNS  # type: ignore[attr-defined]
    rows = [Grade(day="2026-11-20", agent=f"a{number}" * 60) for number in range(grades.MAX_GRADES + 5)]
    grades.add(desk.file, rows, "")
    assert len(desk.written) == grades.MAX_GRADES
    assert desk.file.stat().st_size < grades.MAX_GRADES_BYTES


def test_a_host_grades_its_panes(tmp_path: Path) -> None:
    """From the status file of Claude Code to the file of grades; nothing where the settings want no history."""
    engine = HandEngine(tmp_path, 1, AGENTS)
    file = tmp_path / ".local/state/tallylight/history/accuracy.json"
    engine.group = CLAUDE_PROCESS.pid
    for keep in (False, True):
        engine.parts.use(Config(history=History(keep=keep)))
        for status in ("idle", "busy", "waiting", "busy", "idle"):
            status_file(str(tmp_path), status=status, waitingFor="permission prompt", updatedAt=engine.now * 1000)
            for _ in range(12):
                engine.tick()
                engine.publish()
        assert file.exists() is keep
    (grade,) = grades.read(file)
    assert (grade.agent, grade.version, grade.turns, grade.misread) == ("claude", "", 1, 1)
    assert 2 < grade.missed_s == grade.waiting_s < 3
