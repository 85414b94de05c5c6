"""
Parses JSON as people write it, with all positions: comments, trailing commas, a byte order mark, any indentation.

https://www.rfc-editor.org/rfc/rfc8259 and https://jsonc.org . `parse` returns a tree of `Node`s with offsets into the
text, or raises `TallyError` with line and column. Nothing is ever written from the tree: it is for edits of the text.
At most `MAX_JSONC_CHARS` characters and `MAX_JSONC_DEPTH` levels are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tallylight.model.errors import TallyError

MAX_JSONC_CHARS = 4 << 20
MAX_JSONC_DEPTH = 100

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")


def _error(text: str, at: int, problem: str) -> TallyError:
    """Return an error with the line and column of *at*, counted from 1."""
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return TallyError(f"line {line}, column {column}: {problem}")


class Node(NamedTuple):
    """
    One value: `text[start:end]`.

    *value* is that of a text, number or word. An object and an array have *items* instead: a key, which is a text's
    node (None in an array), and a value each. *comma*: a comma follows the last of them.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    items: tuple[tuple[Node | None, Node], ...] = ()
    comma: bool = False

    def member(self, name: str) -> Node | None:
        """Return the value of a member of an object; the last one if there are several, as all readers do."""
        return next((node for key, node in reversed(self.items) if key is not None and key.value == name), None)

    def values(self) -> Iterator[Node]:
        return (node for _, node in self.items)

    def data(self) -> Any:
        """Return the Python value."""
        if self.kind == "object":
            return {key.value: node.data() for key, node in self.items if key is not None}
        if self.kind == "array":
            return [node.data() for _, node in self.items]
        return self.value


def parse(text: str) -> Node | None:
    """Return the value in *text*; None if it has only space and comments."""
    if len(text) > MAX_JSONC_CHARS:
        raise TallyError(f"longer than {MAX_JSONC_CHARS} characters, the limit, so it is not read")
    at = gap(text, 1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    end = gap(text, node.end)
    if end < len(text):
        raise _error(text, end, "something follows the end of the value")
    return node


def gap(text: str, at: int) -> int:
    """Return the end of the space and comments that begin at *at*."""
    found = _GAP.match(text, at)
    assert found is not None, "it matches nothing, too"
    return found.end()


def _value(text: str, at: int, depth: int) -> Node:
    """Return the value that begins at *at*; raise `TallyError` for anything else."""
    if depth > MAX_JSONC_DEPTH:
        raise _error(text, at, f"more than {MAX_JSONC_DEPTH} levels deep")
    first = text[at : at + 1]
    if first in ("{", "["):
        return _container(text, at, depth)
    if first == '"':
        return _string(text, at)
    if (found := _WORD.match(text, at) or _NUMBER.match(text, at)) is not None:
        after = text[found.end() : found.end() + 1]
        if not (after.isalnum() or after in ("_", "$", ".")) or not after:
            return Node("value", at, found.end(), _decoded(text, at, found[0]))
    if not first:
        raise _error(text, at, "it ends where a value is expected")
    raise _error(text, at, f"a value is expected, not {text[at : at + 12]!a}")


def _string(text: str, at: int) -> Node:
    found = _STRING.match(text, at)
    if found is None:
        raise _error(text, at, "this text does not end on its line, or has a wrong escape")
    return Node("text", at, found.end(), _decoded(text, at, found[0]))


def _decoded(text: str, at: int, token: str) -> Any:
    """Return the Python value of *token*; raise an error at *at* if it cannot be read."""
    try:
        return json.loads(token)
    except (ValueError, RecursionError):
        raise _error(text, at, "this cannot be read") from None


def _container(text: str, start: int, depth: int) -> Node:
    """Return the object or the array that begins at *start*, with all its items."""
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    items: list[tuple[Node | None, Node]] = []
    at = gap(text, start + 1)
    comma = False
    while text[at : at + 1] != closing:
        if items and not comma:
            problem = f"a comma or {closing} is expected" if at < len(text) else f"it ends before a {closing}"
            raise _error(text, at, problem)
        key = None
        if is_object:
            if text[at : at + 1] != '"':
                raise _error(text, at, 'a name in "…" is expected')
            key = _string(text, at)
            at = gap(text, key.end)
            if text[at : at + 1] != ":":
                raise _error(text, at, "a colon is expected")
            at = gap(text, at + 1)
        node = _value(text, at, depth + 1)
        items.append((key, node))
        at = gap(text, node.end)
        comma = text[at : at + 1] == ","
        if comma:
            at = gap(text, at + 1)
    return Node("object" if is_object else "array", start, at + 1, None, tuple(items), comma)
