"""
Evidence in a recording, as JSON objects: everything that a host knows of a pane besides its output.

Each has a `type`:

* `foreground`: another program is in the foreground (`name` null: none of interest), see
  `tracker.foreground.Foreground`;
* `program`: it has no agent file: its executable (`exe`), and the `words` with its script;
* `report`: a source other than the output reported it, such as an agent's status file, see `model.report.Report`; with
  an `age`, that many seconds before;
* `moment`: the host's action `what`. It looked at the screen (`look`), let time pass (`tick`), saw a progress bar
  appear or vanish (`bar`, `no bar`), or saw a person look (`seen`). `told` means that all such moments are recorded;
* `exit`: the command ended, with a `code` or by a `signal`.

`encode` writes one, `decode` reads one. Types and lengths in a file are never trusted.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import attrs

from tallylight.evidence.commands import unwrap
from tallylight.evidence.ordinary import own_place
from tallylight.evidence.process import Process
from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.foreground import Foreground
from tallylight.wire import values
from tallylight.wire.text import is_ascii_id, sanitise

#: As in an agent file.
_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]{0,63}", re.ASCII)
#: The text fields of a report that are recorded, and the longest text of each in cells. Argument lists are left out:
#: they are run, not shown.
_TEXTS = {"rule": 256, "session": 256, "title": 256, "project": 128, "cwd": 1024, "worktree": 1024, "mode": 64}
_TEXTS |= {"message": 512, "what": 200, "detail": 256}
#: The kinds of a `Moment`.
MOMENTS = ("told", "look", "tick", "bar", "no bar", "seen")
_MAX_INTEGER, _MAX_WORDS = (1 << 63) - 1, 8
_SOURCES = {source.word: source for source in Source}


@attrs.frozen
class ForegroundChange:
    """*foreground* is in the foreground now; *is_gone*: the program before it has ended."""

    foreground: Foreground | None
    is_gone: bool = True


@attrs.frozen
class Program:
    """A program without an agent file is in the foreground: *exe*, and its *words* as far as they name it."""

    exe: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, process: Process) -> Program:
        """Return the names of *process*: its other arguments may be secrets."""
        chain, argv = unwrap(process.argv, process.exe, process.comm), process.argv
        place = own_place(chain)
        own = chain.invocations[place].word if place is not None else ""
        return cls(process.exe, (*argv[:1], *([own] if own in argv[1:] else ())))

    @property
    def process(self) -> Process:
        """The same as a process, as far as it is known."""
        return Process(1, argv=self.words, exe=self.exe)


@attrs.frozen
class Moment:
    """The host did *what*, one of `MOMENTS`: a recording with moments has all of them."""

    what: str


@attrs.frozen
class Claimed:
    """A *report* that was made *age* seconds before."""

    report: Report
    age: float


@attrs.frozen
class Exit:
    """The recorded command ended, with an exit code or by a signal; both None if unknown."""

    code: int | None = None
    signal: int | None = None


#: A `Report` is from a source other than the output.
Evidence: TypeAlias = ForegroundChange | Program | Moment | Claimed | Exit | Report


class LineError(ValueError):
    """A line, or the object in it, that cannot be used, and why."""


def encode(evidence: Evidence) -> dict[str, object]:
    match evidence:
        case Exit(code, signal):
            return {"type": "exit", "code": code, "signal": signal}
        case Moment(what):
            return {"type": "moment", "what": what}
        case Claimed(report, age):
            return {**encode(report), "age": round(age, 6)}
        case Program(exe, words):
            return {"type": "program", "exe": exe, "words": list(words)}
        case ForegroundChange(None, is_gone):
            return {"type": "foreground", "name": None, "gone": is_gone}
        case ForegroundChange(Foreground() as found, is_gone):
            about = {"name": found.name, "instance": found.instance, "agent": found.is_agent, "speaks": found.speaks}
            about |= {"candidate": True} if found.is_candidate else {}
            return {"type": "foreground", **about, "gone": is_gone}
        case Report() as report:
            fields: dict[str, object] = {"type": "report", "source": report.source.word, "status": report.status}
            for name in ("id", "kind", "agent", *_TEXTS, "background"):
                if value := getattr(report, name):
                    fields[name] = value
            if report.progress is not None:
                fields["progress"] = [report.progress.done, report.progress.total]
            return fields
    raise TypeError(evidence)


def decode(fields: object) -> Evidence | None:
    """Return the evidence in one object; None for an unknown type. Raise `LineError` if it is malformed."""
    if not isinstance(fields, dict):
        raise LineError("has evidence that is no JSON object")
    match fields.get("type"):
        case "exit":
            return Exit(_integer(fields.get("code")), _integer(fields.get("signal")))
        case "foreground":
            name, found = fields.get("name"), None
            if name is not None:
                if not isinstance(name, str) or not _NAME.fullmatch(name):
                    raise LineError("has a foreground name without a program")
                is_agent, speaks = fields.get("agent") is not False, fields.get("speaks") is True
                is_candidate = fields.get("candidate") is True
                found = Foreground(name, _integer(fields.get("instance")) or 0, is_agent, speaks, is_candidate)
            return ForegroundChange(found, fields.get("gone") is not False)
        case "program":
            words = _list(fields.get("words"))
            return Program(text(fields.get("exe"), 1024), tuple(text(word, 1024) for word in words[:_MAX_WORDS]))
        case "moment":
            return Moment(str(fields["what"])) if fields.get("what") in MOMENTS else None
        case "report":
            return _aged(_report(fields), fields.get("age"))
    return None


def _list(value: object) -> list[object]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def _aged(report: Report, age: object) -> Report | Claimed:
    return Claimed(report, float(age)) if isinstance(age, int | float) and 0 <= age <= _MAX_INTEGER else report


def _report(fields: dict[str, Any]) -> Report:
    """Return the report in *fields*; raise `LineError` without a known source."""
    source = fields.get("source")
    if not isinstance(source, str) or source not in _SOURCES:
        raise LineError("has a report of no known source")
    try:
        status = None if fields.get("status") is None else Status(values.text(fields["status"], MAX_WORD_CHARS))
        kind = None if fields.get("kind") is None else Kind(values.text(fields["kind"], MAX_WORD_CHARS))
    except ValueError:
        raise LineError("has a report of no known status or kind") from None
    agent = fields.get("agent")
    report = Report(
        source=_SOURCES[source],
        status=status,
        kind=kind,
        id=text(fields.get("id"), 1024),
        agent=agent if isinstance(agent, str) and is_ascii_id(agent) else "",
        progress=_progress(fields.get("progress")),
        background=max(0, _integer(fields.get("background")) or 0),
    )
    texts: dict[str, Any] = {name: text(fields.get(name), cells) for name, cells in _TEXTS.items()}
    return attrs.evolve(report, **texts)


def _progress(pair: object) -> Progress | None:
    """Return the progress in *pair*; None for anything else."""
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    done, total = _integer(pair[0]), _integer(pair[1])
    return Progress(done, total) if done is not None and total is not None and 0 <= done <= total > 0 else None


def text(value: object, cells: int) -> str:
    """Return *value* as harmless text of at most *cells* cells; empty if it is no text."""
    return sanitise(value, cells=cells) if isinstance(value, str) else ""


def _integer(value: object) -> int | None:
    return values.integer(value, -_MAX_INTEGER, _MAX_INTEGER)
