"""
OSC 88, Otty's Terminal Resume Protocol: `OSC 88 ; op ; key=value ; … ST`. https://docs.otty.sh/vt/osc/osc-88

In: one sequence. Out: a `Recipe`, empty for a withdrawal, or DecodeError. A frame has at most 8 KiB and 64 fields.
Nothing is executed here: a recipe is a request of a program, and must pass the gate before it is offered. A query is no
recipe; a relay answers it, for `tally restore` relaunches.

`args` is one string on the wire, and the page does not say how it is split. It is split like the words of a POSIX
shell, with quotes and backslashes but without expansion: a file name with a space cannot be written otherwise. Quotes
that do not close cost the recipe. So does a command, argument or directory that sanitising would change: it must not be
run.
"""

from __future__ import annotations

import re

from tallylight.model.errors import DecodeError
from tallylight.wire import base64
from tallylight.wire.frame import check_ours
from tallylight.wire.osc1338 import Recipe
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBER = 88
QUERY, SUPPORTED = b"88;query", b"88;supported;v=1"
#: The page gives no limits; these hold any command line we would ever show.
FRAME_LIMIT = 8192
FIELD_LIMIT = 64
#: The texts, and the most cells of each; the title is neither run nor shown.
_TEXTS = {b"cmd": 256, b"args": 1024, b"cwd": 1024, b"title": 0}

_VERSION = re.compile(rb"[0-9]{1,4}")


#: Characters for which a shell would not split at blanks alone.
_QUOTED = re.compile(r"""['"\\\x00-\x1f\x7f]""")


def decode(sequence: Sequence) -> Recipe:
    """Return the recipe of one sequence; raise DecodeError `not-ours` for an operation that changes none."""
    check_ours(sequence, NUMBER, FRAME_LIMIT)
    operation, *fields = sequence.body.split(b";", FIELD_LIMIT + 1)[: FIELD_LIMIT + 1]
    if operation == b"clear":
        return Recipe()
    if operation != b"arm":
        raise DecodeError("not-ours", f"operation {operation[:16]!r}")
    texts = dict.fromkeys(_TEXTS, "")
    for field in fields:
        key, equals, value = field.partition(b"=")
        if equals and key in _TEXTS:
            texts[key] = base64.decode_text(value)
        elif equals and key == b"v" and not _VERSION.fullmatch(value):
            raise DecodeError("malformed", "v is a number")
    for key, cells in _TEXTS.items():
        if cells and sanitise(texts[key], cells=cells) != texts[key]:
            raise DecodeError("unsafe", "text that cannot be shown as it is")
    if not texts[b"cmd"].strip():
        raise DecodeError("malformed", "an arm without cmd")
    return Recipe((texts[b"cmd"], *_words(texts[b"args"])), texts[b"cwd"])


def _words(text: str) -> list[str]:
    """Return the words of *text* as a POSIX shell splits them; raise `DecodeError` for open quotes."""
    if text.isascii() and not _QUOTED.search(text):
        return text.split()
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise DecodeError("malformed", f"args: {error}") from None
