"""
The parser of every verb: argparse, with examples and exit codes in the help, which is as wide as the terminal.

Each verb has `make_parser()`, which returns one of these. The help, the completions and the manual pages come from it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from tallylight.ui import colours

#: The exit codes of every verb without others.
CODES: dict[int | str, str] = {0: "done", 1: "failed; standard error says why", 2: "wrong usage"}
#: Cells of a line of help: longer ones are hard to read, and shorter ones leave no room for the second column.
WIDEST_CELLS, NARROWEST_CELLS = 100, 30
_INDENT = "  "
#: The beginning of argparse's message about unknown words.
_UNKNOWN = "unrecognized arguments: "
Number = TypeVar("Number", int, float)
_SPAN = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)(s|m|min|h|d)")
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


class Parser(argparse.ArgumentParser):
    """
    A parser with *examples* and exit *codes* at the end of its help.

    *examples*: command lines, each with its effect. *codes*: the meanings that differ from `CODES`, "" for a code that
    the verb never returns. A key may also be a word, for the codes of a program that the verb runs.
    """

    def __init__(
        self, *, examples: Mapping[str, str] | None = None, codes: Mapping[int | str, str] | None = None, **rest: Any
    ) -> None:
        super().__init__(formatter_class=lambda prog: argparse.HelpFormatter(prog, width=help_width()), **rest)
        self.examples = dict(examples or {})
        self.codes = {code: what for code, what in {**CODES, **(codes or {})}.items() if what}

    def add_broker(self, help_: str = "show every machine of the fleet, as its broker reports it") -> None:
        """Add the option for the whole fleet, instead of this machine alone."""
        self.add_argument("--broker", action="store_true", help=help_)

    def add_color(self) -> None:
        """Add the option for colours; `ui.colours.chosen` applies it."""
        self.add_argument(
            "--color",
            choices=colours.CHOICES,
            default=colours.CHOICES[0],
            metavar="WHEN",
            help="auto, always or never; auto colours on a terminal, unless NO_COLOR or FORCE_COLOR is set",
        )

    def error(self, message: str) -> NoReturn:
        """Leave with wrong usage; show the help if a verb of its own is missing."""
        verbs = next((action for action in self._actions if isinstance(action, argparse._SubParsersAction)), None)
        if verbs is not None and message.endswith(f": {verbs.metavar}"):
            self.print_help(sys.stderr)
            self.exit(2)
        unknown = message.partition(_UNKNOWN)[2].split()
        if unknown and unknown[0].startswith("--"):
            from tallylight.files.toml import did_you_mean  # few command lines need it

            known = (option for action in self._actions for option in action.option_strings)
            message += did_you_mean(unknown[0].partition("=")[0], known)
        elif unknown:
            message = f"{unknown[0]!r} is one word too many; `{self.prog} --help` shows what it takes"
        super().error(message)

    def format_help(self) -> str:
        """Return argparse's help, then the examples and the exit codes."""
        more = f"\nexit codes:\n{two_columns((str(code), what) for code, what in self.codes.items())}"
        if self.examples:
            more = f"\nexamples:\n{two_columns(self.examples.items())}{more}"
        return super().format_help() + more


def within(least: float, most: float, of: Callable[[str], Number]) -> Callable[[str], Number]:
    """Return the type of an argument that is a number from *least* to *most*, read by *of*."""

    def read(word: str) -> Number:
        try:
            found = of(word) if word.isascii() else None
        except ValueError:
            found = None
        if found is None or not least <= found <= most:
            raise argparse.ArgumentTypeError(f"must be {least} to {most}")
        return found

    return read


def span(word: str) -> float | None:
    """Return the seconds of `90s`, `20m`, `2h` or `1d`; None for another word."""
    found = _SPAN.fullmatch(word)
    return float(found[1]) * _UNITS[found[2]] if found is not None else None


def help_width() -> int:
    """Return the cells of a line of help, by COLUMNS or the terminal; without either 80 less the margin."""
    # As shutil does it, which takes long to load: argparse asks for each option.
    found = os.environ.get("COLUMNS", "")
    columns = int(found) if found.isdecimal() else 0
    with contextlib.suppress(OSError):
        columns = columns or os.get_terminal_size(1).columns
    return min(max((columns or 80) - 2, NARROWEST_CELLS), WIDEST_CELLS)


def paragraph(text: str) -> str:
    """Return *text* wrapped to the width of help."""
    import textwrap  # only for a help that is printed

    return textwrap.fill(text, help_width(), break_on_hyphens=False) + "\n"


def two_columns(rows: Iterable[tuple[str, str]], *, first: int = 0) -> str:
    """
    Return *rows* indented and wrapped to the width of help: side by side, or below each other where that is narrow.

    *first*: cells that the first column has at least, as elsewhere on the page.
    """
    import textwrap

    rows = list(rows)
    width = help_width()
    first = max([first, *(len(left) for left, _ in rows)])
    start = len(_INDENT) + first + 2
    if width - start < min(NARROWEST_CELLS, width // 2):
        start = 2 * len(_INDENT)
    lines = []
    for left, right in rows:
        wrapped = textwrap.wrap(right, width - start, break_on_hyphens=False) or [""]
        if start >= len(_INDENT) + len(left) + 2:
            lines.append(f"{_INDENT}{left:<{start - len(_INDENT)}}{wrapped.pop(0)}".rstrip())
        else:
            lines.append(_INDENT + left)
        lines += [f"{'':<{start}}{line}" for line in wrapped]
    return "".join(f"{line}\n" for line in lines)
