"""
The `[hooks]` table of an agent file: the events of its hooks, their meanings, and the file that holds them.

A `Table` goes in, `Hooks` come out; errors are noted in the table, with their lines. The part `agent_hooks` makes the
tables of `tally hook` from it, and edits the agent's own file by it. docs/agents.md describes the keys.
"""

from __future__ import annotations

import contextlib
import re

import attrs

from tallylight.files.toml import Table
from tallylight.model.errors import DecodeError
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.wire.values import load

#: The forms of hooks in the file. `groups`: JSON, each event a list of groups, each with a list of hooks. `list`: JSON,
#: each event a list of hooks. `tables`: TOML, a table `[[hooks]]` for each hook. `plugin`: a file of ours.
FORMS = ("groups", "list", "tables", "plugin")
#: `clear`: the agent exits. `nothing`: the event has no meaning, and later rules are not asked.
STATUSES = (*(status.value for status in Status if status not in CONCLUDED), "clear", "nothing")
KINDS = tuple(kind.value for kind in Kind)

_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}", re.ASCII)
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*", re.ASCII)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)


@attrs.frozen(kw_only=True)
class Fields:
    """The fields of a payload, as dotted names with a number for a place in a list. An empty one is not looked for."""

    event: str = "hook_event_name"
    session: str = "session_id"
    cwd: str = "cwd"
    title: str = "session_title"
    mode: str = "permission_mode"
    #: The subagent of the event, and its display name. Absent: the event is of the agent itself.
    child: str = "agent_id"
    child_title: str = "agent_type"
    tool: str = "tool_name"
    input: str = "tool_input"
    #: A list of background tasks that still run; with any of them `done` becomes `background`.
    tasks: str = "background_tasks"


@attrs.frozen(kw_only=True)
class Rule:
    """
    The meaning of an event. The first rule decides that has the event and one of the *values* of each field named.
    """

    events: tuple[str, ...]
    status: str
    kind: str = ""
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    #: Fields for the message: the first that is present counts; `tool` means the tool and its input.
    message: tuple[str, ...] = ()
    #: Whether another event reports the same better: it counts only where that one did not arrive.
    weak: bool = False
    #: Whether it ends one tool: a wait for another tool's permission continues.
    ends_tool: bool = False
    #: Whether it is of a subagent, and means nothing without one in the payload.
    child: bool = False


@attrs.frozen(kw_only=True)
class Need:
    """A setting of the agent that its hooks cannot work without: at *key* in *file*, JSON or TOML by its name."""

    file: str
    key: str
    #: The value that the setting must have, or must not have; as it is written.
    value: str = ""
    value_not: str = ""
    #: The beginning of a name that the setting, a table, must have; `{file}` is the path of the file with the hooks.
    member: str = ""
    #: The message and the remedy if it is not so.
    problem: str
    remedy: str


@attrs.frozen(kw_only=True)
class Hooks:
    """The hooks of one agent. Without a *form* there are none to install, and *why* is the reason."""

    form: str = ""
    why: str = ""
    #: The place of the file: *file* below *folder*, which the variable *folder_env* may replace.
    folder: str = ""
    folder_env: str = ""
    file: str = ""
    #: One hook in the file, as JSON; its text `{command}` becomes the command.
    entry: str = ""
    #: The `version` of a new file; 0 for none.
    version: int = 0
    #: A variable that names the agent's process.
    pid_env: str = ""
    #: Arguments of a process that serves many terminals: it has no light.
    daemon: tuple[str, ...] = ()
    #: A note for the person after the installation.
    note: str = ""
    fields: Fields = Fields()
    rules: tuple[Rule, ...] = ()
    needs: tuple[Need, ...] = ()
    #: Further files of ours beside it, each a name below *folder* and a text.
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def events(self) -> tuple[str, ...]:
        """Every event that a rule has, in the order of the rules."""
        return tuple(dict.fromkeys(event for rule in self.rules for event in rule.events))


def parse_hooks(table: Table) -> Hooks | None:
    """Return the `[hooks]` table; None if it is not there."""
    fields = table.table("fields")
    hooks = Hooks(
        form=table.text("form", choices=("", *FORMS)),
        why=table.text("why"),
        folder=table.text("folder"),
        folder_env=_variable(table, "folder_env"),
        file=table.text("file"),
        entry=table.text("entry"),
        version=int(table.number("version", 0, 0, 99)),
        pid_env=_variable(table, "pid_env"),
        daemon=table.words("daemon"),
        note=table.text("note"),
        fields=Fields(**{field.name: _field(fields, field.name, str(field.default)) for field in attrs.fields(Fields)}),
        rules=tuple(_rule(rule) for rule in table.tables("rules")),
        needs=tuple(_need(need) for need in table.tables("needs")),
        beside=tuple(_beside(beside) for beside in table.tables("beside")),
    )
    fields.close()
    table.close()
    if not hooks.form and not hooks.why:
        return None
    _check(hooks, table)
    return hooks


def _check(hooks: Hooks, table: Table) -> None:
    """Complain of entries that are valid alone, and do not fit together."""
    if hooks.form and not (hooks.folder and hooks.file and hooks.rules):
        table.complain("form", "needs a folder, a file and rules")
    if hooks.form and not hooks.folder.startswith("~/"):
        table.complain("folder", "must begin with ~/")
    for name in (hooks.file, *(name for name, _ in hooks.beside), *(need.file for need in hooks.needs)):
        if name.startswith("/") or ".." in name.split("/"):
            table.complain("file", f"is {name!r}; it must be below the folder")
    if hooks.form in ("groups", "list"):
        entry: object = None
        with contextlib.suppress(DecodeError):
            entry = load(hooks.entry, strict=True)
        if not isinstance(entry, dict) or "{command}" not in entry.values():
            table.complain("entry", 'must be a JSON object that contains the text "{command}"')


def _field(table: Table, key: str, default: str) -> str:
    """Return the name of a payload's field at *key*; complain of any other text."""
    value = table.text(key, default)
    if value and not _FIELD.fullmatch(value):
        table.complain(key, f"is {value!r}; a field is letters, digits and _, with dots between")
        return default
    return value


def _variable(table: Table, key: str) -> str:
    """Return the name of a variable at *key*; complain of any other text."""
    value = table.text(key)
    if value and not _VARIABLE.fullmatch(value):
        table.complain(key, "is no name of a variable")
        return ""
    return value


def _rule(table: Table) -> Rule:
    """Return one rule for events; complain of its wrong entries."""
    events = table.words("events")
    for event in events:
        if not _EVENT.fullmatch(event):
            table.complain("events", f"has {event!a}, which is not the name of an event")
    if not events:
        table.complain("events", "is missing: name the events that this rule reads")
    status = table.text("status", "nothing", choices=STATUSES)
    kind = table.text("kind", choices=KINDS)
    if kind and status != "waiting":
        table.complain("kind", "is only for waiting")
    values: dict[str, list[str]] = {}
    for word in table.words("values"):
        field, equals, value = word.partition("=")
        if not equals or not _FIELD.fullmatch(field):
            table.complain("values", f"has {word!r}; it must be field=value")
        values.setdefault(field, []).append(value)
    message = table.words("message")
    for word in message:
        if not _FIELD.fullmatch(word):
            table.complain("message", f"has {word!r}, which is not the name of a field")
    rule = Rule(
        events=events,
        status=status,
        kind=kind,
        values=tuple((field, tuple(found)) for field, found in values.items()),
        message=message,
        weak=table.boolean("weak", False),
        ends_tool=table.boolean("ends_tool", False),
        child=table.boolean("child", False),
    )
    table.close()
    return rule


def _need(table: Table) -> Need:
    """Return a setting that the hooks need; complain of an incomplete one."""
    texts = {name: table.text(name) for name in ("file", "value", "value_not", "member", "problem", "remedy")}
    need = Need(key=_field(table, "key", ""), **texts)
    if not (need.file and need.key and need.problem) or not (need.value or need.value_not or need.member):
        table.complain("key", "needs a file, a problem, and a value, a value_not or a member")
    table.close()
    return need


def _beside(table: Table) -> tuple[str, str]:
    """Return the name and the text of a further file; complain of a missing one."""
    found = (table.text("file"), table.text("text"))
    if not all(found):
        table.complain("file", "needs a name and a text")
    table.close()
    return found
