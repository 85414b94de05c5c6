"""Dialogs read by their shape: where each rule begins to hold, and where it ends. Real ones are in `screens/`."""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.evidence.choices import ends_in_choices, numbered_choices, pointed_choices
from tallylight.evidence.dialogs import arrows, is_left_by_key, kind_of, question_above, read_dialog
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog, Place
from tallylight.model.status import Kind

ASKED = ["Which colour?", "❯ 1. Red", "  2. Green"]
HINT = "Enter to select"
#: A hint that names no key by which a choice without a number is made.
CANCEL = "Esc to cancel"
DOWN, UP = "\x1b[B", "\x1b[A"


def read(lines: Sequence[str], cursor: int | None = None) -> Dialog | None:
    """The dialog on a screen of *lines*, the cursor in the last one unless another is named."""
    return read_dialog(read_tail(lines), len(lines) - 1 if cursor is None else cursor)


def says(found: Dialog | None) -> str:
    """In short: `RULE/KIND: QUESTION | LABEL=KEYS | …`; nothing for no dialog."""
    if found is None:
        return ""
    choices = "".join(f" | {choice.label}={choice.keys}" for choice in found.choices)
    return f"{found.rule}/{found.kind}: {found.question}{choices}"


def is_read(lines: Sequence[str]) -> bool:
    return read(lines) is not None


def wide(column: int, text: str) -> str:
    return " " * column + text


#: Screens, and what each is read as.
READ: dict[str, tuple[list[str], str]] = {
    "numbers that are typed": (ASKED, "numbered choices/question: Which colour? | Red=1 | Green=2"),
    "two digits": (
        ["Which?", "❯ 1. a", *(f"  {number}. b" for number in range(2, 12))],
        "numbered choices/question: Which? | a=1" + "".join(f" | b={number}" for number in range(2, 10)) + " | b= | b=",
    ),
    "no question": (["❯ 1. Red", "  2. Green"], ""),
    "only blanks above": (["", "", "❯ 1. Red", "  2. Green"], ""),
    "a number that is left out": (["Which?", "❯ 1. a", "  3. b"], ""),
    "a list above that is another": (
        ["1. first", "2. second", "Which?", "❯ 1. Red", "  2. Green"],
        "numbered choices/question: Which? | Red=1 | Green=2",
    ),
    "a panel beside a label": (
        ["Which?", "❯ 1. Red      a preview", "  2. Green    of it"],
        "numbered choices/question: Which? | Red=1 | Green=2",
    ),
    "a login": (["Please log in:", "❯ 1. a", "  2. b"], "numbered choices/auth: Please log in: | a=1 | b=2"),
    "pointed at the first": (
        ["Which?", "❯ Red", "  Green", HINT],
        f"pointed choices/question: Which? | Red=\r | Green={DOWN}\r",
    ),
    "pointed at the last of three": (
        ["Which?", "  Red", "  Green", "❯ Blue", HINT],
        f"pointed choices/question: Which? | Red={UP}{UP}\r | Green={UP}\r | Blue=\r",
    ),
    "asked by a colon": (
        ["Choose one:", "❯ Red", "  Green", HINT],
        f"pointed choices/question: Choose one: | Red=\r | Green={DOWN}\r",
    ),
    "not asked": (["These are there.", "❯ Red", "  Green", HINT], ""),
    "one that is pointed at is no choice": (["Which?", "❯ Red", "", HINT], ""),
    "choices of another column": (["Which?", "❯ Red", "    Green", HINT], ""),
    "a row in another column ends them": (
        ["Which?", " other", "  Red", "❯ Green", "  Blue", " more", HINT],
        "",
    ),
    "too many hints below numbers": ([*ASKED, "", *[HINT] * 9], ""),
    "too many hints below pointed ones": (["Which?", "❯ Red", "  Green", "", *[HINT] * 9], ""),
    "hints below pointed ones": (
        ["Which?", "❯ Red", "  Green", "", "─" * 30, CANCEL, HINT],
        f"pointed choices/question: Which? | Red=\r | Green={DOWN}\r",
    ),
    "text below pointed ones": (["Which?", "❯ Red", "  Green", "", "and so on", HINT], ""),
    "an input line below pointed ones": (["Which?", "❯ Red", "  Green", "", "› use it", HINT], ""),
    "a number twice": (["Which?", "❯ 1. a", "  2. b", "  2. c"], "numbered choices/question: Which? | a= | c="),
    "a number twice, with a hint": (
        ["Which?", "❯ 1. a", "  2. b", "  2. c", HINT],
        "numbered choices/question: Which? | a= | c=",
    ),
    "the first number twice": (
        ["Which?", "  1. a", "❯ 1. b", "  2. c", HINT],
        "numbered choices/question: Which? | b= | c=",
    ),
    "the first number twice, and a blank": (
        ["Which?", "  1. a", "", "❯ 1. b", "  2. c"],
        "numbered choices/question: Which? | b= | c=",
    ),
    "another number between": (
        ["Which?", "❯ 1. a", "  3. b", "  2. c", HINT],
        "numbered choices/question: Which? | a= | c=",
    ),
    "numbers in what is said of a choice": (
        ["Which?", "❯ 1. a", "     1. b", "     2. c", "  2. d"],
        "numbered choices/question: Which? | a= | d=",
    ),
    "numbered from two": (["Which?", "❯ 2. a", "  3. b", HINT], ""),
    "pointed without a hint": (["Which?", "❯ Red", "  Green"], ""),
    "only the screen's first rows": (["  Red", "❯ Green", HINT], ""),
    "numbers in brackets": (
        ["Which?", "→ [1] Red", "  [2] Green"],
        "numbered choices/question: Which? | Red= | Green=",
    ),
    "boxes to check, numbered": (
        ["Which?", "❯ 1. [ ] Red", "  2. [x] Green"],
        "numbered choices/question: Which? | [ ] Red= | [x] Green=",
    ),
    "boxes to check": (
        ["Which?", "❯ [✔] Red", "  [ ] Green", "    Done", "Space to select · Enter to confirm"],
        "pointed choices/question: Which? | [✔] Red= | [ ] Green=",
    ),
    "what they mean below pointed ones": (
        ["Which?", "  Red", "    as blood", "❯ Green", "    as grass", "  Blue", HINT],
        f"pointed choices/question: Which? | Red={UP}\r | Green=\r | Blue={DOWN}\r",
    ),
    "a label that is wrapped": (
        ["Which of them?", "❯ Red, as it was always so", "  meant to be", "  Green", HINT],
        "pointed choices/question: Which of them? | Red, as it was always so= | Green=",
    ),
    "a question in the column of the choices": (
        ["  Which?", "❯ Red", "  Green", HINT],
        f"pointed choices/question: Which? | Red=\r | Green={DOWN}\r",
    ),
    "a filter above them": (
        ["Which?", "Search…", "❯ Red", "  Green", HINT],
        f"pointed choices/question: Which? | Red=\r | Green={DOWN}\r",
    ),
    "a filter with text in it": (
        ["Which?", "⌕ gre", "❯ Green", "  Grey", HINT],
        f"pointed choices/question: Which? | Green=\r | Grey={DOWN}\r",
    ),
    "a filter in a box": (
        ["Which model?", "╭──────────╮", "│ > Filter │", "╰──────────╯", "  Red", "❯ Green", HINT],
        f"pointed choices/question: Which model? | Red={UP}\r | Green=\r",
    ),
    "a filter away from what is asked": (
        ["Which?", "", "", "Type to filter: g", "", "❯ Red", "  Green", HINT],
        f"pointed choices/question: Which? | Red=\r | Green={DOWN}\r",
    ),
    "a filter above numbers": (
        ["Which?", "Search: a", "❯ 1. Red", "  2. Green"],
        "numbered choices/question: Which? | Red=1 | Green=2",
    ),
    "a filter too far from what is asked": (["Which?", "", "", "", "Search…", "❯ Red", "  Green", HINT], ""),
    "a filter at the top of the screen": (["Search…", "❯ Red", "  Green", HINT], ""),
    "a filter of nothing that is asked": (["Models", "Search…", "❯ Red", "  Green", HINT], ""),
    "in one row": (
        ["Which?", "  1. Red   ❯ 2. Green   3. Blue"],
        "choices in columns/question: Which? | Red= | Green= | Blue=",
    ),
    "in columns": (
        ["Which?", "❯ 1. Red    3. Blue", "  2. Green  4. Black", CANCEL],
        "choices in columns/question: Which? | Red= | Green= | Blue= | Black=",
    ),
    "an odd number in columns": (
        ["Which?", "❯ 1. Red    3. Blue", "  2. Green"],
        "choices in columns/question: Which? | Red= | Green= | Blue=",
    ),
    "in columns, and one is missing": (["Which?", "❯ 1. Red    3. Blue", "  5. Green  4. Black"], ""),
    "in columns, and nothing is asked": (["These:", "and so", "❯ 1. Red    2. Blue"], ""),
    "lettered": (
        ["Run npm test?", "", "[y] Approve  [n] Deny  [esc] Leave it"],
        "lettered choices/permission: Run npm test? | Approve= | Deny= | Leave it=",
    ),
    "lettered in parentheses": (
        ["It wants to write a file.", "(a) Allow once (d) Don't allow"],
        "lettered choices/permission: It wants to write a file. | Allow once= | Don't allow=",
    ),
    "lettered, and no answers": (["The keys are", "[a] left [b] right"], ""),
    "lettered, with text below": (["Run it?", "[y] Yes  [n] No", "and so on"], ""),
    "buttons": (
        ["Permission required", "$ npm test", "", "  Allow   Deny      ←/→ move  enter confirm"],
        "buttons/permission: Permission required | Allow= | Deny=",
    ),
    "buttons, and hints below them": (
        ["Delete it?", "", "Yes   No", "", "Tab to move · Enter to select"],
        "buttons/permission: Delete it? | Yes= | No=",
    ),
    "buttons without a word of keys": (["Delete it?", "", "Yes   No"], ""),
    "buttons that ask nothing": (["Yes   No", HINT], ""),
    "a table of yes and no": (["Is it so?", "Yes   No", "12    30", HINT], ""),
    "a wrapped question": (
        ["How do you want to log in for", "this project?", "❯ 1. a", "  2. b"],
        "numbered choices/auth: How do you want to log in for this project? | a=1 | b=2",
    ),
    "a list that goes on": (
        ["Which?", "▲", "  1. Red", "❯ 2. Green", "▼"],
        "numbered choices/question: Which? | Red=1 | Green=2",
    ),
    "terms below": (
        ["Log in?", "❯ 1. a", "  2. b", "", "Terms of Service", "https://a.example/terms"],
        "numbered choices/auth: Log in? | a=1 | b=2",
    ),
    "a status bar below": (
        [*ASKED, "", "~/src    main    99 % left"],
        "numbered choices/question: Which colour? | Red=1 | Green=2",
    ),
    "the status bar of tmux": (
        [*ASKED, "", CANCEL, '[0] 0:python*                     "Claude Code" 04:45'],
        "numbered choices/question: Which colour? | Red=1 | Green=2",
    ),
    "three status bars": ([*ASKED, "", *["~/src    main"] * 3], ""),
    "a hint below a status bar": ([*ASKED, "~/src    main", CANCEL], ""),
    "text in its box": (
        ["╭────────╮", "│ Which? │", "│ ❯ 1. a │", "│   2. b │", "│ Or not │", "╰────────╯", CANCEL],
        "numbered choices/question: Which? | a=1 | b=2",
    ),
    "text behind its box": (["│ Which? │", "│ ❯ 1. a │", "│   2. b │", "╰────────╯", "Or not"], ""),
    "text in another box": (["│ Which? │", "│ ❯ 1. a │", "│   2. b │", "╰──────╯", "│ Or not │"], ""),
    "a menu with text in its box": (["│ Theme  │", "│ ❯ 1. a │", "│   2. b │", "│ Or not │"], ""),
    "consent": (
        ["─" * 30, "A new server was found", "", "❯ Use it", "  Deny it", "", "Enter to confirm · Esc to cancel"],
        f"pointed choices/permission: A new server was found | Use it=\r | Deny it={DOWN}\r",
    ),
    "consent without a line above": (
        ["A new server was found", "", "❯ Use it", "  Deny it", "", "Enter to confirm · Esc to cancel"],
        "",
    ),
    "consent that cannot be left": (["─" * 30, "A server", "", "❯ Use it", "  Deny it", "", HINT], ""),
    "a menu": (["─" * 30, "Theme", "", "❯ Dark", "  Light", "", "Enter to confirm · Esc to cancel"], ""),
    "an input box below pointed ones": (["Which?", "❯ Red", "  Green", HINT, "─" * 30, "> ", "─" * 30], ""),
    "yes or no": (["Go on? [y/N]"], "yes or no/question: Go on? [y/N] | yes=y\r | no=n\r"),
    "yes or no, in full": (["Go on (yes/no)?"], "yes or no/question: Go on (yes/no)? | yes=yes\r | no=no\r"),
    "one letter is enough of no": (["Go on (Yes/n)?"], "yes or no/question: Go on (Yes/n)? | yes=yes\r | no=no\r"),
    "by letters": (
        ["Save? (Y)es/(N)o/(A)lways:"],
        "yes or no/question: Save? (Y)es/(N)o/(A)lways: | Yes=y\r | No=n\r | Always=a\r",
    ),
    "a permission in a row": (["Run it? [y/N]"], "yes or no/permission: Run it? [y/N] | yes=y\r | no=n\r"),
    "a password": (["Password: "], "password/auth: Password:"),
    "nothing": ([], ""),
}


def test_what_is_read() -> None:
    """Each of these screens."""
    found = {name: says(read(lines)) for name, (lines, _) in READ.items()}

    assert found == {name: expected for name, (_, expected) in READ.items()}


def test_choices_that_cannot_be_told_apart() -> None:
    """None of them has keys, so that no answer chooses another; that they are choices is seen, and no text is typed."""
    for lines in (
        [*ASKED, "", *[HINT] * 9],
        ["Which?", "❯ Red", "  Green", "", "and so on", HINT],
        ["Which?", "❯ 1. a", "  2. b", "  2. c"],
        ["Which?", "  1. a", "  2. b", "  2. c"],
        ["Which?", "  1. a", "❯ 1. b", "  2. c"],
        ["Which of these would you like to have, now or later?", "❯ a label that goes on in the row", "  below", HINT],
    ):
        rows = read_tail(lines)
        dialog = read_dialog(rows, 0)
        assert ends_in_choices(rows) and (dialog is None or not any(one.keys for one in dialog.choices)), lines
        for found in (numbered_choices(rows), pointed_choices(rows), numbered_choices(rows, is_pointed=False)):
            assert found is None or not found.is_clear, lines
    for lines in (ASKED, ["Which?", "  1. a", "  2. b"], ["❯ Red", "  Green", HINT]):
        assert ends_in_choices(read_tail(lines)), lines
    assert not ends_in_choices(read_tail(["1. a", "and so on", "❯ "]))


def test_how_far_apart() -> None:
    """Five rows of text may stand between two choices, eight hints below them, four without a key, and nothing else."""
    for between, expected in ((5, True), (6, False)):
        assert is_read(["Which?", "❯ 1. Red", *["  and more of it"] * between, "  2. Green"]) is expected
    for hints, expected in ((8, True), (9, False)):
        assert is_read([*ASKED, "", *[CANCEL] * hints]) is expected
    for hints, expected in ((4, True), (5, False)):
        assert is_read([*ASKED, "", *["use it, or move on"] * hints]) is expected
    for text, expected in ((CANCEL, True), ("and so on", False), ("› ", False), ("› use it", False)):
        assert is_read([*ASKED, "", text]) is expected, text
    assert is_read([*ASKED, "", "─" * 30, CANCEL, "─" * 30])


def test_how_low() -> None:
    """The last choice is one of the last sixteen rows."""
    for empty, expected in ((14, True), (15, False)):
        assert is_read([*ASKED, *[""] * empty, CANCEL]) is expected


def test_how_many() -> None:
    """Two choices at least, twenty at most."""
    for count, expected in ((1, False), (2, True), (20, True), (21, False)):
        assert is_read(["Which?", "❯ 1. a", *(f"  {number}. b" for number in range(2, count + 1))]) is expected, count


def test_what_stands_beside() -> None:
    """What begins 48 columns right of the numbers is another panel's; what is nearer belongs to the dialog."""
    for column, expected in ((49, False), (50, True)):
        assert is_read([*ASKED, "", wide(column, "so it was")]) is expected
    texts = {}
    for column in (49, 50):
        found = numbered_choices(read_tail([*ASKED, wide(column, "so it was")]))
        assert found is not None
        texts[column] = found.texts
    assert texts == {49: ("Red", "Green so it was"), 50: ("Red", "Green")}
    assert not is_read([*ASKED, "x"]), "what begins left of the numbers is none of theirs"


def test_what_is_wrapped() -> None:
    """A row below a choice, in its column, belongs to it where its first word would not have fitted above."""
    long = "  2. " + "x" * 30
    for width, expected in ((len(long) + 3, True), (len(long) + 4, False)):
        assert is_read(["y" * width, "Which?", "❯ 1. Red", long, "  abc on"]) is expected
    for length, expected in ((24, True), (23, False)):
        lines = ["y" * 25, "Which?", "❯ 1. Red", "  " + "2. ".ljust(length, "x"), "  abc on"]
        assert is_read(lines) is expected, length


def test_the_texts_of_choices() -> None:
    """A choice's text is its row and those below it up to the next; edges of boxes are no text."""
    found = numbered_choices(
        read_tail(["Which?", "❯ 1. Red", "     as blood", "─" * 9, "  2. Green", "     as grass", "", HINT])
    )

    assert found is not None
    assert (found.first, found.last, found.pointed, found.numbers) == (1, 4, 0, ("1", "2"))
    assert found.labels == ("Red", "Green")
    assert found.texts == ("Red as blood", "Green as grass")


def test_which_is_pointed_at() -> None:
    """One of the choices; with none of them only where that is asked for."""
    second = read_tail(["Which?", "  1. Red", "❯ 2. Green"])
    none = read_tail(["Which?", "  1. Red", "  2. Green"])
    both = read_tail(["Which?", "❯ 1. Red", "❯ 2. Green"])
    found = numbered_choices(second)
    assert found is not None and found.pointed == 1
    assert numbered_choices(none) is None and numbered_choices(both) is None
    assert numbered_choices(second, is_pointed=False) is None
    listed = numbered_choices(none, is_pointed=False)
    assert listed is not None and listed.pointed == 0


def test_pointed_choices() -> None:
    """The rows of one column around the pointer, up to the hint, and nothing but hints below it."""
    found = pointed_choices(read_tail(["Which?", "  Red", "❯ Green", "  Blue", "", HINT]))
    assert found is not None
    assert (found.first, found.last, found.pointed) == (1, 3, 1)
    assert found.labels == found.texts == ("Red", "Green", "Blue")
    assert found.numbers == ("", "", "")
    top = pointed_choices(read_tail(["  Red", "❯ Green", "  " + HINT]))
    assert top is not None and (top.first, top.last, top.pointed) == (0, 1, 1)
    for below, expected in ((CANCEL, True), ("x", False), ("> ", False)):
        assert (pointed_choices(read_tail(["❯ Red", "  Green", HINT, below])) is not None) is expected
    for below, expected in ((4, True), (5, False)):
        lines = ["❯ Red", "  Green", HINT, *["x"] * below]
        assert (pointed_choices(read_tail(lines), is_clear=False) is not None) is expected
    for between, expected in ((17, True), (18, False)):
        lines = ["❯ Red", "  Green", *[""] * between, HINT]
        assert (pointed_choices(read_tail(lines)) is not None) is expected


def test_where_pointed_choices_stand() -> None:
    """From the top of the text to the row behind the last choice."""
    found = read(["past", "", "", "Which?", "  Red", "❯ Green", "", HINT])
    assert found is not None and found.place == Place(3, 3, (4, 5), 6)


def test_a_question_right_above() -> None:
    """Pointed choices are asked for in one of the three rows above them."""
    for between, expected in ((2, True), (3, False)):
        assert is_read(["Which?", *[""] * between, "❯ Red", "  Green", HINT]) is expected
    assert not is_read(["Which?", "of them", "❯ Red", "  Green", HINT])


def test_where_the_question_is() -> None:
    """The lowest row that ends in a question mark, else the top; up to an edge, or two blank rows, or 24 rows."""
    rows: dict[str, tuple[list[str], tuple[int, int]]] = {
        "the lowest question": (["a?", "b?", "c"], (0, 1)),
        "no question": (["a", "b"], (0, 0)),
        "nothing": ([], (0, 0)),
        "a blank between": (["a?", "", "b"], (0, 0)),
        "two blanks": (["a?", "", "", "b"], (3, 3)),
        "blanks right above": (["a?", "", ""], (0, 0)),
        "an edge": (["a?", "─" * 9, "b"], (2, 2)),
        "an edge right above": (["a?", "─" * 9], (0, 0)),
        "a blank first row": (["", "b"], (1, 1)),
    }
    for name, (above, expected) in rows.items():
        tail = read_tail([*above, "1. Red"])
        assert question_above(tail, len(above)) == expected, name
    for count, expected in ((24, (0, 0)), (25, (1, 1))):
        tail = read_tail([*["x?" if number == 0 else "x" for number in range(count)], "1. Red"])
        assert question_above(tail, count) == expected


def test_the_lines_of_a_dialog() -> None:
    """From the top of the question to the last choice, without the edges of boxes."""
    found = read(["noise", "", "", "About it", "Which?", "─" * 9, "❯ 1. Red", "  2. Green", HINT])
    assert found is not None
    assert found.question == "Which?"
    assert found.lines == ("About it", "Which?", "❯ 1. Red", "2. Green")


def test_a_row_wants_the_cursor() -> None:
    """It stands in the last row with text, and the cursor on it."""
    for line in ("Go on? [y/N]", "Password:"):
        assert read(["x", line], 1) is not None
        assert read(["x", line], 0) is None and read(["x", line], 2) is None
    assert read(["x", "Go on?"], 1) is None


def test_what_is_typed_at_a_prompt() -> None:
    """What stands behind a prompt is typed or pasted there, where a row above shows that it is one."""
    for row in ("Password:", "ok? [y/N]"):
        assert read(["diff> the lamp is on", f"diff> {row}"]) is None
        assert read(["the lamp is on", f"diff> {row}"]) is not None


def test_kinds() -> None:
    """A login before a permission, a permission before a question."""
    assert kind_of("Log in to run it?") is Kind.AUTH
    assert kind_of("Run it?") is Kind.PERMISSION
    assert kind_of("Which?") is Kind.QUESTION


def test_arrows() -> None:
    """Down, up, or nothing but Enter."""
    assert [arrows(distance) for distance in (2, 1, 0, -1, -2)] == [
        f"{DOWN}{DOWN}\r",
        f"{DOWN}\r",
        "\r",
        f"{UP}\r",
        f"{UP}{UP}\r",
    ]


def test_where_choices_in_a_row_stand() -> None:
    """All in one row: it is shown whole, and each by its label."""
    found = read(["Run it?", "[y] Yes  [n] No", CANCEL])
    assert found is not None and found.place == Place(0, 0, (1,), 2)
    assert [choice.is_selected for choice in found.choices] == [True, False]


def test_what_a_key_leaves() -> None:
    """Pickers, transcripts and pagers say by which key; what asks, works or waits for a prompt does not."""
    for lines, expected in (
        (["x", "(END)"], True),
        (["x", ":"], True),
        (["Resume session", "", "Ctrl+A to show all · Esc to", "close"], False),
        (["Resume session", "", "Enter to select · Esc to close"], True),
        (["Showing the transcript · ctrl+o to toggle"], True),
        (["q to quit"], True),
        (["esc to interrupt"], False),
        (["> ", "? for shortcuts"], False),
        ([], False),
    ):
        assert is_left_by_key(read_tail(lines)) is expected, lines
