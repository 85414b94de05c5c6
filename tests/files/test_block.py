"""The managed block: text in, text out, and back to the byte."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tallylight.files import managed_block
from tests.tables import each

BODY = managed_block.include_line("/home/me/.local/share/tallylight/kitty.conf")
OLD = managed_block.include_line("/mnt/old home/.local/share/tallylight/kitty.conf")

BLOCK = f"# BEGIN_TALLYLIGHT\n{BODY}\n# END_TALLYLIGHT\n"
BARE_BLOCK = BLOCK.replace("\n", " (the line before had no end)\n", 1)

#: Lines of a real configuration and lines that could confuse, with every line end.
LINE = st.sampled_from(
    [
        "",
        "font_size 12",
        "include theme.conf",
        "  \\ continued",
        "# vim:ft=kitty",
        "tab_title_template \x0c\u2028{title}",
        "# BEGIN_KITTY_THEME",
        "# END_KITTY_THEME",
        "\udcff\udcfe",
        "\ufeff# bom",
    ]
)
SENTINEL = st.sampled_from(
    [
        managed_block.BEGIN,
        managed_block.BEGIN_BARE,
        managed_block.END,
        OLD,
        BODY,
        "  # BEGIN_TALLYLIGHT ",
        "# END_TALLYLIGHT\t",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def _texts(line: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    whole = st.lists(st.tuples(line, ENDS)).map(lambda rows: "".join(a + b for a, b in rows))
    return st.one_of(whole, st.tuples(whole, line).map("".join))


plain_texts = st.one_of(_texts(LINE), st.text().filter(lambda t: "TALLYLIGHT" not in t))
any_texts = _texts(st.one_of(LINE, SENTINEL))


@given(plain_texts)
def test_remove_undoes_insert_to_the_byte(text: str) -> None:
    """Whatever the text and its last line, removing what was inserted gives the same text back."""
    assert managed_block.remove(managed_block.insert(text, BODY)) == text


@given(any_texts)
@example("\r\r\n# BEGIN_TALLYLIGHT\n# END_TALLYLIGHT\n\n")
def test_insert_twice_is_insert_once(text: str) -> None:
    """A second insert finds the first and changes nothing, even in a text full of stray sentinels."""
    once = managed_block.insert(text, BODY)

    assert managed_block.insert(once, BODY) == once
    assert [part.whole for part in managed_block.blocks(once)] == [True]


@given(any_texts)
def test_remove_leaves_no_sentinel_and_is_final(text: str) -> None:
    """After remove there is no sentinel left to find, so a second remove changes nothing."""
    once = managed_block.remove(text)

    assert managed_block.blocks(once) == []
    assert managed_block.remove(once) == once


@given(any_texts)
def test_every_line_of_the_user_survives(text: str) -> None:
    """No line that is not ours is lost or moved past another, wherever sentinels lie."""

    def theirs(value: str) -> list[str]:
        mine = {managed_block.BEGIN, managed_block.BEGIN_BARE, managed_block.END, BODY, OLD, ""}
        return [line.strip() for line in managed_block.lines(value) if line.strip() not in mine]

    assert theirs(managed_block.remove(text)) == theirs(text)
    assert theirs(managed_block.insert(text, BODY)) == theirs(text)


@given(any_texts)
def test_parts_join_to_the_text(text: str) -> None:
    """Splitting loses nothing."""
    assert "".join(part.text for part in managed_block.parts(text)) == text


@given(st.binary())
def test_bytes_that_are_not_utf8_survive(data: bytes) -> None:
    """A file in any encoding comes through insert and remove unharmed."""
    text = managed_block.decode(data)

    assert managed_block.encode(managed_block.remove(managed_block.insert(text, BODY))) == data


@each(
    ("before", "after"),
    [
        ("", BLOCK),
        ("a 1\n", "a 1\n" + BLOCK),
        ("a 1", "a 1\n" + BARE_BLOCK),
        ("a 1\r\n", "a 1\r\n" + BLOCK.replace("\n", "\r\n")),
        ("a 1\r\nb 2", "a 1\r\nb 2\r\n" + BARE_BLOCK.replace("\n", "\r\n")),
    ],
)
def test_insert_keeps_the_line_ends_of_the_text(before: str, after: str) -> None:
    """The block has the text's line ends, and says of itself where the text had no final one."""
    assert managed_block.insert(before, BODY) == after
    assert managed_block.remove(after) == before


@given(plain_texts)
def test_what_is_appended_is_a_line_of_its_own(text: str) -> None:
    """A line that a program appends to the file is swallowed neither by our block nor by what was the last line."""
    left = managed_block.remove(managed_block.insert(text, BODY) + "b 2\n")
    *before, last = managed_block.lines(left)

    assert last == "b 2\n"
    assert "".join(before).removeprefix(text) in ("", "\n", "\r\n", "\r")


def test_stale_block_is_replaced_where_it_stands() -> None:
    """The block of an install that has moved is repaired in place, not added a second time."""
    text = f"a 1\n{managed_block.BEGIN}\n{OLD}\n{managed_block.END}\nb 2\n"

    assert managed_block.insert(text, BODY) == f"a 1\n{BLOCK}b 2\n"


def test_second_block_is_taken_out() -> None:
    """Of two blocks one stays: kitty shows an error window for a file included twice."""
    assert managed_block.insert(f"{BLOCK}a 1\n{BLOCK}", BODY) == f"{BLOCK}a 1\n"


def test_lines_a_person_put_into_the_block_survive() -> None:
    """Text between the sentinels that is not ours moves behind the block, and stays when the block goes."""
    text = f"{managed_block.BEGIN}\n{BODY}\nfont_size 14\n{managed_block.END}\n"

    assert managed_block.insert(text, BODY) == f"{BLOCK}font_size 14\n"
    assert managed_block.remove(text) == "font_size 14\n"


def test_lost_end_sentinel_swallows_nothing() -> None:
    """A block whose end was deleted costs its own two lines, not the rest of the file."""
    text = f"a 1\n{managed_block.BEGIN}\n{BODY}\nb 2\nc 3\n"

    assert managed_block.remove(text) == "a 1\nb 2\nc 3\n"
    assert managed_block.insert(text, BODY) == f"a 1\nb 2\nc 3\n{BLOCK}"


def test_includes_of_the_user_are_listed_and_ours_is_not() -> None:
    """Only includes outside of our block count as the user's own."""
    text = f"include a b.conf \n{BLOCK}#include no\n  include ${{HOME}}/c\n"

    assert managed_block.includes(text) == ["a b.conf", "${HOME}/c"]


def test_dollar_in_a_path_is_doubled() -> None:
    """kitty expands variables in an include; `$$` is a literal dollar there."""
    assert managed_block.include_line("/home/a $b/kitty.conf") == "include /home/a $$b/kitty.conf"


@each("path", ["/home/a\nb", "/home/a ", "/home/\udcff", "/home/a\x7f"])
def test_path_that_cannot_stand_on_a_line_is_named(path: str) -> None:
    """A path kitty could not read back is refused with its reason."""
    assert managed_block.path_problem(path)


def test_ordinary_path_is_no_problem() -> None:
    """Spaces, dollars and non-ASCII letters inside a path are fine."""
    assert managed_block.path_problem("/home/jö $x y/.local") == ""


def test_diff_shows_only_what_changes() -> None:
    """The diff is a unified diff of three new lines at the end."""
    shown = managed_block.diff("kitty.conf", "a 1\n", "a 1\n" + BLOCK)

    assert shown.splitlines() == [
        "--- kitty.conf",
        "+++ kitty.conf (new)",
        "@@ -1 +1,4 @@",
        " a 1",
        *("+" + line for line in BLOCK.splitlines()),
    ]


def test_diff_never_sends_a_control_character() -> None:
    """An escape sequence in the user's file is shown as a replacement character."""
    shown = managed_block.diff("kitty.conf", "a \x1b]0;x\x07\udcff", BLOCK)

    assert not any(ord(c) < 32 and c != "\n" for c in shown)
    assert "-a \ufffd]0;x\ufffd\ufffd" in shown.splitlines()
