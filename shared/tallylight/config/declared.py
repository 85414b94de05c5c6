"""
The declaration of a setting: its default, its form in the file, and its description.

The fields of `settings.Config`, and of the classes in it, are declared so. The declarations serve to read the file, and
to write the values in force, the file of defaults and the JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs

from tallylight.files.toml import MAX_ITEMS, Table, did_you_mean


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@attrs.frozen(kw_only=True)
class Form:
    """
    The form of a value in the file, with a description (*about*). The default gives its type.

    *limits* are those of a number, and *zero* says what 0 means outside them. A text, or each one of a list, is one of
    *choices*, or has a *pattern* that JSON Schema knows, too. *former* maps words of older versions to present ones.
    *wrong* is the end of an error message, and *near* has words that may have been meant.

    *read* converts a text for `Config`, or returns None for an invalid one. *many* does so for a list, and *write*
    converts a value back. *names* are the forms of a table's keys. *key* is the dotted key in the file, if it is not
    the field's name. The file of defaults has *sample* after a `#`, and the whole table if *is_own*. *table* describes
    the table that contains the key.
    """

    about: str = ""
    limits: tuple[float, float] = (0, 0)
    zero: str = ""
    choices: tuple[str, ...] = ()
    former: Mapping[str, str] = attrs.Factory(dict)
    pattern: str = ""
    wrong: str = ""
    near: Collection[str] = ()
    read: Callable[[str], object] = str
    many: Callable[[list[object]], object] = tuple
    write: Callable[[Any], Any] = _plain
    names: Mapping[str, Form] = attrs.Factory(dict)
    key: str = ""
    sample: str = ""
    is_own: bool = False
    table: str = ""


def setting(default: Any, about: str, **form: Any) -> Any:
    """Return a field with its default and its `Form`."""
    return attrs.field(default=default, metadata={"form": Form(about=about, **form)})


def forms(cls: type) -> dict[str, Form]:
    """Return the forms of the fields of *cls*, by name."""
    return {field.name: field.metadata["form"] for field in attrs.fields(cls) if "form" in field.metadata}


def section(cls: type, about: str = "", *, own: Mapping[str, Form] | None = None, **form: Any) -> Any:
    """Return a field for a table of the file: a *cls*, by the forms *own*, else those of its fields."""
    return setting(attrs.Factory(cls), about, names=own or forms(cls), **form)


@attrs.frozen
class Setting:
    """One dotted key of the file, with the *path* of its value in `Config` and its *default* as in the file."""

    key: str
    path: tuple[str, ...]
    form: Form
    default: Any

    @property
    def table(self) -> str:
        return self.key.rpartition(".")[0]

    def of(self, config: Any) -> Any:
        """Return its value in *config*; None for a key that a table of *config* lacks."""
        for name in self.path:
            config = config.get(name) if isinstance(config, dict) else getattr(config, name)
        return config

    def read(self, table: Table) -> Any:
        """Return its value in *table*, converted for `Config`; None if it is missing or wrong."""
        key, form = self.key.rpartition(".")[2], self.form
        nothing: Any = None
        match self.default:
            case bool():
                return table.boolean(key, nothing)
            case int() | float():
                found = table.number(key, nothing, *form.limits, zero=bool(form.zero))
                return round(found) if isinstance(self.default, int) and found is not None else found
            case str():
                word = table.text(key, nothing, choices=form.choices, former=form.former)
                # Without a pattern, an empty text counts as missing.
                return self._value(table, "is", word) if word or (word == "" and form.pattern) else None
            case _:
                words = table.words(key, nothing, choices=form.choices)
                values = [self._value(table, "has", word) for word in words or ()]
                return None if words is None else form.many([value for value in values if value is not None])

    def _value(self, table: Table, verb: str, word: str) -> object:
        """Return the converted *word*; None, with an error in *table*, if it is invalid."""
        value = self.form.read(word) if re.fullmatch(self.form.pattern or ".*", word, re.DOTALL) else None
        if value is None:
            meant = did_you_mean(word, self.form.near)
            table.complain(self.key.rpartition(".")[2], f"{verb} {word!r:.60}; {self.form.wrong}{meant}")
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the setting."""
        form = self.form
        text: dict[str, Any] = {"type": "string"} | ({"enum": list(form.choices)} if form.choices else {})
        text |= {"pattern": f"^({form.pattern})$"} if form.pattern else {}
        match self.default:
            case bool():
                found: dict[str, Any] = {"type": "boolean"}
            case int() | float():
                found = {"minimum": form.limits[0], "maximum": form.limits[1]}
                found = {"type": "number"} | ({"anyOf": [{"const": 0}, found]} if form.zero else found)
            case str():
                found = text
            case _:
                found = {"type": "array", "items": {"minLength": 1} | text, "maxItems": MAX_ITEMS}
        return described(found | {"default": self.default}, form.about)


def described(schema: dict[str, Any], about: str) -> dict[str, Any]:
    """Return *schema* with the description *about*, unless that is empty."""
    return schema | ({"description": about} if about else {})


def settings(names: Mapping[str, Form], default: Any, key: str = "", path: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Yield every setting in *names* and their tables. *default* is the value of `Config` at *key* and *path*."""
    for name, form in names.items():
        value = default.get(name, "") if isinstance(default, Mapping) else getattr(default, name)
        dotted = key + (form.key or name)
        if form.names:
            yield from settings(form.names, value, f"{dotted}.", (*path, name))
        else:
            yield Setting(dotted, (*path, name), form, form.write(value))
