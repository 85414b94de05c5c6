"""
Hunks: the changed lines of a file, and whether two changes are of the same lines.

Pure. Lines count from 1, and a span of them ends before its second number: `(40, 40)` is the place before line 40. Two
changes are of the same lines if git could not merge them by itself: they overlap or touch, and differ.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from tallylight.evidence.records.reading import Edit
from tallylight.model.tool_call import alike

Lines = tuple[int, int]

#: The most hunks of one file that are compared, and the most spans that are reported.
MAX_HUNKS, MAX_SPANS = 256, 3
_FILE = re.compile(r"(?:---|\+\+\+) (?:[ab]/([^\t]*)\t?|/dev/null)")
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
#: A shorter line is in every file: `}`, `else:`.
_TELLING = 8


@attrs.frozen
class Hunk:
    """Lines *was* of a file that became the lines *now*; *text* is git's text of them."""

    was: Lines
    now: Lines
    text: str = ""


def parsed(diff: str) -> dict[str, tuple[Hunk, ...]]:
    """
    Return the hunks of a diff without context, by file.
    https://git-scm.com/docs/git-diff#generate_patch_text_with_p
    """
    found: dict[str, list[Hunk]] = {}
    path, lines = "", iter(diff.split("\n"))
    for line in lines:
        if line.startswith("diff --git "):
            path = ""
        elif named := _FILE.fullmatch(line):
            path = named[1] or path
        elif hunk := _HUNK.match(line):
            was, now = _span(hunk[1], hunk[2]), _span(hunk[3], hunk[4])
            text = "\n".join(_rows(lines, was[1] - was[0] + now[1] - now[0]))
            if path and len(found.setdefault(path, [])) < MAX_HUNKS:
                found[path].append(Hunk(was, now, text))
    return {path: tuple(hunks) for path, hunks in found.items()}


def _span(first: str, count: str | None) -> Lines:
    start, length = int(first), int(count or 1) if count != "0" else 0
    return (start, start + length) if length else (start + 1, start + 1)


def _rows(lines: Iterator[str], count: int) -> Iterator[str]:
    """Yield the next *count* rows of *lines* that belong to a file."""
    return itertools.islice((line for line in lines if not line.startswith("\\")), count)


def touch(one: Lines, other: Lines) -> bool:
    """Return whether two spans have a line in common, or nothing between them."""
    return one[0] <= other[1] and other[0] <= one[1]


def clashing(mine: Sequence[Hunk], others: Sequence[Hunk]) -> list[Hunk]:
    """Return the hunks of *others* that git could not merge with *mine* by itself: of the same lines, but different."""
    return [
        other
        for other in others
        if any(touch(one.was, other.was) and (one.was, one.text) != (other.was, other.text) for one in mine)
    ]


def line_ranges(spans: Iterable[Lines]) -> str:
    """Return the spans as text: `40–62, 80`."""
    words = [f"{first}–{end - 1}" if end - first > 1 else f"{first}" for first, end in spans]
    return ", ".join(words[:MAX_SPANS]) + (" …" if len(words) > MAX_SPANS else "")


def changed(edit: Edit) -> tuple[int, list[str]]:
    """Return how many lines at the start of its new text an edit has left unchanged, and then the changed lines."""
    new = edit.new.split("\n")
    old = edit.old.split("\n") if edit.old is not None else []
    before, after = alike(old, new)
    return before, new[before : len(new) - after]


def located(edit: Edit, text: str) -> Lines | None:
    """Return the lines of *text* that *edit* has written; None if they are missing, or at several places."""
    if not edit.new or text.count(edit.new) != 1:
        return None
    before, lines = changed(edit)
    first = 1 + text.count("\n", 0, text.index(edit.new)) + before
    return first, first + len(lines)


def written(mine: Sequence[Edit], others: Sequence[Edit], text: str) -> list[Lines]:
    """Return the lines of *text* from *mine*; if one of *others* has replaced them since, the replacement."""
    found = []
    for edit in mine:
        span = located(edit, text)
        if span is None:
            lines = {line for line in changed(edit)[1] if len(line.strip()) >= _TELLING}
            over = (
                other for other in others if other.at >= edit.at and not lines.isdisjoint((other.old or "").split("\n"))
            )
            span = next((place for other in over if (place := located(other, text)) is not None), None)
        if span is not None:
            found.append(span)
    return found


#: The words of a request that writes a file, followed by the files and the number of lines.
_WRITES = re.compile(
    r"(?:Edit|MultiEdit|NotebookEdit|Write|WriteFile|Update|Create|Delete|Patch|edit|write|create|delete|patch|replace"
    r"|write_file|write_to_file|edit_file|create_file|replace_in_file|apply_patch|editor|str_replace\w{0,20}) "
    r"(\S.*?)(?: \(\+\d+ −\d+\))?(?: …)?"
)


def asked(what: str) -> tuple[str, ...]:
    """Return the files that a one-line request, `Edit src/api.py (+12 −3)`, asks to write; none for another request."""
    found = _WRITES.fullmatch(what)
    return tuple(found[1].split(", ")) if found is not None else ()
