"""docs/commands.md and the commands that it is about say the same: exit codes and rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallylight.cli import exit_codes
from tallylight.cli.main import main
from tests.hosts.kitty.test_script_typing import EVERY, OWN
from tests.test_docs import faults

PAGE = (Path(__file__).parents[2] / "docs/commands.md").read_text("utf-8")

#: Those of every verb, and those for scripts.
CODES = {0, 1, 2} | {code for name, code in vars(exit_codes).items() if name.isupper()}


def rows(header: str) -> dict[str, str]:
    """The table of the page that begins with *header*: the first cell of each row, and the last."""
    table = PAGE[PAGE.index(header) :].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {row[0]: row[-1] for row in cells}


def test_the_exit_codes_are_those_of_the_page() -> None:
    """Each once, with what it means."""
    documented = rows("| exit code | means |")
    assert set(documented) == set(map(str, CODES)) and all(documented.values())


def test_the_rules_are_those_of_the_page() -> None:
    """Each rule by which a hostile request is refused is explained."""
    named = {rule for cell in rows("| rule | the reason |") for rule in re.findall(r"`([\w-]+)`", cell)}
    used = {rule for table in (EVERY, *OWN.values()) for _, rule_words in table.values() for rule in rule_words.split()}
    assert used - named == set()


def test_the_skill_says_what_is_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command in it is understood; it has the head of a skill, and no code that is not documented."""
    assert main(["skill"]) == 0
    text = capsys.readouterr().out
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    assert [line.partition(":")[0] for line in head.splitlines()] == ["name", "description"]
    assert faults(body, monkeypatch, capsys) == []
    assert {"start", "wait", "read", "send", "interrupt"} <= set(re.findall(r"tally (\w+)", body))
    codes = body.partition("## Exit codes")[2].partition(" With")[0]
    assert {int(code) for code in re.findall(r"\b\d+\b", codes)} == CODES
