"""`tally config`: shows, edits and checks the settings in force, with the line of the file that sets each."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tallylight.cli.output import Output, clean, complain, pad
from tallylight.cli.parser import Parser
from tallylight.config import settings
from tallylight.files.directories import config_file
from tallylight.files.read_write import atomic_write, read_text
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.parts.settings import reference

JSON_VERSION = 1
#: Cells before the source of a value.
_ASIDE_CELLS = 36
#: Every Unix has it; used if a person has not set an editor.
_EDITOR = "vi"


def make_parser() -> Parser:
    parser = Parser(
        prog="tally config",
        description="Show, edit and check the settings. `tally config default` explains each of them.",
        examples={"tally config show": "every setting, and where it is from", "tally config edit": "in your editor"},
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    show = verbs.add_parser(
        "show",
        help="print every setting in force, and its line",
        description="Print every setting in force, as TOML, with the line of the file that sets it.",
        examples={
            "tally config show": "all of them",
            "tally config show notify kitty.style": "one table and one key",
            "tally config show --json": "for programs",
        },
        codes={1: "something in the file is wrong; the rest is shown"},
    )
    show.add_argument(
        "keys", nargs="*", metavar="KEY", help="only these keys and tables, such as notify or kitty.style"
    )
    show.add_argument("--json", action="store_true", help="print one JSON object")
    show.add_color()
    verbs.add_parser(
        "edit",
        help="open the file in $VISUAL or $EDITOR, then check it",
        description="Open the file in $VISUAL, else $EDITOR, else vi, and check it when that ends. Where there is no "
        "file yet, it begins as one with every key commented out.",
        examples={"tally config edit": "in your editor", "EDITOR='code --wait' tally config edit": "in that one"},
        codes={1: "failed, or something in the file is wrong"},
    )
    check = verbs.add_parser(
        "check",
        help="say what is wrong with the file",
        description="Print every mistake in the file with its line.",
        examples={"tally config check": "your own", "tally config check dotfiles/config.toml": "another one"},
        codes={0: "nothing is wrong", 1: "something is"},
    )
    check.add_argument("file", nargs="?", metavar="FILE", help="the file; by default your own")
    verbs.add_parser(
        "default",
        help="print the file with every key at its default",
        description="Print a file with every key at its default, and what each means.",
        examples={"tally config default | less": "to read"},
        codes={1: ""},
    )
    verbs.add_parser(
        "schema",
        help="print the JSON Schema of the file, for editors",
        description="Print the JSON Schema of the file. With it, editors complete keys, explain them and mark "
        "mistakes. Name it in the first line of config.toml: #:schema ./schema.json",
        examples={"tally config schema > ~/.config/tallylight/schema.json": "for taplo and VS Code"},
        codes={1: ""},
    )
    return parser


def main(argv: list[str], system: System | None = None) -> int:
    """Carry out the subcommand."""
    options = make_parser().parse_args(argv)
    system = system or System()
    path = config_file(system.env)
    if options.verb == "show":
        return _show(path, options, system.env)
    if options.verb == "edit":
        return _edit(path, system)
    if options.verb == "check":
        code = _check(Path(options.file or path), must_exist=bool(options.file))
        if not options.file:
            from tallylight.setup import checks
            from tallylight.snapshot import writer

            # Settings of the file that wait in running hosts.
            for finding in checks.in_force(system, writer.read_snapshots(writer.directory(system.env))[0]):
                sys.stdout.write(f"{clean(finding.text, 500)}\n")
        return code
    sys.stdout.write(
        reference.defaults() if options.verb == "default" else json.dumps(reference.schema(), indent=2) + "\n"
    )
    return 0


def _show(path: Path, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the settings in force, each with the line that sets it; return the exit code."""
    about = str(path)
    try:
        text = read_text(path)
    except FileNotFoundError:
        text, about = "", f"{path} is not there: these are the defaults"
    config, mistakes = settings.load(text, str(path))
    every = reference.in_force(config, text, mistakes)
    known = [f"{key}." for key in (*(one.key for one in every), *reference.OWN_NAMES)]
    for key in options.keys:
        if not any(one.startswith(f"{key}.") for one in known):
            raise TallyError(f"there is no setting {clean(key, 60)!r}; `tally config default` lists them all")
    wanted = tuple(f"{key}." for key in options.keys) or ("",)
    shown = [one for one in every if f"{one.key}.".startswith(wanted)]
    if options.json:
        document = {
            "version": JSON_VERSION,
            "file": str(path),
            "settings": [{"key": one.key, "value": one.value, "line": one.line} for one in shown],
            "mistakes": [str(mistake) for mistake in mistakes],
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return 1 if mistakes else 0
    output = Output.chosen(options.color, environ)
    output.line(f"# {clean(about)}")
    _print(output, shown)
    complain("config", *mistakes, cells=500)
    return 1 if mistakes else 0


def _print(output: Output, shown: list[reference.InForce]) -> None:
    """Write settings as TOML, each with its source."""
    table = ""
    for one in shown:
        above, name = one.place
        if above != table:
            table = above
            output.line(f"\n[{table}]")
        if not one.value:
            chooser = "the theme" if above == "colours" else "`tally setup`"
            output.line(pad(f"# {name}", _ASIDE_CELLS) + f"# {chooser} chooses")
            continue
        said = pad(f"{name} = {clean(one.value)} ", _ASIDE_CELLS)
        output.line(f"{said}# default" if one.line is None else f"{output.strong(said)}# line {one.line}")


def _check(path: Path, *, must_exist: bool = False) -> int:
    """Print the mistakes in the file; return the exit code."""
    try:
        _, mistakes = settings.load(read_text(path), str(path))
    except FileNotFoundError:
        if must_exist:
            raise TallyError(f"{clean(str(path))}: there is no such file") from None
        sys.stdout.write(f"{clean(str(path))} is not there: every setting has its default\n")
        return 0
    complain("config", *mistakes, cells=500)
    if not mistakes:
        sys.stdout.write(f"{clean(str(path))}: no mistakes\n")
    return 1 if mistakes else 0


def _edit(path: Path, system: System) -> int:
    """Open the file in the person's editor, and check it after that; return the exit code."""
    command = _editor(system.env)
    is_new = not path.exists()
    begun = reference.defaults(is_template=True)
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, begun.encode())
    try:
        while True:
            sys.stdout.flush()
            ended = subprocess.run([*command, str(path)], env=dict(system.env), check=False).returncode
            if ended:
                raise TallyError(f"{clean(command[0])} ended with exit code {ended}")
            code = _check(path)
            if not code or not system.ask("Edit it again?"):
                return code
    except OSError as error:
        raise TallyError(f"{clean(command[0])}: cannot be run: {error.strerror}") from None
    finally:
        # An unchanged file would only be in the way.
        if is_new and path.is_file() and read_text(path) == begun:
            path.unlink()


def _editor(environ: Mapping[str, str]) -> list[str]:
    """Return the person's editor and its options, from the same two variables as git and crontab."""
    for name in ("VISUAL", "EDITOR"):
        if said := environ.get(name, "").strip():
            try:
                return shlex.split(said)
            except ValueError as error:
                raise TallyError(f"{name} is {clean(said, 60)!r}, which is not a command: {error}") from None
    if shutil.which(_EDITOR, path=environ.get("PATH", os.defpath)) is None:
        raise TallyError(f"set VISUAL or EDITOR to your editor: there is no `{_EDITOR}`")
    return [_EDITOR]
