"""Screen rules in agent files: what they may say, how mistakes are pointed at, and which patterns are refused."""

from __future__ import annotations

import re
import time
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.agents.agent import parse_agent
from tallylight.agents.patterns import (
    MAX_MATCHED_CHARS,
    MAX_PATTERN_CHARS,
    MAX_PATTERN_COST,
    PatternError,
    compile_pattern,
)
from tallylight.agents.screens import MAX_PATTERNS, MAX_RULES, ScreenRule
from tallylight.evidence.prompts import read_screen
from tallylight.model.errors import DataFileError
from tallylight.model.status import Kind, Status
from tests.evidence.agents import AGENTS
from tests.tables import each

HEAD = 'name = "mine"\nprocesses = ["mine"]\n'
RULE = '[[screen.rules]]\nname = "ready"\nstatus = "idle"\nlines = ["mine> "]\n'


def error(text: str) -> DataFileError:
    with pytest.raises(DataFileError) as found:
        parse_agent(text, "mine.toml")
    return found.value


def test_a_users_agent_in_five_lines() -> None:
    """A name, a process and one rule: its question is read off the screen."""
    agent = parse_agent(
        'name = "mine"\nprocesses = ["mine"]\nscreen.rules = [\n'
        '    {name = "go on", status = "waiting", kind = "question", lines = ["SHALL I (.*)"]},\n]\n',
        "mine.toml",
    )

    found = read_screen(agent, ["working…", "", "SHALL I go on", ""], 3)

    assert found is not None and found.dialog is not None
    assert (found.status, found.kind, found.rule, found.dialog.question) == (
        Status.WAITING,
        Kind.QUESTION,
        "go on",
        "go on",
    )


def test_priority_goes_before_order() -> None:
    """Rules of a higher priority are asked first, the others as they stand."""
    text = "".join(
        f'[[screen.rules]]\nname = "{name}"\nstatus = "idle"\nlines = [".*"]\npriority = {priority}\n'
        for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", -1))
    )

    assert [rule.name for rule in parse_agent(HEAD + text, "mine.toml").screen_rules] == ["b", "a", "c", "d"]


def test_generic_dialogs_can_be_switched_off() -> None:
    """`generic = false`: what only looks like a dialog of programs in general is none of this agent's."""
    dialog = ["Go on? [y/N] "]
    assert read_screen(parse_agent(HEAD, "mine.toml"), dialog, 0) is not None
    assert read_screen(parse_agent(f"{HEAD}[screen]\ngeneric = false\n", "mine.toml"), dialog, 0) is None


@each(
    ("where", "shows"),
    [
        ("end", ["above", "in", "below"]),
        ("cursor", ["above"]),
        ("at cursor", ["above"]),
        ("box", ["in"]),
        ("input", ["in"]),
        ("above box", ["above"]),
    ],
)
def test_places(where: str, shows: list[str]) -> None:
    """A rule sees the rows it names, and no others."""
    lines = ["above", "─" * 30, "in", "─" * 30, "below"]
    for word in ("above", "in", "below"):
        rule = f'[[screen.rules]]\nname = "x"\nstatus = "idle"\nlines = ["{word}"]\nwhere = "{where}"\n'
        found = read_screen(parse_agent(HEAD + rule, "mine.toml"), lines, 0)
        assert (found is not None) == (word in shows), word


def test_last_counts_rows_with_text() -> None:
    """The last so many rows with text, at the number and one above it."""
    rule = RULE.replace('"mine> "', '"three"') + "last = {}\n"
    lines = ["three", "", "two", "─" * 20, "one"]
    assert read_screen(parse_agent(HEAD + rule.format(3), "mine.toml"), lines, 4) is not None
    assert read_screen(parse_agent(HEAD + rule.format(2), "mine.toml"), lines, 4) is None


@each(
    ("rule", "key", "line", "problem"),
    [
        (RULE.replace('name = "ready"\n', ""), "screen.rules.name", 3, "is missing"),
        (RULE.replace("ready", "Ready!"), "screen.rules.name", 4, "small letters"),
        (RULE.replace('"idle"', '"down"'), "screen.rules.status", 5, "must be one of"),
        (RULE.replace('status = "idle"\n', ""), "screen.rules.status", 3, "say what this screen means"),
        (RULE.replace('lines = ["mine> "]\n', ""), "screen.rules.lines", 3, "say what to find"),
        (RULE.replace("mine> ", "(a+)+"), "screen.rules.lines", 6, "more than one way"),
        (RULE.replace("mine> ", "[a"), "screen.rules.lines", 6, "is missing a `]`"),
        (RULE.replace("mine> ", "a" * (MAX_PATTERN_CHARS + 1)), "screen.rules.lines", 6, "longer than"),
        (RULE.replace('["mine> "]', str(["a"] * (MAX_PATTERNS + 1))), "screen.rules.lines", 6, "at most"),
        (f'{RULE}kind = "question"\n', "screen.rules.kind", 7, "only for waiting"),
        (RULE.replace("idle", "working") + "stopped = true\n", "screen.rules.stopped", 7, "only for idle"),
        (
            '[[screen.rules]]\nname = "a"\nstatus = "idle"\nchoices = "numbered"\nnot_below = ["x"]\n',
            "screen.rules.not_below",
            7,
            "needs lines",
        ),
        (f'{RULE}where = "top"\n', "screen.rules.where", 7, "must be one of"),
        (f'{RULE}choices = "some"\n', "screen.rules.choices", 7, "must be one of"),
        (f'{RULE}choose = "number"\n', "screen.rules.choose", 7, "only for rules with choices"),
        (f"{RULE}last = 49\n", "screen.rules.last", 7, "must be 1 to 48"),
        (f'{RULE}line = "x"\n', "screen.rules.line", 7, "is unknown"),
        (f'{RULE}question = "*"\n', "screen.rules.question", 7, "repeats nothing"),
        (RULE + RULE.replace("idle", "active"), "screen.rules.status", 9, "must be one of"),
        ("[screen]\nrule = 1\n", "screen.rule", 4, "is unknown"),
        (RULE * (MAX_RULES + 1), "screen.rules.name", 3 + 4 * MAX_RULES + 1, "are read"),
    ],
)
def test_mistakes_are_pointed_at(rule: str, key: str, line: int, problem: str) -> None:
    """Each names the file, the key, the line of the very rule it is in, and what is wrong."""
    found = error(HEAD + rule)

    assert (found.path, found.key, found.line) == ("mine.toml", key, line)
    assert problem in str(found)


@each(
    "pattern",
    ["", "a", ".*", ".*a.*", r"\d{1,2}/\d{1,2}", "(?:a|b)?c", "(?P<q>.*)", "(?i)yes", "[]a]", r"[^\]]+", r"\(", "a{3}",
     "a|b|c", r"\u2713 ", "a+?b", "x{0,5}", "^a$", "{"],
)  # fmt: skip
def test_patterns_that_are_allowed(pattern: str) -> None:
    """They are the regular expressions that they look like."""
    if pattern == "{":
        with pytest.raises(PatternError):
            compile_pattern(pattern)
        return
    assert compile_pattern(pattern).pattern == pattern.removeprefix("(?i)")


@each(
    "pattern",
    ["(a+)+", "(a|b)*", "(?:.*)*", "(a?){9}", ".*.*.*", r"(a)\1", "(?=a)", "(?<!a)b", "(?>a)", "(?#x)", "a**", "*", "(",
     ")", "[", "a\\", "(?P=q)", "(?s)a", r"\1", "(" * 10 + ")" * 10, "(?:ab?){2}", "[b-a]"],
)  # fmt: skip
def test_patterns_that_are_refused(pattern: str) -> None:
    """What could take exponential time, what looks elsewhere, and what is no regular expression."""
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@given(st.text(alphabet="ab.*+?{}12,()|[]^$\\dP<>:=", max_size=24), st.text(alphabet="ab1", max_size=MAX_MATCHED_CHARS))
def test_whatever_is_allowed_is_quick(pattern: str, row: str) -> None:
    """A pattern is refused, or matches a whole row in no time."""
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return
    begun = time.thread_time()
    compiled.match(row)
    assert time.thread_time() - begun < 0.1


@each("pattern", [".*.*b", "a*a*b", "(?:a*a*b|a*c)", ".*a.{0,200}b"])
def test_the_worst_that_is_allowed(pattern: str) -> None:
    """The most ways that are let through still take a few milliseconds."""
    compiled = compile_pattern(pattern)
    begun = time.thread_time()
    compiled.match("a" * MAX_MATCHED_CHARS)

    assert time.thread_time() - begun < 0.05
    assert MAX_MATCHED_CHARS**2 < MAX_PATTERN_COST


def test_packaged_rules_say_where_they_look() -> None:
    """No rule of ours has a name twice, and every waiting one has a kind."""
    for agent in AGENTS:
        names = [rule.name for rule in agent.screen_rules]
        assert len(names) == len(set(names)), agent.name
        assert not [rule.name for rule in agent.screen_rules if rule.status is Status.WAITING and rule.kind is None]
        assert not [name for name in names if not re.fullmatch(r"[a-z0-9 _-]+", name)]


def test_the_documentation_is_true() -> None:
    """Every example of an agent file in the documentation is one, and nothing it may say is left out of them."""
    page = (Path(__file__).parents[2] / "docs/agents.md").read_text("utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 2
    for example in examples:
        parse_agent(example, "docs/agents.md")
    for key in ("generic", *(field.name for field in attrs.fields(ScreenRule))):
        assert re.search(rf"^{key} = ", examples[0], re.MULTILINE), key
