"""The pages of the site that are made from the code: verbs, settings, agents and protocols."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tallylight.agents import agent_files
from tallylight.cli.main import groups, module_of
from tallylight.config.settings import SETTINGS
from tallylight.parts.settings import reference
from tallylight.wire import registry

#: Columns of the help that is shown; wider than this a page has to be scrolled.
_COLUMNS = "92"
#: In a picture of rooms: a room with its name and what it is about, and a room with those that it uses.
_ROOM = re.compile(r'(\w+)\["([^"]+?)(?:<br>([^"]+))?"\]')
_ARROW = re.compile(r"^ *(\w+)(?:\[[^\]]*\])? --> (.+)$", re.M)


def pages(root: Path) -> dict[str, str]:
    """Each page by its name. *root* is the checkout, which has the vectors."""
    return {
        "verbs.md": verbs(),
        "settings.md": settings(),
        "known-agents.md": agents(),
        "protocols.md": protocols(root / "tests/vectors"),
        "published/config.schema.json": json.dumps(reference.schema(), indent=2, ensure_ascii=False) + "\n",
    }


def verbs() -> str:
    """The help of every verb, as `--help` prints it."""
    os.environ["COLUMNS"] = _COLUMNS
    parts = ["# Verbs\n\nThe help of each verb, as `tally VERB --help` prints it.\n"]
    for group, members in groups().items():
        parts.append(f"## {group}\n")
        for verb, what in members.items():
            parts.append(f"### `tally {verb}`\n\n{what[0].upper()}{what[1:]}.\n")
            parser = importlib.import_module(module_of(verb)).make_parser()
            parts += [f"```text\n{one.format_help().strip()}\n```\n" for one in _whole(parser)]
    return "\n".join(parts)


def _whole(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                yield from _whole(below)


def settings() -> str:
    """Every key of config.toml with what it may be."""
    rows = [
        f"| `{one.key}` | {_allowed(one.schema)} | {_code(one.default)} | {_cell(one.form.about)} |" for one in SETTINGS
    ]
    return "\n".join(
        [
            "# Settings\n",
            "Every key of `config.toml`, as the program reads it; [Configuration](configuration.md) shows the file and "
            "explains it. The same for editors is a [JSON Schema](published/config.schema.json), which "
            "`tally config schema` prints.\n",
            "| key | value | default | means |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _allowed(form: dict[str, object]) -> str:
    """What a value may be, in words."""
    if "anyOf" in form:
        return " or ".join(_allowed(one) for one in form["anyOf"])  # type: ignore[attr-defined]
    if "const" in form:
        return _code(form["const"])
    if "enum" in form:
        return ", ".join(_code(word) for word in form["enum"])  # type: ignore[attr-defined]
    if "minimum" in form:
        return f"{form['minimum']:g} to {form['maximum']:g}"
    if form.get("type") == "array":
        return f"a list of: {_allowed(form['items'])}"  # type: ignore[arg-type]
    return {"boolean": "`true` or `false`", "string": "a text", "object": "a table"}.get(str(form.get("type")), "")


def _code(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`".replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def agents() -> str:
    """What is packaged about each agent."""
    rows = []
    for path in sorted(Path(agent_files.__file__).parent.glob("*.toml")):
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
        about = " ".join(line.lstrip("# ") for line in text.partition("\nname")[0].splitlines() if line.startswith("#"))
        can = [word for word, key in _CAN.items() if key in data]
        programs = ", ".join(f"`{name}`" for name in data.get("processes", data.get("generic", [])))
        rows.append(f"| {data.get('display', data['name'])} | {programs} | {', '.join(can)} | {_cell(about)} |")
    return "\n".join(
        [
            "# Known agents\n",
            "One file describes each agent. [Agents](agents.md#describe-an-agent) explains every key, and how to "
            "write one. [Measurements](measurements.md) says how right the lights are.\n",
            "| agent | programs | has | where its facts are from |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


#: What an agent file may have beside names, in words, and the key or table of it.
_CAN = {
    "title": "title",
    "screen": "screen",
    "progress bar": "progress",
    "records": "record",
    "hooks": "hooks",
    "start": "start",
    "resume": "resume",
    "fork": "fork",
}


def protocols(vectors: Path) -> str:
    """Every protocol that is read, in the words of its codec, with the number of its vectors."""
    rows = []
    for path in sorted(vectors.glob("*.toml")):
        # An envelope is known to the relay alone.
        room = "wire" if importlib.util.find_spec(f"tallylight.wire.{path.stem}") is not None else "relay"
        module = importlib.import_module(f"tallylight.{room}.{path.stem}")
        about = (module.__doc__ or "").strip().splitlines()[0]
        tables = tomllib.loads(path.read_text("ascii"))["vector"]
        refused = sum("error" in table for table in tables)
        rows.append(f"| {_cell(about)} | `tests/vectors/{path.name}` | {len(tables)} | {refused} |")
    numbers = ", ".join(str(number) for number in registry.CODECS)
    return "\n".join(
        [
            "# Protocols\n",
            f"`tally run` reads these in a program's output: OSC {numbers}, also in envelopes of tmux and GNU Screen. "
            "[Commands](commands.md#tally-run) has their purpose. [The `tally` variable](protocol.md) is our own; its "
            "vectors are in a file for other implementations.\n",
            "| protocol | vectors | how many | of these refused |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def rooms(page: str) -> str:
    """*page* with its pictures of rooms, which the repository's own view draws, as tables."""

    def table(match: re.Match[str]) -> str:
        uses = {room: ", ".join(others.split(" & ")) for room, others in _ARROW.findall(match[1])}
        rows = [f"| `{name}` | {about} | {uses.get(key, '')} |" for key, name, about in _ROOM.findall(match[1])]
        return "\n".join(["| room | what | uses |", "| --- | --- | --- |", *rows, ""])

    return re.sub(r"^```mermaid\n(.*?)^```\n", table, page, flags=re.M | re.S)
