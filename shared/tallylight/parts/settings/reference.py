"""
All settings as a file of defaults and as a JSON Schema; and the settings in force, with their lines.

All of it comes from their declarations (`config.declared`); docs/configuration.md has the file of defaults.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from tallylight.config.declared import Setting, described
from tallylight.config.machines import MAX_MACHINES, NAME
from tallylight.config.settings import FORMS, SETTINGS, Config
from tallylight.files.toml import MAX_ITEMS, line_of, load
from tallylight.model.errors import DataFileError

#: The dialect of JSON Schema that editors of TOML know (taplo, Even Better TOML, VS Code).
DIALECT = "http://json-schema.org/draft-07/schema#"
_COMMAND = {"type": "string", "minLength": 1}
#: Tables with a person's own names as keys.
OWN_NAMES: dict[str, dict[str, Any]] = {
    "machines": {
        "type": "object",
        "propertyNames": {"pattern": f"^({NAME})$"},
        "maxProperties": MAX_MACHINES,
        "additionalProperties": {
            "anyOf": [
                _COMMAND,
                {
                    "type": "object",
                    "properties": {"command": _COMMAND, "attach": _COMMAND},
                    "required": ["command"],
                    "additionalProperties": False,
                },
            ]
        },
        "description": "other machines and containers: a name, and the command that runs a program there",
    },
    "parts": {
        "type": "object",
        "maxProperties": MAX_ITEMS,
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
        "description": "settings of parts: a table for each, with texts that its page describes",
    },
}
_MACHINES = f"""
[machines]            # {OWN_NAMES["machines"]["description"]}
#   devbox = "ssh devbox"
#   ci = {{ command = "docker exec -i ci" }}
"""
#: Cells before the text about a key: the first number with enough room, or else as many as it takes.
_STOPS = (22, 28)
#: The description of each table, by its name.
_TABLES = {form.key or name: form.about for name, form in FORMS.items() if form.names} | {
    form.key.partition(".")[0]: form.table for form in FORMS.values() if form.table
}
_OWN = {name for name, form in FORMS.items() if form.is_own}


def _line(entry: str, about: str) -> str:
    """Return *entry* followed by its description."""
    cells = next((stop for stop in _STOPS if len(entry) < stop), len(entry) + 3)
    return f"{entry:{cells}}# {about}\n" if about else f"{entry}\n"


def defaults(*, is_template: bool = False) -> str:
    """
    Return the file with every key at its default, with descriptions. A key after a `#` has no default of its own.

    *is_template*: every key is commented out, so that unchanged settings follow new releases.
    """
    return "".join(_default_lines(is_template=is_template)) + _MACHINES


def _default_lines(*, is_template: bool) -> Iterator[str]:
    """Yield the lines of the file of defaults; with *is_template* as comments."""
    known: set[str] = set()
    for one in SETTINGS:
        table, name, *inner = one.key.split(".") if one.table else ("", one.key)
        if table and table not in known:
            yield "\n" + _line(f"[{table}]", _TABLES[table])
        form = one.form
        entry, about = f"{name} = {_toml(form.sample or one.default)}", form.about
        if inner:
            if f"{table}.{name}" in known:
                continue
            entry, about = f"{name} = {{}}", FORMS[table].names[name].about
        known |= {table, f"{table}.{name}"}
        if form.limits[1]:
            about += f"; {form.limits[0]:g} to {form.limits[1]:g}" + (f", 0 is {form.zero}" if form.zero else "")
        yield _line(f"# {entry}" if is_template or table in _OWN else entry, "" if table == "keys" else about)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the file: it refuses the same as `settings.load`."""
    tables: dict[str, dict[str, Any]] = {"": {}}

    def properties(table: str) -> dict[str, Any]:
        """Return the properties of *table*; a missing one is made, in the one above it."""
        if table not in tables:
            tables[table] = {}
            above, _, name = table.rpartition(".")
            form = _object(tables[table])
            if table == "colours":
                form = {"anyOf": [{"type": "string", "enum": list(FORMS["palette"].choices)}, form]}
            about = FORMS[above].names[name].about if above else _TABLES[table]
            properties(above)[name] = described(form, about)
        return tables[table]

    for one in SETTINGS:
        properties(one.table)[one.key.rpartition(".")[2]] = one.schema
    tables[""].update(OWN_NAMES)
    return {"$schema": DIALECT, "title": "Tallylight's config.toml", **_object(tables[""])}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@attrs.frozen
class InForce:
    """A setting's *value* in force, as TOML; and the *line* that sets it, None for the default."""

    key: str
    value: str
    line: int | None

    @property
    def place(self) -> tuple[str, str]:
        """Its table and its name there; a person's own name may have dots."""
        first, _, rest = self.key.partition(".")
        table, _, name = (first, "", rest) if first in OWN_NAMES else self.key.rpartition(".")
        return table, name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _toml(name)


def in_force(config: Config, text: str, mistakes: Iterable[DataFileError]) -> list[InForce]:
    """
    Return the settings of *config* in force, each with its line in *text*, which has these *mistakes*.

    The tables with a person's own names come last.
    """
    try:
        data = load(text, "")
    except DataFileError:
        data = {}
    wrong = {mistake.key for mistake in mistakes}
    found = []
    for one in SETTINGS:
        at = _key_for(data, one)
        # A number outside its limits is moved to the nearest one, so its line still counts.
        counts = at and (at not in wrong or one.schema["type"] in ("number", "array"))
        found.append(InForce(one.key, _value(config, one), line_of(text, at) if counts else None))
    for name, machine in config.machines.items():
        key = f"machines.{name}"
        command, attach = (_toml(shlex.join(words)) for words in (machine.command, machine.attach))
        value = f"{{ command = {command}, attach = {attach} }}" if machine.attach else command
        found.append(InForce(key, value, line_of(text, key)))
    return found


def _key_for(data: dict[str, Any], setting: Setting) -> str:
    """Return the key of *data* that sets *setting*: its own, for a colour also the palette's; empty if none does."""
    table: Any = data
    for name in filter(None, setting.table.split(".")):
        table = table.get(name) if isinstance(table, dict) else table
    if isinstance(table, str) and setting.table == "colours":
        return "colours"
    if not isinstance(table, dict):
        return ""
    if setting.key.rpartition(".")[2] in table:
        return setting.key
    return "colours.palette" if setting.table == "colours" and "palette" in table else ""


def _value(config: Config, setting: Setting) -> str:
    """
    Return the value of *setting* in *config*, as TOML.

    It is empty if another one chooses it: `tally setup` a key, and the theme a colour.
    """
    found = setting.of(config)
    if found is None:
        return "" if setting.table == "keys" else _toml(setting.default)
    is_themed = setting.path[0] == "colours" and setting.path[1] in config.themed
    return "" if is_themed else _toml(setting.form.write(found))


def _toml(found: object) -> str:
    # A string, a list of strings or a truth is written in TOML as in JSON.
    return f"{found:g}" if isinstance(found, float) else json.dumps(found, ensure_ascii=False)
