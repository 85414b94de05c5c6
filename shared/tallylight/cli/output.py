"""Output of the commands: the width of a line and its colours. `layout` fits text into it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from tallylight.cli.exit_codes import REFUSED
from tallylight.model import attributes, lights
from tallylight.model.status import Status
from tallylight.ui import colours
from tallylight.ui.colours import Depth
from tallylight.ui.layout import GAP, UNBOUNDED_CELLS, age, ago, clean, fit, pad, rule_words, status_words, wrap

__all__ = [
    "GAP",
    "UNBOUNDED_CELLS",
    "Output",
    "age",
    "ago",
    "clean",
    "complain",
    "fit",
    "hanging",
    "pad",
    "refused",
    "status_words",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.actions.gate import Refusal
    from tallylight.model.decision import Decision


def refused(verb: str, refusal: Refusal) -> int:
    """Print the rule that refused the action of `tally` *verb*, and return the exit code."""
    complain(verb, f"{refusal.rule}: {clean(refusal.text)}", cells=UNBOUNDED_CELLS)
    return REFUSED


def complain(verb: str, *problems: object, cells: int = 256) -> None:
    """Print problems to standard error, as `tally` *verb*, each in at most *cells*."""
    for problem in problems:
        sys.stderr.write(f"tally {verb}: {clean(str(problem), cells)}\n")


def complain_once(verb: str, problems: Iterable[object], reported: set[str]) -> None:
    """Print those of *problems* that are not among *reported*, and add them."""
    for text in map(str, problems):
        if text not in reported:
            reported.add(text)
            complain(verb, text)


def hanging(head: str, text: str, remedy: str, indent: int, columns: int) -> str:
    """Return *head* with *text* beside it from the column *indent* on, in *columns* cells, and the *remedy* below."""
    # Messages name files and quote their contents: anything could be in there.
    first, *more = wrap(clean(text, 500), max(columns - indent, 20))
    lines = [f"{head}{first}", *(f"{'':<{indent}}{line}" for line in more)]
    if remedy:  # in one line: it may be a command to copy
        lines.append(f"{'':<{indent}}→ {clean(remedy, 500)}")
    return "\n".join(lines)


#: The version of commands' JSON. A key that goes or changes its meaning makes it 2; a new key does not.
JSON_VERSION = 1
#: Cells of a name, at least, where a line also has a message.
LEAST_NAME_CELLS = 8
#: Cells of a line that goes into a pipe or a file.
PIPED_CELLS = 120
#: Cells of a line, at least, for a decision and its reason.
WIDE_CELLS = 72


@attributes.frozen
class Output:
    """A stream, the *columns* of its lines, and its colours: none, 256, or the full range."""

    stream: TextIO
    columns: int = UNBOUNDED_CELLS
    colour: bool = False
    full_colour: bool = False

    @classmethod
    def to(cls, stream: TextIO, environ: Mapping[str, str]) -> Output:
        """Return the output for *stream*, by the variables of `ui.colours` and by COLUMNS."""
        if hasattr(stream, "reconfigure") and stream.errors == "strict":
            # A text that cannot be encoded shows `?`, rather than a traceback.
            stream.reconfigure(errors="replace")
        is_terminal = stream.isatty()
        depth = colours.depth(environ, is_terminal=is_terminal)
        return cls(
            stream,
            columns=_columns(stream, environ) if is_terminal else PIPED_CELLS,
            colour=depth is not Depth.NONE,
            full_colour=depth is Depth.FULL,
        )

    @classmethod
    def chosen(cls, color: str, environ: Mapping[str, str] = os.environ) -> Output:
        """Return standard output, with the choice of `--color`."""
        return cls.to(sys.stdout, colours.chosen(environ, color))

    def line(self, text: str = "") -> None:
        self.stream.write(f"{text}\n")

    def decision(self, head: str, decision: Decision, words: str = "", room: int = 22) -> None:
        """
        Write a line with *head*, a decision, and its reason; on two lines where the output is narrow.

        Its status has *room* cells, and may be written in other *words*.
        """
        mark = lights.mark(decision.status, decision.kind) if decision.is_lit else " "
        what = f"{head}  {mark} {pad(words or status_words(decision.status, decision.kind), room)}"
        source = f"{decision.reason.source.word}: " if decision.reason.source else ""
        why = f"{source}{rule_words(decision.reason.rule)}"
        for text in [f"{what}  {why}"] if self.columns >= WIDE_CELLS else [what.rstrip(), f"{'':10}{why}"]:
            line = clean(text, self.columns)
            self.line(self.lit(decision.status, line) if decision.is_lit else line)

    def lit(self, status: Status, text: str) -> str:
        """Return *text* in the colour of *status*."""
        rgb = lights.COLOURS.get(status)
        return text if rgb is None else self.coloured(rgb, text)

    def coloured(self, rgb: lights.RGB, text: str, layer: int = 3) -> str:
        """Return *text* in a colour, where there are colours; with *layer* 4 on it."""
        if not self.colour:
            return text
        # Semicolons: more terminals know them than the standard's colons, and this may be any terminal.
        code = f"2;{rgb[0]};{rgb[1]};{rgb[2]}" if self.full_colour else f"5;{lights.nearest(rgb)}"
        return f"\x1b[{layer}8;{code}m{text}\x1b[{layer}9m"

    def filled(self, rgb: lights.RGB, text: str) -> str:
        """Return *text* on a colour, as in a tab that needs a person."""
        if not self.colour:
            return text
        from tallylight.model import contrast  # a pipe needs none

        return self.coloured(rgb, self.coloured(contrast.readable_on(rgb), text), 4)

    def strong(self, text: str) -> str:
        """Return *text* in bold."""
        return f"\x1b[1m{text}\x1b[22m" if self.colour else text


def _columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Return the columns of lines to *stream*: by COLUMNS, else of the terminal, else 80."""
    asked = environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked[:6]) > 0:
        return int(asked[:6])
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def fitted(
    output: Output, rows: Sequence[Sequence[str]], shrink: Sequence[Mapping[int, int]], right: range
) -> list[str]:
    """
    Return the lines of a table, with *right* columns to the right, by the first of *shrink* that keeps everything.
    """
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    aligned = [
        [cell.rjust(wide[column]) if column in right else cell for column, cell in enumerate(row)] for row in rows
    ]
    fitted: list[list[str]] = []
    for given in shrink:
        fitted = fit(aligned, output.columns, given)
        if all(fitted[0][column] for column in given):
            break
    return [GAP.join(cell for cell in row if cell).rstrip() for row in fitted]
