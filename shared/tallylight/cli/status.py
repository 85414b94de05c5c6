"""`tally status`: one line a pane, most urgent first; or one JSON object for programs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping

from tallylight.cli.exit_codes import WAITS
from tallylight.cli.output import GAP, LEAST_NAME_CELLS, Output, age, clean, complain, fit, status_words
from tallylight.cli.parser import Parser
from tallylight.model import lights
from tallylight.model.repository_status import NOTHING, RepositoryStatus
from tallylight.model.status import Status
from tallylight.snapshot import fields, labels_file
from tallylight.snapshot.addresses import Panes, Row, labelled, read_panes
from tallylight.snapshot.rows import listed
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.waiting_time_file import waited_today
from tallylight.snapshot.writer import StaleError
from tallylight.ui import details, repository_text
from tallylight.ui.layout import duration

#: The version of this JSON: since 2, `label` has no colour and no pin.
VERSION = 2
#: Columns below which the word `waiting` is left out, so that only the mark and the kind remain.
NARROW_CELLS = 72
#: Cells of a reply, at least, or it is left out.
_LEAST_REPLY_CELLS = 16
#: Seconds for `-o wide` to read the repositories of all panes.
BESIDE_S = 3.0


def make_parser() -> Parser:
    parser = Parser(
        prog="tally status",
        description="Print one line per pane, most urgent first.",
        examples={
            "tally status": "one line a pane",
            "tally status --waiting": "only panes that wait for you; exits 3 if there are any",
            "tally status -o wide": "also model, context, cost and reply",
            "tally status --json | jq '.panes[].status'": "for programs",
        },
        codes={
            0: "done; with --waiting: nothing waits for you",
            1: "failed, or the list may be out of date; with --waiting also: no terminal runs Tallylight",
            WAITS: "with --waiting: an agent waits for you",
        },
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, with every pane and every field")
    parser.add_argument("--waiting", action="store_true", help="only the panes that wait for you, oldest first")
    parser.add_argument(
        "-o",
        "--output",
        choices=("wide",),
        help="wide: a second line with branch, changes, model, context, cost, subagents and reply; "
        "in JSON the key `beside`",
    )
    parser.add_argument("--all", action="store_true", help="also shells and plain commands")
    parser.add_broker()
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    options = make_parser().parse_args(argv)
    if options.broker:
        from tallylight.parts import index

        panes: Panes = index.need("fleet", "other machines").read_fleet()
    else:
        panes = read_panes(os.environ)
    labels = labels_file.LabelsFile(labels_file.path(os.environ))
    labels.poll()
    shown = list(labelled(panes.panes, labels.labels))
    code = 0
    if options.waiting:
        shown = [found for found in shown if found.pane.status is Status.WAITING]
        code = WAITS if shown else 0 if panes.hosts or panes.machines else 1
    repositories = None
    if options.output == "wide":
        repositories = {} if options.broker else _repositories(shown)
    # The waiting time of agents is known only for this machine.
    waited = {} if options.broker else {"waited_s": round(waited_today(os.environ, time.time()), 1)}
    if any(isinstance(problem, StaleError) for problem in panes.problems):
        code = code or 1
    if options.json:
        sys.stdout.write(json.dumps(to_json(panes, shown, repositories) | waited, indent=2) + "\n")
        return code
    complain("status", *panes.problems, *filter(None, [labels.problem]), *panes.troubles)
    _print(options, panes, shown, repositories, waited.get("waited_s", 0.0))
    return code


def _repositories(shown: Iterable[Row]) -> dict[int, RepositoryStatus]:
    """Return the repositories of the agents of *shown*, unless a setting forbids it."""
    from tallylight.config import config_file
    from tallylight.parts import index

    repositories = index.ask("repositories") if config_file.load_config(os.environ)[0].listed.branches else None
    if repositories is None:
        return {}
    found: dict[int, RepositoryStatus] = repositories.read_all(
        (one.pane for one in shown), os.environ.get("HOME", ""), BESIDE_S
    )
    return found


def _print(
    options: argparse.Namespace,
    panes: Panes,
    shown: list[Row],
    repositories: Mapping[int, RepositoryStatus] | None,
    waited_s: float,
) -> None:
    """Print the rows of *shown*, and how long agents waited for the person today."""
    output = Output.chosen(options.color)
    if not options.all:
        kept = {found.address for found in listed(panes.panes)}
        shown = [found for found in shown if found.address in kept]
    if shown:
        draw(output, shown, time.time(), repositories)
    else:
        output.line("nothing waits for you" if options.waiting and panes.hosts else panes.why_none)
    if not options.waiting and waited_s >= 1:
        output.line(f"agents waited {duration(waited_s)} for you today")


def draw(
    output: Output, panes: list[Row], now: float, repositories: Mapping[int, RepositoryStatus] | None = None
) -> None:
    """
    Print a line for each of *panes*.

    With *repositories*, by `Pane.agent_pid`, also a line with its repository and the details of its own record.
    """
    narrow = output.columns < NARROW_CELLS
    rows = [_row(found, now, narrow=narrow) for found in panes]
    if any(row[6] for row in rows):
        # A title may be as long as a line, and a question is worth more.
        for row in rows:
            row[4] = clean(row[4], max(LEAST_NAME_CELLS, output.columns // 5))
    # Where it is narrow the message is cut first, then the name, then the agent. Mark, status and age always fit.
    for found, cells in zip(panes, fit(rows, output.columns, {6: 8, 4: 4, 3: 4, 1: 1}), strict=True):
        status = found.pane.status
        painted = [output.lit(status, cell) if index in (0, 2) else cell for index, cell in enumerate(cells) if cell]
        output.line(GAP.join(painted).rstrip())
        if repositories is not None:
            _draw_details(output, found.pane, repositories.get(found.pane.agent_pid or 0, NOTHING))


def _draw_details(output: Output, pane: Pane, found: RepositoryStatus) -> None:
    """Print the repository of a pane, and the details of the agent's own record, where any are known."""
    full = details.context(pane)
    facts = [
        repository_text.text(found, min(60, output.columns - len(GAP))),
        pane.about.model,
        full,
        details.cost(pane),
        details.children(pane),
    ]
    cells = [clean(fact, 60) for fact in facts]
    room = output.columns - len(GAP) - sum(len(cell) + len(GAP) for cell in cells if cell)
    if pane.reply and room >= _LEAST_REPLY_CELLS:
        cells.append(clean(pane.reply, room))
    if any(cells):
        is_full = details.is_nearly_full(pane)
        painted = [output.lit(Status.WAITING, cell) if is_full and cell == full else cell for cell in cells if cell]
        output.line((GAP + GAP.join(painted)).rstrip())


def _row(found: Row, now: float, *, narrow: bool) -> list[str]:
    """Return the cells of one line."""
    pane = found.pane
    name = clean(found.label.name) or clean(pane.project) or clean(pane.title)
    words = pane.kind.value if narrow and pane.kind else status_words(pane.status, pane.kind)
    marks = ("snoozed", pane.attention.snoozed_until), ("quiet", pane.attention.muted_until)
    return [
        lights.mark(pane.status, pane.kind),
        clean(found.name, 40),
        words + "".join(f", {mark}" for mark, end in marks if end > now),
        clean(pane.agent, 20),
        name,
        age(now - pane.since) if pane.since else "",
        clean(GAP.join(filter(None, (details.limit(pane, now), details.unanswered(pane, now), _summary(pane, name))))),
    ]


def _summary(pane: Pane, name: str) -> str:
    """Return the most useful words about a pane with this *name*: its question or outcome, else its progress."""
    text = details.best_text(pane, name)
    if pane.status is Status.WAITING:
        return GAP.join(dict.fromkeys(filter(None, (text, pane.detail))))
    doing = details.doing(pane, cells=0)
    return GAP.join(part for part in (doing, pane.outcome or text, fields.words(pane.more)) if part)


def to_json(
    panes: Panes, shown: list[Row], repositories: Mapping[int, RepositoryStatus] | None = None
) -> dict[str, object]:
    """
    Return the JSON object. Every text is as the program in the tab wrote it, so the reader must sanitise it.

    *repositories*, by `Pane.agent_pid`, is added to each pane, if it is given.
    """
    panes_json = []
    for found in shown:
        own = {"address": found.address, "host": found.host, "label": found.label.to_json(), **found.pane.to_json()}
        if repositories is not None:
            own["beside"] = repositories.get(found.pane.agent_pid or 0, NOTHING).to_json()
        panes_json.append(own)
    return {
        "version": VERSION,
        "hosts": list(panes.hosts),
        **({"machines": dict(panes.machines)} if panes.machines else {}),
        "panes": panes_json,
        "problems": [str(problem) for problem in panes.problems],
    }
