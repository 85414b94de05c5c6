"""`tally agent new` and `tally agent check`: write the file of an agent that has none, and try it on recordings."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import SCREEN, SILENT, Rows
from tallylight.agents.agent import check_agent, load_agents
from tallylight.agents.agent_files import packaged_agents
from tallylight.cli.output import Output, clean, complain
from tallylight.cli.parser import Parser, within
from tallylight.cli.reaching import reached
from tallylight.evidence import process_table
from tallylight.evidence.commands import unwrap
from tallylight.evidence.ordinary import own_name
from tallylight.files.directories import config_dir
from tallylight.files.read_write import explained, read_limited, read_text
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.model.prose import counted
from tallylight.parts.lab import check, draft, frames, scoring, sightings
from tallylight.parts.lab.asciicast import Event, Header
from tallylight.parts.lab.asciicast import Output as Written
from tallylight.parts.lab.events import Program
from tallylight.parts.lab.verbs.replay import opened
from tallylight.snapshot.addresses import NAMED, Row, add_pane

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
_TIME = re.compile(r"\d{1,6}(?:\.\d{1,3})?", re.ASCII)
#: The longest copied screen, in characters.
_MAX_SCREEN_CHARS = 1 << 20
#: The longest time that a pane is watched.
_MAX_WATCH_S = 600
#: Lines to print about one recording.
_MOST_SCREEN_LINES = 24
_LABELS = (sightings.BUSY, sightings.IDLE, sightings.ASKING, sightings.FAILED)

#: A recording that was read: its name and its contents.
Recorded = tuple[str, Header, list[Event]]


def make_parser() -> Parser:
    parser = Parser(
        prog="tally agent",
        description="Describe an agent that Tallylight does not know, and try the description.",
        examples={
            "tally agent new mine session.cast": "write an agent file",
            "tally agent check mine.toml session.cast": "try it",
        },
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    new = verbs.add_parser(
        "new",
        help="write the file of an agent from recordings of it",
        description="Write an agent file from what recordings or copied screens show. It asks what up to five screens "
        "showed, and shows the file first.",
        examples={
            "tally agent new mine session.cast": "from one recording",
            "tally agent new mine session.cast --asking 12.5 --idle 30": "which asks at 12.5 s and is idle at 30 s",
            "tally agent new mine --pane 3": "from what pane 3 shows in the next 20 s",
            "tally agent new mine --pane 3 --asking now": "which asks something at this moment",
        },
        codes={1: "nothing was written"},
    )
    new.add_argument("name", metavar="NAME", help="the agent's name: small letters, digits, dashes")
    new.add_argument("recordings", nargs="*", metavar="RECORDING", help="made by `tally record FILE -- AGENT`")
    for label in _LABELS:
        what = {"busy": "works", "idle": "is ready", "asking": "asks something", "failed": "has failed"}[label]
        new.add_argument(
            f"--{label}",
            action="append",
            default=[],
            metavar="SECONDS|FILE|now",
            help=f"a time in the one recording at which it {what}, a file with such a screen (`-`: standard input), or "
            "`now`: so it does in the pane",
        )
    add_pane(new, "--pane", help_=f"watch this pane now: {NAMED}")
    new.add_argument(
        "--seconds",
        type=within(1, _MAX_WATCH_S, float),
        default=20.0,
        help="how long to watch it; Ctrl-C ends that sooner (default: 20)",
    )
    new.add_argument("--program", action="append", default=[], help="the name of its program, if it is not NAME")
    new.add_argument("--yes", action="store_true", help="write it without asking")
    trial = verbs.add_parser(
        "check",
        help="show what is wrong with an agent file, and the light it gives",
        description="Show every mistake of an agent file, and the light that it gives in recordings of the agent.",
        examples={
            "tally agent check mine.toml": "its mistakes",
            "tally agent check mine.toml session.cast": "and what it gives in a recording",
        },
        codes={1: "something is wrong with the file"},
    )
    trial.add_argument("file", metavar="FILE", help="an agent file, such as ~/.config/tallylight/agents/mine.toml")
    trial.add_argument("recordings", nargs="*", metavar="RECORDING", help="made by `tally record FILE -- AGENT`")
    for sub in (new, trial):
        sub.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Write an agent file, or try one. The exit code is 1 if nothing was written, or something is wrong with a file."""
    options = make_parser().parse_args(argv)
    output = Output.chosen(options.color)
    if options.verb == "new":
        return _new(options, output, os.environ)
    return _check(options.file, options.recordings, output)


# New ----------------------------------------------------------------------------------------------------------------


def _new(options: argparse.Namespace, output: Output, environ: Mapping[str, str]) -> int:
    """Write the file of a new agent; return the exit code."""
    name: str = options.name
    if not _NAME.fullmatch(name):
        raise TallyError(f"{clean(name)}: an agent's name has small letters, digits, dots, dashes and underscores")
    path = config_dir(environ) / "agents" / f"{name}.toml"
    if path.exists() or path.is_symlink():
        raise TallyError(f"{clean(str(path))}: already exists; nothing was changed. Edit it, or move it away")
    recorded, screens = _given(options)
    if not recorded and not screens:
        raise TallyError(
            f"give a recording or a pane: `tally record {name}.cast -- {name}`, with a question in it; or --pane with "
            "a pane where it runs"
        )
    text = _drafted(name, recorded, screens, options, output)
    if name in {known for known, _ in packaged_agents()}:
        output.line(f"Tallylight already has a file for {name}; this one replaces it.")
    output.line()
    output.line(text)
    if not options.yes and not System().ask(f"Write this to {clean(str(path))}?"):
        output.line("Nothing was written.")
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    with explained(f"{clean(str(path))}: cannot be written"), path.open("x", encoding="utf-8") as file:
        file.write(text)
    output.line(f"{clean(str(path))} is written. Try it: tally agent check {shlex.quote(str(path))} RECORDING")
    return 0


def _drafted(
    name: str,
    recorded: Sequence[Recorded],
    screens: Sequence[sightings.Seen],
    options: argparse.Namespace,
    output: Output,
) -> str:
    """Return the text of the file; print what it leaves open."""
    seen = _answered(recorded, options)
    named = draft.Naming(tuple(options.program))
    for _, header, events in recorded:
        named = named.plus(_naming(header, events))
    named = named if named.processes or named.packages else named.plus(draft.Naming((name,)))
    found = draft.draft([*screens, *seen])
    found, wrong = draft.proved(
        found,
        lambda one: draft.agent_of(one, name, named),
        [(header, events) for _, header, events in recorded],
        seen,
    )
    text = draft.write(found, name, named, source=", ".join(clean(file) for file, _, _ in recorded))
    _explain(found, output)
    for number, label, light in dict.fromkeys((number, look.label, light) for number, look, light in wrong):
        at = next(look.time for where, look, _ in wrong if (where, look.label) == (number, label))
        output.line(
            f"No rule tells that it was {frames.WORDS[label]} at {at:.1f} s of {clean(recorded[number][0])}: "
            f"the light says {light} there."
        )
    return text


def _given(options: argparse.Namespace) -> tuple[list[Recorded], list[sightings.Seen]]:
    """Return the recordings, that of a pane among them, and the copied screens."""
    said = [(label, word) for label in _LABELS for word in getattr(options, label)]
    now = [label for label, word in said if word == "now"]
    if len(now) > bool(options.pane):
        raise TallyError("`now` needs --pane, and can be given once")
    if any(_TIME.fullmatch(word) for _, word in said) and len(options.recordings) != 1:
        raise TallyError("a time needs exactly one recording: give one, or screens in files")
    files = [(label, word) for label, word in said if word != "now" and not _TIME.fullmatch(word)]
    screens = [sightings.of_screen(label, _screen(word)) for label, word in files]
    recorded: list[Recorded] = []
    for file in options.recordings:
        with opened("agent", file) as (header, events, _):
            recorded.append((file.rpartition("/")[2], header, list(events)))
    if options.pane:
        found, client = reached(options.pane)
        if isinstance(found, Refusal):
            raise TallyError(found.text)
        program = _program_of(found)
        if now:
            screens.append(sightings.of_screen(now[0], _rows(client, found)))
            recorded.append((found.name, Header(), program))
        else:
            recorded.append((found.name, *_watched(found, client, program, options.seconds)))
    return recorded, screens


def _answered(recorded: Sequence[Recorded], options: argparse.Namespace) -> list[sightings.Seen]:
    """Return the sightings of the recordings, with a person's labels."""
    seen = [sightings.of_recording(header, events) for _, header, events in recorded]
    said = [
        (min(seen[0].sightings, key=lambda look: abs(look.time - float(word))), label)
        for label in _LABELS
        for word in getattr(options, label)
        if _TIME.fullmatch(word) and seen[0].sightings
    ]
    to_ask = sightings.frames(seen)[len(said) :]
    if to_ask and frames.is_anybody():
        said += frames.ask([(f"{recorded[number][0]} at {look.time:.1f} s", look) for number, look in to_ask])
    elif to_ask and not said:
        raise TallyError(
            "nobody can be asked here what the recording shows: run this at a terminal, or name a time in it for each "
            "with --asking, --idle, --busy and --failed"
        )
    return [sightings.answered(one, said) for one in seen]


def _naming(header: Header, events: Sequence[Event]) -> draft.Naming:
    """Return the names of a recording's program: as it was seen, else from the command."""
    found = draft.Naming()
    for event in events:
        if isinstance(event.what, Program):
            found = found.plus(draft.naming(event.what))
    with contextlib.suppress(ValueError):  # its command was cut off in the middle of a quote
        if found == draft.Naming() and (program := own_name(unwrap(shlex.split(header.command)))):
            return draft.Naming((program,))
    return found


def _program_of(found: Row) -> list[Event]:
    """Return the foreground program of a pane."""
    process = process_table.table().get(found.pane.pid) if found.pane.pid is not None else None
    program = Program.of(process) if process is not None else Program("", (found.pane.program.name,))
    return [Event(0.0, program if draft.naming(program).processes else Program("", (found.pane.program.name,)))]


def _watched(found: Row, client: PaneClient, program: list[Event], seconds: float) -> tuple[Header, list[Event]]:
    """Return the screens of the pane in the next *seconds*, as a recording."""
    events = list(program)
    complain("agent", f"watching {found.name} for {seconds:.0f} s; Ctrl-C ends that sooner")
    start = time.monotonic()
    columns = height = 1
    before: list[str] = []
    with contextlib.suppress(KeyboardInterrupt):
        while (at := time.monotonic() - start) < seconds and len(events) < sightings.MAX_LOOKS:
            rows = _rows(client, found)
            columns, height = max(columns, *map(len, rows)) if rows else columns, max(height, len(rows))
            if rows != before:
                before = rows
                events.append(
                    Event(at, Written(("\x1b[?25l\x1b[H\x1b[2J" + "\r\n".join(rows)).encode("utf-8", "replace")))
                )
            time.sleep(max(0.0, start + at + sightings.SIGHTING_S - time.monotonic()))
    events.append(Event(time.monotonic() - start, Written(b"")))
    return Header(columns, height), events


def _rows(client: PaneClient, found: Row) -> list[str]:
    """Return the rows of the screen of *found*; raise `TallyError` if it cannot be read."""
    told = client.look(found, SCREEN)
    if isinstance(told, Rows):
        return list(told.rows)
    refusal = told if isinstance(told, Refusal) else SILENT
    text = clean(refusal.text)
    if refusal.rule == "process":
        text += "; for another program, pass a copy: kitten @ get-text | tally agent new NAME --idle -"
    raise TallyError(f"{clean(found.name)}: {text}")


def _screen(file: str) -> list[str]:
    """Return the rows of a copied screen in *file*, `-` for standard input."""
    if file == "-":
        return sys.stdin.read(_MAX_SCREEN_CHARS).splitlines()
    with explained(f"{clean(file)}: cannot be read"):
        return read_limited(Path(file), _MAX_SCREEN_CHARS).decode("utf-8", "replace").splitlines()


def _explain(found: draft.Draft, output: Output) -> None:
    """Print what was seen, and what no rule covers."""
    seconds = {label: found.counts[label] * sightings.SIGHTING_S for label in _LABELS}
    output.line("Seen: " + ", ".join(f"{label} for {seconds[label]:.0f} s" for label in _LABELS) + ".")
    told = {rule.label for rule in found.rules}
    if found.glyphs:
        told.add(sightings.BUSY)
    if found.plain:
        share = 100 * found.plain / (found.counts[sightings.ASKING] or 1)
        output.line(f"{share:.0f} % of its questions look like an ordinary dialog, and need no rule.")
    if not found.counts[sightings.ASKING]:
        output.line("It never asked: record a question too, or give its time with --asking.")
    elif sightings.ASKING not in told and found.plain < found.counts[sightings.ASKING]:
        output.line("No row appears only while it asks: give more recordings.")
    if sightings.IDLE not in told:
        output.line("No row marks its idle prompt: silence will count as quiet.")
    if sightings.BUSY not in told:
        output.line("No sign of work was found: output will count as work, and silence as quiet.")


# Check --------------------------------------------------------------------------------------------------------------


def _check(file: str, recordings: Sequence[str], output: Output) -> int:
    """Try the agent file on the recordings, and print the results; return the exit code."""
    try:
        text = read_text(Path(file))
        agent, errors = check_agent(text, file)
        agents, more = load_agents(packaged_agents(), [(file, text)])
    except FileNotFoundError:
        raise TallyError(f"{clean(file)}: there is no such file") from None
    complain("agent", *(errors or more))
    if errors or more:
        return 1
    rules = [rule.name for rule in agent.screen_rules]
    output.line(
        f"{clean(file)}: {agent.name}, {counted(len(rules), 'screen rule')}, "
        f"{counted(len(agent.title_rules), 'title rule')}"
    )
    agent = agents.get(agent.name) or agent  # with the rules that it adds to
    used: set[str] = set()
    total, scored = scoring.Score(), 0
    for recording in recordings:
        with opened("agent", recording) as (header, events, _):
            result = check.check(header, list(events), agent)
        used |= result.used
        _print_result(recording, result, output)
        if result.score is not None:
            total, scored = total.plus(result.score), scored + 1
    if unused := [rule for rule in dict.fromkeys(rules) if rule not in used]:
        output.line(f"Rules that decided nothing here: {', '.join(unused)}" if recordings else "")
    if scored > 1:
        output.line(f"All {scored}: {_score(total)}")
    return 0


def _print_result(recording: str, result: check.Result, output: Output) -> None:
    """Print the lights of one recording, their rules, and the score."""
    output.line()
    shown = ", ".join(f"{status.value} {seconds:.0f} s" for status, seconds in result.seconds.items() if seconds >= 0.5)
    output.line(f"{output.strong(clean(recording))}: {shown}")
    if result.strange:
        output.line(f"  {clean(result.strange)} was recorded, which the file does not name: add it to processes")
    if result.score is not None:
        output.line(f"  {_score(result.score)}")
        for line in result.partings[:_MOST_SCREEN_LINES]:
            output.line(f"  {clean(line, max(20, output.columns - 2))}")
    else:
        output.line("  no truth is marked; the lights would have been:")
        for change in result.changes[:_MOST_SCREEN_LINES]:
            output.decision(f"{change.time:10.2f} s", change.decision)
    more = len(result.changes if result.score is None else result.partings) - _MOST_SCREEN_LINES
    if more > 0:
        output.line(f"  and {more} more")


def _score(score: scoring.Score) -> str:
    return (
        f"missed waiting {100 * score.missed_waiting:.1f} %, false waiting {100 * score.false_waiting:.1f} %, "
        f"wrong working {100 * score.wrong_working:.1f} %"
    )
