"""
Values out of JSON that somebody else wrote: each of the type and size that was asked for, or its default.

The fields of a record are declared with `key`: their meaning for a person, and the `Form` that they are read and
written. What is wrong counts as not there; a record is none only where a field without a default has nothing.

No text has a control, a direction mark or anything invisible in it, whoever wrote it: it goes on the way in and on the
way out. A path or an argument list with one is not there, since without it that would be another one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from tallylight.model import attributes
from tallylight.model.limits import MAX_PATH as MAX_PATH
from tallylight.model.limits import MAX_TEXT as MAX_TEXT
from tallylight.model.limits import MAX_WORD
from tallylight.model.limits import MAX_WORDS as MAX_WORDS
from tallylight.model.status import Kind, Status
from tallylight.wire import values
from tallylight.wire.text import is_visible, sanitise

#: Of one id. The id of a record is a path of up to a few levels.
MAX_ID = 500
#: Of one list.
MAX_LIST = 64
#: Of one number, in seconds.
MAX_NUMBER = values.LATEST

T = TypeVar("T")
Json = dict[str, Any]


_STRING: Json = {"type": "string"}
STRINGS: Json = {"type": "array", "items": _STRING}


class Form(NamedTuple):
    """A kind of value: how it is read (None: it is not there), what JSON Schema says of it, and how it is written."""

    read: Callable[[Any], Any]
    schema: Json
    #: None where it is written as it is.
    write: Callable[[Any], Any] | None = None


class Key(NamedTuple):
    """A field in JSON: its *name*, its *form*, and whether it is written when empty."""

    name: str
    form: Form
    about: str
    is_always: bool


def text(value: object, cap: int = MAX_TEXT) -> str:
    """Return *value* if it is text, made harmless and cut to *cap* cells; `""` if it is not."""
    return sanitise(value, cells=cap) if isinstance(value, str) else ""


def path(value: object) -> str:
    """Return *value* if it is text of at most `MAX_PATH` characters, else `""`: half a path is another one."""
    return _visible(value, MAX_PATH) or ""


def _visible(value: object, cap: int) -> str | None:
    found = values.exact(value, cap)
    return found if found is not None and is_visible(found) else None


def number(value: object) -> float:
    """Return *value* if it is a number that a clock can show, else 0."""
    return values.number(value, 0, MAX_NUMBER) or 0.0


def count(value: object) -> int | None:
    """Return *value* if it is a number a process or a task count can have, else None."""
    return values.integer(value, 0, 2**31 - 1)


def status_of(value: object) -> Status | None:
    try:
        return Status(values.text(value, MAX_WORD))
    except ValueError:
        return None


def kind_of(value: object) -> Kind | None:
    try:
        return Kind(values.text(value, MAX_WORD))
    except ValueError:
        return None


def texts(value: object, cap: int = MAX_LIST) -> tuple[str, ...]:
    """Return those of *value* that are text with something in it, *cap* at most, each cut to its own."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(found for entry in value[:cap] if (found := text(entry)))


def words(value: object, cap: int = MAX_TEXT) -> tuple[str, ...]:
    """
    Return *value* if it is an argument list: texts within the limits, none of them cut. Nothing else, in part or whole.

    An argument list that lost a word or a letter would be another command.
    """
    if not value or not isinstance(value, list | tuple) or len(value) > MAX_WORDS:
        return ()
    found = tuple(word for word in value if _visible(word, cap) is not None)
    return found if len(found) == len(value) else ()


def short(cap: int, clean: Callable[[str], str] = str) -> Form:
    """A text of at most *cap* characters, as *clean* has it."""
    return Form(lambda value: clean(text(value, cap)) or None, _STRING, functools.partial(text, cap=cap))


def one_of(words: tuple[str, ...]) -> Form:
    """One of these words; none where it is another."""
    return Form(lambda value: value if value in words else None, {"enum": list(words)})


def _ways(cls: Any) -> tuple[Callable[[object], Any], Callable[[Any], Json]]:
    """How a *cls* is read and written: in its own way, else as its fields are declared."""
    return getattr(cls, "from_json", None) or functools.partial(read, cls), getattr(cls, "to_json", write)


def record(cls: Any) -> Form:
    """An object that is a *cls*."""
    read_one, write_one = _ways(cls)
    return Form(read_one, {"record": cls}, write_one)


def many(cls: Any, cap: int = MAX_LIST) -> Form:
    """A list of objects, each one a *cls*; what is none is left out."""
    read_one, write_one = _ways(cls)

    def read_all(value: object) -> tuple[Any, ...]:
        found = map(read_one, value[:cap] if isinstance(value, list) else ())
        return tuple(one for one in found if one is not None)

    schema = {"type": "array", "items": {"record": cls}}
    return Form(read_all, schema, lambda found: [write_one(one) for one in found[:cap]])


TEXT = Form(text, _STRING, text)
ID = short(MAX_ID)
PATH = Form(path, _STRING, path)
NUMBER = Form(number, {"type": "number", "minimum": 0})
COUNT = Form(count, {"type": "integer", "minimum": 0})
FLAG = Form(lambda value: value is True, {"type": "boolean"})
WORDS = Form(words, STRINGS, lambda value: list(words(value)))
#: Words as long as a path.
PATHS = Form(functools.partial(words, cap=MAX_PATH), STRINGS, lambda value: list(words(value, MAX_PATH)))
TEXTS = Form(texts, STRINGS, lambda value: list(texts(value)))
STATUS = Form(status_of, {"enum": [status.value for status in Status]}, attrgetter("value"))
KIND = Form(kind_of, {"enum": [kind.value for kind in Kind]}, attrgetter("value"))
#: The forms of values by the type of their default. A list of texts is an argument list.
_USUAL: dict[type, Form] = {str: TEXT, float: NUMBER, int: COUNT, bool: FLAG, tuple: WORDS}


def key(default: Any, about: str = "", form: Form | None = None, *, name: str = "", is_always: bool = True) -> Any:
    """A field with a default. *name*: that in JSON, if it is another. Not *is_always*: the default is not written."""
    return attributes.field(default=default, metadata=declared(about, form or _USUAL[type(default)], name, is_always))


def declared(about: str, form: Form, name: str = "", is_always: bool = True) -> dict[str, Key]:
    """The metadata of a field, with a default or without."""
    return {"key": Key(name, form, about, is_always)}


@functools.cache
def _places(cls: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """What `read` and `write` need of each declared field of *cls*."""
    reads, writes = [], []
    for one in cls.__attrs_attrs__:
        if (stated := one.metadata.get("key")) is not None:
            name = stated.name or one.name
            reads.append((one.name, name, stated.form.read, one.default is attributes.NOTHING))
            writes.append((attrgetter(one.name), name, stated.form.write, one.default, stated.is_always))
    return reads, writes


def read(cls: Any, value: object, **found: Any) -> Any:
    """The *cls* that *value* is, with what else is *found* of it; None if it is none."""
    if not isinstance(value, dict):
        return None
    for field, name, read_one, is_needed in _places(cls)[0]:
        if name in value and (one := read_one(value[name])) is not None:
            found[field] = one
        elif is_needed:
            return None
    return cls(**found)


class Reads:
    """A class method that reads one of its class: `from_json = Reads()`."""

    def __get__(self, _: object, cls: type[T]) -> Callable[[object], T | None]:
        return functools.partial(read, cls)


def write(value: Any) -> Json:
    """The declared fields of *value*, for JSON."""
    found: Json = {}
    for get, name, write_one, default, is_always in _places(value.__class__)[1]:
        one = get(value)
        if is_always or one != default:
            found[name] = one if one is None or write_one is None else write_one(one)
    return found
