"""The editor of a text for an agent: keys, pastes, its bounds, and how it is shown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions.say import MAX_TYPED
from tallylight.ui.agent_list.editor import NEW_LINE, Editor, has_room, inserted, pressed, rows_of
from tallylight.wire.text import width
from tests.strategies import at_most
from tests.tables import each


def after(text: str, *keys: str) -> str:
    """The text after these keys, with `|` where the cursor is, as in *text*."""
    editor = Editor(text.replace("|", ""), text.index("|") if "|" in text else len(text))
    for key in keys:
        editor = pressed(editor, key) or editor
    return f"{editor.before}|{editor.after}"


@each(
    ("text", "keys", "result"),
    [
        ("|", [*"Hi!"], "Hi!|"), ("a|c", ["b"], "ab|c"), ("ab|", ["left", "left", "left", "x"], "x|ab"),
        ("|ab", ["right", "right", "right"], "ab|"), ("one\ntw|o", ["home"], "one\n|two"),
        ("o|ne\ntwo", ["end"], "one|\ntwo"), ("one\ntw|o", ["up"], "on|e\ntwo"), ("a\nlong|er", ["up"], "a|\nlonger"),
        ("lon|ger\na", ["down"], "longer\na|"), ("x\n\nab|", ["up"], "x\n|\nab"),
        ("one|", ["up"], "|one"), ("|one", ["down"], "one|"), ("a|b\nc", ["down"], "ab\nc|"),
        ("ab|c", ["backspace"], "a|c"), ("|ab", ["backspace"], "|ab"),
        ("a\n|b", ["backspace"], "a|b"), ("a|bc", ["delete"], "a|c"), ("ab|", ["delete"], "ab|"),
        ("a|\nb", ["ctrl+d"], "a|b"),
        ("one two  |x", ["ctrl+w"], "one |x"), ("one|", ["ctrl+w"], "|"), ("a\nb|", ["ctrl+w"], "a\n|"),
        ("x\none| two", ["ctrl+u"], "x\n| two"), ("x\none| two\ny", ["ctrl+k"], "x\none|\ny"),
        ("e\u0301|", ["left"], "|e\u0301"), ("|e\u0301x", ["right"], "e\u0301|x"), ("e\u0301|", ["backspace"], "|"),
        ("日本|", ["left"], "日|本"), ("a|", ["tab"], "a|"), ("a|", ["ctrl+x"], "a|"), ("a|", ["page_up"], "a|"),
    ],
)  # fmt: skip
def test_keys(text: str, keys: list[str], result: str) -> None:
    """What each key does; one that is none of the editor's does nothing."""
    assert after(text, *keys) == result


@each("key", NEW_LINE)
def test_a_new_line(key: str) -> None:
    """Every key that differs from Enter begins one."""
    assert after("a|b", key) == "a\n|b"


@each(
    ("pasted", "text"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"), ("\ta", "\ta"), ("a\x1b[31m\x00\x9bb\ud800", "a[31mb"),
    ],
)  # fmt: skip
def test_a_paste_is_text(pasted: str, text: str) -> None:
    """Its line ends are line ends; controls are no text, and nothing of it is a key."""
    assert inserted(Editor("<>", 1), pasted) == Editor(f"<{text}>", 1 + len(text))


@each("extra", [0, 1, 5000])
def test_a_text_is_bounded(extra: int) -> None:
    """As long as what can be typed into an agent; what is over it is left out, and that can be told before."""
    long = "x" * (MAX_TYPED - 2 + extra)

    assert len(inserted(Editor("ab", 1), long).text) == MAX_TYPED
    assert has_room(Editor("ab", 1), long) is (extra == 0)
    assert pressed(Editor("x" * MAX_TYPED, 3), "y") == Editor("x" * MAX_TYPED, 3)


@each(
    ("text", "columns", "rows", "place"),
    [
        ("|", 10, [""], (0, 0)), ("abc|", 10, ["abc"], (0, 3)), ("a\n|\nb", 10, ["a", "", "b"], (1, 0)),
        ("abcde|", 5, ["abcde", ""], (1, 0)), ("abcde|f", 5, ["abcde", "f"], (1, 0)),
        ("abcdefg|", 5, ["abcde", "fg"], (1, 2)),
        ("日本|語", 5, ["日本", "語"], (0, 4)), ("a\tb|", 10, ["a    b"], (0, 6)), ("a\u202eb|", 10, ["ab"], (0, 2)),
    ],
)  # fmt: skip
def test_how_it_is_shown(text: str, columns: int, rows: list[str], place: tuple[int, int]) -> None:
    """Rows that are no wider than the screen, and the cell of the cursor."""
    editor = Editor(text.replace("|", ""), text.index("|"))

    assert rows_of(editor, columns) == (rows, place)


_KEYS = ["left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", *NEW_LINE]


@settings(max_examples=at_most(80), deadline=None)
@given(st.text(max_size=60), st.lists(st.sampled_from([*_KEYS, "x", "日", "\u0301"]), max_size=20), st.integers(1, 30))
def test_whatever_is_typed_the_cursor_stands_in_the_text(text: str, keys: list[str], columns: int) -> None:
    """The cursor is never outside, and the rows fit, whatever was pasted."""
    editor = inserted(Editor(), text)
    for key in keys:
        editor = pressed(editor, key) or editor
        assert 0 <= editor.cursor <= len(editor.text)
    rows, (row, column) = rows_of(editor, columns)
    assert 0 <= row < len(rows) and 0 <= column <= max(columns, 2)
    assert all(width(text) <= max(columns, 2) for text in rows)
