"""The question that a reply ends with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.prose import LOOKED_AT_CHARS, MAX_QUESTION_CHARS, last_question, last_sentence

REPLIES = {
    "Shall I go on?": "Shall I go on?",
    "It is done.\n\nI made two files. Should I commit them?": "Should I commit them?",
    "It is done: shall I commit?": "shall I commit?",
    "**Should I commit?**": "Should I commit?",
    "> Should I commit?": "Should I commit?",
    "Which do you prefer?\n\n- Red\n- Green\n": "Which do you prefer?",
    "Which one?\n1. Red\n2. Green": "Which one?",
    "Which one?\n(a) Red\nb) Green": "Which one?",
    "どちらにしますか？": "どちらにしますか？",
    "It is ready. Would you like me to:\n\n1. Run it\n2. Ship it": "Would you like me to:",
    "Choose one of these:\n- Red\n- Green": "Choose one of these:",
    "This drops the table. Reply yes or no.": "Reply yes or no.",
    "Shall I drop the table? Reply yes or no.": "Shall I drop the table?",
    "Redis or a file? I recommend Redis.": "Redis or a file?",
    "Redis or a file?\n\nI'd take Redis. If not, a file will do.": "Redis or a file?",
    "All is set. Please confirm before I drop the table.": "Please confirm before I drop the table.",
    "The tests fail.\n\nLet me know which one to keep.": "Let me know which one to keep.",
    "Should I drop\nthe table and\nits rows?": "Should I drop the table and its rows?",
    "I changed these:\n- a.py\n- b.py": "",
    "What I did:\n\nI made the file.": "",
    "I would use Redis.": "",
    "Let me know if you want more.": "",
    "If you want it, say so.": "",
    "All is done.": "",
    "Why? Because.": "",
    "Is it so?\n\nIt is.": "",
    "- Is that a bullet?": "",
    "```\nreally?\n```": "",
    "See:\n```\nreally?": "",
    "": "",
    "?": "?",
}


def test_replies() -> None:
    """The last sentence, or the one before its answers; none of what goes on behind it, of code, of a list."""
    assert {reply: last_question(reply) for reply in REPLIES} == REPLIES


OUTCOMES = {
    "Here is a short answer.": "Here is a short answer.",
    "I changed two files. All 12 tests pass.": "All 12 tests pass.",
    "All tests pass.\n\n```sh\nnpm test\n```\n": "All tests pass.",
    "See:\n```\nls\n```\nIt **works** now, e.g. with `a.py`.": "It works now, e.g. with a.py.",
    "Done:\n- the parser\n- `--force` is gone. Use -f.": "Use -f.",
    "Two left:\n1. Fix it\n2. Ship v1.2 of it": "Ship v1.2 of it",
    "# Result\n\n| a | b |\n|---|---|\n| 1 | 2 |\n": "Result",
    "直しました。テストは通ります。": "テストは通ります。",
    "It is done.\n\n---\n": "It is done.",
    "All 12 tests pass. Let me know if you want more!": "All 12 tests pass.",
    "- One file changed\n\nFeel free to ask.": "One file changed",
    "Let me know.": "Let me know.",
    "```\nonly code\n```": "",
    "...": "",
    "": "",
}


def test_outcomes() -> None:
    """The last sentence in words: no code, no table, no marks of Markdown; an abbreviation ends none."""
    assert {reply: last_sentence(reply) for reply in OUTCOMES} == OUTCOMES
    assert last_sentence("First. " + "X" * 2 * MAX_QUESTION_CHARS) == "X" * MAX_QUESTION_CHARS
    assert last_sentence("Feel free. " * LOOKED_AT_CHARS) == "Feel free."
    assert [last_sentence(odd) for odd in (None, 5, ["a."], {"a": 1})] == [""] * 4


def test_bounds() -> None:
    """Of a long reply the end, of a long question its end, and twelve answers."""
    assert last_question("x" * LOOKED_AT_CHARS * 2 + " why?") == ("x" * LOOKED_AT_CHARS + " why?")[-MAX_QUESTION_CHARS:]
    for answers, expected in ((12, "Which?"), (13, "")):
        assert last_question("Which?\n" + "- a\n" * answers) == expected
    assert [last_question(odd) for odd in (None, 5, ["a?"], {"a": 1})] == [""] * 4


@given(st.text(alphabet="ab?.!: \n-*`1)(", max_size=200))
def test_any_text(text: str) -> None:
    """What comes out is one line of what was there, and ends in a question mark; or nothing."""
    found = last_question(text)
    bare = found.replace(" ", "")
    assert found == "" or (found.endswith("?") and "\n" not in found and bare in "".join(text.split()))
    said = last_sentence(text)
    assert "\n" not in said and (any(map(str.isalnum, said)) or not said)
