"""Tests for the two published rules, against the examples they were published with."""

from __future__ import annotations

from benchmarks.published import Patterns, Silence, read

from tests.tables import each


@each(
    ("text", "expected"),
    [
        ("What would you like me to do for you?\n\n>\n", "waiting"),
        ("● Thinking about the problem…", "working"),
        ("Read(/home/user/a.py)", "working"),
        ("Bash(pytest -q)", "working"),
        ("Error: Failed to connect to the server", "error"),
        ("Done! The file was saved.", "idle"),
        ("", "active"),
        ("  \n\n", "active"),
        ("❯ 1. Yes\n  2. No\n\nEsc to cancel", "waiting"),
        ("Do you want to proceed?", "waiting"),
    ],
)
def test_read(text: str, expected: str) -> None:
    """A text is read as its publisher reads it."""
    assert read(text.split("\n")) == expected


def test_patterns_twice() -> None:
    """The first reading applies at once, a new one when it was read twice on end."""
    rule = Patterns()
    shown = [rule.look([text]) for text in (">", "Bash(x)", ">", "Bash(x)", "Bash(x)")]

    assert shown == ["waiting", "waiting", "waiting", "waiting", "working"]


def test_silence() -> None:
    """An agent works for four seconds after its last output, and waits from then on, until it is gone."""
    rule = Silence()
    before = rule.state(1.0), rule.due()
    rule.agent(True, 2.0)
    rule.output(3.0)

    assert before == ("idle", None)
    assert (rule.state(6.9), rule.due(), rule.state(7.0)) == ("working", 7.0, "waiting")
    rule.agent(False, 9.0)
    assert rule.state(20.0) == "idle"
