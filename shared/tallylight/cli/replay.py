"""
`tally replay`: what the light of a recorded pane would have been, a line a decision, and why.

The times are the recording's and the trust rules' own, so that the same file gives the same lines wherever it is
replayed; only the agents are those that are known on this machine. What cannot be read of a file is said on standard
error with the number of its line, and the rest is replayed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator

import attrs

from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.cli.output import Output, clean, pad, status_words
from tallylight.cli.parser import Parser
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.model import lights
from tallylight.model.decision import Decision
from tallylight.model.errors import TallyError
from tallylight.recordings.asciicast import Event, Header
from tallylight.recordings.decoder import Problem, RecordingError, decode
from tallylight.recordings.replay import Replay
from tallylight.relay.core import RelayCore
from tallylight.ui import colours
from tallylight.ui.layout import rule_words

JSON_VERSION = 1
#: More of one file's problems are counted, not listed.
MAX_PROBLEMS = 20


def make_parser() -> Parser:
    """What `tally replay` takes."""
    parser = Parser(
        prog="tally replay",
        description="Replay a recording through the tracker: one line per decision, with time, status and reason.",
        examples={
            "tally replay session.cast": "one line a decision",
            "tally replay session.cast --json": "one object a decision",
        },
        codes={0: "all of it was read", 1: "a part of the recording, or all of it, could not be read"},
    )
    parser.add_argument("file", metavar="FILE", help="a recording by `tally record` or asciinema (asciicast v2 or v3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per decision")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Replay one recording. The exit code is 1 if a part of it could not be read."""
    options = make_parser().parse_args(argv)
    agents, errors = agent_files.load_agents(os.environ)
    for error in errors:
        sys.stderr.write(f"tally replay: {clean(str(error))}\n")
    problems = _Problems(options.file)
    output = Output.to(sys.stdout, colours.chosen(os.environ, options.color))
    write = _json if options.json else _line
    try:
        with open(options.file, "rb") as file:  # noqa: PTH123 a path's own words are in its error
            items = decode(file.readline)
            header = next(items)
            assert isinstance(header, Header)
            replay = Replay(header, agents, relay=RelayCore(agent=_agent(header.command, agents)))
            for time, decision in _changes(replay, items, problems):
                write(output, time, decision)
            for fault in replay.faults:
                sys.stderr.write(f"tally replay: {clean(options.file)}: {fault}\n")
    except RecordingError as error:
        raise TallyError(f"{clean(options.file)}: {error}") from None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise TallyError(f"{clean(options.file)}: cannot be read: {error.strerror}") from None
    return problems.close()


def _agent(command: str, agents: Agents) -> str:
    """The agent that was recorded, as the relay knew it then."""
    try:
        argv = tuple(shlex.split(command))
    except ValueError:
        return ""  # cut off in the middle of a quote
    agent = identify([Process(1, argv=argv)], agents).agent
    return agent.name if agent is not None else ""


def _changes(
    replay: Replay, items: Iterator[Header | Event | Problem], problems: _Problems
) -> Iterator[tuple[float, Decision]]:
    """Each decision that tells a person something new, and its time. That nothing is known yet is not new."""
    shown = _words(replay.decision)
    for decision in _decisions(replay, items, problems):
        if (words := _words(decision)) != shown:
            shown = words
            yield replay.now, decision


def _words(decision: Decision) -> tuple[object, ...]:
    return decision.status, decision.kind, decision.reason.source, decision.report.agent


def _decisions(replay: Replay, items: Iterator[Header | Event | Problem], problems: _Problems) -> Iterator[Decision]:
    for item in items:
        if isinstance(item, Problem):
            problems.add(item)
        elif isinstance(item, Event):
            yield from replay.play(item)
    yield from replay.finish()


@attrs.define
class _Problems:
    """What could not be read of *file*."""

    file: str
    count: int = 0

    def add(self, problem: Problem) -> None:
        self.count += 1
        if self.count <= MAX_PROBLEMS:
            sys.stderr.write(f"tally replay: {clean(self.file)}:{problem.line}: {problem.text}\n")

    def close(self) -> int:
        if self.count > MAX_PROBLEMS:
            sys.stderr.write(f"tally replay: and {self.count - MAX_PROBLEMS} more\n")
        return 1 if self.count else 0


def _line(output: Output, time: float, decision: Decision) -> None:
    words = status_words(decision.status, decision.kind)
    mark = lights.mark(decision.status, decision.kind) if decision.is_lit else " "
    source = f"{decision.reason.source.word}: " if decision.reason.source else ""
    agent = f"{decision.report.agent} " if decision.report.agent else ""
    text = f"{time:10.3f} s  {mark} {pad(f'{agent}{words}', 30)}  {source}{rule_words(decision.reason.rule)}"
    line = clean(text, output.columns)
    output.line(output.lit(decision.status, line) if decision.is_lit else line)


def _json(output: Output, time: float, decision: Decision) -> None:
    reason = decision.reason
    fields = {
        "version": JSON_VERSION,
        "time": round(time, 6),
        "status": decision.status,
        "kind": decision.kind,
        "agent": decision.report.agent,
        "message": decision.report.message,
        "what": decision.report.what,
        "lit": decision.is_lit,
        "reason": {
            "source": reason.source.word if reason.source else "",
            "rule": reason.rule,
            "at": round(reason.at, 6),
            "changes": reason.changes,
        },
    }
    output.line(json.dumps(fields))
