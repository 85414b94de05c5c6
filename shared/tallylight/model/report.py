"""
A report: the statement of one source about one record of a pane.

Reports are values. Codecs, hooks, status files, title rules and heuristics make them. Only the tracker compares two
reports. Nothing here reads a clock: the time of a report is an argument of the tracker.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from tallylight.model import attributes
from tallylight.model.status import Kind, Status


class Source(enum.IntEnum):
    """
    The origin of a report. A greater number is the better source.

    If two sources agree, the better one is shown. `tracker.table` decides which source overrules which.
    """

    HEURISTIC = 1
    SCREEN = 2
    NOTIFICATION = 3
    SHELL = 4
    PROGRESS = 5
    TITLE = 6
    #: The activity of the agent's connections and child processes.
    PROCESS = 7
    #: The agent's own record of its session, which has the end of a turn.
    RECORD = 8
    REGISTRY = 9
    PROTOCOL = 10

    @property
    def word(self) -> str:
        """The source's name in `tally why`, the snapshot and the documentation."""
        return self.name.lower()


@attributes.frozen
class Progress:
    """The progress of an agent: *done* of *total* tasks, or a percentage of 100. 0 <= done <= total, total > 0."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """The progress in whole percent, a half rounded up."""
        return (200 * self.done + self.total) // (2 * self.total)


def progress(text: str) -> Progress | None:
    """Return the progress in `done/total`: at most six ASCII digits each. None for anything else."""
    done, _, total = text.partition("/")
    if not (text.isascii() and done.isdigit() and total.isdigit() and len(done) <= 6 and len(total) <= 6):
        return None
    return Progress(int(done), int(total)) if 0 < int(total) >= int(done) else None


def current(counted: str, tasks: Sequence[str]) -> str:
    """Return the name of the current task, the one after the finished ones in *counted* (`3/7`); empty if unknown."""
    found = progress(counted)
    return tasks[found.done] if found is not None and found.done < len(tasks) else ""


#: The display fields that a poorer report may fill in where a better one leaves them empty.
_SHARED = ("agent", "session", "title", "project", "cwd", "worktree", "mode", "resume", "fork", "vars")


@attributes.frozen(kw_only=True)
class Report:
    """
    The statement of one source about one record.

    *status* None withdraws the record and its children. *id* is a path: `""` is the pane itself, `a/b` a child of `a`.
    Every text field is untrusted and was sanitised by its decoder; it is displayed and never decides anything.
    """

    source: Source
    status: Status | None
    id: str = ""
    #: The kind of question that it waits with; `question` for a `done` that ends with one, which is its message.
    kind: Kind | None = None
    #: The rule that made this report, for `tally why`: `osc-1338`, `title glyph`, `4 s of silence`.
    rule: str = ""
    agent: str = ""
    session: str = ""
    title: str = ""
    project: str = ""
    cwd: str = ""
    worktree: str = ""
    mode: str = ""
    message: str = ""
    #: The subject of its question: `Bash: npm test`. Only with `waiting`; see `model.dialog`.
    what: str = ""
    detail: str = ""
    progress: Progress | None = None
    tasks: tuple[str, ...] = ()
    #: Texts that its agent wants shown, each with a name of the agent's own.
    vars: tuple[tuple[str, str], ...] = ()
    #: The number of background tasks and subagents that still run.
    background: int = 0
    #: Argument lists, the program first. They are completed and checked only at the gate.
    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()

    def with_gaps_filled(self, *others: Report, **gaps: object) -> Report:
        """Return it with its empty display fields filled: from *gaps*, else from the first of *others* with a value."""
        empty = [name for name in _SHARED if not getattr(self, name)]
        for other in others:
            for name in empty:
                if not gaps.get(name) and (value := getattr(other, name)):
                    gaps[name] = value
        return attributes.evolve(self, **gaps) if gaps else self  # type: ignore[arg-type]
