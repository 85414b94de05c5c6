"""
What settings there are, found by having `settings.read` read: their types, limits and defaults are said nowhere else.

From it come the JSON Schema of the file, and the list of what is in force and from where.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any

import attrs

from tallylight.config.colour import hexadecimal
from tallylight.config.documented import DEFAULTS
from tallylight.config.key_bindings import ACTIONS
from tallylight.config.machines import MAX_MACHINES, NAME, Machine
from tallylight.config.settings import Config, read
from tallylight.files.toml import MAX_ITEMS, Table, line_of, load
from tallylight.model.errors import DataFileError
from tallylight.model.status import Status
from tallylight.tracker.notify import STATUSES

#: The dialect of JSON Schema that editors of TOML know (taplo, Even Better TOML, VS Code).
DIALECT = "http://json-schema.org/draft-07/schema#"
#: Keys whose values `Config` has at another place than the file.
_ELSEWHERE = {
    "scripting.allow": "scripting",
    "list.branches": "listed.branches",
    "list.pull_requests": "listed.pull_requests",
}
_COMMAND = {"type": "string", "minLength": 1}
#: Tables whose keys are a person's own names.
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
    }
}
_COMMENTED = re.compile(r"^(?:\[(\w+)\]|(?:# )?(\w+) = .*?)(?:\s+# (.*))?$")


@attrs.frozen
class Setting:
    """One key of the file: its dotted name, what its value must be as JSON Schema has it, and what it means."""

    key: str
    form: dict[str, Any]
    about: str = ""

    @property
    def table(self) -> str:
        return self.key.rpartition(".")[0]


class _Asking(Table):
    """A table that has every key, and notes what is asked of it instead of answering."""

    def __init__(self, found: list[tuple[str, dict[str, Any]]], names: dict[str, tuple[str, ...]], prefix: str = ""):
        super().__init__({}, "", "", prefix)
        self._found, self._names = found, names

    def __contains__(self, key: str) -> bool:
        return True

    def _note(self, key: str, form: dict[str, Any]) -> None:
        self._found.append((self._prefix + key, form))

    def text(self, key: str, default: str = "", *, choices: Iterable[str] = (), form: str = "") -> str:
        self._note(key, _text(choices, form) | {"default": default})
        return default

    def boolean(self, key: str, default: bool) -> bool:
        self._note(key, {"type": "boolean", "default": default})
        return default

    def number(self, key: str, default: float, low: float, high: float, *, zero: bool = False) -> float:
        limits: dict[str, Any] = {"minimum": low, "maximum": high}
        limits = {"anyOf": [{"const": 0}, limits]} if zero else limits
        self._note(key, {"type": "number", **limits, "default": default})
        return default

    def words(
        self, key: str, default: tuple[str, ...] = (), *, choices: Iterable[str] = (), form: str = ""
    ) -> tuple[str, ...]:
        items = {"minLength": 1} | _text(choices, form)
        self._note(key, {"type": "array", "items": items, "maxItems": MAX_ITEMS, "default": list(default)})
        return default

    def table(self, key: str) -> Table:
        return _Asking(self._found, self._names, f"{self._prefix}{key}.")

    def text_or_table(self, key: str, default: str, *, choices: Iterable[str]) -> str | Table:  # noqa: ARG002
        self._names[self._prefix + key] = tuple(choices)
        return self.table(key)


def _text(choices: Iterable[str], form: str) -> dict[str, Any]:
    allowed = list(choices)
    return {"type": "string"} | ({"enum": allowed} if allowed else {}) | ({"pattern": f"^({form})$"} if form else {})


def settings() -> tuple[Setting, ...]:
    """Every setting, table by table as `DEFAULTS` has them."""
    found: list[tuple[str, dict[str, Any]]] = []
    read(_Asking(found, {}))
    about = _abouts()
    tables = ["", *re.findall(r"^\[(\w+)\]", DEFAULTS, re.MULTILINE)]
    known = (Setting(key, form, about.get(key) or about.get(key.rpartition(".")[0], "")) for key, form in found)
    return tuple(sorted(known, key=lambda one: (tables.index(one.table.partition(".")[0]), one.table)))


def _abouts() -> dict[str, str]:
    """What each key and table means, from the comments of `DEFAULTS`."""
    found = {f"keys.{action.name}": action.what for action in ACTIONS}
    table = ""
    for line in DEFAULTS.splitlines():
        if (match := _COMMENTED.match(line)) is not None:
            table = match[1] or table
            key = match[1] or (f"{table}.{match[2]}" if table else match[2])
            if match[3]:
                found[key] = match[3]
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of the file: what it refuses, `settings.load` complains of."""
    names: dict[str, tuple[str, ...]] = {}
    read(_Asking([], names))
    about = _abouts()
    tables: dict[str, dict[str, Any]] = {"": {}}

    def properties(table: str) -> dict[str, Any]:
        """The properties of *table*, which is made where it is not there yet, in the one above it."""
        if table not in tables:
            tables[table] = {}
            above, _, name = table.rpartition(".")
            form = _object(tables[table])
            form = {"anyOf": [{"type": "string", "enum": list(names[table])}, form]} if table in names else form
            properties(above)[name] = _told(form, about.get(table, ""))
        return tables[table]

    for setting in settings():
        properties(setting.table)[setting.key.rpartition(".")[2]] = _told(setting.form, setting.about)
    tables[""].update({name: _told(form, about.get(name, "")) for name, form in OWN_NAMES.items()})
    return {"$schema": DIALECT, "title": "Tallylight's config.toml", **_object(tables[""])}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _told(form: dict[str, Any], about: str) -> dict[str, Any]:
    return form | ({"description": about} if about else {})


def template() -> str:
    """`DEFAULTS` with every key commented out, as a file to begin with: what is not changed follows new releases."""
    lines = [f"# {line}" if re.match(r"\w+ = ", line) else line for line in DEFAULTS.splitlines()]
    return "".join(f"{line}\n" for line in lines)


@attrs.frozen
class InForce:
    """A setting's *value* as it is in force, as TOML; and the *line* that says so, None for the default."""

    key: str
    value: str
    line: int | None

    @property
    def place(self) -> tuple[str, str]:
        """Its table and its name in that, where a person's own name may have dots."""
        first, _, rest = self.key.partition(".")
        table, _, name = (first, "", rest) if first in OWN_NAMES else self.key.rpartition(".")
        return table, name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _toml(name)


def in_force(config: Config, text: str, mistakes: Iterable[DataFileError]) -> list[InForce]:
    """
    What of *config*, which was read from *text* with these *mistakes*, is in force, and from which line; the tables of
    a person's own names last.
    """
    try:
        data = load(text, "")
    except DataFileError:
        data = {}
    wrong = {mistake.key for mistake in mistakes}
    found = []
    for setting in settings():
        at = _said_by(data, setting)
        # A number outside its limits is moved to the nearest one, and so the line still has its say.
        counts = at and (at not in wrong or setting.form["type"] in ("number", "array"))
        found.append(InForce(setting.key, value(config, setting.key), line_of(text, at) if counts else None))
    for name, machine in config.machines.items():
        key = f"machines.{name}"
        found.append(InForce(key, _machine(machine), line_of(text, key)))
    return found


def _machine(machine: Machine) -> str:
    command, attach = (_toml(shlex.join(words)) for words in (machine.command, machine.attach))
    return f"{{ command = {command}, attach = {attach} }}" if machine.attach else command


def _said_by(data: dict[str, Any], setting: Setting) -> str:
    """The key of *data* that decides about *setting*: its own, for a colour also the palette's; empty for none."""
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


def value(config: Config, key: str) -> str:
    """
    What *config* has at the dotted *key*, as one writes it in TOML.

    Nothing for what somebody else chooses: a key `tally setup`, and a colour the theme.
    """
    table, _, name = key.rpartition(".")
    if table == "keys":
        return _toml(config.keys[name]) if name in config.keys else ""
    if table == "colours":
        if name == "palette":
            return _toml(config.palette)
        status = Status(name)
        return "" if status in config.themed else _toml(hexadecimal(config.colours[status]))
    found: Any = config
    for part in _ELSEWHERE.get(key, key).split("."):
        found = found.get(Status(part), "") if isinstance(found, dict) else getattr(found, part)
    if key == "notify.when":
        found = [status.value for status in STATUSES if status in found]
    elif key == "notify.quiet":
        found = ["-".join(f"{at // 60:02}:{at % 60:02}" for at in span) for span in found]
    return _toml(found)


def _toml(found: object) -> str:
    if isinstance(found, float):
        return f"{found:g}"
    found = sorted(found) if isinstance(found, frozenset) else list(found) if isinstance(found, tuple) else found
    # A string, a list of strings or a truth is written in TOML as in JSON.
    return json.dumps(found, ensure_ascii=False)
