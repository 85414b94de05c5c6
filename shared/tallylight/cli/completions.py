"""
`tally completions`: scripts that complete `tally` in a shell, and its manual pages, made from the parsers of all verbs.

Two libraries make them: shtab knows how bash, zsh and fish want it, argparse-manpage what roff wants. Both read what
`make_parser` of each verb says, so that nothing is written twice; they are an extra, loaded by this verb alone. Verbs
and options are in the script; for panes and agents it asks `tally completions panes` at each press of TAB.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tallylight import __version__
from tallylight.agents import agent_files
from tallylight.cli.main import ALIASES, VERBS, is_there
from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.files import extras
from tallylight.files.read_write import atomic_write
from tallylight.snapshot.addresses import read_panes

SHELLS = ("bash", "zsh", "fish")
#: What arguments are completed by, from their names in the help: a function of the script, which asks for the list.
_LIVE = {"PANE": "_tally_panes", "AGENT": "_tally_agents"}
_FILES = {"FILE", "RECORDING"}
#: Names of panes and agents may be anything: no shell evaluates them, and each is quoted before it is typed.
_PREAMBLE = {
    "bash": """\
_tally_list() {
  local name quoted
  while IFS= read -r name; do
    printf -v quoted %q "$name"
    [[ $quoted == "$2"* ]] && printf '%s\\n' "$quoted"
  done < <(command tally completions "$1" 2>/dev/null)
}
_tally_panes() { _tally_list panes "$1"; }
_tally_agents() { _tally_list agents "$1"; }
""",
    "zsh": """\
_tally_list() {
  local -a names
  names=("${(@f)$(command tally completions $1 2>/dev/null)}")
  [[ -n $names[1] ]] && compadd -a names
}
_tally_panes() { _tally_list panes }
_tally_agents() { _tally_list agents }
""",
    "fish": """\
function _tally_panes
    command tally completions panes 2>/dev/null
end
function _tally_agents
    command tally completions agents 2>/dev/null
end
""",
}


def make_parser() -> Parser:
    """What `tally completions` takes."""
    parser = Parser(
        prog="tally completions",
        description="Print a script that completes verbs, options, panes and agents in your shell, or write the manual "
        "pages. docs/scripting.md says where your shell looks for the script. Needs `tally setup --with completions`.",
        examples={
            "tally completions bash > ~/.local/share/bash-completion/completions/tally": "for bash",
            "tally completions fish > ~/.config/fish/completions/tally.fish": "for fish",
            "tally completions man ~/.local/share/man/man1": "then: man tally-status",
        },
    )
    parser.add_argument(
        "what",
        metavar="WHAT",
        choices=(*SHELLS, "man", "panes", "agents"),
        help=f"{', '.join(SHELLS)}: the script; man: the manual pages; panes, agents: the names that scripts ask for",
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="of man: where to write the pages")
    return parser


def main(argv: list[str]) -> int:
    """Print a script or a list, or write the pages."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if (options.what == "man") != bool(options.folder):
        parser.error("man takes the folder to write into, and nothing else does")
    if options.what in SHELLS:
        sys.stdout.write(script(options.what))
    elif options.what == "man":
        _write(Path(options.folder))
    else:
        for name in panes(os.environ) if options.what == "panes" else agents(os.environ):
            sys.stdout.write(f"{clean(name)}\n")
    return 0


def panes(environ: Mapping[str, str]) -> Iterator[str]:
    """The names of all panes with something to say, neediest first."""
    return (found.name for found in read_panes(environ).panes if found.is_lit)


def agents(environ: Mapping[str, str]) -> Iterator[str]:
    """The names of all agents that are known."""
    return iter(sorted(agent.name for agent in agent_files.load_agents(environ)[0]))


def _there() -> dict[str, str]:
    """The verbs of this installation, and what they do."""
    return {verb: what for verb, what in VERBS.items() if is_there(verb)}


def whole() -> Parser:
    """One parser for all of `tally`, with that of each verb in it, which knows what completes its arguments."""
    top = Parser(prog="tally", description="A truthful light on every terminal tab that runs a coding agent.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", parser_class=cast("type[Parser]", _verb))
    for verb, what in {**_there(), **{alias: f"another name of {verb}" for alias, verb in ALIASES.items()}}.items():
        verbs.add_parser(verb, help=what)
    return top


def _verb(*, prog: str, **_: Any) -> Parser:
    verb = prog.rpartition(" ")[2]
    name = ALIASES.get(verb, verb).replace("-", "_")
    parser: Parser = __import__(f"tallylight.cli.{name}", fromlist=["make_parser"]).make_parser()
    _complete(parser)
    return parser


def _complete(parser: argparse.ArgumentParser) -> None:
    """Say of each argument of *parser* and its own verbs what completes it, as shtab wants it said."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete(inner)
        elif isinstance(action.metavar, str) and (function := _LIVE.get(action.metavar)):
            action.complete = {"bash": function, "zsh": function, "fish": f"({function})"}  # type: ignore[attr-defined]
        elif action.metavar in _FILES:
            import shtab

            action.complete = shtab.FILE  # type: ignore[attr-defined]


def script(shell: str) -> str:
    """The script for *shell*; `TallyError` says what is missing to make it."""
    extras.enable("completions")
    try:
        import shtab
    except ImportError:
        raise extras.missing("completions") from None
    made: str = shtab.complete(whole(), shell=shell, preamble=_PREAMBLE)
    return made


def pages() -> dict[str, str]:
    """Every manual page by the name of its file; `TallyError` says what is missing to make them."""
    extras.enable("completions")
    try:
        from argparse_manpage.manpage import Manpage
    except ImportError:
        raise extras.missing("completions") from None
    found = {}
    for verb, what in {"": "lights on tabs that run coding agents", **_there()}.items():
        parser = _verb(prog=f"tally {verb}") if verb else whole()
        name = f"tally-{verb}" if verb else "tally"
        page = Manpage(parser)
        page.prog, page.description = name, what
        page.source, page.manual = f"Tallylight {__version__}", "Tallylight"
        page.add_section("examples", "=", _roff(parser.examples))
        page.add_section("exit status", "=", _roff({str(code): what for code, what in parser.codes.items()}))
        found[f"{name}.1"] = str(page)
    return found


def _roff(rows: Mapping[str, str]) -> str:
    """A list of terms and what they mean."""
    return "\n".join(f".TP\n\\fB{_escaped(term)}\\fR\n{_escaped(what)}" for term, what in rows.items())


def _escaped(text: str) -> str:
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", plain, flags=re.MULTILINE)


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for name, page in made.items():
        atomic_write(folder / name, page.encode())
    sys.stdout.write(f"{len(made)} pages written into {clean(str(folder))}\n")
