"""An agent's own screen rules, applied: the rows of each place, which rule is asked first, what a prompt is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.screens import ScreenRule
from tallylight.evidence.choices import pointed_choices
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog, Place
from tallylight.model.status import Kind, Status
from tallylight.wire.styled import plain
from tallylight.wire.styled import read_screen as read_styled

EDGE = "─" * 30
ASKED = ["Which colour?", "❯ 1. Red", "  2. Green"]


def rule(name: str, *lines: str, status: Status = Status.WAITING, **fields: Any) -> ScreenRule:
    patterns = {key: re.compile(fields.pop(key)) for key in ("question",) if key in fields}
    without, not_below = (tuple(re.compile(p) for p in fields.pop(key, ())) for key in ("without", "not_below"))
    kind = Kind.QUESTION if status is Status.WAITING else None
    if status is Status.WAITING:
        # Its dialog begins with the row above its choices, whatever that is.
        fields.setdefault("top", re.compile(""))
        fields.setdefault("margin", 20)
    made = tuple(re.compile(line) for line in lines)
    return ScreenRule(
        name=name, status=status, kind=kind, lines=made, without=without, not_below=not_below, **patterns, **fields
    )


def read(
    lines: Sequence[str], *rules: ScreenRule, cursor: int | None = None, generic: bool = False
) -> ScreenReading | None:
    return read_screen(agent_with(*rules, generic=generic), lines, len(lines) - 1 if cursor is None else cursor)


def agent_with(*rules: ScreenRule, generic: bool = False) -> Agent:
    """An agent of these rules."""
    return Agent(name="mine", display="Mine", screen_rules=rules, screen_generic=generic)


def asked(lines: Sequence[str], *rules: ScreenRule) -> Dialog:
    """The dialog that is read."""
    found = read(lines, *rules)
    assert found is not None and found.status is Status.WAITING and found.dialog is not None
    return found.dialog


def rows_at(where: str, lines: Sequence[str], cursor: int = 0) -> list[str]:
    """The rows of *lines* that a rule sees at a place; each of them is another."""
    named = [line.strip() for line in lines if line.strip() and line != EDGE]
    return [
        name
        for name in named
        if read(lines, rule("x", re.escape(name) + "$", status=Status.IDLE, where=where, last=48), cursor=cursor)
    ]


def test_places() -> None:
    """Each place has the rows that its name says, wherever the screen begins."""
    high = ["gone"] + ["."] * 59 + ["", "a", "b"]
    rows: list[tuple[str, list[str], int, list[str]]] = [
        ("end", ["a", "b", ""], 0, ["a", "b"]),
        ("cursor", ["a", "b", "c"], 1, ["a", "b"]),
        ("cursor", ["a", "b", "c"], -1, []),
        ("at cursor", ["x", "", "a", "b", "c", "", "y"], 3, ["a", "b", "c"]),
        ("at cursor", ["x", EDGE, "a", "b", EDGE, "y"], 2, ["a", "b"]),
        ("at cursor", ["a", "b", "", "y"], 0, ["a", "b"]),
        ("at cursor", ["a", "b", "", "y"], 1, ["a", "b"]),
        ("at cursor", ["x", "", "a", "b"], 3, ["a", "b"]),
        ("at cursor", ["x", "", "a", "b"], 4, []),
        ("at cursor", ["x", "", "a", "b"], 1, []),
        ("at cursor", ["x", "", "a", "b"], -1, []),
        ("box", ["x", EDGE, "a", "b", EDGE, "y"], 0, ["a", "b"]),
        ("input", ["x", EDGE, "", "a", "b", EDGE, "y"], 0, ["a"]),
        ("input", ["a", EDGE, "b"], 0, []),
        ("above box", ["w", "x", EDGE, "a", EDGE, "y"], 0, ["w", "x"]),
        ("box", ["x", EDGE, "a", EDGE, EDGE, "y"], 0, ["a"]),
        ("box", ["v", EDGE, "w", EDGE, "x", EDGE, "a", EDGE], 0, ["a"]),
        ("box", [EDGE, *"abcdefgh", EDGE], 0, [*"abcdefgh"]),
        ("box", [EDGE, "a", EDGE, *"vwxyz"], 0, ["a"]),
        ("box", [EDGE, "a", EDGE, "v", "", "w", "", *"xyz"], 0, ["a"]),
        ("box", [EDGE, "a", EDGE, *"uvwxyz"], 0, []),
        ("box", ["a", EDGE, "b"], 0, []),
        ("above box", ["a", EDGE, "b"], 0, []),
        ("above box", [EDGE, "a", EDGE], 0, []),
        ("below line", ["x", EDGE, "y", EDGE, "a", "", "b"], 0, ["a", "b"]),
        ("below line", ["x", EDGE], 0, []),
        ("below line", ["x"], 0, []),
    ]
    wrong = [row for row in rows if rows_at(row[0], row[1], row[2]) != row[3]]

    assert wrong == []
    sees = rule("x", "[ab]$", status=Status.IDLE, where="at cursor", last=48)
    assert [read(high, sees, cursor=at) is not None for at in (0, 60, 61, 62, 63)] == [False, False, True, True, False]


def test_what_a_rule_wants() -> None:
    """Each of its lines in some row, none of its exceptions in any, and its choices."""
    screen = ["one", "two", "", *ASKED]
    rows: list[tuple[ScreenRule, bool]] = [
        (rule("x", "one", "two"), True),
        (rule("x", "two", "one"), True),
        (rule("x", "one", "three"), False),
        (rule("x", "three", "one"), False),
        (rule("x", "one", without=["three"]), True),
        (rule("x", "one", without=["three", "two"]), False),
        (rule("x", choices="numbered"), True),
        (rule("x", choices="listed"), False),
        (rule("x", choices="pointed"), False),
        (rule("x", "one", choices="numbered"), True),
        (rule("x", "three", choices="numbered"), False),
        (rule("x", "one", last=5), True),
        (rule("x", "one", last=4), False),
    ]
    wrong = [made for made, expected in rows if (read(screen, made) is not None) is not expected]

    assert wrong == []
    assert read(["", ""], rule("x")) is None
    assert read(["one"], rule("x", where="box")) is None


def test_kinds_of_choices() -> None:
    """With a pointer, without one, and without numbers."""
    screens = {
        "numbered": ASKED,
        "listed": ["Which?", "1. Red", "2. Green"],
        "pointed": ["Which?", "❯ Red", "  Green", "Enter to select"],
    }
    for kind in screens:
        found = [name for name, lines in screens.items() if read(lines, rule("x", choices=kind)) is not None]
        assert found == [kind]


def test_a_hint_below_choices_without_numbers() -> None:
    """A dialog that the file names may have a hint at any key; of any other it has to be one that chooses."""
    lines = ["Which?", "❯ Red", "  Green", "", "Esc to cancel"]
    named = asked(lines, rule("x", "Which", choices="pointed", choose="arrows"))

    assert [choice.keys for choice in named.choices] == ["\r", "\x1b[B\r"]
    assert pointed_choices(read_tail(lines)) is None
    assert read([*lines[:-1], "and so on"], rule("x", "Which", choices="pointed")) is None
    assert read([*lines, EDGE, "> ", EDGE], rule("x", "Which", choices="pointed")) is None


def test_what_is_asked_first() -> None:
    """The agent's rules, then what programs in general show, then its rules of a negative priority."""
    first, second = rule("first", "Which", priority=0), rule("second", "Which", priority=0)
    last = rule("last", "Which", priority=-1)
    rows: list[tuple[tuple[ScreenRule, ...], bool, str | None]] = [
        ((first, second), True, "first"),
        ((rule("other", "What"), second), True, "second"),
        ((last,), True, "numbered choices"),
        ((last,), False, "last"),
        ((rule("other", "What"),), False, None),
        ((first, last), False, "first"),
    ]
    for rules, generic, expected in rows:
        found = read(ASKED, *rules, generic=generic)
        assert (found.rule if found else None) == expected
    plain = read(["Which is it"], last, generic=True)
    assert plain is not None and plain.rule == "last"


def test_what_may_not_stand_below() -> None:
    """A row says nothing any more once something newer stands below its last occurrence."""
    stopped = rule("x", "Stopped", status=Status.IDLE, not_below=["> ", r"\* "], stopped=True)
    rows: list[tuple[list[str], bool]] = [
        (["> one", "Stopped", "mine>"], True),
        (["> one", "Stopped", "> two", "mine>"], False),
        (["> one", "Stopped", "> two", "Stopped", "mine>"], True),
        (["Stopped", "a tip", "* answer"], False),
    ]

    for lines, is_found in rows:
        found = read(lines, stopped)
        assert (found is not None and found.is_stopped) is is_found, lines


def test_a_rule_for_screens_with_few_rows() -> None:
    """With *most*, a rule is for screens with at most so many rows with text at its place."""
    few = rule("few", "> $|>$", status=Status.WORKING, most=2, last=1)

    assert read(["", "a prompt", "", ">"], few) is not None
    assert read(["a prompt", "an answer", ">"], few) is None
    assert read(["a prompt", "an answer", ">"], attrs.evolve(few, most=3)) is not None


def test_answers_behind_their_keys() -> None:
    """Of `[y] Approve [n] Deny` each answer is chosen by its key, whatever stands below: a rule vouches for that."""
    lettered = rule("x", "Go on\\?", choices="lettered", choose="hint", question="Go on\\?")
    found = asked(["Go on?", "", "[y] Approve   [n] Deny", "scripted (10) $0.00", "a status of some kind"], lettered)

    assert [(choice.keys, choice.label) for choice in found.choices] == [("y", "Approve"), ("n", "Deny")]
    assert read(["Go on?", "", "Approve or Deny"], lettered) is None


def test_what_does_not_wait_asks_nothing() -> None:
    """A rule of another status has no kind, no question and no choices, whatever else is on the screen."""
    assert read(ASKED, rule("busy", "Which", status=Status.WORKING, choices="numbered")) == ScreenReading(
        Status.WORKING, "busy"
    )


def test_the_question_of_choices() -> None:
    """The row that asks; or the nearest that the rule names, whole or its first group, with what is wrapped below."""
    rows: list[tuple[list[str], str | None, str, int]] = [
        (["noise", "", "", "Which?"], None, "Which?", 3),
        ([], None, "", 2),
        (["Run: ls", "", "", "Which?"], "Run: .*", "Run: ls", 6),
        (["Run: ls", "", "", "Which?"], "Run: (.*)", "ls", 6),
        (["Run: ", "", "", "Which?"], "Run:(.*)", "Run:", 6),
        (["Run: a.", "Run: b.", "Which?"], "Run: (.*)", "b.", 5),
        (["Which?"], "Run: (.*)", "Which?", 3),
        (["Shall I go", "on with", "this?", "now"], "(Shall .*)", "Shall I go on with this?", 6),
        (["Shall I go", "on.", "Or?"], "(Shall .*)", "Shall I go", 5),
        (["Shall I go?", "Or stop?"], "(Shall .*)", "Shall I go?", 4),
        (["Shall I go:", "Or stop?"], "(Shall .*)", "Shall I go:", 4),
        (["Shall I go", "", "Or stop?"], "(Shall .*)", "Shall I go", 5),
        (["Shall I go", EDGE, "Or stop?"], "(Shall .*)", "Shall I go", 4),
        (["Shall I", "a", "b", "c", "d?"], "(Shall .*)", "Shall I a b c d?", 7),
        (["Shall I", "a", "b", "c", "d", "e?"], "(Shall .*)", "Shall I", 8),
        (["Shall I", "a"], "(Shall .*)", "Shall I", 4),
    ]
    for above, question, expected, count in rows:
        made = rule("x", choices="numbered") if question is None else rule("x", choices="numbered", question=question)
        found = asked([*above, "❯ 1. Red", "  2. Green"], made)
        assert found.question == expected, above
        assert len(found.lines) == count, (above, found.lines)
        assert found.lines[-2:] == ("❯ 1. Red", "2. Green")

    shown = ["Run: ls", "", "", "Which?", "❯ 1. Red", "  2. Green", "Esc to cancel"]
    assert asked(shown, rule("x", "Run: (.*)", choices="numbered")).question == "ls"
    assert asked(shown, rule("x", "Esc", choices="numbered")).question == "Which?"


def test_the_question_of_text() -> None:
    """Without choices: the last row that the rule's question, or else its first line, matches, and all below it."""
    screen = ["Say: a", "x", "Say: b", "y"]
    rows: list[tuple[ScreenRule, str, tuple[str, ...]]] = [
        (rule("x", "Say: (.*)"), "b", ("Say: b", "y")),
        (rule("x", "Say: .*"), "Say: b", ("Say: b", "y")),
        (rule("x", "Say:()"), "Say: b", ("Say: b", "y")),
        (rule("x", "Say", question="x"), "x", ("x", "Say: b", "y")),
        (rule("x", "Say", question="Say: a"), "Say: a", ("Say: a", "x", "Say: b", "y")),
        (rule("x", "y"), "y", ("y",)),
        (rule("x", "Say", question="none"), "", ()),
        (rule("x"), "", ()),
    ]
    for made, question, lines in rows:
        assert asked(screen, made) == Dialog(Kind.QUESTION, "x", question, lines)


def test_keys() -> None:
    """How a choice is typed, by each of the ways that a rule may name."""
    lines = ["Which?", "❯ 1. Yes (y)", "  2. No, and more", "     of it (esc)", "  3. Always (shift+tab)", "  4. Never"]
    ways = {
        "number": ["1", "2", "3", "4"],
        "number enter": ["1\r", "2\r", "3\r", "4\r"],
        "arrows": ["\r", "\x1b[B\r", "\x1b[B\x1b[B\r", "\x1b[B\x1b[B\x1b[B\r"],
        "side arrows": ["\r", "\x1b[C\r", "\x1b[C\x1b[C\r", "\x1b[C\x1b[C\x1b[C\r"],
        "hint": ["y", "\x1b", "\x1b[Z", "4"],
        "unknown": ["", "", "", ""],
    }
    for way, keys in ways.items():
        found = asked(lines, rule("x", choices="numbered", choose=way))
        assert [choice.keys for choice in found.choices] == keys, way
    pointed = ["Which?", "❯ Red (Enter)", "  Green (tab)", "Enter to select"]
    ways = {"number enter": ["", ""], "number": ["", ""], "hint": ["\r", "\t"], "arrows": ["\r", "\x1b[B\r"]}
    for way, keys in ways.items():
        found = asked(pointed, rule("x", choices="pointed", choose=way))
        assert [choice.keys for choice in found.choices] == keys, way


def test_a_dialog_above_the_input_box() -> None:
    """A rule for what is there reads choices there, with what is below the box left alone; no other rule does."""
    box = [EDGE, "> Tell it what to do", EDGE, "? for help"]
    dialog = ["◆ Waiting for approval", "Run this command?", "❯ Run it", "  Skip it", "Enter to select"]
    asks = rule("asks", "◆ Waiting", where="above box", choices="pointed", choose="arrows", question="Run .*")
    found = asked(["past", "", "", *dialog, "", *box], asks)

    assert (found.question, [(choice.label, choice.keys) for choice in found.choices]) == (
        "Run this command?",
        [("Run it", "\r"), ("Skip it", "\x1b[B\r")],
    )
    assert found.place == Place(3, 4, (5, 6), 7)
    assert read([*dialog, "", *box], rule("asks", "◆ Waiting", choices="pointed"), generic=True) is None
    assert read([*dialog, "and so on", *box], asks) is None, "more was printed below it"
    assert read([*dialog[1:], *box], asks) is None, "an answer that quotes it, without the agent's own row"
    assert read(dialog, asks) is None, "there is no box"
    for choices, row in (("numbered", ["❯ 1. Red", "  2. Blue"]), ("listed", ["1. Red", "2. Blue"])):
        made = rule("asks", "Which?", where="above box", choices=choices)
        assert [choice.label for choice in asked(["Which?", *row, *box], made).choices] == ["Red", "Blue"]
    buttons = asked(["Which?", "Yes   No", *box], rule("asks", "Which?", where="above box", choices="buttons"))
    assert [choice.label for choice in buttons.choices] == ["Yes", "No"]


def test_keys_of_more_than_nine_choices() -> None:
    """No number of two digits is typed alone: its first digit would be an answer."""
    lines = ["Which?", "❯ 1. one", *(f"  {number}. more" for number in range(2, 13))]
    for way, ninth, tenth in (("number", "9", ""), ("hint", "9", ""), ("number enter", "9\r", "10\r")):
        found = asked(lines, rule("x", choices="numbered", choose=way))
        assert [choice.keys for choice in found.choices[8:10]] == [ninth, tenth], way
    generic = read([EDGE, *(f"  {line}" for line in lines)], generic=True)
    assert generic is not None and generic.dialog is not None
    assert [choice.keys for choice in generic.dialog.choices[8:10]] == ["9", ""]


def test_keys_where_only_colours_tell_the_selected_choice() -> None:
    """Without them none are known; with them they lead from there, to both sides or up and down."""
    row = "Yes  \x1b[7mAlways\x1b[0m  No"
    listed = ["1. Red", "2. Green", "\x1b[44m3. Blue\x1b[0m"]
    cases = (
        ([*ASKED[:1], row], "buttons", "side arrows", ["\x1b[D\r", "\r", "\x1b[C\r"], 1),
        ([*ASKED[:1], row], "buttons", "unknown", ["", "", ""], 1),
        ([*ASKED[:1], *listed], "listed", "arrows", ["\x1b[A\x1b[A\r", "\x1b[A\r", "\r"], 2),
        ([*ASKED[:1], *listed], "listed", "number", ["1", "2", "3"], 2),
    )
    for rows, choices, way, keys, selected in cases:
        mine = agent_with(rule("x", choices=choices, choose=way))
        styled = read_styled(rows, 60)
        lines = [plain(line) for line in styled.lines]
        bare, found = read_screen(mine, lines, 0), read_screen(mine, lines, 0, styled)
        assert bare is not None and bare.dialog is not None and found is not None and found.dialog is not None
        moves = way in ("arrows", "side arrows")
        assert [choice.keys for choice in bare.dialog.choices] == ([""] * 3 if moves else keys), way
        assert [choice.keys for choice in found.dialog.choices] == keys, way
        assert [choice.is_selected for choice in found.dialog.choices].index(True) == selected
        assert (bare.wants_style, found.wants_style) == (moves, False), way


def test_the_question_stands_above_the_choices() -> None:
    """What a rule's pattern finds in the choices, or below them, is none; a titled edge ends a wrapped one."""
    for pattern in (".*Red", ".*Green", ".*(Red|Green)", "Enter"):
        found = asked([*ASKED, "", "Enter to select"], rule("x", choices="numbered", question=pattern))
        assert found.question == "Which colour?", pattern
    nearest = asked(["Run: a", "Run: b", *ASKED[1:]], rule("x", choices="numbered", question="Run: (.*)"))
    assert nearest.question == "b"
    titled = "── about this? " + "─" * 30
    framed = asked(["Shall I go", titled, *ASKED[1:]], rule("x", choices="numbered", question="(Shall .*)"))
    assert framed.question == "Shall I go"


def test_where_a_question_without_choices_stands() -> None:
    """From the row that its first pattern finds to the last row with text."""
    found = asked(["one", "Say:", "more", "", "two"], rule("x", "Say", "two"))
    assert (found.question, found.place) == ("Say:", Place(1, 1, (), 5))
