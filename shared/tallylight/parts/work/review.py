"""
The review of a turn: its diff as text with the limits of what is known, and the comments that a person wrote into it.

`shown` asks git. `comments` and `worded` are pure: lines that begin with `>>` become one text for the agent.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from tallylight.parts.work.ledger import Stretch, joined
from tallylight.parts.work.trees import MAX_NEW_FILE_BYTES, Store
from tallylight.ui.details import clock
from tallylight.wire.text import sanitise

#: How a line of a comment begins.
MARK = ">>"
#: Cells of a line of code beside a comment, so that the agent finds it whatever has changed above.
_QUOTED = 60
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def shown(store: Store, stretches: Iterable[Stretch], now: float, *, is_coloured: bool) -> str:
    """Return the diffs of *stretches*, each below a line with its time; those that follow each other are one."""
    found = []
    for one in joined(stretches):
        options = ("-p", "-M", f"--color={'always' if is_coloured else 'never'}")
        diff = store.diff(one.before, one.after, options, pathspecs(one))
        found += [
            *(f"# {sanitise(line, cells=500)}" for line in _notes(one, now)),
            diff.rstrip("\n") or "# no file has changed",
        ]
    return "\n".join(found) + "\n"


def pathspecs(stretch: Stretch) -> list[str]:
    """Return what git compares: all but what other agents wrote."""
    return [".", *(f":(exclude,literal){path}" for path in stretch.others)]


def _notes(one: Stretch, now: float) -> Iterator[str]:
    name = "undone with tally diff --undo" if one.is_undo else one.agent or "agent"
    yield f"{name}, {clock(one.began, now)} to {clock(one.ended, now)}"
    if one.others:
        yield f"left out, because another agent wrote them: {', '.join(one.others)}"
    elif one.beside:
        yield "another agent worked here at the same time, so some changes may be its own"
    if one.left:
        yield f"left out: {one.left} files that are larger than {MAX_NEW_FILE_BYTES >> 20} MiB or cannot be read"


# Comments ---------------------------------------------------------------------------------------------------------


@attrs.frozen
class Comment:
    """A person's comment on a *line* of the file *path*, 0 for none, with the text *code*."""

    said: str
    path: str = ""
    line: int = 0
    code: str = ""


@attrs.frozen
class _Place:
    path: str = ""
    line: int = 0
    code: str = ""


def comments(diff: str, edited: str) -> list[Comment]:
    """
    Return the comments in *edited*, which a person made of *diff*.

    Other lines of it may be gone, as from a mail that is answered: a line is looked for behind the one before.
    """
    places, found, at = list(_places(diff)), list[Comment](), 0
    lines = diff.splitlines()
    is_open = False
    for line in edited.splitlines():
        if line.startswith(MARK):
            said = line.removeprefix(MARK).strip()
            if is_open:
                found[-1] = attrs.evolve(found[-1], said=f"{found[-1].said}\n{said}".strip())
            elif said:
                here = places[at - 1] if at else _Place()
                found.append(Comment(said, here.path, here.line, here.code))
            is_open = is_open or bool(said)
            continue
        is_open = False
        with contextlib.suppress(ValueError):
            at = lines.index(line, at) + 1
    return found


def _places(diff: str) -> Iterator[_Place]:
    """Yield for each line of *diff* what it is a line of."""
    here, number = _Place(), -1
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            here, number = _Place(), -1
        elif number < 0 and line.startswith(("--- a/", "+++ b/")):
            here = _Place(line[6:])
        elif (hunk := _HUNK.match(line)) is not None:
            here, number = _Place(here.path), int(hunk[1])
        elif number >= 0 and line[:1] in ("+", " ", "-"):
            here = _Place(here.path, number, line[1:])
            number += line[0] != "-"
        yield here


def worded(found: Sequence[Comment]) -> str:
    """Return *found* as one text for an agent: the file and line of each, the code there, and the comment."""
    parts = []
    for one in found:
        code = sanitise(" ".join(one.code.split()), cells=_QUOTED)
        place = f"{one.path}:{one.line}" if one.line else one.path
        quoted = f" `{code}`" if code else ""
        parts.append(f"{place}{quoted}: {one.said}" if place else one.said)
    return "\n".join(parts)
