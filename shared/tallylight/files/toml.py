"""
TOML files, ours and the user's: read key by key, with errors that name file, key and line.

https://toml.io/en/v1.0.0 . The getters of a `Table` return values of the asked type, and note errors instead of
raising: a bad key costs that key alone. It takes text and returns values and a list of errors; no file is opened.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tallylight.model import attributes
from tallylight.model.errors import DataFileError
from tallylight.model.limits import MAX_WORD_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The most characters of a file.
MAX_TOML_CHARS = 1 << 20
#: The most entries of a list or table. Those in our files are short.
MAX_ITEMS = 1000
#: The most parts of a dotted name: Python's reader needs quadratic time for them, and a level for each.
MAX_NAME_PARTS = 32
#: The most mistakes that are located by line, and the most unknown keys that are named: each costs a search.
MAX_LOCATED = 20

# Possessive throughout: a line that does not match, of any length, is rejected at once.
_PART = r"(?:[A-Za-z0-9_-]++|\"(?:[^\"\\]|\\.)*+\"|'[^']*+')"
_NAME = rf"({_PART}(?:\s*+\.\s*+{_PART})*+)\s*+"
_HEADER = re.compile(rf"\s*+\[\[?+\s*+{_NAME}\]\]?+\s*+(?:#.*)?$")
_KEY = re.compile(rf"\s*+{_NAME}=")
_MANY_PARTS = re.compile(rf"(?<![A-Za-z0-9_\"'-])(?:[A-Za-z0-9_\"'-]++\s*+\.\s*+){{{MAX_NAME_PARTS}}}")
_AT_LINE = re.compile(r"at line (\d+)")


def parse(text: str, path: str) -> Table:
    """Return the top table of *text*; raise `DataFileError` with the line if it is not TOML."""
    return Table(load(text, path), text, path)


def load(text: str, path: str) -> dict[str, Any]:
    """Return the values in *text*; raise `DataFileError` with the line if it is not readable TOML."""
    if len(text) > MAX_TOML_CHARS:
        raise DataFileError(path, f"is longer than {MAX_TOML_CHARS} characters, the limit, so it is not read")
    if (many := _MANY_PARTS.search(text)) is not None:
        line = text.count("\n", 0, many.start()) + 1
        raise DataFileError(path, f"has a name of more than {MAX_NAME_PARTS} parts", line=line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise DataFileError(path, f"is not valid TOML: {error}", line=line) from None
    except (RecursionError, ValueError) as error:
        # The text has a number of thousands of digits, or brackets of thousands of levels.
        raise DataFileError(path, f"cannot be read as TOML: {error}") from None


def line_of(text: str, key: str, between: tuple[int, int] | None = None) -> int | None:
    """
    Return the number of the line that sets the dotted *key*, or of the nearest table above it; None for neither.

    Lines are counted from 1. With *between* only lines from the first to before the second number count.
    """
    header, best, best_length = "", None, -1
    first, end = between or (1, sys.maxsize)
    for number, line in enumerate(text.splitlines(), 1):
        if not first <= number < end:
            continue
        if (found := _HEADER.match(line)) is not None:
            name = header = _plain(found[1])
        elif (found := _KEY.match(line)) is not None:
            name = f"{header}.{_plain(found[1])}" if header else _plain(found[1])
        else:
            continue
        if (key == name or key.startswith(f"{name}.")) and len(name) > best_length:
            best, best_length = number, len(name)
        elif name.startswith(f"{key}.") and best is None:
            best, best_length = number, 0
    return best


def _plain(name: str) -> str:
    """Return a dotted *name* without quotes and escapes."""
    parts: list[str] = []
    for part in re.findall(_PART, name):
        if "\\" in part and part.startswith('"'):
            with contextlib.suppress(tomllib.TOMLDecodeError):  # the line may be one of a text of several lines
                parts += tomllib.loads(f"{part} = 0")
                continue
        parts.append(part[1:-1] if part[0] in "\"'" else part)
    return ".".join(parts)


@attributes.define
class Table:
    """One table of a file. Each getter marks its key as read; `close` reports the unread keys as unknown."""

    _data: Mapping[str, Any]
    _text: str
    _path: str
    _prefix: str = ""
    errors: list[DataFileError] = attributes.field(factory=list)
    #: Its place in the text, for one of a list of tables.
    _lines: tuple[int, int] | None = None
    _taken: set[str] = attributes.field(init=False, factory=set)

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def names(self) -> list[str]:
        """Return the keys of a table with a person's own names, at most `MAX_ITEMS`."""
        return list(self._data)[:MAX_ITEMS]

    def ignore(self, key: str, problem: str) -> None:
        """Mark *key* as read without reading it, and report *problem*."""
        self._taken.add(key)
        if len(self.errors) < MAX_LOCATED:
            self.complain(key, problem)

    def retire(self, *keys: str) -> None:
        """Mark *keys* of an older version as read: a file that sets them is no mistake."""
        self._taken |= self._data.keys() & set(keys)

    def complain(self, key: str, problem: str, *, is_note: bool = False) -> None:
        """Note an error, or a note, about *key* with its line."""
        dotted = self._prefix + key
        line = line_of(self._text, dotted, self._lines) if len(self.errors) < MAX_LOCATED else None
        self.errors.append(DataFileError(self._path, problem, key=dotted, line=line, is_note=is_note))

    def _take(self, key: str) -> Any:
        self._taken.add(key)
        return self._data.get(key)

    def text(
        self, key: str, default: str = "", *, choices: Iterable[str] = (), former: Mapping[str, str] | None = None
    ) -> str:
        """Return a text, one of *choices* if there are any. *former* maps words of older versions to present ones."""
        value = self._take(key)
        if value is None:
            return default
        allowed = tuple(choices)
        if not isinstance(value, str):
            self.complain(key, f"must be a string in quotes, not {_shown(value)}")
        elif former and value in former:
            self.complain(key, f'is {_shown(value)} of an older version; "{former[value]}" is used', is_note=True)
            return former[value]
        elif allowed and value not in allowed:
            meant = did_you_mean(value, allowed)
            self.complain(key, f"is {_shown(value)}; it must be one of {', '.join(allowed)}{meant}")
        else:
            return value
        return default

    def boolean(self, key: str, default: bool) -> bool:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self.complain(key, f"must be true or false, not {_shown(value)}")
        return default

    def number(self, key: str, default: float, low: float, high: float, *, zero: bool = False) -> float:
        """Return a number, moved into *low* to *high*; with *zero*, 0 stays 0."""
        value = self._take(key)
        if value is None:
            return default
        # NaN is unequal to itself and to every range.
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            self.complain(key, f"must be a number, not {_shown(value)}")
            return default
        if (zero and value == 0) or low <= value <= high:
            return float(value)
        nearest = low if value < low else high
        self.complain(key, f"is {_shown(value)}; it must be {low:g} to {high:g}, so {nearest:g} is used")
        return nearest

    def words(self, key: str, default: tuple[str, ...] = (), *, choices: Iterable[str] = ()) -> tuple[str, ...]:
        """
        Return a list of texts that are not empty, each one of *choices* if there are any.

        A wrong text costs itself. A list of wrong texts alone gives the default; an empty list stays empty.
        """
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.complain(key, f"must be a list of strings, not {_shown(value)}")
            return default
        if len(value) > MAX_ITEMS:
            self.complain(key, f"has {len(value)} entries; at most {MAX_ITEMS} are read")
            return default
        allowed = tuple(choices)
        if not allowed or not (wrong := [word for word in value if word not in allowed]):
            return tuple(value)
        meant = did_you_mean(wrong[0], allowed)
        self.complain(key, f"names {wrong[0]!r:.40}; it may name {', '.join(allowed)}{meant}")
        return tuple(word for word in value if word in allowed) or default

    def table(self, key: str) -> Table:
        """Return the table at *key*; an empty one if it is missing or wrong."""
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            self.complain(key, f"must be a table, not {_shown(value)}")
            value = None
        return Table(value or {}, self._text, self._path, f"{self._prefix}{key}.", self.errors, self._lines)

    def text_or_table(self, key: str, choices: Iterable[str] = ()) -> str | Table:
        """Return a text, one of *choices* if there are any, or a table; `""` for a wrong text, else an empty table."""
        if isinstance(self._data.get(key), str):
            return self.text(key, choices=choices)
        return self.table(key)

    def tables(self, key: str) -> list[Table]:
        """Return the list of tables at *key*, with their lines; empty if it is missing or wrong."""
        value = self._take(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value) or len(value) > MAX_ITEMS:
            self.complain(key, f"must be a list of tables, not {_shown(value)}")
            return []
        prefix = f"{self._prefix}{key}"
        starts = []
        for number, line in enumerate(self._text.splitlines(), 1):
            found = _HEADER.match(line) if line.lstrip().startswith("[[") else None
            if found is not None and _plain(found[1]) == prefix:
                starts.append(number)
        # The lines of each table, up to the next one. A list in one line has no headers.
        places: list[tuple[int, int] | None] = [self._lines] * len(value)
        if len(starts) == len(value):
            places = list(zip(starts, [*starts[1:], sys.maxsize], strict=False))
        return [
            Table(item, self._text, self._path, f"{prefix}.", self.errors, place)
            for item, place in zip(value, places, strict=True)
        ]

    def close(self, homes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Report the keys that nothing has read; *homes* are the tables that keys of other tables belong to."""
        unknown = [key for key in self._data if key not in self._taken]
        for key in unknown[:MAX_LOCATED]:
            home = f"; it belongs to [{homes[key]}]" if key in homes else ""
            meant = home or did_you_mean(key, self._taken - set(self._data))
            self.complain(key, f"is unknown{meant or '; is it misspelt, or from another version?'}")
        if len(unknown) > MAX_LOCATED:
            self.complain(unknown[MAX_LOCATED], f"and {len(unknown) - MAX_LOCATED - 1} more are unknown")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the word of *known* nearest to *word*; empty if none is near."""
    import difflib  # slow to load, and needed only for mistakes

    near = difflib.get_close_matches(word[:MAX_WORD_CHARS], sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _shown(value: object) -> str:
    """Return *value* for a message, at most 60 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with more digits than Python writes, or a table of many levels
        text = "something huge"
    return text if len(text) <= 60 else text[:57] + "..."
