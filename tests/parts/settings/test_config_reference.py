"""What settings there are: the schema, the file of defaults, and the list of what is in force come from the reader."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tallylight.config.colour import parse_colour
from tallylight.config.declared import Setting
from tallylight.config.settings import SETTINGS, Config, load
from tallylight.parts.settings.reference import defaults, in_force, schema
from tests.tables import each

TEMPLATE = defaults(is_template=True)
VALIDATOR = jsonschema_rs.Draft7Validator(schema())
KEYS = [setting.key for setting in SETTINGS]
#: A file with something of every kind, and a mistake in it.
SOME = """\
poll_ms = 5
silence_s = 9
colours = "light"

[notify]
quiet = ["22:00-07:00"]
when = ["done"]

[keys]
jump = "ctrl+y"

[kitty]
style = "strip"
"""


def written(key: str, value: object) -> str:
    """A file that sets *key* alone."""
    table, _, name = key.rpartition(".")
    return f"{f'[{table}]' if table else ''}\n{name} = {json.dumps(value)}\n"


def test_the_schema_is_one() -> None:
    """It is a schema of its own dialect, which says of each key what it means."""
    assert jsonschema_rs.meta.is_valid(schema())
    assert len(KEYS) == len(set(KEYS)) > 40
    silent = {setting.key for setting in SETTINGS if "description" not in setting.schema}
    assert silent == {f"colours.{name}" for name in ("background", "done", "limited", "error", "down", "quiet", "idle")}


#: What has a line in the file: a table inside a table is written in one.
LINES = sorted({".".join(key.split(".")[:2]) for key in KEYS})


def test_the_defaults_are_documented_once() -> None:
    """The file of defaults has every key, is what one has without a file, and is what docs/configuration.md shows."""
    doc = Path(__file__).parents[3].joinpath("docs/configuration.md").read_text("utf-8")
    assert doc.partition("```toml\n")[2].partition("```")[0] == defaults()

    assert load(defaults(), "") == (Config(), [])
    assert VALIDATOR.is_valid(tomllib.loads(defaults()))
    every = re.sub(r"^# (?=\w+ = )", "", defaults(), flags=re.M)
    data = tomllib.loads(every)
    found = [f"{key}.{name}" if isinstance(value, dict) else key for key, value in data.items()
             for name in (value if isinstance(value, dict) else [""])]  # fmt: skip
    assert sorted(found) == LINES
    assert load(every, "")[1] == [] and VALIDATOR.is_valid(data)


def test_a_new_file_pins_nothing() -> None:
    """What `tally config edit` begins with sets no key; each line without its `#` is in the table where it belongs."""
    assert load(TEMPLATE, "") == (Config(), [])
    assert not any(isinstance(value, dict) and value for value in tomllib.loads(TEMPLATE).values())
    assert sorted(re.findall(r"^# (\w+) = ", TEMPLATE, re.M)) == sorted(key.rpartition(".")[2] for key in LINES)


_JUNK = st.one_of(
    st.booleans(),
    st.integers(-10, 40_000),
    st.floats(-1, 5000, allow_nan=False),
    st.text("abcdefghij#09:-+,. ", max_size=12),
    st.lists(st.sampled_from(["waiting", "done", "wating", "22:00-07:00", "22-7", "", "x"]), max_size=3),
    st.lists(st.integers(), max_size=2),
)


@st.composite
def _lines(draw: st.DrawFn) -> tuple[Setting, object]:
    """A setting, and a value that may be right or not."""
    setting = draw(st.sampled_from(SETTINGS))
    form = setting.schema
    own = [form["default"], *form.get("enum", [])]
    limits = form.get("anyOf", [{}, form])[1]
    if "maximum" in limits:
        own += [limits["minimum"], limits["maximum"], limits["maximum"] + 1, limits["minimum"] - 0.01, 0]
    return setting, draw(st.one_of(st.sampled_from(own), _JUNK))


@given(_lines())
def test_the_schema_and_the_reader_agree(line: tuple[Setting, object]) -> None:
    """A value that the one refuses the other complains of, but for what no schema can say."""
    setting, value = line
    # Which names of colours there are.
    assume(setting.table != "colours" or not isinstance(value, str) or not value.isalpha() or parse_colour(value))
    text = written(setting.key, value)

    is_wrong = bool(load(text, "")[1])
    assert VALIDATOR.is_valid(tomllib.loads(text)) is not is_wrong


@each("text", ["bogus = 1", "[kitty]\nbogus = 1", "colours = 'bogus'", "kitty = 3", "colours = 3", "[colours.x]"])
def test_what_is_not_there_is_refused_by_both(text: str) -> None:
    """Unknown keys and tables, palettes that do not exist, and what is no table."""
    assert load(text, "")[1] and not VALIDATOR.is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    "text", ["", SOME, "colours.palette = 'theme'\ncolours.done = 'green'", "colours = 'theme'", "x x"]
)
def test_what_is_in_force_is_the_configuration(text: str) -> None:
    """Written as a file, what is listed as in force is the same configuration, from a file with mistakes as well."""
    config, mistakes = load(text, "")
    listed = in_force(config, text, mistakes)
    tables: dict[str, list[str]] = {}
    for one in listed:
        if one.value:
            table, _, name = one.key.rpartition(".")
            tables.setdefault(table, []).append(f"{name} = {one.value}")
    again = "\n".join(line for table, lines in tables.items() for line in ([f"[{table}]"] if table else []) + lines)

    assert [one.key for one in listed] == KEYS
    assert load(again, "") == (config, [])


def test_where_a_value_is_from() -> None:
    """The line of its own key, of the palette for a colour, and none for a default or where the line is not obeyed."""
    lines = {one.key: (one.value, one.line) for one in in_force(*_arguments(SOME))}

    assert lines["poll_ms"] == ("100", 1), "it is moved to the nearest that is allowed"
    assert lines["silence_s"] == ("9", 2)
    assert lines["stale_s"] == ("30", None)
    assert lines["colours.waiting"] == ('"#D96B00"', 3)
    assert lines["notify.quiet"] == ('["22:00-07:00"]', 6)
    assert lines["notify.when"] == ('["done"]', 7)
    assert lines["keys.jump"] == ('"ctrl+y"', 10) and lines["keys.fork"] == ("", None)
    assert lines["kitty.style"] == ('"filled"', None), "a mistake has its default"
    own = "[colours]\npalette = 'light'\ndone = 'green'\n"
    lines = {one.key: (one.value, one.line) for one in in_force(*_arguments(own))}
    assert lines["colours.done"] == ('"#008000"', 3) and lines["colours.waiting"][1] == 2


def test_machines_are_in_force() -> None:
    """By their own names, also one with a dot, each with its line; written again they are the same."""
    text = """[machines]
devbox = "ssh 'dev box'"
"ci.eu" = { command = "docker exec -i ci", attach = "docker exec -it ci" }
wrong = 3
"""
    found = [one for one in in_force(*_arguments(text)) if one.key.startswith("machines.")]
    assert [(one.key, one.line) for one in found] == [("machines.devbox", 2), ("machines.ci.eu", 3)]
    assert [one.place for one in found] == [("machines", "devbox"), ("machines", '"ci.eu"')]
    again = "[machines]\n" + "\n".join(f"{one.place[1]} = {one.value}" for one in found)
    assert load(again, "") == (load(text, "")[0], [])


def _arguments(text: str) -> tuple[Config, str, list]:
    config, mistakes = load(text, "")
    return config, text, mistakes
