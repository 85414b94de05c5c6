"""
A report: what one source said about one record of a pane.

Reports are values. Codecs, hooks, status files, title rules and heuristics make them; the tracker is the only
consumer and the only place where two reports are weighed against each other. Nothing here reads a clock: the
time of a report is an argument of the tracker.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from tallylight.model import attributes
from tallylight.model.status import Kind, Status


class Source(enum.IntEnum):
    """
    Where a report comes from. A greater number is the better source.

    Of two that give the same answer the better one is named. `tracker.table` decides which one overrules which.
    """

    HEURISTIC = 1
    SCREEN = 2
    NOTIFICATION = 3
    SHELL = 4
    PROGRESS = 5
    TITLE = 6
    #: What its connections and its children show that it does.
    PROCESS = 7
    #: How a turn ended, by the agent's own record of its session.
    RECORD = 8
    REGISTRY = 9
    PROTOCOL = 10

    @property
    def word(self) -> str:
        """The name used in `tally why`, the snapshot and the documentation."""
        return self.name.lower()


@attributes.frozen
class Progress:
    """How far an agent is: *done* of *total* tasks (a percentage is *done* of 100). 0 <= done <= total, total > 0."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """In whole percent, a half rounded up."""
        return (200 * self.done + self.total) // (2 * self.total)


def progress(text: str) -> Progress | None:
    """Read `done/total`: ASCII digits, at most six each, 0 <= done <= total, total > 0. None for anything else."""
    done, _, total = text.partition("/")
    if not (text.isascii() and done.isdigit() and total.isdigit() and len(done) <= 6 and len(total) <= 6):
        return None
    return Progress(int(done), int(total)) if 0 < int(total) >= int(done) else None


def current(counted: str, tasks: Sequence[str]) -> str:
    """Name the task that comes after those which *counted*, `3/7`, says are done; nothing if that is not known."""
    found = progress(counted)
    return tasks[found.done] if found is not None and found.done < len(tasks) else ""


@attributes.frozen(kw_only=True)
class Report:
    """
    One statement of one source about one record.

    *status* None withdraws the record (and its children). *id* is a path: `""` is the pane itself, `a/b` a
    child of `a`. Every text field is untrusted and was sanitised by its decoder; it is displayed and
    never decides anything.
    """

    source: Source
    status: Status | None
    id: str = ""
    #: What it waits for; of `done`, `question` if its last words ask one: that is its message.
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
    #: The one thing needed to decide what it waits for: `Bash: npm test`; only beside `waiting`. See `model.dialog`.
    what: str = ""
    detail: str = ""
    progress: Progress | None = None
    tasks: tuple[str, ...] = ()
    #: What its agent wants to be shown by a name of its own: the name and the text.
    vars: tuple[tuple[str, str], ...] = ()
    #: How many background tasks or subagents still run.
    background: int = 0
    #: Argument lists, the program first, already split; filled and checked only at the gate.
    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
