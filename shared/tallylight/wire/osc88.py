"""
OSC 88, Otty's Terminal Resume Protocol: `OSC 88 ; op ; key=value ; … ST`. https://docs.otty.sh/vt/osc/osc-88

In: one sequence. Out: `Arm`, `Clear` or `Query`, or DecodeError. At most 8 KiB a frame, 64 fields of it. Nothing is
executed here: an Arm is what a program asks for, and it has to pass the gate before it is even offered. A query is
never answered, because a terminal that answers one promises to relaunch.

`args` is one string on the wire, and the page does not say how it becomes arguments. It is read as the words of a
POSIX shell are, quotes and backslashes included and nothing expanded: a file name with a space in it can be written no
other way, and without quotes it is a split at spaces. Quotes that do not close cost the arm. So does a command,
argument or directory that could not be shown as it is: what sanitising would change must not be run.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire import base64
from tallylight.wire.frame import check_length
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBER = 88
#: The page gives no limits; these hold any command line we would ever show.
FRAME_LIMIT = 8192
FIELD_LIMIT = 64
COMMAND_CELLS = 256
ARGUMENTS_CELLS = 1024
DIRECTORY_CELLS = 1024

_VERSION = re.compile(rb"[0-9]{1,4}")


@attributes.frozen(kw_only=True)
class Arm:
    """How to start again what runs here. It replaces the recipe before it entirely."""

    command: str
    arguments: tuple[str, ...] = ()
    cwd: str = ""
    title: str = ""
    #: The program draws its own past again, so that none should be restored for it.
    repaints: bool = False
    version: int = 1

    @property
    def argv(self) -> tuple[str, ...]:
        """The command and its arguments."""
        return (self.command, *self.arguments)


@attributes.frozen
class Clear:
    """The recipe is withdrawn."""


@attributes.frozen
class Query:
    """The program asks whether the terminal would keep a recipe."""


def decode(sequence: Sequence) -> Arm | Clear | Query:
    """Read one sequence; `not-ours` for an operation nobody knows."""
    if sequence.number != NUMBER:
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    operation, _, fields = sequence.body.partition(b";")
    if operation == b"arm":
        return _arm(fields)
    if operation == b"clear":
        return Clear()
    if operation == b"query":
        return Query()
    raise DecodeError("not-ours", f"operation {operation[:16]!r}")


def _arm(fields: bytes) -> Arm:
    texts: dict[bytes, str] = {}
    repaints, version = False, 1
    for field in fields.split(b";", FIELD_LIMIT)[:FIELD_LIMIT]:
        key, equals, value = field.partition(b"=")
        if not equals:
            continue
        if key in (b"cmd", b"args", b"cwd", b"title"):
            texts[key] = base64.decode_text(value)
        elif key == b"self_repaint":
            repaints = value == b"1"
        elif key == b"v":
            if not _VERSION.fullmatch(value):
                raise DecodeError("malformed", "v is a number")
            version = int(value)
    return Arm(
        command=_command(_exact(texts.get(b"cmd", ""), COMMAND_CELLS)),
        arguments=_words(_exact(texts.get(b"args", ""), ARGUMENTS_CELLS)),
        cwd=_exact(texts.get(b"cwd", ""), DIRECTORY_CELLS),
        title=sanitise(texts.get(b"title", "")),
        repaints=repaints,
        version=version,
    )


#: What a shell would not split at blanks alone.
_QUOTED = re.compile(r"""['"\\\x00-\x1f\x7f]""")


def _exact(text: str, cells: int) -> str:
    if sanitise(text, cells=cells, graphemes=cells) != text:
        raise DecodeError("unsafe", "text that cannot be shown as it is")
    return text


def _command(text: str) -> str:
    if not text.strip():
        raise DecodeError("malformed", "an arm without cmd")
    return text


def _words(text: str) -> tuple[str, ...]:
    if text.isascii() and not _QUOTED.search(text):
        return tuple(text.split())
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise DecodeError("malformed", f"args: {error}") from None
