"""
Values from untrusted JSON: each of the expected type and size, or its default.

The fields of a record are declared with `key`: their meaning for a person, and the `Form` in which they are read and
written. An invalid value counts as missing. A record is invalid only if a field without a default is missing.

Controls, direction marks and all invisible characters are removed from every text when it is read and written. A path
or an argument list with one counts as missing, since without it that would be another one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from tallylight.model import attributes
from tallylight.model.limits import MAX_ARGUMENTS as MAX_ARGUMENTS
from tallylight.model.limits import MAX_PATH as MAX_PATH
from tallylight.model.limits import MAX_TEXT_CHARS as MAX_TEXT_CHARS
from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.model.status import Kind, Status
from tallylight.wire import values
from tallylight.wire.text import is_visible, sanitise

#: The most cells of an id. The id of a record is a path of a few levels.
MAX_ID_CELLS = 500
#: The most entries of a list.
MAX_LIST = 64
#: The greatest number, in seconds.
MAX_NUMBER = values.LATEST

T = TypeVar("T")
Json = dict[str, Any]


_STRING: Json = {"type": "string"}
STRINGS: Json = {"type": "array", "items": _STRING}


class Form(NamedTuple):
    """A kind of value: its reader (which returns None for an invalid one), its JSON Schema, and its writer."""

    read: Callable[[Any], Any]
    schema: Json
    #: None if the value is written unchanged.
    write: Callable[[Any], Any] | None = None


class Key(NamedTuple):
    """A field in JSON: its *name*, its *form*, and whether it is written when empty."""

    name: str
    form: Form
    about: str
    is_always: bool


def text(value: object, cap: int = MAX_TEXT_CHARS) -> str:
    """Return *value* if it is text, made harmless and cut to *cap* cells; `""` if it is not."""
    return sanitise(value, cells=cap) if isinstance(value, str) else ""


def path(value: object) -> str:
    """Return *value* if it is text of at most `MAX_PATH` characters, else `""`: half a path is another one."""
    return _visible(value, MAX_PATH) or ""


def _visible(value: object, cap: int) -> str | None:
    """Return *value* if it is text of at most *cap* characters, all visible; else None."""
    found = values.exact(value, cap)
    return found if found is not None and is_visible(found) else None


def number(value: object) -> float:
    """Return *value* if it is a number from 0 to the latest time, else 0."""
    return values.number(value, 0, MAX_NUMBER) or 0.0


def count(value: object) -> int | None:
    """Return *value* if it is an integer from 0 to 2^31 - 1, such as a process id, else None."""
    return values.integer(value, 0, 2**31 - 1)


def status_of(value: object) -> Status | None:
    """Return the status called *value*; None if there is no such status."""
    try:
        return Status(values.text(value, MAX_WORD_CHARS))
    except ValueError:
        return None


def kind_of(value: object) -> Kind | None:
    """Return the kind called *value*; None if there is no such kind."""
    try:
        return Kind(values.text(value, MAX_WORD_CHARS))
    except ValueError:
        return None


def texts(value: object, cap: int = MAX_LIST) -> tuple[str, ...]:
    """Return the texts in the list *value* that are not empty, at most *cap*, each cut to its limit."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(found for entry in value[:cap] if (found := text(entry)))


def words(value: object, cap: int = MAX_TEXT_CHARS) -> tuple[str, ...]:
    """
    Return *value* if it is an argument list within the limits, else an empty one.

    Nothing of it is cut: an argument list without a word or a letter would be another command.
    """
    if not value or not isinstance(value, list | tuple) or len(value) > MAX_ARGUMENTS:
        return ()
    found = tuple(word for word in value if _visible(word, cap) is not None)
    return found if len(found) == len(value) else ()


def short(cap: int, clean: Callable[[str], str] = str) -> Form:
    """Return the form of a text of at most *cap* cells, changed by *clean*."""
    return Form(lambda value: clean(text(value, cap)) or None, _STRING, functools.partial(text, cap=cap))


def one_of(words: tuple[str, ...]) -> Form:
    """Return the form of one of *words*; any other word is invalid."""
    return Form(lambda value: value if value in words else None, {"enum": list(words)})


def _reader_and_writer(cls: Any) -> tuple[Callable[[object], Any], Callable[[Any], Json]]:
    """Return the reader and the writer of *cls*: its own `from_json` and `to_json`, else by its declared fields."""
    return getattr(cls, "from_json", None) or functools.partial(read, cls), getattr(cls, "to_json", write)


def record(cls: Any) -> Form:
    """Return the form of an object of the class *cls*."""
    read_one, write_one = _reader_and_writer(cls)
    return Form(read_one, {"record": cls}, write_one)


def many(cls: Any, cap: int = MAX_LIST) -> Form:
    """Return the form of a list of at most *cap* objects of the class *cls*; invalid ones are left out."""
    read_one, write_one = _reader_and_writer(cls)

    def read_all(value: object) -> tuple[Any, ...]:
        found = map(read_one, value[:cap] if isinstance(value, list) else ())
        return tuple(one for one in found if one is not None)

    schema = {"type": "array", "items": {"record": cls}}
    return Form(read_all, schema, lambda found: [write_one(one) for one in found[:cap]])


TEXT = Form(text, _STRING, text)
ID = short(MAX_ID_CELLS)
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
    """Return a field with a default. *name* is its key in JSON if that differs. *is_always*: a default is written."""
    return attributes.field(default=default, metadata=declared(about, form or _USUAL[type(default)], name, is_always))


def inline(cls: Any) -> Any:
    """Return a field with an object of *cls*. In JSON its fields lie beside those of its owner."""
    return attributes.field(default=cls(), metadata={"inline": cls})


def declared(about: str, form: Form, name: str = "", is_always: bool = True) -> dict[str, Key]:
    """Return the metadata of a field, with a default or without."""
    return {"key": Key(name, form, about, is_always)}


@functools.cache
def _places(cls: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the facts about each declared field of *cls* for `read` and for `write`."""
    reads, writes = [], []
    for one in cls.__attrs_attrs__:
        if (inner := one.metadata.get("inline")) is not None:
            reads.append((one.name, "", functools.partial(read, inner), False))
            writes.append((attrgetter(one.name), "", write, None, True))
        elif (stated := one.metadata.get("key")) is not None:
            name = stated.name or one.name
            reads.append((one.name, name, stated.form.read, one.default is attributes.NOTHING))
            writes.append((attrgetter(one.name), name, stated.form.write, one.default, stated.is_always))
    return reads, writes


def read(cls: Any, value: object, **found: Any) -> Any:
    """Return the *cls* in the JSON object *value*, with the further fields *found*; None if it is invalid."""
    if not isinstance(value, dict):
        return None
    for field, name, read_one, is_needed in _places(cls)[0]:
        if not name:
            found[field] = read_one(value)
        elif name in value and (one := read_one(value[name])) is not None:
            found[field] = one
        elif is_needed:
            return None
    return cls(**found)


class Reads:
    """A descriptor that makes a class method which reads one of its class: `from_json = Reads()`."""

    def __get__(self, _: object, cls: type[T]) -> Callable[[object], T | None]:
        return functools.partial(read, cls)


def write(value: Any) -> Json:
    """Return the declared fields of *value*, for JSON."""
    found: Json = {}
    for get, name, write_one, default, is_always in _places(value.__class__)[1]:
        one = get(value)
        if not name:
            found |= write_one(one)
        elif is_always or one != default:
            found[name] = one if one is None or write_one is None else write_one(one)
    return found
