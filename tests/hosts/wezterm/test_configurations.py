"""
Fourteen configurations as people write them, each with the lines that `tally setup` prints for it.

A configuration is a directory with its `wezterm.lua` and the modules that it loads. What makes titles of its own writes
`mine:` into them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallylight.model.errors import TallyError
from tallylight.setup import wezterm_lua
from tallylight.setup.wezterm_lua import LOAD, Edit, apply
from tests.hosts.wezterm import api
from tests.hosts.wezterm.conftest import Bench
from tests.hosts.wezterm.fake import LUA, text_of
from tests.tables import each

FOLDER = Path(__file__).with_name("configurations")
NAMES = sorted(path.name for path in FOLDER.iterdir())
#: What the lines cannot be found for: a message says what to do.
BY_HAND = {"no_return_of_its_own"}


def source_of(name: str) -> str:
    return (FOLDER / name / "wezterm.lua").read_text("utf-8")


def edited(source: str, edits: list[Edit]) -> str:
    """The file after a person has done what was printed, from its end to its top."""
    lines = source.splitlines()
    for edit in sorted(edits, key=lambda edit: edit.line or len(lines) + 1, reverse=True):
        if edit.old:
            assert lines[edit.line - 1].startswith(edit.old)
            lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.text, 1)
        else:
            at = edit.line - 1 if edit.line else len(lines)
            lines[at:at] = edit.text.split("\n")
    return "\n".join([*lines, ""])


def begun(bench: Bench, name: str, source: str) -> Bench:
    folder = FOLDER / name
    bench.start(path=f"{folder}/?.lua;{LUA}/?.lua;{LUA}/?/init.lua")
    config = bench.fake.evaluate(source)
    assert config["font_size"] == 12
    return bench


@pytest.mark.slow
@each("name", NAMES)
@pytest.mark.parametrize("profile", api.PROFILES)
def test_the_printed_lines_light_it(profile: str, name: str, tmp_path: Path) -> None:
    """With them, a question is lit on its tab; the options stay, and so do the titles of a handler of its own."""
    source = source_of(name)
    bench = begun(Bench(profile, tmp_path), name, source)
    has_titles = "format-tab-title" in bench.fake.handlers
    before = text_of(bench.title(bench.panes[1]))
    assert ("mine:" in before) is (has_titles and name != "raising")
    if name in BY_HAND:
        with pytest.raises(TallyError, match="before each `return`"):
            wezterm_lua.edits(source)
        return
    changed = edited(source, wezterm_lua.edits(source))
    assert not wezterm_lua.is_late(changed)
    begun(bench, name, changed)
    assert text_of(bench.title(bench.panes[1])) == before
    bench.say(bench.panes[1], "state=waiting;tool=claude;project=web;kind=question")
    assert "?" in text_of(bench.title(bench.panes[1]))
    assert ("mine:" in text_of(bench.title(bench.panes[1]))) is ("mine:" in before)
    assert bench.fake.errors() == []


def test_fourteen() -> None:
    """Each of them is another way to write it."""
    assert len(NAMES) == len({source_of(name) for name in NAMES}) == 14


@each("name", sorted(BY_HAND))
def test_by_hand(name: str, bench: Bench) -> None:
    """What the message says to do lights it as well."""
    source = re.sub(r"return (\w+|\{\})\n", lambda m: f"{apply(m[1])}\n  {m[0]}", source_of(name))
    begun(bench, name, f"{LOAD}\n{source.replace('(' + '{}' + ')', '(nil)')}")
    bench.say(bench.panes[1], "state=waiting")
    assert bench.light(bench.panes[1]) == "!"


def test_a_handler_that_fails(bench: Bench) -> None:
    """It is told once, to doctor too, and the titles are drawn without it: here and in `wrap`."""
    source = source_of("raising")
    begun(bench, "raising", edited(source, wezterm_lua.edits(source)))
    bench.say(bench.panes[1], "state=waiting;project=web")
    for _ in range(3):
        bench.tick()
    assert "2: web" in text_of(bench.title(bench.panes[1]))
    assert bench.feed["problems"] == "formatter"
    told = [line for level, line in bench.fake.log if level == "warn"]
    assert len(told) == 1 and "no_such_field" in told[0]


@each("made", ["7", "{ { Text = 7 } }", "{ 7 }", "error(setmetatable({}, { __tostring = error }))"])
def test_what_no_title_can_be_made_of(bench: Bench, made: str) -> None:
    """A handler whose titles WezTerm refuses takes no light away."""
    bench.config(after=f"wezterm.on('format-tab-title', function() return {made} end)")
    bench.say(bench.panes[1], "state=waiting")
    assert bench.light(bench.panes[1]) == "!"


def test_lines_that_are_in_the_wrong_place() -> None:
    """A handler of the same file that comes first is found; in a comment it is none."""
    source = source_of("own_title_first")
    late = source.replace("return config", f"{LOAD}\n{apply('config')}\nreturn config")
    assert wezterm_lua.is_late(late)
    assert not wezterm_lua.is_late(late.replace("wezterm.on(", "-- wezterm.on("))
    assert not wezterm_lua.is_late(source)


def test_no_configuration(bench: Bench) -> None:
    """Without one there is a warning, and nothing else happens."""
    bench.fake.evaluate("require('tallylight').apply_to_config(nil) return {}")
    assert bench.fake.handlers == {}
    assert [level for level, _ in bench.fake.log] == ["warn"] and "tally setup" in bench.fake.log[0][1]


@each("source", ["", "--[==[ return x", "return", "'", "x = [[", "return nil", "return 'a\\", "end end return x"])
def test_what_is_no_configuration(source: str) -> None:
    """Half a file is read as far as it goes."""
    try:
        assert wezterm_lua.edits(source)[0] == Edit(1, LOAD)
    except TallyError as error:
        assert "return" in str(error)
