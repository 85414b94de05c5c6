"""Colour: NO_COLOR, FORCE_COLOR and `--color`, the same for every verb that colours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallylight import cli
from tallylight.cli.main import main
from tallylight.ui import colours
from tallylight.ui.ansi import Depth
from tests.cli.panes import WAITING, publish
from tests.tables import each

#: What a verb colours with.
_COLOURS = re.compile(r"\.(?:lit|coloured|strong|decision)\(|are_wanted\(|colours\.depth\(|confirm import ask")
_OTHERS = {
    "output",  # what they all colour with
    "serve",  # a QR code, which is nothing without its two colours
}


@each(
    ("choice", "environ", "on_terminal", "elsewhere"),
    [
        ("auto", {}, True, False),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, True, False),
        ("auto", {"TERM": "dumb"}, False, False),
        ("auto", {"TERM": ""}, False, False),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("auto", {"FORCE_COLOR": "yes", "TERM": "dumb"}, True, True),
        ("auto", {"FORCE_COLOR": ""}, True, False),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("always", {"TERM": "dumb"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
        ("never", {}, False, False),
    ],
)
def test_who_decides(choice: str, environ: dict[str, str], on_terminal: bool, elsewhere: bool) -> None:
    """The command line, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that has colours."""
    environ = colours.chosen({"TERM": "xterm-256color"} | environ, choice)

    assert colours.are_wanted(environ, is_terminal=True) is on_terminal
    assert colours.are_wanted(environ, is_terminal=False) is elsewhere
    assert colours.depth(environ) is (Depth.CUBE if on_terminal else Depth.NONE)
    assert colours.depth(environ | {"COLORTERM": "truecolor"}) is (Depth.FULL if on_terminal else Depth.NONE)


@pytest.mark.parametrize("command", ["status", "why", "demo --once --speed 1000"])
def test_into_a_pipe(
    command: str, runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe gets colours only where that is asked for; without them the text is the same."""
    publish(runtime, [WAITING])

    def said(*more: str, **environ: str) -> str:
        with monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            assert main([*command.split(), *more]) == 0
        return capsys.readouterr().out

    plain = said()
    assert plain and "\x1b" not in plain
    assert "\x1b" not in said(NO_COLOR="1", FORCE_COLOR="1")
    assert "\x1b" not in said("--color=never", FORCE_COLOR="1")
    for coloured in (said("--color", "always", NO_COLOR="1"), said(FORCE_COLOR="1")):
        assert "\x1b[38;5;" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_every_verb_that_colours_can_be_told() -> None:
    """A module of a verb that colours has the option; what has the option colours."""
    folder = Path(cli.__file__).parent
    paths = [*folder.glob("*.py"), *folder.parent.glob("parts/*/verbs/*.py")]
    sources = {path.stem: path.read_text("utf-8") for path in paths if path.stem not in _OTHERS}
    colouring = {name for name, source in sources.items() if _COLOURS.search(source)}

    assert {"status", "why", "agents", "setup", "fork"} <= colouring
    assert colouring == {name for name, source in sources.items() if ".add_color()" in source}


def test_the_variables_mean_nothing_else_to_us() -> None:
    """One module reads NO_COLOR and FORCE_COLOR, so that every surface obeys the same rules."""
    package = Path(cli.__file__).parents[1]
    readers = {str(path.relative_to(package)) for path in package.rglob("*.py") if '_COLOR"' in path.read_text("utf-8")}
    assert readers == {"ui/colours.py"}
