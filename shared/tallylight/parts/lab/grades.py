"""
Grades of how well titles and screens were read, for `tally accuracy`: made on the host's loop, saved by a job.

`<state directory>/history/accuracy.json` has an entry for each day, agent and version, and no text of a conversation. A
failing disk affects only these.
"""

from __future__ import annotations

import functools
import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from tallylight.config.settings import Config
from tallylight.evidence.process import Process
from tallylight.files import directories
from tallylight.hosts.part import Context, HostPart
from tallylight.model import attributes
from tallylight.model.jobs import Submit
from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.pane.package import version_of
from tallylight.pane.pane import Pane
from tallylight.parts.lab.grading import Grader, Seconds
from tallylight.snapshot.row_file import RowFile
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.values import ID, Json, Reads, declared, key, short, write
from tallylight.snapshot.waiting_time_file import today

KEPT_GRADE_DAYS, MAX_GRADES, MAX_GRADES_BYTES = 60, 1000, 1_000_000
#: A turn counts as misread if the reading was wrong for longer, in seconds: a vanished screen stays for two looks.
WRONG_S = 2.0
#: Seconds between two writings, turns that wait for one, and runs with a remembered version.
SAVE_GRADES_S, MAX_UNSAVED_TURNS, MAX_VERSIONED_RUNS = 10.0, 256, 256
_DAY_S = 24 * 3600.0
_SUMS = ("turns", "misread", *(one.name for one in attrs.fields(Seconds)))

Id = TypeVar("Id", bound=Hashable)


@attributes.frozen(kw_only=True)
class Grade:
    """The sum of the turns of one version of an agent on one day, or over more days up to that one."""

    day: str = attributes.field(metadata=declared("", short(10)))
    agent: str = attributes.field(metadata=declared("", ID))
    version: str = key("", form=short(MAX_WORD_CHARS))
    turns: int = key(0)
    #: The turns in which the reading was wrong for more than `WRONG_S`.
    misread: int = key(0)
    graded_s: float = key(0.0)
    waiting_s: float = key(0.0)
    missed_s: float = key(0.0)
    false_s: float = key(0.0)
    work_s: float = key(0.0)
    #: The last misread turn: the address of its pane, and its end, in seconds since the epoch.
    pane: str = key("", is_always=False)
    at: float = key(0.0, is_always=False)

    from_json = Reads()

    def plus(self, other: Grade) -> Grade:
        """Return the sum of both."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        last = max(self, other, key=lambda grade: grade.at)
        return attributes.evolve(last, day=max(self.day, other.day), **sums)

    def to_json(self) -> Json:
        """Return the values to write, seconds rounded to tenths."""
        return {name: round(value, 1) if isinstance(value, float) else value for name, value in write(self).items()}


_KEPT = RowFile(Grade, "grades", MAX_GRADES, MAX_GRADES_BYTES)


def path(environ: Mapping[str, str]) -> Path:
    return directories.state_dir(environ) / "history" / "accuracy.json"


def read(file: Path) -> list[Grade]:
    """Return all saved grades, the oldest day first; raise `OSError` or `TallyError` if they cannot be read."""
    return sorted(_KEPT.read(file), key=lambda grade: grade.day)  # a broken file is begun again


def add(file: Path, grades: Iterable[Grade], oldest: str) -> None:
    """Add *grades* to the file, and remove days before *oldest*. Errors as of `read`, and `BusyError`."""

    def added(kept: Iterable[Grade]) -> list[Grade]:
        found: dict[tuple[str, str, str], Grade] = {}
        for grade in (*kept, *grades):
            name = grade.day, grade.agent, grade.version
            found[name] = found[name].plus(grade) if name in found else grade
        return sorted((one for one in found.values() if one.day >= oldest), key=lambda one: one.day)[-MAX_GRADES:]

    _KEPT.change(file, added, "another host writes")


@attrs.define
class Grades(Generic[Id]):
    """Grades the panes of the host *host*; *submit* runs one job per key on a thread. *now* is monotonic seconds."""

    host: str
    environ: Mapping[str, str]
    submit: Submit
    clock: Callable[[], float] = time.time
    _is_kept: bool = False
    #: The run in each pane, and its grader.
    _graders: dict[Id, tuple[tuple[int, int], Grader]] = attrs.field(factory=dict)
    #: Running processes with a version to look up, and finished turns of them.
    _waiting: deque[tuple[Process, Grade | None]] = attrs.field(factory=lambda: deque(maxlen=MAX_UNSAVED_TURNS))
    _due: float = 0.0
    #: For the job: the cached version of a process, and the grades still to be written.
    _version: Callable[[Process], str] = attrs.field(
        factory=lambda: functools.lru_cache(MAX_VERSIONED_RUNS)(version_of)
    )
    _unwritten: deque[Grade] = attrs.field(factory=lambda: deque(maxlen=MAX_GRADES))

    def use(self, *, keep: bool) -> None:
        """Start or stop grading."""
        self._is_kept = keep
        if not keep:
            self._graders.clear()
            self._waiting.clear()

    def see(self, id_: Id, pane: Pane, now: float) -> None:
        """Grade *pane* after a change."""
        agent, process = pane.agent, pane.agent_process
        if not self._is_kept or agent is None or process is None:
            self._graders.pop(id_, None)
            return
        run, grader = self._graders.get(id_, (None, Grader()))
        if run != process.run:
            grader = Grader()
            self._graders[id_] = process.run, grader
            self._waiting.append((process, None))
        if (turn := grader.see(pane.tracker, now)) is not None:
            grade = Grade(day="", agent=agent.name, turns=1, **attrs.asdict(turn))
            if turn.wrong_s > WRONG_S:
                address = f"{self.host}-{os.getpid()}:{id_}"
                grade = attributes.evolve(grade, misread=1, pane=address, at=self.clock())
            self._waiting.append((process, grade))

    def forget(self, id_: Id) -> None:
        """Forget a pane that is gone."""
        self._graders.pop(id_, None)

    def tick(self, now: float) -> None:
        """Save waiting grades now and then."""
        if not self._waiting or now < self._due:
            return
        if self.submit("accuracy", functools.partial(self._keep, tuple(self._waiting))):
            self._waiting.clear()
            self._due = now + SAVE_GRADES_S

    def _keep(self, waiting: Iterable[tuple[Process, Grade | None]]) -> None:
        """Save *waiting* grades; if that fails, they are saved with the next ones."""
        clock = self.clock()
        for process, grade in waiting:
            version = self._version(process)
            if grade is not None:
                self._unwritten.append(attributes.evolve(grade, day=today(clock), version=version))
        if self._unwritten:
            add(path(self.environ), self._unwritten, today(clock - KEPT_GRADE_DAYS * _DAY_S))
            self._unwritten.clear()


class Accuracy(HostPart):
    """The grades of one host, kept for `tally accuracy`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._grades: Grades[Any] = Grades(context.name, context.environ, context.submit)

    def use(self, config: Config) -> None:
        self._grades.use(keep=config.history.keep)

    def changed(self, id_: Any, pane: Pane, now: float) -> None:
        self._grades.see(id_, pane, now)

    def published(self, panes: Sequence[PaneEntry] | None, now: float) -> None:  # noqa: ARG002
        self._grades.tick(now)

    def forget(self, id_: Any) -> None:
        self._grades.forget(id_)
