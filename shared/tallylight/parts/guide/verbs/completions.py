"""
`tally completions`: scripts that complete `tally` in a shell, and its manual pages, both from the package.

The script has verbs and options; for panes and agents it runs `tally completions panes` at each press of TAB.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tallylight.agents import agent_files
from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.files.read_write import explained
from tallylight.setup.completions import SCRIPTS, made
from tallylight.snapshot.addresses import read_panes


def make_parser() -> Parser:
    parser = Parser(
        prog="tally completions",
        description="Print a script that completes verbs, options, panes and agents in your shell, or write the manual "
        "pages. `tally setup --with completions` puts all of them where your shell and man look for them.",
        examples={
            "tally completions bash > ~/.local/share/bash-completion/completions/tally": "for bash",
            "tally completions fish > ~/.config/fish/completions/tally.fish": "for fish",
            "tally completions man ~/.local/share/man/man1": "then: man tally-status",
        },
    )
    parser.add_argument(
        "what",
        metavar="WHAT",
        choices=(*SCRIPTS, "man", "panes", "agents"),
        help=f"{', '.join(SCRIPTS)}: the script; man: the manual pages; panes, agents: the names that scripts ask for",
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="for man: the folder for the pages")
    return parser


def main(argv: list[str]) -> int:
    """Print a script or a list, or write the pages."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if (options.what == "man") != bool(options.folder):
        parser.error("give a FOLDER with man, and only with man")
    if options.what in SCRIPTS:
        sys.stdout.write((made() / SCRIPTS[options.what]).read_text("utf-8"))
    elif options.what == "man":
        folder, pages = Path(options.folder), list((made() / "man1").iterdir())
        with explained(f"{clean(str(folder))}: cannot be written"):
            folder.mkdir(parents=True, exist_ok=True)
            for page in pages:
                shutil.copyfile(page, folder / page.name)
        sys.stdout.write(f"{len(pages)} pages written into {clean(str(folder))}\n")
    else:
        if options.what == "panes":
            names = [found.name for found in read_panes(os.environ).panes if found.is_lit]
        else:
            names = sorted(agent.name for agent in agent_files.load_agents(os.environ)[0])
        sys.stdout.writelines(f"{clean(name)}\n" for name in names)
    return 0
