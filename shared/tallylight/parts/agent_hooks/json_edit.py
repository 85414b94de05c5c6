"""
Edits a JSON file of an agent: inserts and removes our hooks, and changes no other byte.

An edit takes text, and returns the new text and the exact pieces inserted. `remove` cuts those out again, wherever they
are. If the pieces are gone because the file was written again, it removes our hooks by their commands. Containers that
are then empty go too.

Laws, for every readable text: `remove(insert(t)) == t`; `insert(t)` holds every value of *t*; foreign hooks stay in
both. An unreadable text, or one of another shape, raises `TallyError` with the place.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tallylight.model.errors import TallyError
from tallylight.parts.agent_hooks.jsonc import Node, gap, parse
from tallylight.wire import values

#: Our hook in any spelling: a path that ends in `tally`, quoted or not, and the two words after it.
_OURS = re.compile(r"""(?:^|[/\s'"])tally['"]*\s+hook\s+([a-z0-9][a-z0-9._-]*)(?:\s|$)""")
#: The most hooks to remove; each event has one.
_MAX_OURS = 500


class Style(NamedTuple):
    """The style of a text: its line end and one level of its indentation."""

    line: str
    unit: str


def entry(template: str, command: str) -> dict[str, Any]:
    """Return one hook as a JSON value: `{command}` in the template becomes *command*."""
    made: dict[str, Any] = values.load(template, strict=True)
    return {key: command if value == "{command}" else value for key, value in made.items()}


def agent_of(command: object) -> str:
    """Return the agent of our command; empty for another command."""
    found = _OURS.search(command) if isinstance(command, str) else None
    return found[1] if found else ""


def ours(text: str, agent: str, *, grouped: bool) -> dict[str, list[str]]:
    """Return our commands for *agent* in *text*, by event."""
    root = _root(text)
    found: dict[str, list[str]] = {}
    for event, way in _hooks(root, grouped=grouped):
        for command in _commands(way):
            if agent_of(command) == agent:
                found.setdefault(event, []).append(str(command))
    return found


def holds(text: str) -> dict[str, Any]:
    """Return the values in *text*; an empty one has none."""
    root = _root(text)
    return {} if root is None else dict(root.data())


def insert(
    text: str, hooks: Mapping[str, Mapping[str, Any]], *, grouped: bool, version: int = 0
) -> tuple[str, tuple[str, ...]]:
    """
    Return *text*, which has none of our hooks, with one for each event of *hooks*; and our pieces, in order.

    *grouped*: each event holds groups of hooks. *version* is the value of that key in a new file.
    """
    root = _root(text)
    values = {event: [{"hooks": [hook]} if grouped else hook] for event, hook in hooks.items()}
    if root is None:
        style = Style(_line_end(text), "  ")
        whole = ({"version": version} if version else {}) | {"hooks": values}
        start = style.line if text and text[-1] not in "\r\n\ufeff" else ""
        piece = start + _written(whole, style, "") + style.line
        return text + piece, (piece,)
    style = _style(text, root)
    holder = root.member("hooks")
    if holder is None:
        at, piece = _additions(text, root, [("hooks", values)], style)
        return text[:at] + piece + text[at:], (piece,)
    additions = []
    new: dict[str, Any] = {}
    for event, value in values.items():
        node = holder.member(event)
        if node is None:
            new[event] = value
        elif node.kind == "array":
            additions.append(_additions(text, node, [(None, value[0])], style))
        else:
            raise TallyError('an event in "hooks" is not a list')
    if new:
        additions.append(_additions(text, holder, list(new.items()), style))
    additions.sort()
    for at, piece in reversed(additions):
        text = text[:at] + piece + text[at:]
    return text, tuple(piece for _, piece in additions)


def remove(text: str, agent: str, pieces: Sequence[str] = (), *, grouped: bool) -> str:
    """Return *text* without our hooks for *agent*. *pieces* are those of its insertion, if known."""
    left = text
    for piece in pieces:
        left = left.replace(piece, "")
    with contextlib.suppress(TallyError):  # the rest may be unreadable
        if left != text and not ours(left, agent, grouped=grouped):
            return left
    for _ in range(_MAX_OURS):
        root = _root(text)
        ways = (way for _, way in _hooks(root, grouped=grouped) if agent in map(agent_of, _commands(way)))
        first = next(ways, None)
        if root is None or first is None:
            return text
        for start, end in reversed(_spans(text, root, first)):
            text = text[:start] + text[end:]
    raise TallyError(f"there are more than {_MAX_OURS} hooks of Tallylight in it")


# Reading -----------------------------------------------------------------------------------------------------


def _root(text: str) -> Node | None:
    """Return the object of a settings file, with hooks in the right shape; None for an empty file."""
    root = parse(text)
    if root is None:
        return None
    if root.kind != "object":
        raise TallyError("it does not hold an object")
    holder = root.member("hooks")
    if holder is not None and holder.kind != "object":
        raise TallyError('"hooks" is not an object')
    return root


def _hooks(root: Node | None, *, grouped: bool) -> Iterator[tuple[str, list[tuple[Node, int]]]]:
    """Yield every hook: its event, and the path to it, each container with the index in it."""
    holder = root.member("hooks") if root is not None else None
    if holder is None:
        return
    for place, (key, events) in enumerate(holder.items):
        assert key is not None, "it is an object"
        for index, item in enumerate(events.values() if events.kind == "array" else ()):
            way = [(holder, place), (events, index)]
            if not grouped:
                yield key.value, way
                continue
            inner = item.member("hooks") if item.kind == "object" else None
            if inner is not None and inner.kind == "array":
                for number in range(len(inner.items)):
                    yield key.value, [*way, (inner, number)]


def _commands(way: list[tuple[Node, int]]) -> list[object]:
    """Return the commands in the hook at the end of *way*."""
    container, index = way[-1]
    hook = container.items[index][1]
    return [node.value for _, node in hook.items] if hook.kind == "object" else []


# Putting in --------------------------------------------------------------------------------------------------


def _additions(text: str, node: Node, items: Sequence[tuple[str | None, Any]], style: Style) -> tuple[int, str]:
    """Return where to insert *items* into the container *node*, and the text."""
    is_inline = bool(node.items) and not {"\n", "\r"} & {*text[node.start : node.end]}
    base = _indent(text, node.start)
    if node.items and not is_inline:
        key, first = node.items[0]
        start = (key or first).start
        inner = _indent(text, start) if _begins_line(text, start) else base + style.unit
    else:
        inner = base + style.unit
    written = [
        ("" if key is None else json.dumps(key) + ": ")
        + (json.dumps(value) if is_inline else _written(value, style, inner))
        for key, value in items
    ]
    lead = " " if is_inline else style.line + inner
    between = "," + lead
    joined = between.join(written)
    if not node.items:
        behind = text[node.start + 1 : node.end - 1]
        tail = "" if behind.lstrip(" \t").startswith(("\r", "\n")) else style.line + base
        return node.start + 1, style.line + inner + joined + tail
    last = node.items[-1][1].end
    if text[last : node.end - 1].strip(" \t\r\n") in ("", ","):
        if node.comma:
            at = text.index(",", last) + 1
            return at, lead + joined + ","
        return last, between + joined
    # There are comments after the last one, which must stay with it.
    return node.start + 1, joined + between if is_inline else lead + joined + ","


def _written(value: Any, style: Style, indent: str) -> str:
    """Return *value* as JSON in the style of the file, for a place that is indented by *indent*."""
    return json.dumps(value, indent=style.unit).replace("\n", style.line + indent)


def _style(text: str, root: Node) -> Style:
    """Return the style of *text*, by its first line end and the first indented key."""
    unit = "  "
    if root.items:
        key, _ = root.items[0]
        if key is not None and _begins_line(text, key.start):
            own = _indent(text, key.start)
            outer = _indent(text, root.start)
            unit = own.removeprefix(outer) or unit
    return Style(_line_end(text), unit)


def _line_end(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _indent(text: str, at: int) -> str:
    """Return the blanks at the start of the line of *at*."""
    line = text[_line_start(text, at) : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, at: int) -> bool:
    start = _line_start(text, at)
    return start > 0 and not text[start:at].strip(" \t")


# Taking out --------------------------------------------------------------------------------------------------


def _spans(text: str, root: Node, way: list[tuple[Node, int]]) -> list[tuple[int, int]]:
    """
    Return the spans of the hook at the end of *way*: with containers that are empty without it, blanks and a comma.

    The file's own object stays, and so do comments.
    """
    container, index = next((step for step in reversed(way) if len(step[0].items) > 1), way[0])
    if len(container.items) == 1:
        index = next(i for i, (_, node) in enumerate(root.items) if node is container)
        container = root
    key, node = container.items[index]
    before = text[container.items[index - 1][1].end if index else container.start + 1 : (key or node).start]
    # The end of a line may be the end of a comment, too.
    start = (key or node).start - (0 if "//" in before else len(before) - len(before.rstrip(" \t\r\n")))
    if len(container.items) == 1 and not (text[container.start + 1 : start] + text[node.end : container.end - 1]).strip(
        " \t\r\n,"
    ):
        return [(container.start + 1, container.end - 1)]
    spans = [(start, node.end)]
    if index < len(container.items) - 1 or container.comma:
        comma = gap(text, node.end)
        spans.append((comma, comma + 1))
    elif index:
        comma = gap(text, container.items[index - 1][1].end)
        spans.insert(0, (comma, comma + 1))
    return spans
