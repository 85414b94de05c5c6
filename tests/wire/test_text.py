"""Sanitising: what goes, what stays, and the caps."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.wire.text import (
    _DRAWN,
    _PLAIN,
    MARKS,
    _sanitise,
    _sanitise_again,
    hidden,
    is_ascii_id,
    middle,
    sanitise,
    width,
)
from tests.helpers import is_linear, least_seconds
from tests.strategies import texts
from tests.tables import each
from tests.wire.shown import DEFAULT_IGNORABLE, DRAW_NOTHING, ROWS


@each(("dirty", "clean"), ROWS)
def test_rules(dirty: str, clean: str) -> None:
    """What draws nothing or moves the cursor goes; what is text in any script, and an emoji's own joiners, stay."""
    assert sanitise(dirty) == clean


@pytest.mark.slow
def test_every_invisible_code_point_goes() -> None:
    """
    No control, format character, surrogate, separator, default-ignorable or blank code point of Unicode survives alone.
    """
    bad = {*DEFAULT_IGNORABLE, *DRAW_NOTHING}
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            bad.add(code)
    survivors = [hex(code) for code in sorted(bad) if sanitise(f"a{chr(code)}b") not in ("ab", "a b")]

    assert survivors == []


@pytest.mark.slow
def test_what_is_hidden_is_never_typed_nor_shown() -> None:
    """Of every code point both say the same: what changes a text that is shown is refused in one that is typed."""
    for code in range(0x20000):
        text = f"a{chr(code)}b"
        if chr(code).isprintable():
            shown = unicodedata.normalize("NFC", text)
            assert (hidden(text) == chr(code)) is (_sanitise(text, 9) != shown), hex(code)
        elif unicodedata.category(chr(code)) in ("Cn", "Co"):
            assert _sanitise(text, 9) in ("ab", "a b", "a�b", text), hex(code)


@each(
    ("text", "found"),
    [
        ("", ""), ("ls -la", ""), ("été ❤\ufe0f 1\ufe0f\u20e3 漢字 한글", ""),
        ("हिन्दी ខ្មែរ မြန်မာ", ""), ("a\tb\n\u3000c", ""),
        ("a\u2800b", "\u2800"), ("a\ufe0f", "\ufe0f"), ("\u0301a", "\u0301"), ("a \u0301", "\u0301"),
        ("a\n\u20dd", "\u20dd"),
        ("x\u3164y\u2800", "\u3164"), ("a\u034fb", "\u034f"), ("a\u1161", "\u1161"), ("\U0001107f", "\U0001107f"),
        ("x\U000e0100", "\U000e0100"), ("a\n\u200bb\u2800", "\u200b"),
    ],
)  # fmt: skip
def test_hidden(text: str, found: str) -> None:
    """The first character that nobody could see is told, and nothing of a text that can be read."""
    assert hidden(text) == found


@each("letter", ["a", "é", "漢", "👩"])
@each("cap", [1, 5, 6, 7])
def test_caps(letter: str, cap: int) -> None:
    """Text ends at the cap of cells, and no wide character is halved."""
    per = width(letter)

    assert sanitise(letter * 50, cells=cap) == letter * (cap // per)
    assert sanitise(letter * cap, cells=cap * per) == letter * cap
    assert sanitise(letter * (cap + 1), cells=cap * per) == letter * cap


def test_an_emoji_takes_two_cells() -> None:
    """A joined emoji is one grapheme, two cells wide, and is kept or cut whole."""
    family = "👨\u200d👩\u200d👧\u200d👦"

    assert width(family) == 2
    assert sanitise(family * 3, cells=5) == family * 2


def test_plain_text_is_what_the_rules_make_of_it() -> None:
    """The symbols and letters that are taken as they are come out of the rules as they are, one cell each."""
    plain = [chr(code) for code in range(0x10000) if _PLAIN.fullmatch(chr(code))]
    assert len(plain) > 2000

    assert [char for char in plain if _sanitise(f"a{char}{char}b", 9) != f"a{char}{char}b"] == []
    assert [char for char in plain if width(char) != 1] == []
    assert _sanitise("".join(plain), 9999) == "".join(plain), "no two of them make one"
    assert sanitise("".join(plain), cells=30) == "".join(plain[:30])


@each(("cap", "kept"), [(1, 1), (2, 3), (3, 4)])
def test_what_keeps_letters_apart_takes_no_cell(cap: int, kept: int) -> None:
    """ZWNJ has no width, is never the last of a text, and there is one of it at a place."""
    word = "ی\u200cخ"

    assert width(word) == 2
    assert sanitise(word * 9, cells=cap) == (word * 9)[:kept]
    assert sanitise("ی" + "\u200c" * 5000 + "خ") == "یخ"


def test_endless_joining_is_cut() -> None:
    """Four emoji join into one; a fifth stands alone, so that no grapheme is longer than a family."""
    woman = "👩"

    assert sanitise("\u200d".join([woman] * 4)) == "\u200d".join([woman] * 4)
    assert sanitise("\u200d".join([woman] * 5)) == "\u200d".join([woman] * 4) + woman


def test_marks_on_one_base_are_capped() -> None:
    """Of thousands of combining marks on one base four stay, and what follows them is kept."""
    mark = "\u0331"  # nothing composes with it here

    assert sanitise("q" + mark * 3000 + "end") == "q" + mark * MARKS + "end"
    assert sanitise("q" + mark * 20 + "end") == "q" + mark * MARKS + "end"
    assert sanitise("q" + mark * MARKS) == "q" + mark * MARKS
    assert sanitise("q" + mark * (MARKS + 1)) == "q" + mark * MARKS


def test_long_text_is_not_remembered() -> None:
    """Text over 512 characters leaves the cache as it was, and comes out the same as short text."""
    before = _sanitise_again.cache_info().currsize

    assert sanitise("é" * 513, cells=3) == "ééé"
    assert _sanitise_again.cache_info().currsize == before
    assert sanitise("é" * 512, cells=3) == "ééé"


@given(texts())
def test_idempotent(text: str) -> None:
    """Sanitised text is sanitised: a second pass, at the render edge, changes nothing."""
    once = sanitise(text)

    assert sanitise(once) == once


@given(texts(), st.integers(0, 12))
def test_idempotent_at_small_caps(text: str, cells: int) -> None:
    """A cut leaves nothing that a second pass would cut or change, and the cap holds."""
    once = sanitise(text, cells=cells)

    assert sanitise(once, cells=cells) == once
    assert width(once) <= cells


@given(texts())
def test_result_is_harmless(text: str) -> None:
    """The result is NFC, encodes to UTF-8, and holds no control, no separator, and no joiner outside an emoji."""
    result = sanitise(text)
    result.encode("utf-8")

    assert hidden(result) == ""
    assert unicodedata.is_normalized("NFC", result)
    for index, character in enumerate(result):
        if character == "\u200d":
            assert result[index + 1 : index + 2] > "\u00a8"
        elif character != "\ufe0f":
            assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
            assert ord(character) not in DEFAULT_IGNORABLE
            assert unicodedata.category(character) not in ("Cn", "Co") or re.match(_DRAWN, character)


@pytest.mark.slow
@given(st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=100))
def test_printable_ascii_is_untouched(text: str) -> None:
    """Printable ASCII under the caps comes back as it is."""
    assert sanitise(text) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "\x1b",
        "é",
        "e\u0301",
        "\u0301",
        "\u0331\u0301",
        "\u0345\u0301\u0331",
        "👩\u200d",
        "\ufe0f",
        "\u200b",
        "漢",
        "1\ufe0f",
    ],
)
def test_a_megabyte_is_linear(unit: str) -> None:
    """A megabyte takes about four times as long as a quarter of it, caps off, whatever it repeats."""
    assert is_linear(lambda size: functools.partial(sanitise, unit * (size // len(unit)), cells=size), 20_000)
    assert least_seconds(lambda: sanitise(unit * (1_000_000 // len(unit))), 0.2) < 0.2


@each("name", ["claude", "cursor-agent", "a", "gpt-5.2", "x_1", "A" * 32])
def test_ascii_id(name: str) -> None:
    """An agent's id is 1 to 32 plain characters."""
    assert is_ascii_id(name)


@each("name", ["", "-x", "сlaude", "ｃｌａｕｄｅ", "a b", "a/b", "A" * 33, "a\n", "claude\x00", "é", "../x"])
def test_not_an_ascii_id(name: str) -> None:
    """Look-alikes, paths, options and controls are no id."""
    assert not is_ascii_id(name)


def test_the_middle_is_cut() -> None:
    """What is too wide keeps both ends; it never gets wider, is harmless, and stays what it is when cut again."""
    assert middle("abcdefghij", 10) == "abcdefghij"
    assert middle("abcdefghijk", 10) == "abcde…hijk"
    assert middle("make a\n\n  make b", 40) == "make a ↵ make b"
    assert middle("界" * 9, 10) == "界界…界界"
    assert middle("x" * 100_000 + "end", 9) == "xxxx…xend"
    for text in ("a\x1b[31mb\u202e" * 90, "e\u0301" * 200, "👩\u200d👩\u200d👧" * 90, " \n" * 500, "\ud800" * 999, ""):
        for cells in (1, 2, 9, 200):
            found = middle(text, cells)
            assert width(found) <= cells and middle(found, cells) == found == sanitise(found), (text, cells)
