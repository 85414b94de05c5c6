"""
Values out of JSON that somebody else wrote: each of the type and size that was asked for, or its default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tallylight.model.status import Kind, Status
from tallylight.wire import values

#: Of one text, in characters. Surfaces show far less; `tally why` shows this much.
MAX_TEXT = 500
#: Of one id. The id of a record is a path of up to a few levels.
MAX_ID = 500
#: Of one directory.
MAX_PATH = 4096
#: Of one list.
MAX_LIST = 64
#: Of one number, in seconds.
MAX_NUMBER = values.LATEST
#: Of a word that is one of a few.
_MAX_WORD = 64
#: Of one argument list, in words; each has at most `MAX_TEXT` characters.
MAX_WORDS = 64

T = TypeVar("T")
Json = dict[str, Any]


def text(value: object, cap: int = MAX_TEXT) -> str:
    """Return *value* if it is text, cut to *cap* characters; `""` if it is not."""
    return values.text(value, cap)


def path(value: object) -> str:
    """Return *value* if it is text of at most `MAX_PATH` characters, else `""`: half a path is another one."""
    return values.exact(value, MAX_PATH) or ""


def number(value: object) -> float:
    """Return *value* if it is a number that a clock can show, else 0."""
    return values.number(value, 0, MAX_NUMBER) or 0.0


def count(value: object) -> int | None:
    """Return *value* if it is a number a process or a task count can have, else None."""
    return values.integer(value, 0, 2**31 - 1)


def status_of(value: object) -> Status | None:
    try:
        return Status(values.text(value, _MAX_WORD))
    except ValueError:
        return None


def kind_of(value: object) -> Kind | None:
    try:
        return Kind(values.text(value, _MAX_WORD))
    except ValueError:
        return None


def listed(value: object, read: Callable[[Json], T | None], cap: int = MAX_LIST) -> tuple[T, ...]:
    if not isinstance(value, list):
        return ()
    found = (read(entry) for entry in value[:cap] if isinstance(entry, dict))
    return tuple(entry for entry in found if entry is not None)


def texts(value: object, cap: int = MAX_LIST) -> tuple[str, ...]:
    """Return those of *value* that are text with something in it, *cap* at most, each cut to its own."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(found for entry in value[:cap] if (found := text(entry)))


def words(value: object) -> tuple[str, ...]:
    """
    Return *value* if it is an argument list: texts within the limits, none of them cut. Nothing else, in part or whole.

    An argument list that lost a word or a letter would be another command.
    """
    if not isinstance(value, list | tuple) or len(value) > MAX_WORDS:
        return ()
    found = tuple(word for word in value if values.exact(word, MAX_TEXT) is not None)
    return found if len(found) == len(value) else ()
