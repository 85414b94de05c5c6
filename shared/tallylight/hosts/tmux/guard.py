"""
Guards typing into a pane of tmux: a condition for `if-shell -F` that is true while its screen is unchanged.

tmux evaluates it and runs the commands after it in one step. It searches for each row by a regular expression, and
returns the line of the first match (`#{C/r:…}`). Empty rows and colours are not compared.
https://man.openbsd.org/tmux.1#FORMATS
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tallylight.evidence.screen import Look

#: Bytes of all rows together: a command to tmux has 16 kB. Rows at the end of the screen come first.
MAX_COMPARED_ROWS_BYTES = 12_000
_RUN = re.compile(r"(.)\1*")
#: From this length on, a run of equal characters matches any length: lines across, gaps.
_LONG = 4
#: Compared besides the rows.
_PLACE = (
    "#{cursor_x} #{cursor_y} #{cursor_flag} #{pane_width} #{pane_height} #{?pane_in_mode,1,0} #{?pane_synchronized,1,0}"
)


def screen_condition(look: Look) -> str:
    """Return the condition that a pane shows *look*, takes keys, and does not pass them to other panes."""
    rows = [row.rstrip() for row in look.lines]
    wanted, room = [], MAX_COMPARED_ROWS_BYTES
    for pattern in map(_pattern, reversed(rows)):
        room -= len(pattern.encode())
        if room < 0:
            break
        if pattern and pattern not in wanted:
            wanted.append(pattern)
    found = [next(line for line, row in enumerate(rows, 1) if re.search(one, row)) for one in wanted]
    place = (look.cursor_column, look.cursor_row, int(look.cursor_visible), look.columns, len(rows), 0, 0)
    asked = " ".join((_PLACE, *(f"#{{C/r:{one}}}" for one in wanted)))
    return f"#{{==:{asked},{' '.join(map(str, (*place, *found)))}}}"


def one_argument(commands: Iterable[Sequence[str]]) -> str:
    """Return *commands* as one argument of another command."""
    return " ; ".join(" ".join(map(_quoted, command)) for command in commands)


def _pattern(row: str) -> str:
    """Return a pattern for *row* that tmux and Python read alike; empty for an empty row or odd characters."""
    if not row or not row.isprintable():
        return ""
    runs = (
        (run[1] if run[1] == " " or run[1].isalnum() or run[1] > "~" else ".", len(run[0]))
        for run in _RUN.finditer(row)
    )
    return f"^{''.join(f'{one}+' if number >= _LONG else one * number for one, number in runs)}$"


def _quoted(word: str) -> str:
    return '"' + re.sub(r'(["\\$])', r"\\\1", word) + '"'
