"""
`python -m tests.limits [WORD…]`: list every limit of the code with its value, or those with one of the words.

A limit is a number of a module with a name that begins with `MAX_` or `MIN_`, or ends with a unit. `tally` waits for
nothing longer, and keeps nothing more, than such a number says.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "shared/tallylight"
_UNIT = "S|MS|DAYS|BYTES|CHARS|CELLS|COLUMNS|ROWS|LINES|LOOKS|TICKS|WORDS|A_SECOND"
_LIMIT = re.compile(rf"_*(?:(?:MAX|MIN)_\w+|\w+_(?:{_UNIT}))")


@attrs.frozen
class Limit:
    """A constant, its module, its value as written, and the comment above it or above the group that it is in."""

    name: str
    module: str
    value: str
    about: str

    def __str__(self) -> str:
        return f"{self.name:28} {self.value:>18}  {self.module:42} {self.about}"


def limits(package: Path = PACKAGE) -> Iterator[Limit]:
    """Yield the limits of all modules below *package*."""
    for path in sorted(package.rglob("*.py")):
        yield from _limits(path.read_text("utf-8"), str(path.relative_to(package)))


def _limits(source: str, module: str) -> Iterator[Limit]:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign):
            continue
        names = _elements(node.targets[0])
        values = _elements(node.value) if len(names) > 1 else [node.value]
        for name, value in zip(names, values, strict=len(names) == len(values)):
            if isinstance(name, ast.Name) and _LIMIT.fullmatch(name.id) and _is_number(value):
                yield Limit(name.id.lstrip("_"), module, ast.unparse(value), _comment(lines, node.lineno - 1))


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _is_number(value: ast.expr) -> bool:
    """Return whether *value* is a number, or an expression of numbers."""
    parts = [part for part in ast.walk(value) if not isinstance(part, ast.operator | ast.unaryop)]
    return all(
        isinstance(part, ast.BinOp | ast.UnaryOp | ast.Constant)
        and not isinstance(getattr(part, "value", 0), str | bytes)
        for part in parts
    )


def _comment(lines: list[str], at: int) -> str:
    """Return the comment above line *at*, or above the adjacent lines of which it is one, in one line."""
    while at and lines[at - 1].strip() and not lines[at - 1].startswith("#"):
        at -= 1
    end = at
    while at and lines[at - 1].startswith("#"):
        at -= 1
    return " ".join(line.lstrip("#: ") for line in lines[at:end])


if __name__ == "__main__":
    words = [word.lower() for word in sys.argv[1:]]
    for limit in sorted(limits(), key=lambda one: one.name):
        if not words or any(word in str(limit).lower() for word in words):
            sys.stdout.write(f"{limit}\n")
