"""
`tally replay`: the lights of a recorded pane, one line for each decision, with its reason.

The times are the recording's and the trust rules' own, so the same file gives the same lines everywhere. Only the
agents are those that this machine knows. Problems of a file go to standard error with their line numbers, and the rest
is replayed.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import shlex
from collections.abc import Iterator

from tallylight.agents import agent_files
from tallylight.cli.output import UNBOUNDED_CELLS, Output, clean, complain, status_words
from tallylight.cli.parser import Parser
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.model.decision import Decision
from tallylight.model.errors import TallyError
from tallylight.parts.lab.asciicast import Event, Header
from tallylight.parts.lab.decoder import Problem, RecordingError, decode
from tallylight.parts.lab.replay import Replay, with_program
from tallylight.relay.core import RelayCore

JSON_VERSION = 1
#: The most problems of one file that are listed; the others are counted.
MAX_LISTED_PROBLEMS = 20


def make_parser() -> Parser:
    parser = Parser(
        prog="tally replay",
        description="Replay a recording through the tracker: one line per decision, with time, status and reason.",
        examples={
            "tally replay session.cast": "one line a decision",
            "tally replay session.cast --json": "one object a decision",
        },
        codes={0: "the whole recording was read", 1: "some or all of the recording could not be read"},
    )
    parser.add_argument("file", metavar="FILE", help="a recording by `tally record` or asciinema (asciicast v2 or v3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per decision")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Replay one recording; return 1 if a part of it could not be read."""
    options = make_parser().parse_args(argv)
    agents, errors = agent_files.load_agents(os.environ)
    complain("replay", *errors)
    output = Output.chosen(options.color)
    write = _json if options.json else _line
    with opened("replay", options.file) as (header, events, problems):
        try:
            command = tuple(shlex.split(header.command))
        except ValueError:
            command = ()  # cut off in the middle of a quote
        agent = identify([Process(1, argv=command)], agents).agent  # as the relay knew it then
        name = agent.name if agent is not None else ""
        replay = Replay(header, agents, relay=RelayCore(agent=name))
        is_told = False
        shown = _words(replay.decision)  # nothing is known yet: that is no news
        for decisions in itertools.chain(map(replay.play, with_program(header, events, name)), [replay.finish()]):
            for decision in decisions:
                is_told = is_told or replay.has_program
                if (words := _words(decision)) != shown:
                    shown = words
                    write(output, replay.now, decision)
        if not (is_told or header.started or problems):
            complain("replay", f"{options.file}: no agent named, so no screen was read; record with `asciinema rec -c`")
        complain("replay", *(f"{options.file}: {fault}" for fault in replay.faults), cells=UNBOUNDED_CELLS)
    return 1 if problems else 0


@contextlib.contextmanager
def opened(verb: str, file: str) -> Iterator[tuple[Header, Iterator[Event], list[Problem]]]:
    """
    Open a recording, compressed or not: its header, its events, and its problems so far.

    *verb* prints them on standard error, and at the end their number if there are many. Raise `TallyError` if the file
    is no recording, or cannot be read.
    """
    problems: list[Problem] = []

    def events() -> Iterator[Event]:
        for item in items:
            if isinstance(item, Event):
                yield item
            elif isinstance(item, Problem):
                problems.append(item)
                if len(problems) <= MAX_LISTED_PROBLEMS:
                    complain(verb, f"{file}:{item.line}: {item.text}", cells=UNBOUNDED_CELLS)

    try:
        with open(file, "rb") as raw:  # noqa: PTH123 - a path's own words are in its error
            packed = gzip.GzipFile(fileobj=raw) if file.endswith(".gz") else None
            items = decode((packed or raw).readline)
            header = next(items)
            assert isinstance(header, Header)
            yield header, events(), problems
    except RecordingError as error:
        raise TallyError(f"{clean(file)}: {error}") from None
    except (OSError, EOFError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise TallyError(f"{clean(file)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(problems) > MAX_LISTED_PROBLEMS:
        complain(verb, f"and {len(problems) - MAX_LISTED_PROBLEMS} more")


def _words(decision: Decision) -> tuple[object, ...]:
    """Return the values that are printed of a decision."""
    return decision.status, decision.kind, decision.reason.source, decision.report.agent


def _line(output: Output, time: float, decision: Decision) -> None:
    words = f"{decision.report.agent} {status_words(decision.status, decision.kind)}".lstrip()
    output.decision(f"{time:10.3f} s", decision, words, 30)


def _json(output: Output, time: float, decision: Decision) -> None:
    """Print the decision at *time* as one line of JSON."""
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
