"""
`tally wrong`: corrects a wrong light. It shows the light's reasons, asks the person what was right, and makes a rule.

The last two minutes are in the memory of the terminal that shows the pane (`pane.tape`). Nothing of them is on disk
unless a person saves a recording, with the words crossed out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import SILENT, STRETCH
from tallylight.actions.request import Stretch as TapeReply
from tallylight.agents import agent_files
from tallylight.agents.agent import Agent, Agents
from tallylight.cli.output import Output, clean, complain, refused, status_words
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import client_of
from tallylight.files.directories import config_dir
from tallylight.files.read_write import atomic_write, explained, text_or_nothing
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.parts.lab import frames, lesson, sightings, stretch
from tallylight.parts.lab.asciicast import Encoder
from tallylight.parts.lab.check import Change, at
from tallylight.parts.lab.stretch import Stretch
from tallylight.snapshot.addresses import Row, add_pane, pick, read_panes

#: The last lights of a stretch that are listed.
_MAX_LIGHTS = 16


def make_parser() -> Parser:
    parser = Parser(
        prog="tally wrong",
        description="Say what was right where a light was wrong in the last two minutes, and have a rule made of it.",
        examples={
            "tally wrong": "of this pane, else of the most urgent",
            "tally wrong 3": "of pane 3",
            "tally wrong 3 --save wrong.cast": "only write a recording, with all words crossed out but those of rules",
        },
        codes={1: "nothing was changed"},
    )
    add_pane(parser, nargs="?")
    parser.add_argument("--save", metavar="FILE", help="only write a recording for a report, its words crossed out")
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Show the last two minutes of a pane, ask what was right, and add a rule."""
    options = make_parser().parse_args(argv)
    panes = read_panes(os.environ)
    complain("wrong", *panes.problems)
    found = pick(panes, options.pane, os.environ)
    client = client_of(panes)
    told = _stretch(client, found)
    if isinstance(told, Refusal):
        return refused("wrong", told)
    agents, errors = agent_files.load_agents(os.environ)
    complain("wrong", *errors)
    name = found.pane.agent or found.pane.program.name
    agent = agents.get(name)
    output = Output.chosen(options.color)
    shown = stretch.lights(told, agents)
    _strip(output, shown, told.end)
    if options.save:
        return _save(output, told, agents, agent, options.save)
    if agent is None:
        raise TallyError(f"no file describes {clean(name)}: `tally agent new {clean(name)} --pane {found.pane.id}`")
    others = [one for one in panes.panes if one.pane.agent == name and one.address != found.address]
    return _teach(output, told, agent, shown, [_stretch(client, one) for one in others])


def over(row: Row) -> str:
    """Do it in the terminal of the list."""
    main([row.address])
    input("\n  Enter: back ")
    return ""


def _stretch(client: PaneClient, found: Row) -> Stretch | Refusal:
    """Return the last two minutes of a pane."""
    told = client.look(found, STRETCH)
    if not isinstance(told, TapeReply):
        return told if isinstance(told, Refusal) else SILENT
    try:
        return stretch.of_tape(told.tape)
    except ValueError:
        return SILENT


def _strip(output: Output, shown: Sequence[Change], end: float) -> None:
    """List the lights, each with its age and its reason."""
    for change in shown[-_MAX_LIGHTS:]:
        output.decision(f"{end - change.time:6.1f} s ago", change.decision)


def _teach(
    output: Output, told: Stretch, agent: Agent, shown: Sequence[Change], others: Sequence[Stretch | Refusal]
) -> int:
    """Ask what was right, and add rules for that."""
    seen = sightings.lit(sightings.of_recording(told.header, told.events), lambda time: at(shown, time))
    if not frames.is_anybody():
        raise TallyError("nobody can be asked here what was right: run this at a terminal")
    to_ask = [(_heading(shown, look.time, told.end), look) for _, look in sightings.frames([seen])]
    if not to_ask:
        raise TallyError(
            "that pane showed nothing long enough in the last two minutes, so there is nothing to ask about"
        )
    path = config_dir(os.environ) / "agents" / f"{agent.name}.taught.toml"
    before = text_or_nothing(path)
    found = lesson.learnt(agent, told, sightings.answered(seen, frames.ask(to_ask)), before)
    if not found.wrong:
        output.line("The light was right on all that you named; nothing was changed.")
        return 1
    for look in {look.label: look for look in found.left}.values():
        output.line(f"No rule tells that it was {frames.WORDS[look.label]} {told.end - look.time:.1f} s ago.")
    if not found.text:
        output.line("Write a recording for a report: tally wrong --save FILE. Nothing was changed.")
        return 1
    output.line()
    output.line(found.text.removeprefix(before))
    for number, other in enumerate((one for one in others if isinstance(one, Stretch)), 1):
        seconds = lesson.changed(other, agent, found.agent)
        output.line(f"In another pane of {agent.name} ({number}), {seconds:.1f} s would have had another light.")
    if not System().ask(f"Add this to {clean(str(path))}, and go by it from now on?"):
        output.line("Nothing was changed.")
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, found.text.encode())
    output.line(f"{clean(str(path))} is written, and in force. To take it back, delete it.")
    return 0


def _heading(shown: Sequence[Change], time: float, end: float) -> str:
    """Return the heading of the screen at *time*: its age, and the light at that time."""
    decision = at(shown, time)
    said = f", the light was {status_words(decision.status, decision.kind)}" if decision is not None else ""
    return f"{end - time:.1f} s ago{said}"


def _save(output: Output, told: Stretch, agents: Agents, agent: Agent | None, file: str) -> int:
    """Write a recording with all words crossed out except those in rules."""
    bare = stretch.redacted(told, stretch.words_of(lesson.patterns(agent)))
    encoder = Encoder()
    data = encoder.header(bare.header) + b"".join(map(encoder.event, bare.events)) + encoder.finish()
    with explained(f"{clean(file)}: cannot be written"), Path(file).open("xb") as opened:
        opened.write(data)
    is_same = [one.words for one in stretch.lights(bare, agents)] == [one.words for one in stretch.lights(told, agents)]
    same = "It gives the same lights" if is_same else "Its lights are not all the same, for the words that are missing"
    output.line(f"{clean(file)} is written. {same}. Look it through before you send it: tally replay {clean(file)}")
    return 0
