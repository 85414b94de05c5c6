"""
How a setting is declared: beside its default, what the file may say and what that means to a person.

The fields of `settings.Config`, and of the classes in it, are declared so. By that the file is read, and what is in
force, the file of defaults and the JSON Schema are written.
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
    The form of a value in the file, and words *about* it. The default gives its type.

    *limits* are those of a number, and *zero* says what 0 means beyond them. A text, or each one of a list, is one of
    *choices*, or has a *pattern* that JSON Schema knows, too; *former* has words of older versions, and what they are
    now. *wrong* is the end of a complaint, and *near* has words that may have been meant. *read* makes what `Config`
    has of a text, None where that cannot be; *many* makes what it has of a list, and *write* makes text, list, number
    or truth of either again.

    *names* are those of a table's keys. *key* is the dotted one in the file, if it is not the field's. The file of
    defaults has *sample* behind a `#`, and all of a table that *is_own*; *table* is about the table that the key is in.
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
    """A field with its default and its `Form`."""
    return attrs.field(default=default, metadata={"form": Form(about=about, **form)})


def forms(cls: type) -> dict[str, Form]:
    """The forms of the fields of *cls*."""
    return {field.name: field.metadata["form"] for field in attrs.fields(cls) if "form" in field.metadata}


def section(cls: type, about: str = "", *, own: Mapping[str, Form] | None = None, **form: Any) -> Any:
    """A field that is a table of the file: a *cls*, with the forms *own* for fields that have none."""
    return setting(attrs.Factory(cls), about, names=own or forms(cls), **form)


@attrs.frozen
class Setting:
    """One key of the file by its dotted name, where `Config` has it, and its *default* as it is in the file."""

    key: str
    path: tuple[str, ...]
    form: Form
    default: Any

    @property
    def table(self) -> str:
        return self.key.rpartition(".")[0]

    def of(self, config: Any) -> Any:
        """What *config* has for it; None for a key of a table that it has not."""
        for name in self.path:
            config = config.get(name) if isinstance(config, dict) else getattr(config, name)
        return config

    def read(self, table: Table) -> Any:
        """What *table* says of it, as `Config` has it; None where it says nothing, or something wrong."""
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
                # Where there is no pattern, an empty text says as much as none.
                return self._value(table, "is", word) if word or (word == "" and form.pattern) else None
            case _:
                words = table.words(key, nothing, choices=form.choices)
                values = [self._value(table, "has", word) for word in words or ()]
                return None if words is None else form.many([value for value in values if value is not None])

    def _value(self, table: Table, verb: str, word: str) -> object:
        """The meaning of *word*; None, and a complaint, if it may not be there."""
        value = self.form.read(word) if re.fullmatch(self.form.pattern or ".*", word, re.DOTALL) else None
        if value is None:
            meant = did_you_mean(word, self.form.near)
            table.complain(self.key.rpartition(".")[2], f"{verb} {word!r:.60}; {self.form.wrong}{meant}")
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The same as JSON Schema has it."""
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
    """*schema* with what there is to say of it."""
    return schema | ({"description": about} if about else {})


def settings(names: Mapping[str, Form], default: Any, key: str = "", path: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Every setting among *names*, and in their tables; *default* is what `Config` has where *key* and *path* lead."""
    for name, form in names.items():
        value = default.get(name, "") if isinstance(default, Mapping) else getattr(default, name)
        dotted = key + (form.key or name)
        if form.names:
            yield from settings(form.names, value, f"{dotted}.", (*path, name))
        else:
            yield Setting(dotted, (*path, name), form, form.write(value))
