"""Help: grouped, with examples that work and exit codes for every verb, and as wide as the terminal."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from tallylight.cli import emit
from tallylight.cli.main import every_verb, groups, main, module_of, usage
from tallylight.cli.parser import Parser
from tests.command_line import is_understood

#: A command of ours in an example, up to where a shell would end it.
_TALLY = re.compile(r"tally (?:\"[^\"]*\"|'[^']*'|[^|<>)\"'])*")


VERBS = every_verb()


def parsers(verb: str) -> Iterator[Parser]:
    """The parser of *verb*, and those of its own verbs."""
    parser = __import__(module_of(verb), fromlist=["main"]).make_parser()
    assert isinstance(parser, Parser)
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def test_help_is_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each verb stands in one group, below its title."""
    monkeypatch.setenv("COLUMNS", "100")
    sections = dict(re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", usage(()), re.M))

    assert list(sections) == ["See", "Act", "Set up", "More", "More to set up", "For scripts", "Exit codes"]
    assert sum(map(len, groups().values())) == len(VERBS)
    for group, verbs in groups().items():
        assert re.findall(r"^  ([\w-]+)", sections[group], re.M) == list(verbs)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples_that_work_and_exit_codes(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example is a command line that is understood; the help shows them and what each exit code means."""
    for parser in parsers(verb):
        text = parser.format_help()
        assert parser.prog.startswith(f"tally {verb}")
        assert parser.examples and 0 in parser.codes
        for example, what in parser.examples.items():
            assert example in text and what
            commands = _TALLY.findall(example)
            assert commands
            for command in commands:
                words = shlex.split(command)[1:]
                assert words[0] == verb
                assert is_understood(words, monkeypatch), command
        for code, what in parser.codes.items():
            assert re.search(rf"^  {code} +{re.escape(what[:12])}", text, re.M)


def test_an_example_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails for an option or a word that a verb does not have."""
    assert not is_understood(["status", "--bogus"], monkeypatch)
    assert not is_understood(["emit", "sleeping"], monkeypatch)


@pytest.mark.parametrize("columns", [36, 60, 80, 250])
def test_help_is_as_wide_as_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is longer than the terminal, or than one can read; only what is to be typed is never broken."""
    monkeypatch.setenv("COLUMNS", str(columns))
    most = min(columns, 100)
    widths = [len(line) for line in usage(()).splitlines()]
    assert 0.7 * most < max(widths) <= most or columns > 100
    for verb in VERBS:
        for parser in parsers(verb):
            head, _, rest = parser.format_help().partition("\n\n")
            assert head.startswith("usage: tally")
            for line in rest.splitlines():
                is_typed = line.strip() in parser.examples or len(line.split()) == 1
                assert is_typed or len(line) <= most, line


def test_help_of_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """`tally help VERB` is `tally VERB --help`; of a verb that does not exist it is wrong usage."""
    assert main(["help", "wait"]) == 0
    first = capsys.readouterr().out
    assert main(["wait", "--help"]) == 0
    assert first == capsys.readouterr().out
    assert "  124  the timeout passed\n" in first
    assert main(["help", "bogus"]) == 2


@pytest.mark.parametrize(("verb", "own"), [("agent", "check"), ("config", "edit"), ("host", "sessions")])
def test_a_verb_with_verbs_of_its_own(verb: str, own: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Alone it prints them, which is what somebody wants who has typed no more."""
    assert main([verb]) == 2
    told = capsys.readouterr().err
    assert "exit codes:" in told and f" {own} " in told
    assert main([verb, "nothing"]) == 2
    assert "exit codes:" not in capsys.readouterr().err


def test_emit_is_helped_with_all_that_it_reads() -> None:
    """The parser that words the help of `emit` has the options of the one that reads it."""
    actions = {option: action for action in emit.make_parser()._actions for option in action.option_strings}
    assert set(actions) - {"-h", "--help"} == set(emit.OPTIONS)
