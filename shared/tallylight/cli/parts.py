"""`tally parts`: list the parts beyond the core, with their additions and faults; turn one off and on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from tallylight.cli.output import Output, clean, fitted
from tallylight.cli.parser import Parser
from tallylight.files import extras
from tallylight.parts import index
from tallylight.parts.index import InstalledPart

#: The version of `--json`.
VERSION = 1
#: The columns that may be narrowed, with the least cells of each.
_SHRINK = {3: 12, 2: 12}


def make_parser() -> Parser:
    parser = Parser(
        prog="tally parts",
        description="List the parts of this installation, and find those that were added or removed. A host that runs "
        "goes on with those that it has: restart it.",
        examples={
            "tally parts": "what there is",
            "tally parts --off web": "turn one off",
            'pip install --target "$(tally parts --folder)" tallylight-ntfy && tally parts': "add one of somebody else",
        },
        codes={0: "listed", 1: "there is no such part"},
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--on", metavar="PART", help="turn a part on")
    change.add_argument("--off", metavar="PART", help="turn a part off")
    change.add_argument("--folder", action="store_true", help="print the directory for parts of others")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(argv: list[str]) -> int:
    """Find the parts again, and list them."""
    options = make_parser().parse_args(argv)
    if options.folder:
        sys.stdout.write(f"{extras.folder(index.EXTRA)}\n")
        return 0
    wanted = options.on or options.off
    known = {found.part.name for found in index.all_parts()}
    if wanted and wanted not in known:
        sys.stderr.write(f"tally parts: there is no part {clean(wanted, 40)}; there are {', '.join(sorted(known))}\n")
        return 1
    found = index.refresh(on={options.on} - {None}, off={options.off} - {None})
    if options.json:
        rows = [_to_json(one) for one in found]
        sys.stdout.write(json.dumps({"version": VERSION, "parts": rows}, indent=2) + "\n")
    else:
        _draw(found, Output.to(sys.stdout, os.environ))
    return 0


def _draw(found: Sequence[InstalledPart], output: Output) -> None:
    """Print one line a part, and its faults below the table."""
    table = [(clean(one.part.name, 20), _state(one), _adds(one), clean(one.part.about, 120)) for one in found]
    for line in fitted(output, table, (_SHRINK,), range(0)):
        output.line(line)
    for one in found:
        if one.fault:
            output.line(f"{clean(one.part.name, 20)}: {clean(one.fault, 300)}")


def _state(found: InstalledPart) -> str:
    return "off" if not found.is_on else "faulty" if found.fault else clean(found.version, 20) or "on"


def _adds(found: InstalledPart) -> str:
    """Return the additions of a part in words: its verbs, and where else it appears."""
    part = found.part
    more = [word for word, what in (("in hosts", part.host), ("checks", part.checks)) if what]
    return clean(", ".join([*(f"tally {verb}" for verb in part.verbs), *more]), 60)


def _to_json(found: InstalledPart) -> dict[str, object]:
    """Return a part for `--json`."""
    part = found.part
    return {
        "name": part.name, "about": part.about, "version": found.version, "on": found.is_on, "fault": found.fault,
        "verbs": sorted(part.verbs), "in_hosts": bool(part.host), "checks": bool(part.checks),
    }  # fmt: skip
